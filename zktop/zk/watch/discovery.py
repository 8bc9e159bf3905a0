"""Finds locks in a tree that also holds other data, without watching all of it.

A root such as `/**`, or no root at all, is not watched at `/`: that would deliver every change of
every application. Discovery lists every znode once, in batches, and watches the narrowest parents
that hold locks as soon as it finds them. `search_order` decides what is listed first; `lock_signs`
decides from the Stats of a few children whether a znode is a lock or holds data. Discovery slowly
repeats the search from time to time. New ephemeral znodes, which servers list, are examined at
once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from zktop.model.facts import Stat, join, split
from zktop.model.format import count, several
from zktop.model.layouts.lock_names import sounds_like_lock
from zktop.zk.read.batch import SiblingNames, by_parent, child_prefix
from zktop.zk.read.requests import GET_CHILDREN, GET_DATA, NO_AUTH
from zktop.zk.read.requests_in_flight import Answer, Item, Reader, Result
from zktop.zk.watch.lock_signs import (
    ChunkContents,
    LooksLikeALock,
    content_of,
    is_empty_lock_folder,
    is_numbered,
    needs_no_owner,
)
from zktop.zk.watch.root_pattern import SEMAPHORE_QUEUE, RootPattern
from zktop.zk.watch.root_watcher import RootWatcher
from zktop.zk.watch.search_order import CHUNK_ZNODES, Chunk, SearchOrder, Siblings

WALK_EVERY_S = 30.0  # between two walks of a large tree
SMALL_WALK_EVERY_S = 2.0  # of a small tree
WALKED_PER_S = 50  # average znodes per second over time
BATCHES_AHEAD = 6  # under way in the first walk
ONE_USED_IN = 50  # locks: if fewer are used, empty lock folders are read last
MOSTLY_EMPTY_AFTER_S = 1.0  # from the end of a walk until they are read
MAX_UNOWNED_ZNODES = 20_000  # to read in places where no session owns a znode
MAX_UNOWNED_IN_ONE_PLACE = 1_000
FLOOD_PER_S = 5_000


class _Group:
    """Chunks whose znodes are listed together, and the Stats that were read to judge them."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.contents = {chunk.parent: ChunkContents(chunk) for chunk in chunks}
        self.unanswered = sum(len(chunk.names) for chunk in chunks)
        self.stats: dict[str, Stat] = {}


