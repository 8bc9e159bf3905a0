"""The watch a waiter has, next to the one it should have."""

import msgspec
import pytest
from model.make_facts import (
    NOW,
    ZK1,
    connections,
    figures,
    kazoo_name,
    no_watches,
    own,
    row,
    session,
    watches,
    world,
)
from model.plain_locks import lock_of, member
from model.semaphores import GATE, POOL, created, kazoo_pool

from zktop.model.facts import Children, Stat
from zktop.model.layouts.layout import Layout, WatchKind
from zktop.model.layouts.other_libraries import LONG, NAMED, PLAIN, SHORT
from zktop.model.locks.lock import Lock, Member, Target, absolute_path, relative_path
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.watch_check import POLL_MS, WatchCheck, WatchStatus
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import Ensemble

ALICE, BOB, CAROL = (
    member(name, place, 10 + place) for place, name in enumerate(["alice", "bob", "carol"])
)
LATER = 1_000


def at(one: Member) -> str:
    """The path of a contender of the lock."""
    return f"/orders/{one.node}"


def orders(*members: Member, pzxid: int = 12, **more: object) -> Lock:
    """The lock in which everything happens."""
    return lock_of("/orders", members or (ALICE, BOB, CAROL), Stat(1, 1, 0, pzxid=pzxid), **more)


def ensemble(rows: dict[str, tuple[str, ...]], zxid: int = 50) -> Ensemble:
    """A server with all three connected, and these watches."""
    names = ("alice", "bob", "carol", "dave", "zktop")
    tables = connections(ZK1, *map(row, names)), watches(ZK1, rows, zxid=zxid)
    return Ensemble.of(world(own(), *tables), NOW)


def verdict(rows: dict[str, tuple[str, ...]], one: Member = CAROL, zxid: int = 50) -> str:
    """The verdict on one waiter when the table has these rows."""
    return WatchCheck(orders(), ensemble(rows, zxid)).of(one).verdict


def test_a_holder_needs_no_watch() -> None:
    """Whatever else it watches."""
    assert WatchCheck(orders(), ensemble({"alice": (at(BOB),)})).of(ALICE) == WatchStatus(
        "none-needed", (), (at(BOB),)
    )


def test_expected_beside_actual() -> None:
    """Both in absolute paths; what the session watches elsewhere is left out."""
    found = WatchCheck(orders(), ensemble({"bob": (at(ALICE), "/stock/x")})).of(BOB)

    assert found == WatchStatus("confirmed", (Target(at(ALICE), "data"),), (at(ALICE),))


@pytest.mark.parametrize(
    ("watched", "expected"),
    [
        ((at(BOB),), "confirmed"),
        ((at(BOB), at(ALICE)), "confirmed"),
        ((at(ALICE),), "elsewhere"),
        ((at(CAROL),), "elsewhere"),
        (("/orders",), "elsewhere"),
        (("/orders/left",), "elsewhere"),
        (("/stock/x",), "missing"),
        ((), "missing"),
    ],
    ids=["right", "both", "wrong one", "itself", "the lock", "none", "other lock", "nothing"],
)
def test_verdict(watched: tuple[str, ...], expected: str) -> None:
    """Carol should watch bob."""
    assert verdict({"carol": watched}) == expected


def test_a_table_without_rows_for_a_session() -> None:
    """It is connected there and watches nothing at all."""
    assert verdict({}) == "missing"


def test_a_table_from_before_the_waiter_came() -> None:
    """It cannot know the waiter's watch."""
    assert verdict({}, zxid=CAROL.czxid - 1) == "unknown"
    assert verdict({}, zxid=CAROL.czxid) == "missing"


def test_a_watch_on_a_node_that_left_since() -> None:
    """The table may be older than the deletion; a newer one would have lost the watch."""
    lock = orders(pzxid=60)
    rows = {"carol": ("/orders/left",)}

    assert WatchCheck(lock, ensemble(rows, zxid=59)).of(CAROL).verdict == "unknown"
    assert WatchCheck(lock, ensemble(rows, zxid=60)).of(CAROL).verdict == "elsewhere"


