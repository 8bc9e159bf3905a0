"""S6 and R6: sequence numbers; with a near miss each."""

import pytest
from model.findings.cases import (
    PATH,
    At,
    all_rules,
    ctx,
    curator,
    found,
    history,
    k,
    only,
    shared_context,
    watching,
)
from model.make_facts import NOW, session, world
from model.semaphores import (
    ANN_LEASE,
    CURATOR_GATE,
    CURATOR_LEASES,
    POOL,
    created,
    curator_pool,
    folder,
    kazoo_pool,
)

from zktop.model.facts import AnyFact, Node, Stat, join
from zktop.model.findings.context import LockContext
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

LAST = 2_147_483_647


def counter(following: int) -> Stat:
    """The Stat of a root whose next sequential child gets this number."""
    cversion = (2 * following - 1) & 0xFFFF_FFFF
    signed = cversion - (1 << 32) if cversion >= 1 << 31 else cversion
    return Stat(50, 50, 0, cversion=signed, num_children=1, pzxid=101)


def test_s6_fires_for_negative_numbers_at_once() -> None:
    """The order by czxid is the true one; the newest now sorts first (T32)."""
    wrapped = At(k("c", 0).name[:-10] + "-2147483648", "c")
    finding = only("S6", ctx(k("a", LAST - 1), k("b", LAST), wrapped))

    assert (finding.severity, finding.confidence, finding.at_once) == ("critical", "C4", True)
    assert "its order is no longer the order of arrival" in finding.sentence
    assert finding.evidence[0].text == "1 of its numbers is negative"


@pytest.mark.parametrize("newest", [LAST - 1, LAST])
def test_s6_fires_before_the_first_negative_number(newest: int) -> None:
    """The members that are there have come in this order."""
    finding = only("S6", ctx(k("a", newest - 1), k("b", newest), stat=counter(newest + 1)))

    assert finding.severity == "critical"
    assert "its order will no longer be the order of arrival" in finding.sentence


def test_s6_warns_before_the_end() -> None:
    """Ten million numbers are left."""
    finding = only("S6", ctx(k("a", 7), stat=counter(LAST - 9_000_000)))

    assert (finding.severity, finding.confidence) == ("warning", "C4")
    assert finding.sentence == f"{PATH} has 9000000 sequence numbers left."


def test_s6_warns_of_a_lock_without_members() -> None:
    """The next one may come at any time."""
    settings = Settings(roots=(Root(PATH, layout="kazoo-lock"),))

    assert found("S6", ctx(stat=counter(LAST - 9_000_000), settings=settings))


def test_s6_fires_for_a_rate_that_will_exhaust_it_in_a_month() -> None:
    """Information only, because rates change."""
    case = ctx(k("a", 7), stat=counter(LAST - 20_000_000), past=history(requests_per_s=100.0))

    assert "about 2d07h at the present rate" in only("S6", case).sentence


@pytest.mark.parametrize("rate", [None, 1.0])
def test_s6_is_quiet_for_a_counter_with_room(rate: float | None) -> None:
    """Two thousand million numbers are enough for one a second."""
    case = ctx(k("a", 7), stat=counter(8), past=history(requests_per_s=rate))

    assert not found("S6", case)
    assert not all_rules(ctx(k("a", 7), stat=counter(8), past=history(requests_per_s=rate)))


@pytest.mark.parametrize(
    "pool",
    [
        pytest.param(curator_pool(), id="Curator, in folders"),
        pytest.param(
            [*folder(POOL, "leases", "locks"), *folder(CURATOR_GATE), *folder(CURATOR_LEASES)],
            id="Curator, without members",
        ),
        pytest.param([*kazoo_pool(1), created(ANN_LEASE, "ann", 90)], id="kazoo"),
    ],
)
def test_s6_is_quiet_about_a_counter_that_numbers_no_members(pool: list[AnyFact]) -> None:
    """The root of a semaphore counts folders, or leases that have no numbers."""
    made = lock_at(POOL, world(*pool), Settings(), NOW)
    past = history(requests_per_s=1_000.0)

    assert isinstance(made, Lock)
    assert not found("S6", LockContext(lock=made, shared=shared_context(), past=past))


WRITER = curator("alice", 5, "WRIT")


def test_r6_fires_for_a_writer_that_reads_under_its_own_number() -> None:
    """One owner, two nodes: no double request and no second holder (T31)."""
    case = ctx(
        curator("alice", 5, "WRIT"),
        curator("alice", 5, "READ"),
        curator("bob", 6, "WRIT"),
        tables=[watching({})],
    )
    finding = only("R6", case)

    assert finding.sentence.startswith("alice writes /locks/orders and reads it")
    assert finding.sessions == (session("alice"),)
    assert not found("S2", case)


def test_r6_is_quiet_for_nodes_that_were_not_read() -> None:
    """Their owners are unknown."""
    reader = curator("bob", 5, "READ")
    names = [Text(one.name) for one in (WRITER, reader)]
    unread = [Node(path=join(PATH, name), zxid=2_000_000, at=NOW) for name in names]
    case = ctx(more_facts=unread)

    assert len(case.members) == 2
    assert not found("R6", case)


def test_r6_is_quiet_for_two_sessions() -> None:
    """One number for two sessions is no re-entry."""
    assert not found("R6", ctx(WRITER, curator("bob", 5, "READ"), tables=[watching({})]))
