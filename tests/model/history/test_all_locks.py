"""Events and history of a lock from one look to the next."""

from collections.abc import Iterable

import msgspec
import pytest
from model.findings.cases import At, ctx, k
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    connections,
    expiry,
    no_connections,
    own,
    row,
    session,
    timeouts,
    world,
)
from model.plain_locks import Root, lock_of, member, note

from zktop.model.facts import AnyFact, Complete, Gone, Stat, join
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.events import UNKNOWN_SINCE, Elapsed, Event, Since
from zktop.model.history.former_members import MAX_FORMER_MEMBERS
from zktop.model.history.lock_change import LockChange
from zktop.model.history.lock_history import NO_HISTORY, VanishedQueue
from zktop.model.history.missed_events import RootCounters
from zktop.model.locks.lock import Lock, Member
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE, Ensemble

EXACT, AT_LEAST = "exact", "at-least"


class Watcher:
    """The history of one root, look by look."""

    def __init__(self, root: Root, ensemble: Ensemble = NO_ENSEMBLE) -> None:
        """Take the first look."""
        self.root, self.ensemble, self.now = root, ensemble, NOW
        self.histories = LockHistories()
        self.known: Lock | None = root.look(NOW)
        self.first = note(self.histories, root.path, None, self.known, ensemble, NOW)

    def look(self, later: int = 0, *, gone: bool = False, **more: object) -> list[Event]:
        """Look again, so many milliseconds later."""
        self.now += later
        before, self.known = self.known, None if gone else self.root.look(self.now, **more)
        return note(self.histories, self.root.path, before, self.known, self.ensemble, self.now)

    def look_at_log(self, later: int, *facts: AnyFact, gone: bool = False) -> list[Event]:
        """Look again, at a transaction log with these facts."""
        self.now += later
        before, self.known = self.known, None if gone else self.root.look(self.now)
        known = world(Complete(zxid=self.root.zxid, at=self.now), *facts)
        self.ensemble = Ensemble.of(known, self.now)
        change = LockChange.between(self.root.path, before, self.known)
        return self.histories.after([change], self.ensemble, self.now, known)

    def lose_connection(self) -> None:
        """Look a second after the first look, without a connection."""
        at = NOW + 1_000
        self.histories.after([], Ensemble.of(world(own(state="suspended", at=at)), at), at)


def words(events: list[Event]) -> list[tuple[str, str | None]]:
    """What happened to whom."""
    return [(str(event.event), event.owner) for event in events]


def test_the_first_look_is_no_event() -> None:
    """Members at the first look existed before."""
    root = Root()
    root.create("alice")

    watcher = Watcher(root)

    assert watcher.first == []
    assert watcher.look(1_000) == []


def test_a_lock_changes_hands() -> None:
    """Queued, released and acquired, with what was exact and what was not."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root)
    bob = root.create("bob")
    came = watcher.look(1_000)
    root.delete(alice)
    left = watcher.look(2_000)
    root.delete(bob)
    last = watcher.look(500)

    assert words(came) == [("queued", "bob")]
    assert came[0].zxid == bob.czxid
    assert words(left) == [("released", "alice"), ("acquired", "bob")]
    assert left[0].held == Elapsed(3_000, AT_LEAST)
    assert left[0].zxid == left[1].zxid == bob.czxid + 1
    assert left[1].waited == Elapsed(2_000, EXACT)
    assert words(last) == [("released", "bob")]
    assert last[0].held == Elapsed(500, EXACT)


def test_the_first_contender_of_a_free_lock_does_not_wait() -> None:
    """Queued and acquired in one look, at its own transaction."""
    watcher = Watcher(Root())
    alice = watcher.root.create("alice")

    queued, acquired = watcher.look(1_000)

    assert (queued.event, acquired.event) == ("queued", "acquired")
    assert (acquired.waited, acquired.zxid) == (Elapsed(0, EXACT), alice.czxid)


def test_giving_up_is_abandoning() -> None:
    """A waiter that leaves while the one before it stays gave up."""
    root = Root()
    root.create("alice")
    watcher = Watcher(root)
    bob = root.create("bob")
    watcher.look(1_000)
    root.delete(bob)

    (event,) = watcher.look(700)

    assert (event.event, event.waited, event.held) == ("abandoned", Elapsed(700, EXACT), None)
    assert event.why is None


def test_a_grant_between_two_looks_is_not_denied() -> None:
    """A waiter that left together with all before it may have held: the event says so."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root)
    bob = root.create("bob")
    watcher.look(1_000)
    root.delete(alice)
    root.delete(bob)

    released, abandoned = watcher.look(1_000)

    assert words([released, abandoned]) == [("released", "alice"), ("abandoned", "bob")]
    assert "may have held" in (abandoned.why or "")
    assert abandoned.waited is None
    assert watcher.histories.of(root.path).attempts == {}


def test_a_waiter_behind_a_foreign_child_that_stays_gave_up() -> None:
    """The foreign child is in the way, so the waiter has not held the lock."""
    before = ctx(At("x__lock__0000000000", "", czxid=50), k("alice", 1)).lock
    after = lock_of(before.path, [], before.stat, foreign=before.foreign)
    histories = LockHistories()
    note(histories, before.path, None, before, NO_ENSEMBLE, NOW)

    (event,) = note(histories, before.path, before, after, NO_ENSEMBLE, NOW + 1_000)

    assert (event.event, event.why) == ("abandoned", None)
    assert event.waited is not None


def test_a_waiter_that_left_with_the_foreign_child_before_it_may_have_held() -> None:
    """Nothing was in its way any more."""
    before = ctx(At("x__lock__0000000000", "", czxid=50), k("alice", 1)).lock
    histories = LockHistories()
    note(histories, before.path, None, before, NO_ENSEMBLE, NOW)

    (event,) = note(
        histories, before.path, before, lock_of(before.path, []), NO_ENSEMBLE, NOW + 1_000
    )

    assert "may have held" in (event.why or "")


def test_it_is_not_denied_because_its_session_was_active() -> None:
    """That proves only that the session did not expire."""
    root = Root()
    alice, bob = root.create("alice"), root.create("bob")
    ensemble = Ensemble.of(world(connections(ZK1, row("bob"))), NOW)
    histories, before = LockHistories(), root.look()
    histories.after([LockChange.between(before.path, None, before)], ensemble, NOW)
    root.delete(alice)
    root.delete(bob)

    change = LockChange.between(before.path, before, root.look())
    _, abandoned = histories.after([change], ensemble, NOW + 1_000)

    assert "may have held" in (abandoned.why or "")


