"""A tree and a type make a value; every mistake on the way is noted, none stops the reading.

The types decide everything: known keys, required keys, bounds, choices, and through `form` how a
text is read. A part that is wrong becomes `WRONG`, and so does everything that contains it.
"""

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any, Final

from msgspec import inspect, structs

from zktop.config import values as scalars
from zktop.config.values import SCALARS, Form, is_null, sort
from zktop.config.yaml_tree import (
    ConfigMistake,
    ConfigNode,
    ListNode,
    MapNode,
    TextNode,
    ValueOrigin,
)
from zktop.model.text import nearest

WRONG: Final = object()

# What is wrong inside a finished value: the key, or "" for the whole of it, and the sentence.
Check = Callable[[Any], Iterable[tuple[str, str]]]


class KnownKey:
    """A key that a mapping may have."""

    def __init__(self, field: structs.FieldInfo) -> None:
        self.name, self.is_required = field.name, field.required
        self._type = field.type

    @cached_property
    def kind(self) -> inspect.Type:
        """What may stand there, taken apart when something does: most keys are never given."""
        return inspect.type_info(self._type)


@cache
def keys_of(made: type) -> dict[str, KnownKey]:
    """Give the keys of what becomes such a value, as they are written."""
    return {field.encode_name: KnownKey(field) for field in structs.fields(made)}


class ConfigReader:
    """Reads trees; keeps the mistakes, and where each value comes from."""

    def __init__(self, forms: dict[str, Form], checks: dict[type, Check]) -> None:
        """Take the forms of texts, and the checks of finished values by their type."""
        self.mistakes: list[ConfigMistake] = []
        self.origins: dict[str, ValueOrigin] = {}
        self._forms = forms
        self._checks = checks

    def read(self, kind: inspect.Type, tree: ConfigNode, key: str = "") -> object:
        """Give the value that this type makes of the tree, or WRONG."""
        self.origins[key] = tree.origin
        composite = _COMPOSITES.get(type(kind))
        if composite is not None:
            return composite(self, kind, tree, key)
        try:
            return SCALARS[type(kind)](kind, tree)
        except ValueError as error:
            return self._wrong(tree, key, str(error))

    def formed(self, kind: inspect.Metadata, tree: ConfigNode, key: str) -> object:
        """Read a value that is written down in a form of its own."""
        form = (kind.extra or {}).get("form")
        if form is None:
            return self.read(kind.type, tree, key)
        try:
            is_text = isinstance(kind.type, inspect.StrType)
            written = scalars.text(tree) if is_text else scalars.scalar(tree).text
            return self._forms[form](written)
        except ValueError as error:
            return self._wrong(tree, key, str(error))

    def either(self, kind: inspect.UnionType, tree: ConfigNode, key: str) -> object:
        """Read whichever type of several has the shape of the tree."""
        kinds = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        if len(kinds) < len(kind.types) and is_null(tree):
            return None
        fitting = [each for each in kinds if _shape(each) is type(tree)]
        if fitting or len(kinds) == 1:
            return self.read((fitting or kinds)[0], tree, key)
        wanted = " or ".join(_WANTED[_shape(each)] for each in kinds)
        return self._wrong(tree, key, f"expected {wanted}, got {sort(tree)}")

    def several(self, kind: inspect.VarTupleType, tree: ConfigNode, key: str) -> object:
        """Read a list."""
        if not isinstance(tree, ListNode):
            return self._wrong(tree, key, f"expected a list, got {sort(tree)}")
        items = tuple(
            self.read(kind.item_type, item, f"{key}[{index}]")
            for index, item in enumerate(tree.items)
        )
        return WRONG if _any_wrong(items) else items

    def named(self, kind: inspect.DictType, tree: ConfigNode, key: str) -> object:
        """Read a mapping whose keys are the user's own words, whatever YAML takes them for."""
        if not isinstance(tree, MapNode):
            return self._wrong(tree, key, f"expected a mapping (key: value), got {sort(tree)}")
        values = {}
        for name, value in self._unique(tree, key):
            try:
                values[scalars.printable(name)] = self.read(
                    kind.value_type, value, below(key, name.text)
                )
            except ValueError as error:
                values[""] = self._wrong(name, key, f"a key {error}")
        return WRONG if _any_wrong(values.values()) else values

    def record(self, made: type, tree: ConfigNode, key: str = "") -> object:
        """Read a mapping whose keys are known, to make a value of this type."""
        if not isinstance(tree, MapNode):
            return self._wrong(tree, key, f"expected a mapping (key: value), got {sort(tree)}")
        keys = keys_of(made)
        values: dict[str, object] = {}
        for name, value in self._unique(tree, key):
            inner = below(key, name.text)
            known = keys.get(name.text)
            if known is None:
                self._wrong(name, inner, f"unknown key ({_hint(name.text, list(keys))})")
            elif known.is_required or not is_null(value):
                values[known.name] = self.read(known.kind, value, inner)
            else:  # nothing was written: the default stays
                self.origins[inner] = value.origin
        return self._finished(made, values, tree, key)

    def _finished(
        self, made: type, values: dict[str, object], tree: ConfigNode, key: str
    ) -> object:
        required = [each.name for each in keys_of(made).values() if each.is_required]
        missing = [name for name in required if name not in values]
        for name in missing:
            self._wrong(tree, key, f"the key {name} is missing")
        if missing or _any_wrong(values.values()):
            return WRONG
        value = made(**values)
        for name, what in self._checks.get(made, _no_check)(value):
            inner = below(key, name) if name else key
            self.mistakes.append(ConfigMistake(self.origins.get(inner, tree.origin), inner, what))
        return value

    def _unique(self, tree: MapNode, key: str) -> list[tuple[TextNode, ConfigNode]]:
        first: dict[str, tuple[TextNode, ConfigNode]] = {}
        for name, value in tree.pairs:
            earlier = first.setdefault(name.text, (name, value))[0]
            if earlier is not name:
                line = earlier.origin.line
                self._wrong(name, below(key, name.text), f"given twice (first in line {line})")
        return list(first.values())

    def _wrong(self, tree: ConfigNode, key: str, what: str) -> object:
        self.mistakes.append(ConfigMistake(tree.origin, key, what))
        return WRONG


def below(key: str, name: str) -> str:
    """Write the path of a key inside another.

    >>> below("", "ui"), below("ui", "theme")
    ('ui', 'ui.theme')
    """
    return f"{key}.{name}" if key else name


_COMPOSITES: dict[type, Callable[..., object]] = {
    inspect.Metadata: ConfigReader.formed,
    inspect.UnionType: ConfigReader.either,
    inspect.VarTupleType: ConfigReader.several,
    inspect.DictType: ConfigReader.named,
    inspect.StructType: lambda reader, kind, *rest: reader.record(kind.cls, *rest),
}
_SHAPES = {inspect.StructType: MapNode, inspect.DictType: MapNode, inspect.VarTupleType: ListNode}
_WANTED: dict[type, str] = {TextNode: "text", ListNode: "a list", MapNode: "a mapping"}


def _shape(kind: inspect.Type) -> type:
    return (
        _shape(kind.type)
        if isinstance(kind, inspect.Metadata)
        else _SHAPES.get(type(kind), TextNode)
    )


def _hint(name: str, known: list[str]) -> str:
    meant = nearest(name, known)
    return f"did you mean {meant}?" if meant else f"known: {', '.join(known)}"


def _any_wrong(values: Iterable[object]) -> bool:
    return any(value is WRONG for value in values)


def _no_check(_: object) -> tuple[()]:
    return ()
