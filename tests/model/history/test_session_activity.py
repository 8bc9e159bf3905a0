"""What sessions do from one table to the next."""

import pytest
from model.make_facts import NOW, ZK1, ZK2, connections, row, session, world

from zktop.model.facts import Connection, Text
from zktop.model.history.session_activity import (
    FRESH_MS,
    HOUR_MS,
    SPARE_RECORDS,
    SessionActivity,
    SessionHistories,
)
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.world import World

ALICE = session("alice")
SECOND = 1_000


def seen(*tables: object) -> SessionHistories:
    """The sessions after these tables, which came one after the other."""
    sessions, known = SessionHistories(), World()
    for table in tables:
        known = known.after(table)
        sessions.look(Ensemble.of(known, known.at))
    return sessions


def table(at: int, server: Text = ZK1, **more: int) -> object:
    """Alice's connection so many milliseconds after the beginning."""
    return connections(server, row("alice", **more), at=NOW + at)


def test_what_happened_between_two_tables() -> None:
    """Packets, requests and notifications of the last two seconds."""
    sessions = seen(
        table(0, received=10, sent=10, last_cxid=5),
        table(2_000, received=16, sent=18, last_cxid=8),
    )

    assert sessions.last_step(ALICE) == SessionActivity(
        2_000, received=6, requests=3, notifications=2
    )
    assert sessions.requests_per_s(ALICE) == pytest.approx(1.5)


def test_packets_count_as_requests_if_the_server_lists_no_ids() -> None:
    """Six packets in two seconds."""
    sessions = seen(table(0, received=10, sent=10), table(2_000, received=16, sent=16))

    assert sessions.requests_per_s(ALICE) == pytest.approx(3.0)


def test_one_table_tells_no_rate() -> None:
    """Nor does an unknown session."""
    assert seen(table(0)).last_step(ALICE) is None
    assert seen().requests_per_s(ALICE) is None


def test_counters_that_went_down_start_over() -> None:
    """The server's statistics were reset."""
    sessions = seen(table(0, received=10, sent=10), table(2_000, received=1, sent=1))

    assert sessions.last_step(ALICE) is None


def test_pings_are_no_requests() -> None:
    """Idle since the first table with this transaction id; each ping is only a contact."""
    sessions = seen(
        table(0, received=1, last_cxid=7),
        table(1_000, received=2, last_cxid=8),
        table(2_000, received=3, last_cxid=8),
        table(3_000, received=3, last_cxid=8),
    )

    assert sessions.idle_since(ALICE) == NOW + 1_000
    assert sessions.last_active(ALICE) == NOW


def test_a_session_idle_from_the_first_table_on_may_have_been_busy_before() -> None:
    """The time of its last request is unknown."""
    sessions = seen(table(0, last_cxid=7), table(1_000, last_cxid=7))

    assert sessions.last_active(ALICE) is None


def test_without_transaction_ids_idleness_is_unknown() -> None:
    """A server that does not tell the last request."""
    assert seen(table(0), table(9_000)).idle_since(ALICE) is None


def test_moves_are_remembered_for_ten_minutes() -> None:
    """Another server, or a new connection to the same one."""
    sessions = seen(
        table(0, established=1),
        table(1_000, established=2),
        connections(ZK1, at=NOW + 1_500),
        table(2_000, server=ZK2, established=3),
    )
    later = seen(
        table(0, established=1), table(1_000, established=2), table(602_000, established=2)
    )

    assert sessions.moves(ALICE) == (NOW + 1_000, NOW + 2_000)
    assert later.moves(ALICE) == ()


def test_an_older_claim_of_another_server_is_no_move() -> None:
    """A half-dead connection may stay in the table of the server that was left."""
    sessions = seen(
        table(0, server=ZK2, established=9),
        connections(ZK1, row("alice", quiet_ms=60_000, established=1), at=NOW + 1),
    )

    assert sessions.moves(ALICE) == ()


def test_the_longest_gap() -> None:
    """By the server's clock, or by a count of packets that stands still."""
    by_clock = seen(table(0, quiet_ms=100), table(1_000, quiet_ms=900, received=1))
    by_count = seen(table(0, received=5, quiet_ms=0), table(7_000, received=5, quiet_ms=0))

    assert by_clock.longest_gap(ALICE) == 900
    assert by_count.longest_gap(ALICE) == 7_000
    assert SessionHistories().longest_gap(ALICE) is None


