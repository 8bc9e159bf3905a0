"""Closing a cycle of lock orders, by the four tests that tell a danger from a harmless habit.

The edges must chain; the actors must differ and be able to live at one time; no lock owned
meanwhile may keep two of them apart (a gate); and at every lock of the cycle the modes conflict.
"""

from collections.abc import Iterator, Mapping

from zktop.model.waits.order_samples import OrderEdge, Sample

_LENGTH_AT_MOST = 4
_STEPS_AT_MOST = 2_000

Cycle = tuple[Sample, ...]
Out = Mapping[str, Mapping[str, OrderEdge]]


def closed_by(first: Sample, out: Out) -> Cycle:
    """Find the shortest cycle that this sample closes, if any."""
    if first.is_try:
        return ()
    if first.held.vertex == first.wanted.vertex:
        return _against(first, out)
    steps = iter(range(_STEPS_AT_MOST))
    for length in range(2, _LENGTH_AT_MOST + 1):
        for found in _extend((first,), length, out, steps):
            return found
    return ()


def _against(first: Sample, out: Out) -> Cycle:
    """Within one class: somebody else takes its members in the other direction."""
    for other in _samples(first.wanted.vertex, out):
        is_same_class = other.wanted.vertex == first.held.vertex
        if is_same_class and other.direction != first.direction and _fits((first,), other):
            return (first, other)
    return ()


def _extend(path: Cycle, length: int, out: Out, steps: Iterator[int]) -> Iterator[Cycle]:
    for sample in _samples(path[-1].wanted.vertex, out):
        if next(steps, None) is None:
            return
        if not _fits(path, sample):
            continue
        closes = sample.wanted.vertex == path[0].held.vertex
        if closes and len(path) + 1 == length:
            yield (*path, sample)
        elif not closes and len(path) + 1 < length:
            yield from _extend((*path, sample), length, out, steps)


def _samples(vertex: str, out: Out) -> Iterator[Sample]:
    return (
        s for edge in out.get(vertex, {}).values() for s in edge.samples.values() if not s.is_try
    )


def _fits(path: Cycle, sample: Sample) -> bool:
    return all(_are_apart(other, sample) and not _is_gated(other, sample) for other in path)


def _are_apart(one: Sample, other: Sample) -> bool:
    """Two actors that can be alive at the same time."""
    if one.asker.identity == other.asker.identity:
        return False
    first, second = one.asker.alive_ms, other.asker.alive_ms
    if first is None or second is None:
        return True
    return first[0] <= second[1] and second[0] <= first[1]


def _is_gated(one: Sample, other: Sample) -> bool:
    """Whether a lock that both own, not both only reading, keeps them apart."""
    return any(
        lock == same and not (reads and also_reads)
        for lock, reads in one.gates
        for same, also_reads in other.gates
    )


def is_soft(cycle: Cycle) -> bool:
    """Whether at some lock both only read: then it takes a writer in between to deadlock."""
    return any(
        sample.wanted.mode == "read" and following.held.mode == "read"
        for sample, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    )
