"""The screens and selections that the user has visited, for the keys back and forward."""

from typing import Final, NamedTuple

from zktop.ui.view_state import Selection

MAX_PLACES: Final = 50  # in each direction


class Place(NamedTuple):
    """A screen, and what is selected there."""

    page: str
    subject: Selection = Selection()


class Places(NamedTuple):
    """The places before and after the current one, the nearest last.

    >>> a, b, c = map(Place, "abc")
    >>> places = Places().left(a).left(b).back(c)
    >>> [[one.page for one in some] for some in places]
    [['a'], ['c']]
    """

    before: tuple[Place, ...] = ()
    following: tuple[Place, ...] = ()

    def left(self, here: Place) -> "Places":
        """Leave a place for a new one; there is nothing to go forward to."""
        if self.before[-1:] == (here,):
            return Places(self.before)
        return Places((*self.before, here)[-MAX_PLACES:])

    def back(self, here: Place) -> "Places":
        """Return from here to the last place before."""
        return Places(self.before[:-1], (*self.following, here)[-MAX_PLACES:])

    def forward(self, here: Place) -> "Places":
        """Go from here to the next place."""
        return Places((*self.before, here)[-MAX_PLACES:], self.following[:-1])
