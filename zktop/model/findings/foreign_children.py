"""B10, B11, R1 and S7: children that are not contenders, and contenders of another library."""

from collections.abc import Iterator
from itertools import combinations

from msgspec.structs import replace

from zktop.model.facts import Session
from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import Reason, Rule, RuleMatch, RuleResult
from zktop.model.format import count, several, short, waits
from zktop.model.freeing.commands_to_copy import free_command
from zktop.model.layouts.children_by_layout import sort_by_layout
from zktop.model.layouts.layout import parse_name
from zktop.model.locks.lock import FOREIGN, LockQueue, Member, absolute_path
from zktop.model.locks.mixed_queue import MixedQueue, UnreadableChild
from zktop.model.locks.open_folder import only_mixed
from zktop.model.locks.recognise import layout_names_in
from zktop.model.locks.semaphore_queue import LeasePool
from zktop.model.locks.shapes import layout_named
from zktop.model.locks.watch_check import UNSEEN
from zktop.model.text import Text
from zktop.model.waits.confidence import Confidence


@Rule(
    "B10",
    "blocked-by-foreign",
    "critical",
    code="FOR",
    rank=11,
    blocks="forever",
    only_if=("foreign", "waiters"),
)
def blocked_by_foreign(ctx: LockContext) -> Iterator[RuleResult]:
    """A child that is not a lock request sorts before requests; it will never be released."""
    obstacles = ctx.lock.obstacles
    if not obstacles:
        return
    paths = [absolute_path(ctx.path, child.node) for child in obstacles]
    is_one = len(paths) == 1
    are, them = ("is", "it") if is_one else ("are", "them")
    is_free = bool(_without_holder(ctx))
    effect = _prevents_holding(ctx, paths) if is_free else _makes_wait(ctx, paths)
    yield RuleMatch(
        about=ctx.about(*obstacles, key=("blocked-by-foreign",)),
        sentence=f"{several(map(short, paths))} {are} in the way in {ctx.name}: {effect}",
        confidence=_confidence(ctx, is_free=is_free),
        evidence=(
            *(owner_facts(ctx, child) for child in obstacles[:3]),
            (True, f"clients that use {_counting(ctx, obstacles)} {_count(ctx, is_one=is_one)}"),
            *_without_watch(ctx, is_free=is_free),
            (
                None,
                f"nobody deletes {them} soon; a TTL node is deleted when its TTL expires",
            ),
        ),
        advice=_advice(ctx, obstacles, paths),
        severity="critical" if is_free else "warning",
    )


def _without_holder(ctx: LockContext) -> list[LockQueue]:
    """The queues that have waiters but no holder. Each may be a separate lock."""
    if ctx.holders and not ctx.are_several_locks:
        return []
    return [queue for queue in ctx.lock.queues if queue.waiters and not queue.holders]


def _prevents_holding(ctx: LockContext, paths: list[Text]) -> str:
    """Say which locks no client holds, and how many clients wait for them."""
    without_holder = _without_holder(ctx)
    lock = "the lock"
    if ctx.holders:
        lock = f"{len(without_holder)} of its {len(ctx.lock.queues)} locks"
    waiting = sum(len(queue.waiters) for queue in without_holder)
    return f"no client holds {lock}, and none will {_until_deleted(paths)}; {waits(waiting)}."


def _makes_wait(ctx: LockContext, paths: list[Text]) -> str:
    """Say how many clients wait for these children although a client holds the lock."""
    waiting = _behind(ctx, ctx.lock.obstacles) or len(ctx.waiters)
    them = "it" if len(paths) == 1 else "them"
    until = _until_deleted(paths)
    return f"{waits(waiting)} for {them}, now or after the next release, {until}."


def _until_deleted(paths: list[Text]) -> str:
    return f"until {paths[0]} is deleted" if len(paths) == 1 else "until these are deleted"


def _take_leases(ctx: LockContext) -> bool:
    """Whether the obstacles are among the leases of a semaphore."""
    return any(isinstance(queue, LeasePool) and queue.is_short for queue in ctx.lock.queues)


def _count(ctx: LockContext, *, is_one: bool) -> str:
    """Say how clients count the obstacles."""
    if _take_leases(ctx):
        return "count it: it takes a lease" if is_one else "count them: each takes a lease"
    return "count it, and it sorts before them" if is_one else "count them, and they sort first"


