"""Older moments as packed facts, from which their reports are rebuilt on demand.

The reports of one busy minute take as much memory as the packed facts of an hour. A step contains
the changes of one second; a block is a minute of steps, packed together. Some blocks begin with a
full state. A report is rebuilt from the last state that precedes it and the steps since then.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, dropwhile, groupby, islice
from typing import Final, NamedTuple

import msgspec

from zktop.model.examiner import Examiner
from zktop.model.facts import Cost, Millis, Session
from zktop.model.history.events import Event
from zktop.model.locks.folder import NO_MEMORIES, FolderMemories
from zktop.model.locks.open_folder import unseen_memory
from zktop.model.report import LockRecord, Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.world import World, facts_between, facts_of
from zktop.ui.interfaces import Frame
from zktop.ui.past.packed_facts import (
    Piece,
    events_in,
    facts_in,
    packed,
    packed_together,
    pieces,
    unpacked,
)

STEP_MS: Final[Millis] = 1_000
BLOCK_STEPS: Final = 60
STATE_SHARE: Final = 4  # a new state is packed after this many times the bytes of the last one
FOLLOWED_STEPS: Final = 30  # steps examined before the wanted one, so that recent holds are exact
STEP_BYTES: Final = 500  # for the objects around the packed bytes
CHILD_BYTES: Final = 250  # what is remembered of a lock, for each child of its folder


class StoredFrame(NamedTuple):
    """A frame that is not packed."""

    frame: Frame
    has_change: bool  # an event, an alarm, or another access to a lock
    alarms: tuple[str, ...]  # ids of deadlocks and critical findings that began
    weight_bytes: int

    @property
    def at(self) -> Millis:
        return self.frame.at

    @property
    def second(self) -> int:
        """Frames of one second are packed together."""
        return self.frame.at // STEP_MS


class PackedStep(NamedTuple):
    """A moment. Its facts are the changes since the previous step."""

    number: int
    at: Millis
    has_change: bool
    alarms: tuple[str, ...]
    ours: Collection[Session]
    cost: Cost | None
    memories: FolderMemories | None  # what was known before it but is in no facts; None: not kept


class Block(msgspec.Struct, frozen=True, eq=False):
    """Consecutive steps."""

    number: int  # the number of its first step, even before that is added
    steps: tuple[PackedStep, ...]
    state: bytes | None  # the packed facts before it; None: use the state of an earlier block
    packed: tuple[bytes, ...] = ()  # the facts and events of each step, or at last of all together
    starts_over: bool = False  # earlier facts do not apply, as they are newer or precede a gap
    gap_at: Millis = 0  # that of the world in its state
    memory_bytes: int = 0  # the size of the memories of its steps, roughly

    @property
    def weight_bytes(self) -> int:
        sizes = sum(map(len, (self.state or b"", *self.packed)))
        return sizes + STEP_BYTES * len(self.steps) + self.memory_bytes

    def world(self) -> World:
        """Return the world before its first step. The block must have a state."""
        world = World(gap_at=self.gap_at)
        for piece in unpacked(self.state) if self.state else ():
            world = world.after(*facts_in(piece, world))
        return world


@lru_cache(maxsize=2)  # the events of one moment are drawn many times a second
def _pieces_by_step(block: Block) -> list[list[Piece]]:
    """Return the pieces of each step of a block."""
    by_step: list[list[Piece]] = [[]]
    for piece in chain.from_iterable(map(unpacked, block.packed)):
        by_step[-1].append(piece)
        if piece.is_last:
            by_step.append([])
    return by_step[:-1]


class Packer:
    """Packs frames. Not thread-safe."""

    def __init__(self) -> None:
        self._world = World()
        self._state_bytes = self._bytes_since = 0  # in the newest state, and since then
        self._open = Block(0, (), None)
        self._parts: PersistentMap[Text, LockRecord] = PersistentMap()
        self._memories = self._kept = NO_MEMORIES  # now, and in the last step that keeps them

    def packed(self, frames: Iterable[StoredFrame]) -> list[Block]:
        """Add the frames since the last call. Return the new blocks, the open one last.

        Each second becomes one step, with the state of its last frame.
        """
        closed: list[Block] = []
        for _, frames_of_second in groupby(frames, key=lambda frame: frame.second):
            step = list(frames_of_second)
            world, before = step[-1].frame.report.world, self._world
            starts_over = world.zxid < before.zxid or world.gap_at != before.gap_at
            if self._open.steps and (starts_over or len(self._open.steps) >= BLOCK_STEPS):
                closed.append(_closed(self._open))
                number = self._open.number + len(self._open.steps)
                self._open = Block(number, (), None, starts_over=starts_over)
            is_empty = not self._open.steps
            if is_empty and (starts_over or not self._state_bytes):
                self._begin_with(world)  # no earlier facts lead to it
            elif is_empty and self._bytes_since >= STATE_SHARE * self._state_bytes:
                self._begin_with(before)  # too many facts since the last state
            self._add(step)
        return [*closed, self._open]

    def _begin_with(self, world: World) -> None:
        """Begin the open block with a full state."""
        state = packed(pieces(facts_of(world)))
        self._open = msgspec.structs.replace(self._open, state=state, gap_at=world.gap_at)
        self._world, self._state_bytes, self._bytes_since = world, len(state), 0

    def _add(self, frames: Sequence[StoredFrame]) -> None:
        """Add a step made of the frames of one second."""
        report, before = frames[-1].frame.report, self._world
        self._world = report.world
        alarms = tuple(name for stored in frames for name in stored.alarms)
        has_change = any(stored.has_change for stored in frames)
        number = self._open.number + len(self._open.steps)
        keeps_memories = len(self._open.steps) % FOLLOWED_STEPS == 0
        memories, memory_bytes = self._keep_memories() if keeps_memories else (None, 0)
        step = PackedStep(
            number, report.now, has_change, alarms, report.ours, report.cost, memories
        )
        self._remember(report)
        events = [event for stored in frames for event in stored.frame.events]
        content = packed(pieces(facts_between(before, report.world), events, before))
        self._bytes_since += len(content)
        self._open = msgspec.structs.replace(
            self._open,
            steps=(*self._open.steps, step),
            packed=(*self._open.packed, content),
            memory_bytes=self._open.memory_bytes + memory_bytes,
        )

    def _keep_memories(self) -> tuple[FolderMemories, int]:
        """Return the memories for a step, and the bytes of those that no earlier step has."""
        kept_before, self._kept = self._kept, self._memories
        new = (
            memory for path, memory in self._kept.items() if kept_before.get(path) is not memory
        )
        return self._kept, CHILD_BYTES * sum(len(memory.names) for memory in new)

    def _remember(self, report: Report) -> None:
        """Keep what is known about changed locks but is not in the facts, if there is anything."""
        changed, self._parts = report.records.changed_since(self._parts), report.records
        records = ((path, report.records.get(path)) for path in changed)
        new = {path: record and unseen_memory(record.lock) for path, record in records}
        if any(new.values()) or new.keys() & self._memories.keys():
            merged = {**self._memories, **new}
            self._memories = {path: memory for path, memory in merged.items() if memory}


def _closed(block: Block) -> Block:
    return msgspec.structs.replace(block, packed=(packed_together(block.packed),))


class UnpackedReport(NamedTuple):
    """A rebuilt report, and the previous one."""

    frame: Frame
    before: Frame | None
    begin: Millis  # when it begins to be shown
    until: Millis | None  # when the next one begins; None: the next one is not packed

    def shows(self, moment: Millis) -> bool:
        return self.begin <= moment and (self.until is None or moment < self.until)


class _Follower:
    """Examines one step after another, and keeps the last two reports."""

    def __init__(self, first: int, settings: Settings, memories: FolderMemories) -> None:
        """Prepare to follow the steps, starting with this number."""
        self.next = first
        self.world: World | None = None  # after the last step
        self.before: Frame | None = None
        self.frame: Frame | None = None
        self._examiner = Examiner(settings, memories)

    def is_near(self, number: int, first: int) -> bool:
        """True if a step is only a few steps ahead; `first` is the oldest one in the archive."""
        return first <= self.next and 0 <= number + 1 - self.next <= FOLLOWED_STEPS

    def look(self, step: PackedStep, world: World, *, thorough: bool = True) -> Report:
        report = self._examiner.look(
            world, step.at, thorough=thorough, ours=step.ours, cost=step.cost
        )
        self.next, self.world = self.next + 1, world
        self.before, self.frame = self.frame, Frame(report)
        return report


class Archive:
    """The blocks of one run, oldest first."""

    def __init__(self, limit_bytes: int) -> None:
        """Keep at most this many packed bytes."""
        self._limit_bytes = limit_bytes
        self._blocks: tuple[Block, ...] = ()
        self._follower: _Follower | None = None  # positioned after the last requested report

    @property
    def begin(self) -> Millis | None:
        """The moment of the oldest step."""
        return self._blocks[0].steps[0].at if self._blocks else None

    @property
    def weight_bytes(self) -> int:
        return sum(block.weight_bytes for block in self._blocks)

    def add(self, new: Sequence[Block]) -> None:
        """Add blocks, the first of which replaces the open one. Drop the oldest if it is full."""
        blocks = [block for block in self._blocks if block.number < new[0].number] + [*new]
        weight = sum(block.weight_bytes for block in blocks)
        while weight > self._limit_bytes:
            later = (at for at in range(1, len(blocks)) if blocks[at].state is not None)
            first = next(later, None)
            if first is None:
                break  # no later block has a state to rebuild reports from
            weight -= sum(block.weight_bytes for block in blocks[:first])
            blocks = blocks[first:]
        self._blocks = tuple(blocks)

    # Looking back

    def after(self, moment: Millis) -> Iterator[PackedStep]:
        """Return the steps after a moment, oldest first."""
        steps = _steps(self._blocks)
        return islice(steps, _index_at(steps, moment) + 1, None)

    def before(self, moment: Millis) -> Iterator[PackedStep]:
        """Return the steps before a moment, newest first."""
        steps = _steps(self._blocks)
        return reversed(steps[: _index_at(steps, moment - 1) + 1])

    def events_until(self, moment: Millis) -> Iterator[Event]:
        """Yield the events up to a moment, newest first."""
        for block in reversed(self._blocks):
            if block.steps and block.steps[0].at <= moment + STEP_MS:
                for pieces_of_step in reversed(_pieces_by_step(block)):
                    newest_first = reversed(events_in(pieces_of_step[-1]))
                    yield from dropwhile(lambda event: event.at > moment, newest_first)

    def worlds(self, begin: Millis, end: Millis) -> Iterator[tuple[World, Millis]]:
        """Yield the worlds of a span of time, starting with the one shown at its beginning."""
        blocks = self._blocks
        steps = _steps(blocks)
        first = steps[max(0, _index_at(steps, begin))]
        for step, world in _followed(blocks, first.number):
            if step.at > end:
                return
            yield world, step.at

    # Rebuilding reports

    def unpacked(self, moment: Millis, settings: Settings) -> UnpackedReport:
        """Rebuild the report of a moment. Not thread-safe.

        With 2,000 busy locks, the next step takes some 20 ms, any other more than a second.
        """
        blocks = self._blocks
        steps = _steps(blocks)
        index = max(0, _index_at(steps, moment))
        number = steps[index].number
        follower, self._follower = self._follower, None
        if follower is None or not follower.is_near(number, blocks[0].number):
            follower = _follower_before(number, blocks, settings)
        if follower.next <= number:
            for step, world in _followed(blocks, follower.next, follower.world):
                follower.look(step, world, thorough=number - step.number <= 1)
                if step.number == number:
                    break
        self._follower = follower
        assert follower.frame is not None  # noqa: S101  it has looked
        begin = steps[index].at if index else 0
        until = steps[index + 1].at if index + 1 < len(steps) else None
        return UnpackedReport(follower.frame, follower.before, begin, until)

    def reports(self, begin: Millis, end: Millis, settings: Settings) -> Iterator[Report]:
        """Rebuild all reports of a span of time, starting with the one shown at its beginning."""
        blocks = self._blocks
        steps = _steps(blocks)
        first = steps[max(0, _index_at(steps, begin))]
        follower = _follower_before(first.number, blocks, settings)
        for step, world in _followed(blocks, follower.next):
            if step.at > end and step.number > first.number:
                return
            report = follower.look(step, world)
            if step.number >= first.number:
                yield report


def _steps(blocks: Iterable[Block]) -> list[PackedStep]:
    return [step for block in blocks for step in block.steps]


def _index_at(steps: Sequence[PackedStep], moment: Millis) -> int:
    """Return the index of the newest step not after this moment; -1 if all are later."""
    return bisect_right(steps, moment, key=lambda step: step.at) - 1


def _follower_before(number: int, blocks: Sequence[Block], settings: Settings) -> _Follower:
    first = max(blocks[0].number, number - FOLLOWED_STEPS)
    earlier = (step for step in reversed(_steps(blocks)) if step.number <= first)
    # The first step of each block has memories.
    step = next(step for step in earlier if step.memories is not None)
    return _Follower(step.number, settings, step.memories or NO_MEMORIES)


def _followed(
    blocks: Sequence[Block], first: int, known: World | None = None
) -> Iterator[tuple[PackedStep, World]]:
    """Yield the steps from `first` on, each with its world. `known` is the world before them."""
    start = max(index for index, block in enumerate(blocks) if block.number <= first)
    world, applied_from = known, first
    if world is None:
        start = max(index for index in range(start + 1) if blocks[index].state is not None)
        applied_from = blocks[start].number
    for block in blocks[start:]:
        if world is None or (block.starts_over and block.number >= applied_from):
            world = block.world()
        for step, its_pieces in zip(block.steps, _pieces_by_step(block), strict=True):
            if step.number >= applied_from:
                for piece in its_pieces:
                    world = world.after(*facts_in(piece, world))
            if step.number >= first:
                yield step, world
