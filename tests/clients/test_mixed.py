"""Several libraries in one folder, and children that are no contenders."""

from collections.abc import Callable

import pytest
from clients.client_processes import ClientProcess, Place, Stage, StartClients
from clients.commands import Check
from clients.snapshots import (
    PATIENCE_S,
    SnapshotReader,
    snapshot_when,
    take_snapshot,
    watched_by_server,
    watching,
)
from kazoo.client import KazooClient
from waiting import source_of

from zktop.app.live_run import LiveRun
from zktop.model.report import Report

pytestmark = pytest.mark.zookeeper

LONG_MS = 60_000
CURATOR = "InterProcessMutex"


def standing(seen: SnapshotReader, path: str) -> dict[str, tuple[str, list[str]]]:
    """The places in a lock: their states and what they wait for."""
    lock = seen.lock(path)
    return {
        one["node"]: (one["state"], one["blocked_by"]) for one in (*lock.holders, *lock.waiters)
    }


def rules(seen: SnapshotReader) -> set[str]:
    """The rules with a finding on a lock."""
    return {one["rule"] for one in seen.shot["findings"] if one["lock"]}


def failed(check: Check) -> list[str]:
    """The rules that make a check fail."""
    return [line.split()[0] for line in check().lines if line[0].isupper() and line[1].isdigit()]


class TestForeignChildren:
    """Curator counts every child; one without a session may block for ever."""

    @pytest.mark.parametrize("name", ["00-config", "lock-0000000000"])
    def test_a_persistent_one_is_first(
        self, stage: Stage, zookeeper: KazooClient, check: Check, name: str
    ) -> None:
        """No client holds, and all wait until it is deleted."""
        path = f"{stage.root}/orders"
        zookeeper.create(f"{path}/{name}", makepath=True)
        ann, bob = stage.curator("ann", "bob")
        a, b = ann.ask(CURATOR, path), bob.ask(CURATOR, path)

        seen = take_snapshot(stage, path)
        found = failed(check)
        zookeeper.delete(f"{path}/{name}")
        freed = snapshot_when(lambda seen: seen.lock(path).holders, stage, path)

        assert a.watches == [f"{path}/{name}"]
        assert standing(seen, path) == {
            a.node: ("waits", [name]),
            b.node: ("waits", [name, a.node]),
        }
        assert seen.found("B10")
        assert "B10" in found
        assert standing(freed, path) == {a.node: ("holds", []), b.node: ("waits", [a.node])}
        assert not freed.found("B10")

    def test_one_with_a_time_to_live(self, stage: Stage, zookeeper: KazooClient) -> None:
        """It looks persistent."""
        path = f"{stage.root}/orders"
        zookeeper.ensure_path(path)
        ann, cem = stage.curator("ann", "cem")
        cem.acquire("Ttl", f"{path}/lock-0000000000", LONG_MS)
        a = ann.ask(CURATOR, path)

        seen = take_snapshot(stage, path)

        assert standing(seen, path) == {a.node: ("waits", ["lock-0000000000"])}
        assert seen.found("B10")

    def test_one_that_comes_behind_the_holder(self, stage: Stage, zookeeper: KazooClient) -> None:
        """The holder keeps the lock; the foreign child blocks the next one."""
        path = f"{stage.root}/orders"
        ann, bob = stage.curator("ann", "bob")
        a, b = ann.acquire(CURATOR, path), bob.ask(CURATOR, path)
        zookeeper.create(f"{path}/00-config")

        held = take_snapshot(stage, path)
        ann.release(CURATOR, path)
        after = snapshot_when(lambda seen: not seen.lock(path).holders, stage, path)

        assert standing(held, path)[a.node] == ("holds", [])
        assert standing(after, path) == {b.node: ("waits", ["00-config"])}
        assert after.found("B10")

    def test_one_that_kazoo_does_not_count(self, stage: Stage, zookeeper: KazooClient) -> None:
        """Kazoo lists only names that match its pattern."""
        path = f"{stage.root}/orders"
        zookeeper.create(f"{path}/00-config", makepath=True)
        ann, bob = stage.kazoo("ann", "bob")
        a, b = ann.acquire("Lock", path), bob.ask("Lock", path)

        seen = take_snapshot(stage, path)

        assert standing(seen, path) == {a.node: ("holds", []), b.node: ("waits", [a.node])}
        assert rules(seen) == {"R1"}

    def test_one_at_which_zookeepers_election_fails(
        self, stage: Stage, zookeeper: KazooClient
    ) -> None:
        """The election leaves its node behind, which blocks until its session ends."""
        path = f"{stage.root}/leader"
        zookeeper.create(f"{path}/config", makepath=True)
        (ann,) = stage.curator("ann")
        a = ann.fails("ElectionSupport", path)

        seen = take_snapshot(stage, path)

        (left,) = seen.shot["locks"][0]["waiters"]
        assert (left["node"], left["stranded"]) == (a.node, True)
        assert seen.found("B11")

    def test_one_at_which_go_fails(
        self, stage: Stage, go: StartClients, zookeeper: KazooClient, check: Check
    ) -> None:
        """The Go client leaves its node behind, and the next client waits for it."""
        path = f"{stage.root}/orders"
        zookeeper.create(f"{path}/config", makepath=True)
        (ann,), (bob,) = go("ann"), stage.curator("bob")
        a, b = ann.fails("Lock", path), bob.ask(CURATOR, path)

        seen = take_snapshot(stage, path)

        assert standing(seen, path)[b.node] == ("waits", [a.node])
        assert [one["node"] for one in _stranded(seen, path)] == [a.node]
        assert seen.found("B11")
        assert "B11" in failed(check)


