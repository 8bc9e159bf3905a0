"""A tree of texts that know where they stand, and the mistakes found in one."""

from collections.abc import Iterator

import msgspec

from zktop.errors import UsageError
from zktop.model.text import clean

MOST_MISTAKES = 50  # more are counted, not printed


class Origin(msgspec.Struct, frozen=True):
    """Where a value comes from."""

    source: str  # a file, "command line", "environment ZKTOP_HOSTS" or "default"
    line: int | None = None
    option: str | None = None  # how a mistake calls it: --hosts, ZKTOP_HOSTS

    def __str__(self) -> str:
        """Name the place.

        >>> str(Origin("config.yaml", 12)), str(Origin("command line", option="--hosts"))
        ('config.yaml:12', 'command line')
        """
        return self.source if self.line is None else f"{self.source}:{self.line}"


DEFAULT = Origin("default")


class Scalar(msgspec.Struct, frozen=True):
    """One text; `plain` means written without quotes, so that it may mean a number."""

    text: str
    plain: bool
    origin: Origin

    @property
    def is_untyped(self) -> bool:
        """Whether it may stand for a number: without quotes, or as an option's value."""
        return self.plain or self.origin.option is not None


class Items(msgspec.Struct, frozen=True):
    """A list."""

    items: "tuple[Tree, ...]"
    origin: Origin


class Mapping(msgspec.Struct, frozen=True):
    """Keys and values in the order in which they were written, duplicates included."""

    pairs: "tuple[tuple[Scalar, Tree], ...]"
    origin: Origin

    def get(self, key: str) -> "Tree | None":
        """Give the first value of this key."""
        return next((value for name, value in self.pairs if name.text == key), None)


Tree = Scalar | Items | Mapping


class Mistake(msgspec.Struct, frozen=True):
    """One thing that is wrong: where, under which key, and what."""

    origin: Origin
    key: str
    what: str

    def __str__(self) -> str:
        """Say it in one line.

        >>> print(Mistake(Origin("config.yaml", 12), "roots[2].layuot", "unknown key"))
        config.yaml:12: roots[2].layuot: unknown key
        >>> print(Mistake(Origin("command line", option="--root"), "roots[0]", "is empty"))
        --root: is empty
        """
        where = self.origin.option or str(self.origin)
        key = () if self.origin.option or not self.key else (self.key,)
        return clean(": ".join((where, *key, self.what)))


class ConfigError(UsageError):
    """The config cannot be used; says every mistake, a line each."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        """Sort the mistakes by where they stand."""
        self.mistakes = tuple(
            dict.fromkeys(sorted(mistakes, key=lambda mistake: mistake.origin.line or 0))
        )
        super().__init__("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield from map(str, self.mistakes[:MOST_MISTAKES])
        if len(self.mistakes) > MOST_MISTAKES:
            yield f"... and {len(self.mistakes) - MOST_MISTAKES} more mistakes"


def merge(base: Mapping, over: Mapping) -> Mapping:
    """Lay one mapping over another: nested mappings are merged, everything else is replaced."""
    merged = {name.text: (name, value) for name, value in base.pairs}
    for name, value in over.pairs:
        _, below = merged.get(name.text, (name, value))
        if below is not value and isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[name.text] = (name, merge(below, value))
        else:
            merged[name.text] = (name, value)
    return Mapping(tuple(merged.values()), over.origin)
