"""B2 to B4: clients that wait for an earlier node of their own, left by a retry or a session."""

import re
from collections.abc import Iterator

from zktop.model.facts import split
from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import Rule, RuleMatch, RuleResult
from zktop.model.format import short, span
from zktop.model.layouts.layout import UUID
from zktop.model.locks.lock import Member

RETRY_WINDOW_MS = 10_000  # a create is retried at most this long after a reconnection
LONG_HOLD_FACTOR = 20  # times the 99th percentile
RETRY_NODES = 2  # per session; more of them mean a pool of threads


@Rule("B2", "ghost", "critical", code="GHO", rank=13, blocks="forever", only_if=("several",))
def ghost(ctx: LockContext) -> Iterator[RuleResult]:
    """A create was retried after a lost answer and made two nodes: the client waits for itself."""
    for queue in ctx.lock.queues:
        tokens = [member.token for member in queue.members]
        if len(set(tokens)) == len(tokens):
            continue
        first_with: dict[tuple[str, str], Member] = {}  # by folder and token
        for member in queue.members:
            if member.token is None or not re.fullmatch(UUID, member.token):
                continue
            folder = split("/" + member.node)[0]
            earlier = first_with.setdefault((folder, member.token), member)
            if earlier is not member:
                yield _ghost(ctx, earlier, member)


def _ghost(ctx: LockContext, earlier: Member, later: Member) -> RuleMatch:
    is_one_session = bool(later.owner) and earlier.owner == later.owner
    are_read = earlier.znode.stat is not None and later.znode.stat is not None
    owner, first, second = ctx.name_of(later), short(earlier.node), short(later.node)
    remedy = f"Restart {owner}: its nodes go with its session."
    if earlier.znode.stat and not earlier.owner:
        remedy = f"Delete {first}: no session owns it, so it stays if {owner} restarts."
    elif earlier.owner and later.owner and not is_one_session:
        remedy = f"{first} goes when its own session ends, which is not that of {second}."
    waits_for, guid = f"{second} waits for its own ghost {first}", short(later.token or "")
    return RuleMatch(
        about=ctx.about(earlier, later),
        sentence=f"{owner} has two nodes for one request in {ctx.name}: "
        + (f"{waits_for}." if ctx.is_waiting(later) else f"{first} and {second}."),
        confidence="C4",
        evidence=(
            (
                True,
                f"both names carry the guid {guid}, which a client uses for one node at a time",
            ),
            (is_one_session if are_read else None, "one session owns both"),
        ),
        advice=f"{remedy} Then upgrade its client library.",
        at_once=True,
    )


@Rule(
    "B3",
    "ghost-without-guid",
    "critical",
    tables=("watches", "connections"),
    code="GHO",
    rank=14,
    blocks="forever",
    only_if=("several", "watches", "connections"),
)
def ghost_without_guid(ctx: LockContext) -> Iterator[RuleResult]:
    """A session waits for its own earlier node, made before its connection was replaced.

    The session watches that node, and reconnected between the two creations.
    """
    for session, nodes in ctx.owned.items():
        if len(nodes) != RETRY_NODES:
            continue
        earlier, later = nodes
        watched = ctx.watched_here(session) or ()
        may_be_retry = "read" not in (earlier.mode, later.mode) and not earlier.token
        is_own = ctx.path_of(earlier.node) in watched and ctx.is_waiting(later)
        if may_be_retry and is_own and _reconnected_between(ctx, earlier, later):
            yield _ghost_without_guid(ctx, earlier, later)


def _reconnected_between(ctx: LockContext, earlier: Member, later: Member) -> bool:
    presence = ctx.ensemble.presence(later.owner)
    connected_at = presence.established if presence else None
    first, second = earlier.ctime, later.ctime
    if connected_at is None or first is None or second is None:
        return False
    return first <= connected_at <= second <= connected_at + RETRY_WINDOW_MS


def _ghost_without_guid(ctx: LockContext, earlier: Member, later: Member) -> RuleMatch:
    owner, usual = ctx.name_of(later), ctx.usual
    since = None if ctx.is_waiting(earlier) else ctx.past.granted(earlier).at
    idle = ctx.shared.sessions.idle_since(later.owner)
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
            (is_frozen or None, "it has sent no request since the earlier node got the lock"),
            (None, "no second thread of the same client created one of the two nodes"),
        ),
        advice=f"Restart {owner}. Its library puts no guid into the name, so after a lost answer "
        "it cannot tell that its first create succeeded.",
        as_of=ctx.ensemble.watched_at(later.owner),
    )


@Rule(
    "B4",
    "own-old-session",
    "critical",
    former_name="previous-life",
    tables=("connections",),
    code="GHO",
    rank=15,
    blocks="forever",
    after=(("node", "B2"),),
    only_if=("waiters", "connections"),
)
def own_old_session(ctx: LockContext) -> Iterator[RuleResult]:
    """A process came back with a new session and waits until its old one expires.

    The blocker has the label of a live waiter, and the blocker's session is on no server.
    """
    if not ctx.waiters:
        return
    waiting = {member.label: member for member in ctx.waiters if member.label is not None}
    for old in ctx.members:
        new = None if old.label is None else waiting.get(old.label)
        if new is None or not old.owner or new.owner in (0, old.owner):
            continue
        is_away = ctx.ensemble.connected(old.owner, old.czxid) is False
        if not is_away or _was_connected_before(ctx, new, old):
            continue
        if ctx.ensemble.connected(new.owner) and old in ctx.lock.members_before(new):
            yield _own_old_session(ctx, old, new)


def _was_connected_before(ctx: LockContext, new: Member, old: Member) -> bool:
    """Whether the waiter was connected when the other node was created: another process."""
    presence = ctx.ensemble.presence(new.owner)
    established = presence.established if presence else None
    return bool(established and old.ctime and established < old.ctime)


def _own_old_session(ctx: LockContext, old: Member, new: Member) -> RuleMatch:
    expires = ctx.ensemble.expires_in(old.owner, ctx.now_ms)
    ending = "when that expires is unknown"
    if expires:
        when = f"in at most {span(expires.high)}" if expires.high else "at any moment"
        ending = f"it expires {when}"
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
