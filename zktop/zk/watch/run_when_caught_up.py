"""Runs a job when all events from before its request have arrived.

A server's table must not be compared with an older state of the locks. So a request is sent over
the connection that delivers the locks, and the job waits for its answer. Only one such request is
under way at a time: a client that keeps sending delays its pings, and never notices that a server
is silent.
"""

from collections.abc import Callable

from zktop.zk.read.requests import Exists
from zktop.zk.read.requests_in_flight import Answer, Reader

Job = Callable[[], None]


class Barrier:
    """Jobs that wait for an answer, in order. Runs in the event loop."""

    def __init__(self, reader: Reader, is_ready: Callable[[], bool]) -> None:
        self._reader, self._is_ready = reader, is_ready
        self._asked: list[Job] = []  # their request is under way
        self._next: list[Job] = []
        self._connection_number: int | None = None  # of that request

    def after(self, job: Job) -> None:
        """Run a job after the answer to a later request, or at once without a connection."""
        self._next.append(job)
        if not self._is_ready():
            self._connection_number = None
            self._asked, self._next = [*self._asked, *self._next], []
            self._run_asked()
        elif self._connection_number != self._reader.connection_number:
            self._ask()

    def _ask(self) -> None:
        self._asked += self._next
        self._next = []
        self._connection_number = self._reader.connection_number
        self._reader.ask(Exists(self._reader.hosts.full("/")), self._on_answer)

    def _on_answer(self, _answer: Answer) -> None:
        self._connection_number = None
        self._run_asked()
        if self._next:
            self._ask()

    def _run_asked(self) -> None:
        jobs, self._asked = self._asked, []
        for job in jobs:
            job()
