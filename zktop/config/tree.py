"""Untyped settings: a tree of texts that records where each text was written.

The config file, the environment and the command line all become such trees, so one reader checks
them all and can name the place of every mistake.
"""

import msgspec


class ValueOrigin(msgspec.Struct, frozen=True):
    """Where a value was written."""

    source: str  # a file, "command line", "environment ZKTOP_HOSTS" or "default"
    line: int | None = None
    option: str | None = None  # its name in messages: --hosts, ZKTOP_HOSTS

    def __str__(self) -> str:
        """Format the place for a mistake and for `--show-config`.

        >>> str(ValueOrigin("config.yaml", 12)), str(ValueOrigin("command line", option="--hosts"))
        ('config.yaml:12', 'command line')
        """
        return self.source if self.line is None else f"{self.source}:{self.line}"


DEFAULT = ValueOrigin("default")


class TextNode(msgspec.Struct, frozen=True):
    """One text. `plain` means written without quotes, so it may stand for a number."""

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
        _, base_value = merged.get(name.text, (name, None))
        if isinstance(base_value, MapNode) and isinstance(value, MapNode):
            merged[name.text] = (name, merge(base_value, value))
        else:
            merged[name.text] = (name, value)
    return MapNode(tuple(merged.values()), over.origin)
