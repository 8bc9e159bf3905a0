"""The sentence for a pool whose leases can never come back."""

from itertools import groupby

from zktop.model.waits.cores import Core
from zktop.model.waits.names import Names
from zktop.model.waits.remnant import Remnant, blockers

_PARTS_AT_MOST = 5


def exhausted(core: Core) -> Remnant:
    """Find the pool of the core that most actors wait for."""
    pools = [rest for rest in core.remnants if rest.queue.kind == "pool" and any(rest.waits)]
    return max(pools, key=lambda rest: (sum(rest.waits), rest.queue.lock))


def knot_sentence(core: Core, names: Names) -> str:
    """Say who has all the leases and why none comes back."""
    pool = exhausted(core)
    path = names.path(pool.queue.lock)
    pairs = list(zip(pool.members, pool.waits, strict=True))
    holders = sorted({member.actor for member, waits in pairs if not waits})
    waiters = sorted({member.actor for member, waits in pairs if waits})
    text = f"All {pool.queue.room} leases of {path} are with {names.all_of(holders)}."
    both = [actor for actor in waiters if actor in holders]
    last = [actor for actor in waiters if actor not in holders]
    parts = _waits_between(core, pool, names)
    if both:
        parts.append(f"{names.all_of(both)} {_verb(both)} for another lease of {path}")
    if last:
        parts.append(f"{names.all_of(last)} {_verb(last)} for a lease of {path}")
    parts[-1:] = [f"and {parts[-1]}"] if len(parts) > 1 else parts[-1:]
    return f"{text} {', '.join(parts)}: no lease can come back."


def _verb(actors: list[str]) -> str:
    return "waits" if len(actors) == 1 else "wait"


def _waits_between(core: Core, pool: Remnant, names: Names) -> list[str]:
    """Say why the holders do not finish, those with the same reason together."""
    reasons: list[tuple[str, str, str]] = []
    for rest in core.remnants:
        if rest is pool:
            continue
        for place, member in enumerate(rest.members):
            if rest.waits[place]:
                first = rest.members[next(blockers(rest.queue, rest.members, place))]
                reasons.append((rest.queue.lock, first.actor, member.actor))
    parts = []
    for (lock, holder), group in groupby(sorted(reasons), key=lambda reason: reason[:2]):
        waiters = sorted({waiter for _, _, waiter in group})
        wish = f"{names.all_of(waiters)} {_verb(waiters)} for {names.path(lock)}"
        parts.append(f"{wish}, which {names.owner(holder)} holds")
    hidden = len(parts) - _PARTS_AT_MOST
    return [*parts[:_PARTS_AT_MOST], f"{hidden} more waits"] if hidden > 0 else parts
