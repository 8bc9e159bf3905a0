"""Turn a config tree into a typed value, and collect every mistake.

The types define known keys, required keys, bounds and choices. Their `form` names the function
that parses a text, and their `needs` names a key that a mapping must have. A wrong part becomes
`WRONG`, and so does everything that contains it.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cache
from typing import Any, Final

from msgspec import NODEFAULT, inspect, structs

from zktop.config import parse_values
from zktop.config.mistakes import ConfigMistake
from zktop.config.parse_values import SCALARS, Form, is_null, kind_of
from zktop.config.suggest import hint
from zktop.config.tree import ConfigNode, ListNode, MapNode, TextNode, ValueOrigin

WRONG: Final = object()

# Checks a finished value. Yields the key ("" for the whole value) and what is wrong with it.
Check = Callable[[Any], Iterable[tuple[str, str]]]


class WrongPartError(Exception):
    """A check needs a part that is missing or wrong, which is reported separately."""


class RightParts:
    """A value without its missing or wrong parts. A check ends where it needs such a part."""

    def __init__(self, struct: type, values: dict[str, object]) -> None:
        self._struct = struct
        for field in structs.fields(struct):
            value = values.get(field.name, field.default)
            if value is NODEFAULT and field.default_factory is not NODEFAULT:
                value = field.default_factory()
            if value is not WRONG and value is not NODEFAULT:
                setattr(self, field.name, value)

    def __getattr__(self, name: str) -> object:
        """Compute a property from the right parts, or end the check."""
        attribute = getattr(self._struct, name, None)
        if isinstance(attribute, property) and attribute.fget:
            return attribute.fget(self)
        raise WrongPartError(name)


@cache
def keys_of(struct: type) -> dict[str, inspect.Field]:
    """Return the keys of a mapping type, as they are written in the file."""
    fields = inspect.type_info(struct).fields  # type: ignore[attr-defined]  # of a struct
    return {field.encode_name: field for field in fields}


class ConfigReader:
    """Reads config trees. Collects the mistakes, and where each value was written."""

    def __init__(
        self,
        forms: dict[str, Form],
        checks: dict[type, Check],
        unchecked: frozenset[str] = frozenset(),
    ) -> None:
        """Set the parsers and the checks by type. The keys in `unchecked` are not checked."""
        self.mistakes: list[ConfigMistake] = []
        self.origins: dict[str, ValueOrigin] = {}
        self._forms = forms
        self._checks = checks
        self._unchecked = unchecked
        self._top_keys: Collection[str] = ()

    def read(self, kind: inspect.Type, tree: ConfigNode, key: str = "") -> object:
        """Convert a tree to a value of this type, or WRONG."""
        self.origins[key] = tree.origin
        composite = _COMPOSITES.get(type(kind))
        if composite is not None:
            return composite(self, kind, tree, key)
        try:
            return SCALARS[type(kind)](kind, tree)
        except ValueError as error:
            return self._wrong(tree, key, str(error))

    def read_form(self, kind: inspect.Metadata, tree: ConfigNode, key: str) -> object:
        """Read a value with its own notation, like a duration, or with a required key."""
        extra = kind.extra or {}
        form = extra.get("form")
        if form is None:
            value = self.read(kind.type, tree, key)
            needed = extra.get("needs")
            if needed and isinstance(tree, MapNode) and tree.get(needed) is None:
                return self._wrong(tree, key, f"the key {needed} is missing")
            return value
        try:
            is_text = isinstance(kind.type, inspect.StrType)
            written = parse_values.text(tree) if is_text else parse_values.scalar(tree).text
            return self._forms[form](written)
        except ValueError as error:
            return self._wrong(tree, key, str(error))

    def read_union(self, kind: inspect.UnionType, tree: ConfigNode, key: str) -> object:
        """Read a value of several possible types: the one that fits text, list or mapping."""
        kinds = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        if len(kinds) < len(kind.types) and is_null(tree):
            return None
        fitting = [each for each in kinds if _node_type(each) is type(tree)]
        if fitting or len(kinds) == 1:
            return self.read((fitting or kinds)[0], tree, key)
        wanted = " or ".join(_NODE_NAMES[_node_type(each)] for each in kinds)
        return self._wrong(tree, key, f"expected {wanted}, got {kind_of(tree)}")

    def read_list(self, kind: inspect.VarTupleType, tree: ConfigNode, key: str) -> object:
        if not isinstance(tree, ListNode):
            return self._wrong(tree, key, f"expected a list, got {kind_of(tree)}")
        items = tuple(
            self.read(kind.item_type, item, f"{key}[{index}]")
            for index, item in enumerate(tree.items)
        )
        return WRONG if _any_wrong(items) else items

    def read_mapping(self, kind: inspect.DictType, tree: ConfigNode, key: str) -> object:
        """Read a mapping with keys chosen by the user."""
        if not isinstance(tree, MapNode):
            return self._wrong(tree, key, f"expected a mapping (key: value), got {kind_of(tree)}")
        pairs = [
            (
                self._read_name(kind.key_type, name, key),
                self.read(kind.value_type, value, inner_key(key, name.text)),
            )
            for name, value in self._unique_pairs(tree, key)
        ]
        return WRONG if any(map(_any_wrong, pairs)) else dict(pairs)

    def _read_name(self, kind: inspect.Type, name: TextNode, key: str) -> object:
        """Read a key chosen by the user, which may have to be an address."""
        try:
            written = parse_values.printable(name)
        except ValueError as error:
            return self._wrong(name, key, f"a key {error}")
        is_any = isinstance(kind, inspect.StrType)
        return written if is_any else self.read(kind, name, inner_key(key, written))

    def read_struct(self, struct: type, tree: ConfigNode, key: str = "") -> object:
        """Read a mapping with known keys as a value of type `struct`."""
        if not isinstance(tree, MapNode):
            return self._wrong(tree, key, f"expected a mapping (key: value), got {kind_of(tree)}")
        keys = keys_of(struct)
        self._top_keys = self._top_keys if key else keys
        values: dict[str, object] = {}
        for name, value in self._unique_pairs(tree, key):
            inner = inner_key(key, name.text)
            known = keys.get(name.text)
            if known is None:
                is_of_file = bool(key) and name.text in self._top_keys
                meant = "set it at the top level" if is_of_file else hint(name.text, keys)
                self._wrong(name, inner, f"unknown key ({meant})")
            elif known.required or not is_null(value):
                values[known.name] = self.read(known.type, value, inner)
            else:  # `key:` without a value keeps the default
                self.origins[inner] = value.origin
        return self._build(struct, values, tree, key)

    def _build(
        self, struct: type, values: dict[str, object], tree: ConfigNode, key: str
    ) -> object:
        required = [each.name for each in keys_of(struct).values() if each.required]
        missing = [name for name in required if name not in values]
        for name in missing:
            self._wrong(tree, key, f"the key {name} is missing")
        is_wrong = bool(missing) or _any_wrong(values.values())
        value = RightParts(struct, values) if is_wrong else struct(**values)
        check = _no_check if key in self._unchecked else self._checks.get(struct, _no_check)
        with suppress(WrongPartError):
            for name, problem in check(value):
                inner = inner_key(key, name) if name else key
                origin = self.origins.get(inner, tree.origin)
                self.mistakes.append(ConfigMistake(origin, inner, problem))
        return WRONG if is_wrong else value

    def _unique_pairs(self, tree: MapNode, key: str) -> list[tuple[TextNode, ConfigNode]]:
        first: dict[str, tuple[TextNode, ConfigNode]] = {}
        for name, value in tree.pairs:
            earlier = first.setdefault(name.text, (name, value))[0]
            if earlier is not name:
                line = earlier.origin.line
                self._wrong(name, inner_key(key, name.text), f"given twice (first in line {line})")
        return list(first.values())

    def _wrong(self, tree: ConfigNode, key: str, problem: str) -> object:
        self.mistakes.append(ConfigMistake(tree.origin, key, problem))
        return WRONG


def inner_key(key: str, name: str) -> str:
    """Join a key and a key inside it.

    >>> inner_key("", "ui"), inner_key("ui", "theme")
    ('ui', 'ui.theme')
    """
    return f"{key}.{name}" if key else name


_COMPOSITES: dict[type, Callable[..., object]] = {
    inspect.Metadata: ConfigReader.read_form,
    inspect.UnionType: ConfigReader.read_union,
    inspect.VarTupleType: ConfigReader.read_list,
    inspect.DictType: ConfigReader.read_mapping,
    inspect.StructType: lambda reader, kind, *rest: reader.read_struct(kind.cls, *rest),
}
_NODE_TYPES = {
    inspect.StructType: MapNode,
    inspect.DictType: MapNode,
    inspect.VarTupleType: ListNode,
}
_NODE_NAMES: dict[type, str] = {TextNode: "text", ListNode: "a list", MapNode: "a mapping"}


def _node_type(kind: inspect.Type) -> type:
    if isinstance(kind, inspect.Metadata):
        return _node_type(kind.type)
    return _NODE_TYPES.get(type(kind), TextNode)


def _any_wrong(values: Iterable[object]) -> bool:
    return any(value is WRONG for value in values)


def _no_check(_: object) -> tuple[()]:
    return ()
