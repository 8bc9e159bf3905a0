"""An immutable mapping whose next version is cheap to make, whatever its size.

A world of ten thousand locks changes one lock at a time, and copying a dictionary of ten thousand
entries for each event is too slow. A `PersistentMap` is a large dictionary that never changes (the
base) and a small one on top of it, copied with each change (the recent changes). When the small
one reaches its limit, both are merged into a new base. A base remembers the keys that were merged
into it and its predecessors, so that a recent version is compared without looking at every entry.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar, cast, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

MAX_RECENT = 64
FEW_ENTRIES = 64  # comparing this many is faster than remembering which ones changed
FEW_RECENT = 8
MERGES_REMEMBERED = 8

# Identifies a base without keeping the base itself alive.
Mark = object


class PersistentMap(Mapping[K, V]):
    """An immutable mapping: `with_changes` returns the next version; this one never changes."""

    __slots__ = ("base", "mark", "merged", "recent")

    def __init__(
        self,
        base: Mapping[K, V] | None = None,
        recent: Mapping[K, V | None] | None = None,
    ) -> None:
        """Wrap these mappings, which must not change from now on."""
        self.base: Mapping[K, V] = {} if base is None else base
        self.recent: Mapping[K, V | None] = {} if recent is None else recent  # None: deleted
        self.mark: Mark = self.base
        # The merges that led to this base, newest first: the mark of the previous base, and the
        # keys that were merged into it.
        self.merged: tuple[tuple[Mark, tuple[K, ...]], ...] = ()

    def with_changes(self, changes: Mapping[K, V | None]) -> "PersistentMap[K, V]":
        """Return the mapping with these entries set; None deletes an entry."""
        if not changes:
            return self
        recent = {**self.recent, **changes}
        if len(recent) > (MAX_RECENT if len(self.base) > FEW_ENTRIES else FEW_RECENT):
            return self._merged_with(recent)
        following = PersistentMap(self.base, recent)
        following.mark, following.merged = self.mark, self.merged
        return following

    def changed_since(self, before: "PersistentMap[K, V]") -> set[K]:
        """Return the keys whose values are not the same objects as in the earlier version.

        Only recent changes are compared, unless the earlier version is old.
        """
        if before is self:
            return set()
        since = self._merged_since(before.mark)
        if since is None:
            return self._changed_in_all(before)
        keys = before.recent.keys() | self.recent.keys()
        return {key for key in keys.union(*since) if self.get(key) is not before.get(key)}

    def _changed_in_all(self, before: "PersistentMap[K, V]") -> set[K]:
        """Compare all entries: 30 ms for 100,000."""
        now = {**self.base, **self.recent}
        then = {**before.base, **before.recent}
        find = then.get
        changed = {key for key, value in now.items() if find(key) is not value}
        changed.update(key for key in then.keys() - now.keys() if find(key) is not None)
        return changed

    def among(self, keys: AbstractSet[K]) -> set[K]:
        """Return which of these keys the mapping has. This is fast if most are missing."""
        present = keys & self.base.keys()
        if not self.recent:
            return present
        present |= keys & self.recent.keys()
        return {key for key in present if key in self}

    def _merged_since(self, mark: Mark) -> list[tuple[K, ...]] | None:
        """Return the keys merged since that base; None if that is not remembered."""
        merged: list[tuple[K, ...]] = []
        if mark is self.mark:
            return merged
        for earlier, keys in self.merged:
            merged.append(keys)
            if earlier is mark:
                return merged
        return None

    def _merged_with(self, recent: Mapping[K, V | None]) -> "PersistentMap[K, V]":
        """Return a new base: this one with these recent changes."""
        entries = {**self.base, **recent}
        for key in [key for key, value in recent.items() if value is None]:
            del entries[key]
        following = PersistentMap(cast("dict[K, V]", entries))
        following.mark = Mark()
        if len(following) > FEW_ENTRIES:  # in a smaller map, the keys are not worth remembering
            remembered = self.merged[: MERGES_REMEMBERED - 1]
            following.merged = ((self.mark, tuple(recent)), *remembered)
        return following

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V | T, /) -> V | T: ...
    def get(self, key: K, default: V | T | None = None, /) -> V | T | None:
        """Return the value, or the default if there is none."""
        if key in self.recent:
            value = self.recent[key]
            return default if value is None else value
        return self.base.get(key, default)

    def __getitem__(self, key: K) -> V:
        """Return the value, or raise KeyError as every mapping does."""
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        if key in self.recent:
            return self.recent[key] is not None  # type: ignore[index]  # it is a key: see above
        return key in self.base

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys, unchanged ones first."""
        yield from (key for key in self.base if key not in self.recent)
        yield from (key for key, value in self.recent.items() if value is not None)

    def __len__(self) -> int:
        added = sum(value is not None for value in self.recent.values())
        return len(self.base) + added - len(self.base.keys() & self.recent.keys())

    def __repr__(self) -> str:
        return f"PersistentMap({dict(self)!r})"

    __hash__ = None  # type: ignore[assignment]  # a mapping that compares by value has no hash
