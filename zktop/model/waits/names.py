"""How a sentence calls actors, locks, modes and moments."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from zktop.model.waits.state import Mode
from zktop.model.witness import Presence

LETTER: dict[Mode, str] = {
    "exclusive": "X",
    "read": "R",
    "write": "W",
    "lease": "S",
    "candidate": "E",
}


class Names(Struct, frozen=True):
    """Names for actors and paths; whatever has none is called by its own name."""

    owners: Mapping[str, str] = {}  # no two alike
    paths: Mapping[str, str] = {}
    labels: Mapping[str, str] | None = None  # what actors call themselves: it need not be unique
    presences: Mapping[str, Presence] = {}  # where those are connected that are sessions

    def owner(self, actor: str) -> str:
        """Call an actor by a name of its own."""
        return self.owners.get(actor, actor)

    def label(self, actor: str) -> str:
        """Call an actor as it calls itself: others may do the same."""
        return self.owner(actor) if self.labels is None else self.labels.get(actor, actor)

    def path(self, lock: str) -> str:
        """Call a lock by its label."""
        return self.paths.get(lock, lock)

    def wanted(self, mode: Mode, lock: str) -> str:
        """Name a lock with the mode in which it is held or wanted.

        >>> Names().wanted("write", "/locks/a")
        'W:/locks/a'
        """
        return f"{LETTER[mode]}:{self.path(lock)}"

    def all_of(self, actors: Sequence[str], at_most: int = 5) -> str:
        """List actors as a sentence does.

        >>> Names().all_of(["a", "b", "c"]), Names().all_of("abcd", at_most=2)
        ('a, b and c', 'a, b and 2 more')
        """
        shown = [self.owner(actor) for actor in actors[:at_most]]
        hidden = len(actors) - len(shown)
        if hidden:
            shown.append(f"{hidden} more")
        return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def moment(at_ms: int) -> str:
    """Print the time of day in UTC.

    >>> moment(1_769_860_630_400)
    '11:57:10'
    """
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S")


def span(length_ms: int) -> str:
    """Print how long something took, in two units.

    >>> span(900), span(42_000), span(379_000), span(90_000_000)
    ('0.9s', '42s', '6m19s', '1d01h')
    """
    seconds = max(length_ms, 0) // 1000
    if seconds < 1:
        return f"{max(length_ms, 0) / 1000:.1f}s"
    for unit, small, size, part in (
        ("d", "h", 86_400, 3_600),
        ("h", "m", 3_600, 60),
        ("m", "s", 60, 1),
    ):
        if seconds >= size:
            return f"{seconds // size}{unit}{seconds % size // part:02d}{small}"
    return f"{seconds}s"
