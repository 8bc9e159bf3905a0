"""Large watch tables, read by words: other clients do not wait for that."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from servers import RunningServer, free_port, real_zookeeper
from waiting import eventually
from zk.observed import observing

from zktop.zk.connect.address import AdminAccess

pytestmark = pytest.mark.zookeeper

WATCHES = 10_000
LONG = "of-a-longer-name-than-most-have/" * 20
MANY = 10_000  # with such names, far more than the socket buffers hold
SESSIONS = 10
LINUX_KEEPS = 212_992  # bytes, unless net.core.rmem_max says otherwise
TOKEN = "0123456789abcdef0123456789abcdef"
STOPS = 12  # a table is under way at most of them
STOPPED_S = 0.6
NOTICED_S = 0.4  # a server that waits for a stopped reader waits for as long as that sleeps
TABLE_LOOP = """
import socket, sys
from pathlib import Path
from zktop.zk import Access, AdminAccess, Plan, Source, parse_hosts
from zktop.zk.servers import server_schedule, table_formats, large_table_process

NARROW = 1 << 16

class Narrow(socket.socket):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW)

socket.socket = Narrow  # so that the answer exceeds the buffers
itself = Path(large_table_process.__file__).read_text()
usual = f"BUFFER_BYTES = {large_table_process.BUFFER_BYTES >> 20} << 20"
changed = itself.replace(usual, f"BUFFER_BYTES = {NARROW}")
assert changed != itself
large_table_process.__file__ = sys.argv[2]
Path(large_table_process.__file__).write_text(changed)

server_schedule.REST_FACTOR = 0  # so that a table is under way most of the time
table_formats.watched = lambda *_lines, **_form: {}
plan = Plan(("/nothing",), sample_every=0.001, large_tables=True, admin=AdminAccess(port=1))
source = Source(Access(parse_hosts(sys.argv[1]), session_timeout=40), plan)
source.start()
assert source.run_until_sampled(30)
print("sampled", flush=True)
sys.stdin.read()
source.close()
"""


@contextmanager
def _watched(count: int, path: str) -> Iterator[RunningServer]:
    """A server without an AdminServer, with this many watched znodes."""
    with real_zookeeper(memory_mb=256) as server, ExitStack() as stack:
        for number in range(SESSIONS):
            client = KazooClient(server.address, timeout=40)
            client.start()
            stack.callback(client.close)
            stack.callback(client.stop)
            client.ensure_path("/locks")
            asked = [
                client.exists_async(path.format(number, one), watch=lambda _event: None)
                for one in range(count // SESSIONS)
            ]
            for one in asked:
                one.get(timeout=60)
        yield server


@pytest.fixture(scope="module")
def large() -> Iterator[RunningServer]:
    """Ten thousand watches."""
    with _watched(WATCHES, f"/locks/l{{}}/{TOKEN}__lock__{{:010}}") as server:
        yield server


@pytest.fixture
def bystander(request: pytest.FixtureRequest) -> Iterator[KazooClient]:
    """Another client of the same server."""
    client = KazooClient(request.getfixturevalue("large").address)
    client.start()
    yield client
    client.stop()
    client.close()


def test_ten_thousand_watches_are_read_by_words(
    large: RunningServer, bystander: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a setting, and without slowing down other clients' reads and watches."""
    monkeypatch.setattr("zktop.zk.servers.server_schedule.REST_FACTOR", 0)
    monkeypatch.setattr(
        "zktop.zk.servers.table_size_limits.kernel_buffer_bytes", lambda: LINUX_KEEPS
    )
    no_admin = AdminAccess(port=free_port())
    given = {"introspect": True, "admin": no_admin, "sample_every": 0.05}
    with observing(large.address, "/nothing", **given) as live:
        live.until_sampled()
        took = _times(bystander, 3.0)
        (tables,) = live.world.tables.values()

    assert tables.watches
    assert tables.watches.why is None
    assert sum(map(len, (tables.watches.rows or {}).values())) >= WATCHES
    assert took[len(took) * 99 // 100] < NOTICED_S / 4


def test_a_snapshot_has_them_too(large: RunningServer) -> None:
    """A snapshot reads the table in the same way."""
    command = [sys.executable, "-m", "zktop", "snapshot", "--hosts", large.address]
    nowhere = {"XDG_CONFIG_HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [*command, "--root", "/locks"], check=True, capture_output=True, env=nowhere
    )

    snapshot = json.loads(done.stdout)
    assert snapshot["source"]["sees"]["watches"] == "all"
    assert snapshot["blind"] == []


@pytest.mark.timeout(240)
def test_a_stopped_zktop_does_not_stop_the_server(tmp_path: Path) -> None:
    """After ctrl-z at any moment, the process for tables reads on to the end."""
    chance = random.Random(12)
    with (
        _watched(MANY, f"/locks/{LONG}l{{}}/{TOKEN}__lock__{{:010}}") as server,
        _table_loop(server, tmp_path) as looker,
    ):
        client = KazooClient(server.address, timeout=40)
        client.start()
        slowest = 0.0
        for _ in range(STOPS):
            _times(client, chance.uniform(0.0, 0.3))
            looker.send_signal(signal.SIGSTOP)
            slowest = max(slowest, _times(client, STOPPED_S)[-1])
            looker.send_signal(signal.SIGCONT)
        client.stop()
        client.close()

    assert slowest < NOTICED_S


def test_a_killed_zktop_leaves_no_process(large: RunningServer, tmp_path: Path) -> None:
    """When zktop is killed, its process for tables ends as well."""
    with _table_loop(large, tmp_path) as looker:
        (child,) = _children(looker.pid)
        looker.kill()
        looker.wait()
        eventually(lambda: not Path(f"/proc/{child}").exists())


def test_a_zktop_that_ends_leaves_no_process(large: RunningServer) -> None:
    """No process and no zombie remains."""
    no_admin = AdminAccess(port=free_port())
    before = _children(os.getpid())
    with observing(large.address, "/nothing", introspect=True, admin=no_admin) as live:
        live.until_sampled()
        during = _children(os.getpid())

    assert len(during - before) == 1
    assert _children(os.getpid()) == before


@contextmanager
def _table_loop(server: RunningServer, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that reads the tables of a server all the time."""
    command = [sys.executable, "-c", TABLE_LOOP, server.address, str(folder / "narrow.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as looker:
        assert looker.stdout
        assert looker.stdout.readline() == "sampled\n"
        try:
            yield looker
        finally:
            looker.send_signal(signal.SIGCONT)
            looker.kill()


def _times(client: KazooClient, seconds: float) -> list[float]:
    """Sorted durations of a read and a watch."""
    took = []
    end = time.monotonic() + seconds
    while not took or time.monotonic() < end:
        begin = time.monotonic()
        client.get("/locks", watch=lambda _event: None)
        took.append(time.monotonic() - begin)
    return sorted(took)


def _children(process: int) -> set[int]:
    """The child processes of a process."""
    found = Path(f"/proc/{process}/task").glob("*/children")
    return {int(child) for thread in found for child in thread.read_text().split()}