def _counting(ctx: LockContext, obstacles: tuple[Member, ...]) -> str:
    """The layouts whose clients wait for an obstacle."""
    if _take_leases(ctx):
        return ctx.lock.layout
    names = [
        queue.layout.name
        for queue in only_mixed(ctx.lock.queues)
        if any(queue.counts(waiter, child) for waiter in queue.waiters for child in obstacles)
    ]
    return several(names) if names else ctx.lock.layout


def _without_watch(ctx: LockContext, *, is_free: bool) -> Iterator[Reason]:
    """Yield evidence that the first waiter does not count an obstacle: it does not watch it.

    A table older than the last change of the children may show a watch on one that is gone.
    """
    if not is_free:
        return
    for queue in ctx.lock.queues:
        if not isinstance(queue, MixedQueue):
            continue
        first = next((waiter for waiter in queue.waiters if queue.expected(waiter)), None)
        table = ctx.ensemble.watch_fact(first.owner) if first else None
        if first is None or table is None or table.zxid < max(first.czxid, queue.folder.changed):
            continue
        target = queue.expected(first)[0]
        watched = ctx.ensemble.watched(first.owner) or ()
        is_unseen = target.how == UNSEEN or ctx.watch_check.may_be_unlisted(first)
        if not is_unseen and ctx.path_of(target.path) not in watched:
            first_name = ctx.name_of(first)
            library = "its library may ignore it, as zookeeper-client for Rust does"
            yield False, f"{first_name} does not watch {short(target.path)}: {library}"


def _behind(ctx: LockContext, obstacles: tuple[Member, ...]) -> int:
    """The number of waiters behind any of these children."""
    queues = only_mixed(ctx.lock.queues)
    return len({waiter.node for queue in queues for waiter in queue.waiters_behind(obstacles)})


def _confidence(ctx: LockContext, *, is_free: bool) -> Confidence:
    """Return C4 for Curator, whose versions all agree. For others, a version is assumed."""
    if _take_leases(ctx) and ctx.lock.leases_are != "known":
        return "C2"  # the waiting client itself shows the number of leases
    if any(_owner(ctx, child) is None for child in ctx.lock.obstacles):
        return "C2"  # it may go with its session
    if is_free and all(name.startswith("curator") for name in _layout_names(ctx)):
        return "C3" if any(_without_watch(ctx, is_free=is_free)) else "C4"
    proofs = (proof for queue in only_mixed(ctx.lock.queues) for proof in queue.proofs.values())
    return "C3" if all(proof.is_fresh for proof in proofs) else "C2"


def _layout_names(ctx: LockContext) -> list[str]:
    return layout_names_in(ctx.lock.layout)


def _owner(ctx: LockContext, child: Member) -> Session | None:
    """The session that owns a child: 0 if there is none, None if an ACL hides it."""
    if child.znode.hidden:
        return ctx.ensemble.owner_of(ctx.path_of(child.node))
    return child.owner


def owner_facts(ctx: LockContext, child: Member) -> Reason:
    """What is known about the owner of a foreign child."""
    name, owner = short(child.znode.name), _owner(ctx, child)
    if owner is None:
        return None, f"the owner of {name} is unknown: its ACL hides that, and no dump lists it"
    if owner:
        named = ctx.shared.name_of(owner, child.label)
        return (
            True,
            f"{name} is not a lock request; it belongs to {named} and goes with its session",
        )
    fitting = [
        layout for layout in sort_by_layout([child.znode]).layouts.values() if not layout.guessed
    ]
    written = f"it is named like a request of {fitting[0].name}" if fitting else ""
    origin = "persistent, or a TTL or container node: made by hand, or left over"
    return True, f"no session owns {name}: {origin}{f'; {written}' if written else ''}"


def _advice(ctx: LockContext, obstacles: tuple[Member, ...], paths: list[Text]) -> str:
    owners = [_owner(ctx, child) for child in obstacles]
    names, them = several(paths), "it" if len(paths) == 1 else "them"
    if all(owners):
        sessions = "session" if len(set(owners)) == 1 else "sessions"
        remedy = f"End the {sessions} that made {them}"
    elif None in owners:
        remedy = f"Find out who owns {names} (zktop may not read {them}: see --auth)"
    else:
        how = f"`{free_command(ctx.path)}` prints how"
        remedy = f"Ask who made {names}; then delete {them} ({how})"
    return f"{remedy}, and keep other nodes out of the paths of locks."


