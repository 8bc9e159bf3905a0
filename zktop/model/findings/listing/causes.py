"""Which finding follows from which: one alarm per cause, with its effects folded under it.

A finding follows from another if its rule lists the other's rule as a cause, and both are about
the same node, session or lock. A finding that may just be a delay also follows from one that
blocks a lock for which its session waits, directly or through other locks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from itertools import chain
from typing import Final

from zktop.model.facts import Session
from zktop.model.findings.catalogue import RULES, AnyRule, screen_order
from zktop.model.findings.finding import FOREVER, By, Finding
from zktop.model.locks.lock import Lock
from zktop.model.text import Text

MAX_LOCKS_AHEAD: Final = 32  # between an effect and its cause

# Rules whose findings hold up all waiters of a lock; rules whose findings may just be delays.
ROOTS: Final = frozenset(rule.id for rule in RULES if rule.blocks)
DELAYS: Final = frozenset(rule.id for rule in RULES if rule.is_delay)

_FOREVER: Final = frozenset(rule.id for rule in RULES if rule.blocks == "forever")


def _causes(rule: AnyRule) -> tuple[tuple[frozenset[str], By], ...]:
    return tuple(
        (_FOREVER if ids == FOREVER else frozenset(ids.split()), by) for by, ids in rule.after
    )


# effect -> the rules it may follow from, and what the two findings must have in common
CAUSES: Final = {rule.id: _causes(rule) for rule in RULES if rule.after}


class WaitsAhead:
    """The locks that a session waits in, and the sessions that hold a lock.

    Thousands of findings ask about the same ones, so each is found once.
    """

    def __init__(
        self, locks: Mapping[Text, Lock], locks_of: Mapping[Session, Iterable[Text]]
    ) -> None:
        self.waits_in = cache(partial(_waits_in, locks, locks_of))
        self.held_by = cache(partial(_held_by, locks))


def _waits_in(
    locks: Mapping[Text, Lock], locks_of: Mapping[Session, Iterable[Text]], session: Session
) -> tuple[Text, ...]:
    """The locks in which a session waits. Candidates of an election often do not wait."""
    places = filter(None, map(locks.get, locks_of.get(session, ())))
    return tuple(
        lock.path
        for lock in places
        if any(
            member.owner == session and lock.state(member) == "waits" for member in lock.waiters
        )
    )


def _held_by(locks: Mapping[Text, Lock], path: Text) -> tuple[Session, ...]:
    lock = locks.get(path)
    return tuple(member.owner for member in lock.holders if member.owner) if lock else ()


class CauseIndex:
    """Findings that may be causes, by node, session and lock.

    Thousands of findings of one rule are common. So a finding is indexed only if its rule is a
    possible cause of another rule present, and looked up only if its rule has such a cause. One
    about a session may concern thousands of locks: it is indexed only by what an effect must have
    in common with it.
    """

    def __init__(self, present: AbstractSet[str]) -> None:
        self._has_roots = bool(present & ROOTS)
        self._causes = {
            effect: [
                (causes, by) for rules, by in CAUSES.get(effect, ()) if (causes := present & rules)
            ]
            for effect in present
        }
        self._in_common: dict[str, set[By]] = {}  # with its effects, by the rule of the cause
        for causes, by in chain.from_iterable(self._causes.values()):
            for cause in causes:
                self._in_common.setdefault(cause, set()).add(by)
        if present & DELAYS:
            for cause in present & ROOTS:
                self._in_common.setdefault(cause, set()).add("lock")
        self._filed: dict[tuple[By, object], list[Finding]] = {}
        self._sorted: set[tuple[By, object]] = set()  # keys whose findings are in screen order

    def file(self, finding: Finding) -> None:
        """Index a finding if it may be a cause. A C1 note is not one."""
        if finding.confidence == "C1" and finding.severity == "info":
            return
        for by in self._in_common.get(finding.rule, ()):
            for key in _keys(finding, by):
                self._filed.setdefault((by, key), []).append(finding)

    def note_cause(self, finding: Finding, ahead: WaitsAhead, causes: dict[str, str]) -> None:
        """Add the id of the finding that this one follows from, if any."""
        cause = self._cause(finding, ahead)
        if cause is not None:
            causes[finding.id] = cause

    def _cause(self, finding: Finding, ahead: WaitsAhead) -> str | None:
        for rules, by in self._causes[finding.rule]:
            for key in _keys(finding, by):
                for other in self._filed_under(by, key):
                    if other.rule in rules and other.id != finding.id:
                        return other.id
        is_delay = finding.rule in DELAYS and self._has_roots
        return self._cause_ahead(finding, ahead) if is_delay else None

    def _filed_under(self, by: By, key: object) -> Sequence[Finding]:
        """The findings about one node, session or lock, in screen order."""
        findings = self._filed.get((by, key))
        if findings is None:
            return ()
        if (by, key) not in self._sorted:
            self._sorted.add((by, key))
            findings.sort(key=screen_order)
        return findings

    def _cause_ahead(self, finding: Finding, ahead: WaitsAhead) -> str | None:
        """Find a cause in the locks its sessions wait in, then in those their holders wait in."""
        known: set[Session] = set(finding.sessions)
        front = list(finding.sessions)
        for _ in range(MAX_LOCKS_AHEAD):
            locks = sorted({lock for session in front for lock in ahead.waits_in(session)})
            for lock in locks:
                for other in self._filed_under("lock", lock):
                    if other.rule in ROOTS and other.id != finding.id:
                        return other.id
            holders = {session for lock in locks for session in ahead.held_by(lock)}
            front = sorted(holders - known)
            known.update(front)
        return None


def _keys(finding: Finding, by: By) -> Iterator[object]:
    if by == "session":
        yield from finding.sessions
    elif by == "lock":
        yield from finding.locks
    else:
        yield from ((lock, node) for lock in finding.locks for node in finding.nodes)


def first_cause(effect: str, causes: Mapping[str, str]) -> str | None:
    """Follow causes to the first one; None for findings that are causes of each other."""
    passed = {effect}
    cause = causes[effect]
    while cause in causes and cause not in passed:
        passed.add(cause)
        cause = causes[cause]
    return None if cause == effect else cause
