"""`zktop snapshot`: every lock at one moment, as JSON, text or a graph."""

import click

from zktop.app.live_run import LiveRun
from zktop.app.replay import Replay
from zktop.cli.common.options import ReplayTime, connection_options, file_options
from zktop.cli.common.output import narrate, put, put_json
from zktop.cli.common.sources import (
    below_chroot,
    live_run,
    open_recording,
    print_notes,
    progress_of,
)
from zktop.config.overrides import Overrides
from zktop.errors import NothingToLookAtError
from zktop.model.report import Report
from zktop.output import snapshot_text
from zktop.output.check_verdict import non_lock_sentences
from zktop.output.dot_and_mermaid import dot, mermaid
from zktop.output.snapshot_json import snapshot

CONFIRM_S = 1.0  # how long to wait for a listing that confirms or refutes a deadlock
FORMATS = ("json", "text", "dot", "mermaid")
_EXAMPLES = """\b
Examples:
  zktop snapshot --hosts zk1:2181 --root '/locks/**'
  zktop snapshot --format text
  zktop snapshot --format dot | dot -Tsvg > locks.svg
  zktop snapshot --from incident.zktop --at 2026-01-31T12:00:00Z
"""


@click.command("snapshot", epilog=_EXAMPLES)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="json",
    show_default=True,
    help="Output format.",
)
@file_options
@connection_options
def command(overrides: Overrides, form: str, file: str | None, at: ReplayTime | None) -> None:
    """Show every lock once: holders, waiters, deadlocks and findings.

    The exit code is 4 if there is no lock.
    """
    source: Replay | LiveRun
    if file is not None:
        source, until = open_recording(overrides, file, at)
        with progress_of(source):
            report = source.last(until)
        _print(report, source, form)
    else:
        with live_run(overrides) as source:
            report = first_report(source)
            _print(report, source, form)
    if not report.paths:
        raise NothingToLookAtError(why_no_locks(report, source))


def why_no_locks(report: Report, source: LiveRun | Replay) -> str:
    """Return a sentence that says where no lock was found, or why none could be read."""
    reasons = [
        str(finding.sentence) for finding in report.findings if finding.rule in ("R4", "R8", "R9")
    ]
    reasons += non_lock_sentences(report)
    paths = [root.path for root in report.settings.roots]
    if paths and not reasons:
        roots = ", ".join(paths)
        reasons = [f"No lock was found at {roots}. `*` is one level, `**` any depth."]
    if reasons:
        return " ".join((*reasons, *below_chroot(paths, source.chroot)))
    where = f"below {source.chroot}" if source.chroot else "anywhere"
    why = "; the notes above may say more" if source.notes else ""
    return f"No lock was found {where}. Name a place with --root if it is hidden or unusual{why}."


def first_report(run: LiveRun) -> Report:
    """Return a report once all is read. If a deadlock is suspected, list again first."""
    run.read()  # if it times out, a note of the run says so
    run.raise_if_lost()
    report = run.look()
    if report.relist:
        for later in run.reports(CONFIRM_S):
            if not later.relist:
                break
        report = run.look()  # leaves no examination overdue
    return report


def _print(report: Report, source: LiveRun | Replay, form: str) -> None:
    print_notes(source, report)
    if report.why_lost:
        narrate(f"note: {report.why_lost}")
    taken = snapshot(report, source.hosts, source.chroot)
    if form == "json":
        put_json(taken)
        return
    lines = {"text": snapshot_text.lines, "dot": dot, "mermaid": mermaid}[form](taken)
    for line in lines:
        put(line)
