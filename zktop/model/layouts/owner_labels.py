"""The label of a contender: what the data or the name of its znode says about the client.

Clients write a plain name, JSON, a protobuf, fields between colons, or a constant without
meaning. The first part that names a host, a process or a person is the label.

>>> label_of(b"b'worker-3'", "kazoo-semaphore"), label_of(b"lock", "plain-lock")
('worker-3', None)
>>> label_of(b'{"version":1,"brokerid":2}', "single-node")
'broker 2'
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from zktop.model.facts import MAX_DATA_BYTES
from zktop.model.layouts.layout import UUID, Layout, ParsedName
from zktop.model.layouts.other_libraries import ACQUIRED
from zktop.model.text import MAX_LABEL_LENGTH, Text, clean

_SPACE = 0x20
MAX_JSON_BYTES = 65_536  # a larger document is not an owner label

REVOKE: Final = b"__REVOKE__"  # written by Curator's Revoker
REVOKED: Final = frozenset((REVOKE, b"unlock"))  # data that asks the owner to release

_CONSTANTS: Final = {
    b"lock", b"0", b"1", b"unlock", REVOKE, ACQUIRED, b"\x12\x34", b"UP",
    b"application_id=Unknown",
}  # fmt: skip
# Compiled on first use, because few labels need them.
BYTES_REPR: Final = r"""(?s)b(['"])(.*)\1"""
_DATE: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*"
BOOKIE: Final = r'bookieId:\s*"([^"]*)"'
_FATE: Final = r"(?:READ|WRITE):(\S+)"
_PHRASE: Final = rb"[\x20-\x7e]{3,}"
_PID: Final = r"(.+)\.PID\.(\d+)"
APPLICATION: Final = r"(?:.*,)?application_id=([^,]+)(?:,.*)?"  # Hudi
_HBASE_TEXT: Final = r"([\w.-]+),(\d{1,5}),\d{13}"  # host, port, start time
# HBase's ServerName (host, port, start time), alone or as the first field of a message.
HBASE_BYTES: Final = rb"(?s)PBUF(?:\n.)?\n.([\w.-]+)\x10([\x80-\xff]{0,2}[\x00-\x7f])\x18"


@lru_cache(maxsize=1024)
def label_of(data: bytes, layout: str) -> Text | None:
    """Return the label in a znode's data, or None."""
    if data in _CONSTANTS:
        return None
    label = _READERS.get(layout, _from_text)(data)
    if not label:
        return None
    short = label if len(label) <= MAX_LABEL_LENGTH else label[: MAX_LABEL_LENGTH - 1] + "…"
    return clean(short.strip()) or None


def label_in_name(layout: Layout, name: ParsedName) -> Text | None:
    """Return the label in a znode's name, or None."""
    if layout.id_is == "token":
        return None
    if name.id is None:
        return Text(name.group.rstrip("-_")) or None if layout.grouped else None
    if re.fullmatch(UUID, name.id):
        return None  # the id of an attempt or an object, not of a client
    process = re.fullmatch(_PID, name.id) if layout.name == "zooit" else None
    return Text(f"{process[1]} pid {process[2]}" if process else name.id)


def _from_text(data: bytes) -> str | None:
    if data[:1] in (b"{", b"["):
        return _from_json(data)
    text = data[: 4 * 1024].decode("utf-8", "replace")
    if not text.isprintable() and is_binary(data):
        return longest_phrase(data)
    quoted = re.fullmatch(BYTES_REPR, text) if text[0] == "b" else None
    if quoted:
        return quoted[2]
    return _of_known_system(text) or first_line(text)


def first_line(text: str) -> str:
    """Return the first non-empty line. Later lines are rarely a name."""
    return text.lstrip().partition("\n")[0]


def _of_known_system(text: str) -> str | None:
    """Return the label of an application of Hudi, or of a server of HBase."""
    application = re.fullmatch(APPLICATION, text) if "application_id=" in text else None
    if application:
        return application[1]
    server = re.fullmatch(_HBASE_TEXT, text) if text.count(",") == 2 else None  # noqa: PLR2004  of three parts
    return f"{server[1]}:{server[2]}" if server else None


def is_binary(data: bytes) -> bool:
    """Return whether data is not text, judging by its beginning."""
    if data[: 4 * 1024].decode("utf-8", "replace").isprintable():
        return False
    controls = (byte < _SPACE and byte not in (9, 10, 13) for byte in data[:1024])
    return any(controls) or data[0] in (10, 0xFF)


def longest_phrase(data: bytes) -> str | None:
    """Find the server in a protobuf of HBase, or the longest printable part, usually a name."""
    if server := re.search(HBASE_BYTES, data[:1024]):
        return f"{server[1].decode()}:{_varint(server[2])}"
    phrases = [
        phrase.decode("ascii") for phrase in re.findall(_PHRASE, data[:1024].replace(b"PBUF", b""))
    ]
    return max(phrases, key=len, default=None)


def _varint(data: bytes) -> int:
    r"""Decode a number of a protobuf.

    >>> _varint(b"\x80\x7d")
    16000
    """
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data))


