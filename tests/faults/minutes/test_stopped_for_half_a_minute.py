"""zktop is stopped for half a minute within a read, while contenders are at work."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from cli.live_processes import Zktop, zktop_process
from faults.bystander import NOTICED_S, OUTSTANDING, Pace, pace
from faults.conftest import Ensemble
from faults.contenders_at_work import Crowd
from faults.test_large import create, holders
from faults.zktop_under_test import (
    PATIENCE_S,
    Place,
    essence,
    fresh_report,
    invented_nothing,
)
from waiting import eventually
from zk.cut_proxy import CutProxy

from zktop.app.replay import Replay
from zktop.errors import UsageError
from zktop.model.facts import Link
from zktop.model.history.events import Event
from zktop.model.report import Report
from zktop.recording import Recording

pytestmark = [pytest.mark.zookeeper, pytest.mark.timeout(300)]

STOPPED_S = 30.0  # seven of its sessions
SESSION_S = 4.0
LOCKS = 1_000
MIDDLE = 60_000  # bytes, of some hundred thousand


@pytest.fixture
def looked_at(place: Place, detour: CutProxy) -> Place:
    """The place to observe through the proxy, without tables that name another way."""
    return Place(detour.address, place.root, plan={"introspect": False})


@pytest.fixture
def quiet(ensemble: Ensemble, crowd_at_work: Crowd) -> Iterator[list[str]]:
    """So many locks that a reading has a middle; their holders stay."""
    paths = [f"{crowd_at_work.root}/quiet-{number:04}" for number in range(LOCKS)]
    create(crowd_at_work.client(), paths, ephemeral=False, at_once=100)
    with holders(ensemble.hosts, paths, sessions=10):
        yield paths


def test_zktop_is_stopped_for_half_a_minute_in_the_middle_of_a_read(
    looked_at: Place,
    crowd_at_work: Crowd,
    ensemble: Ensemble,
    detour: CutProxy,
    quiet: list[str],
    tmp_path: Path,
) -> None:
    """Servers and contenders keep their pace; zktop continues in a new session, complete."""
    file = tmp_path / "a.zktop"
    with _recording(looked_at, file) as zktop:
        crowd_at_work.work()
        crowd_at_work.wait_for_progress()
        eventually(lambda: _session(file))
        mine = _session(file)
        others = _stopped_meanwhile(zktop, detour, crowd_at_work, ensemble)
        eventually(lambda: _session(file) not in (None, mine))
        crowd_at_work.wait_for_progress()
        counts, fresh = crowd_at_work.rest(), fresh_report(looked_at)
        eventually(lambda: _has_all(file, counts))
    report, events = _replayed(file)
    invented_nothing(events, counts)

    assert essence(report) == fresh
    assert not [event for event in events if event.lock in quiet]
    assert others.took <= NOTICED_S
    assert others.outstanding <= OUTSTANDING


def _replayed(file: Path) -> tuple[Report, list[Event]]:
    """The last report of a recording, and all its events."""
    events: list[Event] = []
    return Replay(file).last(_now(), lambda report: events.extend(report.events)), events


def _has_all(file: Path, counts: dict[str, tuple[int, int]]) -> bool:
    with suppress(AssertionError):
        invented_nothing(_replayed(file)[1], counts)
        return True
    return False


@contextmanager
def _recording(place: Place, file: Path) -> Iterator[Zktop]:
    way = ("--hosts", place.hosts, "--root", place.root, "--introspect", "off")
    session = ("--session-timeout", f"{SESSION_S:g}s")
    with zktop_process("record", *way, *session, "-o", str(file)) as zktop:
        assert zktop.process.stderr
        assert zktop.process.stderr.readline() == "recording; ctrl-c ends it\n"
        yield zktop
        zktop.process.send_signal(signal.SIGTERM)
        zktop.ended()


def _stopped_meanwhile(zktop: Zktop, detour: CutProxy, crowd: Crowd, ensemble: Ensemble) -> Pace:
    """Stop zktop while it reads everything again; measure the other clients."""
    detour.cut()
    detour.stop_after(MIDDLE)
    detour.mend()
    assert detour.stopped.wait(PATIENCE_S)
    zktop.process.send_signal(signal.SIGSTOP)
    detour.mend()
    rounds = crowd.rounds
    others = pace(crowd.client(), ensemble.ports, STOPPED_S)
    assert crowd.rounds > rounds + STOPPED_S
    zktop.process.send_signal(signal.SIGCONT)
    return others


def _session(file: Path) -> int | None:
    """Zktop's session, from the recording so far."""
    with suppress(UsageError):  # the file is empty before the first report
        links = [line for line in Recording(file).lines() if isinstance(line, Link)]
        return links[-1].session if links[-1].state == "connected" else None
    return None


def _now() -> int:
    return time.time_ns() // 1_000_000
