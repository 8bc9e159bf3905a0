"""Old servers: real ones where available, and stand-ins in front of a current server.

A stand-in knows only the requests and the words of its version. It answers any other request with
UNIMPLEMENTED and closes the connection, as servers before 3.6 do.
"""

import os
import re
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from servers import RunningServer, ask, real_zookeeper
from zk.request_proxy import REQUEST, RequestProxy

STAND_INS = ("3.4.14", "3.5.9")
HOMES = os.environ.get("ZKTOP_OLDER_ZOOKEEPERS", "")  # `make older` sets it

_ANY = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 100, 101, 102, -10, -11}
_REQUESTS = {"3.4": _ANY, "3.5": _ANY | {15, 16, 17, 18, 19, 20, 21}}
_WORDS = {b"conf", b"cons", b"dump", b"isro", b"mntr", b"ruok", b"srvr", b"wchc", b"wchp", b"wchs"}
_MONITORED = (  # in 3.4; later versions print about a hundred lines more
    *("version", "avg_latency", "max_latency", "min_latency", "packets_received"),
    *("packets_sent", "num_alive_connections", "outstanding_requests", "server_state"),
    *("znode_count", "watch_count", "ephemerals_count", "approximate_data_size"),
    *("open_file_descriptor_count", "max_file_descriptor_count"),
)
_UNIMPLEMENTED = -6
_REPLY = struct.Struct("!iiqi")


class Older:
    """The address and version of an old server."""

    def __init__(self, address: str, version: str) -> None:
        self.address, self.version = address, version
        self.refused: list[int] = []  # requests that this version does not know


class StandIn(RequestProxy, Older):
    """Stands in front of a current server."""

    def __init__(self, version: str, port: int) -> None:
        self._known = _REQUESTS[version[:3]]
        RequestProxy.__init__(self, port)
        Older.__init__(self, self.address, version)

    def word(self, word: bytes) -> bytes:
        """Answer as that version does; other words get no answer."""
        return self._answer(word.decode()).encode() if word in _WORDS else b""

    def refusal(self, frame: bytes) -> bytes | None:
        """Refuse requests that the version does not know."""
        xid, request = REQUEST.unpack_from(frame)
        if request in self._known:
            return None
        self.refused.append(request)
        return _REPLY.pack(_REPLY.size - 4, xid, 0, _UNIMPLEMENTED)

    def _answer(self, word: str) -> str:
        said = ask(self.port, word)
        said = re.sub(r"(ersion[:\t] ?)3\.[^,]*", rf"\g<1>{self.version}-4c25d480e66a", said)
        said = re.sub(r"(Latency.*: \d+/\d+|zk_avg_latency\t\d+)\.\d+", r"\1", said)
        if word == "mntr":
            lines = [line for line in said.splitlines() if _is_monitored(line)]
            return "\n".join(lines) + "\n"
        if word == "dump" and self.version < "3.5":
            said = re.sub(r"(Session Sets \(\d+\))/\(\d+\)", r"\1", said)
            return said.partition("Connections dump:")[0]
        return said


def _is_monitored(line: str) -> bool:
    return line.partition("\t")[0].removeprefix("zk_") in _MONITORED


def homes() -> list[Path]:
    """The folders of the real ones; some are newer than 3.5."""
    return list(map(Path, filter(None, HOMES.split(os.pathsep))))


def kinds() -> list[str]:
    """The stand-ins, and the folders of the real ones of 3.4 and 3.5."""
    return [*STAND_INS, *(str(home) for home in homes() if home.name < "3.6")]


def named(kind: str) -> str:
    """The test id of a kind."""
    return f"like {kind}" if kind in STAND_INS else Path(kind).name


@contextmanager
def older(kind: str) -> Iterator[Older]:
    """Run an old server of this kind."""
    if kind in STAND_INS:
        with real_zookeeper() as server, closing(StandIn(kind, server.port)) as made:
            yield made
        return
    with serving(Path(kind)) as server:
        yield Older(server.address, _version(Path(kind)))


@contextmanager
def serving(home: Path, **settings: object) -> Iterator[RunningServer]:
    """Run a real server from this folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZOOKEEPER_HOME", str(home))
        with real_zookeeper(**settings) as server:
            yield server


def _version(home: Path) -> str:
    (jar,) = (home / "lib").glob("zookeeper-[0-9]*.jar")
    return jar.stem.removeprefix("zookeeper-")