@Rule(
    "B11",
    "broken-by-foreign",
    "critical",
    code="FOR",
    rank=12,
    blocks="forever",
    only_if=("warnings", "waiters"),
)
def broken_by_foreign(ctx: LockContext) -> Iterator[RuleResult]:
    """Clients fail at a child whose name they cannot read, and leave their nodes behind."""
    for queue in only_mixed(ctx.lock.queues):
        for unreadable in queue.unreadable:
            yield _broken(ctx, queue, unreadable)
        if queue.left_behind:
            yield _left_behind(ctx, queue)


def _left_behind(ctx: LockContext, queue: MixedQueue) -> RuleMatch:
    """Clients failed at a child that is gone: only the end of their sessions removes the nodes."""
    left = queue.left_behind
    stays = "stays until its session ends" if len(left) == 1 else "stay until their sessions end"
    return RuleMatch(
        about=ctx.about(*left, key=("broken-by-foreign", "", queue.layout.name)),
        sentence=f"{ctx.name}: {count(len(left), 'client')} failed at a child that is gone: "
        f"{_nodes(left)} {stays}; {waits(_behind(ctx, left))} for "
        f"{'it' if len(left) == 1 else 'them'}.",
        confidence="C3",
        evidence=(
            *(
                (True, f"{ctx.name_of(member)} left {short(member.znode.name)}")
                for member in left[:3]
            ),
            (None, f"assumed version: {_assumed_versions(queue)}"),
        ),
        advice=f"Restart the clients whose nodes are stranded (`{free_command(ctx.path)}` prints "
        "how).",
        severity="warning" if ctx.holders else "critical",
    )


def _broken(ctx: LockContext, queue: MixedQueue, unreadable: UnreadableChild) -> RuleMatch:
    child, path = unreadable.child, absolute_path(ctx.path, unreadable.child.node)
    failed, will_fail = unreadable.failed, unreadable.will_fail
    left = f"{count(len(failed), 'client')} failed at {path} and left {_nodes(failed)} behind"
    coming = f"{count(len(will_fail), 'client')} will fail at {path} at the next listing"
    effect = f"{left}, stranded until the session ends" if failed else coming
    is_foreign = child.layout == FOREIGN
    reasons: tuple[Reason, ...] = (
        (True, f"clients that use {queue.layout.name} cannot read {short(child.znode.name)}"),
        owner_facts(ctx, child)
        if is_foreign
        else (True, f"it is a request of another library: {child.layout}"),
        (None, f"assumed version: {_assumed_versions(queue)}"),
    )
    stop = "Use one library for each lock"
    if is_foreign and not (owner := _owner(ctx, child)):
        stop = f"Delete {path}" if owner == 0 else f"Find out who owns {path}"
    return RuleMatch(
        about=ctx.about(*failed, *will_fail, key=("broken-by-foreign", path)),
        sentence=f"{ctx.name}: {effect}.",
        confidence="C3",
        evidence=reasons,
        advice=f"{stop}, and restart the clients whose nodes are stranded."
        if failed
        else f"{stop}, before the next release.",
        severity="critical" if failed and not ctx.holders else "warning",
    )


def _nodes(failed: tuple[Member, ...]) -> str:
    return "its node" if len(failed) == 1 else "their nodes"


def _assumed_versions(queue: MixedQueue) -> str:
    return queue.folder.views(queue.layout)[0].about or "any known one"


