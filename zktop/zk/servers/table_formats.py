"""Parses the answers to four-letter words into rows, for servers from 3.4 on.

Pure functions of arbitrary text. A table is complete or unknown: a truncated answer, or one with
an unexpected line, raises UnreadableError, because an empty table would be a false statement.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from sys import intern
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Connection, Session
from zktop.model.text import Text, clean
from zktop.zk.servers.four_letter import RefusedError

PathsBySession = dict[Session, tuple[Text, ...]]


class WantedPaths(msgspec.Struct, frozen=True):
    """The paths to keep of a table that lists all ephemerals."""

    paths: Mapping[str, Text] = {}  # as existing Text objects
    below: tuple[str, ...] = ()  # folders to keep entirely, each with a slash at its end
    note: Callable[[str], object] | None = None  # receives every path of the table

    def __bool__(self) -> bool:
        return bool(self.paths or self.below or self.note)

    def get(self, path: Text) -> Text | None:
        """Return the path if it is wanted."""
        if self.note is not None:
            self.note(path)
        return self.paths.get(path) or (path if path.startswith(self.below) else None)


_MEMBER = (
    r"server\.(?P<id>\d+)=[^;\n]*?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:;\n\[\]]+):\d+:\d+"
    r"(?::(?P<role>participant|observer))?"
    r"(?:\|[^;\n]*)?(?:;(?:(?P<own>\[[0-9A-Fa-f:.%]+\]|[^:;\n]*):)?(?P<port>\d{1,5}))?\s*"
)
_HEXADECIMAL = re.compile("0x([0-9a-fA-F]{1,16})")  # a 64-bit number, like the next one
_NUMBER = re.compile("-?[0-9]{1,19}")
_DECIMAL = re.compile("-?[0-9]{1,19}([.][0-9]{1,19})?")
_NO_SESSION: Final = (0, 0xFFFF_FFFF_FFFF_FFFF)  # printed for a connection without a session
_CLOSED = "null"  # address of a closing connection
_SHOWN_CHARS = 60  # of a bad line in the message
_SETS = r"(?:Local |Global )*Session(?: Sets|s) ?\(\d+\)(?:/\(\d+\))?:"
_OBJECT = r"[\w.$]+@[0-9a-f]+"  # a follower of 3.4 prints this instead of its sessions


class UnreadableError(RefusedError):
    """An answer in an unexpected form: its table is unknown, not empty."""


def unreadable(word: str, line: str | None = None) -> UnreadableError:
    """The error for an answer with this unexpected line, or with a missing end if it is None."""
    why = f"unexpected line: {line[:_SHOWN_CHARS]!r}" if line is not None else "its end is missing"
    return UnreadableError(f"{word}: this answer cannot be read: {why}")


def mode_of(srvr: str) -> str | None:
    """Find the mode in `srvr`: standalone, leader, follower, observer or read-only."""
    for line in srvr.splitlines():
        if line.startswith("Mode:"):
            return line[5:].strip() or None
        if line.startswith("READ-ONLY mode"):
            return "read-only"
    return None


def figures(srvr: str) -> dict[str, str]:
    """The `Name: value` lines of `srvr` by name."""
    pairs = (line.partition(":") for line in srvr.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def node_count(srvr: str) -> int | None:
    """Find the number of znodes in `srvr`."""
    return number(figures(srvr).get("Node count"))


def monitored(mntr: str) -> dict[str, str]:
    """Parse `mntr` into values by name, without the prefix `zk_`."""
    values: dict[str, str] = {}
    for line in _lines_of("mntr", mntr):
        name, tab, value = line.partition("\t")
        if not (name.startswith("zk_") and tab):
            raise unreadable("mntr", line)
        values[name.removeprefix("zk_").strip()] = value.strip()
    return values


def tick_ms(conf: str) -> int | None:
    """Find the server's tick in `conf`. Return None if the line is missing or truncated."""
    match = re.search(r"^tickTime=(\d{1,9})\n", conf, re.MULTILINE)
    return int(match[1]) if match else None


