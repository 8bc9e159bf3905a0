"""Finding locks with no root given: among a million other znodes, and below one wide parent.

The floor is a walk that lists every znode once, in batches, with a few lines of kazoo. Each tree
is searched twice: once while the server lists ephemeral znodes, so that their places come first,
and once while it does not. Both trees are on one server; a chroot shows one of them alone.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from kazoo.client import KazooClient

from bench.figure import MEMORY_ROOM_MB, Figure
from bench.many_sessions import Contender, create_many, member
from bench.reading import bare_walk
from bench.sizes import size

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import has_real_zookeeper, real_zookeeper

LOCKS = size(2_000, 40)
CONTENDERS = 5
TABLES, ROWS = size((20, 25_000), (2, 300))
SHELVES, BOOKS = size((2_000, 240), (20, 20))  # folders two levels down, and znodes in each
WIDE = size(120_000, 1_200)  # lock folders below one parent
USED = size(40, 4)  # of them
FIRST_S = 2.0  # until the first locks are on the screen
SEARCH = (sys.executable, "-m", "bench.finding_process")


def figures() -> Iterator[Figure]:
    """Fill a server; search both trees."""
    if not has_real_zookeeper():
        return
    with real_zookeeper(
        memory_mb=3_000, maxSessionTimeout=3_600_000, forceSync="no", snapCount=10_000_000
    ) as server:
        create_many(server.address, _others(), b"a row of an application")
        create_many(server.address, _lock_folders(), b"")
        _queue_up(server.address, [*_scattered(), *_used()])
        yield from _compare(server.address, "/million", "a million znodes", LOCKS)
        yield from _compare(server.address, "/wide", "a wide parent", USED)


def _others() -> Iterator[str]:
    """Znodes without locks: wide tables, and folders below folders."""
    yield "/million"
    for table in range(TABLES):
        yield f"/million/table-{table}"
        for row in range(ROWS):
            yield f"/million/table-{table}/row-{row}"
    yield "/million/library"
    for shelf in range(SHELVES):
        yield f"/million/library/shelf-{shelf}"
        yield f"/million/library/shelf-{shelf}/books"
        for book in range(BOOKS):
            yield f"/million/library/shelf-{shelf}/books/{book:010d}"


def _scattered() -> Iterator[str]:
    """Half of the locks in one folder, a quarter alone, a quarter among the rows of a table."""
    for number in range(LOCKS // 2):
        yield f"/million/zoo/app/locks/of-{number}"
    for number in range(LOCKS // 4):
        yield f"/million/library/shelf-{number * SHELVES * 4 // LOCKS}/borrowing-{number}"
        yield f"/million/table-{TABLES - 1}/writing-{number}"


def _used() -> Iterator[str]:
    for number in range(USED):
        yield f"/wide/orders/order-{number * WIDE // USED}"


def _lock_folders() -> Iterator[str]:
    yield from ("/million/zoo", "/million/zoo/app", "/million/zoo/app/locks")
    yield from _scattered()
    yield from ("/wide", "/wide/orders")
    for number in range(WIDE):
        yield f"/wide/orders/order-{number}"


def _queue_up(address: str, locks: Iterable[str]) -> None:
    """Let a few sessions stand in every queue; they last until they expire."""
    for place in range(CONTENDERS):
        contender = Contender(address)
        contender.answers(1)
        rest = iter(locks)
        while some := [*islice(rest, 500)]:
            for lock in some:
                contender.queue(f"{lock}/{member(place)}")
            contender.answers(len(some))
        contender.vanish()


def _compare(address: str, root: str, where: str, locks: int) -> Iterator[Figure]:
    client = KazooClient(address, timeout=30)
    client.start()
    bare_walk(client, root)  # the server's first answers are slow
    began = time.perf_counter()
    walked = bare_walk(client, root)
    floor = time.perf_counter() - began
    client.stop()
    client.close()
    is_walk = f"s bare walk of {walked}"
    for how, told in (("", "on"), (", ephemerals not listed", "off")):
        command = [*SEARCH, f"{address}{root}", str(locks), told]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(ran.stdout)
        name = f"locks found in {where}{how}"
        yield Figure(f"{name}: first", found["first"], "s", floor, is_walk, FIRST_S)
        yield Figure(f"{name}: all", found["all"], "s", floor, is_walk, 2 * floor)
        imported_mb, most = found["imported_mb"], found["imported_mb"] + MEMORY_ROOM_MB
        yield Figure(f"{name}: memory", found["mb"], "MB", imported_mb, "MB imported", most)
