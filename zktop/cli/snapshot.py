"""`zktop snapshot`: every lock at one moment, as data, text or a drawing."""

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
from zktop.cli.output import narrate, put, put_json
from zktop.errors import NothingToLookAtError

if TYPE_CHECKING:
    from zktop.app.live_run import LiveRun
    from zktop.app.replay import Replay
    from zktop.model.report import Report

PROOF_S = 1.0  # for a second listing that would prove or kill a deadlock
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
    "--format", "form", type=click.Choice(FORMATS), default="json", show_default=True, help="How."
)
@file_options
@connection_options
def command(wanted: Wanted, form: str, file: str | None, at: ReplayTime | None) -> None:
    """Show every lock once: holders, waiters, deadlocks and findings.

    The exit code is 4 when there is no lock.
    """
    if file is not None:
        source, moment = replay(wanted, file, at)
        report = source.last(moment)
        _show(report, source, form)
    else:
        with watching(wanted) as watch:
            report = _first(watch)
            print_notes(watch.notes)
            _show(report, watch, form)
    if not report.paths:
        raise NothingToLookAtError(no_locks(report))


def no_locks(report: "Report") -> str:
    """Say that no lock was found, and where; or why there is none to find."""
    whys = [str(one.sentence) for one in report.findings if one.rule in ("R8", "R9")]
    if whys:
        return " ".join(whys)
    named = ", ".join(root.path for root in report.settings.roots)
    if named:
        return f"No lock was found at {named}. `*` is one level, `**` any depth."
    return "No lock was found anywhere. Name a place with --root if it is hidden or unusual."


def _first(watch: "LiveRun") -> "Report":
    """Wait for the first complete reading; look twice where one look proves nothing."""
    if not watch.read():
        narrate("note: not everything could be read in time; this is what there is so far")
    watch.insist()
    report = watch.look()
    if report.relist:
        for later in watch.reports(PROOF_S):
            report = later
            if not report.relist:
                break
    return report


def _show(report: "Report", source: "LiveRun | Replay", form: str) -> None:
    from zktop.output.snapshot import snapshot  # noqa: PLC0415  imported when all is read

    shot = snapshot(report, source.hosts, source.chroot)
    if form == "json":
        put_json(shot)
        return
    from zktop.output import graphs, text  # noqa: PLC0415  JSON needs neither

    lines = {"text": text.lines, "dot": graphs.dot, "mermaid": graphs.mermaid}[form](shot)
    for line in lines:
        put(line)
