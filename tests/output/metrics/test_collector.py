"""The metrics of reports: what is counted, what is absent, and which paths become labels."""

import re
from collections.abc import Iterable

import pytest
from model.make_facts import (
    NOW,
    ZK1,
    connections,
    figures,
    kazoo_name,
    lock,
    no_watches,
    own,
    row,
    session,
    watches,
)
from msgspec.structs import replace
from output.metrics.scrapes import Scrape, last, of_recording, scrapes, series
from output.stories import LATER, LAYOUTS, facts, report, settings, tables
from prometheus_client import generate_latest
from prometheus_programs import MONITORING, promtool

from zktop.model.facts import AnyFact, Children, Denied, Gone, Node, Stat, join
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.output.metrics.collector import ReportCollector

SECOND = 1_000
LOCKS = Settings(roots=(Root("/locks/*"),))
MISSING = Settings(roots=(Root("/locks/*"), Root("/absent")))  # a finding: root-missing
BUSY = "X x: A B C ; Y x: D ; L rw: E.R F.R G.W ; P sem(2): H I J"


def gone(path: str, name: str, at: int, zxid: int = 300) -> Gone:
    """One contender left."""
    return Gone(path=join(path, name), zxid=zxid, at=at)


def by_label(scrape: Scrape, metric: str, label: str) -> dict[str, float]:
    """The samples of a metric that are not 0, by one label."""
    found: dict[str, float] = {}
    for name, value in scrape.items():
        if name.startswith(f"{metric}{{") and value:
            key = re.findall(rf'\b{label}="([^"]*)"', name)[0]
            found[key] = found.get(key, 0) + value
    return found


def metrics(scrape: Scrape) -> set[str]:
    """The names of all metrics with a sample."""
    return {name.partition("{")[0] for name in scrape}


def test_an_empty_semaphore_of_curator_has_no_sequence_numbers() -> None:
    """Its leases are numbered in a folder of their own."""
    path, names = Text("/locks/sem"), (Text("leases"), Text("locks"))
    stat = Stat(10, 10, 0, cversion=2, num_children=2, pzxid=12)
    top = Children(path=path, names=names, stat=stat, zxid=100, at=NOW)
    empty = [
        Children(path=join(path, name), names=(), stat=Stat(11, 11, 0), zxid=100, at=NOW)
        for name in names
    ]
    metrics = last((LATER, [own(), top, *empty]), judged_by=LOCKS)

    assert by_label(metrics, "zktop_locks", "root")
    assert not by_label(metrics, "zktop_sequence_remaining", "lock")


def test_locks_and_their_clients_are_counted_by_root_and_state() -> None:
    """The roots are those of the config."""
    metrics = last((LATER, facts(BUSY)), judged_by=settings(BUSY))

    assert by_label(metrics, "zktop_locks", "root") == {"/locks/p": 1, "/locks/**": 3}
    assert by_label(metrics, "zktop_locks", "state") == {"held": 1, "contended": 3}
    assert by_label(metrics, "zktop_contenders", "state") == {"holds": 6, "waits": 4}
    assert metrics["zktop_lock_sessions"] == 10


def test_candidates_of_an_election_stand_by_and_do_not_wait() -> None:
    """They go on working, so their time is no blocked time."""
    judged = Settings(roots=(Root("/locks/e", layout="post"),), layouts=LAYOUTS)
    metrics = last((LATER, facts("E elect: A B C")), (LATER + SECOND, []), judged_by=judged)

    assert by_label(metrics, "zktop_contenders", "state") == {"holds": 1, "standby": 2}
    assert by_label(metrics, "zktop_locks", "state") == {"held": 1}
    assert metrics['zktop_blocked_seconds_total{root="/locks/e"}'] == 0


def test_a_session_that_only_watches_a_single_node_waits() -> None:
    """The table of watches shows it, also if the lock itself has not changed."""
    stat = Stat(20, 20, 0, owner=session("A"))
    held = Node(path=Text("/leader"), stat=stat, data=b"A", zxid=100, at=LATER)
    parent = Children(path=Text("/"), names=(Text("leader"),), stat=Stat(1, 1, 0), zxid=100, at=1)
    watched = [
        connections(ZK1, row("A"), row("B"), at=LATER + SECOND),
        watches(ZK1, {"B": ("/leader",)}, at=LATER + SECOND),
    ]
    judged = Settings(roots=(Root("/leader"),))

    first, second = scrapes(
        (LATER, [own(), parent, held]), (LATER + SECOND, watched), judged_by=judged
    )

    assert by_label(first, "zktop_locks", "state") == {"held": 1}
    assert by_label(second, "zktop_locks", "state") == {"contended": 1}
    assert by_label(second, "zktop_lock_waiters", "lock") == {"/leader": 1}


