"""What clients are called: each by a name that no other client of the report has."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.builders import NOW, ZK1, ZK2, connections, kazoo_name, own, world

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Connection, Connections, Node, Session, Stat, join
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text

FIRST, SECOND = 0x1000_0000_0AB0_1E3F, 0x1000_0000_0AB0_1E40
ELSEWHERE = 0x2000_0000_0CD0_1E3F  # ends like the first one


def held(path: str, *who: tuple[Session, str], at: int = NOW) -> Iterable[AnyFact]:
    """Give a lock with these sessions in it, and what they call themselves."""
    names = [kazoo_name(f"{path}{one:x}{label}", n) for n, (one, label) in enumerate(who)]
    stat = Stat(50, 50, 0, cversion=len(who), num_children=len(who), pzxid=200 + at)
    yield Children(path=Text(path), names=tuple(names), stat=stat, zxid=200 + at, at=at)
    for number, (name, (owner, label)) in enumerate(zip(names, who, strict=True)):
        born = Stat(100 + number, 100 + number, NOW, owner=owner)
        yield Node(path=join(path, name), stat=born, data=label.encode(), zxid=200 + at, at=at)


def connected(*clients: tuple[Session, str], server: Text = ZK1) -> Connections:
    """Give a table with these connections."""
    rows = [Connection(one, Text(client), 10_000, quiet_ms=0) for one, client in clients]
    return connections(server, *rows)


def report_of(*facts: AnyFact, settings: Settings | None = None) -> Report:
    """Look once."""
    return Examiner(settings).look(world(own(), *facts), NOW)


def names(report: Report, path: str) -> list[str]:
    """Give the names of all in a lock."""
    view = report.view(path)
    assert view is not None
    return [one.name for one in (*view.holders, *view.waiters)]


def test_a_label_that_is_nobody_elses_is_the_name() -> None:
    """Nothing is added to what is clear."""
    report = report_of(*held("/locks/a", (FIRST, "ann"), (SECOND, "bob")))

    assert names(report, "/locks/a") == ["ann", "bob"]


def test_equal_labels_are_told_apart_by_their_addresses() -> None:
    """Curator's clients of one host are all called alike."""
    table = connected((FIRST, "127.0.0.1:59112"), (SECOND, "127.0.0.1:59114"))
    report = report_of(*held("/locks/a", (FIRST, "127.0.0.1"), (SECOND, "127.0.0.1")), table)

    assert names(report, "/locks/a") == ["127.0.0.1:59112", "127.0.0.1:59114"]


def test_without_a_table_the_ends_of_sessions_tell_equal_labels_apart() -> None:
    """An address is not known there."""
    report = report_of(*held("/locks/a", (FIRST, "worker-a"), (SECOND, "worker-a")))

    assert names(report, "/locks/a") == ["worker-a …1e3f", "worker-a …1e40"]


def test_sessions_that_end_alike_are_written_out() -> None:
    """Each server counts from zero, so the last digits of two of them are often the same."""
    report = report_of(*held("/locks/a", (FIRST, "worker-a"), (ELSEWHERE, "worker-a")))

    assert names(report, "/locks/a") == [f"worker-a {FIRST:#x}", f"worker-a {ELSEWHERE:#x}"]


def test_equal_labels_in_different_locks_are_told_apart_too() -> None:
    """A name is the same on every screen."""
    facts = (*held("/locks/a", (FIRST, "worker")), *held("/locks/b", (SECOND, "worker")))
    report = report_of(*facts)

    assert names(report, "/locks/a") == ["worker …1e3f"]
    assert names(report, "/locks/b") == ["worker …1e40"]


def test_several_places_of_one_session_share_its_name() -> None:
    """One client with two locks is not two of one name."""
    facts = (*held("/locks/a", (FIRST, "worker")), *held("/locks/b", (FIRST, "worker")))

    assert names(report_of(*facts), "/locks/b") == ["worker"]


def test_without_a_label_the_address_is_the_name() -> None:
    """It is unique by nature."""
    report = report_of(*held("/locks/a", (FIRST, "")), connected((FIRST, "10.0.0.1:4000")))

    assert names(report, "/locks/a") == ["10.0.0.1:4000"]


def test_two_connections_of_one_address_are_told_apart_by_their_sessions() -> None:
    """Through two servers, or an address translation, an address may be there twice."""
    here = connected((FIRST, "10.0.0.1:4000"))
    there = connected((SECOND, "10.0.0.1:4000"), server=ZK2)
    lock = held("/locks/a", (FIRST, "w"), (SECOND, "w"))

    assert names(report_of(*lock, here, there), "/locks/a") == ["w …1e3f", "w …1e40"]


