"""Runs that fail while a flight recorder works: it tries again, until it should end."""

from types import SimpleNamespace
from typing import cast

import pytest

from zktop.app.alerts.webhooks import Webhooks
from zktop.app.flight_recorder import reconnect
from zktop.app.flight_recorder.reconnect import NewRun, RecordedRuns
from zktop.app.flight_recorder.ring_folder import RingFolder
from zktop.errors import NoConnectionError, UsageError

NO_RING = cast("RingFolder", None)  # nothing is written to it


def recorded(monkeypatch: pytest.MonkeyPatch, run: object, said: list[str]) -> RecordedRuns:
    """Return runs that call this function instead of recording."""
    runs = RecordedRuns(
        cast("NewRun", None), NO_RING, Webhooks([], "prod", said.append), said.append, redact=True
    )
    monkeypatch.setattr(runs, "_record_one", run)
    return runs


def test_a_recorder_that_cannot_connect_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause between two tries does not go on after the end of --duration."""
    clock, tries = [100.0], []

    def run(_end: float | None) -> None:
        tries.append(clock[0])
        if len(tries) > 1:
            raise NoConnectionError("nobody is there.")

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    fake = SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep)
    monkeypatch.setattr(reconnect, "time", fake)
    recorded(monkeypatch, run, []).record(14.0)

    assert tries == [100.0, 100.0, 110.0]
    assert clock == [114.0]


def test_a_file_that_is_being_replaced_does_not_end_the_recorder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each run reads the config and the TLS files again; the next one finds them."""
    problems = iter([None, UsageError("TLS: cannot use ca.pem."), KeyboardInterrupt()])
    said: list[str] = []

    def run(_end: float | None) -> None:
        problem = next(problems)
        if problem is not None:
            raise problem

    monkeypatch.setattr(reconnect.time, "sleep", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        recorded(monkeypatch, run, said).record(None)

    assert said == ["TLS: cannot use ca.pem. Trying again."]