def test_counts_that_follow_changes_equal_a_count_of_all_locks() -> None:
    """However the locks changed in between."""
    steps: list[tuple[int, Iterable[AnyFact]]] = [(LATER, facts(BUSY))]
    for number, name in enumerate(("A0", "B1")):
        at = LATER + (number + 1) * SECOND
        leaving = gone("/locks/x", kazoo_name(name, number), at, 301 + number)
        steps.append((at, [leaving, *lock(f"/locks/n{number}", "A", "B", at=at, czxid=400)]))
    followed = last(*steps, judged_by=LOCKS)
    at_once = last((at, [fact for _, some in steps for fact in some]), judged_by=LOCKS)

    state = re.compile("zktop_(locks|contenders|lock_waiters|lock_folders|sequence_remaining)")
    counted = [name for name in followed if state.match(name)]
    assert [followed[name] for name in counted] == [at_once[name] for name in counted]


def test_durations_whose_beginning_was_seen_are_observed() -> None:
    """A held before zktop came; B waited and held under its eyes."""
    metrics = last(
        (LATER, facts("X x: A")),
        (LATER + 1 * SECOND, facts("X x: A B")),
        (LATER + 4 * SECOND, [gone("/locks/x", kazoo_name("A0", 0), LATER)]),
        (LATER + 9 * SECOND, [gone("/locks/x", kazoo_name("B1", 1), LATER, 301)]),
    )

    assert metrics['zktop_lock_wait_seconds_sum{root="/**"}'] == 3
    assert metrics['zktop_lock_hold_seconds_sum{root="/**"}'] == 5
    assert metrics['zktop_lock_hold_seconds_count{root="/**"}'] == 1
    assert metrics['zktop_lock_hold_seconds_bucket{le="5.0",root="/**"}'] == 1
    assert metrics['zktop_lock_events_total{event="released",root="/**"}'] == 2
    assert metrics['zktop_coverage_ratio{root="/**"}'] == 1
    assert metrics['zktop_blocked_seconds_total{root="/**"}'] == 3


def test_a_session_expires_once_however_many_locks_it_had() -> None:
    """Two locks lost it in one transaction."""
    held = [*facts("X x: A ; Y x: A"), connections(ZK1, at=LATER)]
    left = [gone(f"/locks/{name}", kazoo_name("A0", 0), LATER) for name in "xy"]

    metrics = last((LATER, held), (LATER + SECOND, left))

    assert metrics['zktop_lock_events_total{event="expired",root="/**"}'] == 2
    assert metrics["zktop_session_expiries_total"] == 1


def test_without_a_connection_there_are_no_samples_of_locks() -> None:
    """The state before the loss would be a lie; the counters stay, and stand still."""
    before, lost, back = scrapes(
        (LATER, facts("X x: A B")),
        (LATER + SECOND, [own(state="lost", at=LATER + SECOND)]),
        (LATER + 60 * SECOND, [own(at=LATER + 60 * SECOND)]),
    )

    assert [each["zktop_up"] for each in (before, lost, back)] == [1, 0, 1]
    absent = metrics(before) - metrics(lost)
    assert absent >= {"zktop_locks", "zktop_contenders", "zktop_deadlocks", "zktop_rule_blind"}
    assert back['zktop_blocked_seconds_total{root="/**"}'] == 1


def test_an_unknown_value_has_no_sample() -> None:
    """A root that may not be listed, a server without figures, a ratio of nothing."""
    refusal = Denied(path=Text("/locks"), what="list", zxid=9, at=NOW)
    figures = last((LATER, [own(), refusal, connections(ZK1, at=NOW)]), judged_by=LOCKS)

    assert not metrics(figures) & {"zktop_locks", "zktop_lock_folders", "zktop_coverage_ratio"}
    assert not metrics(figures) & {"zktop_server_up", "zktop_server_watches"}
    assert figures['zktop_blind{server="zk1:2181",source="watches"}'] == 1
    assert figures['zktop_blind{server="zk1:2181",source="connections"}'] == 0


def test_paths_are_labels_for_the_worst_locks_and_for_configured_locks() -> None:
    """However many locks there are."""
    queues = ("A", "A B", "A B C", "A B C D")
    found = [
        fact for n, queue in enumerate(queues) for fact in lock(f"/locks/l{n}", *queue.split())
    ]
    judged = Settings(roots=(Root("/locks/l0"), Root("/locks/*")))

    *_, scrape = scrapes((LATER, [own(), *found]), judged_by=judged, top=2)

    waiters = {name: value for name, value in scrape.items() if "lock_waiters" in name}
    assert waiters == {
        'zktop_lock_waiters{lock="/locks/l3",root="/locks/*"}': 3,
        'zktop_lock_waiters{lock="/locks/l2",root="/locks/*"}': 2,
        'zktop_lock_waiters{lock="/locks/l0",root="/locks/l0"}': 0,
    }
    left = by_label(scrape, "zktop_sequence_remaining", "lock")
    assert left == {"/locks/l3": 2**31 - 5, "/locks/l2": 2**31 - 4, "/locks/l0": 2**31 - 2}