@Rule(
    "S7",
    "split-queue",
    "warning",
    code="TWO",
    rank=21,
    after=(("lock", "S2"),),
    only_if=("waiters", "several"),
)
def split_queue(ctx: LockContext) -> Iterator[RuleResult]:
    """Two waiters do not count each other, and wait for the same node: both will get it."""
    pair = next(_split_pairs(ctx), None)
    if pair is None:
        return
    first, second, node = pair
    is_seen = all(ctx.ensemble.watched(member.owner) is not None for member in (first, second))
    yield RuleMatch(
        about=ctx.about(first, second, key=("split", first.layout, second.layout)),
        sentence=f"{ctx.name} will have two owners when {short(node.znode.name)} goes: "
        f"{ctx.name_of(first)} ({first.layout}) and {ctx.name_of(second)} ({second.layout}) both "
        "wait for it and do not count each other.",
        confidence="C3" if is_seen else "C2",
        evidence=(
            (True, "by the rule of its own library, neither name comes before the other"),
            (None, "the clients are not configured to count each other's nodes"),
        ),
        advice="Use one library for each lock, or configure the name patterns of both.",
    )


def _split_pairs(ctx: LockContext) -> Iterator[tuple[Member, Member, Member]]:
    """Yield two waiters that do not count each other, and the node that both wait for."""
    # By the node that they wait for, the first waiter with each order.
    behind: dict[Text, dict[int, tuple[MixedQueue, Member]]] = {}
    for queue in only_mixed(ctx.lock.queues):
        for member in queue.waiters:
            nearest = queue.nearest(member)
            if nearest is not None:  # members with the same order count each other
                order = id(queue.decision(member).order)
                behind.setdefault(nearest.node, {}).setdefault(order, (queue, member))
    for firsts in behind.values():
        for (first_queue, first), (second_queue, second) in combinations(firsts.values(), 2):
            is_shared = first.mode == second.mode == "read" or first.owner == second.owner
            if (
                not is_shared
                and not first_queue.counts(first, second)
                and not second_queue.counts(second, first)
            ):
                yield first, second, first_queue.members_before(first)[-1]


_COMPANIONS = {"mesos-group": ("log_replicas",)}  # other children that the same software creates


@Rule("R1", "foreign-members", "info", after=(("lock", "B10 B11"),), only_if=("foreign",))
def foreign_members(ctx: LockContext) -> Iterator[RuleResult]:
    """The lock has children that are not in its queue."""
    own = _COMPANIONS.get(ctx.lock.layout, ())
    foreign = tuple(name for name in ctx.lock.foreign if name not in own)
    if not foreign:
        return
    yield RuleMatch(
        about=replace(ctx.about(key=("foreign",)), nodes=foreign),
        sentence=f"{ctx.name} has {count(len(foreign), 'child', 'children')} of another kind: "
        f"{several(map(short, foreign))}.",
        confidence="C4",
        evidence=(
            *((True, why) for why in _why_foreign(ctx, foreign)),
            (True, _effect(ctx)),
        ),
        advice=f"Keep other nodes out of a lock's path.{_doubted_layout(ctx)}",
    )


def _doubted_layout(ctx: LockContext) -> str:
    """Advise to check a configured layout that fits no child."""
    root = ctx.shared.settings.root_of(ctx.path)
    if ctx.lock.size or root is None or root.layout is None:
        return ""
    return f" Check the configured layout, too: {root.layout} fits no child of this lock."


def _why_foreign(ctx: LockContext, foreign: tuple[Text, ...]) -> Iterator[str]:
    """Why these children are not in the queue."""
    own = ctx.shared.settings.layouts
    layouts = [layout for name in _layout_names(ctx) if (layout := layout_named(name, own))]
    znodes = map(ctx.lock.family.members.get, foreign)
    unowned = [znode.name for znode in znodes if znode and znode.stat and not znode.stat.owner]
    alike = [name for name in unowned if any(parse_name(layout, name) for layout in layouts)]
    if alike:
        requests = "a lock request" if len(alike) == 1 else "lock requests"
        yield f"no session owns {several(map(short, alike))}, though named like {requests}"
    others = [name for name in foreign if name not in alike]
    if others:
        examples = several(map(short, others)) if alike else "that"
        yield f"the layout {ctx.lock.layout} has no names like {examples}"


def _effect(ctx: LockContext) -> str:
    if ctx.lock.obstacles or ctx.lock.stranded:
        return "some of them are in the way of lock requests"
    queues = list(only_mixed(ctx.lock.queues))
    if any(queue.fails for queue in queues):
        return "clients will fail at some of them"
    if any(queue.counts_foreign for queue in queues):
        return "clients count some of them, behind all others"
    return "clients ignore them"
