"""What the four-letter words answer, read into rows; servers from 3.4 on.

Pure functions of a text. A server, or something that only looks like one, may answer anything:
a line that makes no sense is passed over, and nothing here raises. What is simple is read without
a regular expression: to compile one takes longer than to read the tables of a small ensemble.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from sys import intern

import msgspec

from zktop.model.facts import Connection, Session
from zktop.model.text import Text, clean

Version = tuple[int, int, int]
Paths = dict[Session, tuple[Text, ...]]
Wanted = Mapping[str, Text]  # paths that are asked about, each as whoever asks has it already

_MEMBER = (
    r"server\.\d+=[^;\n]*?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:;\n\[\]]+):\d+:\d+"
    r"(?::(?P<role>participant|observer))?"
    r"(?:\|[^;\n]*)?(?:;(?:(?P<own>\[[0-9A-Fa-f:.%]+\]|[^:;\n]*):)?(?P<port>\d{1,5}))?\s*"
)
_LONGEST_ID = 16  # hexadecimal digits
_LONGEST = 19  # digits of a number of 64 bits


def version_of(text: str) -> Version | None:
    """Find the version in `srvr`, `stat` or the AdminServer's word for it.

    >>> version_of("Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29")
    (3, 8, 0)
    """
    found = re.search(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})", text.partition("\n")[0])
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def mode_of(srvr: str) -> str | None:
    """Find the mode in `srvr`: standalone, leader, follower, observer or read-only."""
    for line in srvr.splitlines():
        if line.startswith("Mode:"):
            return line[5:].strip() or None
        if line.startswith("READ-ONLY mode"):
            return "read-only"
    return None


def figures(srvr: str) -> dict[str, str]:
    """Give the `Name: value` lines of `srvr` by name."""
    pairs = (line.partition(":") for line in srvr.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def pairs(text: str, separator: str) -> dict[str, str]:
    """Give the lines of `mntr` (a tab between) or `conf` (an equals sign) by name."""
    parts = (line.partition(separator) for line in text.splitlines() if separator in line)
    return {name.strip(): value.strip() for name, _, value in parts}


def connections(cons: str) -> tuple[Connection, ...]:
    """Read `cons`; connections without a session, such as the one that asked, are left out."""
    rows = [row for row in map(_connection, cons.splitlines()) if row is not None]
    return aged([row for row, _ in rows], [answered for _, answered in rows])


def newest_answer(cons: str) -> int | None:
    """Give the newest `lresp`: about now, by the server's monotonic clock."""
    told = (number(part.partition(",")[0]) for part in cons.split("lresp=")[1:])
    return max(filter(None, told), default=None)


def aged(rows: list[Connection], answered: list[int | None]) -> tuple[Connection, ...]:
    """Fill in how long each was quiet: the newest answer among all of them counts as now.

    The servers print their monotonic clock, which means nothing to anybody else. 0 means that the
    connection has had no answer yet: its session has just moved to this server.
    """
    now = max(filter(None, answered), default=0)
    return tuple(
        Connection(
            row.session,
            row.client,
            row.timeout_ms,
            row.received,
            row.sent,
            row.queued,
            row.last_operation,
            row.last_cxid,
            row.established,
            now - moment if moment else None,
        )
        for row, moment in zip(rows, answered, strict=True)
    )


def _connection(line: str) -> tuple[Connection, int | None] | None:
    whose, _, rest = line.strip().rpartition("(")
    client, _, interest = whose.partition("/")[2].rpartition("[")
    if not (client and interest.endswith("]") and rest.endswith(")")):
        return None
    told = dict(field.partition("=")[::2] for field in rest[:-1].split(","))
    session = hexadecimal(told.get("sid", ""))
    if not session:
        return None
    row = Connection(
        session,
        client_address(client),
        number(told.get("to")),
        number(told.get("recved")) or 0,
        number(told.get("sent")) or 0,
        number(told.get("queued")) or 0,
        Text(intern(clean(told["lop"]))) if "lop" in told else None,  # thousands say the same
        hexadecimal(told.get("lcxid", "")),
        number(told.get("est")),
    )
    return row, number(told.get("lresp"))


def client_address(text: str) -> Text:
    """Write a client's address shortly, whatever way the server wrote it.

    >>> client_address("worker-3/10.0.1.11:51022"), client_address("[0:0:0:0:0:0:0:1]:34886")
    ('10.0.1.11:51022', '[::1]:34886')
    """
    text = text.rpartition("/")[2]
    host, colon, port = text.rpartition(":")
    if ":" not in host and "[" not in host:  # nothing but IPv6 is ever written otherwise
        return clean(text)
    try:
        host = ipaddress.ip_address(host.strip("[]")).compressed
    except ValueError:
        return clean(text)
    return Text(f"[{host}]{colon}{port}" if ":" in host else f"{host}{colon}{port}")


def watched(wchc: Iterable[str]) -> Paths:
    """Read the lines of `wchc`: session at the margin, its paths indented."""
    return _by_session(indented(wchc))


def watched_by_path(wchp: Iterable[str]) -> Paths:
    """Read `wchp`, the same table the other way round."""
    return _by_session((member, head) for head, member in indented(wchp))


