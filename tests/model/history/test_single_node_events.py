"""Events of a lock that is a single znode, and becomes a folder."""

from model.make_facts import NOW, session

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

PATH, CHILD = Text("/single"), Text("lock-0000000000")


def node(path: str, czxid: int, owner: str = "", children: int = 0) -> Node:
    """A znode, read in the transaction that created it or its first child."""
    who = session(owner) if owner else 0
    stat = Stat(czxid, czxid, NOW, owner=who, cversion=children, num_children=children)
    return Node(path=Text(path), stat=stat, data=owner.encode(), zxid=czxid + children, at=NOW)


def test_a_folder_that_takes_the_place_of_a_single_node_has_no_missed_nodes() -> None:
    """Its Stat counts a child before its children are listed."""
    folder = node(PATH, 13, children=1)
    listing = Children(path=PATH, names=(CHILD,), stat=folder.stat, zxid=14, at=NOW)
    looks: list[list[AnyFact]] = [
        [node(PATH, 11, "ann")],
        [Gone(path=PATH, zxid=12, at=NOW)],
        [folder],
        [listing, node(f"{PATH}/{CHILD}", 14, "bob")],
    ]
    examiner, events = Examiner(Settings(roots=(Root(PATH),))), []
    world = World()
    for number, facts in enumerate(looks):
        world = world.after(*facts)
        report = examiner.look(world, NOW + number * 100)
        events += [(event.event, event.owner) for event in report.events]

    assert ("acquired", "bob") in events
    assert "missed" not in dict(events)
