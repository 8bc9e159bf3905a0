"""Every scene, played on a server of each kind: it ends as it says it does, however one looks.

Three look: the contenders tell what they believe, a small reader of nodes that shares nothing with
the project reads the locks, and a report is made of them. All scenes are played at once, below one
demo root and under one watch, as a user would have it; most of their time is spent in waiting for
sessions to expire and for findings to be confirmed.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from kazoo.client import KazooClient
from whole.played_scene import Show

from zktop.app.live_run import LiveRun
from zktop.demo.log import ContenderLog
from zktop.demo.processes import ProcessPool
from zktop.demo.scene_player import SceneRun
from zktop.demo.scenes import SCENES
from zktop.demo_types import DEMO_ROOT, ClientSettings, Scene, SceneLine, StartContender
from zktop.model.settings import SECOND, Root, Settings, Thresholds
from zktop.zk import Access, Plan, parse_hosts

# So that a test need not wait for a minute until an orphan is called one.
SOON = Thresholds(orphan=3 * SECOND, long_hold=3 * SECOND)
SETTINGS = Settings(roots=(Root(f"{DEMO_ROOT}/**"),), thresholds=SOON)
SESSION_S = 4.0
PACE_S = 0.3
SLOW = ("polling", "spin", "no-recheck", "oversleep", "starvation", "traffic")  # begin with them
# Who may watch the children of a lock proves nothing by not being listed; so the scene that hints
# at that comes first, while nobody on the server has such a watch.
FIRST = ("naive-sort",)
AT_ONCE = 8
WITHIN_S = 200.0  # a fifth of that is enough, unless others want the processors too

Shows = dict[str, Show]


@pytest.fixture(scope="module")
def shows(hosts: str) -> Shows:
    """All scenes at their ends, and what they left when they were taken down."""
    access = Access(parse_hosts(hosts))
    plan = Plan(roots=(f"{DEMO_ROOT}/**",), sample_every=0.5)
    with ExitStack() as stack:
        zookeeper = stack.enter_context(occupied_root(hosts))
        order = sorted(SCENES, key=lambda scene: scene.name not in SLOW)
        shows = {scene.name: on_stage(scene, hosts, stack) for scene in order}
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        watch = stack.enter_context(LiveRun(access, plan, SETTINGS))
        watch.read()
        first = [shows[name] for name in FIRST]
        for some in (first, [show for show in shows.values() if show not in first]):
            for show in some:
                pool.submit(show.play, PACE_S)
            for report in watch.reports(WITHIN_S):
                ends = [show.look(report) for show in some]
                if all(ends):
                    break
        port = int(hosts.rpartition(":")[2])
        endings = [pool.submit(show.finish, zookeeper, port) for show in shows.values()]
        for ending in endings:
            ending.result()
    return shows


def on_stage(scene: Scene, hosts: str, stack: ExitStack) -> Show:
    """Prepare a scene with a pool of its own, because the same names play in all of them."""
    log = ContenderLog()
    pool = stack.enter_context(ProcessPool(log.add))
    connection = ClientSettings(hosts, session_timeout_s=SESSION_S)

    def player(tell: Callable[[SceneLine], None]) -> SceneRun:
        return SceneRun(scene, pool, log, connection, tell)

    return Show(scene, player)


@contextmanager
def occupied_root(hosts: str) -> Iterator[KazooClient]:
    """A client that keeps the demo root from being taken away by the first scene that ends."""
    client = KazooClient(hosts)
    client.start()
    client.ensure_path(f"{DEMO_ROOT}/kept")
    yield client
    client.stop()
    client.close()


@pytest.fixture
def show(scene: Scene, shows: Shows) -> Show:
    """The scene that a test is about."""
    return shows[scene.name]


@pytest.mark.timeout(WITHIN_S + 60)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
class TestEveryScene:
    """What holds for each of them."""

    def test_every_move_comes_to_what_it_is_for(self, show: Show):
        """It is played to its end."""
        assert show.problem is None

    def test_holders_and_waiters(self, scene: Scene, show: Show):
        """The report says who holds, and who waits in which order."""
        assert show.seen.locks == scene.end.locks

    def test_holders_and_waiters_by_the_nodes(self, scene: Scene, show: Show):
        """And so do the nodes on the server, read without the project's own means."""
        assert show.told.nodes == scene.end.locks

    def test_its_locks_and_no_others(self, scene: Scene, show: Show):
        """Every lock that somebody asked for is listed, once."""
        hired = (
            act for move in scene.moves for act in move.acts if isinstance(act, StartContender)
        )

        assert show.seen.paths == {claim.path for hire in hired for claim in hire.claims}

    def test_deadlocks(self, scene: Scene, show: Show):
        """As many of each kind as the scene says, and none where it says none."""
        assert show.seen.deadlocks == sorted(scene.end.deadlocks)

    def test_findings(self, scene: Scene, show: Show):
        """Those that it promises; and nothing else is called critical."""
        assert show.seen.findings >= set(scene.end.findings)
        assert show.seen.alarms <= set(scene.end.findings)

    def test_who_believes(self, scene: Scene, show: Show):
        """The holders think that they hold, and nobody else, unless the scene says so."""
        for lock, end in scene.end.locks.items():
            if lock in scene.end.believed:
                assert show.told.believed[lock] == set(scene.end.believed[lock])
            else:
                assert show.told.believe[lock] == set(end.holders)

    def test_whom_the_last_move_woke(self, scene: Scene, show: Show):
        """The herd in numbers."""
        for woken in scene.end.woken.values():
            assert len(show.woken) == woken

    def test_who_asks_without_end(self, scene: Scene, show: Show):
        """Hundreds of requests, and more to come."""
        assert show.told.busy == set(scene.end.busy)

    def test_it_narrates(self, scene: Scene, show: Show):
        """The title first, then each move, then what to look at."""
        assert [line.says for line in show.lines[1:-1]] == [move.says for move in scene.moves]
        assert show.lines[0].says.startswith(scene.title)
        assert show.lines[-1].says.endswith(scene.look_at)

    def test_it_leaves_nothing_behind(self, show: Show):
        """No process, no node."""
        assert show.left_behind == []
