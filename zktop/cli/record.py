"""`zktop record`: record an ensemble to a file; other commands read it with --from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click

from zktop.app.record_file import FailsafeFile, recorder_of
from zktop.cli.common.options import DURATION, connection_options
from zktop.cli.common.output import narrate
from zktop.cli.common.sources import live_run, print_notes
from zktop.config.overrides import Overrides
from zktop.errors import UsageError
from zktop.model.facts import Millis
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.settings import SECOND_MS

SAMPLE_EVERY_S = 2.0  # as in the UI: verdicts depend on how long sessions have been quiet
_EXAMPLES = """\b
Examples:
  zktop record -o incident.zktop --duration 5m
  zktop snapshot --from incident.zktop --at +90s --format text
"""


@click.command("record", epilog=_EXAMPLES)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="File to write; an existing one is replaced.",
)
@click.option("--duration", type=DURATION, metavar="TIME", help="End after this: 60, 5m.")
@click.option(
    "--redact/--no-redact",
    default=True,
    help="Leave out znode data of more than 256 bytes, except for the owner's name.",
)
@connection_options
def command(overrides: Overrides, output: Path, duration: Millis | None, *, redact: bool) -> None:
    """Record everything that is read, until ctrl-c or for a --duration.

    The file is valid up to its last line however the recording ends.
    """
    with live_run(overrides, SAMPLE_EVERY_S) as run, _open(output) as file:
        run.recorder = recorder_of(file, run, redact=redact)
        try:
            run.read()
            narrate("recording; ctrl-c ends it")
            for _ in run.reports(None if duration is None else duration / SECOND_MS):
                pass
        finally:
            report = run.look()
            run.recorder.close()
            narrate(f"{output}: {_summary(report)} at the end")
            print_notes(run)
        run.raise_if_lost(patience_s=0.0)


def _summary(report: Report) -> str:
    locks, deadlocks = len(report.paths), len(report.deadlocks)
    return f"{count(locks, 'lock')}, {count(deadlocks, 'deadlock')}"


@contextmanager
def _open(path: Path) -> Iterator[FailsafeFile]:
    try:
        file = FailsafeFile(path.open("wb"), _raise_write_error)
    except OSError as error:
        _raise_write_error(path, error)
    with file:
        yield file


def _raise_write_error(path: Path, error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError):
        raise error  # the reader of a pipe has closed it
    raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error
