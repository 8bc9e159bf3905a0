"""Times and durations as people say them.

Words for three in the morning: short names, counts, and lists that stay readable.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from zktop.model.facts import Millis, Session, session_text
from zktop.model.text import Text, clean
from zktop.model.waits.lock_order import fold_name, fold_path

MINUTE, HOUR, DAY = 60, 3600, 86400


def iso(at: Millis) -> str:
    """Write a moment as ISO-8601 in UTC.

    >>> iso(1769860800123)
    '2026-01-31T12:00:00.123Z'
    """
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at % 1000:03d}Z"


def millis(text: str) -> Millis:
    """Read what `iso` writes.

    >>> millis("2026-01-31T12:00:00.123Z")
    1769860800123
    """
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def spoken(seconds: float) -> str:
    """Write a duration in at most two units.

    >>> [spoken(s) for s in (0.04, 0.9, 12.34, 384, 7200, 266400)]
    ['40ms', '0.9s', '12s', '6m24s', '2h00m', '3d02h']
    """
    if seconds < 0.1:  # noqa: PLR2004  from here on tenths of a second say more
        return f"{seconds * 1000:.0f}ms"
    if seconds < 10:  # noqa: PLR2004  and from here on whole seconds
        return f"{seconds:.1f}s"
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE:02d}s"
    if whole < DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02d}m"
    return f"{whole // DAY}d{whole % DAY // HOUR:02d}h"


LONGEST_NAME = 80

_SECOND = 1000
_DAY = 24 * 3600
_UUID = r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}"
_NAMED = 3


def short(name: str) -> Text:
    """Give a node name without the bulk of the uuid in it.

    >>> short("_c_d8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a01-lock-0000000041")
    '_c_d8e1…-lock-0000000041'
    """
    text = clean(re.sub(_UUID, lambda found: found[0][:4] + "…", name[: 4 * LONGEST_NAME]))
    return middle(text, LONGEST_NAME)


def middle(name: str, room: int) -> Text:
    """Cut a name in its middle, for the ends tell names apart; never the port, or the digits.

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
    """Name the first few and count the rest.

    >>> several(["a"]), several("ab"), several("abcde")
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    shown = list(dict.fromkeys(names))
    if len(shown) > _NAMED + 1:
        shown = [*shown[:_NAMED], f"{len(shown) - _NAMED} more"]
    head, tail = shown[:-1], shown[-1:]
    return " and ".join([", ".join(head), *tail]) if head else "".join(tail)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Put a number before its noun.

    >>> count(1, "actor"), count(4, "actor"), count(2, "request waits", "requests wait")
    ('1 actor', '4 actors', '2 requests wait')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def waits(number: int) -> str:
    """Count who waits.

    >>> waits(1), waits(4)
    ('1 actor waits', '4 actors wait')
    """
    return count(number, "actor waits", "actors wait")


def session_name(session: Session) -> str:
    """Name a session that has no label."""
    return session_text(session) if session else "nobody"


def signature(rule: str, locks: Iterable[str], modes: Iterable[str], who: Sequence[str]) -> str:
    """Put together what stays the same when the same trouble comes back.

    >>> signature("B1", ["/locks/user/17"], ["write"], ["worker-3", "worker-4"])
    'B1 /locks/user/* write worker-*'
    """
    parts = ({*map(fold_path, locks)}, {*modes}, {*map(fold_name, who)})
    return " ".join([rule, *(",".join(sorted(part)) for part in parts if part)])


def clock(at: Millis) -> str:
    """Say the time of day, UTC.

    >>> clock(1_767_225_600_123)
    '00:00:00Z'
    """
    seconds = at // _SECOND % _DAY
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}Z"
