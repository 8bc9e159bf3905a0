"""What is simple in YAML is read without a YAML reader, and to the letter as one reads it."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from zktop.config import yaml_tree as document
from zktop.config.yaml_tree import SIMPLE_DEPTH as DEEPEST
from zktop.config.yaml_tree import ConfigError, MapNode, simple

THEMES = sorted((Path(__file__).parents[2] / "themes").glob("*.yaml"))
INDENTS = st.sampled_from(["", "", "  ", "    ", " ", "      "])
KEYS = st.sampled_from(["name", "inks", "a-b", "yes", "null", "x1", "n", "<<", "1", "a b"])
WORDS = st.sampled_from(
    (
        *("red", "10s", "2026-01-31", "true", "~", "null", "a, b", "dark and quiet; it's ours"),
        *('"#5fafd7"', "'x y'", '"a\\tb"', "'it''s'", "#no", "a #b", "a#b", "x: y", "zk:2181"),
        *("[a, b]", "{a: b}", "&x 1", "*x", "!!str 1", "|", ">", "%x", "@x", "`x", "- x", "1_0"),
        *("", " ", "a  b", "a\tb", "=", "-1", ".5", '"a" b', '"a"#b', "'a' # b", "0x1F", "?"),
        *("/locks/**", "é"),
    )
)
TAILS = st.sampled_from(["", "", "", " # why", "#", " ", "  ", "\r", "\t"])
LINES = st.one_of(
    st.tuples(INDENTS, KEYS, st.just(": "), WORDS, TAILS).map("".join),
    st.tuples(INDENTS, KEYS, st.sampled_from([":", ":  ", " :", ""]), TAILS).map("".join),
    st.sampled_from(["", "# a comment", "   # one", "---", "...", "- a", "\t", "word", "? a"]),
)
FILES = st.lists(LINES, max_size=8).map("\n".join)


def by_the_book(data: bytes) -> object:
    """What a YAML reader makes of it; the mistakes, where there are any."""
    try:
        return document.parse(data, "file")
    except ConfigError as error:
        return str(error)


@pytest.mark.parametrize("file", THEMES, ids=[file.stem for file in THEMES])
def test_our_own_themes_are_simple(file: Path) -> None:
    """The first frame waits for one of them."""
    assert simple(file.read_bytes(), "file") == by_the_book(file.read_bytes())


@settings(max_examples=300)
@given(FILES)
@example("a: b\n c: d")
@example("a:\n    b: c\n  d: e")
@example("a:\n  b:\n    c: d\n  e: f\ng: h")
@example("  a: b\nc: d")
@example("a:\nb: c")
@example('a: "\x7f"')
def test_reads_what_a_yaml_reader_reads(text: str) -> None:
    """Or nothing at all."""
    data = text.encode()

    found = simple(data, "file")
    assert found is None or found == by_the_book(data)


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.integers(0, 400))
def test_no_scrap_in_a_simple_file_is_read_otherwise(scrap: str, place: int) -> None:
    """Whatever somebody types into one."""
    theme = THEMES[0].read_text()
    data = (theme[:place] + scrap + theme[place:]).encode()

    found = simple(data, "file")
    assert found is None or found == by_the_book(data)


def test_knows_the_line_of_everything() -> None:
    """A mistake in a theme is told with its line."""
    found = simple(b"# one\nname: x\n\ninks:\n  # two\n  dim: '#aaa'\n", "file")

    assert isinstance(found, MapNode)
    (_, name), (_, inks) = found.pairs
    assert isinstance(inks, MapNode)
    assert [name.origin.line, inks.origin.line, inks.pairs[0][1].origin.line] == [2, 6, 6]


def test_leaves_what_is_deep_to_the_yaml_reader() -> None:
    """Which says that it is too deep, where it is."""
    text = "\n".join(f"{' ' * level}a:" for level in range(DEEPEST)) + " b"

    assert simple(text.encode(), "file") is not None
    assert simple(("a:\n" + text.replace("a", " a")).encode(), "file") is None
