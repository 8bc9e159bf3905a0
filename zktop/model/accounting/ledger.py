"""The accounts of a period, added up from its reports.

Charges come from the states of locks; waits and holds come from events, which have the times of
their transactions if these are known, as in an import. The cost depends on the size of a change.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Final

from zktop.model.accounting.accounts import (
    MAX_CHARGED_ACTORS,
    Accounts,
    ActorAccount,
    Charge,
    Figures,
    LockAccount,
)
from zktop.model.accounting.actor_names import ActorNames
from zktop.model.accounting.charges import Charges
from zktop.model.accounting.member_counts import member_counts
from zktop.model.accounting.spread import DurationTally
from zktop.model.actors import Actors
from zktop.model.facts import Millis, Session
from zktop.model.format import fold_path
from zktop.model.history.all_locks import CONNECTED_STATES
from zktop.model.history.events import Elapsed, Event
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock

_LEAVING: Final = frozenset({"released", "abandoned", "expired"})


class FigureTally:
    """Counts the figures that accounts of locks, classes and actors have."""

    __slots__ = ("expiries", "given_up", "holding", "holds", "waiting", "waits")

    def __init__(self) -> None:
        self.waits, self.holds = DurationTally(), DurationTally()
        self.given_up = self.expiries = 0
        self.waiting: list[Millis] = []  # the lengths of waits that are not over
        self.holding: list[Millis] = []

    def add(self, event: Event) -> None:
        """Add the wait or the hold that an event ends."""
        if event.held is not None:
            self.holds.add(event.held)
        elif event.waited is not None:
            is_granted = event.event == "acquired"
            self.waits.add(event.waited, is_over=is_granted)
            if not is_granted and not event.is_unseen:
                self.given_up += 1

    def extend(self, other: "FigureTally") -> None:
        self.waits.extend(other.waits)
        self.holds.extend(other.holds)
        self.given_up += other.given_up
        self.expiries += other.expiries
        self.waiting += other.waiting
        self.holding += other.holding

    def figures(self, deadlocks: int) -> Figures:
        return Figures(
            waits=self.waits.spread(self.waiting),
            holds=self.holds.spread(self.holding),
            given_up=self.given_up,
            waiting=len(self.waiting),
            holding=len(self.holding),
            deadlocks=deadlocks,
            expiries=self.expiries,
        )


def _least_wait(event: Event, before: Report) -> Elapsed | None:
    """The wait up to the previous look; the client left, and may have held the lock since then."""
    view = before.view(event.lock) if event.event in _LEAVING else None
    member = view.lock.member(event.node) if view and event.node else None
    if view is None or member is None or view.lock.state(member) != "waits":
        return None
    since = view.history.since(member, holds=False).at
    return None if since is None else Elapsed(max(0, before.now - since), "at-least")


class Ledger:
    """Takes every report of a run in order. `accounts` adds up a period of it."""

    def __init__(self, since: Millis | None = None) -> None:
        """Begin the period at this time, or with the first report."""
        self._since = since or 0
        self._report: Report | None = None
        self._charges = Charges(Actors(Settings()), self._since)
        self._names = ActorNames()
        self._locks: defaultdict[Text, FigureTally] = defaultdict(FigureTally)
        self._actors: defaultdict[str, FigureTally] = defaultdict(FigureTally)
        self._seen: Counter[Text] = Counter()
        self._missed: Counter[Text] = Counter()
        self._expired: set[Session] = set()
        self._deadlocks: dict[int, Deadlock] = {}
        self._lost_at: Millis | None = None
        self._unseen: list[tuple[Millis, Millis]] = []

    def look(self, report: Report) -> None:
        before = self._report
        if before is None:
            self._since = max(self._since, report.now)
            self._charges = Charges(Actors(report.settings), self._since)
        self._charges.end_look()
        self._note_connection(report)
        times = {event.lock: event.at for event in report.events}
        for path in report.changed_since(before):
            view = report.view(path)
            waiting = member_counts(view)["waits"] if view else 0
            if waiting or before is not None:  # most locks are quiet throughout
                lock, at = view.lock if view else None, times.get(path, report.now)
                self._charges.change(path, lock, waiting, at)
        for unknown, actor in self._charges.identified:
            if unknown in self._actors:
                self._actors[actor].extend(self._actors.pop(unknown))
        for event in report.events:
            self._charge_earlier_wait(event, times[event.lock])
            self._add(event, before or report)
        if report.now >= self._since:
            known = (*(before.deadlocks if before else ()), *report.deadlocks)
            self._deadlocks.update((deadlock.number, deadlock) for deadlock in known)
        self._report = report

    def _charge_earlier_wait(self, event: Event, changed_at: Millis) -> None:
        if event.event == "queued" and event.node and event.at < changed_at:
            self._charges.add_earlier_wait(event.lock, event.node, event.at)

    def actor_of(self, path: Text, node: Text) -> str | None:
        """The actor of a member of a lock, or of one that has left since the previous report."""
        return self._charges.actor_of(path, node)

    def accounts(self, until: Millis | None = None) -> Accounts:
        """Add up the period until the last report, or until a later time without changes."""
        report = self._report
        if until is None:
            until = report.now if report else self._since
        self._note_unseen(until)
        self._charges.settle(until)
        if report is not None:
            self._add_unfinished(report, until)
        locks = sorted(self._lock_accounts(), key=_cost_of_lock)
        return Accounts(
            since=self._since,
            until=until,
            unseen=tuple(self._unseen),
            blocked_ms=sum(lock.blocked_ms for lock in locks),
            seen=self._seen.total(),
            missed=self._missed.total(),
            deadlocks=len(self._deadlocks),
            expiries=len(self._expired),
            actors=tuple(sorted(self._actor_accounts(), key=_cost_of_actor)),
            locks=tuple(locks),
            classes=tuple(sorted(self._class_accounts(locks), key=_cost_of_lock)),
        )

    def _note_connection(self, report: Report) -> None:
        """Charge nothing for times without a connection: what clients did is unknown."""
        if report.ensemble.link not in CONNECTED_STATES:
            self._lost_at = report.now if self._lost_at is None else self._lost_at
        else:
            self._note_unseen(report.now)
            self._lost_at = None

    def _note_unseen(self, until: Millis) -> None:
        """If the connection is lost, charge nothing until this time."""
        if self._lost_at is not None and until > self._lost_at:
            if until > (begin := max(self._since, self._lost_at)):
                self._unseen.append((begin, until))
            self._charges.unseen(self._lost_at, until)
            self._lost_at = until

    def _add(self, event: Event, before: Report) -> None:
        """Add an event; a client that leaves keeps the name that it had before."""
        path, session = event.lock, event.session or 0
        actor = (
            (self._actor_in(event, event.node, before) if event.node else None)
            or self._charges.actor_finder.named(event.owner)
            or session_text(session)
        )
        if event.event in _LEAVING and session:
            self._names.note(actor, session, event.owner, before)
        if event.at < self._since:
            return
        self._seen[path] += int(event.event == "queued")
        self._missed[path] += event.creates or 0
        if event.waited is not None or event.held is not None:
            for tally in (self._locks[path], self._actors[actor]):
                tally.add(event)
                tally.expiries += event.is_expiry
        elif (least := _least_wait(event, before)) is not None:
            for tally in (self._locks[path], self._actors[actor]):
                tally.waits.add(least)
        if event.is_expiry:
            self._expired.add(session)

    def _actor_in(self, event: Event, node: Text, before: Report) -> str | None:
        """The actor of an event. If it left, another may have a node with the same name."""
        if event.event not in _LEAVING:
            return self._charges.actor_of(event.lock, node)
        if left := self._charges.left_actor(event.lock, node):
            return left
        view = before.view(event.lock)  # no client has waited for this lock so far
        member = view.lock.member(node) if view else None
        return self._charges.actor_finder.of(view.lock, member) if view and member else None

    def _add_unfinished(self, report: Report, until: Millis) -> None:
        """Add the unfinished waits and holds, and the names of their clients."""
        for tally in (*self._locks.values(), *self._actors.values()):
            tally.waiting, tally.holding = [], []
        for path, charges in self._charges.locks.items():
            record = report.records.get(path)
            is_used = charges.blocked_ms or charges.waiting or path in self._locks
            if charges.lock is None or record is None or not is_used:
                continue
            for member in charges.lock.members:
                holds = member.node in charges.holders
                actor = charges.members[member.node]
                since = record.history.since(member, holds=holds).at
                lasted = 0 if since is None else max(0, until - since)
                self._names.note(actor, member.owner, member.label, report)
                if holds or charges.blocks:
                    for tally in (self._locks[path], self._actors[actor]):
                        (tally.holding if holds else tally.waiting).append(lasted)

    def _lock_accounts(self) -> Iterator[LockAccount]:
        deadlocks = Counter(
            path for deadlock in self._deadlocks.values() for path in deadlock.locks
        )
        paths = {
            *self._locks,
            *(path for path, charges in self._charges.locks.items() if charges.blocked_ms),
        }
        for path in paths:
            yield self._lock_account(path, [path], deadlocks[path])

    def _class_accounts(self, locks: Iterable[LockAccount]) -> Iterator[LockAccount]:
        classes: defaultdict[str, list[Text]] = defaultdict(list)
        for lock in locks:
            classes[fold_path(lock.path)].append(lock.path)
        deadlocks = Counter(
            name
            for deadlock in self._deadlocks.values()
            for name in {fold_path(path) for path in deadlock.locks}
        )
        for name, paths in classes.items():
            yield self._lock_account(Text(name), paths, deadlocks[name])

    def _lock_account(self, name: Text, paths: list[Text], deadlocks: int) -> LockAccount:
        tally, by_actor, blocked_ms = FigureTally(), dict[str, Charge](), 0
        for path in paths:
            tally.extend(self._locks[path])
            charges = self._charges.locks.get(path)
            if charges is not None:
                blocked_ms += charges.blocked_ms
                for actor, charge in charges.by_actor.items():
                    by_actor[actor] = by_actor.get(actor, Charge()) + charge
        return LockAccount(
            path=name,
            locks=len(paths),
            blocked_ms=blocked_ms,
            seen=sum(self._seen[path] for path in paths),
            missed=sum(self._missed[path] for path in paths),
            charged=tuple(nsmallest(MAX_CHARGED_ACTORS, by_actor.items(), key=_largest_first)),
            figures=tally.figures(deadlocks),
        )

    def _actor_accounts(self) -> Iterator[ActorAccount]:
        by_actor: defaultdict[str, Charge] = defaultdict(Charge)
        worst: dict[str, tuple[Millis, Text]] = {}
        for path, charges in self._charges.locks.items():
            for actor, charge in charges.by_actor.items():
                by_actor[actor] += charge
                worst[actor] = max(worst.get(actor, (-1, path)), (charge.at_most_ms, path))
        deadlocks = Counter(
            actor for deadlock in self._deadlocks.values() for actor in deadlock.actors
        )
        waited = [actor for actor, time in self._charges.actors.items() if time.waited_ms]
        actors = [*dict.fromkeys((*by_actor, *waited, *self._actors))]
        names = self._names.unique(actors)
        for actor in actors:
            time = self._charges.actors.get(actor)
            yield ActorAccount(
                actor=actor,
                name=names[actor],
                client=self._names.address(actor),
                charge=by_actor[actor],
                waited_ms=time.waited_ms if time else 0,
                worst_lock=worst[actor][1] if actor in worst else None,
                figures=self._actors[actor].figures(deadlocks[actor]),
            )


def _largest_first(entry: tuple[str, Charge]) -> tuple[Millis, str]:
    actor, charge = entry
    return -charge.at_most_ms, actor


def _cost_of_lock(lock: LockAccount) -> tuple[Millis, int, str]:
    return -lock.blocked_ms, -lock.figures.waits.number, lock.path


def _cost_of_actor(actor: ActorAccount) -> tuple[Millis, Millis, str]:
    return -actor.charge.at_most_ms, -actor.waited_ms, actor.name
