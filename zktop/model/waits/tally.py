"""The waits in a crowded queue, counted on from the version before it.

One comes or goes, and ten thousand wait as before: to add up all their waits again at each change
would keep everything else waiting.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from zktop.model.strides import splits
from zktop.model.waits.state import Queue, Request

CROWDED: Final = 500  # members


class Tally(Struct, frozen=True, gc=False):
    """The members that are not exempt: how many, their starts added up, how many undated."""

    requests: tuple[Request, ...]
    number: int
    since_ms: int
    undated: int

    def after(self, requests: tuple[Request, ...]) -> "Tally":
        """Give the tally of the next version."""
        gone: list[Request] = []
        come: list[Request] = []
        for part in splits(self.requests, requests):
            gone += self.requests[part.here : part.here + part.left]
            come += requests[part.there : part.there + part.joined]
        less, more = tally(gone), tally(come)
        return Tally(
            requests,
            self.number + more.number - less.number,
            self.since_ms + more.since_ms - less.since_ms,
            self.undated + more.undated - less.undated,
        )


def tally(requests: Iterable[Request]) -> Tally:
    """Count all of these."""
    members = tuple(requests)
    since = [one.since_ms for one in members if not one.exempt]
    dated = [at for at in since if at is not None]
    return Tally(members, len(since), sum(dated), len(since) - len(dated))


def is_crowded(queue: Queue) -> bool:
    """Tell whether to count all its members takes long."""
    return len(queue.requests) > CROWDED


def holds_in_front(queue: Queue) -> bool:
    """Tell whether the holders are the first `room` members, and all the others wait."""
    requests = queue.requests
    if not isinstance(requests, tuple) or not queue.binds or queue.kind == "conflict":
        return False
    return queue.kind != "read-write" or not requests[0].reads
