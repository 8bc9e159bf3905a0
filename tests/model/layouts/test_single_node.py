"""One ephemeral node as a lock: which path is the lock, the node's or its folder's."""

import pytest
from model.make_facts import NOW, own, session, world

from zktop.model.accounting.ledger import Ledger
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, join
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.missing_roots import are_idle


def locks(folder: str, name: str, *roots: str) -> list[str]:
    """The paths of all locks in a world of one folder with one ephemeral node."""
    return locks_among(folder, [name], *map(Root, roots))


def locks_among(folder: str, names: list[str], *roots: Root) -> list[str]:
    """The same for several ephemeral nodes."""
    stat = Stat(5, 5, 0, cversion=len(names), num_children=len(names), pzxid=6)
    node, texts = Stat(6, 6, 0, owner=session("ann")), tuple(map(Text, names))
    known = world(
        Children(path=Text(folder), names=texts, stat=stat, zxid=9, at=NOW),
        *(Node(path=join(folder, name), stat=node, data=b"ann", zxid=9, at=NOW) for name in texts),
    )
    examiner = Examiner(Settings(roots=roots))
    return [str(path) for path in examiner.look(known, NOW).paths]


@pytest.mark.parametrize(
    ("folder", "name", "lock"),
    [
        pytest.param("/app", "leader", "/app/leader", id="a folder of anything"),
        pytest.param("/exclusive_lock", "lock", "/exclusive_lock", id="a folder that is a lock"),
        pytest.param("/locks/job", "me", "/locks/job", id="a folder among locks"),
    ],
)
def test_a_single_node_is_one_lock(folder: str, name: str, lock: str) -> None:
    """It is not listed twice, as itself and as what its folder holds."""
    assert locks(folder, name, "/**") == [lock]


def test_a_folder_that_the_user_names_is_the_lock() -> None:
    """Whatever it is called."""
    assert "/app" in locks("/app", "leader", "/app")


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(Root("/zz/*"), id="a pattern"),
        pytest.param(Root("/zz/**", layout="single-node"), id="a layout"),
    ],
)
def test_a_node_that_the_user_calls_a_lock_is_one(root: Root) -> None:
    """Whatever its name, and whatever is beside it."""
    assert locks_among("/zz", ["printer", "scanner"], root) == ["/zz/printer", "/zz/scanner"]


def test_a_search_needs_a_name_that_sounds_like_a_lock() -> None:
    """`**` says where to search, not that everything there is a lock."""
    assert locks_among("/zz", ["printer", "scanner"], Root("/zz/**")) == []


@pytest.mark.parametrize("names", [["orders"], ["orders", "stock"]], ids=["one", "two"])
def test_each_node_in_a_folder_of_locks_is_a_lock(names: list[str]) -> None:
    """The folder does not become the lock while it has one child."""
    assert locks_among("/locks", names) == [f"/locks/{name}" for name in names]


def test_a_node_beside_numbered_ones_is_no_lock() -> None:
    """They are the queue of a lock called `locks`."""
    assert locks_among("/locks", ["config", "lock-0000000000"]) == ["/locks"]


@pytest.mark.parametrize(
    "path",
    [
        "/services/release-service/10.0.0.1:8080",
        "/blockchain/services/api/host-1",
        "/dubbo/com.acme.BlockService/providers/host-1",
        "/services/lock-service/host-1",
        "/services/interactive/instances/host-1",
        "/app/assembly/w1",
        "/services/master-data/host-1",
        "/deploy/release-42",
        "/services/inactive",
        "/app/clock",
        "/ui/selection",
        "/x/block-7",
        "/x/unblock",
        "/x/taskmaster-data",
    ],
)
def test_a_registry_with_one_instance_is_no_lock(path: str) -> None:
    """Its name contains a word for a lock, but not as a word."""
    folder, _, name = path.rpartition("/")

    assert locks(folder, name) == []


@pytest.mark.parametrize(
    ("folder", "name", "lock"),
    [
        ("/app/locks/orders/42", "host-7", "/app/locks/orders/42"),
        ("/distributed-lock/orders/eu", "holder", "/distributed-lock/orders/eu"),
        ("/app", "dblock", "/app/dblock"),
        ("/app", "jobowner", "/app/jobowner"),
        ("/app", "hmaster", "/app/hmaster"),
        ("/app", "leaseholder", "/app/leaseholder"),
    ],
)
def test_a_name_that_ends_with_a_word_for_a_lock_is_one(folder: str, name: str, lock: str) -> None:
    """So is a folder anywhere below one of locks."""
    assert locks(folder, name) == [lock]


def test_an_id_of_an_application_is_no_sequence_number() -> None:
    """The counter of the parent has not reached it."""
    assert locks("/", "lockKey_1234567890") == ["/lockKey_1234567890"]


MASTER = Text("/app/master")


