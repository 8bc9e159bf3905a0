"""Describes a lock-order inversion: a sentence, and the steps that lead to a deadlock."""

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from zktop.model.format import fold_path
from zktop.model.layouts.layout import LockMode, lock_in_mode
from zktop.model.waits.confidence import Evidence
from zktop.model.waits.lock_order import (
    Cycle,
    LockOrderGraph,
    NestedLock,
    OrderActor,
    OrderSample,
    is_soft,
)
from zktop.model.waits.wait_queue import lock_path

SESSION_DIGITS: Final = 4


class StoryLine(Struct, frozen=True, gc=False):
    """One line of the story, in the column of one actor."""

    column: int
    verb: Literal["got", "asks"]
    lock: str
    node: str
    mode: LockMode


class Inversion(Struct, frozen=True, gc=False):
    """A potential deadlock.

    `missed_by_ms` says how close it came: 0 if all had their locks at once, None if unknown.
    """

    id: str
    rule: Literal["D9", "D10"]
    confidence: Literal["C1", "C2"]
    actors: tuple[str, ...]
    seen: tuple[int, ...]
    last_ms: tuple[int | None, ...]
    turns: tuple[StoryLine, ...]
    missed_by_ms: int | None
    majority: str
    odd_one_out: tuple[str, ...]
    sentence: str
    evidence: tuple[Evidence, ...]
    deadlocked_at: int | None = None  # when it last happened, in milliseconds

    @property
    def closeness(self) -> tuple[bool, int, str]:
        """The sort key: the closest call first, unknown ones last."""
        return self.missed_by_ms is None, self.missed_by_ms or 0, self.id

    def with_closest_call(self, before: "Inversion | None") -> "Inversion":
        """Keep the closest call so far: only the latest runs of the actors are known here."""
        calls = (self.missed_by_ms, before.missed_by_ms if before else None)
        known = [call for call in calls if call is not None]
        return replace(self, missed_by_ms=min(known, default=None))


def inversions(known: LockOrderGraph) -> list[Inversion]:
    """All potential deadlocks; how close they came follows from the latest runs."""
    return [_inversion(name, cycle, known) for name, cycle in known.cycles.items()]


def _inversion(name: str, cycle: Cycle, known: LockOrderGraph) -> Inversion:
    rule: Literal["D9", "D10"] = "D10" if name.startswith("D10") else "D9"
    soft = is_soft(cycle)
    names = _display_names(cycle)
    doubtful = [
        owner for owner, sample in zip(names, cycle, strict=True) if sample.asker.is_concurrent
    ]
    majority, odd = _majority(cycle, names, known)
    return Inversion(
        id=name,
        rule=rule,
        confidence="C1" if soft or doubtful else "C2",
        actors=names,
        seen=tuple(sample.count for sample in cycle),
        last_ms=tuple(sample.asked_ms for sample in cycle),
        turns=_turns(cycle),
        missed_by_ms=missed_by(cycle),
        majority=majority,
        odd_one_out=odd,
        sentence=_sentence(cycle, names, soft=soft),
        evidence=_clues(doubtful, soft=soft),
    )


def _turns(cycle: Cycle) -> tuple[StoryLine, ...]:
    """Return the turns: each actor gets a lock, then each asks for the lock of the next one."""
    got = [_turn(column, "got", sample.held) for column, sample in enumerate(cycle)]
    asks = [_turn(column, "asks", sample.wanted) for column, sample in enumerate(cycle)]
    return (*got, *asks)


def _turn(column: int, verb: Literal["got", "asks"], place: NestedLock) -> StoryLine:
    return StoryLine(column, verb, lock_path(place.lock), place.node, place.mode)


def missed_by(cycle: Cycle) -> int | None:
    """Return the time between the first window's end and the last one's start; None if unknown.

    It is 0 if all windows overlap. The window of an actor lasts from its request for the second
    lock until it releases either lock.
    """
    starts = [sample.asked_ms for sample in cycle if sample.asked_ms is not None]
    if len(starts) < len(cycle):
        return None
    last = starts.index(max(starts))
    ends = [sample.ended_ms for number, sample in enumerate(cycle) if number != last]
    known = [end for end in ends if end is not None]
    return max(0, max(starts) - min(known)) if known and len(known) == len(ends) else None


def _majority(
    cycle: Cycle, names: tuple[str, ...], known: LockOrderGraph
) -> tuple[str, tuple[str, ...]]:
    """The usual order of two locks, and the owners that take them the other way."""
    if len(cycle) != 2 or cycle[0].held.vertex == cycle[0].wanted.vertex:  # noqa: PLR2004 - a pair
        return "", ()
    pair = [known.edge(sample.held.vertex, sample.wanted.vertex) for sample in cycle]
    usual, rare = sorted((edge for edge in pair if edge), key=lambda edge: -edge.count)
    if usual.count == rare.count:
        return "", ()
    total = usual.count + rare.count
    locks = {sample.held.vertex: fold_path(lock_path(sample.held.lock)) for sample in cycle}
    order = f"{locks[usual.held]} before {locks[usual.wanted]}"
    shown = {
        sample.asker.owner: name
        for sample, name in zip(cycle, names, strict=True)
        if sample.held.vertex == rare.held
    }
    odd = tuple(sorted(shown.get(owner, owner) for owner in rare.by_owner))
    return f"{order} ({usual.count} of {total} times)", odd


def _display_names(cycle: Cycle) -> tuple[str, ...]:
    """The owners of the actors. Duplicates get the last digits of their sessions."""
    askers = [sample.asker for sample in cycle]
    identities: dict[str, set[str]] = {}
    for asker in askers:
        identities.setdefault(asker.owner, set()).add(asker.identity)
    return tuple(
        asker.owner
        if len(identities[asker.owner]) == 1
        else f"{asker.owner} {_distinct_end(asker, identities)}"
        for asker in askers
    )


def _distinct_end(asker: OrderActor, identities: dict[str, set[str]]) -> str:
    others = identities[asker.owner]
    ends = {identity[-SESSION_DIGITS:] for identity in others}
    return f"…{asker.identity[-SESSION_DIGITS:]}" if len(ends) == len(others) else asker.identity


def _sentence(cycle: Cycle, names: tuple[str, ...], *, soft: bool) -> str:
    parts = [_habit(sample, owner) for sample, owner in zip(cycle, names, strict=True)]
    needs = ", with a writer queued in between" if soft else ""
    return f"Potential deadlock: {'; '.join(parts)}; if these overlap{needs}, none can continue."


def _habit(sample: OrderSample, owner: str) -> str:
    wanted, held = sample.wanted, sample.held
    return (
        f"{owner} asked for {lock_in_mode(wanted.mode, lock_path(wanted.lock))} "
        f"while holding {lock_in_mode(held.mode, lock_path(held.lock))}"
    )


def _clues(doubtful: list[str], *, soft: bool) -> tuple[Evidence, ...]:
    clues = [Evidence(supports=True, text="different clients, no common gate lock")]
    clues += [
        Evidence(supports=False, text=f"{owner} is more than one thread") for owner in doubtful
    ]
    if soft:
        clues.append(Evidence(supports=None, text="needs a writer at the wrong moment"))
    return tuple(clues)
