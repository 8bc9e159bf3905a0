"""Facts and reports of a semaphore, as kazoo and Curator write it."""

from collections.abc import Iterable

from model.make_facts import NOW, kazoo_name, session

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, join
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

POOL = "/pool"
GATE, LEASES = f"{POOL}-__lock__", POOL
CURATOR_GATE, CURATOR_LEASES = f"{POOL}/locks", f"{POOL}/leases"
ANN_AT_GATE = join(GATE, kazoo_name("ann", 0))
ANN_LEASE = join(LEASES, "a" * 32)
_UUID = "_c_00000000-0000-4000-8000-00000000000"
ANN_AT_CURATOR_GATE = f"{CURATOR_GATE}/{_UUID}1-lock-0000000001"
ANN_CURATOR_LEASE = f"{CURATOR_LEASES}/{_UUID}1-lease-0000000001"
BOB_CURATOR_LEASE = f"{CURATOR_LEASES}/{_UUID}0-lease-0000000000"


def folder(path: str, *names: str, data: bytes = b"") -> list[AnyFact]:
    """A folder with these children."""
    stat = Stat(50, 50, 0, cversion=len(names), num_children=len(names), pzxid=50)
    texts = tuple(map(Text, names))
    return [
        Children(path=Text(path), names=texts, stat=stat, zxid=60, at=NOW),
        Node(path=Text(path), stat=stat, data=data, zxid=60, at=NOW),
    ]


def kazoo_pool(leases: int) -> list[AnyFact]:
    """An empty semaphore of kazoo."""
    return [*folder(GATE), *folder(LEASES, data=str(leases).encode())]


def curator_pool() -> list[AnyFact]:
    """A semaphore of Curator in which bob has a lease."""
    leases = folder(CURATOR_LEASES, BOB_CURATOR_LEASE.rpartition("/")[2])
    bob = created(BOB_CURATOR_LEASE, "bob", 90)
    return [*folder(POOL, "leases", "locks"), *folder(CURATOR_GATE), *leases, bob]


def created(path: str, owner: str, zxid: int) -> AnyFact:
    """A node of a client."""
    stat = Stat(zxid, zxid, NOW, owner=session(owner))
    return Node(path=Text(path), stat=stat, data=owner.encode(), zxid=zxid, at=NOW + zxid)


def named(path: str, zxid: int) -> AnyFact:
    """A node that was not read yet."""
    return Node(path=Text(path), zxid=zxid, at=NOW + zxid)


def gone(path: str, zxid: int) -> AnyFact:
    """A node was deleted."""
    return Gone(path=Text(path), zxid=zxid, at=NOW + zxid)


def reports(*looks: Iterable[AnyFact]) -> list[Report]:
    """A look after each of these groups of facts, at the time of the newest."""
    examiner = Examiner(Settings(roots=(Root(POOL),)))
    world, found = World(), []
    for facts in looks:
        world = world.after(*facts)
        found.append(examiner.look(world, max(fact.at for fact in facts)))
    return found
