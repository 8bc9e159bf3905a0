"""A live ensemble as a feed of the UI: one thread that connects, reads, and never gives up.

A recording as a feed of the UI: one thread that reads ahead as fast as the UI takes it.
"""

import queue
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from time import monotonic
from typing import IO, cast

from zktop.app.live_run import LiveRun
from zktop.app.record_file import FailsafeFile
from zktop.app.replay import Replay
from zktop.cli.record import recorder_of
from zktop.errors import NoConnectionError, ZktopError
from zktop.model.facts import Millis, Session
from zktop.model.format import clock, several, spoken
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.world.world import state
from zktop.ui.ports import Complaint, Frame, OnNews, Status
from zktop.ui.screens.common.format import time_s
from zktop.zk import Access, Plan
from zktop.zk.connect.preflight import REFUSED, Probe, preflight

TRY_AGAIN_S = 2.0
AGAIN = f"Next try in {TRY_AGAIN_S:g} s."
RECONNECT_S = 1.0  # the client pauses for less than that between two tries
REFUSED_S = 12.0  # longer than a client rests between two tries
STOPPED_WITHIN_S = 3.0  # the session is closed by then, or expires by itself


class LiveFeed:
    """Tells of one ensemble until it is stopped."""

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
        self._watch: LiveRun | None = None
        self._over = threading.Event()
        self._wanted: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._file: FailsafeFile | None = None
        self._status: Status | None = None
        self._served_since: float | None = None  # while we are not connected
        self._probes: Sequence[Probe] = ()  # what the hosts said since the connection was lost
        self._tell: OnNews = lambda _news: None
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self, tell: OnNews) -> None:
        """Begin to connect."""
        self._tell = tell
        self._thread.start()

    def stop(self) -> None:
        """End the session, and wait until it is closed."""
        self._over.set()
        if self._watch is not None:
            self._watch.wake()
        if self._thread.is_alive():
            self._thread.join(STOPPED_WITHIN_S)

    def record(self, path: Path | None) -> None:
        """Write into this file from the next look on; None ends that."""
        self._wanted.put(path)
        if self._watch is not None:
            self._watch.wake()

    def _run(self) -> None:
        while not self._over.is_set():
            hosts, patience = self.access.hosts, spoken(self.access.connect_timeout)
            self._say(Status("connecting", f"Connecting to {hosts}, for at most {patience}."))
            try:
                with LiveRun(self.access, self._plan, self._settings) as self._watch:
                    self._follow(self._watch)
            except NoConnectionError as error:
                self._say(Status("failed", f"{error} {AGAIN}"))
            except ZktopError as error:
                self._say(Status("failed", str(error)))
                return
            except Exception as error:  # noqa: BLE001  a silent thread would leave a stale picture
                self._say(Status("failed", f"Reading has failed: {error!r}. {AGAIN}"))
            finally:
                if self._file is not None and not self._over.is_set():
                    says = "The recording has ended with the connection."
                    self._tell(Complaint(says, ends_recording=True))
                self._end_recording()
            self._over.wait(TRY_AGAIN_S)

    def _follow(self, watch: LiveRun) -> None:
        """Read everything once, then tell whatever happens."""
        watch.ours = self._ours
        for read in watch.reading():
            if self._over.is_set():
                return
            self._say(Status("reading", f"Connected. {read} znodes were read so far."))
        for report in watch.reports():
            if self._over.is_set():
                return
            self.notes = watch.notes
            self._say(self._status_of(report, watch))
            self._tell(Frame(report, report.events))
            self._obey(watch)
            if self._is_another_ensemble(watch):
                return

    def _status_of(self, report: Report, watch: LiveRun) -> Status:
        link = report.world.link
        if link is not None and link.state == "read-only":
            return Status(
                "read-only", "The server is cut off from the others and serves reads alone."
            )
        gone_s = watch.gone_s()
        if gone_s:
            why = refusals(self._probes) or (link.why if link is not None else None)
            return Status(
                "lost",
                f"Connection lost {spoken(gone_s)} ago"
                f"{f': {why}' if why else ''}. Next try within {RECONNECT_S:g} s. "
                f"Everything below is as it was at {clock(report.now)}.",
            )
        self._probes = ()
        return Status("live")

    def _is_another_ensemble(self, watch: LiveRun) -> bool:
        """Tell whether there is a server that goes on refusing us, who know what it does not.

        Servers that have lost their data, or never kept any, count transactions from the
        beginning, and let nobody in who has seen later ones: then everything is read anew.
        """
        if not watch.gone_s() or not self._serves():
            self._served_since = None
            return False
        now = time.monotonic()
        self._served_since = self._served_since or now
        return now - self._served_since > REFUSED_S

    def _serves(self) -> bool:
        self._probes = preflight(self.access.hosts.addresses, self.access.tls)
        return any(probe.outcome == "ok" for probe in self._probes)

    def _say(self, status: Status) -> None:
        if status != self._status:
            self._status = status
            self._tell(status)

    # Recording

    def _obey(self, watch: LiveRun) -> None:
        """Begin or end a recording, between two looks."""
        while not self._wanted.empty():
            path = self._wanted.get()
            self._end_recording()
            if path is None:
                continue
            try:
                self._begin_recording(path, watch)
            except OSError as error:
                self._give_up_recording(path, error)

    def _begin_recording(self, path: Path, watch: LiveRun) -> None:
        file = FailsafeFile(path.open("wb"), self._give_up_recording)
        self._file = file
        watch.recorder = recorder_of(cast("IO[bytes]", file), watch, redact=True)
        watch.recorder.facts(tuple(state(watch.world)))

    def _give_up_recording(self, path: Path, error: OSError) -> None:
        """Say so, and go on watching."""
        why = error.strerror or str(error)
        says = f"{path} cannot be written: {why}. Nothing more is recorded."
        self._tell(Complaint(says, ends_recording=True))

    def _end_recording(self) -> None:
        if self._watch is not None and self._watch.recorder is not None:
            self._watch.recorder.close()
            self._watch.recorder = None
        if self._file is not None:
            self._file.close()
            self._file = None


