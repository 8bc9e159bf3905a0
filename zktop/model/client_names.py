"""Names of clients, unique within a report.

A client is called by its label if no other client has the same one, else by its address, else by
its label and the last digits of its session. Sentences, tables, copies and graphs all use these
names; `owner` in JSON stays the plain label.

`SharedNames` counts which labels several sessions have. It counts all members once, and then those
that changed. Parsing the labels of fifty thousand sessions takes 0.1 s or more, so a quick look
counts a part of them and leaves the rest to the next looks.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, Literal

import msgspec

from zktop.model.facts import Session, session_text
from zktop.model.history.change import LockChange, all_members
from zktop.model.locks.lock import Member
from zktop.model.text import Text, clean
from zktop.model.world.ensemble import Ensemble
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.server_tables import host_of

MAX_COUNTED_PER_LOOK: Final = 1_000  # members, in a look that must be quick
LAST_DIGITS: Final = 0xFFFF

# Which digits of their ids tell the sessions of one label apart: the last four, or only all.
Apart = Literal["end", "whole"]


class _Sharing:
    """The sessions with one label, each with the number of its places."""

    __slots__ = ("ends", "places")

    def __init__(self, session: Session) -> None:
        self.places: Counter[Session] = Counter()
        self.ends: Counter[int] = Counter()
        self.enter(session)

    def enter(self, session: Session) -> None:
        if not self.places[session]:
            self.ends[session & LAST_DIGITS] += 1
        self.places[session] += 1

    def leave(self, session: Session) -> None:
        if session not in self.places:
            return
        self.places[session] -= 1
        if not self.places[session]:
            del self.places[session]
            self.ends -= Counter((session & LAST_DIGITS,))

    @property
    def apart(self) -> Apart | None:
        """How to tell them apart; None if there is only one."""
        if len(self.places) < 2:  # noqa: PLR2004  a single one has the label for itself
            return None
        return "end" if len(self.ends) == len(self.places) else "whole"


class SharedNames:
    """The labels that several sessions have. `shared` is immutable; reports keep it."""

    def __init__(self) -> None:
        self.shared: PersistentMap[Text, Apart] = PersistentMap()
        self._sessions: dict[Text, Session | _Sharing] = {}  # by label; one node: just its session
        # Members still to be counted: from which one on, and whether they came or went.
        self._uncounted: deque[tuple[Sequence[Member], int, bool]] = deque()

    @property
    def is_behind(self) -> bool:
        """Whether some members are still to be counted."""
        return bool(self._uncounted)

    def note(self, changes: Iterable[LockChange]) -> None:
        """Queue changed locks for counting."""
        for change in changes:
            before, after = all_members(change.before), all_members(change.after)
            for part in change.apart:
                self._uncounted.append((before[part.here : part.here + part.left], 0, False))
                self._uncounted.append((after[part.there : part.there + part.joined], 0, True))

    def count(self, at_most: int | None = None) -> None:
        """Count the members of the queued changes, or `at_most` of them."""
        touched: dict[Text, None] = {}
        left = at_most
        while self._uncounted and (left is None or left > 0):
            members, begin, comes = self._uncounted.popleft()
            end = len(members) if left is None else min(len(members), begin + left)
            for member in islice(members, begin, end):
                if member.owner and (label := member.label):
                    self._count(label, member.owner, comes=comes)
                    touched[label] = None
            if end < len(members):
                self._uncounted.appendleft((members, end, comes))
            left = None if left is None else left - (end - begin)
        self._publish(touched)

    def _count(self, label: Text, session: Session, *, comes: bool) -> None:
        known = self._sessions.get(label)
        if known is None:
            if comes:
                self._sessions[label] = session
            return
        if not isinstance(known, _Sharing):
            if not comes:
                if known == session:
                    del self._sessions[label]
                return
            known = self._sessions[label] = _Sharing(known)
        (known.enter if comes else known.leave)(session)
        if not known.places:
            del self._sessions[label]

    def _publish(self, labels: Iterable[Text]) -> None:
        """Update `shared` for these labels."""
        changes: dict[Text, Apart | None] = {}
        for label in labels:
            known = self._sessions.get(label)
            apart = known.apart if isinstance(known, _Sharing) else None
            if apart != self.shared.get(label):
                changes[label] = apart
        self.shared = self.shared.with_changes(changes)


NOBODY: Final = Text("nobody")


class ClientNames(msgspec.Struct, frozen=True, eq=False):
    """Gives each session a unique name."""

    ensemble: Ensemble = Ensemble()
    owners: Mapping[str, str] = {}  # the user's list: a session, an address or a host -> name
    shared: PersistentMap[Text, Apart] = PersistentMap()

    def __call__(self, session: Session, label: Text | None = None) -> Text:
        if label and (not session or label not in self.shared):
            return label
        if not session:
            return NOBODY
        client = self.client(session)
        listed = None if label else self._listed(session, client)
        if listed:
            return listed
        if client and self.ensemble.connections_from(client) < 2:  # noqa: PLR2004  unique
            return client
        if not label:
            return Text(session_text(session))
        return Text(f"{label} {self._digits(session, label)}")

    def client(self, session: Session) -> Text | None:
        """The address of its client, if a connection table shows it."""
        presence = self.ensemble.presence(session) if session else None
        return presence.client if presence and presence.client else None

    def _listed(self, session: Session, client: Text | None) -> Text | None:
        """The configured name; the port tells several clients of one host apart."""
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
        return clean(name if self.ensemble.connections_from(host) == 1 else f"{name}:{port}")

    def _digits(self, session: Session, label: Text) -> str:
        text = session_text(session)
        return text if self.shared.get(label) == "whole" else f"…{session & LAST_DIGITS:04x}"
