"""S6 and R6: sequence numbers; with a near miss each."""

import pytest
from model.builders import session
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
    watching,
)

from zktop.model.facts import Stat

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


def test_s6_warns_before_the_end() -> None:
    """Ten million numbers are left."""
    finding = only("S6", ctx(k("a", 7), stat=counter(LAST - 9_000_000)))

    assert (finding.severity, finding.confidence) == ("warning", "C4")
    assert finding.sentence == f"{PATH} has 9000000 sequence numbers left."


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


def test_r6_is_quiet_for_two_sessions() -> None:
    """One number for two sessions is no re-entry."""
    assert not found("R6", ctx(WRITER, curator("bob", 5, "READ"), tables=[watching({})]))
