"""What stays above the queue of a lock: what sort of lock it is, who holds it, who wants it."""

from collections.abc import Iterator
from typing import Final

from zktop.model.contender import Contender
from zktop.model.findings.words import count, several, short
from zktop.model.locks.lock import Lock
from zktop.ui.draw.histogram import times_usual
from zktop.ui.draw.marks import called, ink_of_deadlock
from zktop.ui.draw.numbers import grouped
from zktop.ui.draw.places import brief, host, who
from zktop.ui.draw.runs import density, run_line
from zktop.ui.draw.scene import LockScene
from zktop.ui.draw.times import age, running
from zktop.ui.ink import Ink, Line, Run, joined, line, width_of, wrapped
from zktop.ui.row import LETTERS

HOLDERS: Final = 3
DENSE: Final = 100  # waiters; a longer queue is also drawn as a strip
COLUMNS: Final = 100
QUIET: Final = 0.5  # of a timeout: a silence that is worth telling
TITLE: Final = 8
UNTIL_RUNS: Final = 46


def lock_head(scene: LockScene, width: int) -> list[Line]:
    """Draw it in so many cells."""
    lock = scene.view.lock
    lines = list(_title(lock, width))
    if lock.error is not None:
        lines += wrapped(f"zktop cannot see inside: {lock.error}", width - 1, "unknown", " ")
    lines += _holders(scene, width - 1 - TITLE)
    lines += _queue(scene, width)
    return lines


def _title(lock: Lock, width: int) -> Iterator[Line]:
    kind = lock.kind if lock.kind != "semaphore" else _leases(lock)
    following = lock.next_sequence
    facts = [kind, lock.layout, count(lock.size, "place")]
    if following is not None and any(m.sequence is not None for m in lock.members):
        facts.append(f"next number {following:010d}")
    told = " · ".join(facts)
    if len(lock.path) + len(told) + 4 <= width:
        yield line((f" {lock.path}", "title"), (f"  {told}", "dim"))
    else:
        yield line((f" {lock.path}", "title"))
        yield line((f"   {told}", "dim"))


def _leases(lock: Lock) -> str:
    if lock.leases is None:
        return "semaphore, its size is not known"
    return f"semaphore of {lock.leases}" + (" (inferred)" if lock.leases_are == "inferred" else "")


def _holders(scene: LockScene, width: int) -> list[Line]:
    lineup = scene.lineup
    word = "LEADER" if lineup.lock.kind == "election" else "HOLDER"
    if not lineup.holding:
        if lineup.lock.error is not None:
            return []
        return [_titled(word, _nobody(lineup.lock))]
    lines = [
        _titled(
            word if not place else "", _holder(scene, lineup.contender(scene.view, place), width)
        )
        for place in range(min(HOLDERS, lineup.holding))
    ]
    more = lineup.holding - HOLDERS
    if more > 0:
        lines.append(_titled("", line((f"and {count(more, 'more holder')}", "holds"))))
    return lines


def _nobody(lock: Lock) -> Line:
    """Say why nobody holds: what is in the way will not go by itself."""
    if lock.obstacles:
        names = several(short(child.node) for child in lock.obstacles)
        return line((f"nobody: {names} is in the way, and no contender", "critical"))
    if lock.stranded:
        return line(("nobody: failed clients left their nodes behind", "critical"))
    return line(("nobody: the lock is free", "good"))


def _titled(title: str, told: Line) -> Line:
    return (Run(f" {title:<{TITLE}}", "title"), *told)


def _holder(scene: LockScene, one: Contender, width: int) -> Line:
    number = "" if one.sequence is None else f" {one.sequence:010d}"
    name = line((LETTERS[one.mode], "strong"), (number, "dim"), " ", *who(one))
    where = line((_where(scene, one), "dim"))
    held, silence = _held(scene, one), _silence(scene, one)
    whole = joined([name, where, held, silence])
    is_short = silence and width_of(whole) > width  # its places are told below as well
    return joined([name, held, silence]) if is_short else whole


def _where(scene: LockScene, one: Contender) -> str:
    if one.session is None:
        return "no session: nothing frees it when its client is gone"
    presence = scene.report.sight.presence(one.session)
    place = f" {presence.client}@{host(presence.server)}" if presence else ""
    return f"{brief(one.session)}{place}"


def _held(scene: LockScene, one: Contender) -> Line:
    now = scene.report.now
    told = age(one.since, one.since_is, now, is_ascii=scene.is_ascii)
    if told == "?" or one.since is None:
        return line(("held since: not known", "unknown"))
    times = times_usual(max(0, now - one.since), scene.view.history.holds)
    return line(
        "held ", (told, "strong"), (f" = {times}".replace("= =", "=") if times else "", "warning")
    )


def _silence(scene: LockScene, one: Contender) -> Line:
    """Say when its client has been silent for long, and when the lock would be freed."""
    if one.session is None:
        return ()
    sight, now = scene.report.sight, scene.report.now
    presence, timeout = sight.presence(one.session), sight.timeout_ms(one.session)
    silent = presence.silence(now) if presence else None
    if silent is None or not timeout or silent < QUIET * timeout:
        return ()
    span = sight.expires_in(one.session, now)
    freed = f", freed in {span.low // 1000}-{span.high // 1000 + 1} s" if span else ""
    return line((f"silent {running(silent)} of {running(timeout)}{freed}", "warning"))


def _queue(scene: LockScene, width: int) -> list[Line]:
    lineup = scene.lineup
    waiting = lineup.members[lineup.holding :]
    word = "STANDBY" if lineup.lock.kind == "election" else "QUEUE"
    if not waiting and not lineup.crowd:
        return [_titled(word, line(("empty", "dim")))] if lineup.lock.error is None else []
    pieces: list[Line] = []
    runs = lineup.waiting_runs
    if waiting:
        size, ink = grouped(len(waiting)), _queue_ink(scene)
        pieces.append(line((size, ink), " = ", run_line(runs, max(20, width - UNTIL_RUNS))))
    if lineup.crowd:
        pieces.append(line((f"{grouped(len(lineup.crowd))} watch it, in no order", "waits")))
    pieces.append(_drains(scene))
    lines = [_titled(word, joined(pieces))]
    if len(waiting) > DENSE:
        drawn = density(waiting, runs, scene.report.now, min(COLUMNS, width - TITLE - 24))
        lines += [_titled("", part) for part in drawn]
    return lines


def _queue_ink(scene: LockScene) -> Ink:
    return "standby" if scene.lineup.lock.kind == "election" else "waits"


def _drains(scene: LockScene) -> Line:
    """Say whether the queue can ever get shorter."""
    if scene.rings:
        dead = scene.rings[0].deadlock
        ink = ink_of_deadlock(dead)
        return line((f"stuck: deadlock {called(dead)}", ink))
    orphan = next((one for one in scene.findings if one.rule == "B1"), None)
    if orphan is not None:
        return line(("drains: never ", "warning"), ("(B1: a node without an owner)", "warning"))
    rate = scene.view.history.releases_per_s
    return line((f"{rate:.1f} released a second", "dim")) if rate else ()
