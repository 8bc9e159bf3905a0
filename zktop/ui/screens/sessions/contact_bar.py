"""How long ago a session was heard of, against the time after which it is given up."""

from collections.abc import Iterable

from zktop.model.facts import Millis
from zktop.model.format import spoken
from zktop.model.world.ensemble import ExpiryWindow
from zktop.ui.screens.common.format import time_s
from zktop.ui.styled_text import Ink, Line, Run, line

BAR = 10  # cells between the brackets
OWN_LIBRARY = 2 / 3  # of its timeout: then its client library gives the server up by itself
UNKNOWN_LINE: Line = line(("?", "unknown"))


def bar(silent_ms: int | None, timeout_ms: int | None) -> Line:
    """Draw the silence as a part of the timeout; the mark is where its own library gives up.

    >>> from zktop.ui.styled_text import text_of
    >>> text_of(bar(21_000, 30_000)), text_of(bar(2_000, 30_000)), text_of(bar(None, 30_000))
    ('[#######...]', '[#.....:...]', '?')
    """
    if silent_ms is None or not timeout_ms:
        return UNKNOWN_LINE
    share = silent_ms / timeout_ms
    filled = min(BAR, max(round(share * BAR), 1 if silent_ms else 0))
    cells = ["#"] * filled + ["."] * (BAR - filled)
    mark = int(OWN_LIBRARY * BAR)
    if filled <= mark:
        cells[mark] = ":"
    return (Run(f"[{''.join(cells)}]", ink_of(share)),)


def ink_of(share: float) -> Ink:
    """Give the ink of how much of the timeout has passed in silence."""
    if share >= OWN_LIBRARY:
        return "critical"
    return "warning" if share >= 1 / 2 else "good"


def left(span: ExpiryWindow | None) -> str:
    """Write in how long a session expires, should it stay silent.

    >>> left(ExpiryWindow(9_000, 11_000)), left(ExpiryWindow(0, 13_000)), left(None)
    ('9..11s', '0..13s', '?')
    >>> left(ExpiryWindow(9_100, 9_900)), left(ExpiryWindow(0, 0))
    ('9.1s', 'due')
    """
    if span is None:
        return "?"
    if not span.high:
        return "due"  # by its server's last table
    low, high = span.low // 1000, -(-span.high // 1000)
    if high - low <= 1:
        return spoken(span.low / 1000)
    if high >= 100:  # noqa: PLR2004  minutes: seconds do not matter
        return spoken(high)
    return f"{low}..{high}s"


def strip(
    contacts: Iterable[Millis],
    now: Millis,
    timeout_ms: int,
    expires_in: ExpiryWindow | None,
    width: int,
) -> list[Line]:
    """Draw one mark for each contact, and what comes when there is none any more.

    The line below names the marks; a column is the same time everywhere.
    """
    ahead = max(expires_in.high if expires_in else timeout_ms, 1000)
    column = max(100, -(-(timeout_ms + ahead) // max(10, width)))
    past = max(1, width - -(-ahead // column) - 1)
    cells = [" "] * width
    cells[: past + 1] = ["."] * (past + 1)
    known = [at for at in contacts if now - past * column <= at <= now]
    for at in known:
        cells[past - (now - at) // column] = "p"
    cells[past] = "|"
    named = [" "] * width
    _name(named, past, "now")
    if known:
        mark = past + (max(known) + round(timeout_ms * OWN_LIBRARY) - now) // column
        _mark(cells, named, mark, "2/3")
    if expires_in is not None:
        _mark(cells, named, past + expires_in.high // column, "expires")
    each = spoken(column / 1000)
    return [
        line(("".join(cells), "plain")),
        line(("".join(named).rstrip(), "dim")),
        line((f"p = heard of, as far as the tables tell; one column = {each}", "dim")),
    ]


def _mark(cells: list[str], named: list[str], place: int, name: str) -> None:
    if 0 <= place < len(cells):
        cells[place] = "!"
        _name(named, place, name)


def _name(named: list[str], place: int, name: str) -> None:
    """Write a name below its mark, where there is room for it and a blank beside it."""
    start = min(max(0, place - len(name) // 2), len(named) - len(name))
    around = range(max(0, start - 1), min(len(named), start + len(name) + 1))
    if start >= 0 and all(named[at] == " " for at in around):
        named[start : start + len(name)] = name


def expires_at(now: Millis, span: ExpiryWindow | None) -> str:
    """Say when it expires, should it stay silent.

    >>> expires_at(1769860800000, ExpiryWindow(9_000, 11_000)), expires_at(0, None)
    ('12:00:09 to 12:00:11', 'unknown')
    """
    if span is None:
        return "unknown"
    low, high = time_s(now + span.low), time_s(now + span.high)
    return low if low == high else f"{low} to {high}"
