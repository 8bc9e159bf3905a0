"""Format a snapshot as text, for 80 columns and without colour.

Deadlocks and findings come first, then locks with waiters, then locks without waiters.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from zktop.model.facts import Millis
from zktop.model.findings.finding import BlindSpot
from zktop.model.format import count, middle, millis, spoken, unblocks
from zktop.model.layouts.layout import MODE_LETTERS, lock_in_mode
from zktop.model.locks.lock import only_watched
from zktop.model.locks.queue import HERE
from zktop.model.waits.confidence import CONFIDENCE_WORD
from zktop.model.waits.ways_out import kill_or_wait, process
from zktop.model.world.tables_of_one_server import LOGS
from zktop.output.schema import (
    BlindJson,
    ContenderJson,
    DeadlockJson,
    ExpiredSessionJson,
    FindingJson,
    FreedLockJson,
    LockJson,
    SnapshotJson,
    StepJson,
)

WIDTH = 80
FIRST_STEPS, LAST_STEPS = 3, 2  # of a long ring
MAX_WAYS_OUT = 2
MAX_EXPIRIES = 10
MAX_FIRST_ROWS = 8  # of a long queue, before contenders with a problem and the last one
FOLD_ABOVE = MAX_FIRST_ROWS + 2
MAX_MODE_RUNS = 12  # in the summary of a queue
MAX_NAME_CHARS, SHORT_NAME_CHARS = 32, 16
PROBLEMS = {"missing": "NO WATCH", "elsewhere": "WATCHES ELSEWHERE"}


def is_quiet(lock: LockJson) -> bool:
    """Return whether a lock has one holder, no waiters and no problem, so one line is enough."""
    return not lock.waiters and not lock.error and not lock.warnings and len(lock.holders) == 1


def is_free(lock: LockJson) -> bool:
    """Return whether a lock has no contender and no problem."""
    return not (lock.waiters or lock.holders or lock.error or lock.warnings)


def quiet_row(lock: LockJson, now: Millis) -> Iterator[str]:
    """Format a lock and its only holder in one line, or in two if the path is long."""
    (holder,) = lock.holders
    name = middle(holder.name, SHORT_NAME_CHARS)
    session = f"{_session(holder):<18} {age(holder, now):>8}"
    tail = f"{MODE_LETTERS[holder.mode]} {name:<{SHORT_NAME_CHARS}}  {session}"
    room = WIDTH - len(tail) - 4
    if len(lock.path) > room:
        yield f"  {lock.path}"
        yield f"  {'':<{room}}  {tail}"
    else:
        yield f"  {lock.path:<{room}}  {tail}"


def queue(lock: LockJson, now: Millis) -> Iterator[str]:
    """Format the holders and waiters of a lock, one per line."""
    yield from _rows(lock.holders, "hold", now)
    yield from _rows(lock.waiters, "wait", now)


def _rows(contenders: Sequence[ContenderJson], verb: str, now: Millis) -> Iterator[str]:
    """Format contenders, but leave out the middle of a long queue, except those with a problem."""
    if len(contenders) <= FOLD_ABOVE:
        yield from (contender_row(contender, now) for contender in contenders)
        return
    hidden = contenders[MAX_FIRST_ROWS:-1]
    problems = [contender for contender in hidden if contender.watch.verdict in PROBLEMS]
    with_problem = problems[:MAX_FIRST_ROWS]
    more = len(hidden) - len(with_problem)
    runs = _mode_runs(contenders)
    for contender in contenders[:MAX_FIRST_ROWS]:
        yield contender_row(contender, now)
    yield cut(f"  ...     {more} more {verb}{f', in all {runs}' if runs else ''}")
    for contender in (*with_problem, contenders[-1]):
        yield contender_row(contender, now)


def contender_row(contender: ContenderJson, now: Millis) -> str:
    """Format a contender on one line. It may be too wide if it has a problem, but is not cut."""
    tail = f"{_session(contender):<18} {age(contender, now):>8}"
    state = "stranded" if contender.stranded else contender.state
    head = f"  {state:<7} {MODE_LETTERS[contender.mode]} {middle(contender.name, MAX_NAME_CHARS)}"
    behind = _behind(contender)
    room = WIDTH - len(tail) - 2
    left = f"{head}  {behind}" if behind else head
    if contender.watch.verdict not in PROBLEMS:
        left = cut(left, room)
    return f"{left:<{room}}  {tail}"


def age(contender: ContenderJson, now: Millis) -> str:
    """Format how long a contender has held or waited: `>=` at least, `?` unknown."""
    since = contender.since or contender.created
    age_ms = 0 if since is None else max(0, now - millis(since))
    if contender.since_is == "seen":
        return spoken(age_ms / 1000)
    return f">={spoken(age_ms / 1000)}" if age_ms else "?"


def _mode_runs(contenders: Sequence[ContenderJson]) -> str:
    """Summarise a queue as runs of modes, like `R2 W R`, if there are several.

    >>> _mode_runs(())
    ''
    """
    modes = (MODE_LETTERS[contender.mode] for contender in contenders)
    runs = [(mode, len(list(run))) for mode, run in groupby(modes)]
    if len(runs) < 2:  # noqa: PLR2004  one run adds nothing to the count
        return ""
    text = " ".join(f"{mode}{count if count > 1 else ''}" for mode, count in runs[:MAX_MODE_RUNS])
    return f"{text} ..." if len(runs) > MAX_MODE_RUNS else text


def cut(line: str, cells: int = WIDTH) -> str:
    return line if len(line) <= cells else line[: cells - 1] + "…"


def _session(contender: ContenderJson) -> str:
    return contender.session or "no session"


def _behind(contender: ContenderJson) -> str:
    problem = PROBLEMS.get(contender.watch.verdict, "")
    if not contender.blocked_by or contender.blocked_by[-1] == HERE:
        return problem
    more = contender.ahead - 1
    name = contender.blocked_by[-1].rpartition("/")[2]  # the nearest
    number = name[-10:] if name[-9:].isdigit() else name
    return f"behind {number}{f' +{more}' if more else ''} {problem}".rstrip()


def lines(snapshot: SnapshotJson) -> Iterator[str]:
    now = millis(snapshot.taken_at)
    yield from _head(snapshot)
    for deadlock in snapshot.deadlocks:
        yield ""
        yield from _deadlock(deadlock, now)
    deadlocks = {deadlock.id for deadlock in snapshot.deadlocks}
    for finding in snapshot.findings:
        if finding.id not in deadlocks:
            yield ""
            yield from _finding(finding, now)
    sees_watches = snapshot.source.sees.watches == "all"
    yield from _locks(snapshot.locks, now, sees_watches=sees_watches)
    yield from _expiries(snapshot.expiries)
    yield from _not_seen(snapshot)


def _head(snapshot: SnapshotJson) -> Iterator[str]:
    source, deadlocks = snapshot.source, {deadlock.id for deadlock in snapshot.deadlocks}
    others = sum(finding.id not in deadlocks for finding in snapshot.findings)
    servers = count(len(source.servers), "server") if source.servers else "no server asked"
    are_logs = [server.address for server in source.servers] == [LOGS]
    state = f"{LOGS}s" if are_logs else f"{source.state}  {servers}"
    where = f"zktop  {source.hosts or '?'}{source.chroot}  {state}"
    yield from wrapped(where)
    yield (
        f"{snapshot.taken_at}  {count(len(snapshot.locks), 'lock')}, "
        f"{count(len(deadlocks), 'deadlock')}, {count(others, 'other finding')}"
    )


def _deadlock(deadlock: DeadlockJson, now: Millis) -> Iterator[str]:
    sure = CONFIDENCE_WORD[deadlock.confidence]
    head = f"DEADLOCK #{deadlock.number}  {deadlock.kind}, {sure} ({deadlock.confidence})"
    behind = f", {deadlock.behind} more behind"
    head += f"{_since(deadlock.since, now)}{behind if deadlock.behind else ''}"
    yield from wrapped(head)
    yield from wrapped(deadlock.sentence, "  ")
    names = {step.actor: step.name for step in deadlock.steps}
    yield from _steps(deadlock, names)
    for way in deadlock.ways_out[:MAX_WAYS_OUT]:
        client = process(way.name, way.actor, way.client)
        freed = unblocks(way.frees, deadlock.actors)
        text = f"to resolve: {kill_or_wait(way.why)} {client}, which {way.why}: {freed}"
        yield from wrapped(text, "  ")


def _steps(deadlock: DeadlockJson, names: dict[str, str]) -> Iterator[str]:
    """Format the steps in the order in which they happened, without the middle of a long ring."""
    numbered = list(enumerate(deadlock.steps, start=1))
    hidden = len(numbered) - FIRST_STEPS - LAST_STEPS
    for number, step in numbered:
        if hidden <= 1 or not FIRST_STEPS < number <= FIRST_STEPS + hidden:
            yield from wrapped(f"{number:>3}  {step_sentence(step, names)}", "", "       ")
        elif number == FIRST_STEPS + 1:
            yield f"     ... {hidden} more ..."


def step_sentence(step: StepJson, names: dict[str, str]) -> str:
    holds = [lock_in_mode(held.mode, held.lock) for held in step.holds]
    held = f"holds {', '.join(holds)} and " if holds else ""
    waits = f"waits for {lock_in_mode(step.waits.mode, step.waits.lock)}"
    edge = "" if step.edge == "hard" else ", which is only queued"
    closing = ", completing the deadlock" if step.closing else ""
    behind = names.get(step.waits_for, step.waits_for)
    return f"{names[step.actor]} {held}{waits} behind {behind}{edge}{closing}"


def _finding(finding: FindingJson, now: Millis) -> Iterator[str]:
    sure = f"{CONFIDENCE_WORD[finding.confidence]} ({finding.confidence})"
    head = f"{finding.severity.upper()} {finding.name} ({finding.rule}), {sure}"
    head += _since(finding.since, now)
    yield from wrapped(head)
    yield from wrapped(finding.sentence, "  ")
    yield from wrapped(finding.advice, "  ")


def _locks(locks: list[LockJson], now: Millis, *, sees_watches: bool) -> Iterator[str]:
    quiet = [lock for lock in locks if is_quiet(lock)]
    free = [lock for lock in locks if is_free(lock)]
    for lock in locks:
        if not is_quiet(lock) and not is_free(lock):
            yield ""
            yield from _lock(lock, now)
    if quiet:
        is_unsure = not sees_watches and any(
            only_watched(lock.kind, lock.layout) for lock in quiet
        )
        seen = " seen" if is_unsure else ""
        yield from ("", f"{count(len(quiet), 'lock')} held, no waiters{seen}")
        for lock in quiet:
            yield from quiet_row(lock, now)
    if free:
        yield from ("", f"{count(len(free), 'lock')} free")
        yield from (f"  {lock.path}" for lock in free)


def _lock(lock: LockJson, now: Millis) -> Iterator[str]:
    leases = f" of {lock.leases}" if lock.leases else ""
    waiting = f"  {len(lock.waiters)} waiting" if lock.waiters else ""
    about = f"{lock.kind}{leases}  {lock.layout}{waiting}"
    if len(lock.path) + len(about) + 2 <= WIDTH:
        yield f"{lock.path}  {about}"
    else:  # a path is never cut, so that it can be copied
        yield lock.path
        yield f"  {about}"
    if lock.error:
        yield from wrapped(lock.error, "  ")
    if lock.warnings:
        yield from wrapped("warnings: " + ", ".join(lock.warnings), "  ")
    yield from queue(lock, now)


def _expiries(expiries: list[ExpiredSessionJson]) -> Iterator[str]:
    """Format the last sessions that expired, newest first."""
    if expiries:
        yield ""
        yield count(len(expiries), "session expired", "sessions expired")
    for expired in expiries[: -MAX_EXPIRIES - 1 : -1]:
        client = expired.owner or expired.client or expired.session
        effects = [_freed(freed) for freed in expired.freed]
        effects += [f"left the queue of {path}" for path in expired.left]
        text = f"{expired.at[11:19]}Z  {middle(client, MAX_NAME_CHARS)}: {', '.join(effects)}"
        yield from wrapped(text, "  ", "             ")


def _freed(freed: FreedLockJson) -> str:
    if freed.after_s is None:
        return f"freed {freed.lock}"
    client = freed.next or freed.next_session or "an unknown client"
    after = f"{spoken(freed.after_s)} later" if freed.after_s else "at once"
    return f"freed {freed.lock}, which {client} got {after}"


def _not_seen(snapshot: SnapshotJson) -> Iterator[str]:
    if snapshot.blind:
        yield ""
    for line in blind_lines(snapshot.blind):
        yield from wrapped(line)


def blind_lines(blind: Iterable[BlindSpot | BlindJson]) -> Iterator[str]:
    """Yield a line for each reason why rules could not be checked."""
    rules_by_reason: dict[str, set[str]] = {}
    for spot in blind:
        rules_by_reason.setdefault(spot.why, set()).add(spot.rule)
    for why, rules in rules_by_reason.items():
        yield f"no data: {why} ({', '.join(sorted(rules))})"


def _since(since: str | None, now: Millis) -> str:
    """Return how long a finding has been seen, or "" if this is the first look at it."""
    age_ms = max(0, now - millis(since)) if since else 0
    return f", for {spoken(age_ms / 1000)}" if age_ms else ""


def wrapped(text: str, indent: str = "", rest: str | None = None) -> list[str]:
    """Wrap a text between words, but leave long paths whole."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  " if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
