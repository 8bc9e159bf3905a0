"""Lock orders are learned from what really happens, through the examiner."""

from collections.abc import Sequence

import pytest
from model.make_facts import NOW, ZK1, connections, kazoo_name, row, session, timeouts
from model.semaphores import (
    ANN_CURATOR_LEASE,
    CURATOR_GATE,
    CURATOR_LEASES,
    POOL,
    created,
    folder,
    gone,
)
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, join
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.lock_order import Restarts
from zktop.model.world.world import World

ORDERS, STOCK = Text("/locks/orders"), Text("/locks/stock")
Look = tuple[int, Sequence[AnyFact]]  # when, and what is new


def taken(
    path: Text, owner: str, number: int, zxid: int, born: int = 1, first: str | None = None
) -> list[AnyFact]:
    """An actor in a lock, alone or behind another one."""
    name = kazoo_name(owner, number)
    names = (name,) if first is None else (kazoo_name(first, 0), name)
    root = Stat(born, born, 0, cversion=number + 1, num_children=len(names), pzxid=zxid)
    stat = Stat(zxid, zxid, NOW + zxid, owner=session(owner))
    return [
        Children(path=path, names=names, stat=root, zxid=zxid, at=NOW + zxid),
        Node(path=join(path, name), stat=stat, data=owner.encode(), zxid=zxid, at=NOW + zxid),
    ]


def released(owner: str, zxid: int) -> list[AnyFact]:
    """And gives both back."""
    paths = (join(path, kazoo_name(owner, 0)) for path in (ORDERS, STOCK))
    return [Gone(path=path, zxid=zxid, at=NOW + zxid) for path in paths]


def played(*looks: Look) -> Report:
    """The report some seconds after these facts, with a look at each time."""
    examiner, world = Examiner(), World()
    for at, facts in looks:
        world = world.after(*facts)
        examiner.look(world, NOW + at)
    return examiner.look(world, NOW + looks[-1][0] + 6_000)


def in_two_orders(born: int = 1) -> Report:
    """Ann takes orders first, and bob takes stock first, some seconds later."""
    return played(
        (100, taken(ORDERS, "ann", 0, 100)),
        (200, taken(STOCK, "ann", 0, 200)),
        (1_000, released("ann", 1_000)),
        (6_000, taken(STOCK, "bob", 1, 6_000, born)),
        (6_100, taken(ORDERS, "bob", 1, 6_100, born)),
    )


def test_an_unchanged_story_is_the_same_object() -> None:
    """Reports are kept by the hundreds, and few of them learn anything new."""
    examiner, world = Examiner(), World()
    facts = [*taken(ORDERS, "ann", 0, 100), *taken(STOCK, "ann", 0, 200)]
    crossed = [*taken(STOCK, "bob", 1, 6_000), *taken(ORDERS, "bob", 1, 6_100)]
    for at, found in ((200, facts), (1_000, released("ann", 1_000)), (6_100, crossed)):
        world = world.after(*found)
        examiner.look(world, NOW + at)
    first, second = (examiner.look(world, NOW + at).inversions for at in (12_000, 12_500))

    assert first
    assert first[0] is second[0]


def test_two_orders_of_the_same_locks_are_a_deadlock_to_come() -> None:
    """No actor ever waited, and yet both orders are known, with the names of the actors."""
    (found,) = in_two_orders().inversions

    assert found.rule == "D9"
    assert found.sentence == (
        "Potential deadlock: bob asked for /locks/orders while holding /locks/stock; "
        "ann asked for /locks/stock while holding /locks/orders; "
        "if these overlap, none can continue."
    )


def test_it_is_known_by_how_much_a_semaphore_missed_a_deadlock() -> None:
    """Its leases are in a folder of their own; that of the semaphore was listed long before."""
    examiner, world = Examiner(Settings(roots=(Root(POOL, leases=1), Root(STOCK)))), World()
    pool = (*folder(POOL, "leases", "locks"), *folder(CURATOR_GATE), *folder(CURATOR_LEASES))
    for at, facts in (
        (0, pool),
        (100_100, taken(STOCK, "ann", 0, 100_100)),
        (100_200, [created(ANN_CURATOR_LEASE, "ann", 100_200)]),
        (100_300, [gone(ANN_CURATOR_LEASE, 100_300)]),
        (100_400, released("ann", 100_400)[1:]),
        (100_500, [created(ANN_CURATOR_LEASE.replace("1", "2"), "bob", 100_500)]),
        (100_600, taken(STOCK, "bob", 1, 100_600)),
    ):
        world = world.after(*facts)
        examiner.look(world, NOW + at)
    (found,) = examiner.look(world, NOW + 110_000).inversions

    assert found.missed_by_ms == 300


GATE = Text("/locks/a-gate")
CROSSED = (
    *taken(ORDERS, "ann", 0, 100),
    *taken(STOCK, "bob", 0, 200),
    *taken(STOCK, "ann", 1, 300, first="bob"),
    *taken(ORDERS, "bob", 1, 400, first="ann"),
)


