"""`zktop check` on recordings: what counts, what does not, and what it says."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from model.builders import kazoo_name
from output.stories import (
    LATER,
    SETTLE,
    facts,
    recorded,
    recorded_story,
    settings,
    tables,
)

from zktop.model.facts import AnyFact
from zktop.model.settings import Settings

Run = Callable[..., tuple[int, str, str]]
Process = Callable[..., "subprocess.CompletedProcess[str]"]

AB_BA = "X x: A B ; Y x: B A"
DEADLOCKS = {
    # rule: a story with it, and one that looks alike and goes on by itself
    "D1": (AB_BA, "X x: A B ; Y x: B C"),
    "D2": ("L rw: A.R W.W A.R", "L rw: A.R W.W B.R"),
    "D3": ("P sem(2): A C B ; Y x: B A C", "P sem(2): A C B ; Y x: B A"),
    "D4": ("L rw: A.R B.R A.W", "L rw: A.R B.R C.W"),
    "D5": ("L rw: A.R B.R A.W B.W", "L rw: A.R B.R C.W D.W"),
    "D8": ("E elect: L F ; X x: F L", "E elect: L F ; X x: L F"),
}


@pytest.mark.parametrize("rule", DEADLOCKS)
def test_each_kind_of_deadlock_fails(zktop: Run, tmp_path: Path, rule: str) -> None:
    """With exit code 1, and one sentence that begins with the rule."""
    file = recorded_story(tmp_path / "a.zktop", DEADLOCKS[rule][0])

    code, out, err = zktop("check", "--from", str(file))

    assert (code, err) == (1, "")
    assert out.startswith(f"{rule} ")
    assert [line.split()[0] for line in out.splitlines()].count(rule) == 1


@pytest.mark.parametrize(("form", "code"), [("text", 1), ("nagios", 2)])
def test_the_exit_code_needs_no_reader(
    process: Process, tmp_path: Path, form: str, code: int
) -> None:
    """As in `zktop check | grep -q D1`, which reads no further than that."""
    file = recorded_story(tmp_path / "a.zktop", AB_BA)
    reader, writer = os.pipe()
    os.close(reader)

    ran = process("-m", "zktop", "check", "--from", str(file), "--format", form, stdout=writer)

    os.close(writer)
    assert (ran.returncode, ran.stderr) == (code, "")


@pytest.mark.parametrize("rule", DEADLOCKS)
def test_each_near_miss_is_fine(zktop: Run, tmp_path: Path, rule: str) -> None:
    """With exit code 0, and the number of locks that were looked at."""
    story = DEADLOCKS[rule][1]
    file = recorded_story(tmp_path / "a.zktop", story)

    code, out, err = zktop("check", "--from", str(file))

    locks = story.count(":")
    assert (code, err) == (0, "")
    assert out.startswith(f"OK: {locks} lock{'s' if locks > 1 else ''}, 0 deadlocks\n")


def watching_each_other(first: str, second: str) -> list[tuple[int, list[AnyFact]]]:
    """B and C wait behind A; the tables say, twice, which nodes they watch."""
    places = {name: f"/locks/l/{kazoo_name(f'{name}{n}', n)}" for n, name in enumerate("ABC")}
    watched = {"B": (places[first],), "C": (places[second],)}
    first_look, second_look = (tables("ABC", watched, at) for at in (LATER, LATER + 3 * SETTLE))
    return [
        (LATER, [*facts("L x: A B C"), *first_look]),
        (LATER + 3 * SETTLE, second_look),
        (LATER + 6 * SETTLE, []),
    ]


@pytest.mark.parametrize(
    ("first", "second", "code"), [("C", "B", 1), ("A", "B", 0)], ids=["ring", "in order"]
)
def test_a_deadlock_of_watches_fails(
    zktop: Run, tmp_path: Path, first: str, second: str, code: int
) -> None:
    """Two waiters that watch each other; watching who is in front is as it should be."""
    file = recorded(tmp_path / "a.zktop", *watching_each_other(first, second))

    got, out, _ = zktop("check", "--from", str(file))

    assert got == code
    assert ("D7 watch-deadlock" in out) is bool(code)


def test_what_was_seen_once_does_not_count(zktop: Run, tmp_path: Path) -> None:
    """It is said, but an alarm needs a second look that is `settle` later."""
    moments = (LATER, facts(AB_BA)), (LATER + SETTLE - 1, [])
    file = recorded(tmp_path / "a.zktop", *moments, judged_by=settings(AB_BA))

    code, out, _ = zktop("check", "--from", str(file))

    assert code == 0
    assert out.splitlines()[0] == "OK: 2 locks, 1 deadlock"
    assert out.splitlines()[1].startswith("seen too briefly: D1 deadlock (C2): ")


@pytest.mark.parametrize(("apart", "code"), [(SETTLE, 1), (SETTLE - 1, 0)])
def test_every_rule_must_last(zktop: Run, tmp_path: Path, apart: int, code: int) -> None:
    """Also one that is never critical, when the user makes it count."""
    story = " ; ".join(f"L{number} x: A" for number in range(6))
    moments = (LATER, facts(story)), (LATER + apart, [])
    file = recorded(tmp_path / "a.zktop", *moments, judged_by=settings(story))

    got, out, _ = zktop("check", "--from", str(file), "--fail-on", "P5")

    assert got == code
    assert ("seen too briefly: P5 blast-radius" in out) is (not code)


def test_at_shows_the_time_before(zktop: Run, tmp_path: Path) -> None:
    """A recording is judged as of a moment in it."""
    story, quiet = facts(AB_BA), facts("X x: A B")
    moments = (LATER, quiet), (LATER + 60_000, story), (LATER + 90_000, [])
    file = recorded(tmp_path / "a.zktop", *moments)

    codes = [zktop("check", "--from", str(file), *at)[0] for at in ([], ["--at", "+119s"])]

    assert codes == [1, 0]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--min-confidence", "C2"], 1),
        (["--min-confidence", "C3"], 0),
        (["--fail-on", "D1"], 1),
        (["--fail-on", "d1,B1"], 1),
        (["--fail-on", "deadlock"], 1),
        (["--fail-on", "B1,orphan,D2"], 0),
    ],
)
def test_the_bar_is_the_users(zktop: Run, tmp_path: Path, options: list[str], code: int) -> None:
    """Which rules count, by id or by name, and how sure they must be."""
    file = recorded_story(tmp_path / "a.zktop", AB_BA)

    got, out, _ = zktop("check", "--from", str(file), *options)

    assert got == code
    assert ("below the bar: D1" in out) is (not code)


def test_a_rule_that_does_not_exist_is_a_usage_error(zktop: Run, tmp_path: Path) -> None:
    """With the one that was probably meant."""
    file = recorded_story(tmp_path / "a.zktop", AB_BA)

    code, out, err = zktop("check", "--from", str(file), "--fail-on", "D1,deadlok")

    assert (code, out) == (2, "")
    assert 'there is no rule "deadlok". Did you mean deadlock?' in err


@pytest.mark.parametrize(
    ("story", "options", "code", "begin"),
    [
        (AB_BA, [], 2, "ZKTOP CRITICAL - D1 deadlock (C2): B holds X:/locks/y and waits for"),
        ("X x: A B", [], 0, "ZKTOP OK - 1 lock, 0 deadlocks | locks=1 deadlocks=0 findings=0"),
        ("X x: A A", ["--fail-on", "D6", "--min-confidence", "C1"], 1, "ZKTOP WARNING - D6"),
        (AB_BA, ["--fail-on", "D99"], 3, "ZKTOP UNKNOWN - --fail-on: there is no rule"),
    ],
    ids=["critical", "ok", "warning", "unknown"],
)
def test_a_monitoring_system_understands_it(
    zktop: Run, tmp_path: Path, story: str, options: list[str], code: int, begin: str
) -> None:
    """One line first, with figures behind a bar; four levels."""
    file = recorded_story(tmp_path / "a.zktop", story)

    got, out, err = zktop("check", "--format", "nagios", "--from", str(file), *options)

    first = out.splitlines()[0]
    assert (got, err) == (code, "")
    assert first.startswith(begin)
    assert first.count("|") == (got != 3)


def test_no_server_is_unknown_to_a_monitoring_system(zktop: Run) -> None:
    """Neither fine nor broken locks: nobody could look."""
    code, out, err = zktop("check", "--format", "nagios", "--hosts", "127.0.0.1:1")

    assert (code, err) == (3, "")
    assert out.startswith("ZKTOP UNKNOWN - 127.0.0.1:1 refuses connections")


def test_no_lock_is_nothing_to_look_at(zktop: Run, tmp_path: Path) -> None:
    """OK would be a lie."""
    file = recorded(tmp_path / "a.zktop", (LATER, facts("X x: A")[:1]), judged_by=Settings())

    code, out, err = zktop("check", "--from", str(file))

    assert (code, out) == (4, "")
    assert err.startswith("No lock was found anywhere.")


def test_what_could_not_be_seen_is_said(zktop: Run, tmp_path: Path) -> None:
    """Missing input never reads as fine."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A B")

    _, out, _ = zktop("check", "--from", str(file))

    assert [line for line in out.splitlines() if line.startswith("not seen: ")]
