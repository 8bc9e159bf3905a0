"""Lists and reads trees of znodes, and turns the answers into facts.

Members of locks are read once and never listed. A znode with children, or one that may be a
folder, is listed, and its names are remembered so that the next listing shows which are new. On a
server with persistent watches a listed znode costs nothing; elsewhere it costs one watch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from msgspec.structs import replace

from zktop.model.facts import (
    MAX_DATA_BYTES,
    Children,
    Denied,
    Gone,
    Node,
    NodeBatch,
    SourceFact,
    Stat,
    join,
    split,
)
from zktop.model.text import Text
from zktop.zk.read.batch import SiblingNames, by_parent, child_prefix
from zktop.zk.read.requests import (
    GET_CHILDREN,
    GET_DATA,
    NO_AUTH,
    NO_NODE,
    Exists,
    ListChildren,
    Read,
    decode_children,
    decode_stat,
)
from zktop.zk.read.requests_in_flight import MAX_BATCH_ITEMS, Answer, Item, Reader, Result
from zktop.zk.watch.root_pattern import looks_like_a_member
from zktop.zk.watch.watched_roots import WatchedRoot, WatchedRoots, covered_names


class ListedZnode:
    """A znode whose children are known: its last listing, and the events since."""

    __slots__ = (
        "_names",
        "creations",
        "deletions",
        "first_event_at",
        "last_event_at",
        "listed_at",
        "path",
        "root",
        "stat",
    )

    def __init__(self, path: str, root: WatchedRoot) -> None:
        self.path, self.root = path, root
        self._names: tuple[str, ...] | set[str] = ()
        self.stat: Stat | None = None  # from the newest listing
        self.creations = self.deletions = 0  # from events since then
        self.first_event_at = self.last_event_at = 0.0  # since then
        self.listed_at = 0.0

    @property
    def names(self) -> set[str]:
        """Names of the children, from the last listing and the events since.

        They stay a tuple until they are needed, because a set takes ten times the memory.
        """
        if isinstance(self._names, tuple):
            self._names = set(self._names)
        return self._names

    def created(self, name: str) -> None:
        """Note a child that an event has announced. The caller reads it."""
        self.names.add(name)
        self.creations += 1

    def relisted(self, names: tuple[str, ...]) -> set[str]:
        """Store the names of a new listing and return the previous names."""
        previous_names = self.names if self._names else set()
        self._names = names
        return previous_names


def may_have_new_data(folder: ListedZnode | None, stat: Stat) -> bool:
    """True if the znode's own data may have changed since its last listing."""
    return folder is None or folder.stat is None or folder.stat.mzxid != stat.mzxid


def created_again(folder: ListedZnode, previous_names: set[str], stat: Stat) -> set[str]:
    """Names that may now belong to a different znode.

    A member never gets the same name twice, but a lock that is a single znode does. The
    parent's counter shows if more znodes were created than there are new names and events.
    """
    if folder.stat is None:
        return set()
    created = (stat.next_sequence or 0) - (folder.stat.next_sequence or 0)
    if created <= len(folder.names - previous_names) + folder.creations:
        return set()
    return {name for name in previous_names & folder.names if not looks_like_a_member(name)}


