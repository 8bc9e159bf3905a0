"""In which locks each session has a place."""

from collections.abc import KeysView

from zktop.model.facts import Session
from zktop.model.text import Text


class Places:
    """A fold over who comes and goes.

    Nearly every session has one place alone; there the path itself is kept instead of a tuple,
    which is felt with fifty thousand of them.
    """

    def __init__(self) -> None:
        """Begin with nobody."""
        self._places: dict[Session, Text | tuple[Text, ...]] = {}

    @property
    def owners(self) -> KeysView[Session]:
        """Everybody who has a place."""
        return self._places.keys()

    def __contains__(self, session: Session) -> bool:
        """Tell whether somebody has a place."""
        return session in self._places

    def of(self, session: Session) -> tuple[Text, ...]:
        """Give the locks of a session, one entry a place."""
        here = self._places.get(session, ())
        return here if isinstance(here, tuple) else (here,)

    def enter(self, session: Session, path: Text) -> None:
        """Take note of one more place."""
        self._keep(session, (*self.of(session), path))

    def leave(self, session: Session, path: Text) -> bool:
        """Take note of a place that is gone; False when it was the last one."""
        here = list(self.of(session))
        if path in here:
            here.remove(path)
        self._keep(session, tuple(here))
        return bool(here)

    def _keep(self, session: Session, here: tuple[Text, ...]) -> None:
        if here:
            self._places[session] = here[0] if len(here) == 1 else here
        else:
            self._places.pop(session, None)
