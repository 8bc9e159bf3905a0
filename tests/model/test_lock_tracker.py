"""When locks that watch tables or data can change are examined again, and when they are not."""

import msgspec
import pytest
from model.findings.cases import PATH, At, curator, facts, path_of, watching
from model.make_facts import NOW, ZK1, connections, no_watches, row, world

from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, join
from zktop.model.layouts.lock_site import LockSite
from zktop.model.lock_tracker import LockTracker
from zktop.model.locks.update_lock import update_lock
from zktop.model.settings import Settings
from zktop.model.text import Text

QUEUE = [curator(f"c{number}", number) for number in range(5)]
TWO_LEASES = watching({f"c{number}": [QUEUE[number - 2]] for number in (2, 3, 4)})


def tracked(*looks: list[AnyFact]) -> LockTracker:
    """A tracker after a look at each of these groups of facts."""
    tracker, known = LockTracker(Settings()), world()
    for number, new in enumerate(looks):
        known = known.after(*new)
        tracker.changes(known, NOW + number)
    return tracker


def test_the_first_watch_table_shows_that_a_mutex_is_a_semaphore() -> None:
    """A live run reads the znodes first: the lock is the same as if all were known at once."""
    late = tracked(facts(*QUEUE), [TWO_LEASES]).locks[PATH]
    at_once = tracked([*facts(*QUEUE), TWO_LEASES]).locks[PATH]

    assert (late.kind, late.leases) == (at_once.kind, at_once.leases) == ("semaphore", 2)
    assert len(late.holders) == 2


def test_a_table_before_the_first_watch_table_changes_nothing() -> None:
    """The general way and the simple way agree that the lock may still be a semaphore."""
    looks = [connections(ZK1, row("c0")), *facts(*QUEUE)], [TWO_LEASES]

    assert tracked(*looks).locks[PATH].kind == "semaphore"


def test_a_server_that_hides_its_watches_changes_no_lock() -> None:
    """Its tables are read all the time, and thousands of locks may ask for watches."""
    tracker, known = LockTracker(Settings()), world(*facts(*QUEUE), no_watches(ZK1))
    tracker.changes(known, NOW)
    later = known.after(no_watches(ZK1, at=NOW + 1), connections(ZK1, row("c0"), at=NOW + 1))

    assert tracker.changes(later, NOW + 1) == []


def test_without_watch_tables_a_mutex_of_curator_is_updated_quickly() -> None:
    """There is nothing to ask; the next version still asks."""
    known = world(*facts(*QUEUE))
    lock = tracked(facts(*QUEUE)).locks[PATH]
    left = Gone(path=Text(path_of(QUEUE[0])), zxid=2_000_000, at=NOW)
    after = update_lock(lock, LockSite(lock.path, known.after(left), Settings()))

    assert after is not None
    assert after.asks_watches


def test_a_contender_that_came_and_went_between_two_looks_changes_no_lock() -> None:
    """Only the next listing, which counts it, makes a new version of the lock."""
    tracker, known = LockTracker(Settings()), world(*facts(*QUEUE))
    tracker.changes(known, NOW)
    lock = tracker.locks[PATH]
    late = Text(path_of(curator("late", 7)))
    came, went = Node(path=late, zxid=2_000_000, at=NOW), Gone(path=late, zxid=2_000_001, at=NOW)
    listed = msgspec.structs.replace(next(iter(facts(*QUEUE))), zxid=2_000_002)

    assert tracker.changes(known.after(came, went), NOW + 1) == []
    (change,) = tracker.changes(known.after(came, went, listed), NOW + 2)
    assert (change.before, change.created, change.deleted) == (lock, (), ())
    assert change.after is tracker.locks[PATH]


def test_a_lock_listed_again_at_the_same_transaction_is_as_new_as_the_listing() -> None:
    """After a reconnection to a quiet ensemble, its state is known again from then on."""
    tracker, known = LockTracker(Settings()), world(*facts(*QUEUE))
    tracker.changes(known, NOW)
    again = msgspec.structs.replace(next(iter(facts(*QUEUE))), at=NOW + 60_000)

    tracker.changes(known.after(again), NOW + 60_000)

    assert tracker.locks[PATH].at == NOW + 60_000


ADDRESSES = [curator(f"10.0.0.{number}", number) for number in range(3)]
SESSIONS = [1_234_567_890_123_456, 1_234_567_890_123_457]
WRITELOCK = [At(f"x-{owner}-{number:010d}", "") for number, owner in enumerate(SESSIONS)]


def writelock() -> list[AnyFact]:
    """A WriteLock of Java: the number in a name is the owner in decimal."""
    listed, root, *nodes = facts(*WRITELOCK)
    owners = zip(nodes, SESSIONS, strict=True)
    stats = [(node, Stat(100 + owner % 10, 100, NOW, owner=owner)) for node, owner in owners]
    return [listed, root, *(msgspec.structs.replace(node, stat=stat) for node, stat in stats)]


@pytest.mark.parametrize(
    ("path", "read", "kind", "layout"),
    [
        ("/app/leader-lock", facts(*ADDRESSES, path="/app/leader-lock"), "mutex", "curator-mutex"),
        (PATH, writelock(), "mutex", "zk-writelock-java"),
    ],
)
def test_a_lock_that_was_listed_before_it_was_read_is_decided_by_what_was_read(
    path: str, read: list[AnyFact], kind: str, layout: str
) -> None:
    """At the first look neither the labels nor the owners are known."""
    listed = [fact for fact in read if isinstance(fact, Children)]

    for looks in ([read], [listed, read]):
        lock = tracked(*looks).locks[Text(path)]

        assert (lock.kind, lock.layout) == (kind, layout)


