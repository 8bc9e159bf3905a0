"""`zktop check`: deadlocks and findings as an exit code, for scripts and monitoring."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import click
from click.exceptions import Exit

from zktop.app.live_run import TIMED_OUT, LiveRun
from zktop.app.replay import Replay
from zktop.cli.common.options import ReplayTime, connection_options, file_options
from zktop.cli.common.output import drop_output, flush, put
from zktop.cli.common.sources import live_run, open_recording, print_notes, progress_of
from zktop.cli.snapshot import why_no_locks
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides
from zktop.config.suggest import quoted
from zktop.errors import ExitCode, NothingToLookAtError, ZktopError
from zktop.model.facts import Millis
from zktop.model.findings.catalogue import RULES
from zktop.model.report import Report
from zktop.model.text import nearest
from zktop.model.waits.confidence import Confidence
from zktop.model.world.missing_roots import are_idle
from zktop.output.check_verdict import CheckVerdict, FailCriteria, VerdictBuilder

MIN_SAMPLE_EVERY_S = 0.5  # the shortest pause between two reads of the servers' tables
NAGIOS_CODES = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
_EXAMPLES = """\b
Examples:
  zktop check --hosts zk1:2181 --root '/locks/**'
  zktop check --fail-on D1,D2,B1
  zktop check --format nagios
  zktop check --from incident.zktop --at +90s --min-confidence C3

Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 no connection, 4 no lock.
With --format nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
"""


class NagiosPlugin(click.Command):
    """With --format nagios, errors are also one line, with the exit code of UNKNOWN."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        is_nagios = "--format=nagios" in args or ("--format", "nagios") in pairwise(args)
        with _errors_as_unknown(is_nagios=is_nagios):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _errors_as_unknown(is_nagios=ctx.params["form"] == "nagios"):
            return super().invoke(ctx)


@contextmanager
def _errors_as_unknown(*, is_nagios: bool) -> Iterator[None]:
    try:
        yield
    except (ZktopError, click.UsageError) as error:
        if not is_nagios:
            raise
        message = error.format_message() if isinstance(error, click.UsageError) else str(error)
        sentence = " ".join(message.split())
        code = _print([f"ZKTOP UNKNOWN - {sentence}"], NAGIOS_CODES["UNKNOWN"])
        raise Exit(code) from error


@click.command("check", cls=NagiosPlugin, epilog=_EXAMPLES)
@click.option(
    "--fail-on", metavar="RULE,...", help="Findings that count; default: all critical ones."
)
@click.option(
    "--min-confidence",
    type=click.Choice(("C1", "C2", "C3", "C4")),
    default="C2",
    show_default=True,
    help="Minimum confidence of findings that count. A check of an ensemble ends before a "
    "deadlock that is older than zktop can be C3, which takes about 35 s.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "nagios")),
    default="text",
    help="Output format.",
)
@file_options
@connection_options
def command(
    overrides: Overrides,
    fail_on: str | None,
    min_confidence: Confidence,
    form: str,
    file: str | None,
    at: ReplayTime | None,
) -> int:
    """Exit with 1 if there is a deadlock or another serious finding.

    On an ensemble, zktop waits until it has seen every finding twice, with the config's `settle`
    in between. A recording is judged at its end, or at --at. If nothing is found, but an ACL hides
    a lock or a root, or the reading timed out, the first line begins with UNKNOWN instead of OK.
    Without a connection, in a gap of a recording, or a minute or more after its end, it begins
    with UNKNOWN as well, and the exit code is 3. A folder that the search for locks cannot list is
    only a note.
    """
    criteria = _criteria(fail_on, min_confidence)
    if file is not None:
        verdict = _check_recording(*open_recording(overrides, file, at), criteria)
    else:
        verdict = _check_ensemble(overrides, criteria)
    if form == "nagios":
        return _print(verdict.nagios(), NAGIOS_CODES[verdict.level])
    code = ExitCode.FINDINGS if verdict.findings else ExitCode.FINE
    return _print(verdict.lines(), ExitCode.NO_CONNECTION if verdict.why_lost else code)


def _print(lines: Iterable[str], code: int) -> int:
    """Print the answer. Return `code` even if the reader closes the pipe early."""
    try:
        for line in lines:
            put(line)
        flush()
    except BrokenPipeError:
        drop_output()
    return code


def _check_recording(
    recording: Replay, until: Millis | None, criteria: FailCriteria
) -> CheckVerdict:
    builder = VerdictBuilder(criteria, recording.settings.thresholds.settle)
    with progress_of(recording):
        last = recording.last(until, builder.look)
    print_notes(recording, last)
    return _verdict(builder, last, recording)


def _check_ensemble(overrides: Overrides, criteria: FailCriteria) -> CheckVerdict:
    """Watch an ensemble until every finding has been seen twice, `settle` apart."""
    settle = effective_config(overrides).config.thresholds.settle
    builder = VerdictBuilder(criteria, settle)
    with live_run(overrides, max(settle / 1000, MIN_SAMPLE_EVERY_S)) as run:
        run.read()  # if it times out, a note of the run says so
        for report in run.reports():
            builder.look(report)
            run.raise_if_lost()
            if not run.lost_s() and builder.has_settled(report):
                break
        last = run.look()
        builder.look(last)
    verdict = _verdict(builder, last, run)
    return verdict._replace(notes=run.notes, is_cut_short=TIMED_OUT in run.notes)


def _verdict(builder: VerdictBuilder, report: Report, source: LiveRun | Replay) -> CheckVerdict:
    """Return the verdict of the last report. Raise NothingToLookAtError if no lock is readable.

    Named roots that exist but have no clients do not raise it, unlike mistyped ones.
    """
    is_idle = not report.paths and are_idle(report.world, report.settings)
    if not is_idle and all(record.lock.error is not None for record in report.records.values()):
        if isinstance(source, LiveRun):
            print_notes(source)
        raise NothingToLookAtError(why_no_locks(report, source))
    return builder.verdict(report)


def _criteria(fail_on: str | None, confidence: Confidence) -> FailCriteria:
    rules = frozenset(_rule_id(word) for word in fail_on.split(",")) if fail_on else frozenset()
    return FailCriteria(rules, confidence)


def _rule_id(word: str) -> str:
    """Return the id of the rule with this id or name."""
    by_id = {rule.id.casefold(): rule.id for rule in RULES}
    by_name = {rule.name: rule.id for rule in RULES}
    by_former_name = {rule.former_name: rule.id for rule in RULES if rule.former_name}
    wanted = word.strip().casefold()
    if wanted not in by_id | by_name | by_former_name:
        meant = nearest(wanted, [*by_id, *by_name])
        hint = (
            f" Did you mean {meant}?"
            if meant
            else " `man zktop` lists the rules, and so does ? in the UI."
        )
        raise click.UsageError(f"--fail-on: there is no rule {quoted(word.strip())}.{hint}")
    return (by_id | by_name | by_former_name)[wanted]
