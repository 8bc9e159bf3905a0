"""One alarm per cause: effects are folded under their cause, and many similar findings become one.

A finding follows from another if its rule lists the other's rule as a cause, and both are about
the same node, session or lock. A finding that may just be a delay also follows from one that
blocks a lock for which its session waits, directly or through other locks.

If a client library loses its watches, every waiter of a service has a finding, and a list of
100,000 of them is useless. So many findings of one rule, in locks below one parent and with the
same cause (or none), are shown as one.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain, islice
from typing import Final, get_args

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis, Session, split
from zktop.model.findings.catalogue import RANK, RULES, SCOPES, AnyRule
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.findings.finding import FOREVER, SEVERITIES, By, Finding, identity
from zktop.model.findings.schedule import Subject
from zktop.model.format import count, fold_path, several
from zktop.model.text import Text, clean

MAX_LOCKS_AHEAD: Final = 32  # between an effect and its cause
MANY: Final = 100  # similar findings: more than two screens of them
STILL_MANY: Final = MANY // 2  # an existing group stays until it has no more than this
FINDINGS_PER_STEP: Final = 2_500  # at most 10 ms
LISTED_PER_MS: Final = 5  # so 10,000 findings take two seconds

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


class ManyAlike(msgspec.Struct, frozen=True):
    """Many similar findings, shown as one, with the wording of the first."""

    first: str  # its id
    shown: Finding  # in place of all
    others: str  # added to its sentence

    def reworded(self, first: Finding) -> Finding:
        """Return the group with the newest wording of its first finding."""
        return replace(
            self.shown,
            sentence=clean(first.sentence + self.others),
            confidence=first.confidence,
            evidence=first.evidence,
            advice=clean(f"{first.advice} To list all, filter the list of locks by {first.name}."),
            as_of=first.as_of,
        )


class Listing(msgspec.Struct, frozen=True):
    """All findings in screen order: each effect has the id of its cause."""

    findings: tuple[Finding, ...] = ()
    groups: Mapping[str, ManyAlike] = {}  # by the id of the finding shown
    unseen: AbstractSet[str] = frozenset()  # the ids of findings hidden in a group

    def reworded(self, words: Mapping[str, Finding]) -> "Listing":
        """Return the listing with new wordings, by id; itself if nothing shown changed."""
        shown = tuple(self._reworded(one, words) for one in self.findings)
        is_same = all(map(lambda one, other: one is other, shown, self.findings))
        return self if is_same else replace(self, findings=shown)

    def _reworded(self, one: Finding, words: Mapping[str, Finding]) -> Finding:
        group = self.groups.get(one.id)
        newer = words.get(one.id if group is None else group.first)
        if newer is None:
            return one
        made = newer if group is None else group.reworded(newer)
        return replace(made, cause=one.cause, folded=one.folded)


NO_LISTING: Final = Listing()


class FindingList:
    """The newest listing; the next one is built in steps, one per look."""

    def __init__(self) -> None:
        self.is_changed = True  # since the newest listing was started
        self._listing = NO_LISTING
        self._next: Iterator[Listing | None] | None = None
        self._begun_at: Millis = 0
        self._number = 0  # of all findings
        self._reworded: dict[str, Finding] = {}  # by id: only the wording changed since then

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self._listing.findings

    @property
    def unseen(self) -> AbstractSet[str]:
        """The ids of findings hidden in a group."""
        return self._listing.unseen

    @property
    def is_behind(self) -> bool:
        """Whether a listing is being built."""
        return self._next is not None

    def note(self, before: Sequence[Finding], after: Sequence[Finding]) -> None:
        """Record the previous and current findings about one subject."""
        self._number += len(after) - len(before)
        if are_reworded(before, after):
            self._reworded.update((one.id, one) for one in after)
        else:
            self.is_changed |= after != before

    def advance(
        self,
        subjects: Mapping[Subject, SubjectFindings],
        ahead: WaitsAhead,
        now: Millis,
        *,
        thorough: bool,
    ) -> bool:
        """Continue to list or reword the findings; return whether the listing was replaced.

        Listing a thousand takes 10 ms, so the pause between two listings grows with their number.
        """
        is_due = thorough or now - self._begun_at >= self._number // LISTED_PER_MS
        if thorough and self._next is not None:  # the unfinished one has older findings
            self._next, self.is_changed = None, True
        if self._next is None and is_due and self.is_changed:
            shown = chain.from_iterable(one.shown for one in tuple(subjects.values()))
            self._next = listings(shown, ahead, self._listing)
            self._begun_at, self.is_changed, self._reworded = now, False, {}
        elif self._next is None and is_due and self._reworded:
            reworded, self._reworded, self._begun_at = self._reworded, {}, now
            return self._replace(self._listing.reworded(reworded))
        for made in islice(self._next or (), None if thorough else 1):
            if made is not None:
                self._next = None
                return self._replace(made)
        return False

    def _replace(self, listing: Listing) -> bool:
        before, self._listing = self._listing, listing
        return listing is not before


def listings(
    findings: Iterable[Finding], ahead: WaitsAhead, before: Listing = NO_LISTING
) -> Iterator[Listing | None]:
    """List findings in steps: yield None after each but the last, then the listing."""
    found: dict[str, Finding] = {}
    yield from _in_steps(findings, lambda one: found.update({one.id: one}))
    ahead = _cached(ahead)
    index = _Index({one.rule for one in found.values()})
    yield from _in_steps(found.values(), index.file)
    causes: dict[str, str] = {}
    yield from _in_steps(found.values(), lambda one: index.note_cause(one, ahead, causes))
    grouping = _Grouping(causes, before.groups.keys())
    yield from _in_steps(found.values(), grouping.sort)
    grouping.close()
    yield from _in_steps(grouping.effects, grouping.sort_effect)
    grouping.close()
    yield grouping.listing()


def _cached(ahead: WaitsAhead) -> WaitsAhead:
    """Cache the answers: thousands of findings ask about the same sessions and locks."""
    return WaitsAhead(
        cache(lambda session: tuple(ahead.waits_in(session))),
        cache(lambda lock: tuple(ahead.held_by(lock))),
    )


def _in_steps(findings: Iterable[Finding], work: Callable[[Finding], None]) -> Iterator[None]:
    for number, finding in enumerate(findings, 1):
        work(finding)
        if number % FINDINGS_PER_STEP == 0:
            yield None


def order(finding: Finding) -> tuple[int, int, int, str]:
    """The sort key on screen: by severity, by rank of the rule, then oldest first."""
    since = finding.since or 0
    return SEVERITIES.index(finding.severity), RANK[finding.rule], since, finding.id


def are_reworded(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether only the wording changed: then order and causes stay the same."""
    return before != after and list(map(_fixed, before)) == list(map(_fixed, after))


