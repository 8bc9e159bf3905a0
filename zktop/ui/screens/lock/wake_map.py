"""Wake map: which waiters a deleted node wakes.

It is drawn from the servers' watch tables. Without any, it shows the watches that each library is
expected to set, and says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from zktop.model.facts import Session
from zktop.model.findings.finding import ASLEEP
from zktop.model.format import count
from zktop.model.locks.lock import Member, Target, absolute_path
from zktop.model.world.tables_of_all_servers import Extent
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import large_count, with_spaces
from zktop.ui.screens.common.short_ids import ShortIds
from zktop.ui.screens.lock.if_it_releases import release_sentence
from zktop.ui.screens.lock.lock_detail import MAX_MAPPED_MEMBERS, LockDetail
from zktop.ui.styled_text import Line, line

FIRST_NODES: Final = 6
MAX_SHOWN_LINES: Final = 8
MIN_HERD: Final = 5
SENTENCE_CELLS: Final = 60
SOURCES: Final[dict[Extent, tuple[str, Ink]]] = {  # keys: which watch tables zktop sees
    "all": ("deleting ... wakes", "dim"),
    "some": ("deleting ... wakes; some tables missing", "dim"),
    "none": ("expected: no watch table could be read", "unknown"),
}


class WakeUp(NamedTuple):
    """A node at a position, and the sessions that its deletion wakes."""

    place: int
    waiters: tuple[int, ...]  # positions
    others: tuple[Session, ...] = ()  # watchers that are not in this queue
    number: int = 0  # of all watchers in a long queue, where they are only counted


def wake_map(detail: LockDetail, chosen: int | None) -> list[Line]:
    """Draw the map. For a long queue, draw only the first nodes and the selected one."""
    if detail.queue.lock.is_only_watched:
        return _single(detail)
    if not detail.queue.members:
        return []
    sees = detail.report.ensemble.visibility.watches
    if sees == "none":
        wake_ups, unlisted = list(_expected(detail)), list[Line]()
    else:
        wake_ups, unlisted = list(_seen(detail, chosen)), _unlisted(detail)
    lines = [line(("WAKE MAP  ", "title"), SOURCES[sees])]
    lines += release_sentence(detail, chosen, SENTENCE_CELLS)
    lines += [_line(detail, wake) for wake in wake_ups[:MAX_SHOWN_LINES]]
    lines += unlisted
    if not wake_ups and not unlisted:
        lines.append(line(("  no node of this lock is watched", "dim")))
    if len(wake_ups) > MAX_SHOWN_LINES:
        lines.append(line((f"  … {len(wake_ups) - MAX_SHOWN_LINES} more", "dim")))
    if left_out := _left_out(detail, is_seen=sees != "none"):
        lines.append(line((f"  {left_out}", "dim")))
    return [*lines, *_sleepers(detail)]


def _left_out(detail: LockDetail, *, is_seen: bool) -> str:
    """Return which part of a long queue the map covers; empty if it covers all."""
    queue = detail.queue
    waiting = len(queue.members) - queue.holder_count
    if is_seen and len(queue.members) > MAX_MAPPED_MEMBERS:
        return f"shows the first {FIRST_NODES} and the selected one only"
    if not is_seen and waiting > MAX_MAPPED_MEMBERS:
        return f"computed for the first {MAX_MAPPED_MEMBERS} of {with_spaces(waiting)} waiters"
    return ""


def _single(detail: LockDetail) -> list[Line]:
    """Draw the map of a single-node lock: deletion wakes all watchers, and one of them can win."""
    number = len(detail.queue.watchers)
    if not number:
        return []
    drawn_lock = line("  the lock", (" → ", "key"), (count(number, "session"), "strong"))
    is_herd = number >= MIN_HERD
    herd = f"HERD of {with_spaces(number)}: " if is_herd else ""
    drawn = line((f"  {herd}one can win", "warning" if is_herd else "dim"))
    return [line(("WAKE MAP  ", "title"), SOURCES["all"]), (*drawn_lock, *drawn)]


def _line(detail: LockDetail, wake: WakeUp) -> Line:
    """Return the owner of a node, and the clients that its deletion wakes."""
    number = wake.number or len(wake.waiters)
    members = detail.queue.members
    woken = detail.names_of(members[at] for at in wake.waiters)
    clients = woken or (large_count(number, "session") if number else "")
    others = " ".join(map(ShortIds(wake.others).of, wake.others[:2]))
    more = f" +{len(wake.others) - 2}" if len(wake.others) > 2 else ""  # noqa: PLR2004  two fit
    drawn = line(
        (f"  {wake.place:>3} ", "dim"),
        (detail.names_of([members[wake.place]]), "strong"),
        (" → ", "key"),
        clients,
    )
    if wake.others:
        drawn += line((f" {others}{more} (not in this queue)", "dim"))
    return (*drawn, *_meaning(detail, wake, number))


def _meaning(detail: LockDetail, wake: WakeUp, number: int) -> Line:
    """Return words on whether waking so many is normal; none if they may all be readers."""
    if number < MIN_HERD:
        return ()
    queue = detail.queue
    if not wake.waiters:  # a long queue: they are only counted
        if any(run.mode == "read" for run in queue.waiting_runs):
            return ()
    elif all(queue.members[at].mode == "read" for at in wake.waiters):
        return line((f"  {number} readers share one target: normal", "dim"))
    return line((f"  HERD of {with_spaces(number)}: only one can proceed", "warning"))


def _seen(detail: LockDetail, chosen: int | None) -> Iterator[WakeUp]:
    """Yield the wake-ups in the watch tables."""
    members, watch_check = detail.queue.members, detail.view.watch_check
    if len(members) > MAX_MAPPED_MEMBERS:
        for place in sorted({*range(FIRST_NODES), chosen or 0}):
            if place < len(members) and (watching := watch_check.watchers(members[place])):
                yield WakeUp(place, (), number=len(watching))
        return
    position = detail.queue.position
    edges: dict[int, set[int]] = {}
    for watcher, watched in watch_check.edges():
        if watched.node in position and watcher.node in position:
            edges.setdefault(position[watched.node], set()).add(position[watcher.node])
    for place, member in enumerate(members):
        waiters, others = edges.get(place, set()), watch_check.bystanders(member)
        if waiters or others:
            yield WakeUp(place, tuple(sorted(waiters)), tuple(sorted(others)))


def _unlisted(detail: LockDetail) -> list[Line]:
    """Draw the waiters that may watch the children. No table lists such watches."""
    queue, watch_check = detail.queue, detail.view.watch_check
    if len(queue.members) > MAX_MAPPED_MEMBERS:
        return []
    waiting = list(enumerate(queue.waiters, start=queue.holder_count))
    reported = [place for place, member in waiting if member.owner in detail.child_watchers]
    possible = [
        place
        for place, member in waiting
        if watch_check.may_watch_children(member) and place not in reported
    ]
    every = "every change wakes " + ("all of them" if len(reported) > 1 else "it")
    return [
        *_children(detail, reported, f"{every}, as the demo clients report"),
        *_children(detail, possible, "perhaps: no server lists watches on children"),
    ]


def _children(detail: LockDetail, places: Sequence[int], says: str) -> list[Line]:
    if not places:
        return []
    named = detail.names_of(detail.queue.members[place] for place in places)
    return [
        line(("  children", "strong"), (" → ", "key"), named),
        line((f"    {says}", "unknown")),
    ]


def _expected(detail: LockDetail) -> Iterator[WakeUp]:
    """Yield the wake-ups expected from what each library watches."""
    queue, lock = detail.queue, detail.queue.lock
    waiting = queue.waiters[:MAX_MAPPED_MEMBERS]
    targets: dict[int, list[int]] = {}
    for place, member in enumerate(waiting, start=queue.holder_count):
        for watched in _watched(detail, lock.expected(member)):
            targets.setdefault(watched, []).append(place)
    for watched in sorted(targets):
        yield WakeUp(watched, tuple(targets[watched]))


def _watched(detail: LockDetail, expected: Iterable[Target]) -> Iterator[int]:
    for target in expected:
        path = absolute_path(detail.path, target.path)
        member: Member | None = detail.view.watch_check.member_at(path)
        if member is not None and member.node in detail.queue.position:
            yield detail.queue.position[member.node]


def _sleepers(detail: LockDetail) -> list[Line]:
    """Draw the waiters that nothing will wake."""
    places = detail.queue.places_of(detail.report.nodes_in(detail.path, ASLEEP))
    if not places:
        return []
    named = detail.names_of(detail.queue.members[place] for place in places)
    text = f"  nothing will wake {count(len(places), 'waiter')}: {named}"
    return [line((text, "critical"))]
