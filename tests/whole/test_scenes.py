"""Every scene, played on each kind of server, ends as it promises.

Three sources are compared: the reports of the contenders, a small reader of nodes that shares no
code with zktop, and a zktop report. Nearly all scenes are played at once, below one demo root and
under one watch; most of the time is spent waiting for sessions to expire and for findings to be
confirmed.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from demo.steps_and_believers import FullLog
from kazoo.client import KazooClient
from whole.played_scene import PlayedScene
from whole.scene_ends import ENDS

from zktop.app.live_run import LiveRun
from zktop.demo.contender_processes import ProcessPool
from zktop.demo.scene_player import SceneRun
from zktop.demo.scenes import SCENES
from zktop.demo_types.contender_order import DEMO_ROOT, ClientSettings
from zktop.demo_types.scene_moves import Scene, SceneLine, StartContender
from zktop.model.facts import SECOND_MS
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.thresholds import Thresholds
from zktop.zk import Access, Plan, parse_hosts

# Shorter than the default, so that an orphan is found within the test.
SOON = Thresholds(orphan=3 * SECOND_MS, long_hold=3 * SECOND_MS)
SETTINGS = Settings(roots=(Root(f"{DEMO_ROOT}/**"),), thresholds=SOON)
SESSION_S = 4.0
PACE_S = 0.3
SLOW = ("polling", "no-recheck", "oversleep", "starvation", "traffic")  # begin with them
# A watch on the children of a lock is in no table. So the scene with such watches
# comes first, while no other client on the server has one.
FIRST = ("naive-sort",)
# Clients that send requests without end take a core and a server: no other scene runs beside them.
LAST = tuple(name for name, end in ENDS.items() if end.busy)
AT_ONCE = 8
WITHIN_S = 200.0  # a fifth of that is enough on an idle machine

PlayedScenes = dict[str, PlayedScene]


@pytest.fixture(scope="module")
def played_scenes(hosts: str) -> PlayedScenes:
    """All scenes at their ends, and what remained after the cleanup."""
    access = Access(parse_hosts(hosts))
    plan = Plan(roots=(f"{DEMO_ROOT}/**",), sample_every=0.5)
    with ExitStack() as stack:
        zookeeper = stack.enter_context(occupied_root(hosts))
        order = sorted(SCENES, key=lambda scene: scene.name not in SLOW)
        played_scenes = {scene.name: prepared(scene, hosts, stack) for scene in order}
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        watch = stack.enter_context(LiveRun(access, plan, SETTINGS))
        watch.read()
        others = [name for name in played_scenes if name not in (*FIRST, *LAST)]
        for names in (FIRST, others, LAST):
            some = [played_scenes[name] for name in names]
            plays = [pool.submit(played.play, PACE_S) for played in some]
            for report in watch.reports(WITHIN_S):
                for play in filter(Future.done, plays):
                    play.result()  # an error in its thread is raised here
                ends = [played.look(report) for played in some]
                if all(ends):
                    break
        port = int(hosts.rpartition(":")[2])
        endings = [
            pool.submit(played.finish, zookeeper, port) for played in played_scenes.values()
        ]
        for ending in endings:
            ending.result()
    return played_scenes


def prepared(scene: Scene, hosts: str, stack: ExitStack) -> PlayedScene:
    """Prepare a scene with its own pool, because names repeat across scenes."""
    log = FullLog()
    pool = stack.enter_context(ProcessPool(log.add))
    connection = ClientSettings(hosts, session_timeout_s=SESSION_S)

    def player(tell: Callable[[SceneLine], None]) -> SceneRun:
        return SceneRun(scene, pool, log, connection, tell)

    return PlayedScene(scene, player)


@contextmanager
def occupied_root(hosts: str) -> Iterator[KazooClient]:
    """A client that keeps the first scene that ends from deleting the demo root."""
    client = KazooClient(hosts)
    client.start()
    client.ensure_path(f"{DEMO_ROOT}/kept")
    yield client
    client.stop()
    client.close()


@pytest.fixture
def played(scene: Scene, played_scenes: PlayedScenes) -> PlayedScene:
    """The scene of this test."""
    return played_scenes[scene.name]


@pytest.mark.timeout(WITHIN_S + 60)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
class TestEveryScene:
    """What holds for each scene."""

    def test_every_move_is_played(self, played: PlayedScene):
        """It is played to its end."""
        assert played.problem is None

    def test_holders_and_waiters(self, played: PlayedScene):
        """The report has its holders, and its waiters in order."""
        assert played.seen.locks == played.end.locks

    def test_holders_and_waiters_by_the_nodes(self, played: PlayedScene):
        """The nodes on the server, read without zktop's code, agree."""
        assert played.reported.nodes == played.end.locks

    def test_its_locks_and_no_others(self, scene: Scene, played: PlayedScene):
        """Every requested lock is listed once."""
        hired = (
            act for move in scene.moves for act in move.acts if isinstance(act, StartContender)
        )

        assert played.seen.paths == {claim.path for hire in hired for claim in hire.claims}

    def test_deadlocks(self, played: PlayedScene):
        """The report has exactly the promised deadlocks of each kind."""
        assert played.seen.deadlocks == sorted(played.end.deadlocks)

    def test_findings(self, played: PlayedScene):
        """The promised findings are there, and no other critical one."""
        assert played.seen.findings >= set(played.end.findings)
        assert played.seen.alarms <= set(played.end.findings)

    def test_believed_holders(self, played: PlayedScene):
        """Only the holders believe that they hold, unless the scene says otherwise."""
        for lock, end in played.end.locks.items():
            if lock in played.end.believed:
                assert played.reported.believed[lock] == set(played.end.believed[lock])
            else:
                assert played.reported.believe[lock] == set(end.holders)

    def test_clients_woken_by_the_last_move(self, played: PlayedScene):
        """The size of the herd is as promised."""
        for woken in played.end.woken.values():
            assert len(played.woken) == woken

    def test_clients_that_poll(self, played: PlayedScene):
        """They have sent hundreds of requests, and send more."""
        assert played.reported.busy == set(played.end.busy)

    def test_it_narrates(self, scene: Scene, played: PlayedScene):
        """The title comes first, then each move, then the conclusion."""
        assert [line.says for line in played.lines[1:-1]] == [move.says for move in scene.moves]
        assert played.lines[0].says.startswith(scene.title)
        assert played.lines[-1].says.endswith(scene.look_at)

    def test_it_leaves_nothing_behind(self, played: PlayedScene):
        """No process and no node remains."""
        assert played.left_behind == []
