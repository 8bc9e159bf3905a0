"""L7 to L11: releases that wake many waiters for one, and watches that were left behind."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from zktop.model.facts import Session
from zktop.model.findings.context import LockContext, MemberWatches
from zktop.model.findings.finding import MissingInput, Rule, RuleMatch, RuleResult
from zktop.model.format import count, several, short
from zktop.model.locks.lock import Member
from zktop.model.locks.shapes.single_node import SingleNodeQueue
from zktop.model.text import Text

BURSTS_PER_S = 3
STORM_PATIENCE_MS = 10_000
MAX_STALE_SESSIONS = 20  # reported per lock
_INFERRED = "inferred: the servers notify them, and no table shows a watch"


@Rule(
    "L7",
    "herd-on-member",
    "warning",
    tables=("watches",),
    code="HRD",
    after=(("lock", "L9"),),
    only_if=("watches",),
)
def herd_on_member(ctx: LockContext) -> Iterator[RuleResult]:
    """Many waiters watch one node, but only one of them can continue when it is deleted."""
    bound = _herd_size(ctx)
    if ctx.lock.kind == "single":
        yield from _herd_on_single(ctx, bound)
    if ctx.lock.kind == "single" or len(ctx.waiters) < bound:
        return
    watching, unexpected = _watching(ctx)
    for path, number in watching.items():
        member = ctx.at_path.get(path)
        if number >= bound and member is not None:
            yield _herd(ctx, member, number, unexpected[path])


def _herd_size(ctx: LockContext) -> int:
    """How many waiters make a herd: at least half of them."""
    return max(ctx.thresholds.herd, (len(ctx.waiters) + 1) // 2)


def _watching(ctx: LockContext) -> tuple[Counter[Text], Counter[Text]]:
    """Count by path the watchers that wake for nothing, and those that no recipe explains.

    Readers that wait for one writer all continue together, so they are not a herd.
    """
    vain: Counter[Text] = Counter()
    unexpected: Counter[Text] = Counter()
    for waiting in _by_session(ctx):
        expected = {path for waiter in waiting for path in waiter.expected}
        shared = {
            path for waiter in waiting if waiter.member.mode == "read" for path in waiter.expected
        }
        for path in waiting[0].others:
            if path not in expected:
                unexpected[path] += 1
            if path not in shared:
                vain[path] += 1
    return vain, unexpected


def _by_session(ctx: LockContext) -> Iterator[list[MemberWatches]]:
    """Yield the waiters of each session: they share its watches, and each wakes it once."""
    for _, waiting in groupby(ctx.waiting, key=lambda waiter: waiter.member.owner):
        yield list(waiting)


def _herd(ctx: LockContext, member: Member, number: int, unexpected: int) -> RuleMatch:
    is_known = unexpected < ctx.thresholds.herd
    return RuleMatch(
        about=ctx.about(member),
        sentence=f"{count(number, 'session')} wake when {short(member.node)} in {ctx.name} goes, "
        "but only one of them can go on.",
        confidence="C3",
        evidence=(
            (True, f"{count(number, 'waiting session')} watch that node"),
            (None if is_known else True, "their recipe does not ask for that"),
        ),
        advice="Let each waiter watch only its predecessor; every release now costs about "
        f"{number} requests.",
        severity="info" if is_known else "warning",
        as_of=ctx.ensemble.watched_at(ctx.waiting[0].member.owner),
        patience_ms=ctx.thresholds.settle,
    )


def _herd_on_single(ctx: LockContext, bound: int) -> Iterator[RuleResult]:
    for holder in ctx.holders[:1]:
        watchers = ctx.ensemble.watchers(ctx.path_of(holder.node)) - {holder.owner}
        if len(watchers) >= bound:
            yield RuleMatch(
                about=ctx.about(holder, key=("single",)),
                sentence=f"{count(len(watchers), 'session')} wake when {ctx.name} is freed, and "
                "one of them gets it.",
                confidence="C3",
                evidence=(
                    (True, "all of them watch the one node that is the lock"),
                    (None, "they wait for it and do not merely observe"),
                ),
                advice="One node per lock scales to a few waiters; more need a queue of "
                "sequential nodes.",
                severity="info",
                patience_ms=ctx.thresholds.settle,
            )


@Rule(
    "L8",
    "herd-on-parent",
    "warning",
    tables=("watches", "connections"),
    code="HRD",
    after=(("lock", "L9"),),
    only_if=("queue",),
)
def herd_on_parent(ctx: LockContext) -> Iterator[RuleResult]:
    """Most waiters wake at every change in the queue and list it again.

    They watch the list of children, as their recipe or their wake-ups show.
    """
    if len(ctx.waiters) < ctx.thresholds.herd:
        return
    by_recipe = [member for member in ctx.waiters if member.node in ctx.watching_children]
    is_known = len(by_recipe) >= _herd_size(ctx)
    herd, clue = (by_recipe, _INFERRED) if is_known else _watching_parent(ctx)
    if len(herd) >= _herd_size(ctx):
        number = len(herd)
        yield RuleMatch(
            about=ctx.about(*ctx.holders[:1], key=("parent",)),
            sentence=f"{count(number, 'waiter')} of {ctx.name} wake at every change in it and "
            "list it again.",
            confidence="C3" if is_known else "C2",
            evidence=(
                (is_known or None, "their recipe watches the children of the lock"),
                (None if is_known else True, clue),
            ),
            advice=f"Each release costs {number} listings of {count(len(ctx.members), 'name')}; "
            "let each waiter watch its predecessor.",
            severity="info" if is_known else "warning",
        )


def _watching_parent(ctx: LockContext) -> tuple[list[Member], str]:
    """The waiters that watch the list of children although their recipe does not, and the clue."""
    listed = [
        waiter.member
        for waiter in ctx.mismatched
        if ctx.watch_check.watches_children(waiter.member.owner)
    ]
    if listed:
        return listed, "the watch table lists their sessions at the lock's own znode"
    woken = [
        waiter.member
        for waiter in ctx.mismatched
        if not waiter.watched and _was_woken(ctx, waiter.member.owner)
    ]
    return woken, _INFERRED


def _was_woken(ctx: LockContext, session: Session) -> bool:
    step, presence = ctx.shared.sessions.last_step(session), ctx.ensemble.presence(session)
    is_listing = presence is not None and presence.last_operation == "GETC"
    return is_listing and step is not None and step.notifications > 0 and step.requests > 0


@Rule("L9", "rewatch-storm", "warning", tables=("watches",), code="HRD", only_if=("queue",))
def rewatch_storm(ctx: LockContext) -> Iterator[RuleResult]:
    """Every release makes many waiters set their watch again, several times a second.

    Releases per second, times the waiters they wake, would overload the servers.
    """
    is_small = len(ctx.waiters) < ctx.thresholds.herd
    woken = 0 if is_small else max(_woken(ctx).values(), default=0)
    if woken < ctx.thresholds.herd:
        return
    releases = ctx.past.minute.releases_per_s
    if releases is None:
        yield MissingInput("the lock was not watched for long enough to know its rate", "history")
        return
    load = woken * releases
    if load > ctx.thresholds.storm_requests_per_second or releases >= BURSTS_PER_S:
        yield RuleMatch(
            about=ctx.about(key=("storm",)),
            sentence=f"{ctx.name} is released {releases:.1f} times a second and each time "
            f"{count(woken, 'waiter')} wake: about {load:.0f} requests a second.",
            confidence="C2",
            evidence=(
                (True, f"{count(woken, 'waiter')} watch the same node, or the children"),
                (None, "this is not a batch that ends by itself"),
            ),
            advice="Curator's readers all watch the first writer; several writers in the queue "
            "make them re-arm again and again. Use fewer readers, or shorter queues of writers.",
            patience_ms=STORM_PATIENCE_MS,
        )


def _woken(ctx: LockContext) -> Counter[Text]:
    woken = Counter(path for waiting in _by_session(ctx) for path in waiting[0].others)
    woken[ctx.path] += len(ctx.watching_children)
    return woken


@Rule(
    "L10",
    "relinked-wrongly",
    "info",
    tables=("watches", "connections"),
    code="WAK",
    after=(("node", "L1 L3"),),
    only_if=("waiters", "watches", "former-members"),
)
def relinked(ctx: LockContext) -> Iterator[RuleResult]:
    """A waiter stopped watching when one ahead of it gave up: it may believe it has the lock.

    It has been active since, and has no watch.
    """
    quits = [gone for gone in ctx.past.former_members if gone.ending == "abandoned"]
    if not quits:
        return
    for waiter in ctx.mismatched:
        member = waiter.member
        idle = ctx.shared.sessions.idle_since(member.owner)
        left = max((gone.gone_at for gone in quits if gone.czxid < member.czxid), default=None)
        if idle is None or left is None or idle <= left:
            continue
        if waiter.watched or not waiter.expected or not ctx.is_wrong(waiter):
            continue
        if (ctx.ensemble.watched_at(member.owner) or 0) > left + ctx.thresholds.settle:
            yield _relinked(ctx, member)


def _relinked(ctx: LockContext, member: Member) -> RuleMatch:
    name = ctx.name_of(member)
    return RuleMatch(
        about=ctx.about(member),
        sentence=f"{name} is not first in {ctx.name}, but stopped watching when one ahead of it "
        "gave up: it may believe that it owns the lock.",
        confidence="C1",
        evidence=(
            (True, "one ahead of it left the queue without ever holding the lock"),
            (True, "it made requests after that, and watches nothing here"),
            (None, "its client takes any deletion as the grant"),
        ),
        advice=f"Look whether {name} lists the queue again when its watch fires.",
        as_of=ctx.ensemble.watched_at(member.owner),
    )


@Rule("L11", "stale-watch", "info", tables=("watches",), only_if=("waiters", "watches"))
def stale_watch(ctx: LockContext) -> Iterator[RuleResult]:
    """A session still watches a member but has no place in the queue any more."""
    if ctx.lock.kind == "single" or not ctx.waiters:
        return
    if any(isinstance(queue, SingleNodeQueue) for queue in ctx.lock.queues):
        return  # observers of such a node look like contenders
    if any(member.znode.hidden for member in ctx.members):
        yield MissingInput("an ACL hides the sessions of some members", "names")
        return
    stale = _watchers_without_place(ctx)
    for session in sorted(stale)[:MAX_STALE_SESSIONS]:
        yield _stale(ctx, session, [*stale[session].values()])


def _watchers_without_place(ctx: LockContext) -> dict[Session, dict[Text, Member]]:
    """The sessions that own no child of the lock, each with the members that it watches."""
    present = {*ctx.owned, *_owners_of_foreign(ctx), ctx.ensemble.own}
    stale: dict[Session, dict[Text, Member]] = {}
    for table in (server.watches for server in ctx.ensemble.tables if server.watches):
        for path, member in ctx.at_path.items():
            for session in table.by_path.get(path, ()):
                if session not in present:
                    stale.setdefault(session, {})[path] = member
    return stale


def _owners_of_foreign(ctx: LockContext) -> Iterator[Session]:
    """The sessions that own children that are not contenders."""
    for name in ctx.lock.foreign:
        child = ctx.lock.family.members.get(name)
        if child is not None and child.stat is not None:
            yield child.stat.owner


def _stale(ctx: LockContext, session: Session, members: list[Member]) -> RuleMatch:
    name = ctx.shared.name_of(session)
    about = ctx.about(*members, key=("stale", session))
    return RuleMatch(
        about=replace(about, sessions=(session,)),
        sentence=f"{name} watches {several(short(member.node) for member in members)} in "
        f"{ctx.name} but has no place there.",
        confidence="C3",
        evidence=(
            (True, "its session owns no node in this lock"),
            (None, "it gave up waiting and does not merely observe"),
        ),
        advice="Harmless: a client that gives up deletes its node but may leave its watch.",
        as_of=ctx.ensemble.watched_at(session),
        patience_ms=ctx.thresholds.stale_watch,
    )
