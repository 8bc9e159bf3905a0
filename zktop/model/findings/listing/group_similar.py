"""Shows many similar findings as one.

If a client library loses its watches, every waiter of a service has a finding, and a list of
100,000 of them is useless. So many findings of one rule, in locks below one parent and with the
same cause (or none), are shown as one.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import is_
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Session, split
from zktop.model.findings.catalogue import SCOPES, screen_order
from zktop.model.findings.finding import Finding, identity
from zktop.model.findings.listing.causes import first_cause
from zktop.model.format import count, fold_path, several
from zktop.model.text import Text, clean

MANY: Final = 100  # similar findings: more than two screens of them
STILL_MANY: Final = MANY // 2  # an existing group stays until it has no more than this


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
        """Return the listing with new wordings, by id, or itself if nothing shown changed."""
        shown = tuple(self._reworded(finding, words) for finding in self.findings)
        is_same = all(map(is_, shown, self.findings))
        return self if is_same else replace(self, findings=shown)

    def _reworded(self, finding: Finding, words: Mapping[str, Finding]) -> Finding:
        group = self.groups.get(finding.id)
        newest = words.get(finding.id if group is None else group.first)
        if newest is None:
            return finding
        reworded = newest if group is None else group.reworded(newest)
        return replace(reworded, cause=finding.cause, folded=finding.folded)


class Grouping:
    """Groups findings by rule, parent and cause, and shows each large group as one finding."""

    def __init__(self, causes: Mapping[str, str], grouped: Container[str]) -> None:
        self.effects: list[Finding] = []
        self._causes, self._grouped = causes, grouped  # the groups of the previous listing
        self._kinds: dict[tuple[str, str, str | None], _Kind] = {}
        self._kind_of: dict[str, _Kind] = {}  # by the id of a finding that is a cause
        self._cause_ids = frozenset(causes.values())
        self._listed: list[Finding] = []
        self._groups: dict[str, ManyAlike] = {}
        self._unseen: set[str] = set()
        self._number: Counter[str | None] = Counter()  # of the effects of each cause

    def add(self, finding: Finding) -> None:
        """Add a finding that follows from no other; keep effects for later."""
        if finding.id in self._causes and first_cause(finding.id, self._causes) is not None:
            self.effects.append(finding)
        else:
            self._group(finding, None)

    def add_effect(self, finding: Finding) -> None:
        """Add a finding whose cause has been added."""
        cause = first_cause(finding.id, self._causes)
        kind = self._kind_of.get(cause or "")
        shown = kind.group_id if kind and kind.group_id in self._groups else cause
        self._number[shown] += 1
        self._group(finding, shown)

    def _group(self, finding: Finding, cause: str | None) -> None:
        lock = finding.lock
        if lock is None or SCOPES[finding.rule] not in ("lock", "session"):
            self._listed.append(replace(finding, cause=cause) if cause else finding)
            return
        key = finding.rule, fold_path(split(lock)[0]), cause
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = _Kind(*key)
        kind.add(finding)
        if finding.id in self._cause_ids:
            self._kind_of[finding.id] = kind

    def close(self) -> None:
        """Replace each large kind by one finding. All kinds added so far must be complete."""
        for kind in self._kinds.values():
            many = STILL_MANY if kind.group_id in self._grouped else MANY
            if len(kind.members) > many:
                group = self._groups[kind.group_id] = kind.group()
                self._listed.append(group.shown)
                self._unseen.update(
                    member.id for member in kind.members if member.id != group.first
                )
            else:
                self._listed += kind.with_cause()
        self._kinds = {}

    def listing(self) -> Listing:
        """All findings that were added, in screen order."""
        number = self._number
        counted = (
            replace(finding, folded=number[finding.id]) if finding.id in number else finding
            for finding in self._listed
        )
        return Listing(tuple(sorted(counted, key=screen_order)), self._groups, self._unseen)


class _Kind:
    """Findings of one rule, in locks below one parent, with the same cause if any."""

    def __init__(self, rule: str, parent: str, cause: str | None) -> None:
        self.cause = cause
        self.group_id = identity(rule, ("many", parent, cause or ""))
        self.members: list[Finding] = []
        self._parent = parent
        self._locks: dict[Text, None] = {}
        self._sessions: dict[Session, None] = {}
        self._first = 0  # the index of the member that is first on screen

    def add(self, finding: Finding) -> None:
        self._locks.update(dict.fromkeys(finding.locks))
        self._sessions.update(dict.fromkeys(finding.sessions))
        if self.members and screen_order(finding) < screen_order(self.members[self._first]):
            self._first = len(self.members)
        self.members.append(finding)

    def with_cause(self) -> Iterable[Finding]:
        """The members, each with the cause that they share."""
        if not self.cause:
            return self.members
        return (replace(member, cause=self.cause) for member in self.members)

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
            alike=tuple(member for member in self.members if is_note or member.severity != "info"),
        )
        group = ManyAlike(first.id, shown, others)
        return replace(group, shown=group.reworded(first))

    def _where(self, locks: Sequence[Text]) -> str:
        where = "in this lock"
        if len(locks) > 1:
            where = f"in {count(len(locks), 'lock')} of {self._parent or '/'}: {several(locks)}"
        return f"{where}, all of one session" if len(self._sessions) == 1 else where
