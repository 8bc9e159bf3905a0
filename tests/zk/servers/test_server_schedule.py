"""When a server is asked for its tables again."""

from zktop.zk.servers.server_schedule import (
    CHEAP_S,
    LONGEST_QUIET_S,
    QUIET_RESTS,
    REST_FACTOR,
    ServerSchedule,
)


def test_a_server_is_left_alone_for_longer_than_its_tables_took() -> None:
    """The pause grows with the time that the tables took."""
    schedule = ServerSchedule()
    schedule.sampled(at=100.0, changes=0, took=0.5, spent=0.2, every=2.0)
    end = 100.0 + REST_FACTOR * 0.2

    assert not schedule.is_due(end - 0.1, changes=1, may_rest=True)
    assert schedule.is_due(end, changes=1, may_rest=True)


def test_tables_are_read_less_often_while_no_znode_changes() -> None:
    """They cannot show anything new about locks."""
    schedule = ServerSchedule()
    schedule.sampled(at=100.0, changes=7, took=0.1, spent=0.1, every=2.0)
    end = 100.0 + REST_FACTOR * QUIET_RESTS * 0.1

    assert not schedule.is_due(end - 0.1, changes=7, may_rest=True)
    assert schedule.is_due(end, changes=7, may_rest=True)


def test_small_tables_are_read_as_often_as_when_znodes_change() -> None:
    """A session of a second would end between two readings, and the reason would be unknown."""
    schedule = ServerSchedule()
    schedule.sampled(at=100.0, changes=7, took=0.1, spent=CHEAP_S, every=0.2)

    assert schedule.is_due(100.0 + REST_FACTOR * CHEAP_S, changes=7, may_rest=True)


def test_tables_on_screen_are_read_as_often_as_when_znodes_change() -> None:
    """The silence of sessions grows from one reading to the next."""
    schedule = ServerSchedule()
    schedule.sampled(at=100.0, changes=7, took=0.1, spent=0.1, every=2.0)

    assert schedule.is_due(100.0 + REST_FACTOR * 0.1, changes=7, may_rest=False)


def test_a_silent_client_has_tables_read_soon() -> None:
    """Whether it is back, or its connection is gone, matters to every client that waits for it."""
    schedule = ServerSchedule()
    schedule.sampled(at=100.0, changes=None, took=0.1, spent=0.1, every=2.0)

    assert schedule.is_due(100.0 + REST_FACTOR * 0.1, changes=7, may_rest=True)


def test_large_tables_are_not_older_than_two_minutes_at_rest() -> None:
    """Clients may be gone or silent although no znode has changed."""
    schedule = ServerSchedule()
    schedule.sampled(at=100.0, changes=7, took=1.0, spent=1.0, every=2.0)

    assert schedule.is_due(100.0 + LONGEST_QUIET_S, changes=7, may_rest=True)
