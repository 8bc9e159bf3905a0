"""Names of actors over a period: each keeps the last name that it had while it was in a lock."""

from collections import Counter
from typing import Final

from zktop.model.actors import BY_NAME, STRANDED, UNKNOWN, UNOWNED, session_of
from zktop.model.client_names import LAST_DIGITS
from zktop.model.facts import Session
from zktop.model.format import short
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text, clean

_NODES: Final = {
    UNOWNED: "node without owner",
    STRANDED: "stranded node",
    UNKNOWN: "unread node",
}


class ActorNames:
    """The last known name and address of each actor."""

    def __init__(self) -> None:
        self._clients: dict[str, tuple[Text, Text]] = {}  # actor -> its name and its address

    def note(self, actor: str, session: Session, label: Text | None, report: Report) -> None:
        """Set the name of an actor to that in a report; keep its address if it is now unknown."""
        name = report.client_names(session, label)
        address = Text(report.address(session, name))
        self._clients[actor] = name, address or self.address(actor)

    def name(self, actor: str) -> Text:
        known = self._clients.get(actor)
        if known is not None and session_of(actor) is not None:
            return known[0]
        for kind, words in _NODES.items():
            if actor.startswith(kind):
                path, _, node = actor.removeprefix(kind).rpartition("/")
                return clean(f"{words} {short(node)} in {path}")
        return clean(actor.removeprefix(BY_NAME))  # NO_HOLDER is a name itself

    def address(self, actor: str) -> Text:
        return self._clients.get(actor, (Text(""), Text("")))[1]

    def unique(self, actors: list[str]) -> dict[str, Text]:
        """The names of these actors. Duplicates get the last digits of their ids, or all digits.

        Sessions of several servers may have the same last digits: each server counts from 0.
        """
        names = {actor: self.name(actor) for actor in actors}
        sessions = {actor: session for actor in actors if (session := session_of(actor))}
        uses = Counter(names.values())
        alike = Counter(
            (names[actor], session & LAST_DIGITS) for actor, session in sessions.items()
        )
        unique: dict[str, Text] = {}
        for actor, name in names.items():
            session = sessions.get(actor)
            if session is None or uses[name] == 1:
                unique[actor] = name
            elif alike[name, session & LAST_DIGITS] == 1:
                unique[actor] = Text(f"{name} …{session & LAST_DIGITS:04x}")
            else:
                unique[actor] = Text(f"{name} {session_text(session)}")
        return unique
