"""Feeds of the UI: a live ensemble or a recording, each read in its own thread."""

import queue
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from zktop.app.live_run import LiveRun
from zktop.app.record_file import FailsafeFile, RecorderWithPast, recorder_of
from zktop.app.replay import CUT_OFF, Replay
from zktop.errors import NoConnectionError, ZktopError
from zktop.model.facts import Session
from zktop.model.format import clock, several, spoken
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import clean
from zktop.ui.interfaces import Complaint, FeedState, Frame, OnNews, Past, Status
from zktop.ui.screens.common.numbers_and_times import time_s
from zktop.zk import Access, Plan
from zktop.zk.connect.preflight import REFUSED, Probe
from zktop.zk.connect.refusal import Refusal

if TYPE_CHECKING:
    from zktop.app.alerts.webhooks import Webhooks  # loads an HTTP client

RETRY_S = 2.0
RETRY = f"Retrying in {RETRY_S:g} s."
RECONNECT_S = 1.0  # the client's longest pause between two attempts
STOP_TIMEOUT_S = 3.0  # then the session is left to expire
EARLY_LOOKS_S = 0.5  # shortest pause between looks that show locks, during the first reading
EARLY_LOOKS_SHARE = 16  # the same, as a multiple of the time that the last look took
PROGRESS_EVERY_S = 0.5  # while a recording is read


_RecordingOrder = tuple[Path | None, Past]


class LiveFeed:
    """Connects, reads and reports until it is stopped. Reconnects as often as needed."""

    is_live = True

    def __init__(
        self,
        name: str,
        access: Access,
        plan: Plan,
        settings: Settings,
        ours: Callable[[], Collection[Session]] = frozenset,
    ) -> None:
        self.name = name
        self.access, self._plan, self._settings = access, plan, settings
        self._ours = ours
        self.notes: Sequence[str] = ()
        self.shows_tables = False
        self.owners_file: str | None = None
        self.webhooks: Webhooks | None = None
        self._run: LiveRun | None = None
        self._is_first_run = True
        self._stopped = threading.Event()
        self._record_to: queue.SimpleQueue[_RecordingOrder] = queue.SimpleQueue()
        self._file: FailsafeFile | None = None
        self._status: Status | None = None
        self._refusal = Refusal(access)
        self._send: OnNews = lambda _news: None
        self._thread = threading.Thread(target=self._connect_and_follow, name="feed", daemon=True)

    def start(self, on_news: OnNews) -> None:
        self._send = on_news
        self._thread.start()

    def stop(self) -> None:
        """Close the session and wait for it."""
        self._stopped.set()
        if self._run is not None:
            self._run.wake()
        if self._thread.is_alive():
            self._thread.join(STOP_TIMEOUT_S)
        if self.webhooks is not None:
            self.webhooks.close()

    def complain(self, sentence: str) -> None:
        """Show an error message. Thread-safe."""
        self._send(Complaint(sentence))

    def record(self, path: Path | None, past: Past = ()) -> None:
        """Start a recording that begins with `past`, or end the current one if it is None."""
        self._record_to.put((path, past))
        if self._run is not None:
            self._run.wake()

    def _connect_and_follow(self) -> None:
        while not self._stopped.is_set():
            hosts, patience = self.access.hosts, spoken(self.access.connect_timeout)
            self._set_status(Status("connecting", f"Connecting to {hosts}, for up to {patience}."))
            try:
                run = LiveRun(
                    self.access, self._plan, self._settings, owners_file=self.owners_file
                )
                with run as self._run:
                    self._follow(self._run)
            except ZktopError as error:
                if self._is_first_run and not isinstance(error, NoConnectionError):
                    self._set_status(Status("failed", str(error)))
                    return
                self._set_status(Status("failed", f"{error} {RETRY}"))
            except Exception as error:  # noqa: BLE001  if the thread died, the screen would be stale
                self._set_status(Status("failed", f"Reading has failed: {error!r}. {RETRY}"))
            finally:
                if self._file and not self._has_failed() and not self._stopped.is_set():
                    sentence = "The recording has ended with the connection."
                    self._send(Complaint(sentence, ends_recording=True))
                self._end_recording()
            self._stopped.wait(RETRY_S)

    def _follow(self, run: LiveRun) -> None:
        """Read everything once, then send every report."""
        run.ours = self._ours
        run.keep_tables_new(lambda: self.shows_tables)
        if not self._read_once(run):
            return
        for report in run.reports():
            if self._stopped.is_set():
                return
            self.notes = run.notes
            self._set_status(self._status_of(report, run))
            self._send(Frame(report, report.events))
            if self.webhooks is not None:
                self.webhooks.look(report)
            self._start_or_end_recording(run)
            if self._refusal.lasts(run.lost_s()):
                return

    def _read_once(self, run: LiveRun) -> bool:
        """Read everything, and show the first locks during that. Return False if stopped.

        After a reconnect, nothing is shown until everything is read: locks would seem to vanish.
        """
        shows_first, next_look_at = self._is_first_run, monotonic()
        self._is_first_run = False
        state: FeedState = "reading"
        for progress in run.reading():
            if self._stopped.is_set():
                return False
            report, began = None, monotonic()
            if shows_first and began >= next_look_at:
                report = run.look(thorough=False)
                took = monotonic() - began
                state = "live" if report.paths else state
                pause = max(EARLY_LOOKS_S, EARLY_LOOKS_SHARE * took) if report.paths else took
                next_look_at = monotonic() + pause
            self._set_status(Status(state, f"Connected. {progress}."))
            if report is not None and report.paths:
                self._send(Frame(report, report.events, is_early=True))
        self._set_status(Status(state, "Finished reading. Examining the locks ..."))
        return True

    def _status_of(self, report: Report, run: LiveRun) -> Status:
        link = report.world.link
        if link is not None and link.state == "read-only":
            return Status("read-only", "The server has lost its quorum and only answers reads.")
        lost_s = run.lost_s()
        if lost_s:
            why: str | None = link.why if link is not None else None
            if not self._refusal.is_any_up:
                why = refusals(self._refusal.probes) or why
            return Status(
                "lost",
                f"Connection lost {spoken(lost_s)} ago"
                f"{f': {why}' if why else ''}. Retrying within {RECONNECT_S:g} s. "
                f"Everything below is as it was at {clock(run.known_until(report))}.",
            )
        return Status("live")

    def _set_status(self, status: Status) -> None:
        if status != self._status:
            self._status = status
            self._send(status)

    # Recording

    def _start_or_end_recording(self, run: LiveRun) -> None:
        if self._has_failed():
            self._end_recording()
        while not self._record_to.empty():
            path, past = self._record_to.get()
            self._end_recording()
            if path is None:
                continue
            try:
                self._start_recording(path, past, run)
            except OSError as error:
                self._recording_failed(path, error)

    def _has_failed(self) -> bool:
        """Return whether the recording has ended because of a write error."""
        return self._file is not None and self._file.has_failed

    def _start_recording(self, path: Path, past: Past, run: LiveRun) -> None:
        self._file = FailsafeFile(path.open("wb"), self._recording_failed)
        run.recorder = RecorderWithPast(recorder_of(self._file, run), past, run.world)

    def _recording_failed(self, path: Path, error: OSError) -> None:
        why = error.strerror or str(error)
        sentence = f"{path} cannot be written: {why}. The recording has ended."
        self._send(Complaint(sentence, ends_recording=True))

    def _end_recording(self) -> None:
        if self._run is not None and self._run.recorder is not None:
            self._run.recorder.close()
            self._run.recorder = None
        if self._file is not None:
            self._file.close()
            self._file = None


