"""Findings: what is wrong, since when, how sure that is, and what speaks for and against it.

The form of a rule: a small function with a name, a meaning, and the inputs that it needs.

A rule yields verdicts. It also says when it wants to look again although nothing will have
changed: time alone turns a hold into a long hold.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final, Generic, Literal, TypeVar, get_args

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.format import signature
from zktop.model.text import Text, clean

Severity = Literal["critical", "warning", "info"]
Confidence = Literal["C1", "C2", "C3", "C4"]
Need = Literal[
    "names", "stats", "root stat", "leases", "watches", "connections", "expiry", "history"
]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """One reason: it supports the finding, would refute it, or (None) is assumed."""

    supports: bool | None
    text: Text

    def __post_init__(self) -> None:
        """Keep text clean, whoever made this."""
        if not self.text.isprintable():
            msgspec.structs.force_setattr(self, "text", clean(self.text))


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One diagnosed state; the same state has the same id as long as it lives, and in a replay."""

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
    signature: str  # the same trouble elsewhere or tomorrow has the same one: for muting
    locks: tuple[Text, ...] = ()  # all that it concerns; `lock` is the one to look at first
    as_of: Millis  # when the newest fact it rests on was read
    patience_ms: int = 0  # how long it must last before it is worth a line
    at_once: bool = False  # proven by the structure alone: no second look needed
    cause: str | None = None  # the id of the finding that it is folded under
    folded: int = 0  # how many findings are folded under this one

    def __post_init__(self) -> None:
        """Keep text clean, whoever made this."""
        for field in ("sentence", "advice", "signature"):
            text = getattr(self, field)
            if not text.isprintable():
                msgspec.structs.force_setattr(self, field, clean(text))


class BlindSpot(msgspec.Struct, frozen=True, order=True, gc=False):
    """A rule that cannot be decided, and the input it lacks."""

    rule: str
    why: Text
    need: Need


def identity(rule: str, subject: Iterable[object]) -> str:
    """Name a finding after its rule and what it is about.

    >>> identity("B1", ("/locks/import", "lock-0000000007"))
    'B1-57bd3a57'
    """
    text = "\0".join(map(str, subject)).encode("utf-8", "backslashreplace")
    return f"{rule}-{blake2b(text, digest_size=4).hexdigest()}"


Scope = Literal["lock", "session", "server", "whole"]
Sign = Literal[  # what a lock must show before a rule can have anything to say
    "several",  # members
    "waiters",
    "queue",  # as many waiters as make a herd
    "warnings",
    "foreign",
    "news",  # of the root
    "departures",
    "attempts",
    "watches",  # some server's watch table
    "connections",
    "lists",  # of all sessions
    "read-write",
    "semaphore",
]
Reason = tuple[bool | None, str]
By = Literal["node", "session", "lock"]
Cause = tuple[By, str]  # what cause and effect have in common, and ids of rules, with spaces
Blocks = Literal["forever", "long"]

UNRANKED: Final = 100

# The letters that the list of locks shows for a finding, and what they stand for.
LETTERS: Final = {
    "DED": "deadlock",
    "TWO": "two may own it",
    "FOR": "a foreign child is in the way",
    "ORP": "orphan: nobody will free it",
    "GHO": "ghost of an earlier try",
    "WAK": "a wake-up was lost",
    "SIL": "its holder is silent",
    "NUM": "numbers run out",
    "SLF": "waits for itself",
    "ORD": "taken in several orders",
    "LEA": "leases do not add up",
    "STK": "its holder seems stuck",
    "HRD": "a herd wakes for one",
    "POL": "polls instead of watching",
    "LNG": "held unusually long",
    "QUE": "its queue does not get shorter",
    "STV": "somebody starves",
    "NEW": "it was made anew",
    "LCK": "we may not look inside",
}

# Ids of rules that are often causes together, for `after`.
DEADLOCKS: Final = "D1 D2 D3 D4 D5 D7"
GHOSTS: Final = "B2 B3 B4"
FOREIGN: Final = "B10 B11"
SILENCE: Final = "S3 P1"
FOREVER: Final = "forever"  # all rules that block forever


