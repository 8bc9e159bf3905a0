"""A live ensemble as a stream of reports: where the source of facts meets the examiner.

Facts come in on the source's thread and are only put into a queue there. Everything else happens
on the thread that asks for reports: facts are folded into the world, and the examiner looks. It
looks at once after a quiet time, `LOOKS_PER_S` times a second while much happens, and at least
once a second, because time alone changes verdicts. A look that examines everything that is due
may take a while, with nobody looking at what happens meanwhile; so each examines a part, and the
rest comes soon.

How often something may be done: at once after a quiet time, so many times a second for long.

Things seldom come alone. A lock is given up and the next look follows a moment after the last;
would it have to wait its turn, the second event would be seen late although little happens.

What takes long is done up to half as often: it is to leave four fifths of a core to others.

Something done on another thread, while this one has other things to do than to wait.
"""

import queue
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Self

from zktop.cli.process import uncollected
from zktop.errors import NoConnectionError
from zktop.model.facts import Cost, Millis, Session, SourceFact
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.zk import Access, Plan, Source

if TYPE_CHECKING:
    from zktop.model.examiner import Examiner
    from zktop.model.report import Report
    from zktop.recording import Recorder

SHARE = 5  # times as long as it takes, from one turn to the next


class RateLimit:
    """Saves up a few turns while nothing is done."""

    def __init__(self, per_second: float, saved: int = 6) -> None:
        self._every = 1 / per_second
        self._saved = (saved - 1) * self._every
        self._paid_until = 0.0

    @property
    def earliest(self) -> float:
        """Give the time from which on the next turn may be taken.

        >>> turns = RateLimit(per_second=10, saved=2)
        >>> for now in (5.0, 5.0, 5.0):
        ...     turns.take(now)
        >>> round(turns.earliest, 3)
        5.2
        """
        return self._paid_until - self._saved

    def take(self, now: float, seconds: float = 0.0) -> None:
        """Take a turn, which keeps a core busy for so long."""
        rest = min(max(self._every, SHARE * seconds), 2 * self._every)
        self._paid_until = max(self._paid_until, now) + rest