@pytest.mark.parametrize(
    ("tables", "kind", "why"),
    [
        ((), "released", None),
        ((no_connections(ZK1),), "released", None),
        (
            (connections(ZK1, row("alice", quiet_ms=400)),),
            "released",
            "its session was heard from 1.4 s before",
        ),
        (
            (connections(ZK1), expiry(ZK1, {"alice": 500})),
            "expired",
            "no server had a connection of its session",
        ),
        (
            (no_connections(ZK1), expiry(ZK1, {"bob": 500})),
            "expired",
            "its session had left the ensemble",
        ),
        (
            (connections(ZK1, row("alice", quiet_ms=9_500)),),
            "expired",
            "its session had been silent for 10 s of 10 s",
        ),
        ((connections(ZK1, row("alice", quiet_ms=500), at=NOW - 60_000),), "released", None),
        (
            (no_connections(ZK1), timeouts(ZK2, {"alice": 10_000}), expiry(ZK1, {"alice": 900})),
            "expired",
            "its session was due to expire: the leader had not heard from it for a long time",
        ),
        (
            (no_connections(ZK1), timeouts(ZK2, {"alice": 10_000}), expiry(ZK1, {"alice": 1_900})),
            "released",
            None,
        ),
        (
            (no_connections(ZK1), timeouts(ZK2, {"alice": 1_200}), expiry(ZK1, {"alice": 900})),
            "released",
            None,
        ),
    ],
    ids=[
        "no tables at all",
        "hidden tables",
        "heard from just now",
        "no connection, still listed",
        "not listed any more",
        "silent too long",
        "a table too old to tell",
        "on a server that is down, and due",
        "not due yet",
        "due, but heard from just before",
    ],
)
def test_expired_or_released(tables: tuple[object, ...], kind: str, why: str | None) -> None:
    """Evidence decides; without any, the client itself is believed to have done it."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root, Ensemble.of(world(*tables), NOW))
    root.delete(alice)

    (event,) = watcher.look(1_000)

    assert (event.event, event.why) == (kind, why)


@pytest.mark.parametrize(
    "later",
    [
        pytest.param((connections(ZK1, at=NOW + 900),), id="no connection"),
        pytest.param(
            (no_connections(ZK1), expiry(ZK1, {"bob": 500}, at=NOW + 900)), id="not listed"
        ),
    ],
)
def test_a_table_that_came_with_the_deletion_proves_no_expiry(later: tuple[object, ...]) -> None:
    """It may have been read after the session was closed, and does not list it then either."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root, Ensemble.of(world(connections(ZK1, row("alice"))), NOW))
    root.delete(alice)
    watcher.ensemble = Ensemble.of(world(*later), NOW + 1_000)

    (event,) = watcher.look(1_000)

    assert (event.event, event.why) == ("released", "its session was heard from 1.0 s before")


def test_a_table_that_came_with_the_deletion_proves_an_expiry_after_a_long_silence() -> None:
    """The session was heard from a minute ago, and its timeout is ten seconds."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root, Ensemble.of(world(connections(ZK1, row("alice"))), NOW))
    root.delete(alice)
    watcher.ensemble = Ensemble.of(world(connections(ZK1, at=NOW + 59_900)), NOW + 60_000)

    (event,) = watcher.look(60_000)

    assert (event.event, event.why) == ("expired", "no server had a connection of its session")


def test_the_newest_table_that_lists_a_session_says_when_it_was_heard_from() -> None:
    """Not the one of the look before."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root, Ensemble.of(world(connections(ZK1, row("alice"))), NOW))
    root.delete(alice)
    table = connections(ZK1, row("alice"), at=NOW + 900)
    watcher.ensemble = Ensemble.of(world(table), NOW + 1_000)

    (event,) = watcher.look(1_000)

    assert event.why == "its session was heard from 0.1 s before"


def test_a_table_before_the_deletion_proves_an_expiry() -> None:
    """The session was without a connection while its node was still there."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root, Ensemble.of(world(connections(ZK1, row("alice"))), NOW))
    watcher.ensemble = Ensemble.of(world(connections(ZK1, at=NOW + 900)), NOW + 1_000)
    watcher.look(1_000)
    root.delete(alice)

    (event,) = watcher.look(8_000)

    assert (event.event, event.why) == ("expired", "no server had a connection of its session")


def test_a_session_ends_in_one_transaction() -> None:
    """Nodes of one session that leave two locks in one transaction went with their session."""
    one, two = Root("/a"), Root("/b")
    in_one, in_two = one.create("alice"), two.create("alice")
    histories = LockHistories()
    before = one.look(), two.look()
    histories.after([LockChange.between(x.path, None, x) for x in before], NO_ENSEMBLE, NOW)
    one.delete(in_one, zxid=90)
    two.delete(in_two, zxid=90)
    after = one.look(), two.look()

    pairs = zip(before, after, strict=True)
    changes = [LockChange.between(x.path, x, y) for x, y in pairs]
    events = histories.after(changes, NO_ENSEMBLE, NOW + 1_000)

    assert words(events) == [("expired", "alice"), ("expired", "alice")]
    assert events[0].why == "its nodes left 2 locks in one transaction"


def test_two_releases_in_one_look_are_releases() -> None:
    """Two transactions are two acts of a client, however close they were."""
    one, two = Root("/a"), Root("/b")
    in_one, in_two = one.create("alice"), two.create("alice")
    histories = LockHistories()
    before = one.look(), two.look()
    histories.after([LockChange.between(x.path, None, x) for x in before], NO_ENSEMBLE, NOW)
    one.delete(in_one, zxid=90)
    two.delete(in_two, zxid=91)

    pairs = zip(before, (one.look(), two.look()), strict=True)
    changes = [LockChange.between(x.path, x, y) for x, y in pairs]

    assert words(histories.after(changes, NO_ENSEMBLE, NOW)) == [("released", "alice")] * 2


def test_a_closed_session_is_no_expiry() -> None:
    """A client that was heard from a second ago and took everything along closed its session."""
    one, two = Root("/a"), Root("/b")
    in_one, in_two = one.create("alice"), two.create("alice")
    histories, ensemble = LockHistories(), Ensemble.of(world(connections(ZK1, row("alice"))), NOW)
    before = one.look(), two.look()
    histories.after([LockChange.between(x.path, None, x) for x in before], ensemble, NOW)
    one.delete(in_one, zxid=90)
    two.delete(in_two, zxid=90)

    pairs = zip(before, (one.look(), two.look()), strict=True)
    changes = [LockChange.between(x.path, x, y) for x, y in pairs]
    events = histories.after(changes, ensemble, NOW + 1_000)

    assert words(events) == [("released", "alice")] * 2
    assert events[0].why == "its session was heard from 1.0 s before, and was closed"


def test_missed_events_are_counted() -> None:
    """Two short visits between two looks: two creations and two deletions, and no names."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root)
    watcher.look()
    root.delete(root.create("bob"))
    root.delete(root.create("carol"))
    root.delete(alice)
    dave = root.create("dave")

    events = watcher.look(1_000)

    assert words(events)[:3] == [("released", "alice"), ("queued", "dave"), ("acquired", "dave")]
    assert events[2].zxid == dave.czxid
    assert (events[3].event, events[3].creates, events[3].deletes) == ("missed", 2, 2)
    assert watcher.histories.of(root.path).coverage == pytest.approx(1 / 3)


