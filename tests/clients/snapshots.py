"""A lock in zktop's snapshot, to compare with what its clients report."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
from clients.client_processes import Place, Stage
from servers import ask
from waiting import source_of

from zktop.app.connection_settings import access_of, plan_of
from zktop.app.live_run import LiveRun
from zktop.cli.snapshot import first_report
from zktop.config.keys_and_defaults import AdminSection, Config
from zktop.model.root_entry import Root
from zktop.model.thresholds import Thresholds
from zktop.output.snapshot_json import snapshot

PATIENCE_S = 40.0
QUICK = Thresholds(settle=400, orphan=300)
SAMPLE_EVERY_S = 0.2

Line = dict[str, Any]
Roots = Sequence[str | Root]


class LockState(NamedTuple):
    """The state of one lock, from a snapshot or from its clients."""

    layout: str
    kind: str
    holders: list[Line]
    waiters: list[Line]
    leases: int | None = None


class SnapshotReader:
    """Reads parts of a snapshot."""

    def __init__(self, shot: Line) -> None:
        self.shot = shot

    def lock(self, path: str) -> LockState:
        """The state of one lock, without times."""
        (lock,) = [lock for lock in self.shot["locks"] if lock["path"] == path]
        return LockState(
            lock["layout"],
            lock["kind"],
            [_place(one) for one in lock["holders"]],
            [_place(one) for one in lock["waiters"]],
            lock["leases"],
        )

    def warnings(self, path: str) -> list[str]:
        """The warnings of one lock."""
        (lock,) = [lock for lock in self.shot["locks"] if lock["path"] == path]
        return list(lock["warnings"])

    @property
    def paths(self) -> list[str]:
        """The paths of all locks."""
        return [lock["path"] for lock in self.shot["locks"]]

    @property
    def deadlocks(self) -> list[tuple[str, set[str]]]:
        """The rule and the actors of each deadlock."""
        return [(one["rule"], set(one["actors"])) for one in self.shot["deadlocks"]]

    def found(self, rule: str) -> list[tuple[set[str], set[str]]]:
        """The nodes and the sessions of each finding of a rule."""
        those = (one for one in self.shot["findings"] if one["rule"] == rule)
        return [(set(one["nodes"]), set(one["sessions"])) for one in those]

    def of(self, session: str) -> Line:
        """The entry of a session."""
        entry: Line = self.shot["sessions"][session]
        return entry


def _place(entry: Line) -> Line:
    kept = ("node", "mode", "session", "owner", "state", "blocked_by")
    watch = {"watch": entry["watch"]["verdict"], "actual": entry["watch"]["actual"]}
    return {name: entry[name] for name in kept} | watch


def held(place: Place, mode: str = "exclusive", **other: object) -> Line:
    """The expected entry of a holder."""
    return _of(place, mode, "holds", []) | {"watch": "none-needed"} | other


def waiting(place: Place, *ahead: Place, mode: str = "exclusive", **other: object) -> Line:
    """The expected entry of a waiter."""
    return _of(place, mode, "waits", [one.node for one in ahead]) | {"watch": "confirmed"} | other


def _of(place: Place, mode: str, state: str, ahead: list[str]) -> Line:
    return {
        "node": place.node,
        "mode": mode,
        "session": place.session,
        "owner": place.name,
        "state": state,
        "blocked_by": ahead,
        "actual": place.watches,
    }


@contextmanager
def watching(stage: Stage, roots: Roots) -> Iterator[LiveRun]:
    """A live run, as every command makes it."""
    hosts, admin = stage.server.address, AdminSection(stage.server.admin_port or 0)
    config = Config(hosts=hosts, admin=admin, roots=tuple(roots), thresholds=QUICK)
    plan = plan_of(config, SAMPLE_EVERY_S)
    with LiveRun(access_of(config), plan, config.settings()) as watch:
        yield watch


def take_snapshot(stage: Stage, *roots: str | Root) -> SnapshotReader:
    """One snapshot, as the command takes it."""
    with watching(stage, roots) as watch:
        return _reader(first_report(watch))


def snapshot_when(
    condition: Callable[[SnapshotReader], object], stage: Stage, *roots: str | Root
) -> SnapshotReader:
    """The first snapshot for which the condition is true."""
    last = None
    with watching(stage, roots) as watch:
        assert watch.read()
        for report in watch.reports(PATIENCE_S):
            last = _reader(report)
            if condition(last):
                return last
    raise AssertionError(f"no snapshot in which {source_of(condition)}\n{last and last.shot}")


def _reader(report: Any) -> SnapshotReader:
    return SnapshotReader(msgspec.to_builtins(snapshot(report)))


def watched_by_server(stage: Stage, place: Place) -> list[str]:
    """The watches of a session in one lock, by the server's table."""
    found: list[str] = []
    owner = ""
    for line in ask(stage.server.port, "wchc").splitlines():
        if line.startswith("\t"):
            found += [line.strip()] if owner == place.session else []
        else:
            owner = line.strip()
    return sorted(path for path in found if path.startswith(f"{place.path}/"))
