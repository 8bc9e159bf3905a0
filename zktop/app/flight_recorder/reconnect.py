"""Record live runs one after another: a new one if a connection is lost for long or refused."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from zktop.app.alerts.webhooks import Webhooks
from zktop.app.flight_recorder.ring_folder import RingFolder
from zktop.app.flight_recorder.ring_recorder import RingRecorder
from zktop.app.live_run import LiveRun
from zktop.app.record_file import header_of
from zktop.errors import NoConnectionError, UsageError
from zktop.zk.connect.refusal import Refusal
from zktop.zk.wall_clock import now_ms

PATIENCE_S = 300.0  # after this, zktop gives up a lost session and opens a new one
RETRY_S = 10.0

Narrate = Callable[[str], None]
NewRun = Callable[[], AbstractContextManager[LiveRun]]


class RecordedRuns:
    """Live runs, one after another: recorded into one folder, with their findings posted."""

    def __init__(
        self, new_run: NewRun, ring: RingFolder, hooks: Webhooks, narrate: Narrate, *, redact: bool
    ) -> None:
        self._new_run, self._ring, self._hooks = new_run, ring, hooks
        self._narrate, self._redact = narrate, redact

    def record(self, duration_s: float | None) -> None:
        """Record for this long, or until interrupted. Only the first run must connect at once.

        Later runs also retry after a UsageError: the config or a TLS file may be half written.
        """
        end = None if duration_s is None else time.monotonic() + duration_s
        self._record_one(end)
        while end is None or time.monotonic() < end:
            try:
                self._record_one(end)
            except (NoConnectionError, UsageError) as error:
                self._narrate(f"{error} Trying again.")
                left_s = _left_s(end)
                time.sleep(RETRY_S if left_s is None else min(RETRY_S, left_s))

    def _record_one(self, end: float | None) -> None:
        """Record until the end, or until only a new run can go on."""
        with self._new_run() as run:
            header = header_of(str(run.access.hosts), run.settings, redact=self._redact)
            recorder = RingRecorder(self._ring, header, now_ms(), self._narrate)
            run.recorder = recorder
            refusal = Refusal(run.access)
            try:
                run.read()
                self._narrate(f"recording to {self._ring.path}; ctrl-c ends it")
                for report in run.reports(_left_s(end)):
                    recorder.judge(report)
                    self._hooks.look(report)
                    lost_s = run.lost_s()
                    if lost_s > PATIENCE_S or refusal.lasts(lost_s):
                        return
            finally:
                recorder.close()
                for note in run.notes:
                    self._narrate(f"note: {note}")


def _left_s(end: float | None) -> float | None:
    return None if end is None else max(0.0, end - time.monotonic())