class Discovery:
    """Walks the wide roots and adds the locks that it finds to the watcher."""

    def __init__(
        self,
        reader: Reader,
        watcher: RootWatcher,
        roots: Sequence[RootPattern],
        looks_like_a_lock: LooksLikeALock,
        items_per_s: int,
    ) -> None:
        self._reader, self._watcher, self._roots = reader, watcher, roots
        self._looks_like_a_lock = looks_like_a_lock
        self._items_per_s = items_per_s
        self._watched: dict[str, RootPattern] = {}
        self._order = SearchOrder()
        self._under_way = 0  # requests
        self._connection_number = -1
        self._is_walking = False
        self._reached: set[str] = set()  # watched roots that this walk has reached
        self._ephemeral_places: AbstractSet[str] = set()  # as last listed by the servers
        self._mostly_empty: dict[str, Siblings] = {}  # large folders of locks by path
        self._unowned: dict[str, int] = {}  # znodes read where no session owns one, by place
        self._unowned_znodes = 0  # their sum
        self.walks = 0
        self.znodes_seen = 0  # in this walk
        self.znodes: int | None = None  # of the whole ensemble, as a server counts them
        self._may_chroot_be_a_lock = False
        self._denied: list[str] = []  # folders of this walk that may not be listed
        self._left_out: dict[str, None] = {}  # places of this walk with too many unowned znodes
        self.denied: tuple[str, ...] = ()  # of the last complete walk
        self.left_out: tuple[str, ...] = ()
        self.unread: tuple[tuple[str, int], ...] = ()  # large folders, and how many are in each

    @property
    def done_once(self) -> bool:
        """True after one walk of the whole tree."""
        return not self._roots or self.walks > 0

    @property
    def reads_more(self) -> bool:
        """True while folders of mostly unused locks, which come last, are still to be read."""
        has_rest = bool(self._mostly_empty) and self._watcher.persistent
        return has_rest and (bool(self.unread) or not self._watcher.settled)

    def progress(self) -> str:
        """Return how much of the tree has been examined, or an empty text after the first walk."""
        if self.done_once or not self.znodes_seen:
            return ""
        about = "at most" if self._reader.hosts.chroot else "about"
        whole = f" of {about} {max(self.znodes, self.znodes_seen):,}" if self.znodes else ""
        return f"{self.znodes_seen:,}{whole} znodes searched"

    def sentences(self) -> Iterator[str]:
        """Yield what the walks leave out, and which option would change that."""
        if denied := tuple(dict.fromkeys((*self.denied, *self._denied_in_watched_folders()))):
            paths = several(denied[:1], len(denied))
            yield f"the search for locks cannot list {paths}: give --auth"
        if self._may_chroot_be_a_lock:
            yield (
                f"the chroot {self._reader.hosts.chroot} has numbered children: if it is a lock "
                "itself, leave its last part out of --hosts"
            )
        if progress := self.progress():
            yield f"the search for locks continues: {progress}"
        until = "not read yet" if self._watcher.persistent else "not read: give --root"
        for path, number in self.unread:
            yield f"most of {number:,} lock folders in {path} are empty: {until}"
        if self.left_out:
            many = count(len(self.left_out), "place")
            yield (
                f"the search for locks skips {many} where no session owns a znode, such as "
                f"{self.left_out[0]}: give --root"
            )

    def _denied_in_watched_folders(self) -> Iterator[str]:
        """Yield folders that were never listed, and that walks skip with their watched parent."""
        tree = self._watcher.tree
        for path in tuple(tree.denied):
            if path not in tree.folders and join(split(path)[0], "*") in self._watched:
                yield path

    def take_over(self, pattern: RootPattern) -> None:
        """Find the locks of a root whose watch delivered too many other events."""
        self._roots = [*self._roots, pattern]
        if len(self._roots) == 1:
            self.start()
        elif self._connection_number == self._reader.connection_number:
            above, name = split(pattern.base)
            self._order.add(above, [name], is_all=False)  # this walk may have passed it
            self._list_more(self._connection_number)

    def start(self) -> None:
        """Begin a walk on a new connection."""
        if self._roots:
            self._connection_number = self._reader.connection_number
            self._under_way = 0
            self._walk(self._connection_number)
            self._order.prefer(self._unwatched(self._ephemeral_places))

    def prefer(self, places: AbstractSet[str]) -> None:
        """Examine znodes early that are ephemeral or have ephemeral children."""
        if not self._roots:
            return
        new = self._unwatched(places - self._ephemeral_places)
        self._ephemeral_places = places
        if self._connection_number != self._reader.connection_number:
            return  # `start` prefers them
        self._order.prefer(new)
        if not self._is_walking:
            for siblings in by_parent(new):
                self._order.add(siblings.parent, siblings.names, is_all=False)
        self._list_more(self._connection_number)

    def _unwatched(self, places: AbstractSet[str]) -> list[str]:
        """Return the places that the roots cover and that are not read yet."""
        folders = self._watcher.tree.folders
        return [
            path
            for path in places
            if self._covers(path) and not (path in folders or split(path)[0] in folders)
        ]

    # Listing

    def _walk(self, connection_number: int) -> None:
        if connection_number != self._connection_number:
            return
        self._reached, self._denied, self._left_out = set(), [], {}
        self._mostly_empty.clear()
        self._forget_unowned()
        self._is_walking, self.znodes_seen = True, 0
        self._order = SearchOrder()
        self._under_way += 1

        def on_listed(_batch: Sequence[Item], results: list[Result], _answer: Answer) -> None:
            self._under_way -= 1
            if results[0] == NO_AUTH:
                self._denied.append("/")
            elif not isinstance(results[0], int):
                has_chroot = bool(self._reader.hosts.chroot)
                self._may_chroot_be_a_lock = has_chroot and any(map(is_numbered, results[0]))
                self._add("/", results[0])
            self._list_more(connection_number)

        self._reader.read([(GET_CHILDREN, "/")], on_listed)

    def _add(self, path: str, names: Sequence[str]) -> None:
        """Search the children of a znode."""
        if any(root.covers_children(path) for root in self._roots):
            self._order.add(path, names)
            return
        self._order.add(path, [name for name in names if self._leads_to_root(join(path, name))])

    def _leads_to_root(self, path: str) -> bool:
        """True if a root covers this path or its base is below it."""
        return self._covers(path) or any(root.base.startswith(f"{path}/") for root in self._roots)

    def _covers(self, path: str) -> bool:
        return any(root.covers(path) for root in self._roots)

    def _list_more(self, connection_number: int) -> None:
        """List more znodes, up to the limit of requests under way."""
        if connection_number != self._connection_number:
            return
        max_under_way = 1 if self.walks else BATCHES_AHEAD
        while self._under_way < max_under_way and (chunks := self._order.take(CHUNK_ZNODES)):
            self._under_way += 1
            self._reader.read_siblings(
                GET_CHILDREN,
                [SiblingNames(chunk.parent, chunk.names) for chunk in chunks],
                partial(self._on_listed, _Group(chunks)),
            )
        if not self._under_way and self._is_walking:
            self._finish(connection_number)

    def _on_listed(
        self, group: _Group, batch: Sequence[SiblingNames], results: list[Result], _answer: Answer
    ) -> None:
        begin = 0
        for siblings in batch:
            end = begin + len(siblings.names)
            answered = zip(siblings.names, results[begin:end], strict=True)
            group.contents[siblings.parent].children.update(answered)
            begin = end
        group.unanswered -= begin
        if not group.unanswered:
            self._classify(group)

    def _classify(self, group: _Group) -> None:
        """Descend into folders, and read Stats where locks may be."""
        paths: list[str] = []
        for contents in group.contents.values():
            self.znodes_seen += len(contents.chunk.names)
            if contents.chunk.siblings.is_closed:
                continue
            self._classify_children(contents)
            for name in contents.possible:
                paths += contents.members(name)
            paths += map(contents.path, contents.some_leaves)
        if not paths:
            self._end_group(group)
            return
        group.unanswered = len(paths)
        self._reader.read([(GET_DATA, path) for path in paths], partial(self._on_stats, group))

    def _classify_children(self, contents: ChunkContents) -> None:
        """Sort children by their names. Most have no children and are not named like locks."""
        above, children = child_prefix(contents.chunk.parent), contents.children
        rest: Iterable[str] = children
        is_mostly_empty = contents.chunk.parent in self._mostly_empty
        any_sounds_like_lock = sounds_like_lock("\n".join(children))
        names_matter = any_sounds_like_lock and not is_mostly_empty
        if not names_matter and all(root.is_any_depth for root in self._roots):
            rest = [name for name, names in children.items() if names]
            contents.leaves = [name for name, names in children.items() if not names]
        for name in rest:
            path, names = above + name, children[name]
            if isinstance(names, int):
                if names == NO_AUTH:
                    self._denied.append(path)
            elif (names or sounds_like_lock(name)) and self._is_watched_root(path):
                contents.watched += path in self._watched
            elif self._may_be_a_lock(path, names):
                contents.possible.append(name)
            elif names:
                contents.folders += 1
                self._add(path, names)
            else:
                contents.leaves.append(name)

    def _is_watched_root(self, path: str) -> bool:
        """True if this path or its children are a watched root, which this walk has reached."""
        for root in (path, f"{path}/*"):
            if root in self._watched:
                self._reached.add(root)
                return True
        return False

    def _may_be_a_lock(self, path: str, names: Sequence[str]) -> bool:
        is_childless_member = not names and is_numbered(path)
        looks_like_a_lock = not is_childless_member and self._looks_like_a_lock(path, names)
        return any(
            (looks_like_a_lock or not root.is_any_depth) and root.matches(path)
            for root in self._roots
        )

    def _on_stats(
        self, group: _Group, batch: Sequence[Item], results: list[Result], _answer: Answer
    ) -> None:
        for (_, path), result in zip(batch, results, strict=True):
            if not isinstance(result, int):
                group.stats[path] = result[1]
        group.unanswered -= len(batch)
        if not group.unanswered:
            self._end_group(group)

    def _end_group(self, group: _Group) -> None:
        """Judge the group. Continue at full speed in the first walk, later at `items_per_s`."""
        for contents in group.contents.values():
            if contents.possible or contents.watched or contents.some_leaves:
                self._judge(contents, group.stats)
        number = sum(len(contents.chunk.names) for contents in group.contents.values())
        self._reader.loop.after(
            number / self._items_per_s if self.walks else 0.0,
            self._next_group,
            self._connection_number,
        )

    def _next_group(self, connection_number: int) -> None:
        if connection_number == self._connection_number:
            self._under_way -= 1
            self._list_more(connection_number)

    # Judging

    def _judge(self, contents: ChunkContents, stats: Mapping[str, Stat]) -> None:
        """Watch the locks among siblings: the whole folder if most are locks, else each lock."""
        siblings = contents.chunk.siblings
        if siblings.is_closed:  # while the Stats were read
            return
        locks, empty, unowned = self._classify_possible(contents, stats)
        locks += contents.held_leaves(stats)
        siblings.has_locks = siblings.has_locks or bool(locks or contents.watched)
        sample = set(contents.chunk.sample)
        used = contents.watched + len(sample.intersection(locks))
        lock_count = used + len(empty) + contents.unused(stats)
        if not siblings.is_large:
            lock_count += len(unowned)
        most_are_locks = 2 * lock_count > len(sample) and not contents.folders
        if most_are_locks and siblings.may_be_watched:
            self._left_out.pop(siblings.parent, None)
            if siblings.is_large and ONE_USED_IN * used < len(sample):
                self._mostly_empty[siblings.parent] = siblings
            else:
                self._watch_all(siblings)
                return
        for name in locks:
            self._watch_lock(contents, name)
        if siblings.parent not in self._mostly_empty:
            empty = [name for name in empty if self._admit_unowned(contents.path(name), ())]
            for name in (*empty, *unowned):
                self._watch(contents.path(name))

    def _watch_lock(self, contents: ChunkContents, name: str) -> None:
        """Watch a lock. If it is the queue of a semaphore, also watch the pool next to it."""
        self._watch(contents.path(name))
        pool = name.removesuffix(SEMAPHORE_QUEUE)
        if pool != name and pool in contents.children:  # all its children may be foreign
            self._watch(contents.path(pool))

    def _classify_possible(
        self, contents: ChunkContents, stats: Mapping[str, Stat]
    ) -> tuple[list[str], list[str], list[str]]:
        """Return the locks, empty folders, and other places without owners. Search the rest."""
        locks, empty, unowned = [], [], []
        for name in contents.possible:
            path = contents.path(name)
            content = content_of(
                stats[member] for member in contents.members(name) if member in stats
            )
            if any(not root.is_any_depth and root.matches(path) for root in self._roots):
                content = "lock"
            if content == "lock":
                locks.append(name)
                self.znodes_seen += len(contents.children[name])
            elif path in stats and is_empty_lock_folder(name, stats[path], is_among_many=False):
                empty.append(name)
            elif content == "unowned" and self._admit_unowned(path, contents.children[name]):
                unowned.append(name)
            else:
                contents.folders += 1
                self._add(path, contents.children[name])
        return locks, empty, unowned

    def _admit_unowned(self, path: str, names: Sequence[str]) -> bool:
        """Count a place where no session owns a znode. Return whether it may still be read."""
        if path in self._unowned:
            return True
        number = max(1, len(names))
        if (
            number <= MAX_UNOWNED_IN_ONE_PLACE
            and self._unowned_znodes + number <= MAX_UNOWNED_ZNODES
        ):
            self._unowned[path] = number
            self._unowned_znodes += number
            return True
        if needs_no_owner(path, names):
            self._left_out[path] = None
        return False

    def _forget_unowned(self) -> None:
        """Drop places that are no longer watched, alone or with their siblings."""
        for path in list(self._unowned):
            if path not in self._watched and join(split(path)[0], "*") not in self._watched:
                self._unowned_znodes -= self._unowned.pop(path)

    def _watch_all(self, siblings: Siblings) -> None:
        """Watch a whole folder of locks, in place of the watches on single locks in it."""
        self.znodes_seen += siblings.close()
        folder = f"{child_prefix(siblings.parent)}*"
        singly = [root for root in self._watched if split(root)[0] == siblings.parent]
        for root in singly:
            if root != folder:
                self._watcher.drop(self._watched.pop(root))
        self._watch(folder)

    def _watch_mostly_empty(self, connection_number: int) -> None:
        """Watch whole folders in which few locks are used, once all used ones have been read.

        Not on old servers, where each lock would take a watch and a request.
        """
        if connection_number == self._connection_number and self._watcher.persistent:
            for siblings in self._mostly_empty.values():
                self._watch_all(siblings)
            self.unread = ()

    def _watch(self, root: str) -> None:
        self._reached.add(root)
        if root not in self._watched:
            pattern = RootPattern(root)
            if self._watcher.add(pattern, flood_per_s=FLOOD_PER_S):
                self._watched[root] = pattern

    def _finish(self, connection_number: int) -> None:
        self.walks += 1
        self._is_walking = False
        self.denied, self.left_out = tuple(self._denied), tuple(self._left_out)
        unread = self._mostly_empty.values()
        self.unread = tuple([(siblings.parent, len(siblings.names)) for siblings in unread])
        tree = self._watcher.tree
        for root in self._watched.keys() - self._reached:
            base = self._watched[root].base
            if base not in tree.folders and not tree.pending(base):
                self._watcher.drop(self._watched.pop(root))
        self._reader.loop.after(MOSTLY_EMPTY_AFTER_S, self._watch_mostly_empty, connection_number)
        pause = min(WALK_EVERY_S, max(SMALL_WALK_EVERY_S, self.znodes_seen / WALKED_PER_S))
        self._reader.loop.after(pause, self._walk, connection_number)