def server_id(conf: str) -> int | None:
    r"""Find the server's id in `conf`: its `myid`, or None for a server without an ensemble.

    >>> server_id("serverId=3\n"), server_id("serverId=0\n")
    (3, None)
    """
    match = re.search(r"^serverId=(\d{1,9})\n", conf, re.MULTILINE)
    return int(match[1]) or None if match else None


def _lines_of(word: str, text: str) -> list[str]:
    """The lines that are not blank: at least one, and all of them complete."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not (lines and text.endswith("\n")):
        raise unreadable(word)
    return lines


def connections(cons: str) -> tuple[Connection, ...]:
    """Parse `cons`, without connections that have no session, such as our own.

    ZooKeeper appends the interest ops in brackets to each address, and ends with a blank line.
    """
    lines = _lines_of("cons", cons)
    if "](" in lines[0] and not cons.endswith("\n\n"):
        raise unreadable("cons")
    rows = [row for row in map(_connection, lines) if row is not None]
    return with_silence([row for row, _ in rows], [answered for _, answered in rows])


def newest_answer(cons: str) -> int | None:
    """The newest `lresp`, which is about now on the server's monotonic clock."""
    answered = (number(part.partition(",")[0]) for part in cons.split("lresp=")[1:])
    return max(filter(None, answered), default=None)


def with_silence(rows: list[Connection], answered: list[int | None]) -> tuple[Connection, ...]:
    """Compute how long each connection has been silent: the newest answer of all counts as now.

    Servers print their monotonic clock, which means nothing elsewhere. 0 means that the connection
    has had no answer yet: its session has just moved to this server.
    """
    now = max(filter(None, answered), default=0)
    return tuple(
        replace(row, quiet_ms=now - moment if moment else None)
        for row, moment in zip(rows, answered, strict=True)
    )


def _connection(line: str) -> tuple[Connection, int | None] | None:
    address, _, rest = line.strip().rpartition("(")
    client, is_whole = _without_interest(address)
    fields = dict(field.partition("=")[::2] for field in rest[:-1].split(","))
    received, sent = number(fields.get("recved")), number(fields.get("sent"))
    session = hexadecimal(fields["sid"]) if "sid" in fields else 0
    if not (is_whole and rest.endswith(")")) or None in (received, sent, session):
        raise unreadable("cons", line)
    if session is None or session in _NO_SESSION or client == _CLOSED:
        return None
    row = Connection(
        session,
        client_address(client),
        number(fields.get("to")),
        received or 0,
        sent or 0,
        number(fields.get("queued")) or 0,
        # The names of operations are shared by thousands of rows.
        Text(intern(clean(fields["lop"]))) if "lop" in fields else None,
        hexadecimal(fields.get("lcxid", "")),
        number(fields.get("est")),
    )
    return row, number(fields.get("lresp"))


def _without_interest(address: str) -> tuple[str, bool]:
    """The address without the number in brackets, and whether the address is complete."""
    client, bracket, interest = address.rpartition("[")
    if not (bracket and interest.endswith("]") and interest[:-1].isdigit()):
        client = address
    host, _, port = client.rpartition(":")
    return client, client == _CLOSED or bool(host and port.isdigit())


def client_address(text: str) -> Text:
    """Shorten a client's address, in any form that servers print.

    >>> client_address("worker-3/10.0.1.11:51022"), client_address("[0:0:0:0:0:0:0:1]:34886")
    ('10.0.1.11:51022', '[::1]:34886')
    """
    text = text.rpartition("/")[2]
    host, colon, port = text.rpartition(":")
    if ":" not in host and "[" not in host:  # only IPv6 needs more
        return clean(text)
    try:
        host = ipaddress.ip_address(host.strip("[]")).compressed
    except ValueError:
        return clean(text)
    return Text(f"[{host}]{colon}{port}" if ":" in host else f"{host}{colon}{port}")


def watched(wchc: Iterable[str], *, blank_end: bool = True) -> PathsBySession:
    """Parse `wchc`: sessions, each followed by its indented paths."""
    return _by_session("wchc", indented("wchc", wchc, blank_end=blank_end))


