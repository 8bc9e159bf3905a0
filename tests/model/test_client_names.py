"""Display names of clients: each is unique in a report."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW, ZK1, ZK2, connections, kazoo_name, own, world

from zktop.model.client_names import MAX_COMPARED
from zktop.model.examiner import Examiner
from zktop.model.facts import (
    AnyFact,
    Children,
    Connection,
    Connections,
    Denied,
    Node,
    OwnerNames,
    Session,
    Stat,
    join,
)
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text

FIRST, SECOND = 0x1000_0000_0AB0_1E3F, 0x1000_0000_0AB0_1E40
ELSEWHERE = 0x2000_0000_0CD0_1E3F  # ends like the first one


def held(path: str, *who: tuple[Session, str], at: int = NOW) -> Iterable[AnyFact]:
    """A lock with these sessions and their labels."""
    names = [kazoo_name(f"{path}{one:x}{label}", n) for n, (one, label) in enumerate(who)]
    stat = Stat(50, 50, 0, cversion=len(who), num_children=len(who), pzxid=200 + at)
    yield Children(path=Text(path), names=tuple(names), stat=stat, zxid=200 + at, at=at)
    for number, (name, (owner, label)) in enumerate(zip(names, who, strict=True)):
        born = Stat(100 + number, 100 + number, NOW, owner=owner)
        yield Node(path=join(path, name), stat=born, data=label.encode(), zxid=200 + at, at=at)


def connected(*clients: tuple[Session, str], server: Text = ZK1) -> Connections:
    """A connection table."""
    rows = [Connection(one, Text(client), 10_000, quiet_ms=0) for one, client in clients]
    return connections(server, *rows)


def report_of(*facts: AnyFact, settings: Settings | None = None) -> Report:
    """A report on these facts."""
    return Examiner(settings).look(world(own(), *facts), NOW)


def names(report: Report, path: str) -> list[str]:
    """The names of all clients in a lock."""
    view = report.view(path)
    assert view is not None
    return [one.name for one in (*view.holders, *view.waiters)]


def test_a_unique_label_is_the_name() -> None:
    """A unique label is used unchanged."""
    report = report_of(*held("/locks/a", (FIRST, "ann"), (SECOND, "bob")))

    assert names(report, "/locks/a") == ["ann", "bob"]


def test_equal_labels_get_addresses() -> None:
    """Curator's clients of one host have equal labels."""
    table = connected((FIRST, "127.0.0.1:59112"), (SECOND, "127.0.0.1:59114"))
    report = report_of(*held("/locks/a", (FIRST, "127.0.0.1"), (SECOND, "127.0.0.1")), table)

    assert names(report, "/locks/a") == ["127.0.0.1:59112", "127.0.0.1:59114"]


def test_replicas_of_a_service_get_ports() -> None:
    """The name is what an SRE looks for."""
    table = connected((FIRST, "10.0.4.17:41728"), (SECOND, "10.0.4.18:41738"))
    report = report_of(*held("/locks/a", (FIRST, "orders-api"), (SECOND, "orders-api")), table)

    assert names(report, "/locks/a") == ["orders-api:41728", "orders-api:41738"]
    assert [one.owner for one in report.sessions.values()] == ["orders-api", "orders-api"]


def test_replicas_with_equal_ports_get_addresses() -> None:
    """Their hosts differ."""
    table = connected((FIRST, "10.0.4.17:41728"), (SECOND, "10.0.4.18:41728"))
    report = report_of(*held("/locks/a", (FIRST, "orders-api"), (SECOND, "orders-api")), table)

    assert names(report, "/locks/a") == ["10.0.4.17:41728", "10.0.4.18:41728"]


def test_a_replica_without_a_connection_gets_the_end_of_its_session() -> None:
    """The other one has its port."""
    table = connected((FIRST, "10.0.4.17:41728"))
    report = report_of(*held("/locks/a", (FIRST, "orders-api"), (SECOND, "orders-api")), table)

    assert names(report, "/locks/a") == ["orders-api:41728", "orders-api …1e40"]


def test_labels_that_are_addresses_of_another_network_get_no_ports() -> None:
    """No server sees such an address."""
    table = connected((FIRST, "10.0.4.17:41728"), (SECOND, "10.0.4.18:41738"))
    report = report_of(*held("/locks/a", (FIRST, "172.17.0.2"), (SECOND, "172.17.0.2")), table)

    assert names(report, "/locks/a") == ["10.0.4.17:41728", "10.0.4.18:41738"]


