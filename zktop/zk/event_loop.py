"""The event loop: watch events, answers, timers and tables, handled in order on one thread.

The loop starts no thread: it runs on the thread that waits for reports.

kazoo delivers watch events through one queue and answers through another, each on its own thread,
so an answer can overtake an event that was sent before it. Here both go through one queue, in the
order in which they were read from the socket.
"""

import heapq
import itertools
import logging
import queue
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

LONGEST_BATCH_S = 0.005  # then the batch ends, even if more jobs are waiting

Job = tuple[Callable[..., object], tuple[Any, ...]]
WhileWaiting = Callable[[], AbstractContextManager[None]]


class EventLoop:
    """Runs jobs one after another, in the order in which they were posted."""

    def __init__(
        self, after_batch: Callable[[], None], while_waiting: WhileWaiting, log: logging.Logger
    ) -> None:
        """Every wait runs inside `while_waiting`, in which a command may be interrupted."""
        self._after_batch, self._while_waiting, self._log = after_batch, while_waiting, log
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Job]] = []
        self._order = itertools.count()

    def post(self, job: Callable[..., object], *arguments: Any) -> None:
        """Queue a call. This is the only method that other threads may use."""
        self._jobs.put((job, arguments))

    def after(self, seconds: float, job: Callable[..., object], *arguments: Any) -> None:
        """Call this after a delay."""
        due = time.monotonic() + seconds
        heapq.heappush(self._timers, (due, next(self._order), (job, arguments)))

    def run(self, until: float) -> bool:
        """Run a batch of jobs, waiting for the first. Return whether more jobs are waiting."""
        job = self._first(until)
        end = time.monotonic() + LONGEST_BATCH_S
        while job is not None:
            self._call(job)
            job = self._next() if time.monotonic() < end else None
        if (due := self._due()) is not None:  # else timers would wait while jobs queue up
            self._call(due)
        self._call((self._after_batch, ()))
        return not self._jobs.empty()

    def run_until(self, is_done: Callable[[], bool], seconds: float) -> bool:
        """Run until the condition is true. Return False after the timeout."""
        deadline = time.monotonic() + seconds
        while not is_done() and time.monotonic() < deadline:
            self.run(deadline)
        return is_done()

    def _first(self, until: float) -> Job | None:
        if self._timers:
            until = min(until, self._timers[0][0])
        try:
            with self._while_waiting():
                return self._jobs.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return self._due()

    def _next(self) -> Job | None:
        job = self._due()
        if job is None and not self._jobs.empty():
            job = self._jobs.get()
        return job

    def _due(self) -> Job | None:
        if self._timers and self._timers[0][0] <= time.monotonic():
            return heapq.heappop(self._timers)[2]
        return None

    def _call(self, job: Job) -> None:
        try:
            job[0](*job[1])
        except Exception:  # noqa: BLE001  the other jobs must run
            self._log.exception("a job of the event loop failed")
