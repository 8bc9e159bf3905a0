"""Format times, durations, counts and names for sentences and tables."""

import re
from collections.abc import Iterable, Sized
from datetime import UTC, datetime
from functools import lru_cache

from zktop.model.facts import Millis, Session
from zktop.model.session_ids import session_text
from zktop.model.text import Text, clean

MINUTE, HOUR, DAY = 60, 3600, 86400  # seconds
MAX_NAME_LENGTH = 80
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999
_END_LENGTH = 2 * MAX_NAME_LENGTH
_MAX_LISTED = 3
_UUID = r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}"


def iso(at: Millis) -> str:
    """Format a time as ISO-8601 in UTC.

    >>> iso(1769860800123), iso(1 << 62)
    ('2026-01-31T12:00:00.123Z', '9999-12-31T23:59:59.999Z')
    """
    at = max(_FIRST_MS, min(at, _LAST_MS))  # any client can write any time into its data
    moment = datetime.fromtimestamp(at // 1000, UTC)
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
    return _in_two_units(int(seconds))


def span(length_ms: int) -> str:
    """Format a duration for sentences: in whole seconds from one second on.

    >>> span(30), span(900), span(4_200), span(379_000), span(90_000_000)
    ('30ms', '0.9s', '4s', '6m19s', '1d01h')
    """
    seconds = max(length_ms, 0) / 1000
    return _in_two_units(int(seconds)) if seconds >= 1 else spoken(seconds)


def _in_two_units(seconds: int) -> str:
    if seconds < MINUTE:
        return f"{seconds}s"
    if seconds < HOUR:
        return f"{seconds // MINUTE}m{seconds % MINUTE:02d}s"
    if seconds < DAY:
        return f"{seconds // HOUR}h{seconds % HOUR // MINUTE:02d}m"
    return f"{seconds // DAY}d{seconds % DAY // HOUR:02d}h"


def short(name: str) -> Text:
    """Shorten a node name: cut its uuid, and its middle if it is still long.

    >>> short("_c_d8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a01-lock-0000000041")
    '_c_d8e1…-lock-0000000041'
    >>> short("x" * 400 + "-lock-0000000041")[-20:]
    'xxxx-lock-0000000041'
    """
    if len(name) > 2 * _END_LENGTH:  # more takes time and is not shown
        name = f"{name[:_END_LENGTH]}…{name[-_END_LENGTH:]}"
    text = clean(re.sub(_UUID, lambda uuid: uuid[0][:4] + "…", name))
    return middle(text, MAX_NAME_LENGTH)


def middle(name: str, room: int) -> Text:
    """Cut the middle of a name to fit into `room` characters: names differ at their ends.

    The text after the last colon or space, such as a port, is kept as long as it fits.

    >>> middle("127.0.0.1:59112", 14), middle("a-very-long-name …1e3f", 14)
    ('127.0.0…:59112', 'a-very-… …1e3f')
    >>> middle("short", 5), middle("anything", 1)
    ('short', '…')
    """
    if len(name) <= room:
        return Text(name)
    separator = max(name.rfind(":"), name.rfind(" "))
    last_part = len(name) - separator if separator > 0 else 0
    kept = min(max(room // 2 - 1, last_part), room - 1)  # at the end
    return Text(f"{name[: room - 1 - kept]}…{name[len(name) - kept :]}")


def whole_names(cut: str) -> str:
    """Drop the incomplete first name of a cut path, unless that is more than half of it.

    >>> whole_names("op-demo/ab-ba/stock"), whole_names("very-long-name/stock")
    ('/ab-ba/stock', 'very-long-name/stock')
    """
    at = cut.find("/")
    return cut[at:] if 0 <= at <= len(cut) // 2 else cut


def several(names: Iterable[str], number: int = 0) -> str:
    """List the first few different names and count the rest. `number` includes names not given.

    >>> several(["a"]), several("ab"), several("abcde"), several("ab", number=7)
    ('a', 'a and b', 'a, b, c and 2 more', 'a, b and 5 more')
    """
    shown = list(dict.fromkeys(names))
    number = max(number, len(shown))
    if number > _MAX_LISTED + 1:
        shown = shown[:_MAX_LISTED]
    if number > len(shown):
        shown.append(f"{number - len(shown)} more")
    head, tail = shown[:-1], shown[-1:]
    return " and ".join([", ".join(head), *tail]) if head else "".join(tail)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun.

    >>> count(1, "actor"), count(4, "actor"), count(2, "request waits", "requests wait")
    ('1 actor', '4 actors', '2 requests wait')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def unblocks(frees: int, actors: Sized) -> str:
    """Say how many others the end of one actor of a deadlock frees; `frees` includes itself.

    >>> unblocks(1, "A"), unblocks(1, "AB"), unblocks(2, "AB")
    ('unblocks no others', 'unblocks no others by itself', 'unblocks 1 other')
    """
    if frees > 1:
        return f"unblocks {count(frees - 1, 'other')}"
    return f"unblocks no others{' by itself' if len(actors) > 1 else ''}"


def waits(number: int | None) -> str:
    """A number of waiting clients, with the verb; None if it is unknown.

    >>> waits(0), waits(1), waits(4), waits(None)
    ('no client waits', '1 client waits', '4 clients wait', 'which clients wait is unknown')
    """
    if number is None:
        return "which clients wait is unknown"
    return count(number, "client waits", "clients wait") if number else "no client waits"


def session_name(session: Session) -> str:
    return session_text(session) if session else "no session"


# A part of a path is variable if it is an id (an address, hex, a number) or ends in one.
_IPV6 = r"(?<![0-9A-Za-z])(?=[a-f:]{0,39}\d)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![0-9A-Za-z])"
_HEX = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|0x[0-9a-f]+|[0-9a-f]{16,}"
_ID = rf"(?:{_IPV6}|{_HEX}|\d+)"


def fold_name(name: str) -> str:
    """Replace the ids in a label by `*`.

    >>> fold_name("worker-17@10.0.0.3"), fold_name("worker-a"), fold_name("[fd00::1f:a]:9")
    ('worker-*@*', 'worker-a', '[*]:*')
    """
    return re.sub(r"\*(?:[.:-]\*)+", "*", re.sub(_ID, "*", name))


@lru_cache(maxsize=65_536)
def fold_path(path: str) -> str:
    """Replace the variable parts of a lock path by `*`.

    >>> fold_path("/locks/user/42"), fold_path("/locks/orders")
    ('/locks/user/*', '/locks/orders')
    """
    return "/".join(fold_name(part) for part in path.split("/"))


def clock(at: Millis) -> str:
    """Format the time of day, UTC.

    >>> clock(1_767_225_600_123)
    '00:00:00Z'
    """
    seconds = at // 1000 % DAY
    return f"{seconds // HOUR:02d}:{seconds // MINUTE % 60:02d}:{seconds % MINUTE:02d}Z"
