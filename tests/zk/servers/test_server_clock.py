"""Time to expiry, computed from the server's clocks."""

import time

import pytest
from zk.canned_answers import WHOLE, facts_from

from zktop.zk.servers.server_clock import ServerClock, from_dates, from_monotonic
from zktop.zk.wall_clock import now_ms

NOON = 1_795_262_400_000  # 2026-11-21 12:00:00 UTC


@pytest.mark.parametrize(
    ("when", "left"),
    [
        ("Sat Nov 21 12:00:13 UTC 2026", 13_500),
        ("Sat Nov 21 12:00:13 GMT 2026", 13_500),
        ("Sat Nov 21 14:00:13 EET 2026", 13_500),
        ("Sat Nov 21 17:30:13 IST 2026", 13_500),
        ("Sat Nov 21 11:59:58 UTC 2026", 0),
    ],
)
def test_dates_count_from_now_in_any_time_zone(when: str, left: int) -> None:
    """Dates are relative to now; zones are quarters of an hour, dates are cut to seconds."""
    assert from_dates([(when, (1, 2))], NOON, None) == {1: left, 2: left}


def test_3_4_prints_its_monotonic_clock_as_a_date() -> None:
    """3.4 prints its monotonic clock as a date, which needs the answers of its connections."""
    bucket = ("Thu Jan 01 00:18:20 UTC 1970", (1,))

    assert from_dates([bucket], NOON, None) == {}
    assert from_dates([bucket], NOON, 1_090_000) == {1: 10_500}


@pytest.mark.parametrize("when", ["", "soon", "Sat Foo 21 12:00:13 UTC 2026"])
def test_an_invalid_date_is_ignored(when: str) -> None:
    """A text that is no date gives no expiry."""
    assert from_dates([(when, (1,))], NOON, 5) == {}


def test_the_admin_server_reports_monotonic_times() -> None:
    """Listed sessions have not expired, so now is not later than the first expiry."""
    assert from_monotonic({1_000: (), 3_000: (7,)}, 500) == {7: 2_500}
    assert from_monotonic({1_000: (), 3_000: (7,)}, 1_500) == {7: 2_000}
    assert from_monotonic({1_000: (1,)}, None) == {}


def test_the_server_s_clock_follows_the_newest_answer() -> None:
    """The newest answer ever seen is the best estimate of the server's clock."""
    clock = ServerClock()
    before = clock.now(NOON)
    clock.saw_answer(1_000, NOON)
    clock.saw_answer(3_500, NOON + 1_000)
    clock.saw_answer(4_000, NOON + 5_000)
    clock.saw_answer(None, NOON + 6_000)

    assert before is None
    assert clock.now(NOON + 10_000) == 12_500


def test_a_server_without_clients_shows_its_clock_by_the_next_expiry() -> None:
    """Without clients the next expiry bounds the clock; any answer to a client replaces it."""
    clock = ServerClock()
    clock.saw_expiry(6_000, NOON)
    clock.saw_expiry(8_000, NOON + 4_000)
    clock.saw_expiry(None, NOON)

    assert clock.now(NOON) == 4_000
    clock.saw_answer(3_500, NOON)
    assert clock.now(NOON) == 3_500
    clock.forget()
    assert clock.now(NOON) is None


def test_a_restarted_server_has_a_lead_of_its_own() -> None:
    """Its monotonic clock may begin anew, and its first answer at the time of the last one."""
    clock = ServerClock()
    for at in range(3_000, 450_000, 3_000):
        clock.saw_answer(at + 50_000, at)
    clock.forget()
    clock.saw_answer(497_000, 480_000)

    assert clock.now(480_000) == 497_000


def test_a_lead_that_no_answer_confirms_is_forgotten() -> None:
    """A server that was paused lags behind the lead from before; the newer answers are right."""
    clock = ServerClock()
    clock.saw_answer(6_000, 0)
    for at in range(3_000, 900_000, 3_000):
        clock.saw_answer(at, at)

    assert clock.now(900_000) == 900_000


def test_a_lead_stays_precise_while_answers_go_on() -> None:
    """The largest lead of the last minutes counts, also when most answers are read late."""
    clock = ServerClock()
    for at in range(0, 900_000, 1_000):
        clock.saw_answer(at if at % 60_000 == 0 else at - 2_500, at)
        assert clock.now(at) == at


def test_a_lead_lasts_while_no_client_is_answered() -> None:
    """The same newest answer, read again much later, says nothing about the clock."""
    clock = ServerClock()
    for at in range(0, 900_000, 3_000):
        clock.saw_answer(1_000, at)

    assert clock.now(900_000) == 901_000


def test_a_lead_from_before_a_gap_is_forgotten_at_the_first_answer() -> None:
    """An hour without a client says nothing about the server's clock, nor does the lead before."""
    clock = ServerClock()
    clock.saw_answer(6_000, 0)
    clock.saw_answer(3_600_000, 3_600_000)

    assert clock.now(3_600_000) == 3_600_000


def test_setting_our_clock_silences_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our wall clock is set forward between two samples; no client has been silent."""
    cons = (
        " /10.0.0.7:4711[1](queued=0,recved=2,sent=2,sid=0x1,lop=PING,est=1795262400000,to=10000,"
        "lcxid=0x1,lzxid=0x1,lresp=5000,llat=0,minlat=0,avglat=0,maxlat=0)\n\n"
    )
    clock = ServerClock()
    facts_from(WHOLE | {"cons": cons}, clock)
    hour_later = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr("zktop.zk.servers.sample.time.time_ns", lambda: hour_later)
    (row,) = facts_from(WHOLE | {"cons": cons}, clock).connections or ()

    assert row.quiet_ms is not None
    assert row.quiet_ms < 60_000


def test_setting_our_clock_back_ends_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dates are compared with the right time, not with zktop's, which is slow to come back."""
    monkeypatch.setattr(now_ms.__self__, "_newest_ns", time.time_ns() + 3600 * 10**9)
    in_20_s = time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime(time.time() + 20))
    sets = f"Session Sets (1)/(1):\n1 expire at {in_20_s}:\n\t0x1\n"
    dump = WHOLE["dump"].replace("Session Sets (0)/(0):\n", sets)
    (left_ms,) = (facts_from(WHOLE | {"dump": dump}).expires_in_ms or {}).values()

    assert 10_000 < left_ms <= 20_500