def _stranded(seen: SnapshotReader, path: str) -> list[dict[str, object]]:
    (lock,) = (one for one in seen.shot["locks"] if one["path"] == path)
    return [one for one in lock["waiters"] if one["stranded"]]


class TestOneQueue:
    """Clients that count each other's nodes are in one queue, without a finding."""

    def test_go_and_curator(self, stage: Stage, go: StartClients) -> None:
        """Their names are nearly the same, and each counts every child."""
        path = f"{stage.root}/orders"
        (ann,), (bob, cem) = go("ann"), stage.curator("bob", "cem")
        a, b = ann.acquire("Lock", path), bob.ask(CURATOR, path)
        (dee,) = go("dee")
        d = dee.ask("Lock", path)
        c = cem.ask(CURATOR, path)

        seen = snapshot_when(lambda seen: _watches(seen, path, d.node), stage, path)

        assert standing(seen, path) == {
            a.node: ("holds", []),
            b.node: ("waits", [a.node]),
            d.node: ("waits", [a.node, b.node]),
            c.node: ("waits", [a.node, b.node, d.node]),
        }
        assert not rules(seen)

    @pytest.mark.parametrize("recipe", ["TolerantLock", "DashedLock"])
    def test_kazoo_that_counts_curators_nodes(self, stage: Stage, recipe: str) -> None:
        """Its watch on Curator's node proves that it sees it."""
        path = f"{stage.root}/orders"
        (ann,), (bob,) = stage.curator("ann"), stage.kazoo("bob")
        a, b = ann.acquire(CURATOR, path), bob.ask(recipe, path)

        seen = snapshot_when(lambda seen: _watches(seen, path, b.node), stage, path)

        assert b.watches == [f"{path}/{a.node}"] == watched_by_server(stage, b)
        assert standing(seen, path) == {a.node: ("holds", []), b.node: ("waits", [a.node])}
        assert "S2" not in rules(seen)

    def test_zookeepers_lock_behind_curator(self, stage: Stage) -> None:
        """It counts Curator's node but not the reverse, which is found before both hold."""
        path = f"{stage.root}/orders"
        ann, bob, cem = stage.curator("ann", "bob", "cem")
        a, b = ann.acquire(CURATOR, path), bob.ask("ZooKeeperLock", path)
        c = cem.ask(CURATOR, path)

        seen = take_snapshot(stage, path)
        ann.release(CURATOR, path)
        both = snapshot_when(lambda seen: len(seen.lock(path).holders) > 1, stage, path)

        assert [b.watches, c.watches] == [[f"{path}/{a.node}"]] * 2
        assert standing(seen, path) == {
            a.node: ("holds", []),
            b.node: ("waits", [a.node]),
            c.node: ("waits", [a.node]),
        }
        assert seen.found("S7") == [({b.node, c.node}, {b.session, c.session})]
        assert standing(both, path) == {b.node: ("holds", []), c.node: ("holds", [])}
        assert both.found("S2")


def _watches(seen: SnapshotReader, path: str, node: str) -> bool:
    """True if a waiter's watch was seen."""
    return any(waiter["node"] == node and waiter["actual"] for waiter in seen.lock(path).waiters)


class TestDeadlocks:
    """Opposite orders through kazoo and Curator."""

    def test_by_names_that_both_count(self, stage: Stage, check: Check) -> None:
        """A kazoo client with Curator's names is in a real deadlock with it."""
        ann, bob = _crossed(stage, "DashedLock", is_stuck=True)

        seen = snapshot_when(lambda seen: seen.deadlocks, stage, f"{stage.root}/*")

        assert seen.deadlocks == [("D1", {ann.session, bob.session})]
        assert failed(check) == ["D1"]

    def test_by_patterns_of_one_side(self, stage: Stage, check: Check) -> None:
        """Curator does not count kazoo's names, so both hold: no deadlock, but two holders."""
        ann, bob = _crossed(stage, "TolerantLock", is_stuck=False)

        seen = take_snapshot(stage, f"{stage.root}/*")

        x, y = f"{stage.root}/x", f"{stage.root}/y"
        assert not seen.deadlocks
        assert {holder["session"] for holder in seen.lock(x).holders} == {ann.session, bob.session}
        assert [waiter["session"] for waiter in seen.lock(y).waiters] == [ann.session]
        assert failed(check) == ["S2"]

    def test_a_thread_pool(self, stage: Stage, check: Check) -> None:
        """Sessions that wait in several locks have several threads: at most a hint."""
        ann, bob = stage.curator("ann", "bob", begin="begin-pool")
        for one, held in ((ann, "ab"), (bob, "xy")):
            for name in held:
                one.acquire(CURATOR, f"{stage.root}/{name}")
        for one, wanted in ((ann, "xy"), (bob, "ab")):
            for name in wanted:
                one.ask(CURATOR, f"{stage.root}/{name}")

        assert check().code == 0