def master(zxid: int, *owner: str) -> list[AnyFact]:
    """What is read when this client creates the node, or, without one, when it is deleted."""
    at, names = NOW + zxid, tuple(Text("master") for _ in owner)
    stat = Stat(5, 5, 0, cversion=zxid, num_children=len(names), pzxid=zxid)
    folder = Children(path=Text("/app"), names=names, stat=stat, zxid=zxid, at=at)
    if not owner:
        return [folder, Gone(path=MASTER, zxid=zxid, at=at)]
    node = Stat(zxid, zxid, at, owner=session(owner[0]))
    return [
        folder,
        Node(path=MASTER, stat=node, data=owner[0].encode(), zxid=zxid, at=at),
        Children(path=MASTER, names=(), stat=node, zxid=zxid, at=at),
    ]


def reports(*looks: list[AnyFact], settings: Settings | None = None) -> list[Report]:
    """A look after each of these."""
    examiner, known, found = Examiner(settings or Settings()), world(own()), []
    for facts in looks:
        known = known.after(*facts)
        found.append(examiner.look(known, facts[0].at))
    return found


def test_a_release_is_no_end_of_the_root() -> None:
    """The lock is its node: each owner deletes it, and the next one creates it."""
    *_, gone, last = reports(master(10, "ann"), master(20), master(30, "bob"))

    assert [event.event for event in gone.events] == ["released", "lock-vanished"]
    assert [event.event for event in last.events] == ["lock-appeared", "queued", "acquired"]
    assert {finding.rule for finding in last.findings} & {"R2", "R3", "R7"} == set()
    view = last.view(MASTER)
    assert view is not None
    assert view.history.generation == 0


@pytest.mark.parametrize(
    ("root", "looks"),
    [
        pytest.param(Root(MASTER), [master(10, "ann"), master(20)], id="held before"),
        pytest.param(Root(MASTER, layout="single-node"), [master(20)], id="its layout is known"),
    ],
)
def test_a_root_that_is_a_free_lock_is_not_missing(root: Root, looks: list[list[AnyFact]]) -> None:
    """Its node exists only while somebody holds it."""
    *_, last = reports(*looks, settings=Settings(roots=(root,)))

    assert [finding.rule for finding in last.findings] == []


def test_a_free_lock_of_a_single_node_is_idle() -> None:
    """So `zktop check` does not say that the root is wrong."""
    known, named = world(own()).after(*master(20)), Root(MASTER, layout="single-node")

    assert are_idle(known, Settings(roots=(named,)))
    assert not are_idle(known, Settings(roots=(Root(MASTER),)))


def test_a_node_that_is_the_lock_was_held_since_it_was_created() -> None:
    """To create it is to acquire it, so zktop need not have seen that."""
    known = world(own()).after(*master(10, "ann"))
    view = Examiner(Settings()).look(known, NOW + 60_000).view(MASTER)

    assert view is not None
    assert view.history.granted(view.lock.holders[0]).at == NOW + 10


def test_each_owner_has_its_own_hold() -> None:
    """The next one created the node between two looks."""
    ledger = Ledger()
    for report in reports(
        *(master(1_000 * n, who) for n, who in enumerate(("ann", "bob", "cid"), 1))
    ):
        ledger.look(report)

    holds = {actor.name: actor.figures.holds.number for actor in ledger.accounts().actors}
    assert holds == {"ann": 1, "bob": 1, "cid": 1}


LOCK = "/app/lock"


def folder_of(*names: str) -> Children:
    """A listing; one with more children is newer."""
    stat = Stat(5, 5, 0, cversion=len(names), num_children=len(names), pzxid=6)
    texts = tuple(map(Text, names))
    return Children(path=Text(LOCK), names=texts, stat=stat, zxid=8 + len(names), at=NOW)


def child(name: str, data: bytes, owner: int = 0) -> Node:
    """A child of it."""
    stat = Stat(6, 6, 0, owner=owner)
    return Node(path=join(LOCK, name), stat=stat, data=data, zxid=9, at=NOW)


@pytest.mark.parametrize("data", [b"20990115", b"2099-W03", b"2099-01-01"])
def test_a_folder_of_dates_is_not_shedlock(data: bytes) -> None:
    """ShedLock writes a time as well."""
    dated, leased = child("schema", data), child("schema", b"2099-01-01T00:00:00Z")

    assert isinstance(_made(dated), NotALock)
    assert isinstance(_made(leased), Lock)


def _made(schema: Node) -> Lock | NotALock:
    return lock_at(LOCK, world(folder_of("schema"), schema), Settings(), NOW)


def test_a_member_has_the_layout_of_its_lock() -> None:
    """Also after the lock has turned out to be another one."""
    known = world(folder_of("master"), child("master", b"host:1", session("ann")))
    first = lock_at(LOCK, known, Settings(), NOW)
    assert isinstance(first, Lock)
    later = known.after(folder_of("master", "backup-masters"))
    second = lock_at(LOCK, later, Settings(), NOW, first)

    assert isinstance(second, Lock)
    assert (first.layout, second.layout) == ("single-node", "hbase-master")
    assert [one.layout for one in second.members] == ["hbase-master"]
