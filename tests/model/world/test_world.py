"""The world: any order, any repetition of facts gives the same world."""

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import as_sibling

from zktop.model.facts import (
    AnyFact,
    Children,
    Complete,
    Denied,
    Gone,
    Link,
    Node,
    NodeBatch,
    OwnerNames,
    Server,
    Stat,
    Watches,
    ZnodeFact,
    join,
)
from zktop.model.text import Text
from zktop.model.world.world import World, facts_between, facts_of

ROOT = Text("/p")
TOP = Text("/")


def stat(czxid: int) -> Stat:
    """A Stat of a znode created by that transaction."""
    return Stat(czxid, czxid, 0)


def events(chance: random.Random, steps: int) -> Iterator[tuple[int, dict[str, int], ZnodeFact]]:
    """A true history of a root and its children: each step's zxid, truth, and deletion or birth.

    The truth maps names to the zxid that created them; the root itself goes by its path.
    """
    truth: dict[str, int] = {}
    for zxid in range(10, 10 + steps):
        children = [name for name in truth if name != ROOT]
        if ROOT not in truth:
            truth[ROOT] = zxid
            yield zxid, truth, Node(path=ROOT, zxid=zxid, at=zxid)
        elif not children and chance.random() < 0.4:
            del truth[ROOT]
            yield zxid, truth, Gone(path=ROOT, zxid=zxid, at=zxid)
        elif children and chance.random() < 0.5:
            name = chance.choice(children)
            del truth[name]
            yield zxid, truth, Gone(path=join(ROOT, name), zxid=zxid, at=zxid)
        elif len(children) < 3:
            name = chance.choice([name for name in "abcd" if name not in truth])
            truth[name] = zxid
            yield zxid, truth, Node(path=join(ROOT, name), zxid=zxid, at=zxid)


def heard(chance: random.Random, steps: int) -> list[ZnodeFact]:
    """Facts that a client might have read during such a history: some of all."""
    facts: list[ZnodeFact] = []
    for zxid, truth, event in events(chance, steps):
        names = tuple(Text(name) for name in truth if name != ROOT)
        if chance.random() < 0.6:
            facts.append(event)
        if chance.random() < 0.2:
            top = (Text("p"),) if ROOT in truth else ()
            facts.append(Children(path=TOP, names=top, stat=stat(0), zxid=zxid, at=zxid))
        if ROOT in truth and chance.random() < 0.4:
            facts.append(
                Children(path=ROOT, names=names, stat=stat(truth[ROOT]), zxid=zxid, at=zxid)
            )
        if ROOT in truth and chance.random() < 0.2:
            facts.append(Node(path=ROOT, stat=stat(truth[ROOT]), data=b"", zxid=zxid, at=zxid))
        facts += [
            Node(path=join(ROOT, name), stat=stat(truth[name]), data=b"x", zxid=zxid, at=zxid)
            for name in names
            if chance.random() < 0.3
        ]
    return facts


@given(st.randoms(use_true_random=False), st.integers(1, 16))
def test_order_and_repetition_change_nothing(chance: random.Random, steps: int) -> None:
    """Late facts, early facts, facts twice, one at a time or all at once: the same world."""
    facts = heard(chance, steps)
    shuffled = facts + chance.choices(facts, k=2) if facts else []
    chance.shuffle(shuffled)
    one_by_one = World()
    for fact in shuffled:
        one_by_one = one_by_one.after(fact)
    at_once = World().after(*facts)

    for path in (TOP, ROOT):
        assert one_by_one.family(path) == at_once.family(path)
    assert (one_by_one.zxid, one_by_one.at) == (at_once.zxid, at_once.at)


@given(st.randoms(use_true_random=False), st.integers(1, 16))
def test_a_batch_of_siblings_equals_its_nodes(chance: random.Random, steps: int) -> None:
    """The facts below a znode that is created again are dropped just as early."""
    facts = heard(chance, steps)
    chance.shuffle(facts)
    one_by_one, at_once = World(), World()
    for fact in facts:
        one_by_one, at_once = one_by_one.after(fact), at_once.after(as_sibling(fact))

        assert dict(at_once.families) == dict(one_by_one.families)


@given(st.randoms(use_true_random=False), st.integers(1, 16))
def test_a_full_reading_is_the_truth(chance: random.Random, steps: int) -> None:
    """After a listing and a read of each child, the world is that of the ensemble."""
    facts = heard(chance, steps)
    zxid, truth, _ = list(events(random.Random(steps), steps))[-1]
    zxid += 100  # a reading made later than anything heard before
    children = {name: born + 100 for name, born in truth.items() if name != ROOT}
    reading: list[ZnodeFact] = [
        Children(path=ROOT, names=tuple(map(Text, children)), stat=stat(1), zxid=zxid, at=zxid)
    ]
    reading += [
        Node(path=join(ROOT, name), stat=stat(born), data=b"", zxid=zxid, at=zxid)
        for name, born in children.items()
    ]
    chance.shuffle(reading)
    family = World().after(*facts, Node(path=ROOT, zxid=zxid, at=zxid)).after(*reading)

    assert {
        znode.name: znode.stat.czxid for znode in family.family(ROOT) if znode.stat
    } == children


