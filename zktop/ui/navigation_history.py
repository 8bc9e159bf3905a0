"""The screens and selections that the user has visited, for the keys back and forward."""

from typing import Final, NamedTuple

from zktop.ui.view_state import Selection

MAX_ENTRIES_EACH_WAY: Final = 50


class NavigationEntry(NamedTuple):
    """A screen, and what is selected there."""

    page: str
    subject: Selection = Selection()


class NavigationHistory(NamedTuple):
    """The entries before and after the current one, the nearest last.

    >>> a, b, c = map(NavigationEntry, "abc")
    >>> history = NavigationHistory().after_leaving(a).after_leaving(b).back(c)
    >>> [[entry.page for entry in entries] for entries in history]
    [['a'], ['c']]
    """

    before: tuple[NavigationEntry, ...] = ()
    following: tuple[NavigationEntry, ...] = ()

    def after_leaving(self, here: NavigationEntry) -> "NavigationHistory":
        """Leave an entry for a new one. This clears the following entries."""
        if self.before[-1:] == (here,):
            return NavigationHistory(self.before)
        return NavigationHistory((*self.before, here)[-MAX_ENTRIES_EACH_WAY:])

    def back(self, here: NavigationEntry) -> "NavigationHistory":
        """Return from here to the previous entry."""
        return NavigationHistory(self.before[:-1], (*self.following, here)[-MAX_ENTRIES_EACH_WAY:])

    def forward(self, here: NavigationEntry) -> "NavigationHistory":
        """Go from here to the next entry."""
        return NavigationHistory((*self.before, here)[-MAX_ENTRIES_EACH_WAY:], self.following[:-1])
