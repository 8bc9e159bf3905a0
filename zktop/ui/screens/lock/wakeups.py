"""Who wakes whom: what happens when one of these nodes is deleted.

What servers say is watched comes first. Where they cannot say it, what each library should watch
is drawn instead, and called so.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from zktop.model.facts import Session
from zktop.model.format import count
from zktop.model.locks.lock import Member, Target
from zktop.model.locks.watch_check import absolute
from zktop.ui.screens.common.format import with_spaces
from zktop.ui.screens.lock.cells import brief
from zktop.ui.screens.lock.view import LockScene, ranged
from zktop.ui.styled_text import Ink, Line, line

SMALL: Final = 400  # places; of more than that only some are asked for
FIRST: Final = 6
SHOWN: Final = 8
HERD: Final = 5


class Wake(NamedTuple):
    """A node at a position, and who is told when it vanishes."""

    place: int
    waiters: tuple[int, ...]  # positions
    others: tuple[Session, ...] = ()  # who watches without a place here
    number: int = 0


def wake_map(scene: LockScene, chosen: int | None) -> list[Line]:
    """Draw it."""
    if scene.lineup.lock.kind == "single":
        return _single(scene)
    if not scene.lineup.members:
        return []
    sees = scene.report.sight.sees.watches
    if sees == "none":
        found, source = list(_expected(scene)), "expected: no watch table could be read"
    else:
        found = list(_seen(scene, chosen))
        source = (
            "deleting ... wakes" if sees == "all" else "deleting ... wakes; some tables missing"
        )
    ink: Ink = "unknown" if sees == "none" else "dim"
    lines = [line(("WAKE MAP  ", "title"), (source, ink))]
    lines += [_line(scene, wake) for wake in found[:SHOWN]]
    unlisted = [] if sees == "none" else _unlisted(scene)
    lines += unlisted
    if not found and not unlisted:
        lines.append(line(("  nobody watches a node of this lock", "dim")))
    if len(found) > SHOWN:
        lines.append(line((f"  … {len(found) - SHOWN} more", "dim")))
    left_out = _left_out(scene, is_seen=sees != "none")
    return [*lines, *([line((f"  {left_out}", "dim"))] if left_out else []), *_sleepers(scene)]


def _left_out(scene: LockScene, *, is_seen: bool) -> str:
    """Say of a long queue which of its places were looked at; nothing where all were."""
    lineup = scene.lineup
    waiting = len(lineup.members) - lineup.holding
    if is_seen and len(lineup.members) > SMALL:
        return f"asked for the first {FIRST} and the chosen one alone"
    if not is_seen and waiting > SMALL:
        return f"worked out for the first {SMALL} of {with_spaces(waiting)} who wait"
    return ""


def _single(scene: LockScene) -> list[Line]:
    """Say how many wake when the only node goes: all of them, and one can win."""
    number = len(scene.lineup.crowd)
    if not number:
        return []
    told = line("  the lock ← ", (count(number, "session"), "strong"))
    herd = f"  HERD of {with_spaces(number)}: one can win" if number >= HERD else "  one can win"
    drawn = line((herd, "warning" if number >= HERD else "dim"))
    return [line(("WAKE MAP  ", "title"), ("deleting ... wakes", "dim")), (*told, *drawn)]


def _line(scene: LockScene, wake: Wake) -> Line:
    number = wake.number or len(wake.waiters)
    who = ranged(wake.waiters) or (many(number, "session") if number else "")
    others = " ".join(map(brief, wake.others[:2]))
    more = f" +{len(wake.others) - 2}" if len(wake.others) > 2 else ""  # noqa: PLR2004  two fit
    told = line((f"  {wake.place:>3}", "strong"), " ← ", who)
    if wake.others:
        told += line((f" {others}{more} (no place here)", "dim"))
    return (*told, *_meaning(scene, wake, number))


def many(number: int, noun: str) -> str:
    """Put a large number before its noun.

    >>> many(1, "session"), many(12000, "session")
    ('1 session', '12 000 sessions')
    """
    return f"{with_spaces(number)} {noun}{'' if number == 1 else 's'}"


def _meaning(scene: LockScene, wake: Wake, number: int) -> Line:
    """Say whether so many may rightly wake at once."""
    if number < HERD:
        return ()
    members = scene.lineup.members
    readers = all(members[at].mode == "read" for at in wake.waiters) and bool(wake.waiters)
    if readers:
        return line((f"  {number} readers share one target: normal", "dim"))
    return line((f"  HERD of {with_spaces(number)}: one can go on", "warning"))


def _seen(scene: LockScene, chosen: int | None) -> Iterator[Wake]:
    """Give what the watch tables show."""
    members, lookout = scene.lineup.members, scene.view.lookout
    if len(members) > SMALL:
        wanted = {*range(FIRST), *([] if chosen is None else [chosen])}
        for place in sorted(wanted):
            if place < len(members) and (watching := lookout.watchers(members[place])):
                yield Wake(place, (), number=len(watching))
        return
    position = scene.lineup.position
    edges: dict[int, set[int]] = {}
    for watcher, watched in lookout.edges():
        if watched.node in position and watcher.node in position:
            edges.setdefault(position[watched.node], set()).add(position[watcher.node])
    for place, member in enumerate(members):
        waiters, others = edges.get(place, set()), lookout.bystanders(member)
        if waiters or others:
            yield Wake(place, tuple(sorted(waiters)), tuple(sorted(others)))


def _unlisted(scene: LockScene) -> list[Line]:
    """Name the waiters that may watch the children: no table lists such a watch."""
    lineup, lookout = scene.lineup, scene.view.lookout
    if len(lineup.members) > SMALL:
        return []
    waiting = enumerate(lineup.members[lineup.holding :], start=lineup.holding)
    judged = ((place, lookout.of(member)) for place, member in waiting)
    places = [place for place, one in judged if one.verdict == "invisible" and one.expected]
    if not places:
        return []
    told = "  may be watching the children; no server lists those"
    return [line(("  children", "strong"), " ← ", ranged(places), (told, "unknown"))]


def _expected(scene: LockScene) -> Iterator[Wake]:
    """Give what each recipe should watch."""
    lineup, lock = scene.lineup, scene.lineup.lock
    waiting = lineup.members[lineup.holding :][:SMALL]
    targets: dict[int, list[int]] = {}
    for place, member in enumerate(waiting, start=lineup.holding):
        for watched in _watched(scene, lock.expected(member)):
            targets.setdefault(watched, []).append(place)
    for watched in sorted(targets):
        yield Wake(watched, tuple(targets[watched]))


def _watched(scene: LockScene, expected: Iterable[Target]) -> Iterator[int]:
    for target in expected:
        path = absolute(scene.path, target.path)
        member: Member | None = scene.view.lookout.member_at(path)
        if member is not None and member.node in scene.lineup.position:
            yield scene.lineup.position[member.node]


def _sleepers(scene: LockScene) -> list[Line]:
    """Name those whom nothing will wake."""
    nodes = [node for node, finding in scene.marks.items() if finding.rule in ("L1", "L3", "L5")]
    places = scene.lineup.places_of(nodes)
    if not places:
        return []
    told = f"  nothing will wake {count(len(places), 'waiter')}: {ranged(places[:20])}"
    return [line((told, "critical"))]
