"""Clients that wait without a znode of their own: only the watch tables show them."""

from collections.abc import Collection

import pytest
from model.findings.cases import ZXID, At, facts, k, watching
from model.make_facts import NOW, ZK1, ZK2, connections, no_watches, own, row, session, world
from msgspec.structs import replace

from zktop.model.accounting.member_counts import member_counts
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Gone, Node, Stat
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import LockKind
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

PAIR, MASTER, OTHER = "/hadoop-ha/nn", "/locks/master-lock", "/locks/other-lock"
ACTIVE = f"{PAIR}/ActiveStandbyElectorLock"
SINGLE = facts(path=MASTER, stat=Stat(50, 50, NOW, owner=session("ann")))
HADOOP = facts(At("ActiveStandbyElectorLock", "ann"), At("ActiveBreadCrumb", ""), path=PAIR)


def view(path: str, *known: AnyFact, kind: LockKind | None = None) -> LockView:
    """A lock of ann, with bob connected."""
    tables = connections(ZK1, row("ann"), row("bob"))
    report = Examiner(Settings(roots=(Root(path, kind=kind),))).look(
        world(own(), tables, *known), NOW
    )
    return report.view(path)


def test_a_standby_of_hadoop_is_one_that_watches() -> None:
    """An election counts it as a standby, not as a waiter."""
    seen = view(PAIR, *HADOOP, watching({"bob": [ACTIVE]}))

    assert [(one.session, one.node, one.state) for one in seen.waiters] == [
        (session("bob"), None, "standby")
    ]
    assert member_counts(seen) == {"holds": 1, "waits": 0, "standby": 1, "pending": 0}


def test_an_election_by_the_config_keeps_those_that_watch_its_znode() -> None:
    """`kind: election` says what the lock is for, not how clients wait."""
    seen = view(MASTER, *SINGLE, watching({"bob": [MASTER]}), kind="election")

    assert [(one.session, one.state) for one in seen.waiters] == [(session("bob"), "standby")]


@pytest.mark.parametrize("path", [PAIR, MASTER])
def test_the_waiters_are_known_if_all_watches_are(path: str) -> None:
    """The table of any server may have one more."""
    mine, rest = watching({"bob": ["/other"]}), connections(ZK2)
    tables = ((mine,), (mine, rest, no_watches(ZK2)), ())

    assert [view(path, *HADOOP, *SINGLE, *known).knows_waiters for known in tables] == [
        True,
        False,
        False,
    ]


def test_the_holder_is_a_root_blocker_of_those_that_watch() -> None:
    """As in the column QUEUE; nobody knows since when they wait. A table may come later."""
    examiner = Examiner(Settings(roots=(Root(MASTER),)))
    known = world(own(), connections(ZK1, row("ann"), row("bob")), *SINGLE, watching({}))
    found = [examiner.look(known, NOW).blockers]
    for at, watched in enumerate(({"bob": [MASTER], "cat": [MASTER]}, {"bob": [MASTER]}, {})):
        known = known.after(replace(watching(watched), at=NOW + at))
        found.append(examiner.look(known, NOW + at).blockers)

    assert [[(one.blocked, one.undated) for one in some] for some in found] == [
        [],
        [(2, 2)],
        [(1, 1)],
        [],
    ]


def test_the_holder_of_an_election_is_no_root_blocker_of_its_standbys() -> None:
    """They stand by, they do not wait."""
    examiner = Examiner(Settings(roots=(Root(PAIR),)))
    tables = connections(ZK1, row("ann"), row("bob"))

    assert not examiner.look(
        world(own(), tables, *HADOOP, watching({"bob": [ACTIVE]})), NOW
    ).blockers


def single(path: str, owner: str) -> list[AnyFact]:
    """A lock that is one znode of this client."""
    return facts(path=path, stat=Stat(50, 50, NOW, owner=session(owner)))


@pytest.mark.parametrize(
    ("watched", "is_hint"),
    [
        ({"ann": ["/locks/b-lock"], "bob": ["/locks/a-lock"]}, True),
        ({"ann": ["/locks/b-lock"], "bob": ["/locks/c-lock"], "cat": ["/locks/a-lock"]}, True),
        ({"ann": ["/locks/b-lock"], "bob": ["/locks/c-lock"]}, False),
        ({"ann": ["/locks/b-lock", "/locks/a-lock"]}, False),
    ],
)
def test_holders_that_watch_each_others_znodes_are_a_hint(
    watched: dict[str, list[str]],
    is_hint: bool,  # noqa: FBT001  a parameter of pytest
) -> None:
    """Nothing but the watches shows that each waits for the next. One look is enough."""
    owners = {"/locks/a-lock": "ann", "/locks/b-lock": "bob", "/locks/c-lock": "cat"}
    locks = [fact for path, owner in owners.items() for fact in single(path, owner)]
    tables = connections(ZK1, row("ann"), row("bob"), row("cat"))
    examiner = Examiner(Settings(roots=(Root("/locks/*"),)))
    report = examiner.look(world(own(), tables, *locks, watching(watched)), NOW)
    found = [one for one in report.findings if one.rule == "D7"]
    ann, bob = (report.client_names(session(name)) for name in ("ann", "bob"))

    assert [(one.severity, one.confidence, len(one.locks)) for one in found] == (
        [("info", "C1", len(watched))] if is_hint else []
    )
    assert not report.deadlocks
    if len(watched) == 2 and is_hint:
        assert found[0].sentence == (
            f"{ann} holds /locks/a-lock and watches /locks/b-lock; {bob} holds "
            "/locks/b-lock and watches /locks/a-lock. If each waits for what it watches, none "
            "can ever continue."
        )