def _fixed(finding: Finding) -> tuple[object, ...]:
    """What the order and the cause of a finding depend on."""
    return order(finding), finding.nodes, finding.sessions, finding.locks


class _Index:
    """Findings that may be causes, by node, session and lock.

    Thousands of findings of one rule are common. So a finding is indexed only if its rule is a
    possible cause of another rule present, and looked up only if its rule has such a cause.
    """

    def __init__(self, present: AbstractSet[str]) -> None:
        self._has_roots = bool(present & ROOTS)
        self._causes = {
            rule: [(there, by) for rules, by in CAUSES.get(rule, ()) if (there := present & rules)]
            for rule in present
        }
        blamed = {
            rule for causes in self._causes.values() for there, _ in causes for rule in there
        }
        self._blamed = blamed | ROOTS if present & DELAYS else blamed
        self._by: dict[tuple[By, object], list[Finding]] = {}
        self._is_sorted: set[tuple[By, object]] = set()

    def file(self, finding: Finding) -> None:
        """Index a finding if it may be a cause; a C1 note is not one."""
        is_hint = finding.confidence == "C1" and finding.severity == "info"
        if finding.rule in self._blamed and not is_hint:
            for by in get_args(By):
                for key in _keys(finding, by):
                    self._by.setdefault((by, key), []).append(finding)

    def note_cause(self, finding: Finding, ahead: WaitsAhead, causes: dict[str, str]) -> None:
        """Add the id of the finding that this one follows from, if any."""
        cause = self._cause(finding, ahead)
        if cause is not None:
            causes[finding.id] = cause

    def _cause(self, finding: Finding, ahead: WaitsAhead) -> str | None:
        for rules, by in self._causes[finding.rule]:
            for key in _keys(finding, by):
                for other in self._filed(by, key):
                    if other.rule in rules and other.id != finding.id:
                        return other.id
        is_delay = finding.rule in DELAYS and self._has_roots
        return self._cause_ahead(finding, ahead) if is_delay else None

    def _filed(self, by: By, key: object) -> Sequence[Finding]:
        """The findings about this, in screen order."""
        found = self._by.get((by, key))
        if found is None:
            return ()
        if (by, key) not in self._is_sorted:
            self._is_sorted.add((by, key))
            found.sort(key=order)
        return found

    def _cause_ahead(self, finding: Finding, ahead: WaitsAhead) -> str | None:
        """Find a cause in the locks its sessions wait in, then in those their holders wait in."""
        known: set[Session] = set(finding.sessions)
        front = list(finding.sessions)
        for _ in range(MAX_LOCKS_AHEAD):
            locks = sorted({lock for session in front for lock in ahead.waits_in(session)})
            for lock in locks:
                for other in self._filed("lock", lock):
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