def _by_session(
    word: str, pairs: Iterable[tuple[str, str | None]], wanted: WantedPaths | None = None
) -> PathsBySession:
    paths: dict[Session, list[Text]] = {}
    of_session: list[Text] = []
    for head, path in pairs:
        if path is None:
            session = hexadecimal(head)
            if session is None:
                raise unreadable(word, head)
            of_session = paths.setdefault(session, [])
        elif not path.startswith("/"):
            raise unreadable(word, path)
        else:
            kept = clean(path) if wanted is None else wanted.get(clean(path))
            if kept is not None:
                of_session.append(kept)
    # A session may have watches of two kinds on one path.
    return {
        session: tuple(dict.fromkeys(own)) for session, own in paths.items() if session and own
    }


def indented(
    word: str, lines: Iterable[str], *, blank_end: bool
) -> Iterator[tuple[str, str | None]]:
    """Pair each indented line with the unindented line above it, and that line with None.

    The end is a line break or, in most tables of ZooKeeper, a blank line.
    """
    head: str | None = None
    empty_lines = 0
    for line in lines:
        if not line:
            empty_lines += 1
            continue
        is_member = line.startswith("\t")
        if empty_lines or (is_member and head is None):
            raise unreadable(word, line)
        if not is_member:
            head = line
        yield head or "", line[1:] if is_member else None
    if empty_lines < (2 if blank_end else 1):  # the first one is what follows a line break
        raise unreadable(word)


def total_watches(wchs: str) -> int:
    """Parse the total from `wchs`, which decides whether the table may be requested."""
    match = re.fullmatch(r"\d+ connections watching \d+ paths\nTotal watches:(\d{1,18})\n", wchs)
    if match is None:
        raise unreadable("wchs", wchs)
    return int(match[1])


class Dump(msgspec.Struct, frozen=True):
    """The content of `dump`: a leader prints expiry buckets, a follower the session timeouts."""

    buckets: tuple[tuple[str, tuple[Session, ...]], ...] = ()  # printed time, sessions
    timeouts_ms: dict[Session, int] | None = None
    ephemerals: PathsBySession | None = None
    sessions: tuple[Session, ...] | None = None  # without any times


def ephemerals_in(dump: bytes) -> memoryview:
    r"""The part of a `dump` that lists ephemerals. The rest is different each time.

    >>> bytes(ephemerals_in(b"...\nSessions with Ephemerals (0):\nConnections dump:\n..."))
    b'Sessions with Ephemerals (0):'
    """
    begin = max(0, dump.find(b"Sessions with Ephemerals ("))
    end = dump.rfind(b"\nConnections dump:", begin)  # near the end of perhaps 40 MB
    return memoryview(dump)[begin : end if end >= 0 else len(dump)]


def dump(lines: Iterable[str], wanted: WantedPaths | None = None) -> Dump:
    """Parse any form of `dump`, but skip its list of connections.

    It may list a hundred thousand ephemerals: with `wanted`, only these are kept. Lines after the
    last one that matters are not read.
    """
    rows = iter(lines)
    first = next(rows, "")
    if first.startswith("Sessions dump ("):
        listed, heading = _sessions(first, rows)
        return Dump(ephemerals=_ephemerals(rows, wanted, heading), sessions=listed)
    if first != "SessionTracker dump:":
        raise unreadable("dump", first)
    buckets: list[tuple[str, list[Session]]] = []
    timeouts: dict[Session, int] = {}
    for line in rows:
        sessions_end = line.endswith("ephemeral nodes dump:")
        _add_session(line.removesuffix("ephemeral nodes dump:"), buckets, timeouts)
        if sessions_end:
            break
    else:
        raise unreadable("dump")
    dated = tuple((when, tuple(sessions)) for when, sessions in buckets)
    return Dump(dated, timeouts or None, _ephemerals(rows, wanted))


