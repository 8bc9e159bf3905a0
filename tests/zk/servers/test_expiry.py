"""Time to expiry, from clocks that are not ours."""

import pytest

from zktop.zk.servers.expiry import ServerClock, from_dates, from_monotonic

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
    """Zones are whole quarters of an hour away; the dates are cut to seconds."""
    assert from_dates([(when, (1, 2))], NOON, None) == {1: left, 2: left}


def test_3_4_prints_its_monotonic_clock_as_a_date() -> None:
    """Which then means something only beside the answers of its connections."""
    bucket = ("Thu Jan 01 00:18:20 UTC 1970", (1,))

    assert from_dates([bucket], NOON, None) == {}
    assert from_dates([bucket], NOON, 1_090_000) == {1: 10_500}


@pytest.mark.parametrize("when", ["", "soon", "Sat Foo 21 12:00:13 UTC 2026"])
def test_what_is_no_date_is_passed_over(when: str) -> None:
    """Nothing is guessed."""
    assert from_dates([(when, (1,))], NOON, 5) == {}


def test_the_admin_server_tells_moments_of_the_monotonic_clock() -> None:
    """Nothing that is listed has expired, so now is not later than the first."""
    assert from_monotonic({1_000: (), 3_000: (7,)}, 500) == {7: 2_500}
    assert from_monotonic({1_000: (), 3_000: (7,)}, 1_500) == {7: 2_000}
    assert from_monotonic({1_000: (1,)}, None) == {}


def test_the_server_s_clock_gets_surer_with_each_look() -> None:
    """An answer can only be older than now, so the newest that was ever heard is the truth."""
    clock = ServerClock()
    before = clock.now(NOON)
    clock.heard(1_000, NOON)
    clock.heard(3_500, NOON + 1_000)
    clock.heard(4_000, NOON + 5_000)
    clock.heard(None, NOON + 6_000)

    assert before is None
    assert clock.now(NOON + 10_000) == 12_500


def test_a_server_without_clients_shows_its_clock_by_the_next_expiry() -> None:
    """Now is not later than that; any answer to a client is better news."""
    clock = ServerClock()
    clock.awaits(6_000, NOON)
    clock.awaits(8_000, NOON + 4_000)
    clock.awaits(None, NOON)

    assert clock.now(NOON) == 4_000
    clock.heard(3_500, NOON)
    assert clock.now(NOON) == 3_500
    clock.forget()
    assert clock.now(NOON) is None
