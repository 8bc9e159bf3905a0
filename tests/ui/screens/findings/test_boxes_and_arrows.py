"""Drawing on a grid of cells."""

from zktop.ui.screens.findings.boxes_and_arrows import SOFT, CellGrid, Point
from zktop.ui.styled_text import text_of, width_of


def drawn(grid: CellGrid) -> list[str]:
    """Its lines as text."""
    return [text_of(one) for one in grid.lines()]


def test_wide_characters_take_two_cells() -> None:
    """What stands behind them stays in its column."""
    grid = CellGrid(8, 1)
    grid.write(0, 0, "漢字")
    grid.write(4, 0, "ab")

    assert drawn(grid) == ["漢字ab  "]
    assert [width_of(one) for one in grid.lines()] == [8]


def test_a_combining_character_takes_no_cell() -> None:
    """It joins the character before it, and what was behind it stays."""
    grid = CellGrid(4, 1)
    grid.write(0, 0, "abcd")
    grid.write(0, 0, "e\u0301")

    assert drawn(grid) == ["e\u0301bcd"]


def test_cells_outside_are_left_out() -> None:
    """No error, and no longer line."""
    grid = CellGrid(4, 2)
    grid.write(2, 0, "abcdef")
    grid.write(0, 5, "x")
    grid.write(-1, 1, "xy")

    assert drawn(grid) == ["  ab", "y   "]


def test_an_arrow_turns_at_each_point() -> None:
    """In all four directions."""
    grid = CellGrid(5, 3)
    grid.arrow([Point(0, 0), Point(4, 0), Point(4, 2), Point(0, 2), Point(0, 1)], "plain")

    assert drawn(grid) == ["────╮", "▲   │", "╰───╯"]


def test_a_dotted_arrow_has_dotted_strokes() -> None:
    """Its corners and head are the same."""
    grid = CellGrid(3, 3)
    grid.arrow([Point(0, 2), Point(0, 0), Point(2, 0)], "plain", SOFT)

    assert drawn(grid) == ["╭┄▶", "┊  ", "┊  "]