def test_without_anything_the_session_is_the_name() -> None:
    """There is nothing else."""
    assert names(report_of(*held("/locks/a", (FIRST, ""))), "/locks/a") == [f"{FIRST:#x}"]


def test_the_port_tells_several_of_a_host_apart_that_the_user_named() -> None:
    """His name stands for the host."""
    settings = Settings(owners={"10.0.0.1": "billing"})
    lock = list(held("/locks/a", (FIRST, ""), (SECOND, "")))
    two = connected((FIRST, "10.0.0.1:4000"), (SECOND, "10.0.0.1:4001"))
    one = connected((FIRST, "10.0.0.1:4000"), (SECOND, "10.0.0.2:4001"))

    both = names(report_of(*lock, two, settings=settings), "/locks/a")
    assert both == ["billing:4000", "billing:4001"]
    assert names(report_of(*lock, one, settings=settings), "/locks/a")[0] == "billing"


def test_the_owner_stays_the_label() -> None:
    """It is public: scripts compare it."""
    table = connected((FIRST, "127.0.0.1:59112"), (SECOND, "127.0.0.1:59114"))
    report = report_of(*held("/locks/a", (FIRST, "127.0.0.1"), (SECOND, "127.0.0.1")), table)
    view = report.view("/locks/a")

    assert view is not None
    assert [one.owner for one in view.holders] == ["127.0.0.1"]
    assert {one.owner for one in report.sessions.values()} == {"127.0.0.1"}
    assert [one.name for one in report.sessions.values()] == ["127.0.0.1:59112", "127.0.0.1:59114"]


def test_who_is_alone_again_has_the_label_for_itself() -> None:
    """A name is as short as it can be."""
    examiner, known = Examiner(), world(own(), *held("/locks/a", (FIRST, "w"), (SECOND, "w")))
    before = examiner.look(known, NOW)
    known = known.after(*held("/locks/a", (FIRST, "w"), at=NOW + 10))
    after = examiner.look(known, NOW + 10)

    assert names(before, "/locks/a") == ["w …1e3f", "w …1e40"]
    assert names(after, "/locks/a") == ["w"]
    assert names(before, "/locks/a") == ["w …1e3f", "w …1e40"]  # a report does not change


def test_a_changed_label_is_heard() -> None:
    """Some clients write their label only when they lead."""
    examiner, known = Examiner(), world(own(), *held("/locks/a", (FIRST, "x"), (SECOND, "w")))
    examiner.look(known, NOW)
    (name,) = [one for one in known.family("/locks/a").members if one.endswith("0000000000")]
    stat = Stat(100, 300, NOW, owner=FIRST, version=1)
    told = Node(path=join("/locks/a", name), stat=stat, data=b"w", zxid=NOW + 900, at=NOW + 10)
    after = examiner.look(known.after(told), NOW + 10)

    assert names(after, "/locks/a") == ["w …1e3f", "w …1e40"]


def test_looks_that_are_not_thorough_count_the_rest_later() -> None:
    """Fifty thousand labels would keep the first picture waiting."""
    many = [(0x1000_0000_0000_0000 + n, f"w{n % 1500}") for n in range(3_000)]
    examiner, known = Examiner(), world(own(), *held("/locks/a", *many))
    report = examiner.look(known, NOW, thorough=False)
    looks = 1
    while examiner.is_behind and looks < 10_000:
        report = examiner.look(known, NOW + looks, thorough=False)
        looks += 1

    assert looks > 1
    assert len(set(names(report, "/locks/a"))) == len(many)


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
    """However it came to this, the same locks give the same names, and no two are alike."""
    examiner, known = Examiner(), world(own())
    for number, told in enumerate(past):
        at = NOW + 10 * (number + 1)
        for lock in range(3):
            who = [(FIRST + one, f"w{label}") for place, one, label in told if place == lock]
            known = known.after(*held(f"/locks/{lock}", *who, at=at))
        report = examiner.look(known, at, thorough=is_thorough)
    fresh = Examiner().look(known, at)

    for path in fresh.paths:
        assert names(report, path) == names(fresh, path)
    called = {(one.session, one.name) for v in fresh.views for one in (*v.holders, *v.waiters)}
    assert len({name for _, name in called}) == len(called)
