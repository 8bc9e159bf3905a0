"""P11 to P16: servers that are down, behind or crowded; mass expiries. Each has a near miss."""

import itertools
import time
import timeit
from typing import Never

import pytest
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    At,
    all_rules,
    ctx,
    ensemble_context,
    facts,
    found,
    k,
    lacks,
    only,
)
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    ZK3,
    connections,
    figures,
    no_connections,
    out,
    own,
    row,
    session,
)
from msgspec.structs import replace

from zktop.model.facts import HOUR_MS, Link, Server, ServerState, Session
from zktop.model.findings.context import EnsembleContext, LockContext
from zktop.model.history.events import ENDED, Elapsed, Event
from zktop.model.history.expired_sessions import KEPT_MS, MAX_NODES, ExpiredPlace, RecentExpiries
from zktop.model.history.session_activity import SessionHistories
from zktop.model.text import Text

UP = tuple(replace(figures(one), state="up") for one in (ZK1, ZK2))


def with_third(third: Server) -> EnsembleContext:
    """Two servers that are up, and a third one."""
    return ensemble_context(*UP, third)


def test_p13_fires_for_a_server_that_refuses_connections() -> None:
    """It names the server, the reason, and how many others answered."""
    finding = only("P13", with_third(out(ZK3, "down")))

    assert finding.sentence == (
        "zk3:2181 is down: connection refused (noticed at 00:16:28Z). 2 of 3 servers answered."
    )
    assert (finding.severity, finding.confidence) == ("warning", "C4")
    assert finding.since == NOW - 12_000
    assert finding.evidence[0].text == "asked at 00:16:39Z: connection refused"


def test_p13_of_the_last_server_means_that_no_client_is_served() -> None:
    """The ensemble survives only if other servers are up."""
    last = only("P13", ensemble_context(out(ZK1, "down"))).advice
    other = only("P13", with_third(out(ZK3, "down"))).advice

    assert last.endswith("Until then no client is served.")
    assert other.endswith("Until then the ensemble survives one fewer failure.")


def test_p13_fires_for_a_server_that_serves_no_clients() -> None:
    """It has no quorum, or still loads what the leader sends; its answer is the same."""
    finding = only("P13", with_third(out(ZK3, "no-quorum", "it serves no clients")))

    assert finding.sentence.startswith(
        "zk3:2181 runs but serves no clients: it has no quorum, or is still starting (noticed"
    )


def test_p13_p14_fires_with_the_same_id_as_long_as_it_lasts() -> None:
    """So it is one alert, however often the server is asked."""
    for rule, state in (("P13", "down"), ("P14", "no-answer")):
        once, later = out(ZK3, state), replace(out(ZK3, state), at=NOW)

        assert only(rule, with_third(once)).id == only(rule, with_third(later)).id


def test_p14_fires_for_a_server_that_was_silent_twice() -> None:
    """Perhaps it is the network in between: that is assumed away, and said."""
    finding = only("P14", with_third(out(ZK3, "no-answer", "no answer within 1.5 s", 3_000)))

    assert finding.sentence == (
        "zk3:2181 does not answer (noticed at 00:16:37Z). 2 of 3 servers answered."
    )
    assert finding.confidence == "C3"
    assert [one.supports for one in finding.evidence] == [True, None]


QUIET: list[ServerState] = ["up", "unreached"]


@pytest.mark.parametrize("state", QUIET)
def test_p13_p14_is_quiet_for_a_server_that_is(state: ServerState) -> None:
    """A member that was never reached may be fine, at an address that means nothing here."""
    case = with_third(out(ZK3, state))

    assert not found("P13", case) + found("P14", case)


def test_p13_p14_is_quiet_where_tables_are_refused() -> None:
    """A locked-down server is up; and so is one of a recording that did not note it yet."""
    locked = Server(server=ZK3, channel="4lw", why="mntr is not in the whitelist", at=NOW, zxid=0)
    case = ensemble_context(*UP, locked, no_connections(ZK3))

    assert not found("P13", case) + found("P14", case)


def gone(number: int, at: int = NOW, *, held: bool = True) -> ExpiredPlace:
    """One session, with a lock of its own."""
    lock = Text(f"/locks/{number}")
    return ExpiredPlace(at, session(f"s{number}"), lock, held, ZK1, "10.0.4.31")


