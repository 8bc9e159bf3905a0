"""Every scene comes to the end that it promises, on both servers, and leaves nothing behind."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from demo.reader import look, watching
from kazoo.client import KazooClient

from zktop.demo.chronicle import Chronicle
from zktop.demo.crew import Crew
from zktop.demo.order import Connection
from zktop.demo.player import Line, Player
from zktop.demo.scenes import SCENES, LockEnd, Scene

AT_ONCE = 6
BUSY = 200  # requests; a patient waiter needs five


@dataclass
class Played:
    """What a scene had come to, read before it was cleaned up, and what was left after."""

    locks: dict[str, LockEnd]
    believe: dict[str, frozenset[str]]
    believed: dict[str, frozenset[str]]
    woken: frozenset[str]
    busy: set[str]
    lines: list[Line]
    left_behind: bool


@pytest.fixture(scope="module")
def played(hosts: str, zookeeper: KazooClient) -> dict[str, Played]:
    """All scenes, a few at a time, because most of their time is spent in waiting."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {s.name: pool.submit(play, s, hosts, zookeeper) for s in SCENES}
    return {name: future.result() for name, future in futures.items()}


def play(scene: Scene, hosts: str, zookeeper: KazooClient) -> Played:
    """Play one scene, with a root of its own, because several are played at once."""
    chronicle, lines, root = Chronicle(), [], f"/zktop-demo-{scene.name}"
    with Crew(chronicle.hear) as crew:
        connection = Connection(hosts, session_timeout_s=2.0)
        player = Player(scene, crew, chronicle, connection, lines.append, root=root)
        player.play()
        paths = {lock: f"{player.folder}/{lock}" for lock in scene.end.locks}
        state = Played(
            {lock: seen(zookeeper, path, hosts, chronicle) for lock, path in paths.items()},
            {lock: chronicle.believers(path) for lock, path in paths.items()},
            {lock: chronicle.most_believers(path) for lock, path in paths.items()},
            player.woken(),
            {name for name in scene.end.busy if asks_much(chronicle, name)},
            lines,
            left_behind=True,
        )
        player.clean_up()
        state.left_behind = bool(crew.hands() or zookeeper.exists(root))
    return state


def asks_much(chronicle: Chronicle, name: str) -> bool:
    """Whether a contender comes to ask the server for more than it should."""
    return chronicle.until(lambda: chronicle.requests[name] > BUSY, 15)


def seen(zookeeper: KazooClient, path: str, hosts: str, chronicle: Chronicle) -> LockEnd:
    """The state of a lock by the server's nodes; where waiters have none, by its watches."""
    holders, waiters = look(zookeeper, path)
    connected = [step for step in tuple(chronicle.steps) if step.what == "connected"]
    sessions = {step.says.rpartition(" ")[2]: step.who for step in connected}
    port = int(hosts.rpartition(":")[2])
    return LockEnd(tuple(holders), tuple(waiters or watching(port, path, sessions)))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
class TestEveryScene:
    """What holds for each of them."""

    def test_holders_and_waiters(self, scene: Scene, played: dict[str, Played]):
        """The nodes on the server are those of the promised end, in the order of the queue."""
        assert played[scene.name].locks == scene.end.locks

    def test_who_believes(self, scene: Scene, played: dict[str, Played]):
        """The holders think that they hold, and nobody else, unless the scene says so."""
        state = played[scene.name]
        for lock, end in scene.end.locks.items():
            if lock in scene.end.believed:
                assert state.believed[lock] == set(scene.end.believed[lock])
            else:
                assert state.believe[lock] == set(end.holders)

    def test_whom_the_last_move_woke(self, scene: Scene, played: dict[str, Played]):
        """The herd in numbers."""
        for woken in scene.end.woken.values():
            assert len(played[scene.name].woken) == woken

    def test_who_asks_without_end(self, scene: Scene, played: dict[str, Played]):
        """Hundreds of requests, and more to come."""
        assert played[scene.name].busy == set(scene.end.busy)

    def test_it_narrates(self, scene: Scene, played: dict[str, Played]):
        """The title first, then each move, then what to look at."""
        lines = played[scene.name].lines

        assert [line.says for line in lines[1:-1]] == [move.says for move in scene.moves]
        assert lines[0].says.startswith(scene.title)
        assert lines[-1].says.endswith(scene.look_at)

    def test_it_leaves_nothing_behind(self, scene: Scene, played: dict[str, Played]):
        """No process, no node."""
        assert not played[scene.name].left_behind