def test_a_server_that_hides_its_watches() -> None:
    """A server that hides its watches makes its sessions unknown, not suspicious."""
    blind = Ensemble.of(world(connections(ZK1, row("bob")), no_watches(ZK1)), NOW)

    assert WatchCheck(orders(), blind).of(BOB) == WatchStatus(
        "unknown", (Target(at(ALICE), "data"),)
    )


def test_a_node_without_an_owner_is_unknown() -> None:
    """A persistent node belongs to no session."""
    lost = member("", 3, 13)

    assert WatchCheck(orders(ALICE, lost), ensemble({})).of(lost).verdict == "unknown"


@pytest.mark.parametrize("how", ["children", None])
def test_children_watches_and_polls_are_invisible(how: str | None) -> None:
    """No server table can show them, so nothing is missing."""
    assert WatchCheck(orders(how=how), ensemble({})).of(CAROL).verdict == "invisible"


GUESSES = (*SHORT, *LONG, *PLAIN, NAMED)
SLEEPING = {session("carol"): NOW - POLL_MS}


def all_kinds(*watched: str) -> Ensemble:
    """A server that lists child watches among the others; carol has these."""
    table = msgspec.structs.replace(watches(ZK1, {"carol": watched}, zxid=50), is_mixed=True)
    return Ensemble.of(world(connections(ZK1, row("carol")), figures(ZK1, watches=99), table), NOW)


@pytest.mark.parametrize(
    ("watched", "how", "expected"),
    [
        ((at(BOB),), "data", "confirmed"),
        ((at(BOB),), "children", "confirmed"),
        (("/orders",), "data", "invisible"),
        ((), "data", "missing"),
        ((), "children", "missing"),
    ],
)
def test_a_table_of_all_kinds_of_watches_shows_child_watches(
    watched: tuple[str, ...], how: WatchKind, expected: str
) -> None:
    """It does not say which they are: one on the lock's own znode may be woken by a child."""
    assert WatchCheck(orders(how=how), all_kinds(*watched)).of(CAROL).verdict == expected


def test_listed_child_watches_name_their_sessions() -> None:
    """A herd need not be inferred there."""
    lock = orders()

    assert WatchCheck(lock, all_kinds("/orders")).watches_children(CAROL.owner)
    assert not WatchCheck(lock, all_kinds(at(BOB))).watches_children(CAROL.owner)
    assert not WatchCheck(lock, ensemble({"carol": ("/orders",)})).watches_children(CAROL.owner)


def counted(
    count: int | None, rows: dict[str, tuple[str, ...]], version: str = "3.9.5"
) -> Ensemble:
    """A server that counts so many watches, and lists these."""
    tables = connections(ZK1, row("carol")), watches(ZK1, rows, zxid=50)
    found = [] if count is None else [figures(ZK1, version, watches=count)]
    return Ensemble.of(world(own(), *tables, *found), NOW)


def named(layout: str) -> tuple[Lock, Member]:
    """The lock, and carol as a contender of this layout."""
    carol = msgspec.structs.replace(CAROL, layout=layout)
    return orders(ALICE, BOB, carol), carol


@pytest.mark.parametrize("layout", [one.name for one in GUESSES])
def test_names_that_herds_write_too(layout: str) -> None:
    """Without a listed watch, such a waiter may be watching the children."""
    lock, carol = named(layout)
    blind, counting = counted(None, {}), counted(1, {})

    assert WatchCheck(lock, blind, SLEEPING).of(carol).verdict == "invisible"
    assert WatchCheck(lock, counting, SLEEPING).of(carol).verdict == "invisible"


