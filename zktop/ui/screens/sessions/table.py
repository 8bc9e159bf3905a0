"""The tables on the page of sessions: a line for each session, fleet, or server."""

from collections.abc import Callable, Hashable, Sequence

from zktop.ui.screens.sessions import servers
from zktop.ui.screens.sessions.groups import BOTH, Entry, SessionGroup
from zktop.ui.screens.sessions.order import Listing
from zktop.ui.screens.sessions.rows import SessionRow
from zktop.ui.widgets.table import Table


class SessionTable(Table[Entry]):
    """The sessions; the page is told when another one is looked at, or another order is asked."""

    def __init__(self, picked: Callable[[], None]) -> None:
        super().__init__(BOTH, _name, id="sessions")
        self._picked = picked

    @property
    def session_row(self) -> SessionRow | None:
        """The row under the cursor, where it is one of a session."""
        return self.row if isinstance(self.row, SessionRow) else None

    @property
    def fleet(self) -> SessionGroup | None:
        """The fleet under the cursor."""
        return self.row if isinstance(self.row, SessionGroup) else None

    def ordered(self, rows: Sequence[Entry]) -> Sequence[Entry]:
        """Leave the order to the page, which does not do it all at once."""
        return rows

    def _index(self, name: Hashable) -> int | None:
        """Find a row without looking at the others."""
        return self.rows.find(name) if isinstance(self.rows, Listing) else None

    def moved(self) -> None:
        """Have drawn what is told of the one under the cursor now."""
        super().moved()
        self._picked()


class ServerTable(Table[servers.ServerRow]):
    """The servers."""

    def __init__(self) -> None:
        super().__init__(servers.COLUMNS, lambda row: row.name, id="servers")


def _name(one: Entry) -> Hashable:
    return one.session if isinstance(one, SessionRow) else one.name
