"""In which locks each session has a place."""

from collections.abc import Collection, Iterable, KeysView, Sequence

from zktop.model.facts import Session
from zktop.model.text import Text


class Places:
    """A fold over who comes and goes.

    Nearly every session has one place alone; there the path itself is kept instead of a dict,
    which is felt with fifty thousand of them. For the others it is the number of places by lock:
    a service may have ten thousand.
    """

    def __init__(self) -> None:
        """Begin with nobody."""
        self._places: dict[Session, Text | dict[Text, int]] = {}
        self._several: set[Session] = set()  # who had more than one place at once, and is here

    @property
    def owners(self) -> KeysView[Session]:
        """Everybody who has a place."""
        return self._places.keys()

    def __contains__(self, session: Session) -> bool:
        """Tell whether somebody has a place."""
        return session in self._places

    def of(self, session: Session) -> Collection[Text]:
        """Give the locks of a session, each once."""
        here = self._places.get(session, {})
        return here.keys() if isinstance(here, dict) else (here,)

    def with_many(self, sessions: Sequence[Session], many: int) -> list[Session]:
        """Give those of them who have places in so many locks, or more."""
        if many > 1 and (not self._several or self._several.isdisjoint(sessions)):
            return []
        return [session for session in sessions if self._number(session) >= many]

    def _number(self, session: Session) -> int:
        """Count the locks of a session."""
        return len(self.of(session))

    def enter_all(self, sessions: Iterable[Session], path: Text) -> None:
        """Take note of the places in one lock; one without a session is nobody's."""
        places = self._places
        for session in sessions:
            if session in places:
                self.enter(session, path)
            elif session:
                places[session] = path

    def enter(self, session: Session, path: Text) -> None:
        """Take note of one more place."""
        here = self._places.get(session)
        if here is None:
            self._places[session] = path
            return
        if not isinstance(here, dict):
            here = self._places[session] = {here: 1}
            self._several.add(session)
        here[path] = here.get(path, 0) + 1

    def leave(self, session: Session, path: Text) -> bool:
        """Take note of a place that is gone; False when it was the last one."""
        here = self._places.get(session)
        if not isinstance(here, dict):
            if here == path:
                del self._places[session]
            return session in self._places
        if path in here:
            here[path] -= 1
            if not here[path]:
                del here[path]
        if not here:
            del self._places[session]
            self._several.discard(session)
        return bool(here)
