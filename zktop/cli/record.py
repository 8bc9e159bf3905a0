"""`zktop record`: what is read, into a file; every other command reads it again with --from."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn, cast

import click

from zktop.app.record_file import FailsafeFile
from zktop.cli.options import DURATION, Wanted, connection_options, print_notes, watching
from zktop.cli.output import narrate
from zktop.errors import UsageError
from zktop.model.settings import SECOND

if TYPE_CHECKING:
    from zktop.app.live_run import LiveRun
    from zktop.model.facts import Millis
    from zktop.model.report import Report
    from zktop.model.settings import Settings
    from zktop.recording import Header, Recorder

SAMPLE_EVERY_S = 2.0  # as the terminal UI does: verdicts rest on how still sessions are
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
    help="File to write; one that is there is replaced.",
)
@click.option("--duration", type=DURATION, metavar="TIME", help="End after this: 60, 5m.")
@click.option(
    "--redact/--no-redact",
    default=True,
    help="Leave out what is in znodes of more than 256 bytes, but for the owner's name.",
)
@connection_options
def command(wanted: Wanted, output: Path, duration: "Millis | None", *, redact: bool) -> None:
    """Record everything that is read, until ctrl-c or for a --duration.

    The file is good up to its last line whatever ends the recording.
    """
    with watching(wanted, SAMPLE_EVERY_S) as watch, _opened(output) as file:
        watch.recorder = recorder_of(file, watch, redact=redact)
        try:
            watch.read()
            narrate("recording; ctrl-c ends it")
            for _ in watch.reports(None if duration is None else duration / SECOND):
                pass
        finally:
            report = watch.look(thorough=True)
            watch.recorder.close()
            narrate(f"{output}: {_summary(report)} at the end")
            print_notes(watch.notes)
        watch.insist(patience=0.0)


def _summary(report: "Report") -> str:
    from zktop.model.format import count  # noqa: PLC0415  looked up without need for it

    locks, deadlocks = len(report.paths), len(report.deadlocks)
    return f"{count(locks, 'lock')}, {count(deadlocks, 'deadlock')}"


def recorder_of(file: IO[bytes], watch: "LiveRun", *, redact: bool) -> "Recorder":
    """Give the recorder for what this watch sees."""
    from zktop.recording import Recorder  # noqa: PLC0415  looked up without need for it

    return Recorder(file, header_of(str(watch.access.hosts), watch.settings, redact=redact))


def header_of(hosts: str, settings: "Settings", *, redact: bool = True) -> "Header":
    """Give the first line of a recording that we make."""
    from zktop.recording import Header  # noqa: PLC0415  looked up without need for it

    return Header(
        tool=_tool(),
        hosts=hosts,
        roots=[root.path for root in settings.roots],
        redacted=redact,
        settings=settings,
    )


@cache
def _tool() -> str:
    """Name who records. Each time it is looked up, Python keeps a list of the current folder."""
    from importlib.metadata import version  # noqa: PLC0415  looked up without need for it

    return f"zktop {version('zktop')}"


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        file = FailsafeFile(path.open("wb"), _cannot_be_written)
    except OSError as error:
        _cannot_be_written(path, error)
    with file:
        yield cast("IO[bytes]", file)


def _cannot_be_written(path: Path, error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError):
        raise error  # who reads it has had enough
    raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error
