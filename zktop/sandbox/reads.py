"""The requests that only look, or set watches; and the table of all that the server knows."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zktop.sandbox import acl
from zktop.sandbox import protocol as wire
from zktop.sandbox.connection import Client
from zktop.sandbox.protocol import (
    Code,
    Event,
    Op,
    Perm,
    Reader,
    Refused,
    pack_acl,
    pack_buffer,
    pack_int,
    pack_stat,
    pack_strings,
)
from zktop.sandbox.tree import Tree, Znode
from zktop.sandbox.watches import Mode, WatchTable
from zktop.sandbox.writes import END_OF_MULTI, Store, multi, refused, text, write

Run = Callable[[Store, Client, Reader], bytes]


def _readable(store: Store, client: Client, path: str, perm: Perm = Perm.READ) -> Znode:
    node = store.tree.node(path)
    acl.check(node.acl, perm, client.identities)
    return node


def _exists(store: Store, client: Client, reader: Reader) -> bytes:
    """Anyone may ask, and watch a path that is not there yet."""
    path, watch = text(reader), reader.flag()
    if "\0" in path:
        raise Refused(Code.BAD_ARGUMENTS)
    if watch:
        store.watches.data.add(path, client)
    if path == "/" and not store.flavour.root_is_there:
        raise Refused(Code.NO_NODE)
    return pack_stat(store.stat(store.tree.node(path)))


def _get_data(store: Store, client: Client, reader: Reader) -> bytes:
    path, watch = text(reader), reader.flag()
    node = _readable(store, client, path)
    if watch:
        store.watches.data.add(path, client)
    return pack_buffer(node.data) + pack_stat(store.stat(node))


def _children(store: Store, client: Client, reader: Reader) -> Znode:
    path, watch = text(reader), reader.flag()
    node = _readable(store, client, path)
    if watch:
        store.watches.child.add(path, client)
    return node


def _get_children(store: Store, client: Client, reader: Reader) -> bytes:
    return pack_strings(_children(store, client, reader).children)


def _get_children2(store: Store, client: Client, reader: Reader) -> bytes:
    node = _children(store, client, reader)
    return pack_strings(node.children) + pack_stat(store.stat(node))


def _get_acl(store: Store, client: Client, reader: Reader) -> bytes:
    node = _readable(store, client, text(reader), Perm.READ | Perm.ADMIN)
    may_see_all = acl.allows(node.acl, Perm.ADMIN, client.identities)
    lines = node.acl if may_see_all else acl.masked(node.acl)
    return wire.pack_vector([pack_acl(line) for line in lines]) + pack_stat(store.stat(node))


def _get_ephemerals(store: Store, client: Client, reader: Reader) -> bytes:
    prefix = (reader.string() or "").strip()
    mine = store.tree.ephemerals(client.session_id)
    return pack_strings([path for path in mine if path.startswith(prefix)])


def _get_all_children_number(store: Store, client: Client, reader: Reader) -> bytes:
    path = text(reader)
    _readable(store, client, path)
    return pack_int(store.tree.count_below(path))


def _sync(store: Store, _client: Client, reader: Reader) -> bytes:
    """There is nobody to wait for: one server is always in step with itself."""
    path = reader.string()
    if not store.flavour.root_is_there and (path in (None, "/") or path not in store.tree):
        raise Refused(Code.NO_NODE)
    return wire.pack_string(path)


def _who_am_i(_store: Store, client: Client, _reader: Reader) -> bytes:
    shown = [
        wire.pack_string(one.scheme) + wire.pack_string(_user(one)) for one in client.identities
    ]
    return wire.pack_vector(shown)


def _user(one: acl.Identity) -> str:
    return one.id.partition(":")[0] if one.scheme == "digest" else one.id


def _reconfig(store: Store, _client: Client, _reader: Reader) -> bytes:
    store.begin()
    raise Refused(Code.RECONFIG_DISABLED)


def _multi_read(store: Store, client: Client, reader: Reader) -> bytes:
    answers: list[bytes] = []
    room = wire.LARGEST_ANSWER
    while room > 0:
        number, done, _ = reader.int32(), reader.flag(), reader.int32()
        if done:
            return b"".join(answers) + END_OF_MULTI
        if number not in (Op.GET_DATA, Op.GET_CHILDREN):
            raise Refused(Code.MARSHALLING_ERROR)
        answers.append(_read_one(store, client, reader, Op(number)))
        room -= len(answers[-1])
    raise Refused(Code.MARSHALLING_ERROR)


def _read_one(store: Store, client: Client, reader: Reader, op: Op) -> bytes:
    try:
        body = REQUESTS[op].run(store, client, reader)
    except Refused as refusal:
        if store.flavour.bare_errors:
            return wire.pack_multi_header(op, err=refusal.code)
        return refused(refusal.code)
    return wire.pack_multi_header(op, err=0) + body


def _add_watch(store: Store, client: Client, reader: Reader) -> bytes:
    path, number = text(reader), reader.int32()
    if number not in (Mode.PERSISTENT, Mode.RECURSIVE):
        raise Refused(Code.MARSHALLING_ERROR)
    store.watches.add(path, client, Mode(number))
    return pack_int(Code.OK)


def _tables(store: Store, reader: Reader) -> tuple[str, list[WatchTable[Client]]]:
    path, kind = text(reader), reader.int32()
    tables = {
        1: [store.watches.child],
        2: [store.watches.data],
        3: [store.watches.child, store.watches.data],
    }
    if kind not in tables:
        raise Refused(Code.MARSHALLING_ERROR)
    return path, tables[kind]


def _check_watches(store: Store, client: Client, reader: Reader) -> bytes:
    path, tables = _tables(store, reader)
    if not any(table.has(path, client) for table in tables):
        raise Refused(Code.NO_WATCHER)
    return b""


def _remove_watches(store: Store, client: Client, reader: Reader) -> bytes:
    path, tables = _tables(store, reader)
    removed = [table.remove(path, client) for table in tables]
    if not any(removed):
        raise Refused(Code.NO_WATCHER)
    return b""


def _set_watches(store: Store, client: Client, reader: Reader) -> bytes:
    _restore(store, client, reader)
    return b""


def _set_watches2(store: Store, client: Client, reader: Reader) -> bytes:
    _restore(store, client, reader)
    for mode in (Mode.PERSISTENT, Mode.RECURSIVE):
        for path in _texts(reader):
            store.watches.add(path, client, mode)
    return b""


def _texts(reader: Reader) -> Sequence[str]:
    return reader.vector(lambda: text(reader))


def _restore(store: Store, client: Client, reader: Reader) -> None:
    """Set a client's watches again, or tell at once what it missed while it was away."""
    tree, data, child = store.tree, store.watches.data, store.watches.child
    since = reader.int64()
    for path in _texts(reader):
        changed = path in tree and tree.node(path).mzxid > since
        _watch_again(client, data, path, _missed(tree, path, Event.CHANGED if changed else None))
    for path in _texts(reader):
        _watch_again(client, data, path, Event.CREATED if path in tree else None)
    for path in _texts(reader):
        changed = path in tree and tree.node(path).pzxid > since
        _watch_again(client, child, path, _missed(tree, path, Event.CHILDREN if changed else None))


