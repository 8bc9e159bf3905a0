"""Names of clients, unique within a report.

A client's name is its label if no other client has the same label, else its label with the port
of its address, else its address, else its label with the last digits of its session. Sentences,
tables, copies and graphs all use these names; `owner` in JSON stays the plain label.

`SharedNames` finds labels of several sessions: it counts all members once, then the changes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from zktop.model.facts import Session
from zktop.model.format import fold_name
from zktop.model.history.lock_change import LockChange, all_members
from zktop.model.locks.lock import Member, client_label
from zktop.model.owner_list import OwnerList
from zktop.model.session_ids import session_text
from zktop.model.text import Text, clean
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.tables_of_one_server import host_of

LAST_DIGITS: Final = 0xFFFF

_NO_LABEL: Final = Text("")
MAX_COMPARED: Final = 16  # sessions with one label whose ports are compared

# Which digits of their ids distinguish sessions with the same label: the last four, or all.
Digits = Literal["end", "whole"]


class SharedLabel(msgspec.Struct, frozen=True):
    """How to distinguish sessions with one label; more than MAX_COMPARED are not listed."""

    digits: Digits
    sessions: tuple[Session, ...]


class _Sharing:
    """The sessions with one label, each with the number of its nodes.

    These may be all of 100,000 locks, so a change only looks at the sessions that changed.
    """

    __slots__ = ("ends", "nodes")

    def __init__(self) -> None:
        self.nodes: dict[Session, int] = {}
        self.ends: dict[int, int] = {}  # last digits -> number of sessions

    def add(self, sessions: Iterable[Session]) -> None:
        nodes, ends = self.nodes, self.ends
        for session in sessions:
            if session in nodes:
                nodes[session] += 1
            else:
                nodes[session] = 1
                end = session & LAST_DIGITS
                ends[end] = ends.get(end, 0) + 1

    def remove(self, sessions: Iterable[Session]) -> None:
        for session in sessions:
            if session in self.nodes and not _one_less(self.nodes, session):
                _one_less(self.ends, session & LAST_DIGITS)

    @property
    def shared(self) -> SharedLabel | None:
        """How to distinguish them; None if there is only one."""
        if len(self.nodes) < 2:  # noqa: PLR2004  the label is unique
            return None
        few = tuple(sorted(self.nodes)) if len(self.nodes) <= MAX_COMPARED else ()
        digits: Digits = "end" if len(self.ends) == len(self.nodes) else "whole"
        return SharedLabel(digits, few)


def _one_less(counts: dict[int, int], key: int) -> int:
    """Lower a count and return it; drop a count of 0."""
    counts[key] -= 1
    return counts[key] or counts.pop(key)


class SharedNames:
    """The labels that several sessions have. `shared` is immutable; reports keep it."""

    def __init__(self) -> None:
        self.shared: PersistentMap[Text, SharedLabel] = PersistentMap()
        # By label; if only one node has the label, just the node's session.
        self._sessions: dict[Text, Session | _Sharing] = {}

    def count(self, changes: Iterable[LockChange]) -> None:
        """Count the members that came and went."""
        lost: list[Member] = []
        new: list[Member] = []
        for change in changes:
            before, after = all_members(change.before), all_members(change.after)
            for run in change.changed_runs:
                lost += before[run.old_start : run.old_end]
                new += after[run.new_start : run.new_end]
        went, came = _by_label(lost), _by_label(new)
        labels = dict.fromkeys((*went, *came))
        for label in labels:
            self._count(label, went.get(label, ()), came.get(label, ()))
        self._publish(labels)

    def _count(self, label: Text, went: Sequence[Session], came: Sequence[Session]) -> None:
        """Count one label; `went` and `came` have a session once for each of its nodes."""
        known = self._sessions.pop(label, None)
        if known is None and len(came) == 1:
            (self._sessions[label],) = came
            return
        sharing = known if isinstance(known, _Sharing) else _Sharing()
        if isinstance(known, Session):
            sharing.add((known,))
        sharing.remove(went)
        sharing.add(came)
        if len(sharing.nodes) == 1 and 1 in sharing.nodes.values():
            (self._sessions[label],) = sharing.nodes  # one session with one node
        elif sharing.nodes:
            self._sessions[label] = sharing

    def _publish(self, labels: Iterable[Text]) -> None:
        """Update `shared` for these labels."""
        changes: dict[Text, SharedLabel | None] = {}
        for label in labels:
            known = self._sessions.get(label)
            shared = known.shared if isinstance(known, _Sharing) else None
            if shared != self.shared.get(label):
                changes[label] = shared
        self.shared = self.shared.with_changes(changes)


def _by_label(members: Iterable[Member]) -> Mapping[Text, list[Session]]:
    """The owners of these members by label; data that many share is parsed once."""
    by_label: defaultdict[Text, list[Session]] = defaultdict(list)
    by_source: dict[tuple[Text | None, bytes | None, str], list[Session]] = {}  # the same lists
    for member in members:
        znode = member.znode
        if znode.stat is None or not znode.stat.owner:
            continue
        source = member.named, znode.data, member.layout
        if (owners := by_source.get(source)) is None:
            owners = by_source[source] = by_label[client_label(*source) or _NO_LABEL]
        owners.append(znode.stat.owner)
    by_label.pop(_NO_LABEL, None)
    return by_label


NO_OWNER: Final = Text("no owner")
NOT_READ: Final = Text("not read yet")
HIDDEN: Final = Text("a hidden client")  # an ACL does not let zktop read its node


class ClientNames(msgspec.Struct, frozen=True, eq=False):
    """Gives each session a unique name."""

    ensemble: Ensemble = Ensemble()
    owners: OwnerList = OwnerList()
    shared: PersistentMap[Text, SharedLabel] = PersistentMap()

    def __call__(self, session: Session, label: Text | None = None) -> Text:
        if label and (unique := self._label(session, label)):
            return unique
        if not session:
            return NO_OWNER
        client = self.client(session)
        listed = None if label else self._configured_name(session, client)
        if listed:
            return listed
        if client and self.ensemble.connections_from(client) < 2:  # noqa: PLR2004  unique
            return self._with_port(label, client) if label else client
        if not label:
            return Text(session_text(session))
        return Text(f"{label} {self._digits(session, label)}")

    def of(self, member: Member) -> Text:
        """The name of the session that owns a member, if its znode was read."""
        if member.znode.stat is None and not member.label:
            return HIDDEN if member.znode.hidden else NOT_READ
        return self(member.owner, member.label)

    def client(self, session: Session) -> Text | None:
        """The address of its client, if a connection table shows it."""
        presence = self.ensemble.presence(session) if session else None
        return presence.client if presence and presence.client else None

    def _configured_name(self, session: Session, client: Text | None) -> Text | None:
        """The configured name, with the client's address or port if others have the same name.

        None if none is configured, or if others have the name of this very session or address.
        """
        key = self.owners.key_of(session_text(session), client or "")
        if key is None:
            return None
        name, host = self.owners.name(key), host_of(client or "")
        if key in (session_text(session), client):
            return name if self.owners.is_only(key) else None
        if not self.owners.is_only(key):
            return clean(f"{name} {client}")
        is_alone = self.ensemble.connections_from(host) == 1
        return name if is_alone else clean(f"{name}:{_port(client or '')}")

    def _label(self, session: Session, label: Text) -> Text | None:
        """The label, or the name that the list of owners has for it; None if it is not unique.

        The label of Curator's locks is the address of the client by default.
        """
        if label not in self.owners.entries:
            return label if not session or label not in self.shared else None
        name = self.owners.name(label)
        if label in self.shared or not self.owners.is_only(label):
            return self._configured_name(session, self.client(session)) or clean(f"{name} {label}")
        return name

    def _with_port(self, label: Text, client: Text) -> Text:
        """The label with the port of the client, or its address if that is not unique.

        A label that is only an address or an id, as Curator's is, says no more than the address.
        """
        shared, port = self.shared.get(label), _port(client)
        clients = [self.client(session) for session in shared.sessions] if shared else []
        is_unique = [_port(other or "") for other in clients].count(port) == 1
        return clean(f"{label}:{port}") if is_unique and fold_name(label) != "*" else client

    def _digits(self, session: Session, label: Text) -> str:
        shared, text = self.shared.get(label), session_text(session)
        is_whole = shared is not None and shared.digits == "whole"
        return text if is_whole else f"…{session & LAST_DIGITS:04x}"


def _port(client: str) -> str:
    return client.rpartition(":")[2]
