"""zktop's commands as processes, while real clients use locks."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cli.live_processes import Line, Zktop, zktop_process
from clients.client_processes import Stage
from clients.commands import zktop
from clients.snapshots import PATIENCE_S, LockState, SnapshotReader, held, waiting, watching

from zktop.output.event_stream import EventStream

pytestmark = pytest.mark.zookeeper


def test_a_snapshot(stage: Stage) -> None:
    """With nothing but --hosts and --root, the snapshot is right."""
    orders, page = f"{stage.root}/orders", f"{stage.root}/page"
    ann, bob = stage.kazoo("ann", "bob")
    cem, dee = stage.curator("cem", "dee")
    a, c = ann.acquire("Lock", orders), cem.acquire("ReadLock", page)
    b, d = bob.ask("Lock", orders), dee.ask("WriteLock", page)

    ran = zktop("snapshot", "--hosts", stage.server.address, "--root", f"{stage.root}/**")

    seen = SnapshotReader(json.loads("".join(ran.lines)))
    assert (ran.code, ran.err) == (0, "")
    assert seen.paths == [orders, page]
    assert seen.lock(orders) == LockState("kazoo-lock", "mutex", [held(a)], [waiting(b, a)])
    assert seen.lock(page) == LockState(
        "curator-rw", "read-write", [held(c, "read")], [waiting(d, c, mode="write")]
    )
    assert seen.of(a.session)["holds"] == [orders]
    assert seen.of(d.session)["waits"] == [page]


def test_the_events_of_a_known_run(stage: Stage) -> None:
    """The events are exactly those that happened, in their order."""
    orders, stock = f"{stage.root}/orders", f"{stage.root}/stock"
    (ann, bob), (cem, dee) = stage.kazoo("ann", "bob"), stage.curator("cem", "dee")
    ann.acquire("Lock", orders)
    with _events(stage) as events:
        bob.ask("Lock", orders)
        events.until("queued", "bob")
        ann.release("Lock", orders)
        events.until("acquired", "bob")
        cem.acquire("InterProcessMutex", stock)
        events.until("acquired", "cem")
        dee.ask("InterProcessMutex", stock)
        events.until("queued", "dee")
        dee.cancel("InterProcessMutex", stock)
        events.until("abandoned", "dee")
        cem.release("InterProcessMutex", stock)
        events.until("released", "cem")

    assert events.brief(stage.root) == [
        ("connection", None, None),
        ("queued", "orders", "bob"),
        ("released", "orders", "ann"),
        ("acquired", "orders", "bob"),
        ("lock-appeared", "stock", None),
        ("queued", "stock", "cem"),
        ("acquired", "stock", "cem"),
        ("queued", "stock", "dee"),
        ("abandoned", "stock", "dee"),
        ("released", "stock", "cem"),
    ]


def test_an_expiry_is_distinguished(stage: Stage) -> None:
    """One client is killed, another gives up: only the first is an expiry.

    Servers do not say why a node was deleted, but their tables show that the session had lost its
    connection before.
    """
    orders, stock = f"{stage.root}/orders", f"{stage.root}/stock"
    (ann,), (bob, cem) = stage.kazoo("ann", timeout_s=2.0), stage.kazoo("bob", "cem")
    ann.acquire("Lock", stock)
    cem.acquire("Lock", orders)
    ann.ask("Lock", orders)
    bob.ask("Lock", orders)
    teller, found = EventStream(), set()
    with watching(stage, [f"{stage.root}/*"]) as watch:
        assert watch.read()
        list(teller.events(watch.look()))
        ann.kill()
        bob.cancel("Lock", orders)
        for report in watch.reports(PATIENCE_S):
            found |= {(line.event, line.lock, line.owner) for line in teller.events(report)}
            if {("expired", path, "ann") for path in (orders, stock)} <= found:
                break

    assert {line for line in found if line[0] in ("released", "abandoned", "expired")} == {
        ("abandoned", orders, "bob"),
        ("expired", orders, "ann"),
        ("expired", stock, "ann"),
    }


def test_events_that_are_too_fast_are_counted(stage: Stage) -> None:
    """Each create and delete of a busy client is an event, or counted as missed."""
    path, rounds = f"{stage.root}/orders", 60
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("InterProcessMutex", path)
    ann.release("InterProcessMutex", path)
    with _events(stage) as events:
        for _ in range(rounds):
            ann.acquire("InterProcessMutex", path)
            ann.release("InterProcessMutex", path)
        bob.acquire("InterProcessMutex", path)
        events.until_counted(rounds + 1, rounds)

    assert events.counted == (rounds + 1, rounds)
    assert any(line["event"] == "missed" for line in events.lines)


class EventLines:
    """The lines of `zktop events`."""

    def __init__(self, zktop: Zktop) -> None:
        self._zktop = zktop

    @property
    def lines(self) -> list[Line]:
        """All lines except findings."""
        return [line for line in self._zktop.lines if not line["event"].startswith("finding")]

    @property
    def counted(self) -> tuple[int, int]:
        """Creates and deletes, as events or as missed ones."""
        lines = self.lines
        events = [line["event"] for line in lines]
        creates = events.count("queued") + sum(line.get("creates", 0) for line in lines)
        return creates, events.count("released") + sum(line.get("deletes", 0) for line in lines)

    def until(self, event: str, owner: str | None) -> None:
        """Wait for this event of this owner."""
        wanted = event, owner
        try:
            self._zktop.until(lambda line: (line["event"], line.get("owner")) == wanted)
        except AssertionError as nothing:
            raise AssertionError(f"no event {wanted} in {self._zktop.lines}") from nothing

    def until_counted(self, creates: int, deletes: int) -> None:
        """Wait until at least so many are counted."""
        self._zktop.until(lambda _line: self.counted[0] >= creates and self.counted[1] >= deletes)

    def brief(self, root: str) -> list[tuple[str, str | None, str | None]]:
        """Event, lock and owner of each line."""
        lines = self.lines
        locks = [(line.get("lock") or "").removeprefix(f"{root}/") or None for line in lines]
        return [
            (line["event"], lock, line.get("owner"))
            for line, lock in zip(lines, locks, strict=True)
        ]


@contextmanager
def _events(stage: Stage) -> Iterator[EventLines]:
    """Run `zktop events`; it has read the locks."""
    roots = ("--root", f"{stage.root}/*")
    with zktop_process("events", "--hosts", stage.server.address, *roots) as process:
        found = EventLines(process)
        found.until("connection", None)
        yield found