def _root(effect: str, causes: Mapping[str, str]) -> str | None:
    """Follow causes to the first one; None for findings that are causes of each other."""
    seen = {effect}
    at = causes[effect]
    while at in causes and at not in seen:
        seen.add(at)
        at = causes[at]
    return None if at == effect else at


class _Grouping:
    """Groups findings by rule, parent and cause, and shows each large group as one finding."""

    def __init__(self, causes: Mapping[str, str], grouped: Container[str]) -> None:
        self.effects: list[Finding] = []
        self._causes, self._grouped = causes, grouped
        self._kinds: dict[tuple[str, str, str | None], _Kind] = {}
        self._kind_of: dict[str, _Kind] = {}  # by the id of a finding that is a cause
        self._is_cause = frozenset(causes.values())
        self._found: list[Finding] = []
        self._groups: dict[str, ManyAlike] = {}
        self._unseen: set[str] = set()
        self._number: Counter[str | None] = Counter()  # of the effects of each cause

    def sort(self, finding: Finding) -> None:
        """Add a finding that follows from no other; keep effects for later."""
        if finding.id in self._causes and _root(finding.id, self._causes) is not None:
            self.effects.append(finding)
        else:
            self._add(finding, None)

    def sort_effect(self, finding: Finding) -> None:
        """Add a finding whose cause has been added."""
        cause = _root(finding.id, self._causes)
        kind = self._kind_of.get(cause or "")
        shown = kind.group_id if kind and kind.group_id in self._groups else cause
        self._number[shown] += 1
        self._add(finding, shown)

    def _add(self, finding: Finding, cause: str | None) -> None:
        lock = finding.lock
        if lock is None or SCOPES[finding.rule] not in ("lock", "session"):
            self._found.append(replace(finding, cause=cause) if cause else finding)
            return
        key = finding.rule, fold_path(split(lock)[0]), cause
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = _Kind(*key)
        kind.add(finding)
        if finding.id in self._is_cause:
            self._kind_of[finding.id] = kind

    def close(self) -> None:
        """Replace each large kind by one finding; all kinds so far are complete."""
        for kind in self._kinds.values():
            many = STILL_MANY if kind.group_id in self._grouped else MANY
            if len(kind.members) > many:
                group = self._groups[kind.group_id] = kind.group()
                self._found.append(group.shown)
                self._unseen.update(one.id for one in kind.members if one.id != group.first)
            else:
                self._found += kind.effects()
        self._kinds = {}

    def listing(self) -> Listing:
        """All findings that were added, in screen order."""
        number = self._number
        counted = (
            replace(one, folded=number[one.id]) if one.id in number else one for one in self._found
        )
        return Listing(tuple(sorted(counted, key=order)), self._groups, self._unseen)


class _Kind:
    """Findings of one rule, in locks below one parent, with the same cause if any."""

    def __init__(self, rule: str, parent: str, cause: str | None) -> None:
        self.cause = cause
        self.group_id = identity(rule, ("many", parent, cause or ""))
        self.members: list[Finding] = []
        self._parent = parent
        self._locks: dict[Text, None] = {}
        self._sessions: dict[Session, None] = {}
        self._first = 0  # the index of the first one on screen

    def add(self, finding: Finding) -> None:
        self._locks.update(dict.fromkeys(finding.locks))
        self._sessions.update(dict.fromkeys(finding.sessions))
        if self.members and order(finding) < order(self.members[self._first]):
            self._first = len(self.members)
        self.members.append(finding)

    def effects(self) -> Iterable[Finding]:
        """The members, each with the cause that they share."""
        cause = self.cause
        return (replace(one, cause=cause) for one in self.members) if cause else self.members

    def group(self) -> ManyAlike:
        """One finding for all members, worded like the one that is first on screen."""
        first = self.members[self._first]
        is_note = first.severity == "info"
        locks = tuple(dict.fromkeys((*first.locks, *self._locks)))
        is_one_lock = len(locks) == 1
        nodes = (node for member in self.members for node in member.nodes) if is_one_lock else ()
        others = f" The same goes for {len(self.members) - 1} more {self._where(locks)}."
        shown = replace(
            first,
            id=self.group_id,
            lock=first.lock if is_one_lock else None,
            nodes=tuple(dict.fromkeys(nodes)),
            sessions=tuple(dict.fromkeys((*first.sessions, *self._sessions))),
            locks=locks,
            cause=self.cause,
            alike=tuple(one for one in self.members if is_note or one.severity != "info"),
        )
        group = ManyAlike(first.id, shown, others)
        return replace(group, shown=group.reworded(first))

    def _where(self, locks: Sequence[Text]) -> str:
        where = "in this lock"
        if len(locks) > 1:
            where = f"in {count(len(locks), 'lock')} of {self._parent or '/'}: {several(locks)}"
        return f"{where}, all of one session" if len(self._sessions) == 1 else where
