"""One alarm per cause: a finding that follows from another one is folded under it.

A finding follows from another if its rule lists the other's rule as a cause, and both are about
the same node, session or lock. A finding that may just be a delay also follows from one that
blocks a lock for which its session waits, directly or through other locks.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.model.findings.catalogue import RANK, RULES, AnyRule
from zktop.model.findings.finding import FOREVER, SEVERITIES, By, Finding
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


class WaitsAhead(msgspec.Struct, frozen=True, gc=False):
    """The locks that a session waits in, and the sessions that hold a lock."""

    waits_in: Callable[[Session], Iterable[Text]] = lambda _: ()
    held_by: Callable[[Text], Iterable[Session]] = lambda _: ()


def folded(findings: Iterable[Finding], ahead: WaitsAhead = WaitsAhead()) -> tuple[Finding, ...]:  # noqa: B008  a frozen default
    """All findings in screen order; each effect has the id of its cause."""
    found = sorted(findings, key=order)
    index = _Index(found)
    causes = {
        finding.id: cause
        for finding in found
        if (cause := index.cause(finding, ahead)) is not None
    }
    causes = {effect: root for effect in causes if (root := _root(effect, causes)) is not None}
    number = Counter(causes.values())
    return tuple(
        msgspec.structs.replace(finding, cause=causes.get(finding.id), folded=number[finding.id])
        if finding.id in causes or finding.id in number
        else finding
        for finding in found
    )


def order(finding: Finding) -> tuple[int, int, int, str]:
    """The sort key on screen: by severity, by rank of the rule, then oldest first."""
    since = finding.since or 0
    return SEVERITIES.index(finding.severity), RANK[finding.rule], since, finding.id


def are_reworded(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether these are the same findings in other words: they keep their order and causes."""
    return before != after and list(map(_fixed, before)) == list(map(_fixed, after))


def _fixed(finding: Finding) -> tuple[object, ...]:
    """What the order and the cause of a finding depend on."""
    return order(finding), finding.nodes, finding.sessions, finding.locks


class _Index:
    """Findings that may be causes, by node, session and lock.

    Thousands of findings of one rule are common. So a finding is indexed only if its rule may
    be the cause of another rule present, and looked up only if its rule has such a cause.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        found = list(findings)
        present = {finding.rule for finding in found}
        self._has_roots = bool(present & ROOTS)
        self._causes = {
            rule: [(there, by) for rules, by in CAUSES.get(rule, ()) if (there := present & rules)]
            for rule in present
        }
        blamed = {
            rule for causes in self._causes.values() for there, _ in causes for rule in there
        }
        if present & DELAYS:
            blamed |= ROOTS
        self._by: dict[By, defaultdict[object, list[Finding]]] = {
            "node": defaultdict(list),
            "session": defaultdict(list),
            "lock": defaultdict(list),
        }
        for finding in found:
            if finding.rule in blamed:
                for by, filed in self._by.items():
                    for key in _keys(finding, by):
                        filed[key].append(finding)

    def cause(self, finding: Finding, ahead: WaitsAhead) -> str | None:
        """The id of the finding that this one follows from, if any."""
        for rules, by in self._causes[finding.rule]:
            for key in _keys(finding, by):
                for other in self._by[by].get(key, ()):
                    if other.rule in rules and other.id != finding.id:
                        return other.id
        is_delay = finding.rule in DELAYS and self._has_roots
        return self._cause_ahead(finding, ahead) if is_delay else None

    def _cause_ahead(self, finding: Finding, ahead: WaitsAhead) -> str | None:
        """Find a cause in the locks that its sessions wait in, then in those of their holders."""
        known: set[Session] = set(finding.sessions)
        front = list(finding.sessions)
        for _ in range(MAX_LOCKS_AHEAD):
            locks = sorted({lock for session in front for lock in ahead.waits_in(session)})
            for lock in locks:
                for other in self._by["lock"].get(lock, ()):
                    if other.rule in ROOTS and other.id != finding.id:
                        return other.id
            front = sorted({s for lock in locks for s in ahead.held_by(lock)} - known)
            known.update(front)
        return None


def _keys(finding: Finding, by: By) -> Iterator[object]:
    if by == "session":
        yield from finding.sessions
    elif by == "lock":
        yield from finding.locks
    else:
        yield from ((lock, node) for lock in finding.locks for node in finding.nodes)


def _root(effect: str, causes: dict[str, str]) -> str | None:
    """Follow causes to the first one; None for findings that are causes of each other."""
    seen = {effect}
    at = causes[effect]
    while at in causes and at not in seen:
        seen.add(at)
        at = causes[at]
    return None if at == effect else at
