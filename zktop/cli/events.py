"""`zktop events`: events as they happen, one JSON object per line."""

import select
import sys
from collections.abc import Iterator

import click

from zktop.cli.common.options import DURATION, ReplayTime, connection_options, file_options
from zktop.cli.common.output import put_json_line
from zktop.cli.common.sources import follow_through_refusals, open_recording, print_notes
from zktop.config.overrides import Overrides
from zktop.model.report import Report
from zktop.output.event_stream import EventStream

_EXAMPLES = """\b
Examples:
  zktop events --hosts zk1:2181 --root '/locks/**'
  zktop events --duration 60 | jq -c 'select(.event == "deadlock")'
  zktop events --from incident.zktop
"""


@click.command("events", epilog=_EXAMPLES)
@DURATION
@file_options
@connection_options
def command(
    overrides: Overrides, duration_s: float | None, file: str | None, at: ReplayTime | None
) -> None:
    """Print events of locks, deadlocks, findings and the connection as they happen.

    It runs until ctrl-c, or for a --duration. A lost connection is an event, and zktop reconnects.
    Deadlocks and findings that exist at the start are printed at once. `zktop snapshot` prints
    the locks.
    """
    if file is not None and duration_s is not None:
        raise click.UsageError("--duration does not go with --from: use --at.")
    if file is not None:
        reports = _recorded_reports(overrides, file, at)
    else:
        reports = _live_reports(overrides, duration_s)
    stream = EventStream()
    for report in reports:
        for event in stream.events(report):
            put_json_line(event)
    for event in stream.rest():
        put_json_line(event)


def _recorded_reports(overrides: Overrides, file: str, at: ReplayTime | None) -> Iterator[Report]:
    recording, until = open_recording(overrides, file, at)
    yield from recording.reports(until)
    print_notes(recording)


def _live_reports(overrides: Overrides, duration_s: float | None) -> Iterator[Report]:
    for report in follow_through_refusals(overrides, duration_s, must_end_connected=True):
        yield report
        if _is_output_closed():
            return


def _is_output_closed() -> bool:
    """Return whether the reader has closed the pipe, without writing to it."""
    if not sys.stdout or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))
