"""The two sources of reports for commands: a live ensemble, or a recording (`--from`)."""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from zktop.app.connection_settings import access_of, plan_of
from zktop.app.live_run import LiveRun
from zktop.app.replay import CUT_OFF, Replay
from zktop.cli.common.interrupts import Interrupts
from zktop.cli.common.options import ReplayTime
from zktop.cli.common.output import ProgressLine, narrate
from zktop.config.join_sources import effective_config
from zktop.config.keys_and_defaults import Config
from zktop.config.overrides import Overrides
from zktop.errors import NoConnectionError, UsageError
from zktop.model.facts import Millis
from zktop.model.format import iso, span
from zktop.model.report import Report
from zktop.zk.connect.refusal import Refusal

RETRY_S: Final = 10.0

_NUMBERS: Final = re.compile(r"(?<!\S)\d[\d,.]*")  # numbers in notes keep changing


@contextmanager
def live_run(overrides: Overrides, sample_every_s: float | None = None) -> Iterator[LiveRun]:
    """Connect to the ensemble. A signal ends the block at its next wait."""
    with live_run_of(effective_config(overrides).config, sample_every_s) as run:
        yield run


@contextmanager
def live_run_of(config: Config, sample_every_s: float | None = None) -> Iterator[LiveRun]:
    plan = plan_of(config, sample_every_s)
    interrupts = Interrupts()
    waiting, owners = interrupts.waiting, config.owners_file
    run = LiveRun(access_of(config), plan, config.settings(), waiting, owners)
    progress = ProgressLine()
    run.on_progress, run.on_read = progress.show, progress.end
    with interrupts.handled(), run:
        yield run


def open_recording(
    overrides: Overrides,
    file: str | Path,
    at: ReplayTime | None = None,
    *,
    ranks_blockers: bool = False,
) -> tuple[Replay, Millis | None]:
    """Open a recording. Return it with the moment of `--at`.

    It is examined with the settings of the recorded run, unless the command line gives others.
    Root blockers are ranked only on request: no command but the UI shows them.
    """
    settings = effective_config(overrides).config.settings() if _has_settings(overrides) else None
    recording = Replay(Path(file), settings, ranks_blockers=ranks_blockers)
    if at is None:
        return recording, None
    moment = at.resolve(recording.begin, recording.last_known_time)
    if Path(file).is_dir():  # reading all days of a flight recorder takes minutes
        recording.start_near(moment)
    return recording, moment


def _has_settings(overrides: Overrides) -> bool:
    has_file = overrides.file is not None and overrides.file.is_typed
    has_roots = any(setting.key == "roots" for setting in overrides.settings)
    return has_file or has_roots or overrides.layouts is not None


def follow(
    run: LiveRun, duration_s: float | None, printed: set[str] | None = None
) -> Iterator[Report]:
    """Yield the reports of a live run for a duration. Print each note when it first appears."""
    printed = set() if printed is None else printed
    for report in run.reports(duration_s):
        yield report
        for note in run.notes:
            kind = _NUMBERS.sub("0", note)
            if kind not in printed:
                printed.add(kind)
                narrate(f"note: {note}")


def follow_through_refusals(
    overrides: Overrides, duration_s: float | None, *, must_end_connected: bool
) -> Iterator[Report]:
    """Connect, and yield reports for a duration. Begin a new run if servers refuse the session.

    Only the first run must connect at once. With `must_end_connected`, a connection that is lost
    at the end is an error.
    """
    end = None if duration_s is None else time.monotonic() + duration_s
    printed: set[str] = set()
    yield from _follow_until_refused(overrides, end, printed, must_end_connected)
    while end is None or time.monotonic() < end:
        try:
            yield from _follow_until_refused(overrides, end, printed, must_end_connected)
        except (NoConnectionError, UsageError) as error:
            left_s = RETRY_S if end is None else min(RETRY_S, end - time.monotonic())
            if left_s <= 0:
                raise
            narrate(f"{error} Trying again.")
            time.sleep(left_s)


def _follow_until_refused(
    overrides: Overrides,
    end: float | None,
    printed: set[str],
    must_end_connected: bool,  # noqa: FBT001  of one caller
) -> Iterator[Report]:
    with live_run(overrides) as run:
        run.read()  # if it times out, a note of the run says so
        refusal = Refusal(run.access)
        left_s = None if end is None else max(0.0, end - time.monotonic())
        for report in follow(run, left_s, printed):
            yield report
            if refusal.lasts(run.lost_s()):
                narrate("Servers are up but refuse zktop's session: connecting with a new one.")
                return
        if must_end_connected:
            run.raise_if_lost(patience_s=0.0)


@contextmanager
def progress_of(recording: Replay) -> Iterator[None]:
    """Show on a terminal how far a recording has been examined: this may take minutes."""
    progress = ProgressLine()
    recording.on_look = lambda at: progress.show(f"examined up to {iso(at)}")
    try:
        yield
    finally:
        progress.end()


def print_notes(source: LiveRun | Replay, shown: Report | None = None) -> None:
    """Print on stderr what is missing from the reports.

    If the report shown is later than the end of the recording, say what it assumes. A report of a
    gap assumes nothing: it says that nothing is known.
    """
    for note in source.notes:
        narrate(f"note: {note}")
    end = source.known_until if isinstance(source, Replay) else None
    if shown and not shown.why_lost and end is not None and end < shown.now:
        assumed = f"the state {span(shown.now - end)} later if nothing happened since"
        narrate(f"note: The files end at {iso(end)}: this is {assumed}.")
    if isinstance(source, Replay) and source.is_cut_off:
        narrate(f"{source.path} is {CUT_OFF}.")


def below_chroot(paths: Iterable[str], chroot: str) -> Iterator[str]:
    """Yield a sentence that corrects a path which begins with the chroot of --hosts, if any does.

    >>> [*below_chroot(["/locks/a"], "/app")], [*below_chroot(["/app/a"], "/app")]
    ([], ['Paths begin below the chroot /app: try /a.'])
    """
    with_chroot = (path for path in paths if chroot and path.startswith(f"{chroot}/"))
    for path in islice(with_chroot, 1):
        yield f"Paths begin below the chroot {chroot}: try {path.removeprefix(chroot)}."
