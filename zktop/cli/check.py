"""`zktop check`: one answer for a script or a monitoring system."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from zktop.cli.options import (
    ReplayTime,
    Wanted,
    connection_options,
    file_options,
    print_notes,
    replay,
    watching,
)
from zktop.cli.output import drop_output, narrate, put
from zktop.cli.snapshot import no_locks
from zktop.config.suggest import quoted
from zktop.errors import ExitCode, NothingToLookAtError, ZktopError
from zktop.model.text import nearest

if TYPE_CHECKING:
    from zktop.app.replay import Replay
    from zktop.model.facts import Millis
    from zktop.model.findings.finding import Confidence
    from zktop.model.report import Report
    from zktop.output.verdict import CheckVerdict, FailCriteria, VerdictBuilder

LEAST_APART_S = 0.5  # two looks at the servers' tables
NAGIOS = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
_EXAMPLES = """\b
Examples:
  zktop check --hosts zk1:2181 --root '/locks/**'
  zktop check --fail-on D1,D2,B1 --min-confidence C3
  zktop check --format nagios
  zktop check --from incident.zktop --at +90s

Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 no connection, 4 no lock.
With --format nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
"""


@click.command("check", epilog=_EXAMPLES)
@click.option(
    "--fail-on", metavar="RULE,...", help="These rules count; else all that is critical."
)
@click.option(
    "--min-confidence",
    type=click.Choice(("C1", "C2", "C3", "C4")),
    default="C2",
    show_default=True,
    help="How sure a finding must be.",
)
@click.option(
    "--format", "form", type=click.Choice(("text", "nagios")), default="text", help="How."
)
@file_options
@connection_options
def command(
    wanted: Wanted,
    fail_on: str | None,
    min_confidence: "Confidence",
    form: str,
    file: str | None,
    at: ReplayTime | None,
) -> int:
    """Say whether there is a deadlock or another serious finding; the exit code is 1 then.

    An ensemble is watched until every finding was seen twice, `settle` of the config apart. A
    recording is judged as things were at its end, or at --at.
    """

    def verdict() -> "CheckVerdict":
        bar = _bar(fail_on, min_confidence)
        if file is not None:
            return _of_file(*replay(wanted, file, at), bar)
        return _of_ensemble(wanted, bar)

    return _nagios(verdict) if form == "nagios" else _text(verdict)


def _text(judged: "Callable[[], CheckVerdict]") -> int:
    verdict = judged()
    return _answer(verdict.lines(), ExitCode.FINDINGS if verdict.findings else ExitCode.FINE)


def _nagios(judged: "Callable[[], CheckVerdict]") -> int:
    """Answer as a plug-in does: whatever goes wrong is one line, and UNKNOWN."""
    try:
        verdict = judged()
    except (ZktopError, click.UsageError) as error:
        return _answer([f"ZKTOP UNKNOWN - {' '.join(str(error).split())}"], NAGIOS["UNKNOWN"])
    return _answer(verdict.nagios(), NAGIOS[verdict.level])


def _answer(lines: Iterable[str], code: int) -> int:
    """Say it; the code is the same for somebody who reads no further than he likes."""
    try:
        for line in lines:
            put(line)
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
    return code


def _of_file(source: "Replay", moment: "Millis | None", bar: "FailCriteria") -> "CheckVerdict":
    """Judge a recording as things were at its end, or at this moment."""
    from zktop.output.verdict import VerdictBuilder  # noqa: PLC0415  not before it is needed

    judge = VerdictBuilder(bar, source.settings.thresholds.settle)
    return _judged(judge, source.told(judge.look, moment))


def _of_ensemble(wanted: Wanted, bar: "FailCriteria") -> "CheckVerdict":
    """Watch an ensemble for as long as it takes to see everything twice."""
    from zktop.output.verdict import VerdictBuilder  # noqa: PLC0415  not before it is needed

    settle = wanted.effective().config.thresholds.settle
    judge = VerdictBuilder(bar, settle)
    with watching(wanted, max(settle / 1000, LEAST_APART_S)) as watch:
        if not watch.read():
            narrate("note: not everything could be read in time; the answer is about what was")
        for report in watch.reports():
            judge.look(report)
            watch.insist()
            if not watch.gone_s() and judge.has_settled(report):
                break
        last = watch.look(thorough=True)
        judge.look(last)
        print_notes(watch.notes)
    return _judged(judge, last)


def _judged(judge: "VerdictBuilder", report: "Report") -> "CheckVerdict":
    if not report.paths:
        raise NothingToLookAtError(no_locks(report))
    return judge.verdict(report)


def _bar(fail_on: str | None, confidence: "Confidence") -> "FailCriteria":
    from zktop.output.verdict import FailCriteria  # noqa: PLC0415

    rules = frozenset(_rule(word) for word in fail_on.split(",")) if fail_on else frozenset()
    return FailCriteria(rules, confidence)


def _rule(word: str) -> str:
    """Know a rule by its id or by its name."""
    from zktop.model.findings.catalogue import RULES  # noqa: PLC0415

    known = {rule.id.casefold(): rule.id for rule in RULES}
    known |= {rule.name.casefold(): rule.id for rule in RULES}
    wanted = word.strip().casefold()
    if wanted not in known:
        meant = nearest(wanted, list(known))
        hint = f" Did you mean {meant}?" if meant else " They are listed in the documentation."
        raise click.UsageError(f"--fail-on: there is no rule {quoted(word.strip())}.{hint}")
    return known[wanted]
