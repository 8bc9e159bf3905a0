"""What one look of the inspection is about."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from zktop.model.calling import Calling
from zktop.model.facts import Millis
from zktop.model.history.change import Change
from zktop.model.locks.lock import Lock
from zktop.model.sight import Sight
from zktop.model.text import Text
from zktop.model.world import World

if TYPE_CHECKING:  # most ensembles have none of them
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.order_story import Inversion


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What one look is about."""

    world: World
    now: Millis
    sight: Sight
    locks: Mapping[Text, Lock]
    changes: Sequence[Change]
    deadlocks: "tuple[Deadlock, ...]"
    inversions: "tuple[Inversion, ...]"
    calling: Calling
    at_once: int | None  # how much to examine in this look; None: all that is due

    @property
    def is_busy(self) -> bool:
        """Tell whether this look has something to tell that should not wait."""
        return self.at_once is not None and bool(self.changes)
