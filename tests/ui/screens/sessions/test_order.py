"""The order of the sessions: worked out in pieces, and the same as if sorted at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.builders import NOW, ZK1, connections, expiry, figures, lock, own, row
from ui.fake_feed import frames

from zktop.ui.filters import parsed
from zktop.ui.screens.common.session_index import (
    RISKS,
    PacketRates,
    SessionDirectory,
    SessionRisks,
)
from zktop.ui.screens.sessions.order import (
    OFTEN_S,
    PART,
    PIECE,
    Listing,
    Ordering,
    Rest,
    SessionQuery,
    in_order,
    row_of,
)
from zktop.ui.screens.sessions.rows import COLUMNS, SessionRow, SessionsSnapshot

LOCKS = 11  # one more, and those that are called alike would be a fleet
NAMES = [f"{letter}{number}" for letter in "ABCDE" for number in range(LOCKS)]


def scene_of(*quiet: str) -> SessionsSnapshot:
    """Eleven locks with queues; some of the sessions are silent; these have no lock."""
    queues = [(f"A{n}", f"B{n}", f"C{n % 5}", f"D{n % 3}") for n in range(LOCKS)]
    facts = [one for n, queue in enumerate(queues) for one in lock(f"/locks/l{n}", *queue)]
    rows = [row(name, 300 * at, received=at) for at, name in enumerate((*NAMES, *quiet))]
    tables = (
        own(),
        figures(ZK1),
        connections(ZK1, *rows),
        expiry(ZK1, {name: 9_000 - 100 * at for at, name in enumerate(NAMES[:40])}),
    )
    report = frames((NOW, [*facts, *tables]))[-1].report
    roster = SessionDirectory()
    roster.look(report)
    return SessionsSnapshot(report, roster, SessionRisks(roster, report), PacketRates())


SCENE = scene_of("idle-1", "idle-2")


def at_once(asked: SessionQuery) -> list[int]:
    """Sort all rows with one key after the other, as a table does."""
    known = {*SCENE.roster.places, *SCENE.dangers.by_session}
    sessions = known if asked.is_folded else known | SCENE.connected
    rows = [row_of(one, SCENE) for one in sessions]
    rows = [one for one in rows if asked.filter.passes(one.fields)]
    rows.sort(key=lambda one: one.session)
    column = asked.column
    rows.sort(key=usual, reverse=asked.is_reversed and column is None)
    if column is not None and column.key is not None:
        rows.sort(key=column.key, reverse=asked.is_reversed != column.descending)
    return [one.session for one in rows]


def usual(one: SessionRow) -> tuple[int, int, int]:
    """In most danger first, then with the most places."""
    places = one.places
    return RISKS.index(one.danger.risk), -len(places.holds), -len(places.waits)


def in_pieces(asked: SessionQuery, scene: SessionsSnapshot = SCENE) -> list[int]:
    """Go on until it is done."""
    return next(one for one in in_order(scene, asked) if one is not None)


WISHES = st.builds(
    SessionQuery,
    st.booleans(),
    st.sampled_from(["", "A", "risk:high", "!B state:holding", "nobody"]).map(parsed),
    st.sampled_from([None, *COLUMNS]),
    st.booleans(),
)


@given(WISHES)
def test_in_pieces_it_is_the_same_order(asked: SessionQuery) -> None:
    """By every column, in both directions, with every filter."""
    assert in_pieces(asked) == at_once(asked)


def test_a_row_is_made_when_it_is_looked_at() -> None:
    """At the moment that the listing is of; a session is found without looking at the others."""
    sessions = in_pieces(SessionQuery())
    listing, later = Listing(sessions, SCENE), scene_of()

    assert len(listing) == len(sessions)
    assert [one.session for one in listing[1:3]] == sessions[1:3]
    assert listing.at(later)[-1].scene is later
    assert listing.find(sessions[7]) == 7
    assert listing.find(1) is None


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1.0
        self.step = 0.0

    def __call__(self) -> float:
        """Give the time; every look at it may take a while."""
        self.now += self.step
        return self.now


@pytest.mark.parametrize(("took", "rests"), [(0.0, OFTEN_S), (1.0, PART)])
def test_what_takes_long_rests_long(took: float, rests: float) -> None:
    """A twentieth of all time at most, and nothing more often than anybody can read."""
    clock = Clock()
    rest = Rest(clock)
    was_rested = rest.is_over
    rest.begin()
    rest.spend(took)
    clock.now += rests - 0.01
    is_early = not rest.is_over
    clock.now += 0.02

    assert (was_rested, is_early, rest.is_over) == (True, True, True)


def test_a_long_order_is_gone_on_with_later() -> None:
    """Where every look at the clock takes longer than a breath, each step is one piece."""
    clock = Clock()
    ordering = Ordering(clock)
    clock.step = 0.02
    ordering.look(SCENE, SessionQuery(), at_once=False)
    first = ordering.listing
    steps = 0
    while ordering.is_working:
        clock.step = 0.006
        ordering.go_on()
        steps += 1

    assert first is None
    assert steps > 1
    assert ordering.listing is not None
    assert list(ordering.listing.sessions) == in_pieces(SessionQuery())
    assert len(NAMES) < PIECE  # so few are one piece, and sorted in steps of their own


def test_another_wish_is_begun_with_at_once() -> None:
    """A new scene alone waits until it is worth it, and its values are shown meanwhile."""
    clock = Clock()
    ordering, later = Ordering(clock), scene_of()
    ordering.look(SCENE, SessionQuery(), at_once=False)
    ordering.look(later, SessionQuery(), at_once=False)
    told = ordering.listing
    ordering.look(later, SessionQuery(filter=parsed("A")), at_once=False)

    assert told is not None
    assert told.sessions == in_pieces(SessionQuery())
    assert told[0].scene is later
    assert ordering.listing is not None
    assert list(ordering.listing.sessions) == in_pieces(SessionQuery(filter=parsed("A")), later)