def test_a_new_connection_ends_a_gap() -> None:
    """Its counters start over, so the same count says nothing about what was before."""
    sessions = seen(
        table(0, received=5, established=1),
        table(1_000, received=9, established=2),
        table(60_000, received=9, established=3),
    )

    assert sessions.longest_gap(ALICE) == 0


def test_gaps_are_forgotten() -> None:
    """A gap of the day before yesterday says nothing about today."""
    tables = [table(0, quiet_ms=9_000)]
    tables += [table(at * HOUR_MS, received=at, quiet_ms=5) for at in (1, 2, 3)]

    assert seen(*tables[:2]).longest_gap(ALICE) == 9_000
    assert seen(*tables).longest_gap(ALICE) == 5


def test_sessions_of_the_past_are_forgotten() -> None:
    """Clients that come with a new session each time leave no trace after a while."""
    tables = [
        connections(
            ZK1,
            *(Connection(one, Text("c"), quiet_ms=0) for one in range(start, start + 1_500)),
            at=NOW + start * SECOND,
        )
        for start in (0, 1_500, 3_000, 4_500)
    ]

    assert len(seen(*tables)._records) <= 2 * 1_500 + SPARE_RECORDS


def test_the_same_table_counts_once() -> None:
    """A look without a new table changes nothing."""
    known = world(table(0, received=3, sent=3)).after(table(1_000, received=5, sent=5))
    sessions = seen(table(0, received=3, sent=3), table(1_000, received=5, sent=5))

    sessions.look(Ensemble.of(known, NOW + 5_000))

    assert sessions.requests_per_s(ALICE) == pytest.approx(2.0)


def test_a_session_that_sends_only_pings_is_quiet() -> None:
    """From its first table on, or from that after its last request; packets are mostly pings."""
    early = seen(table(0, received=1, last_cxid=7), table(30_000, received=9, last_cxid=7))
    busy = seen(
        table(0, received=1, last_cxid=7),
        table(10_000, received=4, last_cxid=8),
        table(30_000, received=9, last_cxid=8),
    )

    assert early.quiet_ms(ALICE) == 30_000
    assert busy.quiet_ms(ALICE) == 20_000


def test_a_move_restarts_the_quiet_time() -> None:
    """The other server counts from 0, and what it did in between is unknown."""
    moved = seen(
        table(0, last_cxid=7, established=1),
        table(20_000, ZK2, last_cxid=0, established=2),
        table(30_000, ZK2, last_cxid=0, established=2),
    )

    assert moved.quiet_ms(ALICE) == 10_000


def test_quiet_is_unknown_without_a_count_of_requests_and_with_old_tables() -> None:
    """What is not in a table is not known."""
    sessions, known = SessionHistories(), World()
    for at in (0, 40_000):
        known = known.after(table(at, last_cxid=7))
        sessions.look(Ensemble.of(known, known.at))
    now = sessions.quiet_ms(ALICE)
    sessions.look(Ensemble.of(known, NOW + 40_000 + FRESH_MS + 1))

    assert (now, sessions.quiet_ms(ALICE)) == (40_000, None)
    assert seen(table(0), table(30_000)).quiet_ms(ALICE) is None


def test_a_reset_of_the_counters_hides_requests() -> None:
    """The session may have asked between the last table and the reset."""
    sessions = seen(table(0, last_cxid=7), table(20_000), table(30_000))

    assert sessions.idle_since(ALICE) == NOW + 20_000


def test_a_new_connection_to_the_same_server_may_have_asked_as_often() -> None:
    """Clients count from 0 again."""
    sessions = seen(
        table(0, last_cxid=7, established=1), table(20_000, last_cxid=7, established=2)
    )

    assert sessions.idle_since(ALICE) == NOW + 20_000


def test_sessions_in_the_newest_table_of_another_server_are_kept() -> None:
    """A small table says nothing about them, however late it comes."""
    many = (Connection(one, Text("c")) for one in range(1, 2 * SPARE_RECORDS))
    sessions = seen(
        connections(ZK1, row("alice"), *many, at=NOW), connections(ZK2, at=NOW + HOUR_MS)
    )

    assert sessions.last_place(ALICE)[0] == ZK1
