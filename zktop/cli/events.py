"""`zktop events`: what happens, one JSON object a line."""

import select
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from zktop.cli.options import (
    DURATION,
    ReplayTime,
    Wanted,
    connection_options,
    file_options,
    print_notes,
    replay,
    watching,
)
from zktop.cli.output import put_json_line

if TYPE_CHECKING:
    from zktop.model.facts import Millis
    from zktop.model.report import Report

_EXAMPLES = """\b
Examples:
  zktop events --hosts zk1:2181 --root '/locks/**'
  zktop events --duration 60 | jq -c 'select(.event == "deadlock")'
  zktop events --from incident.zktop
"""


@click.command("events", epilog=_EXAMPLES)
@click.option("--duration", type=DURATION, metavar="TIME", help="End after this: 60, 5m.")
@file_options
@connection_options
def command(
    wanted: Wanted, duration: "Millis | None", file: str | None, at: ReplayTime | None
) -> None:
    """Print what happens to locks, deadlocks, findings and the connection, as it happens.

    Until ctrl-c, or for a --duration; a lost connection is an event, and comes back. What was
    there before is told by `zktop snapshot`, but deadlocks and findings are told of at once.
    """
    from zktop.output.events import EventStream  # noqa: PLC0415  looked up without need for it

    teller = EventStream()
    for report in _recorded(wanted, file, at) if file else _live(wanted, duration):
        for event in teller.events(report):
            put_json_line(event)
    for event in teller.rest():
        put_json_line(event)


def _recorded(wanted: Wanted, file: str, at: ReplayTime | None) -> "Iterator[Report]":
    source, moment = replay(wanted, file, at)
    return source.reports(moment)


def _live(wanted: Wanted, duration: "Millis | None") -> "Iterator[Report]":
    with watching(wanted) as watch:
        watch.read()
        told = 0
        for report in watch.reports(None if duration is None else duration / 1000):
            yield report
            if len(watch.notes) > told:
                print_notes(watch.notes)
                told = len(watch.notes)
            if _reader_is_gone():
                return
        watch.insist(patience=0.0)


def _reader_is_gone() -> bool:
    """Tell whether nobody reads our output any more, though nothing was written since."""
    if not sys.stdout or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))
