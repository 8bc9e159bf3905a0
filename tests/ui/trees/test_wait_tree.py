"""Who waits for whom as a tree, from the root blocker to the last waiter."""

import pytest
from model.findings.cases import ZXID, At, connected, curator, facts, k, watching
from model.make_facts import NOW, session
from msgspec.structs import replace
from ui.example_ensemble import trouble
from ui.example_queues import STOCK, looked, plain, queue, ring_of, two_queues
from ui.fake_feed import frames

from zktop.model.actors import session_of
from zktop.model.facts import AnyFact, Gone, Stat
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.trees.wait_tree import (
    MAX_TOPS,
    TreeClient,
    TreeLock,
    WaitTree,
    node_of,
    overview,
    tree_of,
)
from zktop.ui.view_state import Selection

A, B = "/locks/a", "/locks/b"


def chain(crowd: int = 0) -> Report:
    """Ann holds a; bob holds b and waits for a; cid and a crowd wait for b."""
    late = [k(f"late-{one}", 10 + one, czxid=200 + one) for one in range(crowd)]
    return looked(
        facts(k("ann", 1), k("bob", 2, czxid=120), path=A),
        facts(k("bob", 1, czxid=110), k("cid", 2, czxid=130), *late, path=B),
    )[-1].report


def outline(item: TreeClient | TreeLock) -> list[object]:
    """Names and paths, each with what is below it."""
    if isinstance(item, TreeLock):
        return [item.path, *map(outline, item.clients)]
    return [item.name, *map(outline, item.locks)]


def tops(tree: WaitTree | None) -> list[list[object]]:
    """The outline of a tree."""
    assert tree is not None
    return [outline(one) for one in tree.tops]


WHOLE = [["ann", [A, ["bob", [B, ["cid"]]]]]]


def test_a_session_is_shown_below_the_root_of_its_waiting() -> None:
    """With those that wait for it."""
    for name in ("ann", "bob", "cid"):
        assert tops(tree_of(chain(), Selection(session=session(name)))) == WHOLE


def test_a_lock_is_shown_below_the_client_that_blocks_it() -> None:
    """Its holder may wait itself."""
    for path in (A, B):
        assert tops(tree_of(chain(), Selection(path=path))) == WHOLE


def test_a_holder_that_waits_by_its_watch_alone_waits() -> None:
    """Only the watch table shows it."""
    single = facts(path=B, stat=Stat(50, 50, NOW, owner=session("bob")))
    tables = (connected("ann", "bob"), watching({"ann": [B], "bob": ["/other"]}))
    report = looked(facts(k("ann", 1), path=A), [*single, *tables])[-1].report
    tree = tree_of(report, Selection(session=session("ann")))
    assert tree is not None
    (ann,) = tree.tops
    assert isinstance(ann, TreeClient)

    assert (ann.kind, ann.also_waits_for) == ("waits", (B,))


def test_the_selected_item_is_marked() -> None:
    """It has one mark."""
    tree = tree_of(chain(), Selection(session=session("cid")))
    assert tree is not None
    (ann,) = tree.tops
    assert isinstance(ann, TreeClient)
    bob = ann.locks[0].clients[0]
    cid = bob.locks[0].clients[0]

    assert [one.is_selected for one in (ann, bob, cid)] == [False, False, True]


def test_a_selected_waiter_is_shown_in_a_long_queue() -> None:
    """The first of the others are listed, and the rest are counted."""
    tree = tree_of(chain(crowd=40), Selection(session=session("late-33")))
    assert tree is not None
    (ann,) = tree.tops
    assert isinstance(ann, TreeClient)
    (lock,) = ann.locks[0].clients[0].locks
    names = [client.name for client in lock.clients]

    assert (names[0], names[-1], len(names)) == ("cid", "late-33", 13)
    assert (lock.waiting, lock.hidden, lock.names) == (41, 28, "late-* 28")


def test_on_a_long_way_up_other_waiters_are_only_counted() -> None:
    """The way itself is complete, and so is what is below the selected client."""
    known: list[AnyFact] = []
    for at in range(20):
        waits = [k(f"c{at - 1}", 2, czxid=500 + at)] if at else []
        crowd = [k(f"w{at}-{one}", 3 + one, czxid=900 + at) for one in range(5)]
        known += facts(k(f"c{at}", 1, czxid=10 + at), *waits, *crowd, path=f"/locks/{at:02}")
    tree = tree_of(looked(known)[-1].report, Selection(session=session("c0")))
    (top,) = tops(tree)
    depth, at = 0, top
    while isinstance(at, list) and len(at) > 1 and isinstance(at[1], list) and len(at[1]) == 2:
        depth, at = depth + 1, at[1][1]

    assert top[0] == "c19"
    assert depth == 19
    assert at == ["c0", ["/locks/00", *([f"w0-{one}"] for one in range(5))]]


