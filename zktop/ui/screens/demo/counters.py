"""Sentences that count the wake-ups, deadlocks, holders and waiters of a scene."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from zktop.demo_types.contender_state import ContenderState
from zktop.demo_types.lesson import DemoDeparture, DepartureKind, SceneCount
from zktop.model.format import count as spell
from zktop.model.lock_view import LockView
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock

DEPARTURES: Final[dict[DepartureKind, tuple[str, str]]] = {
    "released": ("release", "releases"),
    "died": ("crash", "crashes"),
    "left": ("waiter that left the queue", "waiters that left the queue"),
}


def counters(
    report: Report | None, folder: str, states: Sequence[ContenderState], count: SceneCount
) -> list[str]:
    """Return the sentences about the scene with this folder, the most important first."""
    locks = locks_below(report, folder)
    sentences = [
        *map(_blocked, deadlocks_below(report, folder)),
        *_two_holders(locks, count),
        *_asleep(states),
        *_departures(count.departures, _expired(report, states)),
    ]
    return sentences or [*_sharing(locks)]


def locks_below(report: Report | None, folder: str) -> list[LockView]:
    """Return the locks of a scene, sorted by path."""
    if report is None:
        return []
    paths = [path for path in report.paths if path.startswith(f"{folder}/")]
    return [view for path in paths if (view := report.view(path)) is not None]


def deadlocks_below(report: Report | None, folder: str) -> list[Deadlock]:
    """Return the deadlocks whose locks all belong to a scene."""
    return [
        deadlock
        for deadlock in (report.deadlocks if report else ())
        if all(path.startswith(f"{folder}/") for path in deadlock.locks)
    ]


def _blocked(deadlock: Deadlock) -> str:
    actors, behind = len(deadlock.actors), deadlock.behind
    subject = f"{spell(actors, 'client blocks itself', 'clients block each other')}"
    more = f", {spell(behind, 'more waits', 'more wait')} behind them" if behind else ""
    return f"{subject}{more}."


def _two_holders(locks: Sequence[LockView], count: SceneCount) -> Iterator[str]:
    """Describe the mutexes that several clients believed they held at the same time."""
    for view in locks:
        number = len(count.believers.get(view.lock.path, ()))
        if view.lock.kind == "mutex" and number > 1:
            yield f"{number} clients believed at the same time that they held the lock."


def _asleep(states: Sequence[ContenderState]) -> Iterator[str]:
    number = sum(state.watches is not None and state.watches.part == "absent" for state in states)
    if number:
        watch = spell(number, "client watches", "clients watch")
        pronoun = "it" if number == 1 else "them"
        yield f"{watch} a znode that is gone: nothing will wake {pronoun}."


def _expired(report: Report | None, states: Sequence[ContenderState]) -> set[str]:
    """Return the names of the clients whose sessions the ensemble no longer has."""
    if report is None:
        return set()
    alive = report.ensemble.alive
    return {state.name for state in states if state.session and alive(state.session) is False}


def _departures(departures: Sequence[DemoDeparture], expired: Collection[str]) -> Iterator[str]:
    for how, nouns in DEPARTURES.items():
        alike = [departure for departure in departures if departure.how == how]
        if alike:
            number = len(alike)
            if how == "died":
                number = len({departure.contender for departure in alike})
            is_early = how == "died" and alike[-1].contender not in expired
            yield _woke(spell(number, *nouns), alike, is_early=is_early)


def _woke(subject: str, departures: Sequence[DemoDeparture], *, is_early: bool = False) -> str:
    """Return how many clients some departures woke, and how many of those acquired the lock.

    >>> herd = DemoDeparture("ann", "/jobs", "released", ("bob", "cid"), ("bob",))
    >>> _woke("1 release", [herd]), _woke("1 release", [DemoDeparture("ann", "/jobs", "released")])
    ('1 release woke 2 clients, 1 could go on.', '1 release woke no client.')
    """
    woken = sum(len(departure.woken) for departure in departures)
    went_on = sum(len(departure.went_on) for departure in departures)
    if not woken:
        return f"{subject} woke no client{' so far' if is_early else ''}."
    return f"{subject} woke {spell(woken, 'client')}, {went_on or 'none'} could go on."


def _sharing(locks: Sequence[LockView]) -> Iterator[str]:
    """Count the clients that hold the locks of a scene, and those that wait for them."""
    used = sum(any((*view.holders, *view.waiters)) for view in locks)
    if not used:
        return
    holding = len({holder.name for view in locks for holder in view.holders})
    waiting = len({waiter.name for view in locks for waiter in view.waiters})
    if used > 1:
        subject = spell(holding, "client holds a lock", "clients hold locks")
    else:
        subject = spell(holding, "client holds the lock", "clients share the lock")
    yield f"{subject}, {waiting or 'none'} {'waits' if waiting == 1 else 'wait'}."