def test_missed_events_are_counted_after_the_counter_has_overflowed() -> None:
    """After 2,147,483,647, the counter that a Stat shows begins with 0 again."""
    counters = RootCounters(_created(0x7FFF_FFFE))

    assert counters.after(_created(0x7FFF_FFFF), 1, 1) == (0, 0)
    assert counters.after(_created(0x8000_0063), 0, 0) == (100, 100)


def test_an_older_reading_of_the_counters_is_not_counted() -> None:
    """A listing may come from a server that is behind."""
    counters = RootCounters(_created(9))

    assert counters.after(_created(7), 0, 0) == (0, 0)
    assert counters.after(_created(10), 1, 1) == (0, 0)


def _created(number: int) -> Stat:
    """The Stat of a root in which so many children were created, and deleted again."""
    cversion = 2 * number & 0xFFFF_FFFF
    signed = cversion - (1 << 32) if cversion >= 1 << 31 else cversion
    return Stat(1, 1, 0, cversion=signed)


def test_other_children_are_not_missed() -> None:
    """The root counts foreign children too; they were seen."""
    watcher = Watcher(Root())
    watcher.root.create("alice")
    watcher.root.clutter("notes")

    assert "missed" not in dict(words(watcher.look(1_000)))


def test_a_foreign_child_of_another_folder_hides_no_missed_creation() -> None:
    """The root does not count what is in the queue of a semaphore, which is its sibling."""
    root, histories = Root(), LockHistories()
    first = root.look()
    note(histories, root.path, None, first, NO_ENSEMBLE, NOW)
    root.delete(root.create("alice"))
    stranger = (Text("../orders-__lock__/notes"),)
    after = msgspec.structs.replace(root.look(), foreign=stranger)
    (missed,) = note(histories, root.path, first, after, NO_ENSEMBLE, NOW + 1)

    assert (missed.event, missed.creates, missed.deletes) == ("missed", 1, 1)


def test_counters_may_lag() -> None:
    """Members are heard from one by one, the root's counters come with the next listing."""
    root = Root()
    root.create("alice")
    first = root.look()
    histories = LockHistories()
    note(histories, root.path, None, first, NO_ENSEMBLE, NOW)
    root.create("bob")
    heard = lock_of(root.path, root.members.values(), first.stat)
    found = [note(histories, root.path, first, heard, NO_ENSEMBLE, NOW + 1)]
    listed = root.look()
    found.append(note(histories, root.path, heard, listed, NO_ENSEMBLE, NOW + 2))

    assert [words(events) for events in found] == [[("queued", "bob")], []]


def test_a_newer_member_than_the_first_listing_was_seen() -> None:
    """The first look may already know more than the counters beside it."""
    root = Root()
    root.create("alice")
    stat = root.stat
    root.create("bob")
    first = lock_of(root.path, root.members.values(), stat)
    histories = LockHistories()
    note(histories, root.path, None, first, NO_ENSEMBLE, NOW)

    assert note(histories, root.path, first, root.look(), NO_ENSEMBLE, NOW + 1) == []


def test_a_new_lock_appears() -> None:
    """A root that was created after we began is new, and so are all its members."""
    histories = LockHistories()
    note(histories, "/old", None, Root("/old").look(), NO_ENSEMBLE, NOW)
    root = Root("/new", czxid=50)
    root.create("alice")

    events = note(histories, "/new", None, root.look(), NO_ENSEMBLE, NOW + 5)

    assert words(events) == [("lock-appeared", None), ("queued", "alice"), ("acquired", "alice")]


def found_late(czxid: int, **more: object) -> list[Event]:
    """The events of a lock that is found after Alice and Bob have left it, and Carol has come."""
    histories = LockHistories()
    note(histories, "/old", None, Root("/old", zxid=40).look(), NO_ENSEMBLE, NOW)
    root = Root("/late", czxid=czxid, zxid=50)
    for name in ("alice", "bob"):
        root.delete(root.create(name))
    root.create("carol")
    late = msgspec.structs.replace(root.look(), **more)
    return note(histories, "/late", None, late, NO_ENSEMBLE, NOW + 5)


def test_what_a_new_lock_was_used_for_before_it_was_found_is_counted() -> None:
    """Its counters began with zero when it was created, which was after the first look."""
    *_, missed = found_late(czxid=50)

    assert (missed.event, missed.creates, missed.deletes) == ("missed", 2, 2)


def test_what_an_old_lock_was_used_for_before_it_was_found_is_not_counted() -> None:
    """It may have been in use for years."""
    assert "missed" not in dict(words(found_late(czxid=5)))


@pytest.mark.parametrize("foreign", [(), (Text("leases/notes"), Text("locks/notes"))])
def test_children_of_a_new_lock_that_are_not_members_are_not_counted(
    foreign: tuple[Text, ...],
) -> None:
    """A semaphore has a folder for its leases and one for its queue."""
    counted = Stat(50, 50, 0, cversion=3, num_children=3, pzxid=60)

    assert "missed" not in dict(words(found_late(czxid=50, stat=counted, foreign=foreign)))


@pytest.mark.parametrize("is_new", [True, False])
def test_a_lock_that_was_not_read_yet_waits_to_be_judged(*, is_new: bool) -> None:
    """A look between the news of its znodes and the answers does not take it for an old one."""
    histories = LockHistories()
    note(histories, "/old", None, Root("/old", zxid=40).look(), NO_ENSEMBLE, NOW)
    root = Root("/late", czxid=50 if is_new else 5)
    alice = root.create("alice")
    unread = msgspec.structs.replace(alice, znode=Znode(alice.node))
    early = lock_of(root.path, [unread])

    at_once = note(histories, root.path, None, early, NO_ENSEMBLE, NOW + 5)
    later = note(histories, root.path, early, root.look(), NO_ENSEMBLE, NOW + 6)

    assert at_once == []
    assert words(later) == (
        [("lock-appeared", None), ("queued", "alice"), ("acquired", "alice")] if is_new else []
    )


def test_an_old_lock_found_late_does_not_appear() -> None:
    """Loading takes a while: what existed before is no news, what came since is."""
    histories = LockHistories()
    note(histories, "/a", None, Root("/a", zxid=20).look(), NO_ENSEMBLE, NOW)
    root = Root("/b", czxid=5)
    root.create("alice")
    root.zxid = 100
    root.create("bob")

    events = histories.after(
        [LockChange.between("/b", None, root.look())], Ensemble.of(world(), NOW), NOW + 5
    )

    assert words(events) == [("queued", "bob")]