def refusals(probes: Sequence[Probe]) -> str:
    """Say why no host can be used, each reason once.

    >>> from zktop.zk.connect.address import Address
    >>> hosts = [Address("zk1", 1), Address("zk2", 1)]
    >>> refusals([Probe(one, "unreachable", "", why="connection refused") for one in hosts])
    'connection refused by zk1:1 and zk2:1'
    """
    addresses: dict[str, list[str]] = {}
    for probe in probes:
        if probe.why:
            addresses.setdefault(probe.why, []).append(str(probe.address))
    return "; ".join(
        f"{why} by {several(who)}" if why == REFUSED else f"{several(who)}: {why}"
        for why, who in addresses.items()
    )


SAID_EVERY_S = 0.5


class ReplayFeed:
    """Tells of everything in one file, with the verdicts of the live run."""

    is_live = False

    def __init__(self, replay: Replay) -> None:
        """Take a recording that was opened already, so that a wrong file was refused by now."""
        self.name = replay.path.name
        self.notes: Sequence[str] = ()
        self._replay = replay
        replay.narrates = False
        self._over = threading.Event()
        self._tell: OnNews = lambda _news: None
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)

    def start(self, tell: OnNews) -> None:
        """Begin to read."""
        self._tell = tell
        self._thread.start()

    def stop(self) -> None:
        """End the reading."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(STOPPED_WITHIN_S)

    def record(self, path: Path | None) -> None:
        """Do nothing: there is nothing to record that is not recorded."""

    def _run(self) -> None:
        self._tell(Status("replay", "Reading the recording ..."))
        try:
            self._tell(Status("replay", self._read(), is_end=True))
        except (ZktopError, OSError) as error:
            self._tell(Status("replay", str(error), is_end=True))

    def _read(self) -> str:
        """Read to the end; give what there is to say of it."""
        said_at, last = monotonic(), None
        for report in self._replay.reports():
            if self._over.is_set():
                return ""
            self._tell(Frame(report, report.events))
            last = report
            if monotonic() - said_at >= SAID_EVERY_S:
                said_at = monotonic()
                self._tell(Status("replay", _so_far(report.now)))
        if last is None:
            return f"{self._replay.path} holds nothing to look at."
        if self._replay.is_cut_off:
            return "This file was cut off: it is read up to its last whole line."
        return ""


def _so_far(at: Millis) -> str:
    return f"Reading ahead: up to {time_s(at)} so far."
