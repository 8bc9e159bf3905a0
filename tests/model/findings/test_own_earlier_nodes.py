"""B2 to B4: clients that wait for a node of their own; with a near miss each."""

import msgspec
import pytest
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    At,
    connected,
    ctx,
    facts,
    found,
    held,
    history,
    k,
    only,
    plain,
    usual,
    watching,
)
from model.make_facts import NOW, ZK1, connections, expiry, no_connections, row, world

from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings


def test_b2_fires_for_two_nodes_of_one_request() -> None:
    """The guid in the names proves it, so no second look is needed."""
    twin = At(k("alice", 0).name[:-1] + "5", "alice")
    finding = only("B2", ctx(k("alice", 0), twin))

    assert "waits for its own ghost" in finding.sentence
    assert (finding.confidence, finding.at_once) == ("C4", True)
    assert finding.evidence[0].text.endswith(", which a client uses for one node at a time")


def test_b2_does_not_advise_a_restart_if_the_ghost_belongs_to_another_session() -> None:
    """The end of the later session leaves the earlier node in the queue."""
    twin = At(k("alice", 0).name[:-1] + "5", "alice again")
    finding = only("B2", ctx(k("alice", 0), twin))

    assert "goes when its own session ends" in finding.advice
    assert "Restart" not in finding.advice
    assert finding.evidence[1].supports is False


def test_b2_advises_to_delete_a_ghost_that_no_session_owns() -> None:
    """A persistent node goes with no session."""
    ghost, twin = At(k("alice", 0).name, ""), At(k("alice", 0).name[:-1] + "5", "alice")
    advice = only("B2", ctx(ghost, twin)).advice

    assert advice.startswith("Delete ")
    assert "session ends" not in advice


@pytest.mark.parametrize("read", [(), (0,), (1,)])
def test_b2_does_not_say_which_session_owns_an_unread_node(read: tuple[int, ...]) -> None:
    """Neither another one nor the same."""
    names = (k("alice", 0).name[:-1] + digit for digit in "05")
    listing, root, *nodes = facts(*(At(name, "alice") for name in names))
    known = world(listing, root, *(nodes[place] for place in read))
    lock = lock_at(PATH, known, Settings(), NOW)
    assert isinstance(lock, Lock)
    case = msgspec.structs.replace(ctx(k("alice", 0)), lock=lock)
    finding = only("B2", case)

    assert "session ends" not in finding.advice
    assert finding.evidence[1].supports is None


def test_b2_is_quiet_for_two_requests_of_one_session() -> None:
    """Two lock objects have two guids, even in one session."""
    assert not found("B2", ctx(k("alice", 0), k("alice's other thread", 1, by="alice")))


def reconnected(at: int) -> object:
    """Alice's connection, made so long ago."""
    return connections(ZK1, row("alice", established=NOW - at, last_cxid=1), zxid=1_000_000)


FIRST, SECOND_TRY = plain("alice", 1, age_ms=30 * SECOND), plain("alice", 2, age_ms=20 * SECOND)


def test_b3_fires_for_a_create_that_was_retried_after_a_new_connection() -> None:
    """It waits for its own node, and its connection was made between the two creations."""
    tables = (reconnected(21 * SECOND), watching({"alice": [FIRST]}))

    assert only("B3", ctx(FIRST, SECOND_TRY, tables=tables)).confidence == "C2"


def test_b4_says_that_an_overdue_session_ends_at_any_moment() -> None:
    """There is nothing left to count down."""
    tables = (connected("bob", "zktop"), expiry(ZK1, {"alice": -SECOND}))
    queue = (
        At(k(who, place).name, who, label="job") for place, who in enumerate(("alice", "bob"))
    )
    case = ctx(*queue, tables=tables)

    assert only("B4", case).sentence.endswith("; it expires at any moment.")


