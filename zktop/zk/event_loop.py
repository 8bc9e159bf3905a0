"""The observer's event loop: one thread handles watch events, answers, timers and tables in order.

kazoo delivers watch events and answers through two queues with a thread each, so that an answer
can overtake the event that it follows. Here both go through one queue, in the order in which they
were read from the socket.
"""

import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

LONGEST_BATCH_S = 0.005  # then facts are passed on, even if more jobs wait

Job = tuple[Callable[..., object], tuple[Any, ...]]


class EventLoop:
    """Runs jobs one after another, in the order in which they were posted."""

    def __init__(self, after_batch: Callable[[], None], log: logging.Logger) -> None:
        self._after_batch = after_batch
        self._log = log
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Job]] = []
        self._order = itertools.count()
        self._thread = threading.Thread(target=self._run, name="zktop-observer", daemon=True)
        self._ended = False

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = 2.0) -> None:
        """Finish the jobs posted so far and end the thread."""
        self._jobs.put(None)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(seconds)

    def post(self, job: Callable[..., object], *arguments: Any) -> None:
        """Queue a call. Thread-safe."""
        self._jobs.put((job, arguments))

    def after(self, seconds: float, job: Callable[..., object], *arguments: Any) -> None:
        """Call this after a delay. Only from the loop's own thread."""
        due = time.monotonic() + seconds
        heapq.heappush(self._timers, (due, next(self._order), (job, arguments)))

    def _run(self) -> None:
        going = True
        while going:
            job = self._next()
            end = time.monotonic() + LONGEST_BATCH_S
            while job is not None:
                self._call(job)
                job = self._waiting() if time.monotonic() < end else None
            going = not self._ended
            self._call((self._after_batch, ()))

    def _next(self) -> Job | None:
        """Wait for a job or a timer; None after a timeout."""
        try:
            job = self._jobs.get(timeout=self._patience())
        except queue.Empty:
            return self._due()
        self._ended = self._ended or job is None
        return job

    def _waiting(self) -> Job | None:
        if (job := self._due()) is not None:
            return job
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            return None
        self._ended = self._ended or job is None
        return job

    def _due(self) -> Job | None:
        if self._timers and self._timers[0][0] <= time.monotonic():
            return heapq.heappop(self._timers)[2]
        return None

    def _patience(self) -> float | None:
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None

    def _call(self, job: Job) -> None:
        try:
            job[0](*job[1])
        except Exception:  # noqa: BLE001  the next job must run
            self._log.exception("a job of the observer failed")


class KazooHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """Gives kazoo its connection thread and nothing else: answers bypass kazoo's own queues."""

    def __init__(self, log: logging.Logger) -> None:
        super().__init__()
        self._log = log

    def start(self) -> None:
        """Start no worker threads: nothing uses kazoo's callbacks."""
        self._running = True

    def stop(self) -> None:
        self._running = False

    def spawn(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> threading.Thread:
        """Start a thread that logs an exception instead of printing it on the user's terminal."""

        def logged() -> None:
            try:
                func(*args, **kwargs)
            except Exception:  # noqa: BLE001  threading would print it
                self._log.exception("kazoo's connection thread died")

        thread = threading.Thread(target=logged, name="zktop-connection", daemon=True)
        thread.start()
        return thread
