"""Notifications: each new, proven, critical finding once; older ones are summed up."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from model.make_facts import NOW, lock
from msgspec.structs import replace
from ui.fake_feed import FakeFeed, app_of, frames, settled

from zktop.app.alerts.finding_command import FindingCommand
from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Complaint, Frame
from zktop.ui.notify import (
    FORGET_MS,
    MAX_MESSAGES,
    STARTUP_MS,
    WITHIN_MS,
    Notifier,
    brief,
    summary,
)
from zktop.ui.settings import UiSettings

LATER = NOW + 10_000
AB_BA = [*lock("/orders", "alice", "bob"), *lock("/stock", "bob", "alice")]
QUIET = replace(frames((LATER, lock("/orders", "alice")))[0].report, findings=())
SAMPLE = next(
    finding for finding in frames((LATER, AB_BA))[0].report.findings if finding.rule == "D1"
)


def red(name: str, **more: object) -> Finding:
    """A proven critical finding."""
    sure = {"severity": "critical", "confidence": "C3", "cause": None, "since": None}
    return replace(SAMPLE, id=name, **{"sentence": f"{name} is wrong.", **sure, **more})


def report(at: int, *findings: Finding) -> Report:
    """The report of a moment, in milliseconds from the first one."""
    return replace(QUIET, now=LATER + at, findings=findings)


def new_alerts(*reports: Report) -> list[list[str]]:
    """The announcements after each report."""
    alarms = Notifier()
    return [[finding.id for finding in alarms.after(made).findings] for made in reports]


def test_a_finding_seen_twice_is_announced_once() -> None:
    """A single look may have seen a passing state."""
    made = [report(at, red("a")) for at in (5_000, 6_000, 7_000)]

    assert new_alerts(report(0), *made) == [[], [], ["a"], []]


def test_a_finding_proven_by_its_structure_is_announced_at_once() -> None:
    """It cannot pass."""
    assert new_alerts(report(0), report(5_000, red("a", at_once=True))) == [[], ["a"]]


def test_a_passing_finding_is_not_announced() -> None:
    """It existed in one look only."""
    made = [report(5_000, red("a")), report(6_000), report(7_000, red("a")), report(8_000)]

    assert new_alerts(report(0), *made) == [[]] * 5


def test_a_finding_that_is_not_red_is_not_announced() -> None:
    """Warnings, likely findings, and consequences are not announced."""
    mild = [red("a", severity="warning"), red("b", confidence="C2"), red("c", cause="x")]

    assert new_alerts(report(0), report(5_000, *mild), report(6_000, *mild)) == [[], [], []]


def test_older_findings_are_summed_up() -> None:
    """One message is enough, because the screen shows them all."""
    alarms = Notifier()
    first = alarms.after(report(0, red("a"), red("b")))

    assert (first.findings, [one.id for one in first.already_there]) == ((), ["a", "b"])
    assert (
        summary(first.already_there, "n")
        == "DEADLOCK: /orders and /stock, and 1 more. Press n to step through them."
    )
    assert alarms.after(report(5_000, red("a"), red("b"))).findings == ()


def test_an_older_finding_that_is_proven_later_is_not_announced() -> None:
    """Its second look comes after the first frame."""
    old = red("a", since=LATER - 60_000)
    soon = [report(at, old) for at in (100, STARTUP_MS - 1, STARTUP_MS + 5_000)]

    assert new_alerts(report(0), *soon) == [[], [], [], []]


def test_many_findings_are_counted() -> None:
    """Three messages in ten seconds; the rest is counted, and announced when there is room."""
    crowd = [red(str(number)) for number in range(40)]
    alarms = Notifier()
    alarms.after(report(0))
    alarms.after(report(5_000, *crowd))
    news = alarms.after(report(6_000, *crowd))
    again = alarms.after(report(7_000, *crowd))

    assert (len(news.findings), news.more) == (MAX_MESSAGES, 37)
    assert (len(again.findings), again.more) == (0, 0)


def test_findings_beyond_the_limit_are_counted_later() -> None:
    """The message says how many were left out."""
    alarms = Notifier()
    alarms.after(report(0))
    first = [red(str(number)) for number in range(MAX_MESSAGES)]
    alarms.after(report(5_000, *first))
    alarms.after(report(6_000, *first, red("x")))
    held = alarms.after(report(7_000, *first, red("x")))
    later = alarms.after(report(6_001 + WITHIN_MS, *first, red("x")))

    assert (held.findings, held.more) == ((), 0)
    assert later.more == 1


def test_a_finding_that_returns_soon_is_the_same() -> None:
    """A flickering finding is the same; a finding that returns after a minute is new."""
    alarms = Notifier()
    alarms.after(report(0))
    alarms.after(report(5_000, red("a")))
    assert alarms.after(report(6_000, red("a"))).findings
    alarms.after(report(7_000))
    alarms.after(report(20_000, red("a")))
    assert not alarms.after(report(21_000, red("a"))).findings
    alarms.after(report(22_000))
    alarms.after(report(23_000 + FORGET_MS))
    alarms.after(report(24_000 + FORGET_MS, red("a")))

    assert alarms.after(report(25_000 + FORGET_MS, red("a"))).findings


class Rung(Zktop):
    """Counts how often its bell is rung."""

    rung = 0

    def bell(self) -> None:
        """Ring."""
        self.rung += 1


class Heard:
    """A finding_hook that remembers."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def call(self, finding: Finding, cluster: str, complain: Callable[[str], None]) -> None:
        """Remember, and complain."""
        self.sentences.append(finding.sentence)
        complain("notify-send could not be started: No such file or directory.")

    def close(self) -> None:
        """Nothing runs."""