def test_a_lock_vanishes_and_comes_back() -> None:
    """An empty root that was reaped is remembered; what it was before is another life."""
    watcher = Watcher(Root())
    gone = watcher.look(1_000, gone=True)
    watcher.root = Root(czxid=70)
    watcher.root.create("alice")
    back = watcher.look(1_000)
    history = watcher.histories.of("/orders")

    assert words(gone) == [("lock-vanished", None)]
    assert words(back)[0] == ("lock-appeared", None)
    assert (history.generation, history.reaped_at) == (1, NOW + 1_000)
    assert history.recreated_at == NOW + 2_000


def vanished_queue(watcher: Watcher) -> VanishedQueue | None:
    """The queue with which the lock vanished."""
    return watcher.histories.vanished_queues.get(Text(watcher.root.path))


def test_a_lock_falls_with_its_members() -> None:
    """A root that vanishes takes its members along."""
    root = Root()
    root.create("alice")
    root.create("bob")
    watcher = Watcher(root)
    gone = watcher.look(1_000, gone=True)
    watcher.root = Root(czxid=70)
    watcher.look(1_000)

    assert [event.event for event in gone] == ["released", "abandoned", "lock-vanished"]
    assert vanished_queue(watcher) == VanishedQueue(NOW + 1_000, 2, waiters=(session("bob"),))


def test_a_lock_falls_with_at_least_the_members_of_the_last_look() -> None:
    """One that left a moment before may have been deleted with the others."""
    root = Root()
    alice = root.create("alice")
    root.create("bob")
    root.create("carol")
    watcher = Watcher(root)
    root.delete(alice)
    watcher.look(1_000)
    watcher.look(10, gone=True)

    assert vanished_queue(watcher) == VanishedQueue(
        NOW + 1_010, 2, is_all=False, waiters=(session("carol"),)
    )


def test_a_holder_alone_does_not_fall_with_its_lock() -> None:
    """It may have released the lock and deleted the folder, both between two looks."""
    root = Root()
    root.create("alice")
    watcher = Watcher(root)
    watcher.look(1_000, gone=True)

    assert vanished_queue(watcher) is None


def test_a_lock_falls_with_members_that_were_deleted_a_moment_before() -> None:
    """A recursive delete deletes the children one by one, and a look may fall in between."""
    root = Root()
    alice, bob = root.create("alice"), root.create("bob")
    watcher = Watcher(root)
    root.delete(bob)
    watcher.look(1_000)
    root.delete(alice)
    watcher.look(10)
    watcher.look(10, gone=True)
    watcher.root = Root(czxid=70)
    watcher.look(1_000)
    history = watcher.histories.of("/orders")

    assert vanished_queue(watcher) == VanishedQueue(
        NOW + 1_020, 2, is_certain=False, waiters=(session("bob"),)
    )
    assert history.reaped_at is None
    assert [one.label for one in history.earlier_members] == ["bob", "alice"]


@pytest.mark.parametrize(
    ("first", "later"),
    [pytest.param(0, 10, id="each in turn"), pytest.param(1, 2_000, id="long before")],
)
def test_a_lock_does_not_fall_with_clients_that_left_it(first: int, later: int) -> None:
    """Released one after the other, or given up earlier: its folder was empty when it went."""
    root = Root()
    both = [root.create("alice"), root.create("bob")]
    watcher = Watcher(root)
    root.delete(both.pop(first))
    watcher.look(1_000)
    root.delete(both.pop())
    watcher.look(10)
    watcher.look(later, gone=True)
    watcher.root = Root(czxid=70)
    watcher.look(1_000)
    history = watcher.histories.of("/orders")

    assert vanished_queue(watcher) is None
    assert history.reaped_at == NOW + 1_010 + later


def recreated(
    *removals: tuple[str, str],
    by: str,
    how: str = "deleted",
    queue: Iterable[str] = ("ann", "bob"),
) -> Watcher:
    """The first one holds; a log has who removed which node, and then the folder.

    It is created again.
    """
    root = Root()
    nodes = {name: root.create(name) for name in queue}
    watcher, facts = Watcher(root), []
    for name, remover in removals:
        root.delete(nodes[name])
        path, who = join(root.path, nodes[name].node), session(remover)
        facts.append(Gone(path=path, zxid=root.zxid, at=NOW, by=who, how=how))
        watcher.look_at_log(10, *facts)
    folder = Gone(path=root.path, zxid=root.zxid + 1, at=NOW, by=session(by), how="deleted")
    watcher.look_at_log(10, *facts, folder, gone=True)
    watcher.root = Root(czxid=root.zxid + 2)
    watcher.look(1_000)
    return watcher


@pytest.mark.parametrize("names", [("ann", "bob"), ("bob", "ann")])
def test_a_lock_falls_with_members_that_a_log_shows_deleted_with_it(
    names: tuple[str, str],
) -> None:
    """Bob holds for a moment if the node of ann is deleted first."""
    watcher = recreated(*[(name, "mallory") for name in names], by="mallory")
    history = watcher.histories.of(watcher.root.path)

    assert vanished_queue(watcher) == VanishedQueue(NOW + 30, 2)
    assert history.reaped_at is None


@pytest.mark.parametrize(
    ("removals", "how"),
    [
        pytest.param((("bob", "bob"), ("ann", "ann")), "deleted", id="gave up, and released"),
        pytest.param((("bob", "bob"), ("ann", "ann")), "closed", id="closed their sessions"),
        pytest.param((("bob", "bob"), ("ann", "ann")), "expired", id="expired"),
        pytest.param((("ann", "mallory"), ("bob", "bob")), "deleted", id="only one was deleted"),
    ],
)
def test_a_lock_does_not_fall_with_members_that_a_log_shows_leaving(
    removals: tuple[tuple[str, str], ...], how: str
) -> None:
    """The last one deletes the folder, all within a second."""
    watcher = recreated(*removals, by=removals[-1][1], how=how)
    history = watcher.histories.of(watcher.root.path)

    assert vanished_queue(watcher) is None
    assert (history.reaped_at, history.removed_by) == (NOW + 30, session(removals[-1][1]))


def test_who_removed_an_earlier_folder_did_not_remove_this_one() -> None:
    """Transactions are missing: a listing shows that it is gone, and no record says how."""
    watcher = Watcher(Root(czxid=50))
    path = Text(watcher.root.path)
    before = Gone(path=path, zxid=40, at=NOW, by=session("mallory"), how="deleted")
    watcher.look_at_log(10, before, gone=True)
    watcher.root = Root(czxid=70)
    watcher.look(1_000)
    history = watcher.histories.of(path)

    assert (history.reaped_at, history.removed_by) == (NOW + 10, None)


