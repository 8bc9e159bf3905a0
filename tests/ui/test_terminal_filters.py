"""Terminals without Unicode receive only ASCII, and every cell keeps its width."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, settled

from zktop.ui.screens import PAGES
from zktop.ui.terminal_filters import to_ascii

ZKTOP = Path(__file__).parents[3] / "zktop"
DRAWN = sorted(
    {
        character
        for folder in ("ui", "output", "model", "demo")
        for file in (ZKTOP / folder).rglob("*.py")
        if file.name != "terminal.py"
        for character in re.findall(r"[^\x00-\x7f]", file.read_text(encoding="utf-8"))
    }
)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_as_many_cells_as_before(text: str) -> None:
    """Columns stay where they are."""
    made = to_ascii(text)

    assert made.isascii()
    assert len(made) == cell_len(text)


@pytest.mark.parametrize("character", DRAWN)
def test_whatever_we_draw_looks_like_something(character: str) -> None:
    """A question mark would mean "unknown", which is a state."""
    assert to_ascii(character) != "?"


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
async def test_no_cell_of_a_page_is_anything_else(entry: object) -> None:
    """With a deadlock, an orphan, and long paths on it."""
    app = app_of(*trouble(), page=entry.name, is_ascii=True)
    async with app.run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)

    assert [line for line in lines if not line.isascii()] == []


@pytest.mark.parametrize("key", ["question_mark", "T", "x", "colon", "slash"])
async def test_no_cell_of_a_dialog_is_anything_else(key: str) -> None:
    """Borders and hints as well."""
    app = app_of(*trouble(), is_ascii=True)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press(key)
        lines = await settled(pilot)

    assert [line for line in lines if not line.isascii()] == []


async def test_other_terminals_get_what_is_drawn() -> None:
    """The filter is off where it is not needed."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark")
        lines = await settled(pilot)

    assert any(not line.isascii() for line in lines)