async def test_a_new_finding_is_announced() -> None:
    """In a corner, by the bell, and by the user's command, whose errors are also shown."""
    finding_hook = Heard()
    made = [Frame(report(0)), *(Frame(report(at, red("a"))) for at in (5_000, 6_000, 7_000))]
    app = Rung(
        FakeFeed(*made), settings=UiSettings(page="sessions", bell=True, finding_hook=finding_hook)
    )
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        messages = [one.message for one in app._notifications]

    assert messages == [
        brief(red("a"), "n"),
        "notify-send could not be started: No such file or directory.",
    ]
    assert (app.rung, finding_hook.sentences) == (1, ["a is wrong."])


async def test_reports_of_the_first_reading_announce_nothing() -> None:
    """A large ensemble is read for many seconds; then its old findings are summed up."""
    made = [Frame(report(at), is_early=True) for at in (0, 500)]
    crowd = [red("a"), red("b")]
    app = Rung(
        FakeFeed(*made, *(Frame(report(at, *crowd)) for at in (10_000, 11_000))),
        settings=UiSettings(page="sessions", bell=True),
    )
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)

        assert [one.message for one in app._notifications] == [summary(tuple(crowd), "n")]
        assert app.rung == 0


@pytest.mark.parametrize("page", ["locks", "findings"])
async def test_a_page_with_alerts_has_no_message_about_them(page: str) -> None:
    """It would cover a part of what it is about."""
    made = [Frame(report(0)), *(Frame(report(at, red("a"))) for at in (5_000, 6_000, 7_000))]
    app = app_of(*made, page=page)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)

        assert not list(app._notifications)


@pytest.mark.parametrize("page", ["locks", "findings"])
async def test_a_page_with_alerts_has_messages_about_failures(page: str) -> None:
    """No alert says what they say."""
    app = app_of(Frame(report(0)), Complaint("The recording ended: disk full."), page=page)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)

        assert [one.message for one in app._notifications] == ["The recording ended: disk full."]


async def test_a_page_that_shows_the_past_has_messages_about_new_findings() -> None:
    """It does not show them."""
    app = app_of(Frame(report(0)), Frame(report(5_000)))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)
        app.seek(LATER)
        for at in (6_000, 7_000):
            app.feed.send(Frame(report(at, red("a"))))
        await settled(pilot)

        assert [one.message for one in app._notifications] == [brief(red("a"), "n")]


@pytest.mark.parametrize(("number", "words"), [(1, "1 more critical finding"), (2, "findings")])
async def test_findings_without_a_message_are_counted(number: int, words: str) -> None:
    """One of them is in the singular."""
    crowd = [red(str(one)) for one in range(MAX_MESSAGES + number)]
    made = [Frame(report(0)), *(Frame(report(at, *crowd)) for at in (5_000, 6_000))]
    app = app_of(*made, page="sessions")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        last = [one.message for one in app._notifications][-1]

        assert last.endswith(f"{words}. Press n to step through the alerts.")