def test_a_ring_is_cut_where_it_closes() -> None:
    """The deadlock is the root; each of its clients refers to itself."""
    report = looked(ring_of("ann", "bob", behind=1))[-1].report
    tree = tree_of(report, Selection(session=session("ann")))
    assert tree is not None
    assert tree.deadlock is not None
    ann, bob = sorted(one for one in tree.tops if isinstance(one, TreeClient))
    (back, late) = ann.locks[0].clients

    assert (ann.name, bob.name) == ("ann", "bob")
    assert (back.kind, back.name, back.elsewhere) == ("again", "bob", "part of the deadlock")
    assert (late.kind, late.name) == ("waits", "late-0-0")


def test_waiters_behind_a_deadlock_are_shown_below_it() -> None:
    """That is so for a waiter, for a lock of the deadlock, and for the deadlock."""
    report = looked(ring_of("ann", "bob", behind=1))[-1].report
    (dead,) = report.deadlocks
    places = (
        Selection(session=session("late-0-0")),
        Selection(path="/locks/l1"),
        Selection(case=dead.id),
    )

    for place in places:
        tree = tree_of(report, place)
        assert tree is not None
        assert tree.deadlock is dead
        assert len(tree.tops) == 2


def test_a_node_without_an_owner_is_a_root() -> None:
    """It blocks others like any holder."""
    report = trouble()[-1].report
    orphan = next(finding for finding in report.findings if finding.rule == "B1")
    tree = tree_of(report, Selection(case=orphan.id))
    assert tree is not None
    (top,) = tree.tops

    assert isinstance(top, TreeClient)
    assert (top.kind, top.session, top.name) == ("by-name", None, "zed")
    assert top.locks[0].waiting


def test_a_free_lock_stands_alone() -> None:
    """A held lock without waiters is below its holder."""
    left = Gone(path=Text(f"{A}/{k('ann', 1).name}"), zxid=ZXID + 1, at=NOW + 1)
    held, free = (
        one.report for one in frames((NOW, facts(k("ann", 1), path=A)), (NOW + 1, [left]))
    )

    assert tops(tree_of(free, Selection(path=A))) == [[A]]
    assert tops(tree_of(held, Selection(path=A))) == [["ann", [A]]]


def test_a_lock_that_is_not_in_the_report_has_no_tree() -> None:
    """A lock that was deleted, or a session that expired."""
    report = chain()

    assert tree_of(report, Selection(path="/locks/gone")) is None
    assert tree_of(report, Selection(session=session("gone"))) is None
    assert tree_of(report, Selection()) is None


def test_the_top_of_a_tree_has_a_limit() -> None:
    """A knot of thousands would take seconds; the selected client is shown in any case."""
    report = looked(ring_of(*(f"c{at:02}" for at in range(MAX_TOPS + 5))))[-1].report
    (dead,) = report.deadlocks
    last = session_of(dead.actors[-1])
    whole = tree_of(report, Selection(case=dead.id))
    around = tree_of(report, Selection(session=last))
    (blocking,) = overview(report)

    for tree in (whole, around, blocking):
        assert tree is not None
        assert (len(tree.tops), tree.hidden) == (MAX_TOPS, 5)
    assert around is not None
    assert any(isinstance(top, TreeClient) and top.session == last for top in around.tops)


def test_a_deadlock_shows_its_clients_without_a_session_too() -> None:
    """They are among those that wait for each other."""
    report = looked(ring_of("ann", "bob"))[-1].report
    (dead,) = report.deadlocks
    mixed = replace(dead, actors=(*dead.actors, "owner:zed"))
    tree = tree_of(replace(report, deadlocks=(mixed,)), Selection(case=dead.id))
    assert tree is not None

    assert sorted((top.kind, top.name) for top in tree.tops if isinstance(top, TreeClient)) == [
        ("by-name", "zed"),
        ("stuck", "ann"),
        ("stuck", "bob"),
    ]


def test_what_blocks_a_waiter_may_be_no_holder() -> None:
    """A foreign child without an owner is at the top, and its lock below it."""
    config = At("00-config", "", czxid=50)
    report = looked(facts(config, curator("bob", 1), path=A))[-1].report
    tree = tree_of(report, Selection(session=session("bob")))

    assert tops(tree) == [["00-config in /locks/a", [A, ["bob"]]]]