FOLDER = Text("/app/locks")
NAMED = [f"orders-{number}" for number in range(40)]
NUMBERED = "lock-0000000040"


def in_folder(*names: str, zxid: int) -> list[AnyFact]:
    """What is read of a folder of locks with these ephemeral nodes."""
    return [
        listing(FOLDER, *names, zxid=zxid),
        *(node(FOLDER, name, zxid, owner=7) for name in names),
    ]


def listing(path: str, *names: str, zxid: int = 10) -> Children:
    """The names in a folder."""
    stat = Stat(5, 5, 0, cversion=41, num_children=len(names), pzxid=zxid)
    texts = tuple(map(Text, names))
    return Children(path=Text(path), names=texts, stat=stat, zxid=zxid, at=NOW)


def node(path: str, name: str, zxid: int = 10, owner: int = 0, children: int = 0) -> Node:
    """One of its nodes."""
    stat = Stat(6, 6, 0, owner=owner, num_children=children)
    return Node(path=join(Text(path), name), stat=stat, data=b"", zxid=zxid, at=NOW)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(["orders"], ["orders", NUMBERED], id="a numbered node comes"),
        pytest.param([NUMBERED, "orders"], ["orders"], id="the numbered node leaves"),
    ],
)
def test_what_nodes_in_a_folder_of_locks_are_follows_their_siblings(
    first: list[str], then: list[str]
) -> None:
    """A live run finds the locks that a run finds which begins now."""
    earlier, later = in_folder(*first, zxid=10), in_folder(*then, zxid=20)
    known = {fact.path for fact in earlier if isinstance(fact, Node)}
    news = [fact for fact in later if not isinstance(fact, Node) or fact.path not in known]

    assert tracked(earlier, news).paths == tracked(later).paths


def test_nodes_beside_a_numbered_one_are_no_locks() -> None:
    """Also if it is the last of many."""
    assert tracked(in_folder(*NAMED, NUMBERED, zxid=10)).paths == (FOLDER,)


@pytest.mark.parametrize(
    ("names", "folder"),
    [
        pytest.param(["leader", "members"], "leader", id="as those of Patroni"),
        pytest.param(["master", "backup-masters"], "master", id="as those of HBase"),
        pytest.param(["leases", "locks"], "locks", id="as those of a semaphore of Curator"),
    ],
)
def test_a_folder_with_a_fixed_name_is_no_lock_before_it_is_listed(
    names: list[str], folder: str
) -> None:
    """A parent is read before what is below it."""
    children = [node("/app", name, children=2 * (name == folder)) for name in names]
    below = f"/app/{folder}"
    looks = (
        [listing("/app", *names)],
        children,
        [listing(below, "a", "b"), node(below, "a"), node(below, "b")],
    )

    assert [tracked(*looks[:count]).paths for count in (1, 2, 3)] == [(), (), ()]


def test_one_numbered_node_is_a_visitor_beside_many_named_ones() -> None:
    """A client that takes a lock on the folder itself ends none of the locks in it."""
    named = [f"orders-{number}" for number in range(200)]
    visited = tracked(in_folder(*named, zxid=10), in_folder(*named, NUMBERED, zxid=20))

    assert {*visited.paths} == {FOLDER, *(join(FOLDER, name) for name in named)}


@pytest.mark.parametrize("names", [["leader", "members"], ["master", "backup-masters"]])
def test_a_folder_that_was_read_while_it_was_empty_is_a_folder(names: list[str]) -> None:
    """Its Stat is older than the listing below it."""
    first = names[0]
    below = listing(f"/app/{first}", "a", "b", zxid=12)
    known = [listing("/app", *names), node("/app", first), below]

    assert tracked(known).paths == ()


@pytest.mark.parametrize(
    ("names", "folder"),
    [
        pytest.param(["leader", "members"], "leader", id="as those of Patroni"),
        pytest.param(["master", "backup-masters"], "master", id="as those of HBase"),
        pytest.param(["leases", "locks"], "locks", id="as those of a semaphore of Curator"),
    ],
)
def test_a_folder_that_was_empty_at_first_is_a_folder_once_it_has_children(
    names: list[str], folder: str
) -> None:
    """A live run finds what a run finds which begins now."""
    below = [listing(f"/app/{name}") for name in names]
    first = [listing("/app", *names), *(node("/app", name) for name in names), *below]
    later = [listing(f"/app/{folder}", "a", "b", zxid=20)]

    assert tracked(first).paths == ("/app",)
    assert tracked(first, later).paths == tracked([*first, *later]).paths == ()
    assert tracked(first, later, [listing(f"/app/{folder}", zxid=30)]).paths == ("/app",)


def test_an_election_whose_leader_is_gone_is_free() -> None:
    """Its other nodes may have children, as the members of a cluster."""
    first = [
        listing("/app", "leader", "members"),
        node("/app", "leader", owner=0x10),
        node("/app", "members", children=2),
        listing("/app/members", "a", "b"),
    ]

    assert tracked(first, [listing("/app", "members", zxid=20)]).paths == ("/app",)


def test_a_semaphore_without_locks_is_free_beside_a_folder_of_something_else() -> None:
    """ZooKeeper deletes an empty container."""
    names = ["leases", "locks", "other"]
    below = [listing("/app/leases"), listing("/app/locks"), listing("/app/other", "a")]
    first = [listing("/app", *names), *(node("/app", name) for name in names), *below]

    assert tracked(first, [listing("/app", "leases", "other", zxid=20)]).paths == ("/app",)