def _from_json(data: bytes) -> str | None:
    if len(data) > MAX_JSON_BYTES:
        return None
    try:
        return named_in(msgspec.json.decode(data))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        is_cut = len(data) >= MAX_DATA_BYTES
        return None if is_cut else first_line(data.decode("utf-8", "replace"))


def named_in(document: object) -> str | None:
    """Find the label in a JSON document of any shape. One that is too deep raises RecursionError.

    >>> named_in({"HostName": "h2", "UserName": "vt", "Action": "ApplySchema"})
    'vt@h2 ApplySchema'
    >>> named_in({"id": "mine", "simpleFields": {"OWNER": "me"}})
    'me'
    """
    if isinstance(document, list):
        return next(filter(None, map(named_in, document[:8])), None)
    if not isinstance(document, dict):
        return None
    for key, label_in in _KEYS.items():
        label = label_in(document) if key in document else None
        if label:
            return label
    return None


def _reader_of(key: str) -> Callable[[Mapping[str, object]], str | None]:
    """Return a function that reads the label from one key of a document."""

    def read_label(document: Mapping[str, object]) -> str | None:
        value = document[key]
        return named_in(value) if isinstance(value, dict | list) else _word(value)

    return read_label


def _word(value: object) -> str | None:
    """Return a text or a number; `null`, `true` and `false` are not names."""
    is_word = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if is_word else None


def _vitess(document: Mapping[str, object]) -> str | None:
    host, user, action = (_word(document.get(key)) for key in ("HostName", "UserName", "Action"))
    at = f"{user}@{host}" if user and host else host
    return f"{at} {action}" if at and action else at


def _broker(document: Mapping[str, object]) -> str | None:
    number = _word(document["brokerid"])
    return f"broker {number}" if number else None


_NAMING_KEYS: Final = (  # the first of these that a document has names the owner
    *("holder", "descriptors", "simpleFields", "OWNER", "address", "hostname", "host", "ip"),
    *("owner", "name", "id"),
)
_KEYS: Final[dict[str, Callable[[Mapping[str, object]], str | None]]] = {
    "HostName": _vitess,
    "brokerid": _broker,
    **{key: _reader_of(key) for key in _NAMING_KEYS},
}
LABEL_KEYS: Final = _KEYS.keys() | {"UserName", "Action"}


def _unless_digits(data: bytes) -> str | None:
    return None if data.isdigit() else _from_text(data)


def _fate(data: bytes) -> str | None:
    match = re.fullmatch(_FATE, data.decode("utf-8", "replace"))
    return match[1] if match else _from_text(data)


def _until(mark: str) -> Callable[[bytes], str | None]:
    return lambda data: data[:1024].decode("utf-8", "replace").partition(mark)[0]


def _bookie(data: bytes) -> str | None:
    match = re.search(BOOKIE, data[:4096].decode("utf-8", "replace"))
    return match[1] if match else _from_text(data)


def _unless_date(data: bytes) -> str | None:
    text = data[:64].decode("utf-8", "replace").strip()
    return None if re.fullmatch(_DATE, text) else _from_text(data)


_READERS: Final[dict[str, Callable[[bytes], str | None]]] = {
    "accumulo-fate-lock": _fate,
    "bookkeeper-auditor": _bookie,
    "clickhouse-leader-election": _until(" ("),
    "hive-lock": _until(":"),
    "medallion-semaphore": _unless_digits,
    "permit-semaphore": _unless_digits,
    "plain-lock": _unless_digits,
    "shedlock": _unless_date,
    "zplock": _from_json,
}
