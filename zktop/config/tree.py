"""Untyped settings: a tree of texts that records where each text was written.

The config file, the environment and the command line all become such trees, so that one reader
checks them all and can name the place of every mistake.
"""

from collections.abc import Iterator

import msgspec

from zktop.errors import UsageError
from zktop.model.text import clean

MAX_MISTAKES = 50  # printed; the others are counted


class ValueOrigin(msgspec.Struct, frozen=True):
    """Where a value was written."""

    source: str  # a file, "command line", "environment ZKTOP_HOSTS" or "default"
    line: int | None = None
    option: str | None = None  # the name in a mistake: --hosts, ZKTOP_HOSTS

    def __str__(self) -> str:
        """Format the place for a mistake and for `--show-config`.

        >>> str(ValueOrigin("config.yaml", 12)), str(ValueOrigin("command line", option="--hosts"))
        ('config.yaml:12', 'command line')
        """
        return self.source if self.line is None else f"{self.source}:{self.line}"


DEFAULT = ValueOrigin("default")


class TextNode(msgspec.Struct, frozen=True):
    """One text; `plain` means written without quotes, so it may stand for a number."""

    text: str
    plain: bool
    origin: ValueOrigin

    @property
    def is_untyped(self) -> bool:
        """Whether it may stand for a number: without quotes, or as an option's value."""
        return self.plain or self.origin.option is not None


class ListNode(msgspec.Struct, frozen=True):
    """A list."""

    items: "tuple[ConfigNode, ...]"
    origin: ValueOrigin


class MapNode(msgspec.Struct, frozen=True):
    """Keys and values in the order in which they were written, duplicates included."""

    pairs: "tuple[tuple[TextNode, ConfigNode], ...]"
    origin: ValueOrigin

    def get(self, key: str) -> "ConfigNode | None":
        """Return the first value of a key."""
        return next((value for name, value in self.pairs if name.text == key), None)


ConfigNode = TextNode | ListNode | MapNode

EMPTY = MapNode((), DEFAULT)


def merge(base: MapNode, over: MapNode) -> MapNode:
    """Override one mapping with another: merge nested mappings, replace everything else."""
    merged = {name.text: (name, value) for name, value in base.pairs}
    for name, value in over.pairs:
        _, base_value = merged.get(name.text, (name, value))
        if (
            base_value is not value
            and isinstance(base_value, MapNode)
            and isinstance(value, MapNode)
        ):
            merged[name.text] = (name, merge(base_value, value))
        else:
            merged[name.text] = (name, value)
    return MapNode(tuple(merged.values()), over.origin)


class ConfigMistake(msgspec.Struct, frozen=True):
    """One mistake in the settings: its place, its key, and a sentence about it."""

    origin: ValueOrigin
    key: str
    what: str

    def __str__(self) -> str:
        """Format the mistake as one line.

        >>> line = ValueOrigin("config.yaml", 12)
        >>> print(ConfigMistake(line, "roots[2].layuot", "unknown key"))
        config.yaml:12: roots[2].layuot: unknown key
        >>> option = ValueOrigin("command line", option="--root")
        >>> print(ConfigMistake(option, "roots[0]", "is empty"))
        --root: is empty
        """
        where = self.origin.option or str(self.origin)
        key = () if self.origin.option or not self.key else (self.key,)
        return clean(": ".join((where, *key, self.what)))


class ConfigError(UsageError):
    """The settings cannot be used. The message has one line for each mistake."""

    def __init__(self, mistakes: list[ConfigMistake]) -> None:
        self.mistakes = tuple(
            dict.fromkeys(sorted(mistakes, key=lambda mistake: mistake.origin.line or 0))
        )
        super().__init__("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield from map(str, self.mistakes[:MAX_MISTAKES])
        if len(self.mistakes) > MAX_MISTAKES:
            yield f"... and {len(self.mistakes) - MAX_MISTAKES} more mistakes"
