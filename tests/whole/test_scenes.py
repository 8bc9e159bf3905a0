"""Every scene, played on a server and seen through the report: it ends as it says it does."""

from collections.abc import Iterator

import pytest
from servers import sandbox_server

from zktop.commands.watch import Watch
from zktop.demo.chronicle import Chronicle
from zktop.demo.crew import Crew
from zktop.demo.order import DEMO_ROOT, Connection
from zktop.demo.player import Player
from zktop.demo.scenes import SCENES, Scene
from zktop.model.report import Report
from zktop.model.settings import Root, Settings
from zktop.zk import Access, Plan, parse_hosts

SETTINGS = Settings(roots=(Root(f"{DEMO_ROOT}/**"),))
DEADLOCKED = [scene for scene in SCENES if scene.end.deadlocks]
HEALTHY = [scene for scene in SCENES if scene.name in ("queue", "readers-writers", "no-herd")]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server for all scenes."""
    with sandbox_server("--tick-ms", "500") as server:
        yield server.address


def kinds(report: Report, folder: str) -> list[str]:
    """The kinds of all deadlocks in this folder."""
    return sorted(
        one.kind for one in report.deadlocks if all(p.startswith(folder) for p in one.locks)
    )


def is_over(report: Report, folder: str, promised: list[str]) -> bool:
    """Whether as many were found; where none are promised, whether two looks found none."""
    if promised:
        return len(kinds(report, folder)) >= len(promised)
    return bool(kinds(report, folder)) or (not report.relist and bool(report.paths))


@pytest.mark.parametrize("scene", [*DEADLOCKED, *HEALTHY], ids=lambda scene: scene.name)
def test_a_scene_ends_in_the_deadlocks_it_promises(scene: Scene, address: str) -> None:
    """As many of each kind as the scene says, and none where it says none."""
    chronicle = Chronicle()
    access = Access(parse_hosts(address))
    plan = Plan(roots=(f"{DEMO_ROOT}/**",), sample_every=0.5)
    with Crew(chronicle.hear) as crew, Watch(access, plan, SETTINGS) as watch:
        connection = Connection(hosts=address, session_timeout_s=2.0)
        player = Player(scene, crew, chronicle, connection, lambda _line: None)
        try:
            player.play()
            promised = sorted(scene.end.deadlocks)
            reports = watch.reports(15.0 if promised else 2.0)
            seen = next(one for one in reports if is_over(one, player.folder, promised))
        finally:
            player.clean_up()

    assert kinds(seen, player.folder) == promised
