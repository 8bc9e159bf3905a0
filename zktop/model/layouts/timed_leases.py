"""Locks held until a date: read the end of the lease from the node's data.

Each function returns milliseconds since 1970. A lock past that time is free.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec

from zktop.model.facts import Millis

FREE: Final[Millis] = 0
FOREVER: Final[Millis] = 1 << 62  # held, with no known end
MAX_DATE_CHARS = 64
LEASE_KEYS: Final = frozenset(("end", "expirationTimestamp", "simpleFields", "OWNER", "TIMEOUT"))
_SECONDS_BELOW = 1e11  # smaller numbers are seconds, not milliseconds


def parse_date(text: object) -> Millis | None:
    """Read a date as ISO-8601. A date without a zone is in UTC.

    >>> parse_date("1970-01-01T00:00:01"), parse_date("1970-01-01T00:00:00.250Z")
    (1000, 250)
    >>> parse_date("soon")
    """
    if not isinstance(text, str) or len(text) > MAX_DATE_CHARS:
        return None
    try:
        date = datetime.fromisoformat(text.strip())
        return int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def kazoo_lease_end(data: bytes | None) -> Millis:
    """Read the data of a `lease_holder`. Unreadable data counts as free."""
    return parse_date(_document(data).get("end")) or FREE


def shedlock_end(data: bytes | None) -> Millis:
    """Read a node of ShedLock. A node without a date counts as held, as in the library."""
    end = parse_date((data or b"")[: MAX_DATE_CHARS + 1].decode("utf-8", "replace"))
    return FOREVER if end is None else end


def lease_end(data: bytes | None) -> Millis | None:
    """Read a persistent lock node of Helix or jfix, or return None if it is neither.

    >>> lease_end(b'{"uuid": "u", "hostname": "h", "expirationTimestamp": 5}')
    5000
    """
    document = _document(data)
    if "expirationTimestamp" in document:
        return _millis(document["expirationTimestamp"])
    fields = document.get("simpleFields")
    if not isinstance(fields, dict) or not {"OWNER", "TIMEOUT"} & fields.keys():
        return None
    return _millis(fields.get("TIMEOUT")) if fields.get("OWNER") else FREE


def _millis(value: object) -> Millis:
    try:
        if isinstance(value, int | float) and 0 < value < _SECONDS_BELOW:
            return int(value * 1000)
        return int(value)  # type: ignore[call-overload,no-any-return]  # the value may be anything
    except (TypeError, ValueError, OverflowError):
        end = parse_date(value)
        return FOREVER if end is None else end


def _document(data: bytes | None) -> dict[str, object]:
    if not data or len(data) > 1 << 16 or data[:1] != b"{":
        return {}
    try:
        return msgspec.json.decode(data, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