def _crossed(stage: Stage, recipe: str, *, is_stuck: bool) -> tuple[ClientProcess, ClientProcess]:
    """Ann of kazoo has x and asks for y; bob of Curator has y and asks for x."""
    (ann,), (bob,) = stage.kazoo("ann"), stage.curator("bob")
    x, y = f"{stage.root}/x", f"{stage.root}/y"
    ann.acquire(recipe, x)
    bob.acquire(CURATOR, y)
    ann.ask(recipe, y)
    (bob.ask if is_stuck else bob.acquire)(CURATOR, x)
    return ann, bob


class TestWatchesThatProveNothing:
    """A holder may watch another node for a reason other than waiting."""

    def test_left_over_from_an_earlier_try(self, stage: Stage) -> None:
        """A kazoo Lock that gives up keeps its watch; then its session takes the lock."""
        path = f"{stage.root}/orders"
        (ann,), (bob,) = stage.curator("ann"), stage.kazoo("bob")
        a = ann.acquire(CURATOR, path)
        with watching(stage, [path]) as watch:
            assert watch.read()
            bob.fails("ImpatientLock", path)
            _until(watch, lambda report: _watchers(report, f"{path}/{a.node}"))
            b = bob.acquire("Lock", path)
            report = _until(watch, lambda report: _states(report).get(b.node))
            states = _states(report)

        assert b.watches == [f"{path}/{a.node}"]
        assert states == {a.node: "holds", b.node: "holds"}

    def test_of_a_cache(self, stage: Stage) -> None:
        """A cache watches every node of the folder, also its own."""
        path = f"{stage.root}/orders"
        (ann,), (bob,) = stage.curator("ann"), stage.kazoo("bob")
        a, b = ann.acquire(CURATOR, path), bob.acquire("Lock", path)
        bob.acquire("Cache", path)

        seen = snapshot_when(lambda seen: _seen_watching(seen, path, b, a), stage, path)

        assert standing(seen, path) == {a.node: ("holds", []), b.node: ("holds", [])}
        assert seen.found("S2") == [({a.node, b.node}, {a.session, b.session})]

    @pytest.mark.parametrize("cache", ["TreeCache", "PathChildrenCache"])
    def test_of_a_cache_of_curator(self, stage: Stage, cache: str) -> None:
        """Its own lock waits for its predecessor, whatever else it watches."""
        path = f"{stage.root}/orders"
        ann, bob = stage.curator("ann", "bob")
        a, b = ann.acquire(CURATOR, path), bob.ask(CURATOR, path)
        ann.acquire(cache, path)

        seen = snapshot_when(lambda seen: _seen_watching(seen, path, a, b), stage, path)

        assert standing(seen, path) == {a.node: ("holds", []), b.node: ("waits", [a.node])}
        assert not rules(seen)


def _until(watch: LiveRun, condition: Callable[[Report], object]) -> Report:
    """The next report for which the condition is true."""
    for report in watch.reports(PATIENCE_S):
        if condition(report):
            return report
    raise AssertionError(f"no report in {PATIENCE_S:g} s in which {source_of(condition)}")


def _states(report: Report) -> dict[str, str]:
    return {
        str(one.node): one.state for view in report.views for one in (*view.holders, *view.waiters)
    }


def _watchers(report: Report, path: str) -> bool:
    return bool(report.ensemble.watchers(path))


def _seen_watching(seen: SnapshotReader, path: str, watcher: Place, watched: Place) -> bool:
    lock = seen.lock(path)
    every = (*lock.holders, *lock.waiters)
    return any(
        one["session"] == watcher.session and f"{path}/{watched.node}" in (one["actual"] or ())
        for one in every
    )


class TestHerd:
    """Curator clients that watch the children of the lock, as handwritten recipes do."""

    def test_its_watches_are_invisible(self, stage: Stage, check: Check) -> None:
        """No waiter is reported as lost, because the watches may exist on the server."""
        path = f"{stage.root}/orders"
        members = stage.curator("ann", "bob", "cem", "dee")
        places = [
            members[0].acquire("Herd", path),
            *(member.ask("Herd", path) for member in members[1:]),
        ]

        seen = snapshot_when(lambda seen: seen.lock(path).waiters[-1]["actual"] == [], stage, path)

        assert [waiter["watch"] for waiter in seen.lock(path).waiters] == ["invisible"] * 3
        assert all(path in place.listens for place in places[1:])
        assert not rules(seen)
        assert check().code == 0