def _by_session(pairs: Iterable[tuple[str, str]], wanted: Wanted | None = None) -> Paths:
    paths: dict[Session, list[Text]] = {}
    for told, path in pairs:
        if not path.startswith("/"):
            continue
        known = clean(path) if wanted is None else wanted.get(clean(path))
        if known is not None and (session := hexadecimal(told)):
            paths.setdefault(session, []).append(known)
    return {session: tuple(found) for session, found in paths.items()}


def indented(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pair each indented line with the line at the margin above it."""
    head = ""
    for line in lines:
        if line.startswith("\t"):
            yield head, line[1:]
        elif line:
            head = line


def watches_in_all(wchs: str) -> int | None:
    """Read `Total watches:` from `wchs`."""
    return number(figures(wchs).get("Total watches"))


class Dump(msgspec.Struct, frozen=True):
    """What `dump` tells; a leader prints expiry buckets, a follower every session's time-out."""

    buckets: tuple[tuple[str, tuple[Session, ...]], ...] = ()  # when, as it was printed
    timeouts_ms: dict[Session, int] | None = None
    ephemerals: Paths | None = None


def dump(lines: Iterable[str], wanted: Wanted | None = None) -> Dump:
    """Read any of the three shapes of `dump`; its list of connections is passed over.

    There may be a hundred thousand ephemerals: only those that are wanted are kept, if any are
    named. Lines behind the last one that matters are not even asked for.
    """
    rows = iter(lines)
    buckets: list[tuple[str, list[Session]]] = []
    timeouts: dict[Session, int] = {}
    ephemerals: Paths | None = None
    for line in rows:
        if line.endswith("ephemeral nodes dump:"):
            ephemerals = _ephemerals(rows, wanted)
            break
        _note_session(line, buckets, timeouts)
    dated = tuple((when, tuple(sessions)) for when, sessions in buckets)
    return Dump(dated, timeouts or None, ephemerals)


def _note_session(
    line: str, buckets: list[tuple[str, list[Session]]], timeouts: dict[Session, int]
) -> None:
    first, _, rest = line.strip().partition(" expire at ")
    if buckets and line.startswith("\t") and (session := hexadecimal(line)):
        buckets[-1][1].append(session)
    elif rest.endswith(":") and first.isdigit():
        buckets.append((rest[:-1], []))
    else:
        _note_timeout(line.split(), timeouts)


def _note_timeout(told: list[str], timeouts: dict[Session, int]) -> None:
    match told:
        case [whose, time] if (session := hexadecimal(whose)) and time.endswith("ms"):
            timeout = number(time.removesuffix("ms"))
            if timeout is not None:
                timeouts[session] = timeout


def _ephemerals(lines: Iterable[str], wanted: Wanted | None) -> Paths:
    """Read who owns what: like `wchc`, with a colon behind each session."""
    if wanted is not None and not wanted:
        return {}
    mine = takewhile(lambda line: not line.startswith("Connections dump:"), lines)
    return _by_session(((head.rstrip(":"), path) for head, path in indented(mine)), wanted)


class Member(msgspec.Struct, frozen=True):
    """One server of the ensemble, as the ensemble's own configuration names it."""

    host: str
    port: int | None  # the client port, which an administrator may leave out


def members(config: str) -> tuple[Member, ...]:
    """Read `/zookeeper/config`, or `membership` in `conf`.

    >>> members("server.1=zk1:2888:3888:participant;0.0.0.0:2181")
    (Member(host='zk1', port=2181),)
    """
    told = (line for line in config.split("\n") if line.startswith("server."))
    found = (re.fullmatch(_MEMBER, line) for line in told)
    return tuple(_member(one) for one in found if one)


def _member(found: re.Match[str]) -> Member:
    own = (found["own"] or "").strip("[]")
    host = found["host"].strip("[]") if own in ("", "0.0.0.0", "::", "0:0:0:0:0:0:0:0") else own  # noqa: S104  compared, not bound
    return Member(host, int(found["port"]) if found["port"] else None)


def hexadecimal(text: str) -> int | None:
    """Read `0x1f`; None when it is something else."""
    text = text.strip()
    digits = text[2:]
    if not (text.startswith("0x") and len(digits) <= _LONGEST_ID and _is_plain(digits)):
        return None
    try:
        return int(digits, 16)
    except ValueError:
        return None


def number(text: str | None) -> int | None:
    """Read a decimal number; None when it is something else."""
    text = (text or "").strip()
    return int(text) if _is_number(text.removeprefix("-")) else None


def decimal(text: str | None) -> float | None:
    """Read a number that may have a fraction; servers before 3.5 print an average without one."""
    text = (text or "").strip()
    parts = text.removeprefix("-").split(".", 1)
    return float(text) if all(map(_is_number, parts)) else None


def _is_number(text: str) -> bool:
    return text.isdigit() and text.isascii() and len(text) <= _LONGEST


def _is_plain(text: str) -> bool:
    """Tell whether there is nothing but letters and digits, which excludes signs and blanks."""
    return text.isalnum() and text.isascii()