class FindingSubject(msgspec.Struct, frozen=True, gc=False):
    """Whom a verdict is about; `key` tells two verdicts apart that are about the same nodes."""

    lock: Text | None = None
    nodes: tuple[Text, ...] = ()
    sessions: tuple[Session, ...] = ()
    who: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    key: tuple[object, ...] = ()
    locks: tuple[Text, ...] = ()  # all locks that it concerns, where that is not the one

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes it the same subject at another time."""
        return self.key or (self.lock, *self.nodes, *self.sessions)


class RuleMatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule has found, before it is known how long it has lasted."""

    about: FindingSubject
    sentence: str
    confidence: Confidence
    evidence: tuple[Reason, ...]
    advice: str
    since: Millis | None = None
    as_of: Millis | None = None  # when the newest fact behind it was read; None: now
    severity: Severity | None = None  # where it is less than the rule's own
    patience_ms: int = 0
    at_once: bool = False
    id: str | None = None
    signature: str | None = None

    def as_seen(self, as_of: Millis | None, patience_ms: int) -> "RuleMatch":
        """Say when the facts behind it were read, and how long it must last."""
        return msgspec.structs.replace(self, as_of=as_of, patience_ms=patience_ms)


class LookAgainAt(msgspec.Struct, frozen=True, gc=False):
    """Nothing yet: look again at this time even if nothing changes."""

    at: Millis


class MissingInput(msgspec.Struct, frozen=True, gc=False):
    """An input that this one case lacks."""

    why: str
    need: Need


RuleResult = RuleMatch | LookAgainAt | MissingInput
C_contra = TypeVar("C_contra", contravariant=True)


class Rule(msgspec.Struct, Generic[C_contra], frozen=True, kw_only=True):
    """One entry of the catalogue."""

    id: str
    name: str
    severity: Severity  # the worst that it can be
    scope: Scope
    needs: tuple[Need, ...]
    means: str
    code: str | None  # the letters for it in the list of locks, one of LETTERS
    rank: int  # the gravest come first
    only_if: frozenset[Sign]
    after: tuple[Cause, ...]  # what it may follow from, the likeliest first
    blocks: Blocks | None  # how long it holds up whoever waits in its lock
    is_delay: bool  # it may be nothing but what something further ahead holds up
    answers: Callable[[C_contra], Iterable[RuleResult]]

    def finding(self, verdict: RuleMatch, now_ms: Millis) -> Finding:
        """Put the rule's name to a verdict."""
        about = verdict.about
        locks = about.locks or (() if about.lock is None else (about.lock,))
        return Finding(
            id=verdict.id or identity(self.id, about.identity),
            rule=self.id,
            name=self.name,
            severity=_severity(verdict, self.severity),
            confidence=verdict.confidence,
            lock=about.lock,
            nodes=about.nodes,
            sessions=about.sessions,
            since=verdict.since,
            sentence=clean(verdict.sentence),
            evidence=tuple(Evidence(supports, clean(text)) for supports, text in verdict.evidence),
            advice=clean(verdict.advice),
            signature=verdict.signature or signature(self.id, locks, about.modes, about.who),
            locks=locks,
            as_of=now_ms if verdict.as_of is None else verdict.as_of,
            patience_ms=verdict.patience_ms,
            at_once=verdict.at_once,
        )

    def blind(self, lacking: MissingInput) -> BlindSpot:
        """Say that it cannot be decided."""
        return BlindSpot(self.id, clean(lacking.why), lacking.need)


def _severity(verdict: RuleMatch, worst: Severity) -> Severity:
    """Give the severity; a hint is never red."""
    told = verdict.severity or worst
    return "warning" if told == "critical" and verdict.confidence == "C1" else told


def rule(  # noqa: PLR0913  the columns of a table
    rule_id: str,
    name: str,
    severity: Severity,
    scope: Scope,
    *,
    needs: tuple[Need, ...],
    means: str,
    code: str | None = None,
    rank: int = UNRANKED,
    only_if: tuple[Sign, ...] = (),
    after: tuple[Cause, ...] = (),
    blocks: Blocks | None = None,
    is_delay: bool = False,
) -> Callable[[Callable[[C_contra], Iterator[RuleResult]]], Rule[C_contra]]:
    """Make a rule of the function below it."""

    def made(answers: Callable[[C_contra], Iterator[RuleResult]]) -> Rule[C_contra]:
        return Rule(
            id=rule_id,
            name=name,
            severity=severity,
            scope=scope,
            needs=needs,
            means=means,
            code=code,
            rank=rank,
            only_if=frozenset(only_if),
            after=after,
            blocks=blocks,
            is_delay=is_delay,
            answers=answers,
        )

    return made