def _add_session(
    line: str, buckets: list[tuple[str, list[Session]]], timeouts: dict[Session, int]
) -> None:
    first, _, rest = line.strip().partition(" expire at ")
    if buckets and line.startswith("\t") and (session := hexadecimal(line)) is not None:
        buckets[-1][1].append(session)
    elif rest.endswith(":") and first.isdigit():
        buckets.append((rest[:-1], []))
    elif not _add_timeout(line.split(), timeouts) and not re.fullmatch(
        f"|{_SETS}|{_OBJECT}", line
    ):
        raise unreadable("dump", line)


def _add_timeout(words: list[str], timeouts: dict[Session, int]) -> bool:
    match words:
        case [session_text, time] if time.endswith("ms"):
            session, timeout = hexadecimal(session_text), number(time.removesuffix("ms"))
            if session and timeout is not None:
                timeouts[session] = timeout
                return True
    return False


def _parse_count(line: str, heading: str) -> int:
    """Parse a heading that ends with a count, such as `Sessions dump (2):`."""
    count = number(line.removeprefix(f"{heading} (").removesuffix("):"))
    if count is None or not line.startswith(heading):
        raise unreadable("dump", line)
    return count


def _sessions(first: str, rows: Iterator[str]) -> tuple[tuple[Session, ...], str]:
    """Parse the list of sessions that Keeper begins with, and the line after it."""
    listed: list[Session] = []
    for line in rows:
        session = hexadecimal(line)
        if session is None:
            if len(listed) != _parse_count(first, "Sessions dump"):
                raise unreadable("dump", line)
            return tuple(listed), line
        listed.append(session)
    raise unreadable("dump")


def _ephemerals(
    rows: Iterator[str], wanted: WantedPaths | None, heading: str | None = None
) -> PathsBySession:
    """Parse the owners: like `wchc`, with a colon after each session except in Keeper."""
    if wanted is not None and not wanted:
        return {}
    count = _parse_count(
        next(rows, "") if heading is None else heading, "Sessions with Ephemerals"
    )
    heads = 0

    def owners() -> Iterator[tuple[str, str | None]]:
        nonlocal heads
        for head, path in indented("dump", _until_connections(rows), blank_end=False):
            heads += path is None
            yield head.removesuffix(":"), path

    ephemerals = _by_session("dump", owners(), wanted)
    if heading is not None and heads != count:  # ZooKeeper counts first and lists a moment later
        raise unreadable("dump")
    return ephemerals


def _until_connections(rows: Iterator[str]) -> Iterator[str]:
    for line in rows:
        if line == "Connections dump:":
            yield ""
            return
        yield line


class EnsembleMember(msgspec.Struct, frozen=True):
    """One server of the ensemble, as its configuration lists it."""

    host: str
    port: int | None  # client port, which is optional
    id: int = 0


def members(config: str) -> tuple[EnsembleMember, ...]:
    """Parse `/zookeeper/config`, or `membership` in `conf`.

    >>> members("server.1=zk1:2888:3888:participant;0.0.0.0:2181")
    (EnsembleMember(host='zk1', port=2181, id=1),)
    """
    lines = (line for line in config.split("\n") if line.startswith("server."))
    matches = (re.fullmatch(_MEMBER, line) for line in lines)
    return tuple(_member(match) for match in matches if match)


def _member(match: re.Match[str]) -> EnsembleMember:
    own = (match["own"] or "").strip("[]")
    host = match["host"].strip("[]") if own in ("", "0.0.0.0", "::", "0:0:0:0:0:0:0:0") else own  # noqa: S104  compared, not bound
    port = int(match["port"]) if match["port"] else None
    return EnsembleMember(host, port, int(match["id"]))


def hexadecimal(text: str) -> int | None:
    """Parse a number like `0x1f`. Return None for anything else."""
    match = _HEXADECIMAL.fullmatch(text.strip())
    return int(match[1], 16) if match else None


def number(text: str | None) -> int | None:
    """Parse a decimal number. Return None for anything else."""
    match = _NUMBER.fullmatch((text or "").strip())
    return int(match[0]) if match else None


def decimal(text: str | None) -> float | None:
    """Parse a number that may have a fraction. Servers before 3.5 print averages without one."""
    match = _DECIMAL.fullmatch((text or "").strip())
    return float(match[0]) if match else None
