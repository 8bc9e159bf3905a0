"""B2 to B4: clients that wait for their own node, left by a retry or an earlier session."""

import re
from collections.abc import Iterator
from itertools import pairwise

from zktop.model.facts import split
from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import Rule, RuleMatch, RuleResult
from zktop.model.format import short, span
from zktop.model.locks.lock import Member

RETRY_WINDOW_MS = 10_000  # a create is retried at most this long after a reconnection
LONG_HOLD_FACTOR = 20  # times the 99th percentile
RETRY_NODES = 2  # of one session; more are a pool of threads

_GUARD = r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@Rule(
    "B2", "ghost", "critical", "lock", code="GHO", rank=13, blocks="forever", only_if=("several",)
)
def ghost(ctx: LockContext) -> Iterator[RuleResult]:
    """A create was retried after a lost answer and made two nodes: the client waits for itself."""
    for queue in ctx.lock.queues:
        tokens = [member.token for member in queue.members]
        if len(set(tokens)) == len(tokens):
            continue
        seen: dict[tuple[str, str], Member] = {}
        for member in queue.members:
            if member.token is None or not re.fullmatch(_GUARD, member.token):
                continue
            earlier = seen.setdefault((split("/" + member.node)[0], member.token), member)
            if earlier is not member:
                yield _ghost(ctx, earlier, member)


def _ghost(ctx: LockContext, earlier: Member, later: Member) -> RuleMatch:
    is_one_session = earlier.owner == later.owner
    owner, first, second = ctx.name_of(later), short(earlier.node), short(later.node)
    waits_for = f"{second} waits for its own ghost {first}"
    return RuleMatch(
        about=ctx.about(earlier, later),
        sentence=f"{owner} has two nodes of one request in {ctx.name}: "
        + (f"{waits_for}." if ctx.is_waiting(later) else f"{first} and {second}."),
        confidence="C4",
        evidence=(
            (True, f"both names carry {short(later.token or '')}, made once for each request"),
            (is_one_session or None, "one session owns both"),
        ),
        advice=f"Restart {owner}: its nodes go with its session. Then upgrade its client library.",
        at_once=True,
    )


@Rule(
    "B3",
    "ghost-without-guid",
    "critical",
    "lock",
    tables=("watches", "connections"),
    code="GHO",
    rank=14,
    blocks="forever",
    only_if=("several", "watches", "connections"),
)
def ghost_without_guid(ctx: LockContext) -> Iterator[RuleResult]:
    """A session waits for its own earlier node, made just before its connection was replaced.

    The session watches that node, and reconnected between the two creations.
    """
    for session, places in ctx.owned.items():
        if len(places) != RETRY_NODES:
            continue
        for earlier, later in pairwise(places):
            watched = ctx.watched_here(session) or ()
            is_exclusive = "read" not in (earlier.mode, later.mode) and not earlier.token
            is_own = ctx.path_of(earlier.node) in watched and ctx.is_waiting(later)
            if is_exclusive and is_own and _reconnected_between(ctx, earlier, later):
                yield _unguarded(ctx, earlier, later)


def _reconnected_between(ctx: LockContext, earlier: Member, later: Member) -> bool:
    presence = ctx.ensemble.presence(later.owner)
    made = presence.established if presence else None
    first, second = earlier.ctime, later.ctime
    if made is None or first is None or second is None:
        return False
    return first <= made <= second <= made + RETRY_WINDOW_MS


def _unguarded(ctx: LockContext, earlier: Member, later: Member) -> RuleMatch:
    owner, usual = ctx.name_of(later), ctx.usual
    since, idle = ctx.past.granted(earlier.node).at, ctx.shared.sessions.idle_since(later.owner)
    is_old = bool(usual and since and ctx.now_ms - since > LONG_HOLD_FACTOR * usual.p99_ms)
    is_frozen = idle is not None and since is not None and idle - since < RETRY_WINDOW_MS
    return RuleMatch(
        about=ctx.about(earlier, later),
        sentence=f"{owner} waits in {ctx.name} for {short(earlier.node)}, which is its own: "
        "its create was retried after a lost connection.",
        confidence="C3" if is_old and is_frozen else "C2",
        evidence=(
            (True, f"it watches its own {short(earlier.node)}"),
            (True, "its connection was replaced between the two creations"),
            (is_frozen or None, "it has made no request since"),
            (None, "no second thread of the same client made one of the two"),
        ),
        advice=f"Restart {owner}. Its library puts no guid into the name, so a retried create "
        "cannot recognise itself.",
        as_of=ctx.ensemble.watched_at(later.owner),
    )


@Rule(
    "B4",
    "own-old-session",
    "critical",
    "lock",
    former_name="previous-life",
    tables=("connections",),
    code="GHO",
    rank=15,
    blocks="forever",
    after=(("node", "B2"),),
    only_if=("waiters", "connections"),
)
def own_old_session(ctx: LockContext) -> Iterator[RuleResult]:
    """A process came back with a new session and waits until its old one has expired.

    The blocker has the label of a live waiter, and its session is connected nowhere.
    """
    if not ctx.waiters:
        return
    waiting: dict[str, Member] = {
        str(member.label): member for member in ctx.waiters if member.label is not None
    }
    for old in ctx.members:
        new = waiting.get(str(old.label))
        if new is None or not old.owner or new.owner in (0, old.owner):
            continue
        is_away = ctx.ensemble.connected(old.owner, old.czxid) is False
        is_ahead = ctx.place[old.node] < ctx.place[new.node]
        if is_away and is_ahead and ctx.ensemble.connected(new.owner):
            yield _previous_life(ctx, old, new)


def _previous_life(ctx: LockContext, old: Member, new: Member) -> RuleMatch:
    expires = ctx.ensemble.expires_in(old.owner, ctx.now_ms)
    ending = f"it expires in at most {span(expires.high)}" if expires else "it must expire"
    return RuleMatch(
        about=ctx.about(old, new),
        sentence=f"{ctx.name_of(new)} waits in {ctx.name} for its own previous session; {ending}.",
        confidence="C3",
        evidence=(
            (True, f"both nodes are labelled {short(old.label or '')}"),
            (True, "the old session is connected to no server"),
            (None, "the label names one process, not several instances"),
        ),
        advice="Wait for the expiry. If this happens at each restart, let the process close its "
        "session when it stops.",
    )
