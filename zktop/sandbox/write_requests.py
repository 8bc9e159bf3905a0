"""Requests that write: parse, decide with a `WritePlan`, apply, respond.

`Store` has the tree and the watches. It applies changes and notifies the watchers.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from zktop.sandbox import acl
from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.flavours import ZOOKEEPER, Flavour
from zktop.sandbox.plan_write import (
    LONGEST_TTL_MS,
    Change,
    Checked,
    Created,
    Deleted,
    Secured,
    WritePlan,
    Written,
)
from zktop.sandbox.protocol import (
    Acl,
    ErrorCode,
    EventType,
    FrameReader,
    NodeStat,
    Op,
    Perm,
    Refused,
    pack_int,
    pack_multi_header,
    pack_stat,
    pack_string,
)
from zktop.sandbox.tree import Lifetime, SandboxTree, StoredNode, WriteMoment
from zktop.sandbox.watches import Notifications, ServerWatches


class Outcome(NamedTuple):
    """The path and Stat after an applied change."""

    path: str
    stat: NodeStat | None


class Store:
    """The tree, the watches and the zxid of the last transaction."""

    def __init__(self, wall_ms: Callable[[], int], flavour: Flavour = ZOOKEEPER) -> None:
        self.flavour = flavour
        self.tree = SandboxTree(flavour.system)
        self.watches: ServerWatches[ClientConnection] = ServerWatches(
            names_watched=flavour.names_watched
        )
        self.zxid = 0
        self._wall_ms = wall_ms

    def stat(self, node: StoredNode) -> NodeStat:
        """The Stat that this flavour reports."""
        return self.flavour.stat(node)

    def begin(self) -> WriteMoment:
        """Begin a transaction. Its zxid is consumed even if the transaction is refused later."""
        self.zxid += 1
        return WriteMoment(self.zxid, self._wall_ms())

    def apply(self, change: Change, moment: WriteMoment) -> Outcome:
        """Apply a change, and send its notifications before any response."""
        path = change.path
        match change:
            case Created():
                return self._create(change, moment)
            case Deleted(by_request=by_request):
                node = self.tree.delete(path, moment.zxid, by_request=by_request)
                self._notify(self.watches.deleted(path), node.acl, self.tree.parent_acl(path))
                return Outcome(path, None)
            case Written(data=data, version=version):
                node = self.tree.write(path, data, version, moment)
                self._notify(self.watches.changed(path), node.acl)
                return Outcome(path, self.stat(node))
            case Secured(acl=lines, aversion=aversion):
                return Outcome(path, self.stat(self.tree.secure(path, lines, aversion)))
            case Checked():
                return Outcome(path, None)

    def _create(self, change: Created, moment: WriteMoment) -> Outcome:
        node = StoredNode(
            change.data,
            change.acl,
            change.lifetime,
            czxid=moment.zxid,
            mzxid=moment.zxid,
            pzxid=moment.zxid,
            ctime=moment.ms,
            mtime=moment.ms,
        )
        self.tree.create(change.path, node, change.cversion)
        news = self.watches.created(change.path)
        self._notify(news, node.acl, self.tree.parent_acl(change.path))
        return Outcome(change.path, self.stat(node))

    def _notify(
        self,
        news: Iterator[Notifications[ClientConnection]],
        node_acl: tuple[Acl, ...],
        parent_acl: tuple[Acl, ...] = (),
    ) -> None:
        """Notify each watcher that may read the znode. Other watches just end.

        Servers before 3.8.4 notified all of them, which leaked names.
        """
        for event, watchers in news:
            readers = parent_acl if event is EventType.CHILDREN else node_acl
            for client, path in watchers.items():
                if acl.allows(readers, Perm.READ, client.identities):
                    client.notify(event, path)


class PendingWrite(NamedTuple):
    """A parsed operation, not yet decided."""

    op: Op
    decide: Callable[[WritePlan], Change]


Parse = Callable[[Op, int, FrameReader], PendingWrite]


# The flags of a create are numbers, not bits. 0 is a plain create. 4 makes a container, but only
# in a multi: outside, the opcode does.
EPHEMERAL, SEQUENTIAL, WITH_TTL = (1, 3), (2, 3, 6), (5, 6)
CONTAINER_FLAGS = 4
MAX_FLAGS = 6


def text(reader: FrameReader) -> str:
    """Read a string that must not be absent."""
    value = reader.string()
    if value is None:
        raise Refused(ErrorCode.MARSHALLING_ERROR)
    return value


def _create(op: Op, session: int, reader: FrameReader, *, in_multi: bool = False) -> PendingWrite:
    """Parse a create. In a multi, a flag makes a container, and create2 is a plain create."""
    path, data, lines = text(reader), reader.buffer(), reader.vector(reader.acl)
    flags = reader.int32()
    ttl_ms = reader.int64() if op is Op.CREATE_TTL else 0
    if in_multi and op is not Op.CREATE_TTL:
        op = Op.CREATE_CONTAINER if flags == CONTAINER_FLAGS else Op.CREATE

    def decide(plan: WritePlan) -> Change:
        lifetime = _lifetime(op, flags, ttl_ms, session)
        return plan.create(path, data, lines, lifetime, sequential=flags in SEQUENTIAL)

    return PendingWrite(op, decide)


def _lifetime(op: Op, flags: int, ttl_ms: int, session: int) -> Lifetime:
    has_ttl = flags in WITH_TTL
    if not 0 <= flags <= MAX_FLAGS or has_ttl != (op is Op.CREATE_TTL):
        raise Refused(ErrorCode.BAD_ARGUMENTS)
    if has_ttl and not 0 < ttl_ms <= LONGEST_TTL_MS:
        raise Refused(ErrorCode.BAD_ARGUMENTS)
    if op is Op.CREATE_CONTAINER:
        return Lifetime(container=True)
    return Lifetime(owner=session if flags in EPHEMERAL else 0, ttl_ms=ttl_ms)


def _delete(op: Op, _session: int, reader: FrameReader) -> PendingWrite:
    path, version = text(reader), reader.int32()
    return PendingWrite(op, lambda plan: plan.delete(path, version))


def _set_data(op: Op, _session: int, reader: FrameReader) -> PendingWrite:
    path, data, version = reader.string() or "", reader.buffer(), reader.int32()
    return PendingWrite(op, lambda plan: plan.write(path, data, version))


def _set_acl(op: Op, _session: int, reader: FrameReader) -> PendingWrite:
    path, lines, version = reader.string() or "", reader.vector(reader.acl), reader.int32()
    return PendingWrite(op, lambda plan: plan.secure(path, lines, version))


def _check(op: Op, _session: int, reader: FrameReader) -> PendingWrite:
    path, version = reader.string() or "", reader.int32()
    return PendingWrite(op, lambda plan: plan.check(path, version))


_CREATES = (Op.CREATE, Op.CREATE2, Op.CREATE_CONTAINER, Op.CREATE_TTL)
_OTHERS: dict[int, Parse] = {Op.DELETE: _delete, Op.SET_DATA: _set_data, Op.CHECK: _check}
IN_MULTI = _OTHERS | dict.fromkeys(_CREATES, partial(_create, in_multi=True))
ALONE = _OTHERS | dict.fromkeys(_CREATES, _create) | {Op.SET_ACL: _set_acl}
END_OF_MULTI = pack_multi_header(-1, done=True)


def write(op: Op) -> Callable[[Store, ClientConnection, FrameReader], bytes]:
    """Return the function that handles a request for one change."""

    def run(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
        moment = store.begin()
        wanted = ALONE[op](op, client.session_id, reader)
        change = wanted.decide(WritePlan(store.tree, client.identities))
        return _answer(op, store.apply(change, moment))

    return run


def multi(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    """Make several changes in one transaction, or none if one is refused."""
    moment = store.begin()
    writes = list(_read_multi(reader, client.session_id))
    plan = WritePlan(store.tree, client.identities)
    changes: list[Change] = []
    for wanted in writes:
        try:
            changes.append(wanted.decide(plan))
        except Refused as refusal:
            return _all_refused(len(changes), refusal.code, len(writes))
    done = zip(writes, changes, strict=True)
    answers = [_success(wanted.op, store.apply(change, moment)) for wanted, change in done]
    return b"".join(answers) + END_OF_MULTI


def _read_multi(reader: FrameReader, session: int) -> Iterator[PendingWrite]:
    while True:
        number, done, _ = reader.int32(), reader.flag(), reader.int32()
        if done:
            return
        if number not in IN_MULTI:
            raise Refused(ErrorCode.MARSHALLING_ERROR)
        yield IN_MULTI[number](Op(number), session, reader)


def refused_response(code: ErrorCode) -> bytes:
    """The response part for one refused operation of a multi."""
    return pack_multi_header(Op.ERROR, err=code) + pack_int(code)


def _all_refused(before: int, code: ErrorCode, count: int) -> bytes:
    after = count - before - 1
    codes = [ErrorCode.OK] * before + [code] + [ErrorCode.RUNTIME_INCONSISTENCY] * after
    return b"".join(map(refused_response, codes)) + END_OF_MULTI


def _success(op: Op, outcome: Outcome) -> bytes:
    shown = Op.CREATE2 if op in (Op.CREATE_CONTAINER, Op.CREATE_TTL) else op
    return pack_multi_header(shown, err=0) + _answer(op, outcome)


def _answer(op: Op, outcome: Outcome) -> bytes:
    path = pack_string(outcome.path) if op in _CREATES else b""
    stat = pack_stat(outcome.stat) if outcome.stat and op is not Op.CREATE else b""
    return path + stat
