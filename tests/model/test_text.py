"""Text from ZooKeeper cannot control a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.model.text import clean, decode

CONTROLLING = {"Cc", "Cs", "Zl", "Zp"}
REORDERING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@given(st.text(st.characters()))
def test_no_control_character_survives(raw: str) -> None:
    """No output moves the cursor or changes the direction of text."""
    text = clean(raw)

    assert not {unicodedata.category(character) for character in text} & CONTROLLING
    assert not set(text) & REORDERING


@given(st.text(st.characters()))
def test_cleaning_twice_changes_nothing_more(raw: str) -> None:
    """Clean text stays as it is, so cleaning twice is harmless."""
    assert clean(clean(raw)) == clean(raw)


@given(st.text(st.characters()))
def test_every_character_keeps_its_place(raw: str) -> None:
    """Each character becomes one character, so columns line up."""
    assert len(clean(raw)) == len(raw)


@given(st.binary())
def test_any_bytes_can_be_shown(data: bytes) -> None:
    """Invalid UTF-8 is shown, without an exception."""
    assert clean(decode(data)) == decode(data)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]0;owned\x07", "␛]0;owned␇"),
        ("a\nb\tc", "a␊b␉c"),
        ("\x7f\x9b2J", "␡\ufffd2J"),
        ("abc\u202egnp.exe", "abc\ufffdgnp.exe"),
        ("größe-ключ-鍵", "größe-ключ-鍵"),
    ],
)
def test_the_replacement_of_a_character(raw: str, shown: str) -> None:
    """Control characters become their pictures, other unprintable ones a replacement."""
    assert clean(raw) == shown
