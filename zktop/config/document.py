"""YAML to a tree of texts; the only module that imports YAML.

The file is read as YAML's syntax alone: no tag makes an object, what is a number is for the types
to say, and every text knows its line. An alias is followed as often as it is used, so the number
of values is bounded, and so is the depth: a file that unfolds without end is refused at once.
"""

from typing import NoReturn

import yaml

from zktop.config.tree import ConfigError, Items, Mapping, Mistake, Origin, Scalar, Tree

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


def parse(data: bytes, name: str) -> Tree | None:
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
        _stop(Origin(name), f"is larger than {LARGEST_FILE // 1024} KiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _stop(Origin(name, data.count(b"\n", 0, error.start) + 1), "is no UTF-8 text")


def _compose(text: str, name: str) -> yaml.Node | None:
    loader = None
    try:
        loader = _Loader(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(filter(None, (error.context, error.problem)))
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        _stop(Origin(name, line), f"is no YAML: column {column}: {what}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        _stop(
            Origin(name, line), f"is no YAML: the character #x{error.character:04x} is not allowed"
        )
    except (
        ValueError,
        OverflowError,
    ):  # PyYAML lets a few numbers in escapes and directives go by
        line = loader.get_mark().line + 1 if loader else 1
        _stop(Origin(name, line), "is no YAML: a number is out of range")
    return node


class _Growth:
    """Turns nodes into trees and counts them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values = 0

    def tree(self, node: yaml.Node, depth: int) -> Tree:
        """Turn a node and all below it into a tree."""
        origin = Origin(self.name, node.start_mark.line + 1)
        self._bound(origin, depth)
        if node.tag not in _TAGS:
            _stop(origin, f"the tag {node.tag} is not allowed")
        if isinstance(node, yaml.MappingNode):
            pairs = (
                (self._key(key, depth), self.tree(value, depth + 1)) for key, value in node.value
            )
            return Mapping(tuple(pairs), origin)
        if isinstance(node, yaml.SequenceNode):
            return Items(tuple(self.tree(item, depth + 1) for item in node.value), origin)
        return Scalar(node.value, plain=getattr(node, "style", None) is None, origin=origin)

    def _key(self, node: yaml.Node, depth: int) -> Scalar:
        key = self.tree(node, depth + 1)
        if not isinstance(key, Scalar):
            _stop(key.origin, "a key must be one word, not a list or a mapping")
        return key

    def _bound(self, origin: Origin, depth: int) -> None:
        self.values += 1
        if depth > DEEPEST:
            _stop(origin, _TOO_DEEP)
        if self.values > MOST_VALUES:
            _stop(origin, _TOO_MANY)


def _stop(origin: Origin, what: str) -> NoReturn:
    raise ConfigError([Mistake(origin, "", what)])