def test_holders_that_watch_each_others_nodes_in_folders_are_a_hint() -> None:
    """As with Kafka or Hadoop, the lock is a folder with one ephemeral node."""
    owners = {"/app/a-lock": "ann", "/app/b-lock": "bob"}
    locks = [fact for path, who in owners.items() for fact in facts(At("host", who), path=path)]
    seen = watching({"ann": ["/app/b-lock/host"], "bob": ["/app/a-lock/host"]})
    tables = connections(ZK1, row("ann"), row("bob"))
    report = Examiner(Settings()).look(world(own(), tables, *locks, seen), NOW)

    assert [{*one.locks} for one in report.findings if one.rule == "D7"] == [{*owners}]


def test_a_ring_of_two_is_found_beside_other_watches() -> None:
    """The holder of the last of thirteen locks watches the first."""
    owners = {f"/app/{n:02}-lock": f"c{n}" for n in range(13)}
    stats = {path: Stat(50, 50, NOW, owner=session(who)) for path, who in owners.items()}
    locks = [fact for path, stat in stats.items() for fact in facts(path=path, stat=stat)]
    first, *others = owners
    seen = watching({"c0": others, "c12": [first]})
    tables = connections(ZK1, *map(row, owners.values()))
    report = Examiner(Settings()).look(world(own(), tables, *locks, seen), NOW)

    assert [{*one.locks} for one in report.findings if one.rule == "D7"] == [{first, others[-1]}]


def test_a_client_that_only_watches_has_the_name_and_waits_of_one_session() -> None:
    """The label in the node that it has elsewhere; a client without any node is listed, too."""
    tables = connections(ZK1, row("ann"), row("bob"), row("cat"))
    watched = watching({"bob": [MASTER], "cat": [MASTER]})
    known = (*SINGLE, *facts(k("bob", 1), path="/locks/q"), tables, watched)
    report = Examiner(Settings(roots=(Root("/locks/*"),))).look(world(own(), *known), NOW)
    names = {one.session: one.name for one in report.view(MASTER).waiters}

    assert names[session("bob")] == "bob"
    assert {one: view.name for one, view in report.sessions.items()} == {
        session("ann"): report.client_names(session("ann")),
        **names,
    }
    assert [report.sessions[session(one)].waits for one in ("ann", "bob", "cat")] == [
        (),
        (MASTER,),
        (MASTER,),
    ]
    assert report.watched_by(session("bob")) == (MASTER,)
    assert report.watched_by(session("ann")) == ()


def test_a_client_with_hundreds_of_watches_waits_for_the_locks_among_them() -> None:
    """A cache may watch all nodes of a tree; the list of sessions has this wait, too."""
    watched = watching({"bob": [MASTER, *(f"/other/{number}" for number in range(300))]})
    tables = connections(ZK1, row("ann"), row("bob"))
    report = Examiner(Settings(roots=(Root("/locks/*"),))).look(
        world(own(), *SINGLE, tables, watched), NOW
    )

    assert report.watched_by(session("bob")) == report.sessions[session("bob")].waits == (MASTER,)


def changed(*news: AnyFact) -> Collection[Text]:
    """The locks that change with these facts while bob watches two single nodes of ann."""
    other = facts(path=OTHER, stat=Stat(50, 50, NOW, owner=session("ann")))
    tables = connections(ZK1, row("ann"), row("bob"))
    examiner = Examiner(Settings(roots=(Root("/locks/*"),)))
    before = world(own(), *SINGLE, *other, tables, watching({"bob": [MASTER, OTHER]}))
    first = examiner.look(before, NOW)
    return examiner.look(before.after(*news), NOW + 1_000).changed_since(first)


def test_new_tables_with_the_same_watches_change_no_lock() -> None:
    """Every server is asked every few seconds, and there may be 100,000 such locks."""
    tables = connections(ZK1, row("ann"), row("bob"), row("cat"), at=NOW + 1_000)

    assert changed(tables, watching({"bob": [MASTER, OTHER]}, NOW + 1_000)) == set()


def test_a_lock_changes_with_those_who_watch_its_node() -> None:
    """Those that others still watch stay as they are."""
    assert changed(watching({"bob": [OTHER], "cat": [OTHER]}, NOW + 1_000)) == {MASTER, OTHER}
    assert changed(watching({"bob": [OTHER]}, NOW + 1_000)) == {MASTER}


def test_locks_that_only_our_own_session_watches_change_with_it() -> None:
    """Our session is no waiter; a former one of ours is until the servers forget it."""
    assert changed(own("bob", at=NOW + 1_000)) == {MASTER, OTHER}


def test_the_wait_of_a_client_without_a_znode_is_unknown() -> None:
    """It creates its znode when it has the lock, however long it waited: not 0 seconds."""
    examiner = Examiner(Settings(roots=(Root(MASTER),)))
    known = world(own(), *SINGLE, watching({"bob": [MASTER]}))
    examiner.look(known, NOW)
    known = known.after(Gone(path=Text(MASTER), zxid=ZXID + 1, at=NOW + 5_000))
    examiner.look(known, NOW + 5_000)
    taken = Stat(ZXID + 2, ZXID + 2, NOW + 5_010, owner=session("bob"))
    known = known.after(Node(path=Text(MASTER), stat=taken, zxid=ZXID + 2, at=NOW + 5_010))
    report = examiner.look(known, NOW + 5_010)
    (acquired,) = (one for one in report.events if one.event == "acquired")

    assert (acquired.session, acquired.waited) == (session("bob"), None)
    assert report.records[Text(MASTER)].history.waits.count == 0
