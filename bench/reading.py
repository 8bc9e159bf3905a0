"""Reading an ensemble: the first complete reading, and from an event to a fact.

The floors are a few lines of kazoo for the same task, in the same run against the same server.
"""

import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import quantiles
from typing import Any, Protocol

from kazoo.client import KazooClient
from kazoo.protocol.serialization import int_struct, write_string
from kazoo.protocol.states import ZnodeStat

from bench.figure import Figure, shortest_in_turns
from bench.sizes import size
from zktop.app.garbage_collection import no_collections
from zktop.model.facts import Gone
from zktop.zk import Access, Plan, Source, parse_hosts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import has_real_zookeeper, real_zookeeper

COUNTS = size((2_000, 10_000), (20, 50))
CONTENDERS = 5
MEMBERS = size((10, 10_000), (5, 50))
EVENTS = size(300, 10)
BETWEEN_S = 0.02  # between two events
_HEADER, _STAT = struct.Struct("!iBi"), struct.Struct("!qqqqiiiqiiq")


def figures() -> Iterator[Figure]:
    """Start a server, fill it, and measure."""
    if not has_real_zookeeper():
        return
    with real_zookeeper(memory_mb=512) as server:
        client = KazooClient(server.address, timeout=30)
        client.start()
        try:
            for count in COUNTS:
                _fill(client, count)
                yield from _first_reading(client, server.address, count)
            for members in MEMBERS:
                yield from _event_to_fact(client, server.address, members)
        finally:
            client.stop()
            client.close()


def _first_reading(client: KazooClient, address: str, count: int) -> Iterator[Figure]:
    root = f"/bench-{count}"

    def ours(*, is_old: bool) -> float:
        return _read_by_source(address, root, is_old=is_old)

    yield from compare_readings(f"first reading {count}x{CONTENDERS}", client, root, ours)


class Reading(Protocol):
    """Reads everything once, from a new server or as from an old one; returns the seconds."""

    def __call__(self, *, is_old: bool) -> float: ...


def compare_readings(name: str, client: KazooClient, root: str, ours: Reading) -> Iterator[Figure]:
    """Compare both ways of reading with both floors; all four in turns."""
    batched, new, singly, old = shortest_in_turns(
        lambda: time_bare_reading(client, root),
        lambda: ours(is_old=False),
        lambda: _seconds(lambda: _bare_async(client, root)),
        lambda: ours(is_old=True),
    )
    yield Figure(name, new, "s", batched, "s bare MultiRead", 4 * batched)
    yield Figure(f"{name} against get_async", new, "s", singly, "s bare get_async", singly / 10)
    yield Figure(f"{name} one-shot", old, "s", singly, "s bare get_async", 1.2 * singly)


def _event_to_fact(client: KazooClient, address: str, members: int) -> Iterator[Figure]:
    root = f"/bench-events-{members}"
    client.ensure_path(root)
    create_nodes(client, [f"{root}/m-{i:010d}" for i in range(members)])
    bare = bare_events(client, address, root)
    ours = _source_events(client, address, root)
    for percent, most in ((50, 5.0), (99, 30.0)):
        floor, value = (percentile(times, percent) for times in (bare, ours))
        yield Figure(
            f"event to fact p{percent}, {members} members",
            value,
            "ms",
            floor,
            "ms bare recursive watch",
            floor + most,
        )


def _read_by_source(address: str, root: str, *, is_old: bool) -> float:
    """Time from the session to the last fact; connecting is measured elsewhere."""
    access = Access(parse_hosts(address), session_timeout=30)
    plan = Plan(roots=(f"{root}/*",), persistent=not is_old, introspect=False)
    source = Source(access, plan)
    if is_old:
        read_without_batches(source)
    begun = note_ready(source)
    try:
        source.start()
        with no_collections():
            assert source.run_until_read(120)
        return time.perf_counter() - begun[0]
    finally:
        source.close()


def note_ready(source: Source) -> list[float]:
    """Return a list that gets the time at which the session is ready and reading begins."""
    begun: list[float] = []
    connection = source._connection  # noqa: SLF001
    ready = connection.on_ready
    connection.on_ready = lambda: (begun.append(time.perf_counter()), ready())
    return begun


def read_without_batches(source: Source) -> None:
    """Make a source read one znode at a time, as from an old server."""
    expected = source._adapt_to  # noqa: SLF001

    def old(probes: Any) -> None:
        expected(probes)
        source._reader.batches = False  # noqa: SLF001

    source._adapt_to = old  # type: ignore[method-assign]  # noqa: SLF001


def time_bare_reading(client: KazooClient, root: str) -> float:
    """Time to read all locks below a root, and their contenders, in as few lines as possible."""
    return _seconds(lambda: _bare_multi(client, root))


def _bare_multi(client: KazooClient, root: str) -> None:
    locks = [f"{root}/{name}" for name in client.get_children(root)]
    found = _multi(client, [(op, path) for path in locks for op in (4, 8)])
    members = [
        (4, f"{lock}/{name}")
        for lock, names in zip(locks, found[1::2], strict=True)
        for name in names
    ]
    _multi(client, members)


