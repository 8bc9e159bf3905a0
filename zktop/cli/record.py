"""`zktop record`: record an ensemble to a file that other commands read with --from."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NoReturn

import click

from zktop.app.alerts.webhooks import Webhooks
from zktop.app.connection_settings import SAMPLE_EVERY_S
from zktop.app.flight_recorder.reconnect import RecordedRuns
from zktop.app.flight_recorder.retention import (
    DEFAULT_KEEP_MS,
    DEFAULT_MAX_SIZE,
    MIN_KEEP_MS,
    MIN_MAX_SIZE,
    RingLimits,
)
from zktop.app.flight_recorder.ring_folder import RingFolder, open_ring
from zktop.app.live_run import LiveRun
from zktop.app.record_file import FailsafeFile, recorder_of
from zktop.cli.common.options import MILLIS, REDACT, SECONDS, SIZE, connection_options
from zktop.cli.common.output import narrate
from zktop.cli.common.sources import live_run, print_notes
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides
from zktop.errors import cannot_write
from zktop.model.facts import Millis
from zktop.model.format import count
from zktop.model.report import Report

FIRING = "alerts.json"  # in DIR: alerts that were posted to webhooks and are not resolved yet
_EXAMPLES = """\b
Examples:
  zktop record -o incident.zktop --duration 5m
  zktop snapshot --from incident.zktop --at +90s --format text
  zktop record --dir ring --keep 48h --max-size 2G
  zktop replay ring
"""


@click.command("record", epilog=_EXAMPLES)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write; an existing one is replaced.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Flight recorder: a folder to record into for months; old recordings are deleted.",
)
@click.option(
    "--keep",
    type=MILLIS,
    metavar="TIME",
    help="With --dir: delete what is older; default: 48h.",
)
@click.option(
    "--max-size",
    type=SIZE,
    metavar="SIZE",
    help="With --dir: limit for all files together; default: 2G.",
)
@click.option(
    "--duration", "duration_s", type=SECONDS, metavar="TIME", help="Stop after this time: 60, 5m."
)
@REDACT
@connection_options
def command(
    *,
    overrides: Overrides,
    output: Path | None,
    folder: Path | None,
    duration_s: float | None,
    redact: bool,
    **limits: int | None,
) -> None:
    """Record everything that zktop reads, until ctrl-c or the end of --duration.

    The file is valid up to its last line, however the recording ends. With --dir, zktop writes a
    ring of recordings, each of at most ten minutes, and deletes the oldest. It continues after a
    lost connection, a restart or a full disk. Other commands open DIR as one recording. The
    minutes around each critical finding are kept in DIR/findings. With or without --dir, findings
    are posted to the webhooks of the config.
    """
    if (output is None) == (folder is None):
        raise click.UsageError("Give either -o FILE or --dir DIR.")
    if output is not None:
        if any(limit is not None for limit in limits.values()):
            raise click.UsageError("--keep and --max-size need --dir.")
        _record_file(overrides, output, duration_s, redact=redact)
    if folder is not None:
        with open_ring(folder, _limits(**limits)) as ring:
            _record_ring(overrides, ring, duration_s, redact=redact)


def _record_file(
    overrides: Overrides, output: Path, duration_s: float | None, *, redact: bool
) -> None:
    with (
        live_run(overrides, SAMPLE_EVERY_S) as run,
        _open(output) as file,
        Webhooks.of(effective_config(overrides), narrate) as hooks,
    ):
        run.recorder = recorder_of(file, run, redact=redact)
        try:
            run.read()
            narrate("recording; ctrl-c ends it")
            for report in run.reports(duration_s):
                hooks.look(report)
        finally:
            report = run.look()
            run.recorder.close()
            narrate(f"{output}: {_summary(report)} at the end")
            print_notes(run)
        run.raise_if_lost(patience_s=0.0)


def _limits(keep: Millis | None, max_size: int | None) -> RingLimits:
    if keep is not None and keep < MIN_KEEP_MS:
        raise click.UsageError("--keep must be at least 1m.")
    if max_size is not None and max_size < MIN_MAX_SIZE:
        raise click.UsageError("--max-size must be at least 1M.")
    return RingLimits(keep or DEFAULT_KEEP_MS, max_size or DEFAULT_MAX_SIZE)


def _record_ring(
    overrides: Overrides, ring: RingFolder, duration_s: float | None, *, redact: bool
) -> None:
    def new_run() -> AbstractContextManager[LiveRun]:
        return live_run(overrides, SAMPLE_EVERY_S)

    with Webhooks.of(effective_config(overrides), narrate, ring.path / FIRING) as hooks:
        runs = RecordedRuns(new_run, ring, hooks, narrate, redact=redact)
        runs.record(duration_s)


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
    raise cannot_write(path, error) from error
