"""How a live run shares its thread between reading and looking."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from servers import sandbox_server

from zktop.app import look_pace
from zktop.app.live_run import LiveRun
from zktop.app.look_pace import QUIET_S
from zktop.model.settings import Settings
from zktop.zk import Access, Plan, parse_hosts


@pytest.fixture
def run() -> Iterator[LiveRun]:
    """A live run of an empty sandbox, which has read everything."""
    with (
        sandbox_server() as server,
        LiveRun(Access(parse_hosts(server.address)), Plan(introspect=False), Settings()) as run,
    ):
        assert run.read()
        yield run


def endless(run: LiveRun) -> Callable[[], None]:
    """Return a job that is due again as soon as it has run."""

    def again() -> None:
        time.sleep(0.001)
        run._source.post(again)

    return again


def test_looks_go_on_while_more_arrives_than_can_be_handled(run: LiveRun) -> None:
    """A backlog that never ends does not keep reports away."""
    run._source.post(endless(run))
    begin = time.monotonic()

    assert len(list(zip(range(3), run.reports(), strict=False))) == 3
    assert time.monotonic() - begin < 10 * QUIET_S


def test_reading_goes_on_beside_a_slow_reader_of_reports(run: LiveRun) -> None:
    """It gets as much time as the reader took: several answers in a row, not one a report."""
    steps: list[float] = []

    def step() -> None:
        steps.append(time.monotonic())
        threading.Timer(0.01, run._source.post, (step,)).start()

    reports = run.reports()
    next(reports)
    step()
    time.sleep(1.2 * QUIET_S)  # the next look is overdue
    next(reports)

    assert len(steps) > 5


def test_another_thread_can_ask_for_a_look(run: LiveRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not when the next one is due."""
    monkeypatch.setattr(look_pace, "QUIET_S", 60.0)
    reports = run.reports()
    next(reports)
    threading.Timer(0.05, run.wake).start()
    begin = time.monotonic()
    next(reports)

    assert time.monotonic() - begin < 30
