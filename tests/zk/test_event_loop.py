"""The event loop: the order of its jobs, its timers, and where it may be interrupted."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from zktop.zk.connect.read_only_client import RecentLog
from zktop.zk.event_loop import LONGEST_BATCH_S, EventLoop


class Trace:
    """A loop, and what it has called."""

    def __init__(self) -> None:
        self.called: list[object] = []
        self.interrupt: type[BaseException] | None = None
        self.log = RecentLog()
        self.loop = EventLoop(lambda: self.called.append("end of batch"), self._waiting, self.log)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        if self.interrupt:
            raise self.interrupt
        yield

    def run(self, seconds: float = 0.0) -> bool:
        """Run a batch."""
        return self.loop.run(time.monotonic() + seconds)


@pytest.fixture
def trace() -> Trace:
    """A loop without jobs."""
    return Trace()


def test_jobs_run_in_the_order_in_which_they_were_posted(trace: Trace) -> None:
    """All in one batch if they are quick, and those that a job posts come last."""
    trace.loop.post(lambda: trace.loop.post(trace.called.append, 3))
    trace.loop.post(trace.called.append, 1)
    trace.loop.post(trace.called.append, 2)

    assert not trace.run()
    assert trace.called == [1, 2, 3, "end of batch"]


def test_a_batch_ends_although_more_jobs_wait(trace: Trace) -> None:
    """Else requests that the end of a batch sends would wait for all of them."""
    trace.loop.post(time.sleep, 2 * LONGEST_BATCH_S)
    trace.loop.post(trace.called.append, 1)

    assert trace.run()
    assert trace.called == ["end of batch"]
    assert not trace.run()
    assert trace.called == ["end of batch", 1, "end of batch"]


def test_a_timer_that_is_due_waits_for_one_batch(trace: Trace) -> None:
    """Though every batch ends after its first job, and more are waiting."""
    trace.loop.after(0.0, trace.called.append, "timer")
    for number in range(2):
        trace.loop.post(time.sleep, 2 * LONGEST_BATCH_S)
        trace.loop.post(trace.called.append, number)

    assert trace.run()
    assert trace.called == ["timer", "end of batch"]


def test_a_timer_ends_the_wait(trace: Trace) -> None:
    """Timers run when they are due, whatever their order."""
    trace.loop.after(0.02, trace.called.append, 2)
    trace.loop.after(0.01, trace.called.append, 1)
    begin = time.monotonic()
    while 2 not in trace.called:
        trace.run(60)

    assert [one for one in trace.called if isinstance(one, int)] == [1, 2]
    assert 0.02 <= time.monotonic() - begin < 30


def test_a_job_of_another_thread_ends_the_wait(trace: Trace) -> None:
    """Kazoo's thread and others post their jobs at any time."""
    threading.Timer(0.01, trace.loop.post, (trace.called.append, 1)).start()

    assert trace.loop.run_until(lambda: 1 in trace.called, 60)


def test_a_job_that_raises_is_logged_and_the_next_one_runs(trace: Trace) -> None:
    """One mistake must not end the reading."""
    trace.loop.post(lambda: 1 // 0)
    trace.loop.post(trace.called.append, 1)

    trace.run()

    assert trace.called == [1, "end of batch"]
    (line,) = trace.log.lines
    assert line.startswith("a job of the event loop failed (ZeroDivisionError")


def test_it_is_interrupted_before_a_job_and_not_in_one(trace: Trace) -> None:
    """The job is still there, and a later batch runs it."""
    trace.loop.post(trace.called.append, 1)
    trace.interrupt = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        trace.run()
    trace.interrupt = None

    assert trace.called == []
    trace.run()
    assert trace.called == [1, "end of batch"]


def test_waiting_for_a_condition_ends_with_the_timeout(trace: Trace) -> None:
    """Even if jobs keep coming."""

    def again() -> None:
        trace.loop.post(again)

    again()

    assert not trace.loop.run_until(lambda: False, 0.05)
