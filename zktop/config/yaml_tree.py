"""A tree of texts that know where they stand, and the mistakes found in one.

YAML to a tree of texts; the only module that imports YAML.

The file is read as YAML's syntax alone: no tag makes an object, what is a number is for the types
to say, and every text knows its line. An alias is followed as often as it is used, so the number
of values is bounded, and so is the depth: a file that unfolds without end is refused at once.

The simple part of YAML: keys and one-line values, mappings in mappings, comments.

Themes and most config files are no more than that, and to import a YAML reader takes longer than
all the rest of reading them. Whatever is not simple beyond doubt is left to the YAML reader; what
is read here is read as it would be there.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

import msgspec
import yaml

from zktop.errors import UsageError
from zktop.model.text import clean

MOST_MISTAKES = 50  # more are counted, not printed


class ValueOrigin(msgspec.Struct, frozen=True):
    """Where a value comes from."""

    source: str  # a file, "command line", "environment ZKTOP_HOSTS" or "default"
    line: int | None = None
    option: str | None = None  # how a mistake calls it: --hosts, ZKTOP_HOSTS

    def __str__(self) -> str:
        """Name the place.

        >>> str(ValueOrigin("config.yaml", 12)), str(ValueOrigin("command line", option="--hosts"))
        ('config.yaml:12', 'command line')
        """
        return self.source if self.line is None else f"{self.source}:{self.line}"


DEFAULT = ValueOrigin("default")


class TextNode(msgspec.Struct, frozen=True):
    """One text; `plain` means written without quotes, so that it may mean a number."""

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
        """Give the first value of this key."""
        return next((value for name, value in self.pairs if name.text == key), None)


ConfigNode = TextNode | ListNode | MapNode


class ConfigMistake(msgspec.Struct, frozen=True):
    """One thing that is wrong: where, under which key, and what."""

    origin: ValueOrigin
    key: str
    what: str

    def __str__(self) -> str:
        """Say it in one line.

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
    """The config cannot be used; says every mistake, a line each."""

    def __init__(self, mistakes: list[ConfigMistake]) -> None:
        """Sort the mistakes by where they stand."""
        self.mistakes = tuple(
            dict.fromkeys(sorted(mistakes, key=lambda mistake: mistake.origin.line or 0))
        )
        super().__init__("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield from map(str, self.mistakes[:MOST_MISTAKES])
        if len(self.mistakes) > MOST_MISTAKES:
            yield f"... and {len(self.mistakes) - MOST_MISTAKES} more mistakes"


def merge(base: MapNode, over: MapNode) -> MapNode:
    """Lay one mapping over another: nested mappings are merged, everything else is replaced."""
    merged = {name.text: (name, value) for name, value in base.pairs}
    for name, value in over.pairs:
        _, below = merged.get(name.text, (name, value))
        if below is not value and isinstance(below, MapNode) and isinstance(value, MapNode):
            merged[name.text] = (name, merge(below, value))
        else:
            merged[name.text] = (name, value)
    return MapNode(tuple(merged.values()), over.origin)


DEEPEST = 24  # levels
LARGEST_FILE = 256 * 1024  # bytes
MOST_VALUES = 20_000

_TAGS = {
    f"tag:yaml.org,2002:{kind}"
    for kind in (
        "str",
        "int",
        "float",
        "bool",
        "null",
        "timestamp",
        "map",
        "seq",
        "merge",
        "value",
    )
}


def parse(data: bytes, name: str) -> ConfigNode | None:
    """Read one YAML document; an empty one is None."""
    node = _compose(_text(data, name), name)
    return None if node is None else _Growth(name).tree(node, 0)


class _Loader(yaml.SafeLoader):
    """Composes nodes, but no deeper and no more than anybody means to."""

    depth = 0
    values = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.values += 1
        if self.depth >= DEEPEST or self.values > MOST_VALUES:
            problem = _TOO_DEEP if self.depth >= DEEPEST else _TOO_MANY
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=self.get_mark())
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


_TOO_DEEP = f"nested deeper than {DEEPEST} levels"
_TOO_MANY = f"more than {MOST_VALUES} values (an alias counts whenever it is used)"