def after(*expired: ExpiredPlace, alive: int = 0) -> EnsembleContext:
    """So many are still there."""
    return ensemble_context(expired=expired, owners={session(f"alive{n}") for n in range(alive)})


def test_p15_fires_for_many_sessions_at_once() -> None:
    """How many, where they were, and what that freed."""
    places = [gone(n, NOW + n * SECOND, held=n < 4) for n in range(6)]

    assert only("P15", after(*places, alive=2)).sentence == (
        "6 sessions with places in locks expired within 5s, starting at 00:16:40Z: "
        "6 on zk1:2181, 6 from 10.0.4.31. 4 locks were freed, 2 requests left a queue. "
        "2 other sessions have places now."
    )


def test_p15_names_only_what_most_of_the_sessions_share() -> None:
    """Four of eight are not most."""
    places = [replace(gone(n), server=(ZK1, ZK2)[n % 2], host=f"10.0.0.{n}") for n in range(8)]

    assert "starting at 00:16:40Z. 8 locks" in only("P15", after(*places)).sentence


@pytest.mark.parametrize(("unseen", "seen"), [(6, "nothing"), (4, "only part")])
def test_p15_gives_the_limits_of_a_period_that_zktop_did_not_see(unseen: int, seen: str) -> None:
    """After a lost connection all sessions that expired meanwhile vanish in one look."""
    since = [NOW - 6 * SECOND if number < unseen else None for number in range(6)]
    places = [replace(gone(n), unseen_from=since[n]) for n in range(6)]

    sentence = only("P15", after(*places)).sentence

    assert f"between 00:16:34Z and 00:16:40Z, of which zktop saw {seen}: 6 on" in sentence


def test_p15_refers_to_the_events_for_the_evidence() -> None:
    """Sessions may be silent, unlisted, or expired by a transaction log."""
    (seen, _) = only("P15", after(*map(gone, range(6)))).evidence

    assert seen.text.endswith("each event says how that is known")


def test_a_session_that_an_administrator_ended_is_no_part_of_a_mass_expiry() -> None:
    """No host, network or server failed."""
    expiries = RecentExpiries()
    ended = replace(_expired(1, NOW), why=ENDED)
    expiries.look([ended, _expired(2, NOW)], SessionHistories(), NOW)

    assert [one.session for one in expiries.most_at_once()] == [session("s2")]


def test_p15_is_quiet_for_a_few() -> None:
    """And for a small part of all; many places of one session are one session."""
    assert not found("P15", after(*map(gone, range(4))))
    assert not found("P15", after(*[gone(1)] * 9))
    assert not found("P15", after(*map(gone, range(6)), alive=100))


class _Unlisted(frozenset[Session]):
    """Sessions of which nobody makes a list."""

    def __iter__(self) -> Never:
        raise AssertionError

    __sub__ = __rsub__ = __iter__


def test_p15_costs_no_more_for_many_sessions() -> None:
    """It is asked at every look, and there may be 100,000 of them."""
    case = ensemble_context(expired=[gone(1)] * 9, owners=_Unlisted(map(session, "ab")))

    assert not found("P15", case)


def test_those_that_expired_one_after_the_other_are_not_at_once() -> None:
    """Ten within five minutes: never more than two in a quarter of a minute."""
    expiries = RecentExpiries()
    for number in range(10):
        at = NOW + number * 10 * SECOND
        expiries.look([_expired(number, at)], SessionHistories(), at)

    assert len(expiries.most_at_once()) == 2