def _missed(tree: Tree, path: str, if_there: Event | None) -> Event | None:
    return if_there if path in tree else Event.DELETED


def _watch_again(
    client: Client, table: WatchTable[Client], path: str, missed: Event | None
) -> None:
    if missed is None:
        table.add(path, client)
    else:
        client.notify(missed, path)


class Request(NamedTuple):
    """One kind of request: its name in the four-letter words, and what it does."""

    word: str
    run: Run


REQUESTS: dict[int, Request] = {
    Op.CREATE: Request("CREA", write(Op.CREATE)),
    Op.DELETE: Request("DELE", write(Op.DELETE)),
    Op.EXISTS: Request("EXIS", _exists),
    Op.GET_DATA: Request("GETD", _get_data),
    Op.SET_DATA: Request("SETD", write(Op.SET_DATA)),
    Op.GET_ACL: Request("GETA", _get_acl),
    Op.SET_ACL: Request("SETA", write(Op.SET_ACL)),
    Op.GET_CHILDREN: Request("GETC", _get_children),
    Op.SYNC: Request("SYNC", _sync),
    Op.GET_CHILDREN2: Request("GETC", _get_children2),
    Op.CHECK: Request("CHEC", write(Op.CHECK)),
    Op.MULTI: Request("MULT", multi),
    Op.CREATE2: Request("CREA", write(Op.CREATE2)),
    Op.RECONFIG: Request("RECO", _reconfig),
    Op.CHECK_WATCHES: Request("CHKW", _check_watches),
    Op.REMOVE_WATCHES: Request("REMW", _remove_watches),
    Op.CREATE_CONTAINER: Request("CREA", write(Op.CREATE_CONTAINER)),
    Op.CREATE_TTL: Request("CREA", write(Op.CREATE_TTL)),
    Op.MULTI_READ: Request("MLTR", _multi_read),
    Op.SET_WATCHES: Request("SETW", _set_watches),
    Op.GET_EPHEMERALS: Request("GETE", _get_ephemerals),
    Op.GET_ALL_CHILDREN_NUMBER: Request("GETACN", _get_all_children_number),
    Op.SET_WATCHES2: Request("STW2", _set_watches2),
    Op.ADD_WATCH: Request("ADDW", _add_watch),
    Op.WHO_AM_I: Request("HOMI", _who_am_i),
}