def _text(data: bytes, name: str) -> str:
    if len(data) > LARGEST_FILE:
        _stop(ValueOrigin(name), f"is larger than {LARGEST_FILE // 1024} KiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _stop(ValueOrigin(name, data.count(b"\n", 0, error.start) + 1), "is no UTF-8 text")


def _compose(text: str, name: str) -> yaml.Node | None:
    loader = None
    try:
        loader = _Loader(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(filter(None, (error.context, error.problem)))
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        _stop(ValueOrigin(name, line), f"is no YAML: column {column}: {what}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        _stop(
            ValueOrigin(name, line),
            f"is no YAML: the character #x{error.character:04x} is not allowed",
        )
    except (
        ValueError,
        OverflowError,
    ):  # PyYAML lets a few numbers in escapes and directives go by
        line = loader.get_mark().line + 1 if loader else 1
        _stop(ValueOrigin(name, line), "is no YAML: a number is out of range")
    return node


class _Growth:
    """Turns nodes into trees and counts them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values = 0

    def tree(self, node: yaml.Node, depth: int) -> ConfigNode:
        """Turn a node and all below it into a tree."""
        origin = ValueOrigin(self.name, node.start_mark.line + 1)
        self._bound(origin, depth)
        if node.tag not in _TAGS:
            _stop(origin, f"the tag {node.tag} is not allowed")
        if isinstance(node, yaml.MappingNode):
            pairs = (
                (self._key(key, depth), self.tree(value, depth + 1)) for key, value in node.value
            )
            return MapNode(tuple(pairs), origin)
        if isinstance(node, yaml.SequenceNode):
            return ListNode(tuple(self.tree(item, depth + 1) for item in node.value), origin)
        return TextNode(node.value, plain=getattr(node, "style", None) is None, origin=origin)

    def _key(self, node: yaml.Node, depth: int) -> TextNode:
        key = self.tree(node, depth + 1)
        if not isinstance(key, TextNode):
            _stop(key.origin, "a key must be one word, not a list or a mapping")
        return key

    def _bound(self, origin: ValueOrigin, depth: int) -> None:
        self.values += 1
        if depth > DEEPEST:
            _stop(origin, _TOO_DEEP)
        if self.values > MOST_VALUES:
            _stop(origin, _TOO_MANY)


def _stop(origin: ValueOrigin, what: str) -> NoReturn:
    raise ConfigError([ConfigMistake(origin, "", what)])


LARGEST = 16 * 1024  # bytes
SIMPLE_DEPTH = 8  # levels
_BLANK = r" *(?:#[ -~]*)?"
_PLAIN = "[A-Za-z0-9/][A-Za-z0-9_./;,()@%+'-]*(?: [A-Za-z0-9_./;,()@%+'-]+)*"
_LINE = (
    r"(?P<indent> *)(?P<key>[A-Za-z][A-Za-z0-9_-]{0,99}):"
    rf"(?: +(?:(?P<plain>{_PLAIN})|\"(?P<double>[ !#-\[\]-~]*)\"|'(?P<single>[ -&(-~]*)'))?"
    r"(?: +#[ -~]*| *)"
)


class _Line(NamedTuple):
    indent: int
    key: TextNode
    value: TextNode | None  # None: a mapping follows


class _NotSimpleError(Exception):
    """The YAML reader has to have a look."""


def simple(data: bytes, name: str) -> MapNode | None:
    """Read a simple file; None: it is none, or there is nothing in it."""
    if len(data) > LARGEST or not data.isascii():
        return None
    try:
        lines = deque(_lines(data.decode(), name))
        return _mapping(lines, 0, 1) if lines else None
    except _NotSimpleError:
        return None


def _lines(text: str, name: str) -> Iterator[_Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if re.fullmatch(_BLANK, line):
            continue
        match = re.fullmatch(_LINE, line)
        if match is None:
            raise _NotSimpleError
        origin = ValueOrigin(name, number)
        texts = [text for text in match.group("plain", "double", "single") if text is not None]
        plain = match["plain"] is not None
        value = TextNode(texts[0], plain=plain, origin=origin) if texts else None
        yield _Line(len(match["indent"]), TextNode(match["key"], plain=True, origin=origin), value)


def _mapping(lines: deque[_Line], indent: int, depth: int) -> MapNode:
    """Take the lines that begin here, and all that belong to them."""
    pairs: list[tuple[TextNode, ConfigNode]] = []
    while lines and lines[0].indent == indent:
        _, key, value = lines.popleft()
        if value is None and lines and lines[0].indent > indent and depth < SIMPLE_DEPTH:
            pairs.append((key, _mapping(lines, lines[0].indent, depth + 1)))
        elif value is not None:
            pairs.append((key, value))
        else:
            raise _NotSimpleError
    if not pairs or (lines and lines[0].indent > indent) or (lines and depth == 1):
        raise _NotSimpleError
    return MapNode(tuple(pairs), pairs[0][0].origin)
