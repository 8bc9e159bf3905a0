"""What a client is called: a name that nobody else in the report has.

The label comes first, if it is nobody else's; then the address of the client; then whatever there
is with the last digits of the session. Sentences, tables, copies and graphs all ask here; `owner`
in JSON stays the plain label.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from zktop.model.facts import Session, session_text
from zktop.model.namesakes import LAST_DIGITS, Apart
from zktop.model.shelf import Shelf
from zktop.model.sight import Sight
from zktop.model.text import Text, clean
from zktop.model.witness import host_of

NOBODY: Final = Text("nobody")


class Calling(msgspec.Struct, frozen=True, eq=False):
    """Names sessions, each by a name of its own."""

    sight: Sight = Sight()
    owners: Mapping[str, str] = {}  # the user's list: a session, an address or a host -> name
    shared: Shelf[Text, Apart] = Shelf()

    def __call__(self, session: Session, label: Text | None = None) -> Text:
        """Name one client."""
        if label and (not session or label not in self.shared):
            return label
        if not session:
            return NOBODY
        client = self.client(session)
        listed = None if label else self._listed(session, client)
        if listed:
            return listed
        if client and self.sight.connections_from(client) < 2:  # noqa: PLR2004  it is its own
            return client
        if not label:
            return Text(session_text(session))
        return Text(f"{label} {self._digits(session, label)}")

    def client(self, session: Session) -> Text | None:
        """Give the address of its client, where a connection table tells."""
        presence = self.sight.presence(session) if session else None
        return presence.client if presence and presence.client else None

    def _listed(self, session: Session, client: Text | None) -> Text | None:
        """Give the name that the user gave it; the port tells several of one host apart."""
        if not self.owners:
            return None
        host, port = host_of(client or ""), (client or "").rpartition(":")[2]
        for key in (session_text(session), client or ""):
            if key in self.owners:
                name = self.owners[key]
                is_its_own = list(self.owners.values()).count(name) == 1
                return clean(name) if is_its_own else None
        if host not in self.owners:
            return None
        name = self.owners[host]
        return clean(name if self.sight.connections_from(host) == 1 else f"{name}:{port}")

    def _digits(self, session: Session, label: Text) -> str:
        text = session_text(session)
        return text if self.shared.get(label) == "whole" else f"…{session & LAST_DIGITS:04x}"