def test_a_node_created_again_differs_from_the_earlier_one() -> None:
    """A late read of the earlier node does not pass for the later one of the same name."""
    name = Text("/p/leader")
    world = World().after(
        Node(path=name, stat=stat(5), data=b"old", zxid=6, at=6),
        Gone(path=name, zxid=8, at=8),
        Node(path=name, zxid=9, at=9),
        Node(path=name, stat=stat(5), data=b"old", zxid=7, at=10),
    )
    znode = world.node(name)

    assert znode is not None
    assert znode.stat is None


def test_the_children_of_a_deleted_node_go_with_it() -> None:
    """A root that was deleted and created again starts empty, whatever was known of it."""
    world = World().after(
        Children(path=ROOT, names=(Text("a"),), stat=stat(3), zxid=5, at=5),
        Gone(path=ROOT, zxid=9, at=9),
        Node(path=ROOT, stat=stat(11), data=b"", zxid=12, at=12),
    )

    assert not list(world.family(ROOT))


SEMAPHORE = World().after(
    Children(path=TOP, names=(Text("p"),), stat=stat(0), zxid=20, at=20),
    Children(path=ROOT, names=(Text("leases"),), stat=stat(2), zxid=20, at=20),
    Children(path=Text("/p/leases"), names=(Text("lease-0"),), stat=stat(3), zxid=20, at=20),
    Node(path=Text("/p/leases/lease-0"), stat=stat(9), data=b"", zxid=20, at=20),
)


@pytest.mark.parametrize(
    "fact",
    [
        Gone(path=ROOT, zxid=30, at=30),
        Children(path=TOP, names=(), stat=stat(0), zxid=30, at=30),
    ],
)
def test_nothing_stays_below_a_deleted_node(fact: ZnodeFact) -> None:
    """All that was below it is gone, at any depth, when one fact shows that it is gone."""
    world = SEMAPHORE.after(fact)

    assert world.families.keys() == {TOP}
    assert not list(world.family("/p/leases"))


def test_a_tree_deleted_at_once_is_gone_in_a_replay() -> None:
    """The facts between two worlds name the highest deleted znode alone, and that is enough."""
    after = SEMAPHORE.after(
        Gone(path=Text("/p/leases/lease-0"), zxid=21, at=21),
        Gone(path=Text("/p/leases"), zxid=22, at=21),
        Gone(path=ROOT, zxid=23, at=21),
    )
    replayed = SEMAPHORE.after(*facts_between(SEMAPHORE, after))

    assert dict(replayed.families) == dict(after.families)


def test_facts_about_a_root_that_was_created_again_have_true_zxids() -> None:
    """Nothing is said about the children of the earlier one: they went with it."""
    after = SEMAPHORE.after(
        Gone(path=ROOT, zxid=21, at=21),
        Node(path=ROOT, zxid=22, at=22),
        Node(path=Text("/p/locks"), stat=stat(23), data=b"", zxid=23, at=23),
    )
    between = [*facts_between(SEMAPHORE, after)]

    assert min(fact.zxid for fact in between) > 0
    assert dict(SEMAPHORE.after(*between).families) == dict(after.families)


def test_how_a_node_was_removed_is_told_also_if_it_is_there_again() -> None:
    """A replay that learns both at once says the same of the earlier one."""
    path = Text("/p/leader")
    before = World().after(Node(path=path, stat=stat(1), data=b"", zxid=1, at=1))
    after = before.after(
        Gone(path=path, zxid=2, at=2, by=7, how="deleted"),
        Node(path=path, stat=stat(3), data=b"", zxid=3, at=3),
    )
    replayed = before.after(*facts_between(before, after))

    assert replayed.removal_of(path) == after.removal_of(path) is not None


def test_a_refused_listing_is_known_until_one_succeeds() -> None:
    """No permission is a state of its own: it is not an empty lock."""
    refused = World().after(Denied(path=ROOT, what="list", zxid=5, at=5))
    listed = refused.after(Children(path=ROOT, names=(), stat=stat(1), zxid=6, at=6))

    assert refused.family(ROOT).denied
    assert not listed.family(ROOT).denied
    assert listed.family(ROOT).listed


def test_a_hidden_node_is_there_and_unread() -> None:
    """A znode that an ACL hides from zktop is a member all the same."""
    world = World().after(
        Children(path=ROOT, names=(Text("a"),), stat=stat(1), zxid=5, at=5),
        Denied(path=Text("/p/a"), what="read", zxid=6, at=6),
    )
    znode = world.node("/p/a")

    assert znode is not None
    assert (znode.hidden, znode.stat) == (True, None)


def test_tables_of_a_server_are_ordered_by_time() -> None:
    """The newest table of each kind counts, whichever arrives last."""
    zk1 = Text("zk1:2181")
    newer = Watches(server=zk1, rows={1: (Text("/a"),)}, zxid=0, at=20)
    older = Watches(server=zk1, rows={}, zxid=0, at=10)
    figures = Server(server=zk1, mode=Text("leader"), zxid=0, at=15)
    world = World().after(newer).after(figures, older)

    assert world.tables[zk1].watches is newer
    assert world.tables[zk1].server is figures


