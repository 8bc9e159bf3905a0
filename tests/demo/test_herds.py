"""What zktop says of waiters that watch the children of a lock: that it cannot see their watch."""

from collections.abc import Callable, Iterator

import msgspec
import pytest
from demo.contenders import Bench
from kazoo.client import KazooClient

from zktop.app.live_run import LiveRun
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.thresholds import Thresholds
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.output.snapshot_json import snapshot
from zktop.output.snapshot_text import lines
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.screens.lock.screen import lock_text
from zktop.ui.screens.lock.wake_map import wake_map
from zktop.ui.styled_text import text_of
from zktop.zk import Access, Plan, parse_hosts

WAITERS = ("b", "c", "d", "e")
EVERY_S = 0.2
SETTLE_MS = 400
TABLES = 6  # that have seen everybody: findings are believed after two, some time apart
PATIENCE_S = 40.0


def reports(bench: Bench) -> Iterator[Report]:
    """Look at the lock again and again, as every command does."""
    settings = Settings(roots=(Root(bench.path),), thresholds=Thresholds(settle=SETTLE_MS))
    plan = Plan(roots=(bench.path,), sample_every=EVERY_S)
    with LiveRun(Access(parse_hosts(bench.hosts)), plan, settings) as watch:
        assert watch.read()
        yield from watch.reports(PATIENCE_S)


def looked(
    bench: Bench, waiting: int, is_so: Callable[[Report], object] = lambda _: True
) -> list[Report]:
    """Give all reports until several tables have shown so many waiters, and it is so."""
    found: list[Report] = []
    tables: set[int] = set()
    for report in reports(bench):
        found.append(report)
        (view,) = report.views
        if len(view.lock.waiters) == waiting and is_listed(report.ensemble):
            tables |= {table.facts.watches.at for table in report.ensemble.tables}
        if len(tables) >= TABLES and is_so(report):
            return found
    raise AssertionError(snapshot(found[-1]))


def is_listed(ensemble: Ensemble) -> bool:
    """Tell whether all servers gave their watch tables."""
    return ensemble.visibility.watches == "all"


def verdicts(report: Report) -> set[str]:
    """The verdicts on all waiters."""
    return {waiter.verdict for view in report.views for waiter in view.waiters}


def has_lost(report: Report) -> bool:
    """Tell whether a lost wake-up was found."""
    return any(finding.rule == "L1" for finding in report.findings)


@pytest.mark.parametrize("recipe", ["parent-watch", "rw-herd", "rw-herd-host"])
def test_a_herd_is_invisible_everywhere(threads: Bench, recipe: str) -> None:
    """On screen, in the wake map, in copies, in JSON and in findings, from the first look on."""
    mode = {"mode": "write"} if "rw" in recipe else {}
    threads.queue_up(recipe, "a", *WAITERS, **mode)
    reports = looked(threads, len(WAITERS))

    detail = LockDetail.of(reports[-1], threads.path)
    assert detail is not None
    copied = lock_text(detail, QueueRow(detail, 1))
    printed = "\n".join(lines(snapshot(reports[-1])))
    woken = "\n".join(map(text_of, wake_map(detail, None)))

    assert set.union(*map(verdicts, reports)) <= {"invisible", "unknown"}
    assert verdicts(reports[-1]) == {"invisible"}
    assert not [finding.rule for report in reports for finding in report.findings]
    assert "children → b, c, d and e" in woken
    assert "perhaps: no server lists watches on children" in woken
    assert "no node of this lock is watched" not in woken
    assert copied.count("children?") == len(WAITERS)
    for word in ("NONE", "NO WATCH", "nothing will wake"):
        assert word not in f"{copied}{printed}{woken}"
    watch = msgspec.to_builtins(snapshot(reports[-1]))["locks"][0]["waiters"][0]["watch"]
    assert watch["verdict"] == "invisible"


def test_a_poller_is_no_lost_wake_up(threads: Bench) -> None:
    """It watches nothing at all, and asks by itself."""
    threads.queue_up("poll", "a", "b", poll_s=1.0)
    reports = looked(threads, 1)

    assert set.union(*map(verdicts, reports)) <= {"invisible", "unknown"}
    assert not {finding.rule for report in reports for finding in report.findings} - {"L6"}


@pytest.mark.parametrize(("is_crowded", "verdict"), [(False, "missing"), (True, "invisible")])
def test_a_kazoo_lock_without_a_watch(
    threads: Bench, zookeeper: KazooClient, verdict: str, *, is_crowded: bool
) -> None:
    """It is lost, unless its server has a child watch: no table says of which clients."""
    node = f"{threads.path}/{{:032x}}__lock__"
    zookeeper.create(node.format(1), ephemeral=True, sequence=True, makepath=True)
    lost = KazooClient(threads.hosts)
    lost.start()
    lost.create(node.format(2), ephemeral=True, sequence=True)
    if is_crowded:
        zookeeper.get_children("/", watch=lambda _event: None)
    reports = looked(threads, 1, lambda report: is_crowded or has_lost(report))
    lost.stop()
    lost.close()

    assert verdicts(reports[-1]) == {verdict}
    about = [finding.rule for finding in reports[-1].findings if finding.lock]
    assert about == ([] if is_crowded else ["L1"])
