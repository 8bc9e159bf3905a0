"""How a live run shares its thread between reading and looking."""

import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from unittest.mock import Mock

import pytest
from model.make_facts import connections, lock
from msgspec.structs import replace
from servers import kazoo_client, sandbox_server
from waiting import eventually

from zktop.app import live_run, look_pace
from zktop.app.live_run import LiveRun
from zktop.app.look_pace import QUIET_S
from zktop.cli.snapshot import first_report
from zktop.model.facts import HOUR_MS, Connection, Link, Server, ServerState
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.output.snapshot_json import snapshot
from zktop.zk import Access, Plan, parse_hosts

CRON = Path(__file__).parents[2] / "docs" / "kubernetes.md"


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
    eventually(lambda: time.monotonic() > run._pace.latest(is_behind=False))  # a look is overdue
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


def test_a_time_in_which_zktop_did_not_run_is_unknown(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As without a connection: stopped by ctrl-z, or on a laptop that slept."""
    reports = run.reports()
    before = next(reports)
    clock = iter([0.0])
    monkeypatch.setattr(live_run, "steady_s", lambda: next(clock, 3_600.0))
    monkeypatch.setattr(live_run, "now_ms", lambda: before.now + 3_600_000)
    recorder = Mock()
    run.recorder = recorder
    asleep, awake = next(reports), next(reports)
    recorded = [fact for call in recorder.facts.call_args_list for fact in call.args[0]]

    assert [one.state for one in recorded if isinstance(one, Link)] == ["suspended", "connected"]
    assert (asleep.is_lost, asleep.now) == (True, before.now)
    assert asleep.why_lost == "nothing is known of this time: zktop was not running"
    assert (awake.is_lost, awake.now) == (False, before.now + 3_600_000)
    assert asleep.ensemble.own == before.ensemble.own


def test_a_time_in_which_zktop_did_not_run_is_no_difference_of_clocks(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection lasts through it: the server dates it from before."""
    reports = run.reports()
    before = next(reports)
    link = before.world.link
    assert link
    assert link.server
    assert link.session
    assert link.connected_at
    clock = iter([0.0])
    monkeypatch.setattr(live_run, "steady_s", lambda: next(clock, 3_600.0))
    monkeypatch.setattr(live_run, "now_ms", lambda: before.now + HOUR_MS)
    own = Connection(link.session, Text("127.0.0.1:1"), 10_000, established=before.now)
    table = connections(link.server, own, at=before.now + HOUR_MS)
    next(reports)
    run._add([*lock("/locks/a", "ann", at=before.now), table])
    awake = run.look()

    assert Text("/locks/a") in awake.records
    assert "P11" not in {finding.rule for finding in awake.findings}


def after_a_silence(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch, state: ServerState
) -> tuple[Report, Report, Report]:
    """Three reports: before the server answers again after some seconds, then, and after it."""
    reports = run.reports()
    before = next(reports)
    link = run.world.link
    assert link
    assert link.server
    silent_from = before.now + 1  # the connection may have come up in the millisecond of `before`
    run._add([Server(server=link.server, state=state, zxid=0, at=silent_from)])
    ends = iter([silent_from])
    monkeypatch.setattr(run._source, "pop_silence", lambda: next(ends, None))
    return before, next(reports), next(reports)


def test_the_time_in_which_the_server_did_not_answer_is_unknown(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its events came late, all at once: when each of them happened is not known."""
    before, gap, after = after_a_silence(run, monkeypatch, "no-answer")

    assert (gap.is_lost, gap.now) == (True, before.now)
    assert gap.why_lost == "nothing is known of this time: the server did not answer for a while"
    assert not after.is_lost


def test_a_silence_that_other_connections_did_not_see_was_a_busy_zktop(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages may have waited for its own thread."""
    assert not any(report.is_lost for report in after_a_silence(run, monkeypatch, "up"))


def test_a_hold_that_ended_in_the_few_seconds_of_a_stop_lasted_at_least_until_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its end was read late: it may have come at any moment of the stop."""
    monkeypatch.setattr(look_pace, "QUIET_S", 60.0)  # no look before the end is read
    plan = Plan(roots=("/locks/*",), introspect=False)
    with sandbox_server() as server, kazoo_client(server.address) as client:
        client.ensure_path("/locks/a")
        with LiveRun(Access(parse_hosts(server.address)), plan, Settings()) as run:
            assert run.read()
            reports = run.reports()
            next(reports)
            node = client.create("/locks/a/lock-", b"", ephemeral=True, sequence=True)
            next(one for one in reports if any(event.event == "acquired" for event in one.events))
            clock = iter([0.0])
            monkeypatch.setattr(live_run, "steady_s", lambda: next(clock, 5.0))
            client.delete(node)
            events = chain.from_iterable(one.events for one in reports)
            released = next(one for one in events if one.event == "released")

    assert released.held is not None
    assert released.held.bound == "at-least"


def test_a_lost_connection_stays_the_reason_when_zktop_did_not_run(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was known before that time, either."""
    reports = run.reports()
    before = next(reports)
    link = before.world.link
    assert link is not None
    lost = replace(link, state="lost", at=before.now + 1)
    monkeypatch.setattr(run._source, "take", iter([[lost]]).__next__)
    assert next(reports).is_lost
    monkeypatch.setattr(run._source, "take", list)
    clock = iter([0.0])
    monkeypatch.setattr(live_run, "steady_s", lambda: next(clock, 3_600.0))
    asleep = next(reports)

    assert asleep.world.link == lost


def test_a_clock_that_is_set_forward_is_no_time_in_which_zktop_did_not_run(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As NTP may do it on a machine that has just started."""
    reports = run.reports()
    before = next(reports)
    monkeypatch.setattr(live_run, "now_ms", lambda: before.now + 3_600_000)

    assert not next(reports).is_lost


def test_all_is_listed_again_after_a_time_in_which_zktop_did_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a change an hour later would be dated to that time; as after a reconnection."""
    plan, lock = Plan(roots=("/locks/*",), introspect=False), Text("/locks/a")
    with sandbox_server() as server, kazoo_client(server.address) as client:
        client.create(f"{lock}/lock-", b"", ephemeral=True, sequence=True, makepath=True)
        with LiveRun(Access(parse_hosts(server.address)), plan, Settings()) as run:
            assert run.read()
            reports = run.reports()
            before = next(reports)
            clock, listed = iter([0.0]), before.world.family(lock).at
            monkeypatch.setattr(live_run, "steady_s", lambda: next(clock, 3_600.0))
            again = next(at for one in reports if (at := one.world.family(lock).at) != listed)

    assert again > listed


def test_a_new_contender_is_first_shown_with_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look waits for the reads that follow an event, though not for long."""
    monkeypatch.setattr(live_run, "GATHER_S", 60.0)  # however slow the machine is
    plan = Plan(roots=("/locks/*",), introspect=False)
    with sandbox_server() as server, kazoo_client(server.address) as client:
        client.ensure_path("/locks/a")
        session, _ = client.client_id
        with LiveRun(Access(parse_hosts(server.address)), plan, Settings()) as run:
            assert run.read()
            reports = run.reports()
            next(reports)
            client.create("/locks/a/lock-", b"", ephemeral=True, sequence=True)
            holders = next(filter(None, (next(one.views).lock.holders for one in reports)))

    assert [one.owner for one in holders] == [session]


def test_a_reading_that_timed_out_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it has ended."""
    monkeypatch.setattr(live_run, "FIRST_READING_S", -1.0)
    plan = Plan(introspect=False)
    with (
        sandbox_server() as server,
        LiveRun(Access(parse_hosts(server.address)), plan, Settings()) as run,
    ):
        monkeypatch.setattr(run._source, "is_read", False)
        monkeypatch.setattr(run._source, "run_until_read", lambda _seconds: False)
        is_read, notes = run.read(), run.notes
        monkeypatch.setattr(run._source, "is_read", True)

        assert (is_read, notes, run.notes) == (False, (live_run.TIMED_OUT,), ())


def test_a_slow_look_without_news_does_not_hold_back_the_next_change(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much processor time it takes to catch up with examinations."""
    paid: list[float] = []
    monkeypatch.setattr(run._pace, "looked", lambda _began, cpu_s: paid.append(cpu_s))
    run.look()
    run.look()

    with_news, without = paid
    assert with_news > 0.0
    assert without == 0.0


def test_the_last_look_is_thorough(run: LiveRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if one that is not began just before the end."""
    looks: list[bool] = []

    def slow(*, thorough: bool) -> None:
        looks.append(thorough)
        time.sleep(0.02)

    monkeypatch.setattr(run, "look", slow)

    assert len(list(run.reports(0.01))) == len(looks)
    assert looks[-1]


def test_a_first_report_that_waited_for_a_listing_is_thorough(
    run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The looks before it are not."""
    looks: list[bool] = []
    look = run.look

    def suspicious(*, thorough: bool = True) -> Report:
        looks.append(thorough)
        return replace(look(thorough=thorough), relist=(Text("/a"),) if len(looks) == 1 else ())

    monkeypatch.setattr(run, "look", suspicious)
    first_report(run)

    assert len(looks) > 1
    assert looks[-1]


@pytest.mark.skipif(not shutil.which("jq"), reason="there is no jq")
def test_owners_come_from_a_file_of_pods(tmp_path: Path) -> None:
    """The three lines in docs/kubernetes.md write it; screen 4 shows what else it has."""
    pods = tmp_path / "pods.json"
    with sandbox_server() as server, kazoo_client(server.address) as client:
        client.create("/locks/a/lock-", b"", ephemeral=True, sequence=True, makepath=True)
        pods.write_text(_pods("127.0.0.1"), encoding="utf-8")
        plan = Plan(roots=("/locks/*",), sample_every=0.2)
        access = Access(parse_hosts(server.address))
        with LiveRun(access, plan, Settings(), owners_file=str(pods)) as run:
            assert run.read()
            report = run.look()

    (session,) = report.sessions.values()
    assert session.presence
    assert session.name == "billing-7d4f"
    (shown,) = snapshot(report).sessions.values()
    assert shown.known == {"name": "billing-7d4f", "namespace": "prod", "node": "n1"}


def _pods(address: str) -> str:
    """What the jq program in docs/kubernetes.md makes of a pod."""
    meta = {"name": "billing-7d4f", "namespace": "prod"}
    pod = {"metadata": meta, "spec": {"nodeName": "n1"}, "status": {"podIP": address}}
    waiting = {"metadata": meta, "spec": {}, "status": {}}
    line = next(one for one in CRON.read_text("utf-8").splitlines() if "kubectl get pods" in one)
    (program,) = re.findall("jq '(.*)'", line)
    listed = json.dumps({"items": [pod, waiting]})
    return subprocess.check_output(["jq", program], input=listed, text=True)