def test_a_long_recursive_delete_that_begins_with_the_holder() -> None:
    """Each waiter is first for 10 ms, and more of them left than are remembered."""
    names = [f"w{number}" for number in range(200)]
    watcher = recreated(*[(name, "mallory") for name in names], by="mallory", queue=names)
    history = watcher.histories.of(watcher.root.path)

    left = history.earlier_members
    assert [one.label for one in left if not one.held_briefly] == ["w0"]
    assert vanished_queue(watcher) == VanishedQueue(
        NOW + 2_010, MAX_FORMER_MEMBERS - 1, is_all=False
    )


def test_a_root_created_again_between_two_looks() -> None:
    """Another czxid is another root: its members are others, its statistics start again."""
    root = Root()
    root.create("alice")
    watcher = Watcher(root)
    watcher.root = Root(czxid=70)
    watcher.root.create("alice")

    events = watcher.look(1_000)

    assert words(events) == [
        ("released", "alice"),
        ("lock-vanished", None),
        ("lock-appeared", None),
        ("queued", "alice"),
        ("acquired", "alice"),
    ]


def test_a_refused_look_tells_nothing() -> None:
    """An ACL that hides the root hides its members; they did not leave."""
    root = Root()
    root.create("alice")
    watcher = Watcher(root)
    root.create("bob")
    before = watcher.known
    hidden = lock_of(root.path, (), error="not allowed")
    denied = note(watcher.histories, root.path, before, hidden, NO_ENSEMBLE, NOW + 1)
    seen = note(watcher.histories, root.path, hidden, root.look(), NO_ENSEMBLE, NOW + 2)

    assert (denied, words(seen)) == ([], [("queued", "bob")])


def test_a_holder_that_is_pushed_back() -> None:
    """A newcomer that goes before the holder, as after the end of the numbers."""
    alice, eve = member("alice", 5, 20), member("eve", -9, 30)
    before = lock_of("/a", [alice])
    after = lock_of("/a", [eve, alice])
    histories = LockHistories()
    note(histories, "/a", None, before, NO_ENSEMBLE, NOW)

    events = note(histories, "/a", before, after, NO_ENSEMBLE, NOW + 9)

    assert words(events) == [("queued", "eve"), ("acquired", "eve"), ("reordered", "alice")]
    assert histories.of("/a").since(alice, holds=False) == Since(NOW + 9, "seen")


def test_a_member_that_turned_out_to_be_foreign_is_forgotten_when_it_goes() -> None:
    """It was counted before it was read."""
    alice, bob = member("alice", 0, 11), member("bob", 1, 20)
    looks = [lock_of("/a", [alice]), lock_of("/a", [alice, bob])]
    looks += [lock_of("/a", [alice], foreign=(bob.node,)), lock_of("/a", [alice])]
    histories, before, stays = LockHistories(), None, []
    for number, lock in enumerate(looks):
        note(histories, "/a", before, lock, NO_ENSEMBLE, NOW + number)
        before = lock
        stays.append(bob.node in histories.of("/a").stays)

    assert stays == [False, True, True, False]


def test_a_member_of_the_first_look_that_turned_out_to_be_foreign_did_not_move() -> None:
    """It seemed to hold the lock before it was read."""
    alice, bob = member("alice", 0, 11), member("bob", 1, 20)
    unread = msgspec.structs.replace(alice, znode=Znode(alice.node))
    before, after = lock_of("/a", [unread, bob]), lock_of("/a", [bob], foreign=(alice.node,))
    histories = LockHistories()
    note(histories, "/a", None, before, NO_ENSEMBLE, NOW)

    assert words(note(histories, "/a", before, after, NO_ENSEMBLE, NOW + 1)) == [
        ("acquired", "bob")
    ]


def test_a_holder_that_becomes_a_foreign_child_lost_the_lock() -> None:
    """It was read at the first look: another layout fits only now."""
    alice, bob = member("alice", 0, 11), member("bob", 1, 20)
    before, after = lock_of("/a", [alice, bob]), lock_of("/a", [bob], foreign=(alice.node,))
    histories = LockHistories()
    note(histories, "/a", None, before, NO_ENSEMBLE, NOW)

    events = note(histories, "/a", before, after, NO_ENSEMBLE, NOW + 1)

    assert ("reordered", "alice") in words(events)


def test_a_root_that_vanishes_with_children_was_not_reaped() -> None:
    """Servers delete only containers without any child."""
    folder = Family(members={Text("x"): Znode(Text("x"))})
    histories, later = LockHistories(), lock_of("/a", [], Stat(90, 90, 0))
    before = lock_of("/a", [], Stat(10, 10, 0), foreign=(Text("x"),), family=folder)
    note(histories, "/a", None, before, NO_ENSEMBLE, NOW)
    note(histories, "/a", before, None, NO_ENSEMBLE, NOW + 1)
    note(histories, "/a", None, later, NO_ENSEMBLE, NOW + 2)

    assert histories.of("/a").generation == 1
    assert histories.of("/a").reaped_at is None


def test_a_child_that_is_understood_later_did_not_come() -> None:
    """A layout that is recognised late makes members of children that were there."""
    alice = member("alice", 0, 20)
    before = lock_of("/a", [], foreign=(alice.node,))
    after = lock_of("/a", [alice])
    histories = LockHistories()
    note(histories, "/a", None, before, NO_ENSEMBLE, NOW)

    assert words(note(histories, "/a", before, after, NO_ENSEMBLE, NOW)) == [("acquired", "alice")]


def test_since_at_first_look() -> None:
    """A waiter waits since its creation; a holder held already, for an unknown time."""
    root = Root()
    gone = root.create("gone", ctime=NOW - 90_000)
    alice = root.create("alice", ctime=NOW - 80_000)
    bob = root.create("bob", ctime=NOW - 70_000)
    root.delete(gone)
    history = Watcher(root).histories.of(root.path)

    assert history.since(alice, holds=True) == Since(NOW, AT_LEAST)
    assert history.since(bob, holds=False) == Since(NOW - 70_000, AT_LEAST)


def test_nothing_deleted_since_the_newest_came() -> None:
    """The root's last change was the newest member's creation: the holder held by then."""
    root = Root()
    alice = root.create("alice", ctime=NOW - 80_000)
    root.create("bob", ctime=NOW - 70_000)
    history = Watcher(root).histories.of(root.path)

    assert history.since(alice, holds=True) == Since(NOW - 70_000, AT_LEAST)


def test_members_read_after_the_first_look_may_prove_an_earlier_hold() -> None:
    """The first look had only their names, the next one knows when they were created."""
    histories, root = LockHistories(), Root()
    alice = root.create("alice", ctime=NOW - 80_000)
    full = root.look()
    early = lock_of(
        root.path, [msgspec.structs.replace(alice, znode=Znode(alice.node))], full.stat
    )
    note(histories, root.path, None, early, NO_ENSEMBLE, NOW)

    events = note(histories, root.path, early, full, NO_ENSEMBLE, NOW + 5)

    assert events == []
    assert histories.of(root.path).since(alice, holds=True) == Since(NOW - 80_000, AT_LEAST)


