"""L7 to L11: wake-ups for many where one can go on, and watches that were left behind."""

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from zktop.model.facts import Session
from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import MissingInput, RuleMatch, RuleResult, rule
from zktop.model.format import count, several, short
from zktop.model.locks.lock import Member
from zktop.model.text import Text

BURSTS_PER_S = 3
STORM_FOR = 10_000
STALE_SHOWN = 20  # sessions of one lock; more of them make no better finding


@rule(
    "L7",
    "herd-on-member",
    "warning",
    "lock",
    needs=("names", "watches"),
    code="HRD",
    after=(("lock", "L9"),),
    means="Many watch one node although only one of them can go on when it vanishes.",
    only_if=("watches",),
)
def herd_on_member(look: LockContext) -> Iterator[RuleResult]:
    """Find members that are watched by more exclusive waiters than can go on."""
    bound = _many(look)
    if look.lock.kind == "single":
        yield from _herd_on_single(look, bound)
    if look.lock.kind == "single" or len(look.waiters) < bound:
        return
    watching, unexpected = _watching(look)
    for path, number in watching.items():
        member = look.at_path.get(path)
        if number >= bound and member is not None:
            yield _herd(look, member, number, unexpected[path])


def _many(look: LockContext) -> int:
    return max(look.thresholds.herd, (len(look.waiters) + 1) // 2)


def _watching(look: LockContext) -> tuple[Counter[Text], Counter[Text]]:
    """Count who would wake in vain, by watched path; and who is not even meant to wake.

    Readers that share one writer all go on together: they are no herd.
    """
    vain: Counter[Text] = Counter()
    unexpected: Counter[Text] = Counter()
    for seen in look.waiting:
        for path in seen.others:
            if path not in seen.expected:
                unexpected[path] += 1
                vain[path] += 1
            elif seen.member.mode != "read":
                vain[path] += 1
    return vain, unexpected


def _herd(look: LockContext, member: Member, number: int, unexpected: int) -> RuleMatch:
    is_known = unexpected < look.thresholds.herd
    return RuleMatch(
        about=look.about(member),
        sentence=f"{count(number, 'session')} wake when {short(member.node)} in {look.name} goes, "
        "and one of them can go on.",
        confidence="C3",
        evidence=(
            (True, f"{count(number, 'waiting session')} watch that node"),
            (None if is_known else True, "their recipe does not ask for that"),
        ),
        advice="Let each waiter watch its predecessor only; every release now costs about "
        f"{number} requests.",
        severity="info" if is_known else "warning",
        as_of=look.ensemble.watched_at(look.waiting[0].member.owner),
        patience_ms=look.thresholds.settle,
    )


def _herd_on_single(look: LockContext, bound: int) -> Iterator[RuleResult]:
    for holder in look.holders[:1]:
        watchers = look.ensemble.watchers(look.path_of(holder.node)) - {holder.owner}
        if len(watchers) >= bound:
            yield RuleMatch(
                about=look.about(holder, key=("single",)),
                sentence=f"{count(len(watchers), 'session')} wake when {look.name} is freed, and "
                "one of them gets it.",
                confidence="C3",
                evidence=(
                    (True, "all of them watch the one node that is the lock"),
                    (None, "they wait for it, and do not just look on"),
                ),
                advice="One node per lock scales to a few waiters; more need a queue of "
                "sequential nodes.",
                severity="info",
                patience_ms=look.thresholds.settle,
            )


@rule(
    "L8",
    "herd-on-parent",
    "warning",
    "lock",
    needs=("names", "watches", "connections", "history"),
    code="HRD",
    after=(("lock", "L9"),),
    means="Most waiters wake at every change in the queue and list it again.",
    only_if=("queue",),
)
def herd_on_parent(look: LockContext) -> Iterator[RuleResult]:
    """Find waiters that watch the list of children, by their recipe or by what wakes them."""
    if len(look.waiters) < look.thresholds.herd:
        return
    herd = [member for member in look.waiters if member.node in look.watching_children]
    is_known = len(herd) >= _many(look)
    clue = "inferred: they are spoken to unasked, and no table shows a watch"
    if not is_known:
        herd = [s.member for s in look.astray if look.lookout.watches_children(s.member.owner)]
        clue = "the watch table lists their sessions at the lock's own znode" if herd else clue
    if not herd:
        herd = [s.member for s in look.astray if not s.here and _was_woken(look, s.member.owner)]
    if len(herd) >= _many(look):
        number = len(herd)
        yield RuleMatch(
            about=look.about(*look.holders[:1], key=("parent",)),
            sentence=f"{count(number, 'waiter')} of {look.name} wake at every change in it and "
            "list it again.",
            confidence="C3" if is_known else "C2",
            evidence=(
                (is_known or None, "their recipe watches the children of the lock"),
                (None if is_known else True, clue),
            ),
            advice=f"Each release costs {number} listings of {count(len(look.members), 'name')}; "
            "let each waiter watch its predecessor.",
            severity="info" if is_known else "warning",
        )


def _was_woken(look: LockContext, session: Session) -> bool:
    step, presence = look.around.sessions.step(session), look.ensemble.presence(session)
    is_listing = presence is not None and presence.last_operation == "GETC"
    return is_listing and step is not None and step.notifications > 0 and step.requests > 0


@rule(
    "L9",
    "rewatch-storm",
    "warning",
    "lock",
    needs=("names", "watches", "history"),
    code="HRD",
    means="Every release makes many waiters set their watch anew, several times a second.",
    only_if=("queue",),
)
def rewatch_storm(look: LockContext) -> Iterator[RuleResult]:
    """Find locks where releases a second times woken waiters is more than servers should bear."""
    is_small = len(look.waiters) < look.thresholds.herd
    woken = 0 if is_small else max(_woken(look).values(), default=0)
    if woken < look.thresholds.herd:
        return
    releases = look.past.releases_per_s
    if releases is None:
        yield MissingInput("the lock was not watched for long enough to know its rate", "history")
        return
    load = woken * releases
    if load > look.thresholds.storm_requests_per_second or releases >= BURSTS_PER_S:
        yield RuleMatch(
            about=look.about(key=("storm",)),
            sentence=f"{look.name} is released {releases:.1f} times a second and each time "
            f"{count(woken, 'waiter')} wake: about {load:.0f} requests a second.",
            confidence="C2",
            evidence=(
                (True, f"{count(woken, 'waiter')} watch the same node, or the children"),
                (None, "the batch does not end by itself"),
            ),
            advice="Curator's readers all watch the first writer; several writers in the queue "
            "make them re-arm again and again. Fewer readers, or shorter queues of writers.",
            patience_ms=STORM_FOR,
        )


def _woken(look: LockContext) -> Counter[Text]:
    woken = Counter(path for seen in look.waiting for path in seen.others)
    woken[look.path] += len(look.watching_children)
    return woken


@rule(
    "L10",
    "relinked-wrongly",
    "info",
    "lock",
    needs=("names", "watches", "connections", "history"),
    code="WAK",
    after=(("node", "L1 L3"),),
    means="The one before it gave up, and it stopped watching: it may believe it has the lock.",
    only_if=("waiters", "watches", "departures"),
)
def relinked(look: LockContext) -> Iterator[RuleResult]:
    """Find waiters without a watch that were active after somebody before them gave up."""
    quits = [gone for gone in look.past.departures if gone.ending == "abandoned"]
    for seen in look.astray if quits else ():
        member = seen.member
        idle = look.around.sessions.idle_since(member.owner)
        left = max((q.gone_at for q in quits if q.czxid < member.czxid), default=None)
        if idle is None or left is None or idle <= left:
            continue
        if seen.here or not seen.expected or not look.is_wrong(seen):
            continue
        if (look.ensemble.watched_at(member.owner) or 0) > left + look.thresholds.settle:
            yield _relinked(look, member)


def _relinked(look: LockContext, member: Member) -> RuleMatch:
    who = look.who(member)
    return RuleMatch(
        about=look.about(member),
        sentence=f"{who} is not first in {look.name}, but stopped watching when one before it "
        "gave up: it may believe that it owns the lock.",
        confidence="C1",
        evidence=(
            (True, "somebody before it left the queue without ever holding the lock"),
            (True, "it made requests after that, and watches nothing here"),
            (None, "its client takes any deletion for the grant"),
        ),
        advice=f"Look whether {who} lists the queue again when its watch fires.",
        as_of=look.ensemble.watched_at(member.owner),
    )


@rule(
    "L11",
    "stale-watch",
    "info",
    "lock",
    needs=("names", "watches"),
    means="A session still watches a member but has no place in the queue any more.",
    only_if=("waiters", "watches"),
)
def stale_watch(look: LockContext) -> Iterator[RuleResult]:
    """Find watchers of members that own no place in the lock."""
    if look.lock.kind == "single" or not look.waiters:
        return
    stale: dict[Session, list[Member]] = {}
    for table in (one.watches for one in look.ensemble.tables if one.watches):
        for path, member in look.at_path.items():
            for session in table.by_path.get(path, ()):
                if session not in look.owned and session != look.ensemble.own:
                    stale.setdefault(session, []).append(member)
    for session in sorted(stale)[:STALE_SHOWN]:
        yield _stale(look, session, stale[session])


def _stale(look: LockContext, session: Session, members: list[Member]) -> RuleMatch:
    who = look.around.who(session)
    about = look.about(*members, key=("stale", session))
    return RuleMatch(
        about=replace(about, sessions=(session,), who=(who,)),
        sentence=f"{who} watches {several(short(member.node) for member in members)} in "
        f"{look.name} but has no place there.",
        confidence="C3",
        evidence=(
            (True, "its session owns no node in this lock"),
            (None, "it gave up waiting; it does not just look on"),
        ),
        advice="Harmless: a client that gave up removes its node and forgets its watch.",
        as_of=look.ensemble.watched_at(session),
        patience_ms=look.thresholds.stale_watch,
    )
