"""Applying the catalogue: to one lock, to one session, to everything else.

Most locks are quiet and healthy, so what a lock shows at first sight decides which rules look at
it at all; for a free or a calmly held lock that is a handful. A look at a crowded lock costs its
whole queue: whoever calls this does so at most once a second for one of more than CROWDED members.

The catalogue: every rule, in the order of the screen, and what facts cannot decide.

A new rule is a function in the module of its family and its name in that module's RULES.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar, cast

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.findings import blocked, deadlocks, outages, roots, safety, structure, wakeups
from zktop.model.findings import deadlocks as inversions
from zktop.model.findings import foreign_children as foreign
from zktop.model.findings import mass_expiry as expiries
from zktop.model.findings import sessions as performance
from zktop.model.findings.context import (
    NO_ROOT_CHANGES,
    EnsembleContext,
    LockContext,
    SessionContext,
    SharedContext,
)
from zktop.model.findings.finding import (
    BlindSpot,
    Finding,
    LookAgainAt,
    MissingInput,
    Need,
    Rule,
    RuleMatch,
    Sign,
)

AnyRule: TypeAlias = "Rule[LockContext] | Rule[SessionContext] | Rule[EnsembleContext]"

_FIRST: Final = (
    *("D1", "D2", "D3", "D4", "D5", "D7"),
    *("S1", "S2", "S4"),
    *("B1", "B10", "B11", "B2", "B3", "B4", "B5"),
    *("L2", "L1"),
    *("S3", "S6", "S7"),
)


def _ordered(rules: tuple[AnyRule, ...]) -> tuple[AnyRule, ...]:
    """Put the gravest in front; the others stay in the order of their families."""
    rank = {rule_id: place for place, rule_id in enumerate(_FIRST)}
    return tuple(sorted(rules, key=lambda rule: rank.get(rule.id, len(_FIRST))))


RULES: Final[tuple[AnyRule, ...]] = _ordered(
    (
        *deadlocks.RULES,
        *inversions.ORDER_RULES,
        *blocked.RULES,
        *foreign.RULES,
        *wakeups.RULES,
        *safety.RULES,
        *foreign.SPLIT,
        *performance.RULES,
        *outages.RULES,
        *expiries.RULES,
        *structure.RULES,
        *roots.RULES,
    )
)

SCOPES: Final = {rule.id: rule.scope for rule in RULES}
RANK: Final = {rule.id: place for place, rule in enumerate(RULES)}

# A rule's scope says what its function takes; the type checker cannot follow that.
LOCK_RULES: Final = tuple(cast("Rule[LockContext]", r) for r in RULES if r.scope == "lock")
SESSION_RULES: Final = tuple(
    cast("Rule[SessionContext]", r) for r in RULES if r.scope == "session"
)
SURVEY_RULES: Final = tuple(
    cast("Rule[EnsembleContext]", rule) for rule in RULES if rule.scope in ("whole", "server")
)

# Parts of rules that no fact decides, and why. Every rule of the catalogue is in RULES.
UNDECIDED: Final = (
    ("B5", "that two servers disagree about one node: zktop lists through one connection"),
    ("L6", "a poller that owns no node: its requests name no path in any table"),
    ("L8", "that the re-reads come within a second of a release: tables are read too rarely"),
    ("P12", "how long our own reads take: no fact carries it"),
    ("S3", "whether a host or a network is silent: shown by the sessions page, side by side"),
    ("S5", "who deleted a node: servers do not record it, so the rule stays a hint"),
)


TABLE_AGE = 5_000  # how soon to look again for a table that is newer than the lock
TABLE_PATIENCE = 60_000  # how long to hope for one

C = TypeVar("C")


class Examination(msgspec.Struct, frozen=True, gc=False):
    """What the rules say, and when to ask them again although nothing has changed."""

    findings: tuple[Finding, ...] = ()
    blinds: tuple[BlindSpot, ...] = ()
    due_ms: Millis | None = None


NO_RESULTS = Examination()


def examine_lock(look: LockContext) -> Examination:
    """Apply all rules to one lock that may find something there."""
    results = _applied(_fitting(signs(look)), look, look.now_ms)
    due = min(filter(None, (results.due_ms, _due_for_tables(look))), default=None)
    return replace(results, due_ms=due)


def examine_session(talk: SessionContext) -> Examination:
    """Apply all rules to one session."""
    return _applied(SESSION_RULES, talk, talk.now_ms)


def examine_ensemble(survey: EnsembleContext) -> Examination:
    """Apply the rules that concern no single lock or session, and say what nobody can see."""
    said = _applied(SURVEY_RULES, survey, survey.now_ms)
    return replace(said, blinds=(*unseen(survey.around), *said.blinds))


def unseen(around: SharedContext) -> tuple[BlindSpot, ...]:
    """Say which rules lack a server's table, and why; they still judge what the others show."""
    return _blind_for_lack_of(tuple(around.lacking.items()))


@lru_cache(maxsize=8)  # the same at nearly every look
def _blind_for_lack_of(
    tables: tuple[tuple[Need, tuple[MissingInput, ...]], ...],
) -> tuple[BlindSpot, ...]:
    lacking = dict(tables)
    return tuple(
        rule.blind(one) for rule in RULES for need in rule.needs for one in lacking.get(need, ())
    )


def signs(look: LockContext) -> frozenset[Sign]:
    """Tell what a lock shows, at the price of a few attributes."""
    lock, past, around, waiting = look.lock, look.past, look.around, len(look.waiters)
    news = past.recreated_at or past.reaped_at or past.fell_at
    shown: dict[Sign, object] = {
        "several": waiting or len(look.holders) > 1 or len(lock.queues) > 1,
        "waiters": waiting,
        "queue": waiting >= look.thresholds.herd,
        "warnings": lock.warnings,
        "foreign": lock.foreign,
        "news": news or look.root != NO_ROOT_CHANGES,
        "departures": past.departures,
        "attempts": past.attempts,
        "watches": around.shows_watches,
        "connections": around.shows_connections,
        "lists": around.lists_sessions,
        "read-write": lock.kind == "read-write",
        "semaphore": lock.kind == "semaphore",
    }
    return frozenset(sign for sign, is_shown in shown.items() if is_shown)


@lru_cache(maxsize=512)
def _fitting(shown: frozenset[Sign]) -> tuple[Rule[LockContext], ...]:
    return tuple(rule for rule in LOCK_RULES if rule.only_if <= shown)


def _applied(rules: Iterable[Rule[C]], context: C, now_ms: Millis) -> Examination:
    findings: list[Finding] = []
    blinds: list[BlindSpot] = []
    due: Millis | None = None
    for rule in rules:
        for answer in rule.answers(context):
            match answer:
                case RuleMatch():
                    findings.append(rule.finding(answer, now_ms))
                case MissingInput():
                    blinds.append(rule.blind(answer))
                case LookAgainAt(at):
                    due = at if due is None else min(at, due)
    return Examination(tuple(findings), tuple(dict.fromkeys(blinds)), due)


def _due_for_tables(look: LockContext) -> Millis | None:
    """Look again soon while some table is older than the lock: it may not show its waiters yet."""
    changed, settle = look.lock.at, look.thresholds.settle
    if look.now_ms - changed > TABLE_PATIENCE:
        return None
    for one in look.ensemble.tables:
        for table in (one.facts.watches, one.facts.connections):
            if table is not None and table.rows is not None and table.at < changed + settle:
                return look.now_ms + TABLE_AGE
    return None