def bare_walk(client: KazooClient, root: str) -> int:
    """List every znode below a root once, in batches; return how many there are."""
    level, walked = [root], 0
    while level:
        walked += len(level)
        listed = _multi(client, [(8, path) for path in level])
        level = [
            f"{path}/{name}" for path, names in zip(level, listed, strict=True) for name in names
        ]
    return walked


def _multi(client: KazooClient, items: list[tuple[int, str]]) -> list[Any]:
    asked = []
    for start in range(0, len(items), 500):
        result = client.handler.async_result()
        client._call(_BareMulti(items[start : start + 500]), result)  # noqa: SLF001
        asked.append(result)
    return [one for result in asked for one in result.get(timeout=60)]


class _BareMulti:
    """Opcode 22 in as few lines as possible."""

    type = 22

    def __init__(self, items: list[tuple[int, str]]) -> None:
        self.items = items

    def serialize(self) -> bytes:
        parts = (_HEADER.pack(op, 0, -1) + write_string(path) + b"\0" for op, path in self.items)
        return b"".join(parts) + _HEADER.pack(-1, 1, -1)

    @staticmethod
    def deserialize(answer: bytes, offset: int) -> list[Any]:
        found: list[Any] = []
        while True:
            kind, done, _ = _HEADER.unpack_from(answer, offset)
            offset += 9
            if done:
                return found
            (length,) = int_struct.unpack_from(answer, offset)
            offset += 4
            if kind == 4:  # noqa: PLR2004
                content = answer[offset : offset + length]
                offset += max(length, 0)
                found.append((content, ZnodeStat._make(_STAT.unpack_from(answer, offset))))
                offset += 68
                continue
            names = []
            for _ in range(length):
                (size,) = int_struct.unpack_from(answer, offset)
                names.append(answer[offset + 4 : offset + 4 + size].decode())
                offset += 4 + size
            found.append(names)


def _bare_async(client: KazooClient, root: str) -> None:
    locks = [f"{root}/{name}" for name in client.get_children(root)]
    listed = [(lock, client.get_children_async(lock)) for lock in locks]
    read = [
        client.get_async(f"{lock}/{name}")
        for lock, names in listed
        for name in names.get(timeout=120)
    ]
    for one in read:
        one.get(timeout=120)


def bare_events(client: KazooClient, address: str, root: str) -> list[float]:
    from zktop.zk.read.requests import AddWatch, decode_event  # noqa: PLC0415

    watcher = KazooClient(address)
    watcher.start()
    seen = _Moments()
    watcher._connection._read_watch_event = lambda message, offset: seen.note(  # noqa: SLF001
        decode_event(message, offset)[1]
    )
    added = watcher.handler.async_result()
    watcher._call(AddWatch(root), added)  # noqa: SLF001
    added.get(timeout=10)
    try:
        return _time_deletions(client, root, "bare", seen)
    finally:
        watcher.stop()
        watcher.close()


def _source_events(client: KazooClient, address: str, root: str) -> list[float]:
    seen, over = _Moments(), threading.Event()
    source = Source(Access(parse_hosts(address)), Plan(roots=(root,), introspect=False))

    def follow() -> None:
        while not over.is_set():
            source.run(time.monotonic() + 1.0)
            for fact in source.take():
                if isinstance(fact, Gone):
                    seen.note(fact.path)

    source.start()
    try:
        assert source.run_until_read(60)
        following = threading.Thread(target=follow)
        following.start()
        try:
            return _time_deletions(client, root, "ours", seen)
        finally:
            over.set()
            following.join()
    finally:
        source.close()


class _Moments:
    """The first time at which each path was noted."""

    def __init__(self) -> None:
        self.at: dict[str, float] = {}
        self.awaited = ""
        self.came = threading.Event()

    def note(self, path: str) -> None:
        if path == self.awaited:
            self.at.setdefault(path, time.perf_counter())
            self.came.set()


def _time_deletions(client: KazooClient, root: str, who: str, seen: _Moments) -> list[float]:
    """Milliseconds from the end of each deletion; negative when the event came first."""
    taken = []
    for number in range(EVENTS):
        path = f"{root}/{who}-{number:010d}"
        client.create(path)
        time.sleep(BETWEEN_S)
        seen.came.clear()
        seen.awaited = path
        client.delete(path)
        deleted = time.perf_counter()
        assert seen.came.wait(10)
        taken.append((seen.at[path] - deleted) * 1000)
    return taken


def percentile(times: list[float], percent: int) -> float:
    return quantiles(times, n=100)[percent - 1]


def _fill(client: KazooClient, count: int) -> None:
    root = f"/bench-{count}"
    client.ensure_path(root)
    locks = [f"{root}/lock-of-{number}" for number in range(count)]
    create_nodes(client, locks, b"")
    names = [f"{'0123456789abcdef' * 2}__lock__{number:010d}" for number in range(CONTENDERS)]
    create_nodes(client, [f"{lock}/{name}" for lock in locks for name in names])


def create_nodes(client: KazooClient, paths: list[str], content: bytes = b"worker") -> None:
    for start in range(0, len(paths), 500):
        batch = client.transaction()
        for path in paths[start : start + 500]:
            batch.create(path, content)
        batch.commit()


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
