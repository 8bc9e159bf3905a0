"""Sessions: their timeouts, their end, and how they are resumed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.sandbox.sessions import Deadlines, ServerSessions

TICK = 2000


@pytest.mark.parametrize(
    ("asked", "given_ms"), [(-1, 4000), (0, 4000), (4001, 4001), (40_000, 40_000), (10**9, 40_000)]
)
def test_timeouts_have_bounds(asked, given_ms):
    """A client gets what it asks for, between two and twenty ticks."""
    assert ServerSessions(0, TICK).open(asked, now_ms=0).timeout_ms == given_ms


def test_ids():
    """Ids count up, carry the server in the top byte and differ after a restart."""
    first = ServerSessions(1_795_219_104_533, TICK)
    ids = [first.open(0, 0).id for _ in range(2)]

    assert ids[1] - ids[0] == 1
    assert ids[0] >> 56 == 1
    assert ids[0] < ServerSessions(1_795_219_104_534, TICK).open(0, 0).id


@given(st.integers(0, 10**7), st.integers(4000, 40_000))
def test_never_early_nor_a_tick_late(now, timeout):
    """A session ends after its timeout, at most one tick later."""
    sessions = ServerSessions(0, TICK)
    session = sessions.open(timeout, now)

    assert sessions.deadlines.take_due(now + timeout) == []
    assert sessions.deadlines.take_due(now + timeout + TICK) == [session.id]
    assert sessions.deadlines.take_due(now + timeout + TICK) == []


def test_a_sign_of_life():
    """A ping extends a session."""
    sessions = ServerSessions(0, TICK)
    session = sessions.open(4000, 0)
    sessions.touch(session, 3000)

    assert sessions.deadlines.take_due(6999) == []
    assert sessions.deadlines.take_due(8000) == [session.id]


def test_coming_back():
    """With its password a client gets its session again, with the timeout it asks for now."""
    sessions = ServerSessions(0, TICK)
    session = sessions.open(4000, 0)

    assert sessions.reattach(session.id, session.password, 9000, 100) is session
    assert session.timeout_ms == 9000
    assert len(session.password) == 16


def test_not_coming_back():
    """A wrong password, none, or the id of a closed session resume no session."""
    sessions = ServerSessions(0, TICK)
    session, other = sessions.open(4000, 0), sessions.open(4000, 0)
    wrong = [(session.id, other.password), (session.id, None), (7, session.password)]
    refused = [sessions.reattach(one, password, 4000, 0) for one, password in wrong]
    sessions.close(session.id)

    assert refused == [None] * 3
    assert sessions.reattach(session.id, session.password, 4000, 0) is None
    assert len(sessions) == 1


def test_touching_an_ended_session():
    """A late packet does not revive an ended session."""
    sessions = ServerSessions(0, TICK)
    session = sessions.open(4000, 0)
    sessions.close(session.id)
    sessions.touch(session, 0)

    assert len(sessions.deadlines) == 0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 100), st.integers(0, 100))))
def test_one_deadline_a_key(steps):
    """However often it is moved, each key is in exactly one bucket, that of its last move."""
    deadlines = Deadlines(10)
    expected = {}
    for key, timeout, now in steps:
        deadlines.put(key, timeout, now)
        expected[key] = (timeout + now) // 10 * 10 + 10
    buckets = {key: due for due, keys in deadlines.buckets() for key in keys}

    assert buckets == expected
    assert len(deadlines) == len(expected)
