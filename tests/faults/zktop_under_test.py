"""zktop during a fault: all its reports, compared with a fresh reading."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
from waiting import source_of

from zktop.app.live_run import LiveRun
from zktop.model.facts import Link
from zktop.model.history.events import Event
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.output.snapshot_json import snapshot
from zktop.zk import Access, Plan, parse_hosts
from zktop.zk.connect.address import Address, AdminAccess

PATIENCE_S = 40.0
SOON_S = 3.0  # usually 0.6 to 1.0 s; other suites run beside this one
TABLES_S = 10.0  # until all members answer again
SAMPLE_EVERY_S = 0.5
ENDINGS = ("released", "abandoned", "expired")

Condition = Callable[[Report], object]
Essence = dict[str, Any]


class TimedReport(NamedTuple):
    """A report, and the time when it was made."""

    at: float
    report: Report


class Place(NamedTuple):
    """The servers, the roots and the options to observe."""

    hosts: str
    root: str
    admin: dict[Address, int] = {}  # noqa: RUF012  never changed
    session_timeout: float = 10.0
    plan: dict[str, Any] = {}  # noqa: RUF012  never changed

    def watch(self) -> LiveRun:
        """Make a live run that is not connected yet."""
        access = Access(parse_hosts(self.hosts), session_timeout=self.session_timeout)
        given = {
            "sample_every": SAMPLE_EVERY_S,
            "admin": AdminAccess(ports=self.admin),
        } | self.plan
        plan = Plan(roots=(self.root,), **given)
        return LiveRun(access, plan, Settings(roots=(Root(self.root),)))


class Observer:
    """Reads reports on its own thread."""

    def __init__(self, watch: LiveRun) -> None:
        self._watch = watch
        self._came = threading.Condition()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.reports: list[TimedReport] = []
        self.events: list[Event] = []
        self.links: list[Link] = []
        self._thread.start()

    @property
    def report(self) -> Report:
        """The newest report."""
        return self.reports[-1].report

    @property
    def server(self) -> str | None:
        """The server to which it is connected."""
        link = self.report.world.link
        return str(link.server) if link and link.server else None

    def until(self, condition: Condition, seconds: float = PATIENCE_S) -> Report:
        """The first report from now on for which the condition is true."""
        with self._came:
            found = self._came.wait_for(lambda: self.reports and condition(self.report), seconds)
            assert found, (
                f"no report in {seconds:g} s in which {source_of(condition)}\n"
                f"links: {self.links}\nlog: {list(self._watch._source.log.lines)}"
            )
            return self.report

    def until_state(self, *states: str) -> Report:
        """The first report in which the connection is in one of these states."""
        return self.until(lambda report: report.world.link and report.world.link.state in states)

    def stop(self) -> None:
        """Stop reading."""
        self._over.set()
        self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        for report in self._watch.reports():
            with self._came:
                self.reports.append(TimedReport(time.monotonic(), report))
                self.events += report.events
                if (link := report.world.link) and link not in self.links[-1:]:
                    self.links.append(link)
                self._came.notify_all()
            if self._over.is_set():
                return


@contextmanager
def observer(place: Place) -> Iterator[Observer]:
    """An observer that has read everything once."""
    with place.watch() as watch:
        assert watch.read()
        one = Observer(watch)
        try:
            one.until(lambda _report: True)
            yield one
        finally:
            one.stop()
    failed = [line for line in watch._source.log.lines if "of the event loop failed" in line]
    assert not failed


def agrees_soon(one: Observer, place: Place, recovered: float) -> None:
    """Within three seconds of the recovery, the report equals a fresh one."""
    fresh = _fresh(one, place)
    late = recovered + SOON_S
    one.until(lambda _report: time.monotonic() > late or _agreement(one, fresh, recovered))
    at = _agreement(one, fresh, recovered)
    assert at is not None, _difference(essence(one.report), fresh)
    assert at <= late, f"only {at - recovered:.2f} s after the recovery"


def fresh_report(place: Place) -> Essence:
    """A report from a new connection."""
    with place.watch() as watch:
        assert watch.read()
        return essence(watch.look(thorough=True))


def _fresh(one: Observer, place: Place) -> Essence:
    """A fresh report with the tables of all members; repeated while one restarts."""
    with place.watch() as watch:
        assert watch.read()
        fresh = essence(watch.look(thorough=True))
        for report in watch.reports(TABLES_S):
            if fresh["sees"] == essence(one.report)["sees"]:
                break
            fresh = essence(report)
    return fresh


def _agreement(one: Observer, fresh: Essence, recovered: float) -> float | None:
    since = [timed for timed in one.reports if timed.at >= recovered]
    return next((timed.at for timed in since if essence(timed.report) == fresh), None)


def _difference(ours: Essence, fresh: Essence) -> str:
    return "; ".join(
        f"{part}: {ours[part]} is not {fresh[part]}" for part in fresh if ours[part] != fresh[part]
    )


def essence(report: Report) -> Essence:
    """The parts of a report on which two observers must agree, whenever they began."""
    shot = msgspec.to_builtins(snapshot(report))
    for lock in shot["locks"]:
        for contender in (*lock["holders"], *lock["waiters"]):
            for name in ("since", "since_is", "ours"):
                contender.pop(name)
    named = sorted((one["rule"], one["lock"], one["nodes"]) for one in shot["findings"])
    return {
        "locks": shot["locks"],
        "sessions": {
            session: {name: one[name] for name in ("client", "server", "owner", "holds", "waits")}
            for session, one in shot["sessions"].items()
            if one["holds"] or one["waits"]
        },
        "deadlocks": [(one["id"], sorted(one["actors"])) for one in shot["deadlocks"]],
        "findings": [one for one in named if one[0] not in BY_HISTORY],
        "sees": shot["source"]["sees"],
        "blind": shot["blind"],
    }


BY_HISTORY = {"P4", "R5"}  # a long hold, or an ACL that changed, is known only from before


def counts_all_soon(one: Observer, counts: dict[str, tuple[int, int]]) -> None:
    """Within three seconds every create and delete was an event, or counted as missed.

    The missed ones follow from the counters of the next listing, which comes a moment later.
    """
    late = time.monotonic() + SOON_S
    one.until(lambda _report: time.monotonic() > late or _is_counted(one.events, counts))
    invented_nothing(one.events, counts)


def invented_nothing(events: Sequence[Event], counts: dict[str, tuple[int, int]]) -> None:
    """Each contender queued, acquired and left at most once, in this order, and all are counted.

    `counts` has the creates and deletes in each lock since the observer began, by the lock's own
    counters: what it did not see must be counted as missed.
    """
    _in_order(events)
    for lock, (creates, deletes) in counts.items():
        came, went = _counted(events, lock)
        assert (sum(came), sum(went)) == (creates, deletes), (lock, came, went, counts)


def _is_counted(events: Sequence[Event], counts: dict[str, tuple[int, int]]) -> bool:
    return all(
        tuple(map(sum, _counted(list(events), lock))) == expected
        for lock, expected in counts.items()
    )


def _counted(events: Sequence[Event], lock: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Arrivals and departures, each seen and missed."""
    mine = [event for event in events if event.lock == lock]
    kinds = [str(event.event) for event in mine]
    missed = [event for event in mine if event.event == "missed"]
    came = kinds.count("queued"), sum(event.creates or 0 for event in missed)
    went = sum(map(kinds.count, ENDINGS)), sum(event.deletes or 0 for event in missed)
    return came, went


def _in_order(events: Sequence[Event]) -> None:
    lives: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    served: defaultdict[str, list[str]] = defaultdict(list)
    for event in events:
        if event.node is not None:
            lives[event.lock, event.node].append(str(event.event))
        if event.event == "acquired":
            served[event.lock].append(str(event.node)[-10:])
    stages = {"queued": 0, "acquired": 1} | dict.fromkeys(ENDINGS, 2)
    for place, life in lives.items():
        order = [stages.get(stage, -1) for stage in life]
        of_lock = [event for event in events if event.lock == place[0]]
        assert -1 not in order, (place, life, of_lock)
        assert order == sorted(set(order)), (place, life, of_lock)
    for lock, sequences in served.items():
        assert sequences == sorted(sequences), lock  # first come, first served