def test_the_most_at_once_are_found_in_one_pass() -> None:
    """It runs at every look: ten times as many nodes take ten times as long, not a hundred."""
    few, many = _took(MAX_NODES // 10), _took(MAX_NODES)

    assert many < 40 * few


def _took(number: int) -> float:
    """The CPU time to find the nodes that were removed at once among so many."""
    expiries, sessions = RecentExpiries(), SessionHistories()
    events = [_expired(one, NOW + one) for one in range(number)]
    expiries.look(events, sessions, NOW)
    assert len(expiries.most_at_once()) == number
    return min(
        timeit.repeat(
            lambda: expiries.look(events[-1:], sessions, NOW),
            timer=time.process_time,
            number=1,
            repeat=7,
        )
    )


def test_they_are_forgotten_after_two_minutes() -> None:
    """Long enough to be seen; the log of events has them for longer."""
    expiries = RecentExpiries()
    expiries.look([_expired(number, NOW) for number in range(9)], SessionHistories(), NOW)
    expiries.look([], SessionHistories(), NOW + KEPT_MS)
    still = len(expiries.most_at_once())
    expiries.look([], SessionHistories(), NOW + KEPT_MS + 1)

    assert (still, len(expiries.most_at_once())) == (9, 0)


def test_those_that_expired_together_are_forgotten_together() -> None:
    """Else twelve that expired within two seconds, and one later, would become nine in 14 s."""
    expiries, sessions = RecentExpiries(), SessionHistories()
    times = [NOW] * 4 + [NOW + 2 * SECOND] * 8 + [NOW + 16 * SECOND]
    for number, at in enumerate(times):
        expiries.look([_expired(number, at)], sessions, at)
    numbers = []
    for late in range(0, 3 * MINUTE, SECOND):
        expiries.look([], sessions, NOW + 16 * SECOND + late)
        numbers.append(len(expiries.most_at_once()))

    assert [number for number, _ in itertools.groupby(numbers)] == [12, 1, 0]


def _expired(number: int, at: int) -> Event:
    lock = Text(f"/locks/{number}")
    return Event(
        at=at,
        event="expired",
        lock=lock,
        session=session(f"s{number}"),
        held=Elapsed(SECOND, "exact"),
    )


def at_zxid(server: Text, zxid: int | None, at: int = NOW) -> Server:
    """The figures of one server."""
    return Server(server=server, server_zxid=zxid, at=at, zxid=0)


def reading_from_zk1(*servers: Server) -> EnsembleContext:
    """What zktop knows of the servers while it reads from the first."""
    return ensemble_context(*servers, Link(state="connected", server=ZK1, at=NOW, zxid=0))


def test_p12_fires_when_our_server_is_behind_another() -> None:
    """The other one was asked before, and was already further."""
    case = reading_from_zk1(at_zxid(ZK1, 5_000), at_zxid(ZK2, 9_000, NOW - SECOND))

    assert "at least 4000 transactions behind zk2:2181" in only("P12", case).sentence


def test_p12_counts_only_the_transactions_of_the_newer_epoch() -> None:
    """The upper half of a zxid is the epoch of a leader, and no count."""
    servers = at_zxid(ZK1, 0x5_0000_0BB8), at_zxid(ZK2, 0x6_0000_0FA0, NOW - SECOND)

    assert "at least 4000 transactions" in only("P12", reading_from_zk1(*servers)).sentence


@pytest.mark.parametrize("followers", [0x5_0000_0BB8, 0x6_0000_0000])
def test_p12_is_quiet_after_an_election(followers: int) -> None:
    """A follower has the zxid of the old epoch until the first transaction of the new one."""
    servers = at_zxid(ZK1, followers), at_zxid(ZK2, 0x6_0000_0002, NOW - SECOND)

    assert not found("P12", reading_from_zk1(*servers))


def test_p12_is_not_blind_when_zktop_reads_from_logs() -> None:
    """There is no server that it reads from."""
    assert not lacks("P12", ensemble_context(*UP, Link(state="connected", at=NOW, zxid=0)))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(at_zxid(ZK2, 5_900, NOW - SECOND), id="a little"),
        pytest.param(at_zxid(ZK2, 9_000, NOW + SECOND), id="it was asked later"),
    ],
)
def test_p12_is_quiet_when(other: Server) -> None:
    """Servers are asked one after the other, and the world goes on meanwhile."""
    assert not found("P12", reading_from_zk1(at_zxid(ZK1, 5_000), other))


def test_p12_is_blind_without_our_servers_zxid() -> None:
    """A missing figure does not prove that it is fresh."""
    assert lacks("P12", reading_from_zk1(at_zxid(ZK1, None)))


def crowds(*connections: int | None, state: ServerState = "up") -> EnsembleContext:
    """Servers with so many connections."""
    servers = (ZK1, ZK2, ZK3)[: len(connections)]
    return ensemble_context(
        *(
            replace(figures(one), state=state, connections=number)
            for one, number in zip(servers, connections, strict=True)
        )
    )


def test_p16_fires_for_a_server_with_most_of_the_clients() -> None:
    """It says how many should reconnect: some of them choose the same server again."""
    finding = only("P16", crowds(700, 190, 10))

    assert finding.sentence == (
        "zk1:2181 serves 700 of 900 connections, zk3:2181 10: clients stay where they are, even "
        "when a server has come back."
    )
    assert (finding.severity, finding.confidence) == ("info", "C4")
    assert "with 86 percent" in finding.advice


