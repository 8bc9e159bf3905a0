"""Who queues behind a deadlock without being part of it, at the cost of that one queue."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from zktop.model.waits.remnant import Remnant
from zktop.model.waits.state import Request

Reach = Mapping[str, frozenset[int]]
Crowd = tuple[tuple[str, frozenset[int]], ...]


def reach(
    graph: Mapping[str, Iterable[str]], groups: Iterable[Collection[str]]
) -> dict[str, frozenset[int]]:
    """For every actor that leads to some of the groups: their numbers.

    >>> reach({"a": ["b"], "b": ["b"], "c": []}, [{"b"}])
    {'b': frozenset({0}), 'a': frozenset({0})}
    """
    sources: dict[str, list[str]] = {}
    for waiter, others in graph.items():
        for other in others:
            sources.setdefault(other, []).append(waiter)
    found: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        work = sorted(group)
        for actor in work:
            found.setdefault(actor, set()).add(number)
        while work:
            for waiter in sources.get(work.pop(), ()):
                numbers = found.setdefault(waiter, set())
                if number not in numbers:
                    numbers.add(number)
                    work.append(waiter)
    return {actor: frozenset(numbers) for actor, numbers in found.items()}


def crowd(
    rest: Remnant, tail: Iterable[Request], reached: Reach
) -> Iterator[tuple[str, frozenset[int]]]:
    """Find the passers-by of the tail that are stuck, and the groups that they are behind."""
    shares = rest.queue.kind == "read-write"
    ahead = list(rest.members)
    if rest.queue.kind == "single":
        ahead = ahead[:1] if rest.members[:1] == rest.queue.requests[:1] else []
    writers = [member for member in ahead if not (shares and member.reads)]
    to_all, to_writers = _union(ahead, reached), _union(writers, reached)
    for request in tail:
        is_reader = shares and request.reads
        if request.exempt or (len(writers) if is_reader else len(ahead)) < rest.queue.room:
            continue
        yield request.actor, to_writers if is_reader else to_all
        if not is_reader:
            to_writers = to_all
            writers.append(request)


def _union(members: list[Request], reached: Reach) -> frozenset[int]:
    return frozenset[int]().union(*(reached.get(member.actor, ()) for member in members))
