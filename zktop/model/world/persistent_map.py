"""An immutable mapping whose next version costs the same however large it is.

A world of ten thousand locks changes one lock at a time. Copying a dictionary of ten thousand
entries for that would make every event pay for all locks. A `PersistentMap` is a large dictionary
that never changes (the base), seen through a small one that is copied (the recent changes).
When the small one has grown to its limit, both are poured into a new base: a copy at C speed,
shared by a few dozen changes. A base remembers what was poured into it and into the ones before
it, so that the difference to a recent version is found without looking at everything.
"""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar, cast, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

RECENT_LIMIT = 64
FEW = 64  # entries that are looked through faster than a difference is remembered
FEW_RECENT = 8
POURS_REMEMBERED = 8

# Stands for one base; the base itself would be kept alive by whoever remembers it.
Mark = object


class PersistentMap(Mapping[K, V]):
    """A persistent mapping: `with_changes` leaves this one as it is and gives the next one."""

    __slots__ = ("base", "length", "mark", "poured_in", "recent")

    def __init__(
        self,
        base: Mapping[K, V] | None = None,
        recent: Mapping[K, V | None] | None = None,
        length: int | None = None,
    ) -> None:
        """Put entries on the shelf; it keeps these mappings, which must not change any more."""
        self.base: Mapping[K, V] = {} if base is None else base
        self.recent: Mapping[K, V | None] = {} if recent is None else recent  # None: taken away
        self.length = len(self.base) if length is None else length
        self.mark: Mark = self.base
        # Newest first: what differs from the base of that mark.
        self.poured_in: tuple[tuple[Mark, tuple[K, ...]], ...] = ()

    def with_changes(self, changes: Mapping[K, V | None]) -> "PersistentMap[K, V]":
        """Give the mapping with these entries set; None takes an entry away."""
        if not changes:
            return self
        gone = [key for key, value in changes.items() if value is None]
        came = len(changes) - len(gone) - len(self.among(changes.keys()))
        following = PersistentMap(self.base, {**self.recent, **changes}, self.length + came)
        following.mark, following.poured_in = self.mark, self.poured_in
        limit = RECENT_LIMIT if len(self.base) > FEW else FEW_RECENT
        return following if len(following.recent) <= limit else following.poured()

    def changed_since(self, before: "PersistentMap[K, V]") -> set[K]:
        """Give the keys whose values are not the same objects as in the earlier version.

        It looks at recent changes alone unless the earlier version is from long ago.
        """
        if before is self:
            return set()
        since = self._poured_since(before.mark)
        if since is None:
            keys = before.keys() | self.keys()
        else:
            keys = before.recent.keys() | self.recent.keys()
            keys = keys.union(*since)
        now, then = self.finder, before.finder
        return {key for key in keys if now(key) is not then(key)}

    def among(self, keys: AbstractSet[K]) -> set[K]:
        """Give those of the keys that are there, at the speed of C for the many that are not."""
        here = keys & self.base.keys()
        if not self.recent:
            return here
        here |= keys & self.recent.keys()
        return {key for key in here if key in self}

    @property
    def finder(self) -> Callable[..., V | None]:
        """Give what `get` is short for, to look for many: a base alone finds them at C speed."""
        return self.get if self.recent else self.base.get

    def _poured_since(self, mark: Mark) -> list[tuple[K, ...]] | None:
        """Give what was poured in since that base; None when that is not remembered."""
        found: list[tuple[K, ...]] = []
        if mark is self.mark:
            return found
        for earlier, keys in self.poured_in:
            found.append(keys)
            if earlier is mark:
                return found
        return None

    def poured(self) -> "PersistentMap[K, V]":
        """Give the same entries with nothing on top of them."""
        entries = {**self.base, **self.recent}
        for key, value in self.recent.items():
            if value is None:
                del entries[key]
        poured = PersistentMap(cast("dict[K, V]", entries))
        poured.mark = Mark()
        if len(poured) > FEW:  # of few that come and go, more would be remembered than there are
            remembered = self.poured_in[: POURS_REMEMBERED - 1]
            poured.poured_in = ((self.mark, tuple(self.recent)), *remembered)  # no values
        return poured

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V | T, /) -> V | T: ...
    def get(self, key: K, default: V | T | None = None, /) -> V | T | None:
        """Give the value, or the default where there is none."""
        if key in self.recent:
            value = self.recent[key]
            return default if value is None else value
        return self.base.get(key, default)

    def __getitem__(self, key: K) -> V:
        """Give the value, or raise KeyError as every mapping does."""
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        """Tell whether the key is there."""
        if key in self.recent:
            return self.recent[key] is not None  # type: ignore[index]  # it is a key: see above
        return key in self.base

    def __iter__(self) -> Iterator[K]:
        """Go through the keys, unchanged ones first."""
        yield from (key for key in self.base if key not in self.recent)
        yield from (key for key, value in self.recent.items() if value is not None)

    def __len__(self) -> int:
        """Count the entries; the count is kept, not taken."""
        return self.length

    def __repr__(self) -> str:
        """Show it like the dictionary it stands for."""
        return f"Shelf({dict(self)!r})"

    __hash__ = None  # type: ignore[assignment]  # a mapping that compares by value has no hash
