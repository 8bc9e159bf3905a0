"""P15: many sessions that expired at once; with near misses."""

from model.builders import NOW, ZK1, session
from model.findings.cases import SECOND, ensemble_context, found, only

from zktop.model.findings.context import EnsembleContext
from zktop.model.history.events import Elapsed, Event
from zktop.model.history.expiries import KEPT_MS, ExpiredPlace, RecentExpiries
from zktop.model.history.sessions import SessionHistories
from zktop.model.text import Text


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
        "6 of 8 sessions with places in locks expired within 5s, from 00:16:40Z on: "
        "6 on zk1:2181, 6 from 10.0.4.31. 4 locks were freed, 2 requests left a queue."
    )


def test_p15_is_quiet_for_a_few() -> None:
    """And for a small part of all; many places of one session are one session."""
    assert not found("P15", after(*map(gone, range(4))))
    assert not found("P15", after(*[gone(1)] * 9))
    assert not found("P15", after(*map(gone, range(6)), alive=100))


def test_those_that_expired_one_after_the_other_are_not_at_once() -> None:
    """Ten within five minutes: never more than two in a quarter of a minute."""
    expiries = RecentExpiries()
    for number in range(10):
        at = NOW + number * 10 * SECOND
        expiries.look([_expired(number, at)], SessionHistories(), at)

    assert len(expiries.most_at_once()) == 2


def test_they_are_forgotten_after_two_minutes() -> None:
    """Long enough to be seen; the log of events has them for longer."""
    expiries = RecentExpiries()
    expiries.look([_expired(number, NOW) for number in range(9)], SessionHistories(), NOW)
    expiries.look([], SessionHistories(), NOW + KEPT_MS)
    still = len(expiries.most_at_once())
    expiries.look([], SessionHistories(), NOW + KEPT_MS + 1)

    assert (still, len(expiries.most_at_once())) == (9, 0)


def _expired(number: int, at: int) -> Event:
    lock = Text(f"/locks/{number}")
    return Event(
        at=at,
        event="expired",
        lock=lock,
        session=session(f"s{number}"),
        held=Elapsed(SECOND, "exact"),
    )
