"""Splits an audit log into its lines.

ZooKeeper 3.6 and later write one if `audit.enable` is set. It has a line for each change, with
`key=value` pairs separated by tabs, after a prefix that depends on the logging configuration.
Other lines, as in a server's own log, are skipped.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from zktop.byte_streams import ByteStream
from zktop.model.facts import Session
from zktop.model.text import Text, clean

# Every server writes a line for each such deletion, with its own user, and again when it starts.
_NOT_BY_A_CLIENT: Final = "ephemeralZNodeDeletionOnSessionCloseOrExpire"
_BEGIN: Final = b"session=0x"
_TIME: Final = re.compile(rb"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d[.,]\d+")
_CHUNK: Final = 1 << 20

AuditedChange = tuple[str, str]  # operation and path


class AuditedClient(msgspec.Struct, frozen=True):
    """Where a session connects from. `users` is empty if it did not log in."""

    address: Text
    users: Text


class AuditLine(msgspec.Struct, frozen=True):
    """One change that a client made or was refused."""

    session: Session
    client: AuditedClient
    change: AuditedChange
    time: bytes  # as written, without a zone, or empty if the prefix has no time


def audit_lines(stream: ByteStream, max_bytes: int | None = None) -> Iterator[AuditLine]:
    """Yield the lines about clients."""
    for line in _lines(stream, max_bytes):
        begin = line.find(_BEGIN)
        if begin < 0:
            continue
        pairs = line[begin:].decode("utf-8", "surrogateescape").split("\t")
        fields = {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
        session, address = _number(fields["session"]), fields.get("ip")
        operation = fields.get("operation")
        if session and address and operation and operation != _NOT_BY_A_CLIENT:
            time = _TIME.search(line, 0, begin)
            client = AuditedClient(clean(address), _users(fields.get("user", ""), address))
            change = operation, fields.get("znode", "")
            yield AuditLine(session, client, change, time[0] if time else b"")


def _lines(stream: ByteStream, max_bytes: int | None) -> Iterator[bytes]:
    """Yield the lines of a file, except those longer than a chunk."""
    rest, size, is_skipping = b"", 0, False
    while (max_bytes is None or size < max_bytes) and (chunk := stream.read(_CHUNK)):
        size += len(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        if whole:
            yield from whole[1:] if is_skipping else whole
            is_skipping = False
        if len(rest) > _CHUNK or is_skipping:
            rest, is_skipping = b"", True
    yield rest


def _number(text: str) -> Session | None:
    try:
        return int(text, 16)
    except ValueError:
        return None


def _users(text: str, address: str) -> Text:
    """Return the users without the address, which stands for a client that did not log in.

    >>> _users("alice,10.0.0.7", "10.0.0.7"), _users("10.0.0.7", "10.0.0.7")
    ('alice', '')
    """
    return clean(",".join(user for user in text.split(",") if user != address))