def test_a_read_that_shows_a_missed_contender_is_an_event() -> None:
    """It came and went between the first listing and the one that came with the reads."""
    histories, root = LockHistories(), Root()
    alice = root.create("alice")
    early = lock_of(
        root.path,
        [msgspec.structs.replace(alice, znode=Znode(alice.node))],
        root.look().stat,
    )
    note(histories, root.path, None, early, NO_ENSEMBLE, NOW)
    root.delete(root.create("bob"))

    (missed,) = note(histories, root.path, early, root.look(), NO_ENSEMBLE, NOW + 5)

    assert (missed.event, missed.creates, missed.deletes) == ("missed", 1, 1)


def test_since_when_seen() -> None:
    """What happened before our eyes has its time."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root)
    bob = root.create("bob")
    watcher.look(1_000)
    waiting = watcher.histories.of(root.path).since(bob, holds=False)
    root.delete(alice)
    watcher.look(1_000)
    holding = watcher.histories.of(root.path).since(bob, holds=True)

    assert (waiting, holding) == (Since(NOW + 1_000, "seen"), Since(NOW + 2_000, "seen"))


def test_an_unwatched_lock_has_no_history() -> None:
    """A lock that was never examined."""
    history = LockHistories().of("/nowhere")

    assert history is NO_HISTORY
    assert history.since(member("alice", 0, 1), holds=True) == UNKNOWN_SINCE


def test_while_we_looked_away() -> None:
    """A change during an outage happened at some time in it: no length is exact."""
    root = Root()
    alice = root.create("alice")
    bob = root.create("bob")
    watcher = Watcher(root, Ensemble.of(world(own()), NOW))
    root.create("carol")
    watcher.look(1_000)
    lost = Ensemble.of(world(own(state="suspended", at=NOW + 2_000)), NOW + 2_500)
    watcher.histories.after([], lost, NOW + 2_500)
    root.delete(alice)
    watcher.ensemble = Ensemble.of(world(own(at=NOW + 9_000)), NOW + 10_000)

    released, acquired = watcher.look(9_000)

    assert released.held == Elapsed(2_000, AT_LEAST)
    assert acquired.waited == Elapsed(2_000, AT_LEAST)
    assert watcher.histories.of(root.path).granted(bob) == Since(NOW + 10_000, AT_LEAST)


def left_during_an_outage(*connected: str) -> Watcher:
    """A lock that Alice left between the tables at `NOW` and those a minute later."""
    root = Root()
    alice = root.create("alice")
    rows = [row(name, quiet_ms=100) for name in connected]
    before = world(own(), connections(ZK1, *rows))
    watcher = Watcher(root, Ensemble.of(before, NOW))
    watcher.lose_connection()
    root.delete(alice)
    later = NOW + 60_000
    after = world(own(at=later), connections(ZK1, row("bob"), at=later))
    watcher.ensemble = Ensemble.of(after, later)
    return watcher


def test_who_left_during_an_outage_did_so_in_an_unknown_way() -> None:
    """Alice may have released the lock and closed her session, long before its timeout."""
    watcher = left_during_an_outage("alice", "bob")

    (released,) = watcher.look(60_000)
    (former,) = watcher.histories.of(watcher.root.path).former_members

    assert released.event == "released"
    assert released.why == "it left while zktop saw nothing: how and when is unknown"
    assert former.is_unseen


def test_a_waiter_that_left_during_an_outage_with_its_holder_did_not_give_up() -> None:
    """Both left in an unknown way: the sessions may have expired."""
    root = Root()
    alice, bob = root.create("alice"), root.create("bob")
    watcher = Watcher(root, Ensemble.of(world(own()), NOW))
    watcher.lose_connection()
    root.delete(alice)
    root.delete(bob)
    watcher.ensemble = Ensemble.of(world(own(at=NOW + 60_000)), NOW + 60_000)

    left = watcher.look(60_000)

    assert [(event.owner, event.is_unseen) for event in left] == [("alice", True), ("bob", True)]
    assert watcher.histories.of(root.path).attempts == {}


def test_a_waiter_that_left_alone_during_an_outage_did_not_give_up() -> None:
    """The holder stayed, but the session of the waiter may have expired."""
    root = Root()
    root.create("alice")
    bob = root.create("bob")
    watcher = Watcher(root, Ensemble.of(world(own()), NOW))
    watcher.lose_connection()
    root.delete(bob)
    watcher.ensemble = Ensemble.of(world(own(at=NOW + 60_000)), NOW + 60_000)
    watcher.look(60_000)

    assert watcher.histories.of(root.path).attempts == {}


def test_a_client_without_a_connection_before_an_outage_has_expired() -> None:
    """The tables from before it show that it was cut off."""
    watcher = left_during_an_outage("bob")

    (expired,) = watcher.look(60_000)
    (former,) = watcher.histories.of(watcher.root.path).former_members

    assert expired.event == "expired"
    assert not former.is_unseen


def test_an_expiry_during_an_outage_is_known_to_have_happened_since_the_loss() -> None:
    """The look after it sees all of them at once, which says nothing about when they happened."""
    watcher = left_during_an_outage("bob")
    watcher.look(60_000)

    (place,) = watcher.histories.expiries.most_at_once()

    assert (place.unseen_from, place.at) == (NOW + 1_000, NOW + 60_000)


def test_a_second_look_at_an_outage_keeps_the_tables_from_before_it() -> None:
    """Servers that are out of reach, too, have lost theirs by then."""
    watcher = left_during_an_outage("bob")
    for late in (2_000, 3_000):
        lost = Ensemble.of(world(own(state="suspended", at=NOW + 1)), NOW + late)
        watcher.histories.after([], lost, NOW + late)

    (expired,) = watcher.look(60_000)

    assert expired.event == "expired"


def test_tables_that_return_before_the_lock_is_listed_do_not_tell_how_a_client_left() -> None:
    """Among many locks, a look may fall between the two; they are as new as the outage is over."""
    watcher = left_during_an_outage("alice", "bob")
    watcher.histories.after([], watcher.ensemble, NOW + 60_000)

    (released,) = watcher.look(60_100)

    assert (released.event, released.why) == (
        "released",
        "it left while zktop saw nothing: how and when is unknown",
    )


def test_nodes_that_left_in_one_transaction_of_an_outage_left_in_an_unknown_way() -> None:
    """A client that closes its session removes them in one transaction, too."""
    one, two = Root("/a"), Root("/b")
    in_one, in_two = one.create("alice"), two.create("alice")
    histories = LockHistories()
    before = one.look(), two.look()
    known = Ensemble.of(world(own()), NOW)
    histories.after([LockChange.between(x.path, None, x) for x in before], known, NOW)
    lost = Ensemble.of(world(own(state="suspended", at=NOW + 1_000)), NOW + 1_000)
    histories.after([], lost, NOW + 1_000)
    one.delete(in_one, zxid=90)
    two.delete(in_two, zxid=90)

    back = Ensemble.of(world(own(at=NOW + 60_000)), NOW + 60_000)
    pairs = zip(before, (one, two), strict=True)
    changes = [LockChange.between(x.path, x, y.look(NOW + 60_000)) for x, y in pairs]

    assert words(histories.after(changes, back, NOW + 60_000)) == [("released", "alice")] * 2


def test_after_an_outage_lengths_are_exact_again() -> None:
    """A lock that was listed after the reconnection is seen as before."""
    watcher = Watcher(Root(), Ensemble.of(world(own()), NOW))
    watcher.lose_connection()
    watcher.ensemble = Ensemble.of(world(own(at=NOW + 2_000)), NOW + 3_000)
    watcher.look(3_000)
    watcher.root.create("alice")

    acquired = watcher.look(1_000)[-1]

    assert acquired.waited == Elapsed(0, EXACT)


@pytest.mark.parametrize(("created_at", "bound"), [(NOW + 1_500, AT_LEAST), (NOW + 2_500, EXACT)])
def test_a_lock_that_appeared_during_an_outage_has_no_exact_lengths(
    created_at: int, bound: str
) -> None:
    """Its holder may have waited before, and held it for longer."""
    watcher = Watcher(Root(), Ensemble.of(world(own()), NOW))
    watcher.lose_connection()
    again, new = Ensemble.of(world(own(at=NOW + 2_000)), NOW + 3_000), Root("/new", czxid=1_000)
    alice = new.create("alice", created_at)
    found = new.look(NOW + 3_000)
    *_, acquired = note(watcher.histories, "/new", None, found, again, NOW + 3_000)
    new.delete(alice)
    left = new.look(NOW + 5_000)
    (released,) = note(watcher.histories, "/new", found, left, again, NOW + 5_000)

    assert (acquired.waited, released.held) == (Elapsed(0, bound), Elapsed(2_000, bound))


def test_former_members_name_the_owner() -> None:
    """The newest ones are kept whole."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root)
    root.delete(alice)
    watcher.look(1_000)

    (gone,) = watcher.histories.of(root.path).former_members

    assert (gone.node, gone.session, gone.label) == (alice.node, session("alice"), "alice")
    assert (gone.ending, gone.gone_at, gone.czxid) == ("released", NOW + 1_000, alice.czxid)


