"""`--from FILE`: any command on a recording instead of an ensemble."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from output.stories import LATER, SETTLE, facts, recorded, recorded_story, settings

from zktop.cli.common.options import ReplayTime

Zktop = Callable[..., tuple[int, str, str]]


def test_options_replace_the_settings_of_the_recording(zktop: Zktop, tmp_path: Path) -> None:
    """With another root, another part of the same facts is examined."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A B ; Y x: B A")

    found, again = (
        zktop("check", "--from", str(file), *more) for more in ([], ["--root", "/locks/x"])
    )

    assert (found[0], again[0]) == (1, 0)
    assert again[1].startswith("OK: 1 lock, 0 deadlocks\n")


def test_a_truncated_file_is_read_and_reported(zktop: Zktop, tmp_path: Path) -> None:
    """It is read up to its last whole line."""
    moments = [(LATER + n * SETTLE, facts("X x: A B") if not n else []) for n in range(5)]
    file = recorded(tmp_path / "a.zktop", *moments, judged_by=settings("X x: A B"))
    file.write_bytes(file.read_bytes()[:-12])

    code, out, err = zktop("check", "--from", str(file))

    assert code == 0
    assert out.startswith("OK: 1 lock")
    why = "truncated, damaged or from a newer zktop"
    assert err == f"{file} is {why}: it was read up to its last valid line.\n"


def test_a_file_that_is_not_a_recording_is_a_usage_error(zktop: Zktop, tmp_path: Path) -> None:
    """One sentence that names it."""
    file = tmp_path / "notes.txt"
    file.write_text("hello")

    code, out, err = zktop("snapshot", "--from", str(file))

    assert (code, out) == (2, "")
    assert err == f"{file} is not a zktop recording: it has no valid first line.\n"


@pytest.mark.parametrize("at", ["yesterday", "+x", "25:00", "-5s"])
def test_an_invalid_time_is_a_usage_error(zktop: Zktop, tmp_path: Path, at: str) -> None:
    """With an example of a valid one."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A")

    code, out, err = zktop("snapshot", "--from", str(file), "--at", at)

    assert (code, out) == (2, "")
    assert "expected a time like 2026-01-31T12:00:00Z or +90s" in err


def test_a_time_of_day_needs_no_date(zktop: Zktop, tmp_path: Path) -> None:
    """A recording rarely lasts a day, so the date need not be typed."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A")
    at = datetime.fromtimestamp(LATER / 1000 + 1, UTC)

    short, full = (
        zktop("snapshot", "--from", str(file), "--at", f"{at:{form}}")
        for form in ("%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")
    )

    assert short == full
    assert short[0] == 0


HOURS = 3_600_000
NOON = 20_000 * 24 * HOURS + 12 * HOURS


@pytest.mark.parametrize(
    ("text", "end", "at"),
    [
        pytest.param("01:00", 14, 13, id="after midnight"),
        pytest.param("01:00", 40, 37, id="the last of several"),
        pytest.param("20:00", 40, 32, id="not after the end"),
        pytest.param("04:05", 40, 40 + 1 / 12, id="its last piece may be ten minutes longer"),
        pytest.param("11:00", 2, -1, id="it has none"),
        pytest.param("+1h", 40, 1, id="an offset"),
    ],
)
def test_a_time_of_day_is_the_last_one_of_the_recording(text: str, end: int, at: float) -> None:
    """Last night's, if a flight recorder has several days."""
    assert ReplayTime(text).resolve(NOON, NOON + end * HOURS) == NOON + at * HOURS


def test_the_end_of_a_period_by_times_of_day_is_after_its_beginning() -> None:
    """Also if the recording ends before it."""
    begin, end = NOON, NOON + 40 * HOURS
    since = ReplayTime("03:00").resolve(begin, end)

    assert ReplayTime("05:00").resolve(begin, end, since) == since + 2 * HOURS
    assert ReplayTime("+39h").resolve(begin, end, since) == since


def test_a_time_before_the_first_report_is_an_error(zktop: Zktop, tmp_path: Path) -> None:
    """There is no report to show."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A")

    code, out, err = zktop("snapshot", "--from", str(file), "--at", "1970-01-01T00:00:01Z")

    assert (code, out) == (4, "")
    assert err == f"{file} has no report before 1970-01-01T00:00:01.000Z.\n"


def test_a_time_long_after_the_last_report_is_unknown(zktop: Zktop, tmp_path: Path) -> None:
    """The verdict is UNKNOWN, as in a gap, and not OK."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A")

    soon, late = (zktop("check", "--from", str(file), "--at", at) for at in ("+90s", "+2h"))

    assert (soon[0], late[0]) == (0, 3)
    unknown = "UNKNOWN: nothing is known of this time: nothing was recorded then\n"
    assert late[1].startswith(unknown)