def nested(owner: str, number: int, at: int, *, first: Text = ORDERS, born: int = 1) -> list[Look]:
    """An actor takes both locks, one after the other, and gives both back a second later."""
    second = STOCK if first is ORDERS else ORDERS
    paths = [join(path, kazoo_name(owner, number)) for path in (first, second)]
    return [
        (at, taken(first, owner, number, at, born)),
        (at + 100, taken(second, owner, number, at + 100, born)),
        (at + 1_000, [Gone(path=path, zxid=at + 1_000, at=NOW + at + 1_000) for path in paths]),
    ]


def test_readers_that_come_and_go_do_not_repeat_an_acquisition() -> None:
    """The mode of a writer changes with them; it still took the locks once."""
    rita = join(STOCK, kazoo_name("rita", 1, "rlock"))
    stat = Stat(300, 300, NOW + 300, owner=session("rita"))
    visits: list[Look] = []
    for at in (300, 400, 500):
        visits.append((at, [Node(path=rita, stat=stat, data=b"", zxid=at, at=NOW + at)]))
        visits.append((at + 50, [Gone(path=rita, zxid=at + 50, at=NOW + at + 50)]))
    taking, and_then, giving_back = nested("ann", 0, 100)
    bob = nested("bob", 2, 6_000, first=STOCK)
    (made,) = played(taking, and_then, *visits, giving_back, *bob).inversions

    assert (made.seen, made.odd_one_out) == ((1, 1), ())


def test_roots_that_were_made_anew_are_no_other_deadlock_to_come() -> None:
    """Curator's roots vanish whenever they are empty, and both orders occur in each life."""
    looks: list[Look] = []
    for born in (50_000, 100_000, 150_000):
        looks += nested("ann", 0, born + 100, born=born)
        looks += nested("bob", 1, born + 5_000, first=STOCK, born=born)
        gone = [
            Gone(path=path, zxid=born + 9_000, at=NOW + born + 9_000) for path in (ORDERS, STOCK)
        ]
        looks.append((born + 9_000, gone))

    assert len(played(*looks).inversions) == 1


def test_a_deadlock_to_come_has_the_times_of_the_newest_life_of_the_roots() -> None:
    """Those of the earlier one are outdated."""
    looks: list[Look] = []
    for born in (50_000, 100_000):
        looks += nested("ann", 0, born + 100, born=born)
        looks += nested("bob", 1, born + 5_000, first=STOCK, born=born)
        gone = [
            Gone(path=path, zxid=born + 9_000, at=NOW + born + 9_000) for path in (ORDERS, STOCK)
        ]
        looks.append((born + 9_000, gone))
    (made,) = played(*looks).inversions

    assert min(made.last_ms) > NOW + 100_000


def test_the_closest_call_is_the_closest_so_far() -> None:
    """They missed each other by 200 ms once, and by an hour the next time."""
    ann, bob = nested("ann", 0, 1_000), nested("bob", 1, 2_200, first=STOCK)
    later = nested("bob", 2, 3_600_000, first=STOCK)
    (made,) = played(*ann, *bob, *later).inversions

    assert made.missed_by_ms is not None
    assert made.missed_by_ms < 1_000


def test_each_client_is_counted_by_itself() -> None:
    """Ann took the locks once, though six others did so after her."""
    looks = [*nested("ann", 0, 1_000), *nested("bob", 1, 3_000, first=STOCK)]
    for number in range(2, 8):
        looks += nested(f"w{number}", number, 10_000 * number)
    (made,) = played(*looks).inversions

    assert made.seen == (1, 1)
    assert made.majority.endswith("(7 of 8 times)")


def without_the_waiters(world: World, at: int) -> World:
    """Both gave up what they waited for: no deadlock is left."""
    waits = (join(ORDERS, kazoo_name("bob", 1)), join(STOCK, kazoo_name("ann", 1)))
    return world.after(*(Gone(path=path, zxid=at, at=NOW + at) for path in waits))


def test_two_orders_that_were_there_before_the_first_look_are_learned() -> None:
    """Each asked for its second lock before the first look; the nodes show the order."""
    examiner, world = Examiner(), World().after(*CROSSED)
    examiner.look(world, NOW + 5_000)

    after = examiner.look(without_the_waiters(world, 6_000), NOW + 6_000)

    assert [inversion.rule for inversion in after.inversions] == ["D9"]
    assert {turn.lock for inversion in after.inversions for turn in inversion.turns} == {
        ORDERS,
        STOCK,
    }


@pytest.mark.parametrize("gate", [GATE, Text("/locks/z-gate")])
def test_a_gate_that_was_there_before_the_first_look_keeps_them_apart(gate: Text) -> None:
    """Wherever its name stands among the others, and also when it is found later than they."""
    inside = (*taken(gate, "ann", 0, 50), *taken(gate, "bob", 1, 60, first="ann"))
    for first, then in (((*CROSSED, *inside), ()), (CROSSED, inside)):
        examiner, world = Examiner(), World().after(*first)
        examiner.look(world, NOW + 5_000)
        world = world.after(*then)
        examiner.look(world, NOW + 5_500)
        after = examiner.look(without_the_waiters(world, 6_000), NOW + 6_000)

        assert after.inversions == ()