def test_many_clients_with_one_label_get_addresses() -> None:
    """The ports of so many are not compared."""
    many = [(FIRST + number, f"10.0.4.17:{41000 + number}") for number in range(MAX_COMPARED + 1)]
    queue = held("/locks/a", *((one, "worker") for one, _ in many))

    assert names(report_of(*queue, connected(*many)), "/locks/a") == [client for _, client in many]


def test_without_a_table_equal_labels_get_session_ends() -> None:
    """Without the table no address is known."""
    report = report_of(*held("/locks/a", (FIRST, "worker-a"), (SECOND, "worker-a")))

    assert names(report, "/locks/a") == ["worker-a …1e3f", "worker-a …1e40"]


def test_sessions_that_end_alike_are_written_out() -> None:
    """Servers count sessions from zero, so the last digits of two are often equal."""
    report = report_of(*held("/locks/a", (FIRST, "worker-a"), (ELSEWHERE, "worker-a")))

    assert names(report, "/locks/a") == [f"worker-a {FIRST:#x}", f"worker-a {ELSEWHERE:#x}"]


def test_equal_labels_in_different_locks_get_suffixes_too() -> None:
    """A client has one name on every screen."""
    facts = (*held("/locks/a", (FIRST, "worker")), *held("/locks/b", (SECOND, "worker")))
    report = report_of(*facts)

    assert names(report, "/locks/a") == ["worker …1e3f"]
    assert names(report, "/locks/b") == ["worker …1e40"]


def test_several_places_of_one_session_share_its_name() -> None:
    """A client in two locks has one name."""
    facts = (*held("/locks/a", (FIRST, "worker")), *held("/locks/b", (FIRST, "worker")))

    assert names(report_of(*facts), "/locks/b") == ["worker"]


def test_without_a_label_the_address_is_the_name() -> None:
    """An address is unique."""
    report = report_of(*held("/locks/a", (FIRST, "")), connected((FIRST, "10.0.0.1:4000")))

    assert names(report, "/locks/a") == ["10.0.0.1:4000"]


def test_equal_addresses_get_session_ends() -> None:
    """Two servers or NAT may show the same address twice."""
    here = connected((FIRST, "10.0.0.1:4000"))
    there = connected((SECOND, "10.0.0.1:4000"), server=ZK2)
    lock = held("/locks/a", (FIRST, "w"), (SECOND, "w"))

    assert names(report_of(*lock, here, there), "/locks/a") == ["w …1e3f", "w …1e40"]


def test_without_anything_the_session_is_the_name() -> None:
    """Without label and address only the session id is left."""
    assert names(report_of(*held("/locks/a", (FIRST, ""))), "/locks/a") == [f"{FIRST:#x}"]


def test_clients_of_a_named_host_get_ports() -> None:
    """The configured name replaces the host, not the port."""
    settings = Settings(owners={"10.0.0.1": "billing"})
    lock = list(held("/locks/a", (FIRST, ""), (SECOND, "")))
    two = connected((FIRST, "10.0.0.1:4000"), (SECOND, "10.0.0.1:4001"))
    one = connected((FIRST, "10.0.0.1:4000"), (SECOND, "10.0.0.2:4001"))

    both = names(report_of(*lock, two, settings=settings), "/locks/a")
    assert both == ["billing:4000", "billing:4001"]
    assert names(report_of(*lock, one, settings=settings), "/locks/a")[0] == "billing"


def test_the_owner_stays_the_label() -> None:
    """`owner` in JSON stays the label, because scripts compare it."""
    table = connected((FIRST, "127.0.0.1:59112"), (SECOND, "127.0.0.1:59114"))
    report = report_of(*held("/locks/a", (FIRST, "127.0.0.1"), (SECOND, "127.0.0.1")), table)
    view = report.view("/locks/a")

    assert view is not None
    assert [holder.owner for holder in view.holders] == ["127.0.0.1"]
    assert {session.owner for session in report.sessions.values()} == {"127.0.0.1"}
    assert [session.name for session in report.sessions.values()] == [
        "127.0.0.1:59112",
        "127.0.0.1:59114",
    ]


def test_a_label_that_is_unique_again_loses_its_suffix() -> None:
    """A name is as short as possible."""
    examiner, known = Examiner(), world(own(), *held("/locks/a", (FIRST, "w"), (SECOND, "w")))
    before = examiner.look(known, NOW)
    known = known.after(*held("/locks/a", (FIRST, "w"), at=NOW + 10))
    after = examiner.look(known, NOW + 10)

    assert names(before, "/locks/a") == ["w …1e3f", "w …1e40"]
    assert names(after, "/locks/a") == ["w"]
    assert names(before, "/locks/a") == ["w …1e3f", "w …1e40"]  # a report does not change


