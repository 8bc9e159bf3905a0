"""Requests that read or set watches, and the table of all requests."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zktop.sandbox import acl, protocol
from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.protocol import (
    ErrorCode,
    EventType,
    FrameReader,
    Op,
    Perm,
    Refused,
    pack_acl,
    pack_buffer,
    pack_int,
    pack_stat,
    pack_strings,
)
from zktop.sandbox.tree import StoredNode
from zktop.sandbox.watches import WatchesByPath, WatchMode
from zktop.sandbox.write_requests import END_OF_MULTI, Store, multi, refused_response, text, write

Run = Callable[[Store, ClientConnection, FrameReader], bytes]


def _readable(
    store: Store, client: ClientConnection, path: str, perm: Perm = Perm.READ
) -> StoredNode:
    node = store.tree.node(path)
    acl.check(node.acl, perm, client.identities)
    return node


def _exists(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    """Check a znode. This needs no permission, and can watch a path that does not exist."""
    path, watch = text(reader), reader.flag()
    if "\0" in path:
        raise Refused(ErrorCode.BAD_ARGUMENTS)
    if watch:
        store.watches.data.add(path, client)
    if path == "/" and not store.flavour.has_root:
        raise Refused(ErrorCode.NO_NODE)
    return pack_stat(store.stat(store.tree.node(path)))


def _get_data(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    path, watch = text(reader), reader.flag()
    node = _readable(store, client, path)
    if watch:
        store.watches.data.add(path, client)
    return pack_buffer(node.data) + pack_stat(store.stat(node))


def _children(store: Store, client: ClientConnection, reader: FrameReader) -> StoredNode:
    path, watch = text(reader), reader.flag()
    node = _readable(store, client, path)
    if watch:
        store.watches.child.add(path, client)
    return node


def _get_children(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    return pack_strings(_children(store, client, reader).children)


def _get_children2(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    node = _children(store, client, reader)
    return pack_strings(node.children) + pack_stat(store.stat(node))


def _get_acl(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    node = _readable(store, client, text(reader), Perm.READ | Perm.ADMIN)
    may_see_all = acl.allows(node.acl, Perm.ADMIN, client.identities)
    lines = node.acl if may_see_all else acl.masked(node.acl)
    return protocol.pack_vector([pack_acl(line) for line in lines]) + pack_stat(store.stat(node))


def _get_ephemerals(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    prefix = reader.string() or ""
    prefix = "" if prefix.strip() in ("", "/") else prefix
    paths = store.tree.ephemerals(client.session_id)
    return pack_strings([path for path in paths if path.startswith(prefix)])


def _get_all_children_number(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    path = text(reader)
    _readable(store, client, path)  # only to check it: an error is the answer
    return pack_int(store.tree.count_below(path))


def _sync(store: Store, _client: ClientConnection, reader: FrameReader) -> bytes:
    """Return at once: a single server is always in sync."""
    path = reader.string()
    if not store.flavour.has_root and (path in (None, "/") or path not in store.tree):
        raise Refused(ErrorCode.NO_NODE)
    return protocol.pack_string(path)


def _who_am_i(_store: Store, client: ClientConnection, _reader: FrameReader) -> bytes:
    identities = [
        protocol.pack_string(identity.scheme) + protocol.pack_string(_user(identity))
        for identity in client.identities
    ]
    return protocol.pack_vector(identities)


def _user(identity: acl.Identity) -> str:
    return identity.id.partition(":")[0] if identity.scheme == "digest" else identity.id


def _reconfig(store: Store, _client: ClientConnection, _reader: FrameReader) -> bytes:
    store.begin()
    raise Refused(ErrorCode.RECONFIG_DISABLED)


def _multi_read(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    answers: list[bytes] = []
    room = protocol.MAX_ANSWER_BYTES
    while room > 0:
        number, done, _ = reader.int32(), reader.flag(), reader.int32()
        if done:
            return b"".join(answers) + END_OF_MULTI
        if number not in (Op.GET_DATA, Op.GET_CHILDREN):
            raise Refused(ErrorCode.MARSHALLING_ERROR)
        answers.append(_read_one(store, client, reader, Op(number)))
        room -= len(answers[-1])
    raise Refused(ErrorCode.MARSHALLING_ERROR)


def _read_one(store: Store, client: ClientConnection, reader: FrameReader, op: Op) -> bytes:
    try:
        body = REQUESTS[op].run(store, client, reader)
    except Refused as refusal:
        if store.flavour.bare_errors:
            return protocol.pack_multi_header(op, err=refusal.code)
        return refused_response(refusal.code)
    return protocol.pack_multi_header(op, err=0) + body


def _add_watch(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    path, number = text(reader), reader.int32()
    if number not in (WatchMode.PERSISTENT, WatchMode.RECURSIVE):
        raise Refused(ErrorCode.MARSHALLING_ERROR)
    store.watches.add(path, client, WatchMode(number))
    return pack_int(ErrorCode.OK)


def _tables(
    store: Store, reader: FrameReader
) -> tuple[str, list[WatchesByPath[ClientConnection]]]:
    path, kind = text(reader), reader.int32()
    tables = {
        1: [store.watches.child],
        2: [store.watches.data],
        3: [store.watches.child, store.watches.data],
    }
    if kind not in tables:
        raise Refused(ErrorCode.MARSHALLING_ERROR)
    return path, tables[kind]


def _check_watches(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    path, tables = _tables(store, reader)
    if store.flavour.finds_watches_of_all:
        is_watched = any(path in table.by_path for table in tables)
    else:
        is_watched = any(table.has(path, client) for table in tables)
    if not is_watched:
        raise Refused(ErrorCode.NO_WATCHER)
    return b""


def _remove_watches(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    path, tables = _tables(store, reader)
    removed = [table.remove(path, client) for table in tables]
    if not any(removed):
        raise Refused(ErrorCode.NO_WATCHER)
    return b""


def _set_watches(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    _restore(store, client, reader)
    return b""


def _set_watches2(store: Store, client: ClientConnection, reader: FrameReader) -> bytes:
    _restore(store, client, reader)
    for mode in (WatchMode.PERSISTENT, WatchMode.RECURSIVE):
        for path in _texts(reader):
            store.watches.add(path, client, mode)
    return b""


def _texts(reader: FrameReader) -> Sequence[str]:
    return reader.vector(lambda: text(reader))


def _restore(store: Store, client: ClientConnection, reader: FrameReader) -> None:
    """Restore the watches of a reconnected client, or notify it of what it missed."""
    tree, data, child = store.tree, store.watches.data, store.watches.child
    since = reader.int64()
    for path in _texts(reader):  # watches on data
        missed: EventType | None = EventType.DELETED
        if path in tree:
            missed = EventType.CHANGED if tree.node(path).mzxid > since else None
        _watch_again(client, data, path, missed)
    for path in _texts(reader):  # watches on paths that did not exist
        _watch_again(client, data, path, EventType.CREATED if path in tree else None)
    for path in _texts(reader):  # watches on children
        missed = EventType.DELETED
        if path in tree:
            missed = EventType.CHILDREN if tree.node(path).pzxid > since else None
        _watch_again(client, child, path, missed)


def _watch_again(
    client: ClientConnection,
    table: WatchesByPath[ClientConnection],
    path: str,
    missed: EventType | None,
) -> None:
    if missed is None:
        table.add(path, client)
    else:
        client.notify(missed, path)


class RequestHandler(NamedTuple):
    """One kind of request: its name in four-letter words, and its function."""

    word: str
    run: Run


REQUESTS: dict[int, RequestHandler] = {
    Op.CREATE: RequestHandler("CREA", write(Op.CREATE)),
    Op.DELETE: RequestHandler("DELE", write(Op.DELETE)),
    Op.EXISTS: RequestHandler("EXIS", _exists),
    Op.GET_DATA: RequestHandler("GETD", _get_data),
    Op.SET_DATA: RequestHandler("SETD", write(Op.SET_DATA)),
    Op.GET_ACL: RequestHandler("GETA", _get_acl),
    Op.SET_ACL: RequestHandler("SETA", write(Op.SET_ACL)),
    Op.GET_CHILDREN: RequestHandler("GETC", _get_children),
    Op.SYNC: RequestHandler("SYNC", _sync),
    Op.GET_CHILDREN2: RequestHandler("GETC", _get_children2),
    Op.CHECK: RequestHandler("CHEC", write(Op.CHECK)),
    Op.MULTI: RequestHandler("MULT", multi),
    Op.CREATE2: RequestHandler("CREA", write(Op.CREATE2)),
    Op.RECONFIG: RequestHandler("RECO", _reconfig),
    Op.CHECK_WATCHES: RequestHandler("CHKW", _check_watches),
    Op.REMOVE_WATCHES: RequestHandler("REMW", _remove_watches),
    Op.CREATE_CONTAINER: RequestHandler("CREA", write(Op.CREATE_CONTAINER)),
    Op.CREATE_TTL: RequestHandler("CREA", write(Op.CREATE_TTL)),
    Op.MULTI_READ: RequestHandler("MLTR", _multi_read),
    Op.SET_WATCHES: RequestHandler("SETW", _set_watches),
    Op.GET_EPHEMERALS: RequestHandler("GETE", _get_ephemerals),
    Op.GET_ALL_CHILDREN_NUMBER: RequestHandler("GETACN", _get_all_children_number),
    Op.SET_WATCHES2: RequestHandler("STW2", _set_watches2),
    Op.ADD_WATCH: RequestHandler("ADDW", _add_watch),
    Op.WHO_AM_I: RequestHandler("HOMI", _who_am_i),
}
