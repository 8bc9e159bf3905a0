"""A snapshot as text that reads well in 80 columns, without colour.

What is wrong comes first, then the locks that somebody waits for, then the quiet ones.
"""

import textwrap
from collections.abc import Iterator

from zktop.headless import rows
from zktop.headless.durations import millis, spoken
from zktop.headless.schema import Deadlock, Finding, Lock, Snapshot, Step
from zktop.model.facts import Millis
from zktop.model.findings.words import count
from zktop.model.waits.exits import process

WIDTH = 80
FIRST_STEPS, LAST_STEPS = 3, 2
WAYS_OUT = 2


def lines(snapshot: Snapshot, width: int = WIDTH) -> Iterator[str]:
    """Give the lines."""
    now = millis(snapshot.taken_at)
    yield from _head(snapshot, width)
    for deadlock in snapshot.deadlocks:
        yield ""
        yield from _deadlock(deadlock, now, width)
    told = {deadlock.id for deadlock in snapshot.deadlocks}
    for finding in snapshot.findings:
        if finding.id not in told:
            yield ""
            yield from _finding(finding, now, width)
    yield from _locks(snapshot.locks, now, width)
    yield from _not_seen(snapshot, width)


def _head(snapshot: Snapshot, width: int) -> Iterator[str]:
    source, told = snapshot.source, {deadlock.id for deadlock in snapshot.deadlocks}
    others = sum(finding.id not in told for finding in snapshot.findings)
    servers = count(len(source.servers), "server") if source.servers else "no server asked"
    where = f"zktop  {source.hosts or '?'}{source.chroot}  {source.state}  {servers}"
    yield from _wrapped(where, "", width)
    yield (
        f"{snapshot.taken_at}  {count(len(snapshot.locks), 'lock')}, "
        f"{count(len(told), 'deadlock')}, {count(others, 'other finding')}"
    )


def _deadlock(deadlock: Deadlock, now: Millis, width: int) -> Iterator[str]:
    head = f"DEADLOCK {deadlock.id}  {deadlock.kind}, confidence {deadlock.confidence}"
    behind = f", {deadlock.behind} more behind"
    head += f"{_since(deadlock.since, now)}{behind if deadlock.behind else ''}"
    yield from _wrapped(head, "", width)
    yield from _wrapped(deadlock.sentence, "  ", width)
    names = {step.actor: step.name for step in deadlock.steps}
    yield from _steps(deadlock, names, width)
    for way in deadlock.ways_out[:WAYS_OUT]:
        stopped = process(way.name, way.actor, way.client)
        said = f"way out: stop {stopped}; it {way.why}; that frees {way.frees}"
        yield from _wrapped(said, "  ", width)


def _steps(deadlock: Deadlock, names: dict[str, str], width: int) -> Iterator[str]:
    """Write the steps in the order they were taken in, without the middle of a long ring."""
    numbered = list(enumerate(deadlock.steps, start=1))
    hidden = len(numbered) - FIRST_STEPS - LAST_STEPS
    for number, step in numbered:
        if hidden <= 1 or not FIRST_STEPS < number <= FIRST_STEPS + hidden:
            yield from _wrapped(f"{number:>3}  {_step(step, names)}", "", width, "       ")
        elif number == FIRST_STEPS + 1:
            yield f"     ... {hidden} more ..."


def _step(step: Step, names: dict[str, str]) -> str:
    holds = [f"{rows.MODES[held.mode]}:{held.lock}" for held in step.holds]
    held = f"holds {', '.join(holds)} and " if holds else ""
    waits = f"waits for {rows.MODES[step.waits.mode]}:{step.waits.lock}"
    edge = "" if step.edge == "hard" else ", who only queues"
    closing = "  CLOSES IT" if step.closing else ""
    behind = names.get(step.waits_for, step.waits_for)
    return f"{names[step.actor]} {held}{waits} behind {behind}{edge}{closing}"


def _finding(finding: Finding, now: Millis, width: int) -> Iterator[str]:
    head = f"{finding.severity.upper()} {finding.rule} {finding.name}"
    head += f", confidence {finding.confidence}{_since(finding.since, now)}"
    yield from _wrapped(head, "", width)
    yield from _wrapped(finding.sentence, "  ", width)
    yield from _wrapped(finding.advice, "  ", width)


def _locks(locks: list[Lock], now: Millis, width: int) -> Iterator[str]:
    quiet = [lock for lock in locks if rows.is_quiet(lock)]
    free = [lock for lock in locks if rows.is_free(lock)]
    for lock in locks:
        if not rows.is_quiet(lock) and not rows.is_free(lock):
            yield ""
            yield from _lock(lock, now, width)
    if quiet:
        yield from ("", f"{count(len(quiet), 'lock')} held, with nobody waiting")
        for lock in quiet:
            yield from rows.quiet_row(lock, now, width)
    if free:
        yield from ("", f"{count(len(free), 'lock')} free")
        yield from (f"  {lock.path}" for lock in free)


def _lock(lock: Lock, now: Millis, width: int) -> Iterator[str]:
    leases = f" of {lock.leases}" if lock.leases else ""
    waiting = f"  {len(lock.waiters)} waiting" if lock.waiters else ""
    what = f"{lock.kind}{leases}  {lock.layout}{waiting}"
    if len(lock.path) + len(what) + 2 <= width:
        yield f"{lock.path}  {what}"
    else:  # a path is there to be copied: it is never cut
        yield lock.path
        yield f"  {what}"
    if lock.error:
        yield from _wrapped(lock.error, "  ", width)
    if lock.warnings:
        yield from _wrapped("warnings: " + ", ".join(lock.warnings), "  ", width)
    yield from rows.queue(lock, now, width)


def _not_seen(snapshot: Snapshot, width: int) -> Iterator[str]:
    whys: dict[str, set[str]] = {}
    for blind in snapshot.blind:
        whys.setdefault(blind.why, set()).add(blind.rule)
    if whys:
        yield ""
    for why, rules in whys.items():
        yield from _wrapped(f"not seen: {why} ({', '.join(sorted(rules))})", "", width)


def _since(since: str | None, now: Millis) -> str:
    return f", for {spoken(max(0, now - millis(since)) / 1000)}" if since else ""


def _wrapped(text: str, indent: str, width: int, rest: str | None = None) -> list[str]:
    """Fold a text between words; a path that is too long for a line stays whole."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  " if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
