"""`zktop check` on recordings: which findings count, and what it prints."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from model.make_facts import kazoo_name, own, session
from output.stories import (
    LATER,
    SETTLE,
    facts,
    recorded,
    recorded_story,
    settings,
    tables,
)

from zktop.model.facts import AnyFact, Children, Gone, Node, Stat
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

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
    """Exit code 1, and one line that begins with the rule."""
    file = recorded_story(tmp_path / "a.zktop", DEADLOCKS[rule][0])

    code, out, err = zktop("check", "--from", str(file))

    assert (code, err) == (1, "")
    assert out.startswith(f"{rule} ")
    assert [line.split()[0] for line in out.splitlines()].count(rule) == 1


@pytest.mark.parametrize(("form", "code"), [("text", 1), ("nagios", 2)])
def test_a_closed_pipe_does_not_change_the_exit_code(
    process: Process, tmp_path: Path, form: str, code: int
) -> None:
    """As in `zktop check | grep -q D1`."""
    file = recorded_story(tmp_path / "a.zktop", AB_BA)
    reader, writer = os.pipe()
    os.close(reader)

    ran = process("-m", "zktop", "check", "--from", str(file), "--format", form, stdout=writer)

    os.close(writer)
    assert (ran.returncode, ran.stderr) == (code, "")


@pytest.mark.parametrize("rule", DEADLOCKS)
def test_each_near_miss_is_fine(zktop: Run, tmp_path: Path, rule: str) -> None:
    """Exit code 0, and the number of locks."""
    story = DEADLOCKS[rule][1]
    file = recorded_story(tmp_path / "a.zktop", story)

    code, out, err = zktop("check", "--from", str(file))

    locks = story.count(":")
    assert (code, err) == (0, "")
    assert out.startswith(f"OK: {locks} lock{'s' if locks > 1 else ''}, 0 deadlocks\n")


def watching_each_other(first: str, second: str) -> list[tuple[int, list[AnyFact]]]:
    """B and C wait behind A; two tables say which nodes they watch."""
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
    """Two waiters that watch each other, instead of the one in front."""
    file = recorded(tmp_path / "a.zktop", *watching_each_other(first, second))

    got, out, _ = zktop("check", "--from", str(file))

    assert got == code
    assert ("D7 watch-deadlock" in out) is bool(code)


def test_a_finding_seen_once_does_not_count(zktop: Run, tmp_path: Path) -> None:
    """It is printed, but it only counts if it is seen again after `settle`."""
    moments = (LATER, facts(AB_BA)), (LATER + SETTLE - 1, [])
    file = recorded(tmp_path / "a.zktop", *moments, judged_by=settings(AB_BA))

    code, out, _ = zktop("check", "--from", str(file))

    assert code == 0
    assert out.splitlines()[0] == "OK: 2 locks, 1 deadlock"
    assert out.splitlines()[1].startswith("not confirmed yet: D1 deadlock (C2): ")


@pytest.mark.parametrize(("apart", "code"), [(SETTLE, 1), (SETTLE - 1, 0)])
def test_findings_of_every_rule_must_last(
    zktop: Run, tmp_path: Path, apart: int, code: int
) -> None:
    """Even of one that is never critical, if --fail-on names it."""
    story = " ; ".join(f"L{number} x: A" for number in range(6))
    moments = (LATER, facts(story)), (LATER + apart, [])
    file = recorded(tmp_path / "a.zktop", *moments, judged_by=settings(story))

    got, out, _ = zktop("check", "--from", str(file), "--fail-on", "P5")

    assert got == code
    assert ("not confirmed yet: P5 blast-radius" in out) is (not code)


def test_at_judges_an_earlier_moment(zktop: Run, tmp_path: Path) -> None:
    """A recording is judged as it was at that time."""
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
def test_options_decide_which_findings_count(
    zktop: Run, tmp_path: Path, options: list[str], code: int
) -> None:
    """Rules by id or by name, and the least confidence."""
    file = recorded_story(tmp_path / "a.zktop", AB_BA)

    got, out, _ = zktop("check", "--from", str(file), *options)

    assert got == code
    assert ("not counted: D1" in out) is (not code)


@pytest.mark.parametrize("former", ["knot", "previous-life", "silent-head"])
def test_former_names_of_rules_still_work(zktop: Run, tmp_path: Path, former: str) -> None:
    """A script that was written for them keeps its exit codes."""
    file = recorded_story(tmp_path / "a.zktop", AB_BA)

    assert zktop("check", "--from", str(file), "--fail-on", former)[0] == 0


def test_a_rule_that_does_not_exist_is_a_usage_error(zktop: Run, tmp_path: Path) -> None:
    """With a suggestion."""
    file = recorded_story(tmp_path / "a.zktop", AB_BA)

    code, out, err = zktop("check", "--from", str(file), "--fail-on", "D1,deadlok")

    assert (code, out) == (2, "")
    assert 'there is no rule "deadlok". Did you mean deadlock?' in err


@pytest.mark.parametrize(
    ("story", "options", "code", "begin"),
    [
        (AB_BA, [], 2, "ZKTOP CRITICAL - D1 deadlock (C2): B holds /locks/y and waits for"),
        ("X x: A B", [], 0, "ZKTOP OK - 1 lock, 0 deadlocks | locks=1 deadlocks=0 findings=0"),
        ("X x: A A", ["--fail-on", "D6", "--min-confidence", "C1"], 1, "ZKTOP WARNING - D6"),
        (AB_BA, ["--fail-on", "D99"], 3, "ZKTOP UNKNOWN - --fail-on: there is no rule"),
    ],
    ids=["critical", "ok", "warning", "unknown"],
)
def test_nagios_output(
    zktop: Run, tmp_path: Path, story: str, options: list[str], code: int, begin: str
) -> None:
    """One line first, with figures after a bar; four levels."""
    file = recorded_story(tmp_path / "a.zktop", story)

    got, out, err = zktop("check", "--format", "nagios", "--from", str(file), *options)

    first = out.splitlines()[0]
    assert (got, err) == (code, "")
    assert first.startswith(begin)
    assert first.count("|") == (got != 3)


def test_nagios_reports_no_connection_as_unknown(zktop: Run) -> None:
    """Neither OK nor CRITICAL."""
    code, out, err = zktop("check", "--format", "nagios", "--hosts", "127.0.0.1:1")

    assert (code, err) == (3, "")
    assert out.startswith("ZKTOP UNKNOWN - 127.0.0.1:1 refuses connections")


@pytest.mark.parametrize(
    "options", [("--at", "+90s"), ("--min-confidence", "C9"), ("--nope",), ("--config", "no.yaml")]
)
def test_nagios_reports_wrong_usage_as_unknown(zktop: Run, options: tuple[str, ...]) -> None:
    """An exit code of 2 would be CRITICAL."""
    code, out, err = zktop("check", "--format", "nagios", *options)

    assert (code, err) == (3, "")
    assert out.startswith("ZKTOP UNKNOWN - ")
    assert out.count("\n") == 1


def test_nagios_names_the_wrong_option(zktop: Run) -> None:
    """The value alone says little."""
    _, out, _ = zktop("check", "--format", "nagios", "--min-confidence", "C9")

    assert out.startswith("ZKTOP UNKNOWN - Invalid value for '--min-confidence': 'C9' is not")


def test_another_option_may_have_the_value_nagios(zktop: Run) -> None:
    """Without --format, wrong options end as everywhere."""
    code, out, err = zktop("check", "--cluster", "nagios", "--bogus")

    assert (code, out) == (2, "")
    assert err.startswith('There is no option "--bogus".')


def test_no_lock_has_an_exit_code_of_its_own(zktop: Run, tmp_path: Path) -> None:
    """OK would be wrong."""
    file = recorded(tmp_path / "a.zktop", (LATER, facts("X x: A")[:1]), judged_by=Settings())

    code, out, err = zktop("check", "--from", str(file))

    assert (code, out) == (4, "")
    assert err.startswith("No lock was found below /app.")


def listing(path: str, *names: str) -> Children:
    """All children of a znode."""
    stat = Stat(9, 9, 0, num_children=len(names))
    return Children(path=Text(path), names=(*map(Text, names),), stat=stat, zxid=200, at=LATER)


def folder(path: str, owner: int = 0) -> Node:
    """A znode."""
    return Node(path=Text(path), stat=Stat(9, 9, 0, owner=owner), data=b"", zxid=200, at=LATER)


@pytest.mark.parametrize(
    ("root", "more", "code"),
    [
        ("/app/**", [], 0),
        ("/app/*", [], 0),
        ("/app/**", [listing("/app/a", "x"), folder("/app/a/x", session("X"))], 4),
        ("/app/*", [listing("/app/a", "x"), folder("/app/a/x")], 4),
        ("/none/**", [Gone(path=Text("/none"), zxid=200, at=LATER)], 4),
    ],
    ids=["idle", "idle below one level", "unknown layout", "deeper", "missing"],
)
def test_an_idle_service_is_fine(
    zktop: Run, tmp_path: Path, root: str, more: list[AnyFact], code: int
) -> None:
    """Its last client left for the night; a wrong pattern, which sees no lock, is not fine."""
    known = [own(at=LATER), listing("/", "app"), folder("/app"), listing("/app", "a")]
    known += [folder("/app/a"), *(more or [listing("/app/a")])]
    moments = (LATER, known), (LATER + 3_000, [])
    file = recorded(tmp_path / "a.zktop", *moments, judged_by=Settings(roots=(Root(root),)))

    got, out, _ = zktop("check", "--from", str(file))

    assert got == code
    assert out.startswith("OK: 0 locks, 0 deadlocks\n") is (not code)


def test_a_folder_of_locks_is_not_a_free_lock(zktop: Run, tmp_path: Path) -> None:
    """OK would be wrong above a deadlock: the message has the pattern to use."""
    top = listing("/locks", "x", "y")
    asked_for = (Settings(roots=(Root("/locks"), *more)) for more in ((), (Root("/locks/**"),)))
    moments = (LATER, [*facts(AB_BA), top]), (LATER + SETTLE, [])
    alone, beside = (
        zktop("check", "--from", str(recorded(tmp_path / "a.zktop", *moments, judged_by=asked)))
        for asked in asked_for
    )

    says = "/locks: it is a folder of locks, so use --root '/locks/**'."
    assert alone == (4, "", f"{says}\n")
    assert beside[0] == 1
    assert f"note: {says}" in beside[1].splitlines()


def test_rules_without_data_are_listed(zktop: Run, tmp_path: Path) -> None:
    """Missing input is never reported as fine."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A B")

    _, out, _ = zktop("check", "--from", str(file))

    assert [line for line in out.splitlines() if line.startswith("no data: ")]