def test_a_foreign_child_of_a_client_is_not_shown_as_a_holder() -> None:
    """The lock stands alone, with its waiters."""
    config = At("00-config", "zed", czxid=50)
    report = looked(facts(config, curator("bob", 1), path=A))[-1].report

    assert tops(tree_of(report, Selection(session=session("bob")))) == [[A, ["bob"]]]


def test_a_waiter_that_nobody_blocks_is_shown_in_its_lock() -> None:
    """For example the stranded node of a client that failed."""
    gopher = At(f"_c_{'a' * 32}-lock-0000000001", "gopher")
    heron = At(f"_c_{'b' * 32}-lock-0000000002", "heron")
    report = looked(facts(At("config", "", czxid=50), gopher, heron, path=A))[-1].report

    assert tops(tree_of(report, Selection(session=session("heron")))) == [
        [A, ["gopher"], ["heron"]]
    ]


def test_a_client_with_two_places_in_one_lock_is_listed_above() -> None:
    """It does not refer to the lock that it is in."""
    report = looked(facts(k("ann", 1), k("bob", 2), k("bob", 3), path=A))[-1].report
    tree = tree_of(report, Selection(path=A))
    assert tree is not None
    (ann,) = tree.tops
    assert isinstance(ann, TreeClient)

    assert [one.elsewhere for one in ann.locks[0].clients] == ["", "listed above"]


@pytest.mark.parametrize("node", ["x", "leases/x", "../a-__lock__/x"])
def test_the_node_of_an_actor_may_be_in_a_folder_of_its_lock(node: str) -> None:
    """As in a semaphore, or a read-write lock that has a folder beside it."""
    assert node_of(f"nobody:{A}/{node}", chain()) == (A, node)


def test_readers_that_share_a_lock_are_named_after_it() -> None:
    """The waiters stand below one of them."""
    report = looked(facts(*queue("RRW")))[-1].report
    tree = tree_of(report, Selection(session=session("r1")))
    assert tree is not None
    (top,) = tree.tops
    assert isinstance(top, TreeClient)

    assert top.name == "r1"
    assert top.locks[0].co_holders == ("r0",)
    assert [client.name for client in top.locks[0].clients] == ["w2"]


def test_the_overview_shows_only_waiters_that_block_others() -> None:
    """The others are only counted."""
    (tree,) = overview(chain(crowd=3))

    assert tops(tree) == [["ann", [A, ["bob", [B]]]]]
    assert tree.blocker is not None
    assert tree.blocker.blocked == 5


def test_separate_queues_in_one_folder_have_trees_of_their_own() -> None:
    """Nobody in one of them waits for another."""
    report = two_queues()
    ann, xen = ["ann", [STOCK, ["bob"]]], ["xen", [STOCK, ["yve"]]]

    assert tops(tree_of(report, Selection(session=session("ann")))) == [ann]
    assert tops(tree_of(report, Selection(session=session("yve")))) == [xen]
    assert tops(tree_of(report, Selection(path=STOCK))) == [ann, xen]


def folder_of_queues(many: int, first_with_waiter: int) -> Report:
    """A folder of separate queues, the last of them with a waiter."""
    members = []
    for number in range(many):
        prefix = "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "-"
        owners = [f"h{number}", *([f"w{number}"] if number >= first_with_waiter else [])]
        members += [plain(one, len(members) + at, prefix) for at, one in enumerate(owners)]
    roots = Root(path=STOCK, layout="named-sequence"), Root(path="/locks/*")
    return looked(facts(*members, path=STOCK), settings=Settings(roots=roots))[-1].report


def test_of_many_separate_queues_those_with_waiters_are_shown() -> None:
    """Nobody waits for the holders of the others."""
    tree = tree_of(folder_of_queues(45, 43), Selection(path=STOCK))

    assert tops(tree) == [["h43", [STOCK, ["w43"]]], ["h44", [STOCK, ["w44"]]]]
    assert tree is not None
    assert tree.hidden == 0


@pytest.mark.parametrize("first_with_waiter", [0, 43])
def test_holders_of_further_separate_queues_are_counted(first_with_waiter: int) -> None:
    """At most MAX_TOPS are shown."""
    tree = tree_of(folder_of_queues(43, first_with_waiter), Selection(path=STOCK))
    assert tree is not None

    assert (len(tree.tops), tree.hidden) == (MAX_TOPS, 3)
