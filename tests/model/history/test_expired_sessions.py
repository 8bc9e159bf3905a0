"""The ledger of sessions that expired: what each freed, and who got it."""

from model.make_facts import ZK1, connections, own, row, session, world
from msgspec.structs import replace

from zktop.model.history.events import ENDED, Elapsed, Event
from zktop.model.history.expired_sessions import (
    MAX_SESSIONS,
    ExpiredSession,
    ExpiryLedger,
    FreedLock,
)
from zktop.model.history.session_activity import SessionHistories
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import Ensemble

HELD = Elapsed(5_000, "exact")


def event(kind: str, who: str, lock: str, at: int = 100, held: Elapsed | None = None) -> Event:
    """Something that happened to a session's node in a lock."""
    return Event(at=at, event=kind, lock=Text(lock), session=session(who), owner=who, held=held)


def test_a_session_frees_what_it_held_and_leaves_its_queues() -> None:
    """One entry, with the address at which it was seen last."""
    ledger, sessions = ExpiryLedger(), SessionHistories()
    known = world(own(), connections(ZK1, row("alice")))
    sessions.look(Ensemble.of(known, known.at))
    ledger.look(
        [event("expired", "alice", "/a", held=HELD), event("expired", "alice", "/b")], sessions
    )

    assert ledger.entries == (
        ExpiredSession(
            100,
            session("alice"),
            Text("alice"),
            sessions.last_place(session("alice"))[1],
            (FreedLock(Text("/a")),),
            (Text("/b"),),
        ),
    )
    assert ledger.entries[0].client


def test_a_session_with_several_nodes_in_a_lock_frees_it_once() -> None:
    """A writer that also reads; its nodes may be removed between two looks."""
    ledger, sessions = ExpiryLedger(), SessionHistories()
    its = [event("expired", "alice", "/a", held=HELD), event("expired", "alice", "/b")]
    ledger.look([*its, *its], sessions)
    ledger.look(its, sessions)

    (one,) = ledger.entries
    assert (one.freed, one.left) == ((FreedLock(Text("/a")),), ("/b",))


def test_a_session_that_an_administrator_ended_did_not_expire() -> None:
    """It was active."""
    ledger = ExpiryLedger()
    ended = replace(event("expired", "alice", "/a", held=HELD), why=ENDED)
    ledger.look([ended], SessionHistories())

    assert ledger.entries == ()


def test_the_first_client_that_acquires_it_got_it() -> None:
    """In the same look or a later one; the next holder got it from that client."""
    ledger, sessions = ExpiryLedger(), SessionHistories()
    gone = [event("expired", "alice", path, held=HELD) for path in ("/a", "/b")]
    ledger.look([event("acquired", "bob", "/a", 140), *gone], sessions)
    ledger.look(
        [event("acquired", "eve", "/a", 400), event("acquired", "eve", "/b", 500)], sessions
    )

    assert ledger.entries[0].freed == (
        FreedLock(Text("/a"), Text("bob"), session("bob"), 40),
        FreedLock(Text("/b"), Text("eve"), session("eve"), 400),
    )


def test_the_client_that_got_it_stays_when_another_node_of_the_session_is_removed() -> None:
    """A writer that also read: its two nodes go in two looks."""
    ledger, sessions = ExpiryLedger(), SessionHistories()
    gone = event("expired", "alice", "/a", held=HELD)
    ledger.look([gone, event("acquired", "bob", "/a", 140)], sessions)
    ledger.look([gone], sessions)

    assert ledger.entries[0].freed == (FreedLock(Text("/a"), Text("bob"), session("bob"), 40),)


def test_a_client_that_was_not_read_yet_got_it() -> None:
    """The one that gets it from that client is not the next one."""
    ledger, sessions = ExpiryLedger(), SessionHistories()
    ledger.look([event("expired", "alice", "/a", held=HELD)], sessions)
    unknown = Event(at=140, event="acquired", lock=Text("/a"))
    ledger.look([unknown], sessions)
    ledger.look([event("acquired", "eve", "/a", 400)], sessions)

    assert ledger.entries[0].freed == (FreedLock(Text("/a"), None, None, 40),)


def test_the_last_200_are_kept() -> None:
    """So that months of expiries take no memory."""
    ledger, sessions = ExpiryLedger(), SessionHistories()
    for number in range(2 * MAX_SESSIONS):
        ledger.look([event("expired", f"client{number}", "/a", number)], sessions)

    assert [entry.at for entry in ledger.entries] == [*range(MAX_SESSIONS, 2 * MAX_SESSIONS)]