def test_a_lock_that_was_given_back_between_two_looks_is_not_held_for_the_next_one() -> None:
    """Its end and the next beginning come in one look, whichever lock is read first."""
    examiner, world = Examiner(), World()
    for at, facts in (
        (100, taken(STOCK, "ann", 0, 100)),
        (900, [*taken(ORDERS, "ann", 0, 900), *released("ann", 800)[1:]]),
        (2_000, released("ann", 2_000)[:1]),
        (6_000, taken(ORDERS, "bob", 1, 6_000)),
        (6_100, taken(STOCK, "bob", 1, 6_100)),
    ):
        world = world.after(*facts)
        report = examiner.look(world, NOW + at)

    assert report.inversions == ()


def test_locks_that_were_made_anew_meanwhile_are_others() -> None:
    """What was done to locks of the same names before says nothing about these."""
    assert in_two_orders(born=5_000).inversions == ()


def test_a_deadlock_that_is_there_is_not_called_one_to_come() -> None:
    """The ring tells it already; when it is over the two orders are still worth a word."""
    examiner, world = Examiner(), World()
    for zxid, facts in (
        (100, taken(ORDERS, "ann", 0, 100)),
        (200, taken(STOCK, "bob", 0, 200)),
        (300, taken(STOCK, "ann", 1, 300, first="bob")),
        (400, taken(ORDERS, "bob", 1, 400, first="ann")),
    ):
        world = world.after(*facts)
        examiner.look(world, NOW + zxid)
    again = replace(taken(STOCK, "ann", 1, 300, first="bob")[0], zxid=500, at=NOW + 500)
    world = world.after(again)
    during = examiner.look(world, NOW + 5_000)
    gone = Gone(path=join(ORDERS, kazoo_name("bob", 1)), zxid=900, at=NOW + 6_000)
    after = examiner.look(world.after(gone), NOW + 6_000)

    assert [deadlock.rule for deadlock in during.deadlocks] == ["D1"]
    assert during.inversions == ()
    assert [inversion.rule for inversion in after.inversions] == ["D9"]


@pytest.mark.parametrize(
    ("sessions", "connected", "is_found"),
    [
        pytest.param(["new"], 5_000, False, id="the first session is over"),
        pytest.param(["old", "new"], 5_000, True, id="both live"),
        pytest.param(["new"], 50, True, id="both lived at one time"),
    ],
)
def test_a_restarted_client_that_takes_its_locks_in_another_order_is_no_second_actor(
    sessions: list[str], connected: int, *, is_found: bool
) -> None:
    """The first session is over, and the second began after it: they never meet."""
    assert bool(_one_after_another(sessions, connected).inversions) is is_found


def _one_after_another(sessions: list[str], connected: int) -> Report:
    """Two actors with one label and two orders; these sessions are left after the first order."""
    at = NOW + 6_000
    lists = replace(timeouts(ZK1, dict.fromkeys(sessions, 10_000), at=at), zxid=6_000)
    table = connections(ZK1, row("new", established=NOW + connected), at=at, zxid=6_000)
    looks = [*nested("old", 0, 100), (6_000, [lists, table])]
    looks += [*nested("new", 2, 6_000, first=STOCK)]
    renamed = [
        (at, [replace(f, data=b"worker") if isinstance(f, Node) else f for f in found])
        for at, found in looks
    ]
    return played(*renamed)


def test_an_actor_keeps_its_identity() -> None:
    """Even if another one with its label comes and goes; otherwise it would be two actors."""
    restarts = Restarts()
    found = [
        restarts.identity(actor, "worker", at, lambda earlier, _: earlier != "b")
        for at, actor in enumerate(("a", "b", "c", "b", "a"))
    ]

    assert found == ["a", "a", "c", "a", "a"]


@pytest.mark.parametrize(("ahead_ms", "is_found"), [(0, False), (300, False), (10_000, True)])
def test_a_try_that_gives_up_at_once_wants_no_lock(ahead_ms: int, *, is_found: bool) -> None:
    """Bob holds stock and tries orders; ann takes both, orders first.

    If the leader's clock is far ahead, nothing shows that he gave up at once.
    """
    taking, *_ = nested("ann", 0, 100)
    listed, tried = taken(ORDERS, "bob", 1, 350, first="ann")
    tried = replace(tried, stat=replace(tried.stat, ctime=tried.stat.ctime + ahead_ms))
    left = Gone(path=join(ORDERS, kazoo_name("bob", 1)), zxid=360, at=NOW + 360)
    looks = taking, (300, taken(STOCK, "bob", 0, 300)), (350, [listed, tried]), (360, [left])
    free = Gone(path=join(STOCK, kazoo_name("bob", 0)), zxid=370, at=NOW + 370)
    late = (2_000, taken(STOCK, "ann", 1, 2_000))

    assert bool(played(*looks, (370, [free]), late).inversions) is is_found