@pytest.mark.parametrize(("held_ms", "confidence"), [(30 * SECOND, "C3"), (15 * SECOND, "C2")])
def test_b3_is_surer_after_a_long_and_idle_hold(held_ms: int, confidence: str) -> None:
    """Twenty times the usual hold, and not one request since the retry."""
    now = connections(
        ZK1, row("alice", established=NOW - 21 * SECOND, last_cxid=1), zxid=1_000_000
    )
    before = connections(
        ZK1, row("alice", established=NOW - 21 * SECOND, last_cxid=1), at=NOW - 21 * SECOND
    )
    past = history(holds=usual(10, SECOND), stays=held(FIRST, held_ms))
    tables = (before, now, watching({"alice": [FIRST]}))

    assert only("B3", ctx(FIRST, SECOND_TRY, tables=tables, past=past)).confidence == confidence


def test_b3_is_no_surer_if_the_earlier_node_does_not_hold_the_lock() -> None:
    """How long the lock has been held says nothing about a node that waits as well."""
    before, now = (
        connections(ZK1, row("alice", established=NOW - 21 * SECOND, last_cxid=1), at=at)
        for at in (NOW - 10 * MINUTE, NOW)
    )
    holder = plain("carol", 0, age_ms=40 * SECOND)
    tables = (before, now, watching({"alice": [FIRST]}))
    case = ctx(holder, FIRST, SECOND_TRY, tables=tables, past=history(holds=usual(10, SECOND)))

    assert only("B3", case).confidence == "C2"


@pytest.mark.parametrize(
    ("connected_ago", "watched"),
    [
        pytest.param(60 * SECOND, FIRST, id="no reconnection: two threads"),
        pytest.param(21 * SECOND, "/elsewhere", id="it does not wait for itself"),
    ],
)
def test_b3_is_quiet_when(connected_ago: int, watched: At | str) -> None:
    """Two threads of one client are common, and no ghost."""
    tables = (reconnected(connected_ago), watching({"alice": [watched]}))

    assert not found("B3", ctx(FIRST, SECOND_TRY, tables=tables))


OLD, NEW = k("w7", 1, by="s1"), k("w7", 2, by="s2")


def test_b4_fires_for_a_process_that_waits_for_its_old_session() -> None:
    """The old session is connected nowhere; the countdown is in the sentence (T27)."""
    tables = (connected("s2", "zktop"), expiry(ZK1, {"s1": 7 * SECOND, "s2": 9 * SECOND}))
    finding = only("B4", ctx(OLD, NEW, tables=tables))

    assert finding.sentence == (
        f"w7 waits in {PATH} for its own previous session; it expires in at most 8s."
    )


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param((connected("s1", "s2"),), id="both are connected: two instances"),
        pytest.param((no_connections(ZK1),), id="no data"),
        pytest.param((connected("zktop"),), id="neither is connected"),
        pytest.param(
            (connected("s2", "zktop", established=NOW - 2 * MINUTE),),
            id="the waiter was connected when the other node was created: two instances",
        ),
    ],
)
def test_b4_is_quiet_when(tables: tuple[object, ...]) -> None:
    """Two live sessions of one label are two instances, and unknown is not gone."""
    assert not found("B4", ctx(OLD, NEW, tables=tables))


def test_b4_is_quiet_if_the_old_node_blocks_nothing() -> None:
    """Two readers hold at once, and each queue of a lock has places of its own."""
    old, new = (k("w7", number, "rlock", by=f"s{number}") for number in (1, 2))
    writer = k("ann", 0, by="s0")
    tables = (connected("s0", "s2", "zktop"),)

    assert not found("B4", ctx(writer, old, new, tables=tables))


def test_b4_is_quiet_for_nodes_without_a_label() -> None:
    """A client that writes the text None is not the earlier session of all that write nothing."""
    unnamed, none = plain("s1", 1), plain("s2", 2, label="None")

    assert not found("B4", ctx(unnamed, none, tables=(connected("s2", "zktop"),)))
