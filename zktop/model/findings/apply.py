"""Applies the catalogue to one lock, one session, or the whole ensemble.

Most locks are quiet and healthy, so a few cheap signs decide which rules run: only a handful for
a lock without waiters. The cost of examining a lock grows with its number of members.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar, get_args

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.findings.catalogue import ENSEMBLE_RULES, LOCK_RULES, RULES, SESSION_RULES
from zktop.model.findings.context import (
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
    Rule,
    RuleMatch,
    Sign,
)
from zktop.model.history.root_changes import NO_ROOT_CHANGES
from zktop.model.world.tables_of_one_server import TableKind

NEWER_TABLE_PAUSE_MS = 5_000  # between checks for a table newer than the lock
NEWER_TABLE_WAIT_MS = 60_000  # how long to keep checking

C = TypeVar("C")


class Examination(msgspec.Struct, frozen=True, gc=False):
    """What the rules found, and when to run them again even if nothing changes."""

    findings: tuple[Finding, ...] = ()
    blinds: tuple[BlindSpot, ...] = ()
    due_ms: Millis | None = None


NO_RESULTS = Examination()


def examine_lock(ctx: LockContext) -> Examination:
    """Apply the rules that may find something in this lock."""
    results = _apply(fitting_rules(signs(ctx)), ctx, ctx.now_ms)
    due = _due_for_tables(ctx)
    if due is None or (results.due_ms is not None and results.due_ms <= due):
        return results
    return replace(results, due_ms=due)


def examine_session(ctx: SessionContext) -> Examination:
    return _apply(SESSION_RULES, ctx, ctx.now_ms)


def examine_deadlock(ctx: EnsembleContext) -> Examination:
    """Apply the rules of the deadlocks in this context."""
    present = {deadlock.rule for deadlock in ctx.deadlocks}
    return _apply((rule for rule in ENSEMBLE_RULES if rule.id in present), ctx, ctx.now_ms)


def examine_ensemble(ctx: EnsembleContext) -> Examination:
    """Apply the rules about the whole ensemble, and add a blind spot for each missing table."""
    examination = _apply(ENSEMBLE_RULES, ctx, ctx.now_ms)
    return replace(examination, blinds=(*table_blind_spots(ctx.shared), *examination.blinds))


def table_blind_spots(shared: SharedContext) -> tuple[BlindSpot, ...]:
    """The rules that lack a table of some server. They still use the tables of the others."""
    ensemble = shared.ensemble
    reasons = {kind: ensemble.missing(kind) for kind in get_args(TableKind)}
    return tuple(
        rule.blind(MissingInput(why, kind))
        for rule in RULES
        if not (ensemble.complete_to and rule.is_in_logs)
        for kind in rule.tables
        for why in reasons[kind]
    )


def signs(ctx: LockContext) -> frozenset[Sign]:
    """The cheap properties of a lock that decide which rules run."""
    lock, past, shared, waiting = ctx.lock, ctx.past, ctx.shared, len(ctx.waiters)
    news = past.recreated_at or past.reaped_at
    values: dict[Sign, object] = {
        "several": waiting or len(ctx.holders) > 1 or len(lock.queues) > 1,
        "waiters": waiting,
        "queue": waiting >= ctx.thresholds.herd,
        "warnings": lock.warnings,
        "foreign": lock.foreign,
        "news": news or ctx.root != NO_ROOT_CHANGES,
        "former-members": past.all_former_members,
        "attempts": past.attempts,
        "watches": shared.shows_watches,
        "connections": shared.shows_connections,
        "lists": shared.lists_sessions,
        "read-write": lock.kind == "read-write",
        "semaphore": lock.kind == "semaphore",
    }
    return frozenset(sign for sign, value in values.items() if value)


@lru_cache(maxsize=512)
def fitting_rules(shown: frozenset[Sign]) -> tuple[Rule[LockContext], ...]:
    return tuple(rule for rule in LOCK_RULES if shown.issuperset(rule.only_if))


def _apply(rules: Iterable[Rule[C]], context: C, now_ms: Millis) -> Examination:
    findings: list[Finding] = []
    blinds: list[BlindSpot] = []
    due: Millis | None = None
    for rule in rules:
        for result in rule.check(context):
            match result:
                case RuleMatch():
                    findings.append(rule.finding(result, now_ms))
                case MissingInput():
                    blinds.append(rule.blind(result))
                case LookAgainAt(at):
                    due = at if due is None else min(at, due)
    return Examination(tuple(findings), tuple(dict.fromkeys(blinds)), due)


def _due_for_tables(ctx: LockContext) -> Millis | None:
    """When to look again because a table is older than the lock, so it may lack waiters."""
    changed, settle = ctx.lock.at, ctx.thresholds.settle
    if ctx.now_ms - changed > NEWER_TABLE_WAIT_MS:
        return None
    for server in ctx.ensemble.tables:
        for table in (server.facts.watches, server.facts.connections):
            if table is not None and table.rows is not None and table.at < changed + settle:
                return ctx.now_ms + NEWER_TABLE_PAUSE_MS
    return None