class BackgroundCall:
    """One call, under way as soon as it is made; `wait` ends as the call does."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, args=(call,), name="errand", daemon=True).start()

    def wait(self) -> None:
        """Wait for the end; what the call raised is raised here. To be asked once."""
        problem = self._ended.get()
        if problem is not None:
            raise problem

    def _run(self, call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as problem:  # noqa: BLE001  it is raised where it is waited for
            self._ended.put(problem)
        else:
            self._ended.put(None)


LOOKS_PER_S = 20
SHORTEST_REST_S = 1 / LOOKS_PER_S
LONGEST_REST_S = 1.0
ASK_AGAIN_S = 1.0  # for a listing that would prove or kill a suspicion
COUNT_COST_S = 1.0
FIRST_READING_S = 60.0  # more than a hundred thousand znodes can be read in
FIRST_SAMPLE_S = 5.0
ALIVE = ("connected", "read-only")


class LiveRun:
    """Looks at one ensemble until it is closed."""

    def __init__(self, access: Access, plan: Plan, settings: Settings) -> None:
        """Prepare everything; nothing is connected before the `with` block begins."""
        self.access = access
        self.recorder: Recorder | None = None
        self.settings = settings
        self.ours: Callable[[], Collection[Session]] = frozenset  # sessions of demo contenders
        self.waiting: Callable[[], AbstractContextManager[None]] = (
            nullcontext  # where to interrupt
        )
        self.world = World()
        self._source = Source(access, plan)
        self._examiner: Examiner
        self._came: queue.SimpleQueue[list[SourceFact]] = queue.SimpleQueue()
        self._told: list[SourceFact] = []
        self._learned = 0
        self._now: Millis = 0
        self._looked: float | None = None
        self._turns = RateLimit(LOOKS_PER_S)
        self._asked_again: dict[Text, float] = {}
        self._cost: Cost | None = None
        self._counted = 0.0

    def __enter__(self) -> Self:
        """Connect; NoConnectionError says in a sentence why that cannot be."""
        connecting = BackgroundCall(lambda: self._source.start(self._came.put))
        try:
            with uncollected():
                from zktop.model.examiner import Examiner  # noqa: PLC0415  while it connects
            with self.waiting():
                connecting.wait()
        except BaseException:
            self._source.close(0.0)
            raise
        self._examiner = Examiner(self.settings)
        return self

    def __exit__(self, *_error: object) -> None:
        """End the session."""
        self._source.close()

    @property
    def hosts(self) -> str:
        """Where the ensemble is, without the chroot."""
        return ",".join(map(str, self.access.hosts.addresses))

    @property
    def chroot(self) -> str:
        """What its clients take for the root."""
        return self.access.hosts.chroot

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what is followed less closely than it should be."""
        return self._source.degraded()

    def read(self) -> bool:
        """Wait for the first complete reading and the first tables; False when it took too long.

        NoConnectionError when the connection was lost and did not come back in time.
        """
        deadline = time.monotonic() + FIRST_READING_S
        for _ in self.reading():
            if time.monotonic() > deadline:
                return False
        with self.waiting():
            self._source.wait_until_sampled(FIRST_SAMPLE_S)
        return True

    def reading(self) -> Iterator[int]:
        """Wait for the first complete reading; tell how many facts there are so far."""
        with uncollected():  # what is read stays
            while not self._is_read():
                self._learn()
                self.insist()
                yield self._learned

    def _is_read(self) -> bool:
        with self.waiting():
            return self._source.wait_until_read(0.1)

    def wake(self) -> None:
        """Have `reports` look now; may be called from another thread."""
        self._came.put([])

    def insist(self, patience: float | None = None) -> None:
        """Raise NoConnectionError when the ensemble is gone for longer than the time-out."""
        gone_s = self.gone_s()
        if gone_s > (self.access.connect_timeout if patience is None else patience):
            raise NoConnectionError(
                f"The connection to {self.access.hosts} was lost {gone_s:.0f} s ago "
                "and is not back."
            )

    def gone_s(self) -> float:
        """Say for how long there has been no connection; 0 while there is one."""
        link = self._source.link
        if link is None or link.state in ALIVE:
            return 0.0
        since = link.at if link.gone_since is None else link.gone_since
        return max(0.001, (time.time_ns() // 1_000_000 - since) / 1000)

    def reports(self, seconds: float | None = None) -> "Iterator[Report]":
        """Give a report whenever something happened, and once a second; the last one is late."""
        end = float("inf") if seconds is None else time.monotonic() + seconds
        yield self.look(thorough=end <= time.monotonic())
        while time.monotonic() < end:
            self._rest(end)
            yield self.look(thorough=time.monotonic() >= end)

    def look(self, *, thorough: bool = True) -> "Report":
        """Look at everything that came until now."""
        began, busy = time.monotonic(), time.thread_time()
        with uncollected() if self._looked is None else nullcontext():
            report = self._look(thorough=thorough)
        self._looked = began
        self._turns.take(began, time.thread_time() - busy)
        self._ask_again(report.relist)
        return report

    def _learn(self) -> None:
        """Fold what came until now into the world: what waits unfolded takes twice the room."""
        self._take_all()
        told, self._told = self._told, []
        self._learned += len(told)
        if told:
            self.world = self.world.after(*told)
        if told and self.recorder:
            self.recorder.facts(told)

    def _look(self, *, thorough: bool) -> "Report":
        self._learn()
        self._now = max(self._now, time.time_ns() // 1_000_000)
        if self.recorder:
            self.recorder.look(self._now, thorough=thorough)
        return self._examiner.look(
            self.world, self._now, thorough=thorough, ours=self.ours(), cost=self._costs()
        )

    def _rest(self, end: float) -> None:
        """Wait for something to look at, not too briefly and not too long."""
        looked = self._looked or 0.0
        longest = SHORTEST_REST_S if self._examiner.is_behind else LONGEST_REST_S
        if self._take(min(end, looked + longest)):
            with self.waiting():  # not for each of many facts: to be woken costs more than they do
                time.sleep(max(0.0, min(end, self._turns.earliest) - time.monotonic()))

    def _take(self, until: float) -> bool:
        """Wait for one list of facts until then."""
        try:
            with self.waiting():
                self._told += self._came.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return False
        return True

    def _take_all(self) -> None:
        for _ in range(self._came.qsize()):
            self._told += self._came.get()

    def _ask_again(self, paths: Sequence[Text]) -> None:
        """Have the source list these again, each no more often than makes sense."""
        now = time.monotonic()
        due = [path for path in paths if now - self._asked_again.get(path, 0.0) > ASK_AGAIN_S]
        self._asked_again = {path: self._asked_again.get(path, now) for path in paths}
        self._asked_again.update(dict.fromkeys(due, now))
        if due:
            self._source.relist(due)

    def _costs(self) -> Cost | None:
        """Count what watching costs, now and then."""
        now = time.monotonic()
        if self._cost is None or now - self._counted >= COUNT_COST_S:
            spent = self._source.cost()
            rate = None
            if self._cost is not None:
                rate = round((spent.requests - self._cost.requests) / (now - self._counted), 1)
            self._cost = Cost(spent.watches, spent.requests, spent.bytes_in, rate)
            self._counted = now
        return self._cost
