"""One thread of ours on which everything happens that concerns the observed ensemble.

kazoo delivers watch events and answers through two queues with a thread each, so that an answer
can overtake the event that it follows. Here both go into one queue, in the order they were read
from the socket, and so does everything else: changes of the connection, timers, tables.

A connected socket that is read in large pieces, whatever small ones are asked for.

Kazoo reads each message in two parts, and waits for each of them. Events come in crowds: to ask
the system four times for each, and to let go of the interpreter as often, would cost several times
what it takes to understand them. Large answers are read as they come.
"""

import heapq
import itertools
import logging
import queue
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from kazoo.handlers.threading import SequentialThreadingHandler

PIECE: Final = 1 << 14
LENGTH: Final = struct.Struct("!i")
NOTHING_YET: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Pieces:
    """Has whatever of a piece was not asked for yet."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._piece = b""
        self._at = 0
        self.fileno, self.close, self.send = line.fileno, line.close, line.send
        self.setblocking, self.getpeername = line.setblocking, line.getpeername

    def pending(self) -> int:
        """Count what can be taken without waiting for more to come."""
        return len(self._piece) - self._at

    @property
    def is_drained(self) -> bool:
        """Tell whether everything was taken that had come when we last looked."""
        return self._at == len(self._piece) < PIECE

    def recv(self, size: int) -> bytes:
        """Take as much, or what there is of it."""
        at = self._at
        if at == len(self._piece):
            if size >= PIECE:
                return self._line.recv(size)
            self._piece, at = self._read(), 0
        taken = self._piece[at : at + size]
        self._at = at + len(taken)
        return taken

    def message(self, beginning: bytes) -> bytes | None:
        """Take the next message, if it begins like this and all of it was read already."""
        piece, at = self._piece, self._at + LENGTH.size
        if not piece.startswith(beginning, at):
            return None
        end = at + LENGTH.unpack_from(piece, self._at)[0]
        if end > len(piece):
            return None
        self._at = end
        return piece[at:end]

    def _read(self) -> bytes:
        """Read what is there: encrypted, it comes in records, of which each may be one event."""
        piece = more = self._line.recv(PIECE)
        while more and len(piece) < PIECE:
            try:
                more = self._line.recv(PIECE - len(piece))
            except NOTHING_YET:
                break
            piece += more
        return piece


SMALL = 1024  # numbers of files that every system can select
LONGEST_BATCH_S = 0.005  # then what was learned goes out, even if more is waiting

Job = tuple[Callable[..., object], tuple[Any, ...]]


class Stream:
    """Runs jobs one after another, in the order they were posted."""

    def __init__(self, after_batch: Callable[[], None], log: logging.Logger) -> None:
        self._after_batch = after_batch
        self._log = log
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Job]] = []
        self._order = itertools.count()
        self._thread = threading.Thread(target=self._run, name="zktop-observer", daemon=True)
        self._ended = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, seconds: float = 2.0) -> None:
        """End after the jobs that were posted before, and wait for that."""
        self._jobs.put(None)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(seconds)

    def post(self, job: Callable[..., object], *arguments: Any) -> None:
        """Have this called on our thread; any thread may ask for it."""
        self._jobs.put((job, arguments))

    def after(self, seconds: float, job: Callable[..., object], *arguments: Any) -> None:
        """Have this called in a while; only our own thread may ask for it."""
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
        """Wait for a job or a timer; None when it is only time to go round."""
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
        except Exception:  # noqa: BLE001  the next job must run whatever this one did
            self._log.exception("a job of the observer failed")


class Handler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """Lets kazoo spawn its connection thread and nothing else: answers do not go through it.

    Kazoo waits three times for each message, and makes a new epoll for each of the three. That is
    most of what it costs to receive an event; the system call that needs no preparation serves
    as long as the numbers of the files are small. For what was read already there is no wait.
    """

    def __init__(self, log: logging.Logger) -> None:
        super().__init__()
        self._log = log

    def start(self) -> None:
        """Start no workers: there is no callback that they could run."""
        self._running = True

    def stop(self) -> None:
        """Forget that it was started."""
        self._running = False

    def create_connection(self, *args: Any, **kwargs: Any) -> Pieces:
        """Connect; what comes is read in large pieces."""
        return Pieces(super().create_connection(*args, **kwargs))

    def select(
        self,
        reading: Sequence[socket.socket | Pieces],
        writing: Sequence[socket.socket | Pieces],
        failing: Sequence[socket.socket],
        timeout: float | None = None,
    ) -> Any:
        """Wait until one of these has something to read, or room to write."""
        read = [one for one in reading if isinstance(one, Pieces) and one.pending()]
        if read:
            return read, [], []
        if all(0 <= one.fileno() < SMALL for one in (*reading, *writing)):
            return select.select(reading, writing, failing, timeout)
        return super().select(reading, writing, failing, timeout)

    def spawn(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> threading.Thread:
        """Start a thread whose death goes to our log instead of the user's terminal."""

        def logged() -> None:
            try:
                func(*args, **kwargs)
            except Exception:  # noqa: BLE001  it would print on the user's terminal
                self._log.exception("kazoo's connection thread died")

        thread = threading.Thread(target=logged, name="zktop-connection", daemon=True)
        thread.start()
        return thread