def test_timed_waiter() -> None:
    """A contender that gives up after ten seconds three times has a time-out of ten seconds."""
    root = Root()
    root.create("alice")
    watcher = Watcher(root)
    for _ in range(3):
        bob = root.create("bob")
        watcher.look(1_000)
        root.delete(bob)
        watcher.look(10_000)

    bob_tries = watcher.histories.of(root.path).attempts["bob"]

    assert bob_tries.learned_timeout_ms == 10_000
    assert bob_tries.given_up == 3


def test_overtaken_retries() -> None:
    """A client that goes to the tail with each retry is overtaken by later arrivals."""
    root = Root()
    holder = root.create("alice")
    watcher = Watcher(root)
    for name in ("carol", "dave", "erin"):
        bob = root.create("bob")
        later = root.create(name)
        watcher.look(100)
        root.delete(bob)
        watcher.look(100)
        root.delete(holder)
        watcher.look(100)
        holder = later

    bob_tries = watcher.histories.of(root.path).attempts["bob"]

    assert (bob_tries.given_up, bob_tries.overtaken) == (3, 3)


def test_earlier_arrivals_do_not_overtake() -> None:
    """A contender that came before the retries began is served in turn."""
    root = Root()
    alice, _carol = root.create("alice"), root.create("carol")
    watcher = Watcher(root)
    bob = root.create("bob")
    watcher.look(100)
    root.delete(bob)
    watcher.look(100)
    root.delete(alice)
    watcher.look(100)

    assert watcher.histories.of(root.path).attempts["bob"].overtaken == 0


def bob_gives_up_twice(watcher: Watcher) -> None:
    """Each time after 400 ms."""
    for _ in range(2):
        bob = watcher.root.create("bob")
        watcher.look(100)
        watcher.root.delete(bob)
        watcher.look(400)


def test_success_ends_the_row_of_retries() -> None:
    """Its learned time-out stays."""
    root = Root()
    holder = root.create("alice")
    watcher = Watcher(root)
    bob_gives_up_twice(watcher)
    root.create("bob")
    root.delete(holder)
    watcher.look(100)

    bob_tries = watcher.histories.of(root.path).attempts["bob"]

    assert (bob_tries.given_up, bob_tries.learned_timeout_ms) == (0, 400)


def test_the_last_minute() -> None:
    """The strip, the rates and the share of time it was held."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root)
    root.create("bob")
    root.create("carol")
    watcher.look(30_000)
    root.delete(alice)
    watcher.look(30_000)
    history = watcher.histories.of(root.path, watcher.now + 10_000)

    assert history.minute.queue == (0,) * 19 + (2,) * 31 + (1,) * 10
    assert history.minute.requests_per_s == pytest.approx(2 / 60, rel=0.05)
    assert history.minute.releases_per_s == pytest.approx(1 / 60, rel=0.05)
    assert history.minute.busy == pytest.approx(1.0)
    assert history.waiters_a_minute_ago == 0
    assert history.blocked_ms == 2 * 30_000 + 1 * 10_000


def test_the_minute_of_an_earlier_look_stays_as_it_was() -> None:
    """The UI keeps it for the past."""
    watcher = Watcher(Root())
    watcher.root.create("bob")
    watcher.root.create("carol")
    watcher.look(30_000)
    earlier = watcher.histories.of(watcher.root.path, watcher.now).minute
    before = earlier.queue, earlier.requests_per_s
    watcher.root.create("dan")
    watcher.look(10_000)
    watcher.histories.of(watcher.root.path, watcher.now)

    assert (earlier.queue, earlier.requests_per_s) == before


def test_a_minute_is_forgotten_after_a_minute() -> None:
    """What happened more than sixty seconds ago is in no rate."""
    watcher = Watcher(Root())
    alice = watcher.root.create("alice")
    watcher.root.create("bob")
    watcher.look(30_000)
    watcher.root.delete(alice)
    watcher.look(1_000)
    history = watcher.histories.of("/orders", watcher.now + 90_500)

    assert history.minute.queue == (0,) * 60
    assert (history.minute.requests_per_s, history.minute.releases_per_s) == (0, 0)
    assert history.minute.busy == pytest.approx(1.0)


def test_a_lock_that_was_never_looked_at_for_a_minute() -> None:
    """Columns before the first look are unknown, and so is the share of the minute."""
    watcher = Watcher(Root())
    watcher.root.create("alice")
    watcher.look(5_000)
    history = watcher.histories.of("/orders")

    assert history.minute.queue[:54] == (None,) * 54
    assert (history.minute.busy, history.waiters_a_minute_ago) == (None, None)
    assert history.minute.requests_per_s == pytest.approx(1 / 5)


def test_the_same_looks_give_the_same_history() -> None:
    """Only its input decides."""

    def all_events() -> list[Event]:
        root = Root()
        watcher = Watcher(root)
        events = []
        for name in "abcde":
            root.create(name)
            events += watcher.look(100)
            root.delete(next(iter(root.members.values())))
            events += watcher.look(70)
        return events

    assert all_events() == all_events()
    assert len(all_events()) == 15


@pytest.mark.parametrize("last", ["bob", "carol"])
def test_a_waiter_had_no_chance_while_one_before_it_stayed(last: str) -> None:
    """Alice holds; Bob and Carol give up in one look, although Carol's predecessor left."""
    root = Root()
    root.create("alice")
    watcher = Watcher(root)
    waiters = {name: root.create(name) for name in ("bob", "carol")}
    watcher.look(1_000)
    for one in waiters.values():
        root.delete(one)

    events = {event.owner: event for event in watcher.look(1_000)}

    assert (events[last].event, events[last].why) == ("abandoned", None)


