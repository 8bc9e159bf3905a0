"""One alarm for one cause: what merely follows from another finding is folded under that.

A finding follows from another if it is about the same node, session or lock and its rule names
the other's as a cause; or if the session it is about waits, through however many locks, for
somebody whom a finding has explained.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec

from zktop.model.facts import Session
from zktop.model.findings.apply import RANK
from zktop.model.findings.finding import SEVERITIES, Finding
from zktop.model.text import Text

By = Literal["node", "session", "lock"]

FARTHEST: Final = 32  # locks between an effect and its cause

_DEADLOCKS = ("D1", "D2", "D3", "D4", "D5", "D7")
_GHOSTS = ("B2", "B3", "B4")
_FOREIGN = ("B10", "B11")
_ENDLESS = (*_DEADLOCKS, "B1", *_FOREIGN, *_GHOSTS, "B5")

# effect -> what it may follow from, and what the two have in common
CAUSES: Final[dict[str, tuple[tuple[tuple[str, ...], By], ...]]] = {
    "D6": ((_GHOSTS, "lock"),),
    "B4": ((("B2",), "node"),),
    "B5": ((("B2",), "node"),),
    "B6": ((_DEADLOCKS, "node"), (("S3", "P1"), "session")),
    "B8": ((_DEADLOCKS, "node"), (("S3", "P1"), "session"), (("L2",), "node")),
    "B9": ((_DEADLOCKS, "session"),),
    "L1": ((("D7", "S1"), "node"),),
    "L2": ((("D7",), "node"), (("S3", "P1"), "session")),
    "L4": ((("D7",), "node"), (("S1",), "lock")),
    "L6": ((("L9",), "lock"),),
    "L7": ((("L9",), "lock"),),
    "L8": ((("L9",), "lock"),),
    "L10": ((("L1", "L3"), "node"),),
    "S2": ((("S6",), "lock"),),
    "S3": ((("P1",), "session"),),
    "P1": ((("B4",), "session"),),
    "P2": ((("P1",), "session"),),
    "P4": ((("S3",), "session"),),
    "P6": (
        (_ENDLESS, "lock"),
        (("B6", "B8", "L2"), "node"),
        (("S3", "P1"), "session"),
    ),
    "P7": ((_ENDLESS, "lock"), (("L2",), "lock")),
    "P8": ((_ENDLESS, "lock"),),
    "P9": ((_ENDLESS, "lock"),),
    "P10": ((_ENDLESS, "lock"),),
    "R1": ((_FOREIGN, "lock"),),
    "S7": ((("S2",), "lock"),),
}

# What holds a lock up for whoever waits in it, and what may be nothing but such a delay.
ROOTS: Final = frozenset((*_ENDLESS, "L1", "L2", "L3", "S3", "P1", "B6", "B8"))
DELAYS: Final = frozenset(("P6", "P7", "P9", "B6", "B8"))


class WaitsAhead(msgspec.Struct, frozen=True, gc=False):
    """How to go from a session to those it waits for; both may know nothing."""

    waits_in: Callable[[Session], Iterable[Text]] = lambda _: ()
    held_by: Callable[[Text], Iterable[Session]] = lambda _: ()


def folded(findings: Iterable[Finding], ahead: WaitsAhead = WaitsAhead()) -> tuple[Finding, ...]:  # noqa: B008  a frozen default
    """Give all findings in the order of the screen; effects name their cause."""
    found = sorted(findings, key=order)
    index = _Index(found)
    causes = {one.id: cause for one in found if (cause := index.cause(one, ahead)) is not None}
    causes = {effect: root for effect in causes if (root := _root(effect, causes)) is not None}
    number = Counter(causes.values())
    return tuple(
        msgspec.structs.replace(one, cause=causes.get(one.id), folded=number[one.id])
        if one.id in causes or one.id in number
        else one
        for one in found
    )


def order(finding: Finding) -> tuple[int, int, int, str]:
    """Order findings as the screen does: red first, then by rule, then the oldest."""
    since = finding.since or 0
    return SEVERITIES.index(finding.severity), RANK[finding.rule], since, finding.id


class _Index:
    """Findings that may be causes, by what they are about.

    Thousands of one sort are common, and of several sorts are not: rules that nothing here could
    follow from are left out, and what can follow from nothing here is not looked up.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        found = list(findings)
        present = {finding.rule for finding in found}
        self._has_roots = bool(present & ROOTS)
        self._causes = {
            rule: [
                (there, by) for rules, by in CAUSES.get(rule, ()) if (there := present & {*rules})
            ]
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
        """Find what it follows from."""
        for rules, by in self._causes[finding.rule]:
            for key in _keys(finding, by):
                for other in self._by[by].get(key, ()):
                    if other.rule in rules and other.id != finding.id:
                        return other.id
        is_delay = finding.rule in DELAYS and self._has_roots
        return self._ahead(finding, ahead) if is_delay else None

    def _ahead(self, finding: Finding, ahead: WaitsAhead) -> str | None:
        """Follow the session of a holder to whoever it waits for."""
        known: set[Session] = set(finding.sessions)
        front = list(finding.sessions)
        for _ in range(FARTHEST):
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
    """Follow causes to the first of them; two that blame each other stay where they are."""
    seen = {effect}
    at = causes[effect]
    while at in causes and at not in seen:
        seen.add(at)
        at = causes[at]
    return None if at == effect else at