def refusals(probes: Sequence[Probe]) -> str:
    """List the reasons why no host can be used, each once.

    >>> from zktop.zk.connect.address import Address
    >>> hosts = [Address("zk1", 1), Address("zk2", 1)]
    >>> refusals([Probe(host, "unreachable", "", why="connection refused") for host in hosts])
    'connection refused by zk1:1 and zk2:1'
    """
    addresses: dict[str, list[str]] = {}
    for probe in probes:
        if probe.why:
            addresses.setdefault(probe.why, []).append(str(probe.address))
    return "; ".join(
        f"{why} by {several(hosts)}" if why == REFUSED else f"{several(hosts)}: {why}"
        for why, hosts in addresses.items()
    )


class ReplayFeed:
    """Sends every report of a recording as fast as the UI takes them."""

    is_live = False

    def __init__(self, recording: Replay) -> None:
        self.name = clean(recording.path.name)
        self.shows_tables = False
        self.notes: Sequence[str] = ()
        self._recording = recording
        self._stopped = threading.Event()
        self._send: OnNews = lambda _news: None
        self._thread = threading.Thread(target=self._read, name="replay", daemon=True)

    def start(self, on_news: OnNews) -> None:
        self._send = on_news
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(STOP_TIMEOUT_S)

    def record(self, path: Path | None, past: Past = ()) -> None:
        """Do nothing: this is a recording already."""

    def _read(self) -> None:
        self._send(Status("replay", "Reading the recording ..."))
        try:
            self._send(Status("replay", self._read_to_end(), is_end=True))
        except (ZktopError, OSError) as error:
            self._send(Status("replay", str(error), is_end=True))
        except Exception as error:  # noqa: BLE001  as in LiveFeed
            self._send(Status("replay", f"Reading has failed: {error!r}.", is_end=True))

    def _assumption(self) -> Iterator[str]:
        """Yield what the last minute of an import assumes."""
        end = self._recording.known_until
        if end is not None:
            yield f"files end at {clock(end)}: later states are assumed"

    def _read_to_end(self) -> str:
        """Send every report and return a sentence if there is a problem with the file."""
        progress_at, last = monotonic(), None
        self.notes = (*self._assumption(), *self._recording.notes)
        for report in self._recording.reports():
            if self._stopped.is_set():
                return ""
            self._send(Frame(report, report.events))
            last = report
            if monotonic() - progress_at >= PROGRESS_EVERY_S:
                progress_at = monotonic()
                progress = f"Reading ahead: up to {time_s(report.now)} so far."
                self._send(Status("replay", progress))
        if last is None:
            return f"{self._recording.path} has no reports."
        if self._recording.is_cut_off:
            return f"This file is {CUT_OFF}."
        return ""
