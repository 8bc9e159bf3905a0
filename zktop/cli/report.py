"""`zktop report`: what happened in a period, from a recording or a live ensemble."""

from collections.abc import Iterator
from os.path import realpath
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from zktop.app.connection_settings import SAMPLE_EVERY_S
from zktop.app.record_file import name_and_version
from zktop.app.replay import Replay
from zktop.cli.common.options import (
    FROM,
    SECONDS,
    SINCE,
    UNTIL,
    ReplayTime,
    connection_options,
    refuse_reversed,
)
from zktop.cli.common.output import narrate, put_utf8
from zktop.cli.common.sources import live_run, open_recording, print_notes, progress_of
from zktop.config.overrides import Overrides
from zktop.errors import ExitCode, NothingToLookAtError, cannot_write
from zktop.model.facts import Millis
from zktop.output.period import markdown, words
from zktop.output.period.html_page import page
from zktop.output.period.period import Origin, Period, PeriodSummary

FORMATS: Final = ("html", "md", "json")
_EXAMPLES = """\b
Examples:
  zktop report --from incident.zktop -o incident.html
  zktop report --from last-night.zktop --since +10m --until +25m -o report.md
  zktop report --hosts zk1:2181 --duration 10m --format json
"""


@click.command("report", epilog=_EXAMPLES)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Output format; default: that of the file's ending, md without one.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write; an existing one is replaced. Default: print it.",
)
@click.option(
    "--duration", "duration_s", type=SECONDS, metavar="TIME", help="Watch for this long: 60, 5m."
)
@FROM
@SINCE
@UNTIL
@connection_options
def command(
    *, overrides: Overrides, form: str | None, output: Path | None, **period_options: Any
) -> int:
    """Report on a period: deadlocks, findings, and who made others wait.

    On an ensemble it watches for a --duration, or until ctrl-c. From a recording
    it takes everything, or the part from --since to --until.
    """
    file = period_options["file"]
    if output and file and realpath(output) == realpath(file):
        raise click.UsageError(f"{output} is the recording to read: write to another file.")
    form = form or _form_of(output)
    summary, is_interrupted = _period(overrides, **period_options)
    document = _document(summary, form)
    if output is None:
        put_utf8(document.rstrip())
    else:
        _write(output, document)
        narrate(f"{output}: {words.summary(summary.period)}")
    return ExitCode.INTERRUPTED if is_interrupted else ExitCode.FINE


def _period(
    overrides: Overrides,
    file: str | None,
    duration_s: float | None,
    since: ReplayTime | None,
    until: ReplayTime | None,
) -> tuple[PeriodSummary, bool]:
    """Sum up the period. Also return whether ctrl-c ended it."""
    if file is None:
        if since or until:
            raise click.UsageError("--since and --until need --from: only a recording has a past.")
        return _watched(overrides, duration_s)
    if duration_s is not None:
        raise click.UsageError("--duration does not go with --from: use --until.")
    return _recorded(overrides, file, since, until), False


def _form_of(output: Path | None) -> str:
    """Return the format for the ending of a file name, or Markdown if it has none."""
    suffix = output.suffix[1:].lower() if output else ""
    if suffix and suffix not in FORMATS:
        endings = ", ".join(f".{form}" for form in FORMATS)
        what = f"has none of the endings {endings}: add --format, or end it with one of them."
        raise click.UsageError(f"{output} {what}")
    return suffix or "md"


def _recorded(
    overrides: Overrides, file: str, since: ReplayTime | None, until: ReplayTime | None
) -> PeriodSummary:
    """Sum up a recording, or part of it.

    At least the 15 minutes before that part are read, too.
    """
    recording, _ = open_recording(overrides, file)
    first, last_known = recording.begin, recording.last_known_time
    begin = since.resolve(first, last_known) if since else None
    end = until.resolve(first, last_known, begin) if until else None
    refuse_reversed(begin, end)
    if begin is not None:
        recording.start_near(begin)
    period, last = Period(begin), None
    with progress_of(recording):
        for report in recording.reports():
            if end is not None and report.now > end:
                last = end  # nothing changed until then
                break
            period.look(report)
    if recording.known_until is not None:
        last = min(recording.known_until, end or recording.known_until)
    print_notes(recording)
    notes = (*recording.notes, *_proof_and_end(recording))
    return _summary(period, Origin(recording.hosts, recording.chroot, notes), last)


def _proof_and_end(recording: Replay) -> Iterator[str]:
    if recording.proof:
        yield recording.proof
    if recording.is_cut_off:
        yield "The end of the recording is missing."


def _watched(overrides: Overrides, duration_s: float | None) -> tuple[PeriodSummary, bool]:
    period, is_interrupted = Period(), False
    with live_run(overrides, SAMPLE_EVERY_S) as run:
        run.read()
        narrate("watching; ctrl-c ends it and writes the report")
        try:
            for report in run.reports(duration_s):
                period.look(report)
        except KeyboardInterrupt:
            is_interrupted = True
        print_notes(run)
        return _summary(period, Origin(run.hosts, run.chroot, run.notes)), is_interrupted


def _summary(period: Period, origin: Origin, until: Millis | None = None) -> PeriodSummary:
    summary = period.summary(origin, until)
    if summary is None:
        raise NothingToLookAtError("Nothing was seen in this period.")
    return summary


def _document(summary: PeriodSummary, form: str) -> bytes:
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(summary.period), indent=2) + b"\n"
    content = words.document(summary.period)
    if form == "html":
        return page(content, summary.timeline, name_and_version())
    return "".join(f"{line}\n" for line in markdown.lines(content)).encode()


def _write(path: Path, document: bytes) -> None:
    try:
        path.write_bytes(document)
    except OSError as error:
        raise cannot_write(path, error) from error
