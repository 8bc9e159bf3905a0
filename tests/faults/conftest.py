"""A real ensemble whose members are killed, paused and restarted."""

import itertools
import signal
from collections.abc import Callable, Iterator

import pytest
from faults.contenders_at_work import Crowd, crowd
from faults.zktop_under_test import Place
from servers import RunningServer, ask, real_ensemble, real_zookeeper, started_again
from waiting import eventually
from zk.cut_proxy import CutProxy

from zktop.zk.connect.address import Address

TICK_MS = 500  # sessions, elections and the loss of a leader are timed in ticks
_numbers = itertools.count()


class Ensemble:
    """Three members by address; every fault can be undone."""

    def __init__(self, members: list[RunningServer]) -> None:
        self._members = members
        self.hosts = ",".join(member.address for member in members)

    @property
    def admin(self) -> dict[Address, int]:
        """The ports of their AdminServers."""
        return {
            Address("127.0.0.1", member.port): member.admin_port or 0 for member in self._members
        }

    @property
    def ports(self) -> list[int]:
        """The ports for clients."""
        return [member.port for member in self._members]

    def leader(self) -> str:
        """The address of the leader."""
        return next(m.address for m in self._members if "leader" in ask(m.port, "srvr"))

    def kill(self, *addresses: str) -> None:
        """Kill these members."""
        dying = [member for member in self._members if member.address in addresses]
        for member in dying:
            member.process.kill()
        for member in dying:
            member.process.wait()

    def start(self, *addresses: str) -> None:
        """Restart killed members."""
        for place, member in enumerate(self._members):
            if member.address in addresses:
                self._members[place] = started_again(member)

    def pause(self, address: str) -> None:
        """Stop a process: its sockets stay open and do not answer."""
        self._signal(address, signal.SIGSTOP)

    def resume(self, address: str) -> None:
        """Continue a paused process."""
        self._signal(address, signal.SIGCONT)

    def serves(self) -> bool:
        """True if every member serves."""
        try:
            return all("Mode:" in ask(member.port, "srvr", 1.0) for member in self._members)
        except OSError:
            return False

    def follows(self, address: str) -> bool:
        """True if this member is a follower that serves."""
        port = next(member.port for member in self._members if member.address == address)
        try:
            return "Mode: follower" in ask(port, "srvr", 1.0)
        except OSError:
            return False

    def status(self) -> str:
        """The last answers of the members, and whether their processes ended."""
        ends = (
            f"{m.address}, {m.process.poll()}:\n{m.log.read_text()[-3000:]}" for m in self._members
        )
        return "\n".join(ends)

    def _signal(self, address: str, what: signal.Signals) -> None:
        next(m for m in self._members if m.address == address).process.send_signal(what)


@pytest.fixture(scope="module")
def _ensemble() -> Iterator[Ensemble]:
    with real_ensemble(3, tickTime=TICK_MS, maxSessionTimeout=60_000) as members:
        yield Ensemble(members)


@pytest.fixture
def ensemble(_ensemble: Ensemble) -> Ensemble:
    """An ensemble of which all members serve at the start of the test."""
    try:
        eventually(_ensemble.serves)
    except AssertionError:
        pytest.fail(f"a member does not serve\n{_ensemble.status()}")
    return _ensemble


@pytest.fixture
def crowd_at_work(ensemble: Ensemble) -> Iterator[Crowd]:
    """Contenders in a deadlock, and others that start on request."""
    with crowd(ensemble.hosts, f"/faults-{next(_numbers)}") as one:
        yield one


@pytest.fixture
def place(ensemble: Ensemble, crowd_at_work: Crowd) -> Place:
    """The root and the servers to observe."""
    return Place(ensemble.hosts, f"{crowd_at_work.root}/*", ensemble.admin)


@pytest.fixture
def detour(ensemble: Ensemble) -> Iterator[CutProxy]:
    """A way to one member that can be cut, also within an answer."""
    one = CutProxy(ensemble.ports[0])
    yield one
    one.close()


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[RunningServer]:
    """A single server, for tests that need no ensemble."""
    with real_zookeeper(admin=True, memory_mb=256, tickTime=TICK_MS) as server:
        yield server


@pytest.fixture
def root() -> str:
    """A root for this test."""
    return f"/faults-{next(_numbers)}"


@pytest.fixture
def jvm(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set an option of the virtual machine for the next server."""
    return lambda option: monkeypatch.setenv("JDK_JAVA_OPTIONS", option)
