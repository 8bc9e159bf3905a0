"""Draws the one line for many sessions with similar names, and describes the group."""

from collections.abc import Callable
from typing import Any, Final

from zktop.model.format import count
from zktop.ui.screens.common.format import with_spaces
from zktop.ui.screens.sessions.rows import SessionGroup
from zktop.ui.styled_text import Ink, Line, line

MAX_NAMES: Final = 3
MAX_NUMBER: Final = 100_000  # larger numbers are written in thousands


def _name(group: SessionGroup) -> Line:
    sign = "▾" if group.is_open else "▸"
    return line((f"{sign} ", "selected"), (group.name, "strong"))


def _number(number: int, ink: Ink) -> Line:
    text = str(number) if number < MAX_NUMBER else f"{number // 1000}k"
    return line((text, ink if number else "dim"))


GROUP_CELLS: Final[dict[str, Callable[[Any], Line]]] = {
    "RISK": lambda _group: line(("LOW", "plain")),
    "SESSION": lambda group: line((f"{with_spaces(len(group.rows)):>7}", "strong")),
    "IDENTITY": _name,
    "HOLDS": lambda group: _number(group.holds, "holds"),
    "WAITS": lambda group: _number(group.waits, "waits"),
    "NOTE": lambda group: line(("open" if group.is_open else "grouped", "dim")),
}


def about_group(group: SessionGroup) -> list[Line]:
    """Describe the group under the cursor."""
    names = [row.unique_name for row in group.rows[:MAX_NAMES]]
    more = with_spaces(len(group.rows) - MAX_NAMES)
    return [
        line(
            ("GROUP ", "title"),
            (group.name, "strong"),
            f"  {count(len(group.rows), 'session')} with similar names, all at low risk",
        ),
        line(("  sessions   ", "dim"), f"{', '.join(names)} and {more} more"),
        line(("  holds      ", "dim"), count(group.holds, "lock")),
        line(("  waits for  ", "dim"), count(group.waits, "lock")),
        line(("  enter opens this group, f all groups; a session at risk is listed alone", "dim")),
    ]
