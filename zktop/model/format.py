"""Times, durations, counts and names as sentences and tables show them."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from zktop.model.facts import Millis, Session, session_text
from zktop.model.text import Text, clean
from zktop.model.waits.lock_order import fold_name, fold_path

MINUTE, HOUR, DAY = 60, 3600, 86400


def iso(at: Millis) -> str:
    """Format a time as ISO-8601 in UTC.

    >>> iso(1769860800123)
    '2026-01-31T12:00:00.123Z'
    """
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at % 1000:03d}Z"


def millis(text: str) -> Millis:
    """Parse what `iso` formats.

    >>> millis("2026-01-31T12:00:00.123Z")
    1769860800123
    """
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def spoken(seconds: float) -> str:
    """Format a duration in at most two units.

    >>> [spoken(s) for s in (0.04, 0.9, 12.34, 384, 7200, 266400)]
    ['40ms', '0.9s', '12s', '6m24s', '2h00m', '3d02h']
    """
    if seconds < 0.1:  # noqa: PLR2004  above, tenths of a second are enough
        return f"{seconds * 1000:.0f}ms"
    if seconds < 10:  # noqa: PLR2004  above, whole seconds are enough
        return f"{seconds:.1f}s"
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE:02d}s"
    if whole < DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02d}m"
    return f"{whole // DAY}d{whole % DAY // HOUR:02d}h"


MAX_NAME_LENGTH = 80

_SECOND_MS = 1000
_DAY_S = 24 * 3600
_UUID = r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}"
_MAX_LISTED = 3


def short(name: str) -> Text:
    """Shorten a node name: cut the uuid in it, and its middle if it is still long.

    >>> short("_c_d8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a01-lock-0000000041")
    '_c_d8e1…-lock-0000000041'
    """
    text = clean(re.sub(_UUID, lambda found: found[0][:4] + "…", name[: 4 * MAX_NAME_LENGTH]))
    return middle(text, MAX_NAME_LENGTH)


def middle(name: str, room: int) -> Text:
    """Cut a name in its middle, because names differ at their ends; keep a port or number whole.

    >>> middle("127.0.0.1:59112", 14), middle("a-very-long-name …1e3f", 14)
    ('127.0.0…:59112', 'a-very-… …1e3f')
    >>> middle("short", 5), middle("anything", 1)
    ('short', '…')
    """
    if len(name) <= room:
        return Text(name)
    last = max(name.rfind(":"), name.rfind(" "))
    kept = min(max(room // 2 - 1, len(name) - last if last > 0 else 0), room - 1)
    return Text(f"{name[: room - 1 - kept]}…{name[len(name) - kept :]}")


def several(names: Iterable[str]) -> str:
    """List the first few names and count the rest.

    >>> several(["a"]), several("ab"), several("abcde")
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    shown = list(dict.fromkeys(names))
    if len(shown) > _MAX_LISTED + 1:
        shown = [*shown[:_MAX_LISTED], f"{len(shown) - _MAX_LISTED} more"]
    head, tail = shown[:-1], shown[-1:]
    return " and ".join([", ".join(head), *tail]) if head else "".join(tail)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun.

    >>> count(1, "actor"), count(4, "actor"), count(2, "request waits", "requests wait")
    ('1 actor', '4 actors', '2 requests wait')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def waits(number: int) -> str:
    """The number of waiters and its verb.

    >>> waits(1), waits(4)
    ('1 actor waits', '4 actors wait')
    """
    return count(number, "actor waits", "actors wait")


def session_name(session: Session) -> str:
    """The name of a session without a label."""
    return session_text(session) if session else "nobody"


def signature(rule: str, locks: Iterable[str], modes: Iterable[str], owners: Sequence[str]) -> str:
    """What a finding has in common with the same trouble at another time or place.

    >>> signature("B1", ["/locks/user/17"], ["write"], ["worker-3", "worker-4"])
    'B1 /locks/user/* write worker-*'
    """
    parts = ({*map(fold_path, locks)}, {*modes}, {*map(fold_name, owners)})
    return " ".join([rule, *(",".join(sorted(part)) for part in parts if part)])


def clock(at: Millis) -> str:
    """Format the time of day, UTC.

    >>> clock(1_767_225_600_123)
    '00:00:00Z'
    """
    seconds = at // _SECOND_MS % _DAY_S
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}Z"
