"""Removes the payload from large data: all that neither names the owner nor is read by a layout.

Recordings keep only the rest of large data, which yields the same labels and lease ends as all of
it. The layout is not known yet, so the rest must suffice for every layout.
"""

import re
from typing import Final

import msgspec

from zktop.model.facts import MAX_DATA_BYTES
from zktop.model.layouts.owner_labels import (
    APPLICATION,
    BOOKIE,
    BYTES_REPR,
    HBASE_BYTES,
    LABEL_KEYS,
    first_line,
    is_binary,
    longest_phrase,
    named_in,
)
from zktop.model.layouts.timed_leases import LEASE_KEYS
from zktop.model.text import MAX_LABEL_LENGTH

_KEPT_KEYS: Final = LABEL_KEYS | LEASE_KEYS | {"type"}  # `type` is the mode of ZPLock
_KEPT_CHARS: Final = MAX_LABEL_LENGTH + 1  # one more, so that a long label is still truncated
_HIVE: Final = r"[^:\s]+:\d+:(?:EXPLICIT|IMPLICIT):"  # an SQL statement follows


def owner_part(data: bytes) -> bytes:
    """Remove everything that no layout reads.

    >>> owner_part(b'{"owner": "a", "password": "b", "simpleFields": {"OWNER": "c", "x": "d"}}')
    b'{"owner":"a","simpleFields":{"OWNER":"c"}}'
    >>> owner_part(b"hive_7:1700000000000:EXPLICIT:select * from users")
    b'hive_7:1700000000000:EXPLICIT:'
    """
    if data[:1] in (b"{", b"["):
        try:
            return msgspec.json.encode(_without_payload(msgspec.json.decode(data)))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return b"" if len(data) >= MAX_DATA_BYTES else _text_without_payload(data)
    return _binary_without_payload(data) if is_binary(data) else _text_without_payload(data)


def _without_payload(value: object) -> object:
    """Keep some keys of objects, and the first list element that names an owner."""
    if isinstance(value, dict):
        kept = (key for key in value if key in _KEPT_KEYS)
        return {key: _without_payload(value[key]) for key in kept}
    if isinstance(value, list):
        naming = next(filter(named_in, value[:8]), None)
        return [] if naming is None else [_without_payload(naming)]
    return value[:_KEPT_CHARS] if isinstance(value, str) else value


def _text_without_payload(data: bytes) -> bytes:
    """Keep the first line of a text, and what layouts look for further on."""
    text = data[: 4 * 1024].decode("utf-8", "replace")
    if hive := re.match(_HIVE, text):
        return hive[0].encode()
    kept = first_line(text)[:_KEPT_CHARS]
    if kept == text:
        return data
    if quoted := re.fullmatch(BYTES_REPR, text):
        kept = f"b{quoted[1]}{quoted[2][:_KEPT_CHARS]}{quoted[1]}"
    elif bookie := re.search(BOOKIE, text):
        kept += f"\n{bookie[0]}"
    elif application := re.fullmatch(APPLICATION, text):
        kept += f",application_id={application[1][:_KEPT_CHARS]}"
    return kept.encode()


def _binary_without_payload(data: bytes) -> bytes:
    """Keep the server in a protobuf of HBase, or else the longest printable part."""
    server = re.search(HBASE_BYTES, data[:1024])
    name = server[0] if server else (longest_phrase(data) or "").encode()[:_KEPT_CHARS]
    return b"\n" + name  # the newline marks it as binary