def test_what_was_known_of_a_server_that_left_is_dropped() -> None:
    """In any order; it is back with its first newer table."""
    zk1 = Text("zk1:2181")
    facts = [
        Server(server=zk1, mode=Text("leader"), zxid=0, at=10),
        Watches(server=zk1, rows={1: (Text("/a"),)}, zxid=0, at=10),
        Server(server=zk1, left=True, zxid=0, at=20),
        Server(server=zk1, mode=Text("follower"), zxid=0, at=30),
    ]
    gone = [World().after(*order) for order in itertools.permutations(facts[:3])]
    back = [World().after(*order).tables[zk1] for order in itertools.permutations(facts)]
    one_by_one = World().after(facts[2]).after(facts[1]).after(facts[0])

    assert not any(world.tables for world in (*gone, one_by_one))
    assert all((tables.server, tables.watches) == (facts[3], None) for tables in back)


def test_the_last_departure_of_a_server_counts() -> None:
    """An earlier one is known later; a table from between them is still outdated."""
    zk1 = Text("zk1:2181")
    last, first = (Server(server=zk1, left=True, zxid=0, at=at) for at in (20, 5))
    between = Server(server=zk1, mode=Text("leader"), zxid=0, at=10)

    assert not World().after(last).after(first).after(between).tables


def test_a_replay_drops_a_server_that_left() -> None:
    """The facts between two worlds include its departure."""
    zk1 = Text("zk1:2181")
    before = World().after(Server(server=zk1, mode=Text("leader"), zxid=0, at=10))
    after = before.after(Server(server=zk1, left=True, zxid=0, at=20))

    assert not before.after(*facts_between(before, after)).tables


def test_the_newest_link_counts() -> None:
    """An old connection state that arrives late changes nothing."""
    world = (
        World()
        .after(Link(state="connected", zxid=0, at=5))
        .after(Link(state="connecting", zxid=0, at=1))
    )

    assert world.link is not None
    assert world.link.state == "connected"


def test_a_long_list_of_owners_is_compared_with_another_list_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Comparing encodes it, and facts of other kinds come many times a second."""
    before = World().after(OwnerNames(owners={"10.0.7.1": "orders"}, zxid=0, at=1))
    compared: list[AnyFact] = []
    monkeypatch.setattr("zktop.model.world.world.newness", compared.append)
    after = before.after(Node(path=Text("/p/a"), stat=stat(2), data=b"", zxid=2, at=2))

    assert not compared
    assert after.owners is before.owners


def test_a_change_names_the_families_it_touched() -> None:
    """Only paths that differ are examined again."""
    before = World().after(
        *(
            Children(path=Text(f"/locks/{n}"), names=(), stat=stat(1), zxid=1, at=1)
            for n in range(100)
        )
    )
    after = before.after(Node(path=Text("/locks/7/x"), stat=stat(2), data=b"", zxid=2, at=2))

    assert after.changed_since(before).paths == {"/locks/7"}


def test_a_known_fact_changes_nothing() -> None:
    """Reading again costs no work further down."""
    fact = Node(path=Text("/p/a"), stat=stat(2), data=b"", zxid=2, at=2)
    world = World().after(fact)

    assert not world.after(fact).changed_since(world).paths


def test_how_a_node_was_removed_is_kept_in_any_order() -> None:
    """The newest removal counts, and a world made again from its facts has it too."""
    path = Text("/p/a")
    facts = [
        Node(path=path, stat=stat(1), data=b"", zxid=1, at=1),
        Gone(path=path, zxid=2, at=2, by=7, how="deleted"),
        Node(path=path, stat=stat(3), data=b"", zxid=3, at=3),
        Gone(path=path, zxid=4, at=4, by=8, how="closed"),
        Complete(zxid=4, at=4),
    ]
    worlds = [World().after(*order) for order in itertools.permutations(facts)]
    again = World().after(*facts_of(worlds[0]))

    assert all(world.removal_of(path) == facts[3] for world in (*worlds, again))
    assert all(world.complete_to == 4 for world in (*worlds, again))


def test_the_root_of_all_is_no_child_of_its_own() -> None:
    """Read again together with locks right below it, it keeps what is known of its children."""
    names = tuple(Text(f"lock-{number}") for number in range(20))
    root = stat(1)
    listings = [
        Children(path=join("/", name), names=(), stat=root, zxid=9, at=9) for name in names
    ]
    listed = Children(path=Text("/"), names=names, stat=root, zxid=9, at=9)
    stats, data = (root,) * len(names), (b"",) * len(names)
    below = NodeBatch(path=Text("/"), names=names, stats=stats, data=data, zxid=9, at=9)
    itself = NodeBatch(path=Text(""), names=(Text(""),), stats=(root,), data=(b"",), zxid=9, at=9)
    world = World().after(listed, *listings).after(below, itself)

    assert world.families[Text("/")].listed