def test_names_that_herds_write_too_on_a_server_without_child_watches() -> None:
    """It watches nothing, unless it polls: that is known when it has been silent for long."""
    lock, carol = named("plain-lock")
    asked = {session("carol"): NOW - POLL_MS + 1}

    assert WatchCheck(lock, counted(0, {}), SLEEPING).of(carol).verdict == "missing"
    assert WatchCheck(lock, counted(0, {}), asked).of(carol).verdict == "invisible"
    assert WatchCheck(lock, counted(0, {})).of(carol).verdict == "invisible"


@pytest.mark.parametrize(
    ("watched", "expected"),
    [
        ((at(BOB),), "confirmed"),
        ((at(ALICE),), "elsewhere"),
        (("/orders/left",), "elsewhere"),
        ((at(CAROL),), "invisible"),
        (("/orders",), "invisible"),
    ],
    ids=["right", "wrong one", "none", "itself", "the lock"],
)
def test_a_listed_watch_shows_how_a_client_waits(watched: tuple[str, ...], expected: str) -> None:
    """Only a watch on another node of the queue does; other watches are no evidence."""
    lock, carol = named("plain-lock")

    assert WatchCheck(lock, counted(7, {"carol": watched}), SLEEPING).of(carol).verdict == expected


@pytest.mark.parametrize(("count", "expected"), [(0, "missing"), (1, "invisible")])
def test_a_server_that_counts_more_watches_than_it_lists(count: int, expected: str) -> None:
    """The other watch may belong to any client, also one of kazoo's Lock."""
    assert WatchCheck(orders(), counted(count, {})).of(CAROL).verdict == expected


def test_a_client_of_an_invisible_watch_may_watch_the_children() -> None:
    """If its recipe does, or may; not if its watch is listed."""
    lock, carol = named("plain-lock")
    listed = counted(7, {"carol": (at(BOB),)})

    assert WatchCheck(orders(how="children"), ensemble({})).may_watch_children(CAROL)
    assert WatchCheck(lock, counted(7, {}), SLEEPING).may_watch_children(carol)
    assert not WatchCheck(lock, listed, SLEEPING).may_watch_children(carol)


def test_a_layout_of_the_users_says_how_its_clients_may_wait() -> None:
    """As a built-in layout does."""
    lock, carol = named("ours")
    herd = Layout(name="ours", pattern="^{SEQ}$", unlisted=("children",))
    chain = Layout(name="ours", pattern="^{SEQ}$")

    def judged(layout: Layout) -> str:
        return WatchCheck(lock, counted(None, {}), {}, (layout,)).of(carol).verdict

    assert (judged(herd), judged(chain)) == ("invisible", "missing")


def test_several_places_of_one_session() -> None:
    """One session waits twice: each place is judged by the union of what it should watch."""
    again = member("bob", 3, 13)
    lock = orders(ALICE, BOB, CAROL, again)
    only_first = WatchCheck(lock, ensemble({"bob": (at(ALICE),)}))
    both = WatchCheck(lock, ensemble({"bob": (at(ALICE), at(CAROL))}))
    astray = WatchCheck(lock, ensemble({"bob": (at(ALICE), at(BOB))}))

    assert [only_first.of(one).verdict for one in (BOB, again)] == ["confirmed", "missing"]
    assert [both.of(one).verdict for one in (BOB, again)] == ["confirmed", "confirmed"]
    assert [astray.of(one).verdict for one in (BOB, again)] == ["confirmed", "elsewhere"]