async def test_a_real_deadlock_is_announced_when_it_is_proven() -> None:
    """Its sentence is shown once."""
    finding_hook = Heard()
    quiet = (LATER, lock("/orders", "alice"))
    made = frames(
        quiet,
        *((LATER + at, AB_BA if at == 5_000 else []) for at in (5_000, 10_000, 20_000, 40_000)),
    )
    app = Rung(FakeFeed(*made), settings=UiSettings(finding_hook=finding_hook))
    async with app.run_test() as pilot:
        await settled(pilot)

    confirmed = [finding.sentence for finding in made[-1].report.findings if finding.rule == "D1"]
    assert finding_hook.sentences == confirmed
    assert app.rung == 0  # it was not asked for


async def test_a_recording_announces_nothing() -> None:
    """Its findings are long past."""
    finding_hook = Heard()
    made = [Frame(report(0)), *(Frame(report(at, red("a"))) for at in (5_000, 6_000))]
    app = app_of(*made, is_live=False, finding_hook=finding_hook)
    async with app.run_test() as pilot:
        await settled(pilot)

    assert finding_hook.sentences == []


SPY = """
import os, sys
said = [os.environ[name] for name in ("ZKTOP_CLUSTER", "ZKTOP_SENTENCE")]
open(sys.argv[1], "w").write("\\n".join([*said, sys.stdin.read()]))
"""


def finished(command: FindingCommand, finding: Finding = SAMPLE) -> list[str]:
    """Call a command, wait until it has ended, and return its error messages."""
    said: list[str] = []
    command.call(finding, "prod", said.append)
    while command._running:
        pass
    return said


def test_the_command_gets_the_cluster_the_sentence_and_the_finding(tmp_path: Path) -> None:
    """No text of a znode becomes part of the command."""
    spy, out = tmp_path / "spy.py", tmp_path / "out; touch pwned"
    spy.write_text(SPY)
    finding = red("a", sentence='$(touch pwned) "; touch pwned')
    said = finished(FindingCommand(f"{sys.executable} {spy} '{out}'"), finding)
    cluster, sentence, facts = out.read_text().split("\n", 2)

    assert said == []
    assert cluster == "prod"
    assert sentence == finding.sentence
    assert json.loads(facts)["sentence"] == finding.sentence
    assert json.loads(facts)["rule"] == "D1"
    assert not (tmp_path / "pwned").exists()


def test_a_command_that_cannot_be_started_is_a_sentence() -> None:
    """The UI continues."""
    assert finished(FindingCommand("/no/such/program --at all")) == [
        "/no/such/program could not be started: No such file or directory."
    ]


def test_a_command_that_fails_is_a_sentence() -> None:
    """Its failure is shown as a message."""
    assert finished(FindingCommand(f"{sys.executable} -c 'exit(3)'")) == [
        f"{sys.executable} failed with exit code 3."
    ]


def test_a_command_that_dies_is_a_sentence() -> None:
    """A signal leaves no exit code."""
    assert finished(FindingCommand("sh -c 'kill -TERM $$'")) == ["sh was ended by signal 15."]


def test_the_command_runs_in_a_locale_without_the_letters_of_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets them in UTF-8."""

    def ascii_only(value: str | bytes) -> bytes:
        return value if isinstance(value, bytes) else value.encode("ascii")

    out = tmp_path / "out"
    monkeypatch.setattr("os.fsencode", ascii_only)
    said = finished(
        FindingCommand(f"sh -c 'printenv ZKTOP_SENTENCE > {out}'"),
        red("a", sentence="Jörg wartet"),
    )

    assert said == []
    assert out.read_text("utf-8") == "Jörg wartet\n"


def test_a_command_that_never_ends_is_ended() -> None:
    """Its child processes are ended, too."""
    command = FindingCommand("sh -c 'sleep 60 & sleep 60'", timeout_s=0.2)

    assert finished(command) == ["sh took longer than 0.2s and was killed."]


def test_a_running_command_ends_with_the_ui() -> None:
    """No process stays behind."""
    said: list[str] = []
    command = FindingCommand("sleep 60")
    command.call(SAMPLE, "prod", said.append)
    process = next(iter(command._running))
    command.close()

    assert process.wait(10) == -9
    while command._running:
        pass
    assert said == []


@pytest.mark.parametrize("number", [1, 3])
def test_a_message_names_the_key_of_the_user(number: int) -> None:
    """For one finding, and for several."""
    assert "Press f9 to " in summary(tuple(red(f"r{at}") for at in range(number)), "f9")