def left_together(before: Lock, stays: Member) -> dict[str | None, str | None]:
    """What is said of each waiter if all members but one leave in one look."""
    histories, after = LockHistories(), lock_of("/a", [stays])
    note(histories, "/a", None, before, NO_ENSEMBLE, NOW)
    events = note(histories, "/a", before, after, NO_ENSEMBLE, NOW + 1)
    return {event.owner: event.why for event in events if event.event == "abandoned"}


def test_a_reader_may_have_held_while_another_reader_stayed() -> None:
    """Readers wait only for writers."""
    writer, *readers = (member(name, place, 20 + place) for place, name in enumerate("wrs"))
    readers = [msgspec.structs.replace(one, mode="read") for one in readers]
    before = lock_of("/a", [writer, *readers], kind="read-write")

    assert "may have held" in (left_together(before, readers[0])["s"] or "")


def test_a_waiter_may_have_held_a_lease_while_another_stayed() -> None:
    """One of two leases was given back."""
    one, two, last = (member(name, place, 20 + place) for place, name in enumerate("abc"))
    lock = lock_of("/a", [one, two, last], kind="semaphore", leases=2)
    before = msgspec.structs.replace(lock, leases=2)

    assert "may have held" in (left_together(before, two)["c"] or "")


def unread(one: Member) -> Member:
    """A member that was listed and not read."""
    return msgspec.structs.replace(one, named=None, znode=Znode(one.node))


def test_the_success_of_a_client_counts_when_it_becomes_known() -> None:
    """Bob gives up twice, then he gets the lock before zktop has read his node."""
    root = Root()
    holder = root.create("alice")
    watcher = Watcher(root)
    bob_gives_up_twice(watcher)
    root.delete(holder)
    bob = root.create("bob")
    root.members[bob.node] = unread(bob)
    watcher.look(100)
    root.members[bob.node] = bob
    watcher.look(100)

    assert watcher.histories.of(root.path).attempts["bob"].given_up == 0


def test_clients_that_were_never_read_are_not_one_that_gives_up_again_and_again() -> None:
    """Two nodes come and go before they are read; their clients are unknown."""
    root = Root()
    root.create("alice")
    watcher = Watcher(root)
    for _ in range(2):
        one = root.create("bob")
        root.members[one.node] = unread(one)
        watcher.look(100)
        root.delete(one)
        watcher.look(100)

    assert watcher.histories.of(root.path).attempts == {}


def test_a_member_that_was_read_and_is_unread_now_is_another() -> None:
    """Its znode was deleted and created again."""
    alice = member("alice", 0, 20)
    change = LockChange.between("/a", lock_of("/a", [alice]), lock_of("/a", [unread(alice)]))

    assert (len(change.created), len(change.deleted)) == (1, 1)


def test_a_member_that_an_acl_hides_is_the_same() -> None:
    """It was read before."""
    alice = member("alice", 0, 20)
    hidden = msgspec.structs.replace(alice, znode=Znode(alice.node, hidden=True))
    change = LockChange.between("/a", lock_of("/a", [alice]), lock_of("/a", [hidden]))

    assert (change.created, change.deleted) == ((), ())


def test_a_newcomer_that_was_not_read_may_be_the_last_change() -> None:
    """Then the transaction of the deletion is unknown."""
    root = Root()
    alice = root.create("alice")
    watcher = Watcher(root)
    root.delete(alice)
    bob = root.create("bob")
    root.members[bob.node] = unread(bob)

    released = watcher.look(1_000)[0]

    assert (released.event, released.zxid) == ("released", None)


@pytest.mark.parametrize(("blocking", "blocked_ms"), [(False, 0), (True, 1_000)])
def test_candidates_wait_in_an_election_that_blocks(*, blocking: bool, blocked_ms: int) -> None:
    """So the user says in the config."""
    members = [member("alice", 0, 20), member("bob", 1, 21)]
    histories = LockHistories()
    first = lock_of("/a", members, kind="election", blocking=blocking)
    again = lock_of("/a", members, kind="election", blocking=blocking)
    note(histories, "/a", None, first, NO_ENSEMBLE, NOW)
    note(histories, "/a", first, again, NO_ENSEMBLE, NOW)

    assert histories.of("/a", NOW + 1_000).blocked_ms == blocked_ms


@pytest.mark.parametrize(("blocking", "blocked_ms"), [(False, 0), (True, 500)])
def test_candidates_that_arrived_between_two_looks_wait_only_if_the_election_blocks(
    *, blocking: bool, blocked_ms: int
) -> None:
    """In an import, each has the time of its own arrival."""
    alice, zoe = member("alice", 0, 20), member("zoe", 1, 21)
    late = member("bob", 2, 22, NOW), member("cat", 3, 23, NOW + 500)
    histories, logs = LockHistories(), msgspec.structs.replace(NO_ENSEMBLE, complete_to=30)
    looks = (([alice, zoe], NOW), ([alice], NOW), ([alice, *late], NOW + 500))
    before = None
    for members, at in looks:
        after = lock_of("/a", members, at=at, kind="election", blocking=blocking)
        note(histories, "/a", before, after, logs, at)
        before = after

    assert histories.of("/a", NOW + 500).blocked_ms == blocked_ms
