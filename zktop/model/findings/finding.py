"""Findings and the rules that make them.

A finding says what is wrong, since when, how certain it is, and what supports or refutes it. A
rule is a generator function with a name, a meaning and the inputs that it needs. It yields a
`RuleMatch` for each problem, `MissingInput` if it cannot decide, and `LookAgainAt` if time alone
may change the answer, as when a hold becomes a long hold.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final, Generic, Literal, TypeVar, cast, get_args

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.text import Text, clean
from zktop.model.waits.confidence import CONFIRMED, Confidence, Evidence
from zktop.model.world.tables_of_one_server import TableKind

Severity = Literal["critical", "warning", "info"]
Need = Literal["names", "leases", "history"] | TableKind

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


def in_words(name: str) -> str:
    """The name of a rule in words, for people.

    >>> in_words("watch-on-deleted-node"), in_words("hidden-by-acl")
    ('watch on deleted node', 'hidden by ACL')
    """
    return name.replace("-", " ").replace(" acl", " ACL")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One diagnosed problem. Its id stays the same while it lasts, and in a replay."""

    id: str
    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    lock: Text | None
    nodes: tuple[Text, ...]
    sessions: tuple[Session, ...]
    since: Millis | None
    sentence: Text
    evidence: tuple[Evidence, ...]
    advice: Text
    locks: tuple[Text, ...] = ()  # all locks that it concerns; `lock` is the main one
    as_of: Millis  # when the newest fact behind it was read
    patience_ms: int = 0  # how long it must last before it is shown
    at_once: bool = False  # proven by one look: needs no second one
    cause: str | None = None  # id of the finding that this one follows from
    folded: int = 0  # number of findings that follow from this one
    alike: tuple["Finding", ...] = ()  # findings that this one stands for; alarms omit notes

    @property
    def is_sure(self) -> bool:
        """True if it is confirmed."""
        return self.confidence in CONFIRMED

    def nodes_in(self, path: str) -> Iterator[Text]:
        """Yield the nodes in one of its locks."""
        if path in self.locks:  # a group may have 100,000 members
            for finding in self.alike or (self,):
                if path in finding.locks:
                    yield from finding.nodes

    @property
    def words(self) -> str:
        return in_words(self.name)

    def __post_init__(self) -> None:
        for field in ("sentence", "advice"):
            text = getattr(self, field)
            if not text.isprintable():
                msgspec.structs.force_setattr(self, field, clean(text))


class BlindSpot(msgspec.Struct, frozen=True, order=True, gc=False):
    """A rule that could not be decided, and the input that it lacks."""

    rule: str
    why: Text
    need: Need


def identity(rule: str, subject: Iterable[object]) -> str:
    """The id of a finding: its rule, and a hash of its subject.

    >>> identity("B1", ("/locks/import", "lock-0000000007"))
    'B1-57bd3a57'
    """
    text = "\0".join(map(str, subject)).encode("utf-8", "backslashreplace")
    return f"{rule}-{blake2b(text, digest_size=4).hexdigest()}"


Scope = Literal["lock", "session", "server", "whole"]
Sign = Literal[  # properties of a lock without which some rules cannot match
    "several",  # members
    "waiters",
    "queue",  # of at least `herd` waiters
    "warnings",
    "foreign",
    "news",  # the root changed
    "former-members",
    "attempts",
    "watches",  # a server returned its watch table
    "connections",
    "lists",  # a server returned a list of all sessions
    "read-write",
    "semaphore",
]
Reason = tuple[bool | None, str]
By = Literal["node", "session", "lock"]
Cause = tuple[By, str]  # what cause and effect share, and rule ids separated by spaces
Blocks = Literal["forever", "long"]

UNRANKED: Final = 100

# Ids of rules that often appear together as causes, for `after`.
DEADLOCKS: Final = "D1 D2 D3 D4 D5 D7"
GHOSTS: Final = "B2 B3 B4"
SILENCE: Final = "S3 P1"
FOREVER: Final = "forever"  # all rules that block forever
ASLEEP: Final = frozenset({"L1", "L3", "L5"})  # nothing will wake the waiter
ABANDONED: Final = frozenset({"B1", "B5"})  # no client will delete the node


