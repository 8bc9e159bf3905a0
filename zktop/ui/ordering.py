"""Puts the sessions in order between other things, and not more often than it is worth."""

from collections.abc import Callable, Iterator
from typing import Final

from zktop.ui.draw.listing import Asked, Listing, in_order
from zktop.ui.draw.sessions import Scene
from zktop.ui.fleets import Item

PART: Final = 20  # of all time, what may be spent on one thing
OFTEN_S: Final = 0.25  # nobody reads faster
BREATH_S: Final = 0.01  # after so long, whatever else has come is done first

Clock = Callable[[], float]


class Rest:
    """Says when something may be done again: what takes long has to rest long."""

    def __init__(self, clock: Clock) -> None:
        """Begin rested."""
        self._clock, self._began_at, self._took = clock, 0.0, 0.0

    def begin(self) -> None:
        """Take note that it begins."""
        self._began_at, self._took = self._clock(), 0.0

    def spend(self, seconds: float) -> None:
        """Take note of how long it takes; it may be told in parts."""
        self._took += seconds

    @property
    def is_over(self) -> bool:
        """Tell whether it may be done again."""
        passed = self._clock() - self._began_at
        return not self._began_at or passed >= max(OFTEN_S, PART * self._took)


class Ordering:
    """The newest order that is known, and the work on the next one."""

    def __init__(self, clock: Clock) -> None:
        """Begin with none."""
        self.listing: Listing | None = None
        self._clock, self._rest = clock, Rest(clock)
        self._scene: Scene | None = None
        self._asked: tuple[object, ...] = ()
        self._work: Iterator[list[Item] | None] = iter(())
        self.is_working = False

    def look(self, scene: Scene, asked: Asked, *, at_once: bool) -> None:
        """See this scene from now on; begin anew where something else is asked for."""
        is_due = scene is not self._scene and (at_once or self._rest.is_over)
        if asked.words != self._asked or (is_due and not self.is_working):
            self._asked, self._scene = asked.words, scene
            self._work, self.is_working = in_order(scene, asked), True
            self._rest.begin()
            self.go_on()
        if self.listing is not None:
            self.listing = self.listing.at(scene)

    def go_on(self) -> None:
        """Do some more of it; few sessions are in order before anything else happens."""
        began, passed = self._clock(), 0.0
        while self.is_working and passed <= BREATH_S:
            sessions = next(self._work)
            if sessions is not None and self._scene is not None:
                self.listing, self.is_working = Listing(sessions, self._scene), False
            passed = self._clock() - began
        self._rest.spend(passed)
