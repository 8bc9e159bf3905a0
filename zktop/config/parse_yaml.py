"""Parse YAML into a config tree. No other module imports PyYAML.

Only YAML's syntax is used: no tag creates an object, the config's types decide what is a
number, and every text keeps its line number. Depth and number of values are limited. An alias
counts each time it is used, so a file that would expand endlessly is rejected.
"""

from typing import NoReturn

import yaml

from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.tree import ConfigNode, ListNode, MapNode, TextNode, ValueOrigin

MAX_DEPTH = 24  # levels
MAX_FILE_BYTES = 256 * 1024
MAX_VALUES = 20_000

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
    """Parse one YAML document, or return None for an empty one."""
    node = _compose(_decode(data, name), name)
    if node is None:
        return None
    builder = _TreeBuilder(name)
    tree = builder.tree(node, 0)
    if builder.mistakes:
        raise ConfigError(builder.mistakes)
    return tree


_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
_TOO_MANY = f"more than {MAX_VALUES} values (an alias counts each time it is used)"


def _decode(data: bytes, name: str) -> str:
    if len(data) > MAX_FILE_BYTES:
        _refuse(ValueOrigin(name), f"is larger than {MAX_FILE_BYTES // 1024} KiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(ValueOrigin(name, data.count(b"\n", 0, error.start) + 1), "is not UTF-8 text")


def _compose(text: str, name: str) -> yaml.Node | None:
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(filter(None, (error.context, error.problem)))
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        _refuse(ValueOrigin(name, line), f"is not valid YAML: column {column}: {problem}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        _refuse(
            ValueOrigin(name, line),
            f"is not valid YAML: the character #x{error.character:04x} is not allowed",
        )
    except RecursionError:
        _refuse(ValueOrigin(name, loader.get_mark().line + 1 if loader else 1), _TOO_DEEP)
    except (ValueError, OverflowError):  # PyYAML does not check numbers in escapes and directives
        line = loader.get_mark().line + 1 if loader else 1
        _refuse(ValueOrigin(name, line), "is not valid YAML: a number is out of range")
    return node


class _TreeBuilder:
    """Converts PyYAML's nodes and counts them, an alias each time it is used."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values = 0
        self.mistakes: list[ConfigMistake] = []

    def tree(self, node: yaml.Node, depth: int) -> ConfigNode:
        """Convert a node and everything below it."""
        origin = ValueOrigin(self.name, node.start_mark.line + 1)
        self._check_limits(origin, depth)
        if node.tag not in _TAGS:
            self._wrong(origin, f"the tag {node.tag} is not allowed")
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
        if isinstance(key, TextNode):
            return key
        self._wrong(key.origin, "a key must be one word, not a list or a mapping")
        return TextNode("", plain=False, origin=key.origin)

    def _wrong(self, origin: ValueOrigin, problem: str) -> None:
        self.mistakes.append(ConfigMistake(origin, "", problem))

    def _check_limits(self, origin: ValueOrigin, depth: int) -> None:
        self.values += 1
        if depth > MAX_DEPTH:
            _refuse(origin, _TOO_DEEP)
        if self.values > MAX_VALUES:
            _refuse(origin, _TOO_MANY)


def _refuse(origin: ValueOrigin, problem: str) -> NoReturn:
    raise ConfigError([ConfigMistake(origin, "", problem)])