class FindingSubject(msgspec.Struct, frozen=True, gc=False):
    """The subject of a match. `key` distinguishes two matches about the same nodes."""

    lock: Text | None = None
    nodes: tuple[Text, ...] = ()
    sessions: tuple[Session, ...] = ()
    key: tuple[object, ...] = ()
    locks: tuple[Text, ...] = ()  # all locks that it concerns, if `lock` is not the only one

    @property
    def identity(self) -> tuple[object, ...]:
        """The values that stay the same while the finding lasts."""
        return self.key or (self.lock, *self.nodes, *self.sessions)


class RuleMatch(msgspec.Struct, frozen=True, kw_only=True):
    """One case that a rule found in one look."""

    about: FindingSubject
    sentence: str
    confidence: Confidence
    evidence: tuple[Reason, ...]
    advice: str
    since: Millis | None = None
    as_of: Millis | None = None  # when the newest fact behind it was read; None: now
    severity: Severity | None = None  # None: that of the rule
    patience_ms: int = 0
    at_once: bool = False
    id: str | None = None


class LookAgainAt(msgspec.Struct, frozen=True, gc=False):
    """Ask for another examination at this time even if nothing changes."""

    at: Millis


class MissingInput(msgspec.Struct, frozen=True, gc=False):
    """An input without which the rule cannot decide this case."""

    why: str
    need: Need


RuleResult = RuleMatch | LookAgainAt | MissingInput
C = TypeVar("C")
C_contra = TypeVar("C_contra", contravariant=True)


class Rule(msgspec.Struct, Generic[C_contra], frozen=True):
    """One entry of the catalogue, and the decorator of its generator function."""

    id: str
    name: str
    severity: Severity  # the highest that its findings can have
    scope: Scope = "lock"
    tables: tuple[TableKind, ...] = ()  # of servers: if one is missing, the rule may be blind
    is_in_logs: bool = False  # transaction logs decide it without these tables
    code: str | None = None  # its letters in the list of locks: a key of `lock_status.WORDS`
    rank: int = UNRANKED  # the most serious rules come first
    only_if: tuple[Sign, ...] = ()
    after: tuple[Cause, ...] = ()  # what its findings may follow from, most likely first
    blocks: Blocks | None = None  # how long its findings hold up the waiters of a lock
    is_delay: bool = False  # its findings may just be delays, caused by a lock further ahead
    former_name: str | None = None  # scripts may still use it
    check: Callable[[C_contra], Iterable[RuleResult]] = lambda _: ()

    def __call__(self, check: Callable[[C], Iterator[RuleResult]]) -> "Rule[C]":
        return cast("Rule[C]", msgspec.structs.replace(self, check=check))

    @property
    def means(self) -> str:
        """The first line of the function's docstring."""
        return (self.check.__doc__ or "").partition("\n")[0]

    def finding(self, match: RuleMatch, now_ms: Millis) -> Finding:
        about = match.about
        locks = about.locks or (() if about.lock is None else (about.lock,))
        return Finding(
            id=match.id or identity(self.id, about.identity),
            rule=self.id,
            name=self.name,
            severity=_severity(match, self.severity),
            confidence=match.confidence,
            lock=about.lock,
            nodes=about.nodes,
            sessions=about.sessions,
            since=match.since,
            sentence=clean(match.sentence),
            evidence=tuple(Evidence(supports, clean(text)) for supports, text in match.evidence),
            advice=clean(match.advice),
            locks=locks,
            as_of=now_ms if match.as_of is None else match.as_of,
            patience_ms=match.patience_ms,
            at_once=match.at_once,
        )

    def blind(self, lacking: MissingInput) -> BlindSpot:
        return BlindSpot(self.id, clean(lacking.why), lacking.need)


def _severity(match: RuleMatch, worst: Severity) -> Severity:
    """The severity of a match. A hint (C1) is never critical."""
    severity = match.severity or worst
    return "warning" if severity == "critical" and match.confidence == "C1" else severity