def test_a_changed_label_changes_the_name() -> None:
    """Some clients write their label only when they lead."""
    examiner, known = Examiner(), world(own(), *held("/locks/a", (FIRST, "x"), (SECOND, "w")))
    examiner.look(known, NOW)
    (name,) = [
        member for member in known.family("/locks/a").members if member.endswith("0000000000")
    ]
    stat = Stat(100, 300, NOW, owner=FIRST, version=1)
    found = Node(path=join("/locks/a", name), stat=stat, data=b"w", zxid=NOW + 900, at=NOW + 10)
    after = examiner.look(known.after(found), NOW + 10)

    assert names(after, "/locks/a") == ["w …1e3f", "w …1e40"]


Told = list[tuple[int, int, int]]


@pytest.mark.parametrize("is_thorough", [True, False])
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 3)), max_size=8),
        min_size=1,
        max_size=5,
    )
)
def test_names_do_not_depend_on_the_past(is_thorough: bool, past: list[Told]) -> None:  # noqa: FBT001  a parameter of the test
    """The same locks give the same unique names, whatever happened before."""
    examiner, known = Examiner(), world(own())
    for number, found in enumerate(past):
        at = NOW + 10 * (number + 1)
        for lock in range(3):
            who = [(FIRST + one, f"w{label}") for place, one, label in found if place == lock]
            known = known.after(*held(f"/locks/{lock}", *who, at=at))
        report = examiner.look(known, at, thorough=is_thorough)
    fresh = Examiner().look(known, at)

    for path in fresh.paths:
        assert names(report, path) == names(fresh, path)
    called = {(one.session, one.name) for v in fresh.views for one in (*v.holders, *v.waiters)}
    assert len({name for _, name in called}) == len(called)


def test_clients_of_a_pattern_keep_their_addresses() -> None:
    """The name of a pattern is not unique."""
    settings = Settings(owners={"10.0.0.*": "batch"})
    lock = held("/locks/a", (FIRST, ""), (SECOND, ""))
    table = connected((FIRST, "10.0.0.1:4000"), (SECOND, "10.0.0.2:4001"))
    report = report_of(*lock, table, settings=settings)

    assert names(report, "/locks/a") == ["batch 10.0.0.1:4000", "batch 10.0.0.2:4001"]
    assert {session.owner for session in report.sessions.values()} == {"batch"}


def test_a_label_that_is_a_listed_address_gets_the_name() -> None:
    """Curator writes the client's address by default: the list knows more."""
    settings = Settings(owners={"10.0.0.1": "billing"})
    alone = report_of(*held("/locks/a", (FIRST, "10.0.0.1")), settings=settings)
    two = held("/locks/a", (FIRST, "10.0.0.1"), (SECOND, "10.0.0.1"))
    table = connected((FIRST, "10.0.0.1:4000"), (SECOND, "10.0.0.1:4001"))

    assert names(alone, "/locks/a") == ["billing"]
    assert [session.owner for session in alone.sessions.values()] == ["billing"]
    both = names(report_of(*two, table, settings=settings), "/locks/a")
    assert both == ["billing:4000", "billing:4001"]


def test_names_change_when_the_file_with_them_was_read_again() -> None:
    """The config's own entries come first."""
    examiner = Examiner(Settings(owners={"10.0.0.2": "mine"}))
    lock = held("/locks/a", (FIRST, ""), (SECOND, ""))
    table = connected((FIRST, "10.0.0.1:4000"), (SECOND, "10.0.0.2:4001"))
    known = world(own(), *lock, table)
    found = []
    for at, pod in enumerate(("pod-1", "pod-2")):
        fact = OwnerNames(zxid=0, at=at, owners={"10.0.0.1": pod, "10.0.0.2": "theirs"})
        known = known.after(fact)
        found.append(names(examiner.look(known, NOW + at), "/locks/a"))

    assert found == [["pod-1", "mine"], ["pod-2", "mine"]]


def test_a_client_whose_znode_was_not_read_is_not_without_an_owner() -> None:
    """Between the listing of a new znode and its first read, nothing is known about its owner."""
    listing, *_ = held("/locks/a", (FIRST, ""), (SECOND, "bob"))

    assert names(report_of(listing), "/locks/a") == ["not read yet", "not read yet"]


def test_a_client_whose_znode_an_acl_hides_will_never_be_read() -> None:
    """So its name does not promise it."""
    listing, *_ = held("/locks/a", (FIRST, ""), (SECOND, "bob"))
    path = join("/locks/a", listing.names[0])
    denied = Denied(path=path, what="read", zxid=listing.zxid, at=NOW)

    assert names(report_of(listing, denied), "/locks/a") == ["a hidden client", "not read yet"]
