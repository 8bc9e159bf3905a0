"""Who holds what, kept up to date lock by lock: to call a root blocker by its name."""

from collections.abc import Iterable, Iterator, Mapping

from zktop.model.facts import Session
from zktop.model.locks.lock import Member
from zktop.model.text import Text
from zktop.ui.draw.blockers import Held
from zktop.ui.row import Row


class Holders(Mapping[Session, Held]):
    """For each session that holds a lock, one that it holds."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._holds: dict[Session, dict[Text, Member]] = {}
        self._sessions: dict[Text, tuple[Session, ...]] = {}

    def update(self, rows: Mapping[Text, Row], changed: Iterable[Text]) -> None:
        """Take note of locks that changed."""
        for path in changed:
            for session in self._sessions.pop(path, ()):
                self._leave(session, path)
            row = rows.get(path)
            if row is not None and row.gone_at is None:
                self._enter(row)

    def _enter(self, row: Row) -> None:
        members = [member for member in row.lock.holders if member.owner]
        for member in members:
            self._holds.setdefault(member.owner, {})[row.path] = member
        if members:
            self._sessions[row.path] = tuple({member.owner for member in members})

    def _leave(self, session: Session, path: Text) -> None:
        places = self._holds.get(session, {})
        places.pop(path, None)
        if not places:
            self._holds.pop(session, None)

    def __getitem__(self, session: Session) -> Held:
        """Give what it holds, and what it calls itself."""
        path, member = next(iter(self._holds[session].items()))
        return Held(path, member.label)

    def __iter__(self) -> Iterator[Session]:
        """Name all who hold something."""
        return iter(self._holds)

    def __len__(self) -> int:
        """Count them."""
        return len(self._holds)