class TreeReader:
    """Reads the znodes of all watched roots."""

    def __init__(
        self,
        reader: Reader,
        emit: Callable[[SourceFact], None],
        watch_budget: int,
        roots: WatchedRoots,
    ) -> None:
        self._reader, self._emit, self._watch_budget = reader, emit, watch_budget
        self._roots = roots
        self._clock = reader.clock
        self.folders: dict[str, ListedZnode] = {}
        self.denied: dict[str, WatchedRoot] = {}  # listing is denied by an ACL
        self.unreadable: set[str] = set()  # an ACL hides even the Stat
        self.single_watches: set[str] = set()
        self.polled: set[str] = set()  # no watch, or one that does not report everything
        self.on_hidden: Callable[[WatchedRoot, str], None] = lambda _root, _parent: None
        self.on_missing: Callable[[str], None] = lambda _base: None
        self.on_listed: Callable[[ListedZnode], None] = lambda _folder: None
        self._to_open: dict[WatchedRoot, list[str]] = {}
        self._to_read: dict[WatchedRoot, list[SiblingNames]] = {}
        self._number_to_read = 0
        self._opening: set[str] = set()
        self._reading: dict[str, set[str]] = {}  # names by parent

    @property
    def hidden(self) -> tuple[str, ...]:
        """The znodes that zktop may not list or read. Thread-safe."""
        return (*tuple(self.denied), *tuple(self.unreadable))

    def forget_all(self) -> None:
        """Start over on a new connection."""
        self.folders.clear()
        self.denied.clear()
        self.unreadable.clear()
        self.single_watches.clear()
        self.polled.clear()
        self._to_open.clear()
        self._to_read.clear()
        self._number_to_read = 0
        self._opening.clear()
        self._reading.clear()

    def pending(self, path: str) -> bool:
        """True if this znode has been requested and the answer is outstanding."""
        parent, name = split(path)
        return path in self._opening or name in self._reading.get(parent, ())

    def forget(self, path: str) -> None:
        """Drop a deleted znode and everything below it."""
        pending = [path]
        while pending:
            path = pending.pop()
            folder = self.folders.pop(path, None)
            self.denied.pop(path, None)
            self.unreadable.discard(path)
            self.single_watches.discard(path)
            self.polled.discard(path)
            pending += [join(path, name) for name in folder.names] if folder else ()

    def open(self, root: WatchedRoot, paths: Iterable[str]) -> None:
        """List znodes, and read the new names in them."""
        wanted = [path for path in paths if path not in self._opening]
        self._opening.update(wanted)
        if root.watched_singly or not self._reader.batches:
            for path in wanted:
                self._list_singly(root, path)
        else:
            self._to_open.setdefault(root, []).extend(wanted)

    def read(self, root: WatchedRoot, paths: Iterable[str]) -> None:
        """Read znodes, and list those that turn out to be folders."""
        for siblings in by_parent(paths):
            self.read_children(root, siblings)

    def read_children(self, root: WatchedRoot, siblings: SiblingNames) -> None:
        """Read children of one znode, like `read`."""
        under_way = self._reading.get(siblings.parent)
        if under_way is None:
            self._reading[siblings.parent] = set(siblings.names)
        else:
            siblings = SiblingNames(
                siblings.parent, [name for name in siblings.names if name not in under_way]
            )
            under_way.update(siblings.names)
        self._to_read.setdefault(root, []).append(siblings)
        self._number_to_read += len(siblings.names)
        if self._number_to_read >= MAX_BATCH_ITEMS:
            self.flush()

    def flush(self) -> None:
        """Send the collected reads in batches.

        Newly listed names are read before more znodes are listed, so that facts come in fewer
        batches.
        """
        to_open, self._to_open = self._to_open, {}
        for root, paths in to_open.items():
            both = [(operation, path) for path in paths for operation in (GET_DATA, GET_CHILDREN)]
            self._reader.read(both, partial(self._on_read_and_listed, root))
        to_read, self._to_read, self._number_to_read = self._to_read, {}, 0
        for root, siblings in to_read.items():
            self._reader.read_siblings(
                GET_DATA, siblings, partial(self._on_read, root), first=True
            )

    def _list_singly(self, root: WatchedRoot, path: str) -> None:
        fits = path in self.single_watches or len(self.single_watches) < self._watch_budget
        sets_watch = root.watched_singly and fits
        if sets_watch:
            self.single_watches.add(path)
        request = ListChildren(self._reader.hosts.full(path), watch=sets_watch)
        self._reader.ask(
            request,
            lambda answer: self._on_listed_singly(root, path, answer, is_watched=sets_watch),
        )

    def _on_listed_singly(
        self, root: WatchedRoot, path: str, answer: Answer, *, is_watched: bool
    ) -> None:
        self._opening.discard(path)
        if answer.error is not None:
            self.single_watches.discard(path)
            self._on_list_error(root, path, answer.code, answer)
            return
        names, stat = decode_children(answer.value)
        if stat.data_length == 0:  # no data to read
            self._emit_reads({path: (b"", stat)}, answer)
        elif may_have_new_data(self.folders.get(path), stat):
            self.read(root, [path])
        self._take_listing(root, path, cast(tuple[Text, ...], names), stat, answer)
        if is_watched:
            self.polled.discard(path)
        else:
            self.polled.add(path)

    def _on_read_and_listed(
        self, root: WatchedRoot, batch: Sequence[Item], results: list[Result], answer: Answer
    ) -> None:
        paths = [path for _, path in batch[::2]]
        self._opening.difference_update(paths)
        both = list(zip(paths, results[::2], results[1::2], strict=True))
        self._emit_reads(
            {path: read for path, read, _ in both if not isinstance(read, int)}, answer
        )
        for path, read, names in both:
            if isinstance(read, int):
                self._on_list_error(root, path, read, answer)
            elif isinstance(names, int):
                self._on_list_error(root, path, names, answer)
            elif names or self._may_be_folder(path, read[1]):
                self._take_listing(root, path, names, read[1], answer)

    def _take_listing(
        self, root: WatchedRoot, path: str, names: tuple[Text, ...], stat: Stat, answer: Answer
    ) -> None:
        zxid = answer.zxid
        if not self._clock.is_plain:
            zxid = self._clock.present((join(path, name) for name in names), zxid)
        self._emit(Children(zxid=zxid, at=answer.at, path=Text(path), names=names, stat=stat))
        self.denied.pop(path, None)
        self.unreadable.discard(path)
        folder = self.folders.setdefault(path, ListedZnode(path, root))
        if folder.root not in self._roots:  # dropped while its listing was under way
            folder.root = root
        previous_names = folder.relisted(names)
        new_names = (
            self._new_names(folder, names, previous_names, stat) if previous_names else names
        )
        folder.stat, folder.creations, folder.deletions = stat, 0, 0
        self.on_listed(folder)
        covering = self._roots.covering(path)
        new_names = covered_names(path, new_names, covering)
        if all(pattern.leads_to_locks(path) for pattern in covering):
            prefix = child_prefix(path)
            self.open(root, [prefix + name for name in sorted(new_names)])
        elif new_names:
            self.read_children(root, SiblingNames(path, new_names))

    def _new_names(
        self, folder: ListedZnode, names: Sequence[str], previous_names: set[str], stat: Stat
    ) -> Sequence[str]:
        """Return the names that are new since the last listing, and drop the vanished ones."""
        again = created_again(folder, previous_names, stat)
        for name in previous_names - folder.names:
            self.forget(join(folder.path, name))
        return [name for name in names if name not in previous_names or name in again]

    def _on_read(
        self,
        root: WatchedRoot,
        batch: Sequence[SiblingNames],
        results: list[Result],
        answer: Answer,
    ) -> None:
        refused: dict[str, int] = {}
        new_folders: list[str] = []
        labels: dict[bytes, bytes] = {}
        begin = 0
        for siblings in batch:
            self._note_arrived(siblings)
            end = begin + len(siblings.names)
            reads = dict(zip(siblings.names, results[begin:end], strict=True))
            for name in [name for name, read in reads.items() if isinstance(read, int)]:
                refused[siblings.path(name)] = reads.pop(name)
            self._emit_siblings(siblings.parent, reads, labels, answer)
            new_folders += self._find_folders(root, siblings, reads, answer)
            begin = end
        for path, code in refused.items():
            self._on_read_error(root, path, code, answer)
        if new_folders:
            self.open(root, new_folders)

    def _note_arrived(self, siblings: SiblingNames) -> None:
        """Remove these from the reads under way."""
        under_way = self._reading.get(siblings.parent, set())
        if len(under_way) > len(siblings.names):
            under_way.difference_update(siblings.names)
        else:
            self._reading.pop(siblings.parent, None)

    def _find_folders(
        self, root: WatchedRoot, siblings: SiblingNames, reads: dict[str, Read], answer: Answer
    ) -> Iterator[str]:
        """Yield folders to list. Under a recursive watch, empty ones are already complete."""
        for name, (_, stat) in reads.items():
            if stat.owner:
                continue
            path = siblings.path(name)
            if path in self.folders or not self._may_be_folder(path, stat):
                continue
            if root.recursive and stat.num_children == 0:
                # An event will report the first child.
                self._take_listing(root, path, (), stat, answer)
            else:
                yield path

    def _emit_reads(self, reads: Mapping[str, Read], answer: Answer) -> None:
        """Emit the results of reading these paths."""
        for siblings in by_parent(reads):
            by_name = {name: reads[siblings.path(name)] for name in siblings.names}
            self._emit_siblings(siblings.parent, by_name, {}, answer)

    def _emit_siblings(
        self, parent: str, reads: dict[str, Read], labels: dict[bytes, bytes], answer: Answer
    ) -> None:
        """Emit facts of siblings, one by one if a deletion may be newer.

        `labels` has the data of one answer: equal data is stored once, because labels repeat.
        """
        if not reads:
            return
        names: Any = tuple(reads)  # the fact cleans them
        kept = [(data or b"")[:MAX_DATA_BYTES] for data, _ in reads.values()]
        batch = NodeBatch(
            zxid=answer.zxid,
            at=answer.at,
            path=Text(parent),
            names=names,
            stats=tuple([stat for _, stat in reads.values()]),
            data=tuple([labels.setdefault(data, data) for data in kept]),
        )
        if self._clock.is_plain:
            self._emit(batch)
            return
        for name, node in zip(names, batch.nodes, strict=True):
            path = child_prefix(parent) + name
            self._emit(replace(node, zxid=self._clock.present((path,), node.zxid)))

    def _may_be_folder(self, path: str, stat: Stat) -> bool:
        if stat.owner:
            return False  # ephemeral znodes have no children
        return stat.num_children > 0 or not looks_like_a_member(split(path)[1])

    def _on_list_error(self, root: WatchedRoot, path: str, code: int, answer: Answer) -> None:
        if code == NO_AUTH:
            self.denied[path] = root
            self._emit(Denied(zxid=answer.zxid, at=answer.at, path=Text(path), what="list"))
            self._read_hidden_stat(root, path)
            self._open_contained(root, path)
        else:
            self._on_read_error(root, path, code, answer)

    def _open_contained(self, root: WatchedRoot, denied: str) -> None:
        """List the roots below a znode that may not be listed: their names are known."""
        below = [path for path in root.contained if path.startswith(child_prefix(denied))]
        unread = [path for path in below if path not in self.folders and path not in self.denied]
        self.open(root, sorted(unread))

    def _on_read_error(self, root: WatchedRoot, path: str, code: int, answer: Answer) -> None:
        if code == NO_NODE:
            self._emit(Gone(zxid=answer.zxid, at=answer.at, path=Text(path)))
            self.forget(path)
            if path == root.base:
                self.on_missing(path)
        elif code == NO_AUTH:
            self._read_hidden_stat(root, path)

    def _read_hidden_stat(self, root: WatchedRoot, path: str) -> None:
        """Try the Stat alone, which some servers return to any client: it names the owner."""
        request = Exists(self._reader.hosts.full(path))
        self._reader.ask(request, lambda answer: self._on_hidden_stat(root, path, answer))

    def _on_hidden_stat(self, root: WatchedRoot, path: str, answer: Answer) -> None:
        if answer.error is None:
            stat = decode_stat(answer.value)
            self._emit(Node(zxid=answer.zxid, at=answer.at, path=Text(path), stat=stat))
            if stat.num_children > 0 and path not in self.denied:
                self.open(root, [path])  # this fails, and is repeated until the ACL allows it
        elif answer.code == NO_AUTH:
            self.unreadable.add(path)
            self._emit(Denied(zxid=answer.zxid, at=answer.at, path=Text(path), what="read"))
        else:
            self._on_read_error(root, path, answer.code, answer)
            return
        self.on_hidden(root, path)