@pytest.mark.parametrize("connections", [(500, 0), (400, 400, 0)])
def test_p16_fires_beside_a_server_without_clients(connections: tuple[int, ...]) -> None:
    """It was restarted a moment ago."""
    assert f"zk{len(connections)}:2181 0:" in only("P16", crowds(*connections)).sentence


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(crowds(0, 0), id="no clients"),
        pytest.param(crowds(430, 250, 220), id="less than one and a half times the mean"),
        pytest.param(crowds(150, 20, 10), id="few clients in all"),
        pytest.param(crowds(900), id="one server"),
        pytest.param(crowds(900, None), id="one server counts"),
        pytest.param(crowds(900, 10, state="down"), id="they are down"),
    ],
)
def test_p16_is_quiet_when(case: EnsembleContext) -> None:
    """Chance alone never spreads clients evenly."""
    assert not found("P16", case)


def test_p16_keeps_its_id_while_clients_come_and_go() -> None:
    """One alert, whatever the numbers are."""
    assert only("P16", crowds(700, 190, 10)).id == only("P16", crowds(650, 200, 60)).id


def test_p11_fires_for_a_later_node_with_an_earlier_time() -> None:
    """One finding for one clock, whatever lock shows it."""
    case = ctx(k("a", 0, age_ms=10 * SECOND), k("b", 1, age_ms=15 * SECOND))
    finding = only("P11", case)

    assert finding.sentence == "The leader's clock went back by 5s: ages are approximate."
    assert (finding.lock, finding.confidence) == (None, "C4")


def test_p11_fires_for_a_node_from_the_future() -> None:
    """Its time is later than the moment it was read."""
    assert only("P11", ctx(k("a", 0, age_ms=-5 * SECOND))).confidence == "C3"
    assert "P11" in all_rules(ctx(k("a", 0, age_ms=-5 * SECOND)))


def clocks(server_ms: int, *, mode: str = "leader", read_at: int = NOW + 100) -> LockContext:
    """A lock; its server dates zktop's connection by its clock, so far ahead of zktop's own."""
    mine = row("zktop", established=NOW + server_ms - 40)
    tables = own(), figures(ZK1, mode=mode), connections(ZK1, mine, at=read_at)
    return ctx(k("a", 0, age_ms=2 * HOUR_MS + server_ms), tables=tables)


def test_p11_fires_for_a_clock_that_is_behind() -> None:
    """The server dates the connection of zktop an hour before zktop made it."""
    finding = only("P11", clocks(-HOUR_MS))

    assert finding.sentence.startswith("The leader's clock is behind zktop's own by 1h00m")
    assert finding.confidence == "C3"
    assert only("P11", clocks(-HOUR_MS, mode="follower")).confidence == "C2"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(clocks(-10 * SECOND), id="the connection was slow"),
        pytest.param(clocks(-HOUR_MS, read_at=NOW - 100), id="the table is from before it"),
    ],
)
def test_p11_is_quiet_about_the_time_of_a_connection_if(case: LockContext) -> None:
    """Neither shows that a clock is behind."""
    assert not found("P11", case)


def test_p11_is_quiet_about_a_newcomer_at_the_gate_of_a_semaphore() -> None:
    """It was read when it came; the leases were read five seconds before."""
    gate = facts(k("ann", 0, age_ms=0), path=f"{PATH}-__lock__", at=NOW + 5 * SECOND)

    assert not found("P11", ctx(At("a" * 32, "bob"), data=b"1", more_facts=gate))


def test_p11_compares_nodes_in_order_of_arrival() -> None:
    """After an overflow the newest is the first in the queue."""
    first = k("a", 2_147_483_647, czxid=100, age_ms=60 * SECOND)
    wrapped = At(k("b", 0).name[:-10] + "-2147483648", "b", czxid=200, age_ms=0)
    case = ctx(first, wrapped)

    assert [member.node for member in case.members] == [wrapped.name, first.name]
    assert not found("P11", case)


@pytest.mark.parametrize("ages", [(10_000, 10_500), (-500, -900)])
def test_p11_is_quiet_within_a_second(ages: tuple[int, int]) -> None:
    """That changes no age on a screen."""
    assert not found("P11", ctx(*(k("ab"[n], n, age_ms=age) for n, age in enumerate(ages))))
