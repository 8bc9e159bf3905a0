"""Draw the silence of a session: as a bar of its timeout, and as a strip of contacts."""

from zktop.model.facts import Millis
from zktop.model.findings.sessions import silence_severity
from zktop.model.format import spoken
from zktop.model.history.endings import GIVEN_UP_SHARE
from zktop.model.world.tables_of_all_servers import ExpiryWindow
from zktop.ui.past.contacts_and_packet_rates import RecentContacts
from zktop.ui.screens.common.numbers_and_times import time_s
from zktop.ui.styled_text import UNKNOWN, Line, line

BAR_CELLS = 12
MINUTES_FROM_S = 100  # longer times are written in minutes


def silence_bar(silent_ms: int | None, timeout_ms: int | None) -> Line:
    """Draw how much of the timeout has passed. The mark is where the client library gives up.

    >>> from zktop.ui.styled_text import text_of
    >>> [text_of(silence_bar(silent_ms, 30_000)) for silent_ms in (21_000, 2_000, None)]
    ['━━━━━━━━┊───', '━───────┊───', '?']
    """
    if silent_ms is None or not timeout_ms:
        return UNKNOWN
    share = silent_ms / timeout_ms
    filled = min(BAR_CELLS, max(round(share * BAR_CELLS), 1 if silent_ms else 0))
    mark = int(GIVEN_UP_SHARE * BAR_CELLS)
    rest = "".join("┊" if at == mark else "─" for at in range(filled, BAR_CELLS))
    return line(("━" * filled, silence_severity(share) or "good"), (rest, "dim"))


def time_left(span: ExpiryWindow | None) -> str:
    """Return how soon a session expires if it stays silent.

    >>> time_left(ExpiryWindow(9_000, 11_000)), time_left(ExpiryWindow(0, 13_000)), time_left(None)
    ('9..11s', '0..13s', '?')
    >>> time_left(ExpiryWindow(9_100, 9_900)), time_left(ExpiryWindow(0, 0))
    ('9.1s', 'due')
    """
    if span is None:
        return "?"
    if not span.high:
        return "due"  # according to the last table of its server
    low, high = span.low // 1000, -(-span.high // 1000)
    if high - low <= 1:
        return spoken(span.low / 1000)
    if high >= MINUTES_FROM_S:
        return spoken(high)
    return f"{low}..{high}s"


def expires_when(span: ExpiryWindow | None) -> str:
    """Return when a session expires if it stays silent, for use in a sentence.

    >>> expires_when(ExpiryWindow(9_000, 11_000)), expires_when(ExpiryWindow(0, 0))
    ('in 9..11s', 'at any moment')
    >>> expires_when(None)
    'at an unknown time'
    """
    if span is None:
        return "at an unknown time"
    return f"in {time_left(span)}" if span.high else "at any moment"


def contact_strip(
    contacts: RecentContacts,
    now: Millis,
    timeout_ms: int,
    expires_in: ExpiryWindow | None,
    width: int,
) -> list[Line]:
    """Draw a timeline that marks each contact, and the expiry if there are no further contacts.

    It is blank where contacts are not known. The second line names the marks, the third explains
    the scale.
    """
    ahead_ms = max(expires_in.high if expires_in else timeout_ms, 1000)
    column_ms = max(100, -(-(timeout_ms + ahead_ms) // max(10, width)))
    present = max(1, width - -(-ahead_ms // column_ms) - 1)  # the column of this moment
    cells = [" "] * width
    known = min(present, max(0, now - contacts.known_from) // column_ms)
    cells[present - known : present + 1] = ["─"] * (known + 1)
    visible = [at for at in contacts.times if now - present * column_ms <= at <= now]
    for at in visible:
        cells[present - (now - at) // column_ms] = "●"
    cells[present] = "┃"
    names = [" "] * width
    _write_name(names, present, "now")
    if visible:
        given_up_at = max(visible) + round(timeout_ms * GIVEN_UP_SHARE)
        _mark(cells, names, present + (given_up_at - now) // column_ms, "2/3")
    if expires_in is not None:
        _mark(cells, names, present + expires_in.high // column_ms, "expires")
    scale = spoken(column_ms / 1000)
    return [
        line(("".join(cells), "plain")),
        line(("".join(names).rstrip(), "dim")),
        line((f"● = last contact (server data), {scale} per column", "dim")),
    ]


def _mark(cells: list[str], names: list[str], column: int, name: str) -> None:
    if 0 <= column < len(cells):
        cells[column] = "┊"
        _write_name(names, column, name)


def _write_name(names: list[str], column: int, name: str) -> None:
    """Write a name below its mark if it fits there with a blank on each side."""
    start = min(max(0, column - len(name) // 2), len(names) - len(name))
    around = range(max(0, start - 1), min(len(names), start + len(name) + 1))
    if start >= 0 and all(names[at] == " " for at in around):
        names[start : start + len(name)] = name


def expires_at(now: Millis, span: ExpiryWindow | None) -> str:
    """Return the time of day at which a session expires if it stays silent.

    >>> expires_at(1769860800000, ExpiryWindow(9_000, 11_000)), expires_at(0, None)
    ('12:00:09 to 12:00:11', 'unknown')
    """
    if span is None:
        return "unknown"
    low, high = time_s(now + span.low), time_s(now + span.high)
    return low if low == high else f"{low} to {high}"