def edges(lock: Lock, rows: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """The watch graph, by labels."""
    found = WatchCheck(lock, ensemble(rows)).edges()
    return sorted((str(one.label), str(other.label)) for one, other in found)


def test_the_watch_graph() -> None:
    """Every watch among members, right or wrong; holders watch nothing here."""
    rows = {"alice": (at(BOB),), "bob": (at(CAROL),), "carol": (at(BOB), "/orders/left")}

    assert edges(orders(), rows) == [("bob", "carol"), ("carol", "bob")]


def test_the_watch_graph_of_a_session_with_two_places() -> None:
    """A watch that fits one place is that one's; another one belongs to the idle place."""
    again = member("bob", 3, 13)
    lock = orders(ALICE, BOB, CAROL, again)
    found = WatchCheck(lock, ensemble({"bob": (at(ALICE), at(again))})).edges()

    assert sorted((one.sequence, other.sequence) for one, other in found) == [(1, 0), (3, 3)]


def test_bystanders() -> None:
    """Sessions that watch a member and have no node of their own; never zktop itself."""
    rows = {"bob": (at(ALICE),), "dave": (at(ALICE),), "zktop": (at(ALICE),)}
    lookout = WatchCheck(orders(), ensemble(rows))

    assert lookout.watchers(ALICE) == {session("bob"), session("dave")}
    assert lookout.bystanders(ALICE) == {session("dave")}


def test_the_crowd_before_a_single_node() -> None:
    """Its waiters are known by their watch alone; the holder's own watch is no wait."""
    held = member("alice", 0, 10, node=".")
    rows = {
        "alice": ("/orders",),
        "bob": ("/orders",),
        "dave": ("/orders",),
        "zktop": ("/orders",),
    }
    crowd = WatchCheck(orders(held, kind="single"), ensemble(rows)).watchers_waiting

    assert set(crowd) == {session("bob"), session("dave")}
    assert WatchCheck(orders(), ensemble(rows)).watchers_waiting == ()


def test_nodes_below_and_beside_the_lock() -> None:
    """A semaphore's queue may lie in a sibling, its leases in a sub-node."""
    first = member("alice", 0, 10, node="../sem-__lock__/a-0000000000")
    second = member("bob", 1, 11, node="../sem-__lock__/b-0000000001")
    lock = lock_of("/sem", [first, second], Stat(1, 1, 0, pzxid=5))
    rows = {"bob": ("/sem-__lock__/a-0000000000",)}
    wrong = {"bob": ("/sem-__lock__/b-0000000001",)}

    assert WatchCheck(lock, ensemble(rows)).of(second).verdict == "confirmed"
    assert WatchCheck(lock, ensemble(wrong)).of(second).verdict == "elsewhere"


@pytest.mark.parametrize(("zxid", "expected"), [(129, "unknown"), (130, "elsewhere")])
def test_a_watch_on_a_node_that_left_the_gate_of_a_semaphore(zxid: int, expected: str) -> None:
    """A change of the gate changes no Stat of the semaphore itself."""
    names = [kazoo_name(who, number) for number, who in enumerate(("ann", "bob", "cem"))]
    gate = Stat(50, 50, 0, pzxid=130)
    listed = Children(path=Text(GATE), names=(names[0], names[2]), stat=gate, zxid=131, at=NOW)
    queued = created(f"{GATE}/{names[0]}", "ann", 100), created(f"{GATE}/{names[2]}", "cem", 102)
    table = watches(ZK1, {"cem": (f"{GATE}/{names[1]}",)}, zxid=zxid)
    known = world(own(), *kazoo_pool(leases=1), listed, *queued, table)
    lock = lock_at(Text(POOL), known, Settings(), NOW)

    assert isinstance(lock, Lock)
    cem = lock.member(f"../pool-__lock__/{names[2]}")
    assert WatchCheck(lock, Ensemble.of(known, NOW)).of(cem).verdict == expected


@pytest.mark.parametrize(
    ("lock", "node"),
    [
        ("/a/b", "."),
        ("/a/b", "x"),
        ("/a/b", "leases/x"),
        ("/a/b", "../b-__lock__/x"),
        ("/a", "../c/x"),
        ("/", "x"),
        ("/a/b", "../../x"),
    ],
)
def test_relative_undoes_absolute(lock: str, node: str) -> None:
    """The name of a node and its path in a table lead to each other."""
    assert relative_path(lock, absolute_path(lock, node)) == node