def test_folders_of_locks_are_counted_and_so_are_the_empty_ones() -> None:
    """Numbered and ephemeral znodes, and those outside of the roots, are no folders."""
    names = ("used", "one", "two", "lock-0000000007", "ephemeral")
    parent = Children(
        path=Text("/locks"), names=tuple(map(Text, names)), stat=Stat(1, 1, 0), zxid=100, at=LATER
    )
    nodes = [
        Node(
            path=join("/locks", name),
            stat=Stat(5, 5, 0, owner=session("A") if name == "ephemeral" else 0),
            data=b"",
            zxid=100,
            at=LATER,
        )
        for name in names
    ]
    metrics = last((LATER, [own(), parent, *nodes, *lock("/locks/used", "A")]), judged_by=LOCKS)

    assert by_label(metrics, "zktop_lock_folders", "empty") == {"true": 2, "false": 1}


def test_a_folder_that_zktop_cannot_list_is_not_empty() -> None:
    """One was not listed yet, the other is hidden by an ACL; both have children."""
    parent = Children(
        path=Text("/locks"),
        names=(Text("unread"), Text("denied")),
        stat=Stat(1, 1, 0),
        zxid=100,
        at=LATER,
    )
    found = [
        Node(
            path=join("/locks", name),
            stat=Stat(5, 5, 0, num_children=3),
            data=b"",
            zxid=100,
            at=LATER,
        )
        for name in parent.names
    ]
    denied = Denied(path=Text("/locks/denied"), what="list", zxid=100, at=LATER)
    metrics = last((LATER, [own(), parent, *found, denied]), judged_by=LOCKS)

    assert by_label(metrics, "zktop_lock_folders", "empty").get("true", 0) == 0


def test_a_folder_whose_newest_listing_is_empty_is_empty() -> None:
    """It had children when its znode was read."""
    path = Text("/locks/old")
    node = Node(path=path, stat=Stat(5, 5, 0, num_children=3), data=b"", zxid=100, at=LATER)
    parents = [
        Children(path=one, names=names, stat=Stat(1, 1, 0), zxid=zxid, at=LATER)
        for one, names, zxid in ((Text("/locks"), (Text("old"),), 100), (path, (), 110))
    ]
    metrics = last((LATER, [own(), *parents, node]), judged_by=LOCKS)

    assert by_label(metrics, "zktop_lock_folders", "empty") == {"true": 1}


def test_missed_events_lower_the_coverage() -> None:
    """The counters of the lock's znode show two more clients."""
    name = kazoo_name("A0", 0)
    stat = Stat(10, 10, 0, cversion=5, num_children=1, pzxid=400)
    later = Children(path=Text("/locks/x"), names=(name,), stat=stat, zxid=400, at=LATER)
    metrics = last((LATER, facts("X x: A")), (LATER + SECOND, [later]))

    assert by_label(metrics, "zktop_missed_changes_total", "change") == {"create": 2, "delete": 2}
    assert metrics['zktop_coverage_ratio{root="/**"}'] == 0


def test_a_finding_that_follows_from_another_is_not_counted() -> None:
    """Otherwise one cause would raise several alerts."""
    (cause,) = (
        finding for finding in report("X x: A B ; Y x: B A").findings if finding.rule == "D1"
    )
    effect = replace(cause, id="P6-1", rule="P6", cause=cause.id)
    collector = ReportCollector("0.1.0")
    collector.look(replace(report("X x: A"), findings=(cause, effect)))

    shown = series(generate_latest(collector.registry).decode())
    assert by_label(shown, "zktop_findings", "rule") == {"D1": 1}


def test_deadlocks_and_findings_have_their_confidence() -> None:
    """Those of the recorded incident."""
    metrics = of_recording("+30s")

    assert by_label(metrics, "zktop_deadlocks", "confidence") == {"C3": 1}
    assert metrics["zktop_deadlocks_detected_total"] == 1
    finding = 'zktop_findings{confidence="C3",name="deadlock",rule="D1",severity="critical"}'
    assert metrics[finding] == 1


def test_the_guide_explains_every_metric() -> None:
    """And no other: in this scrape every metric has a sample."""
    top = Children(path=Text("/"), names=(Text("locks"),), stat=Stat(1, 1, 0), zxid=9, at=1)
    served = [*tables("ABC", {}, LATER), figures(ZK1), no_watches(ZK1, at=LATER)]
    found = last(
        (LATER, [*facts("X x: A"), top, *served]),
        (LATER + SECOND, facts("X x: A B")),
        judged_by=MISSING,
    )
    guide = (MONITORING / "README.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `(zktop_\w+)", guide, re.MULTILINE))

    printed = {re.sub(r"_seconds_(bucket|sum|count)$", "_seconds", one) for one in metrics(found)}
    assert printed == explained


@pytest.mark.prometheus
def test_promtool_accepts_the_text() -> None:
    """Its names, types and units follow Prometheus' rules."""
    collector = ReportCollector("0.1.0")
    collector.look(report(BUSY, *tables("ABC", {}, LATER), figures(ZK1)))

    promtool("check", "metrics", text=generate_latest(collector.registry).decode())
