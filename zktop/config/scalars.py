"""One text and a type make a value, or a ValueError that says what was expected.

YAML's own opinion of what a text means is not asked: `introspect: off` is a word because the type
wants words, and `password: 0123` is refused because the type wants text and a number stands there.
What was found is told by its sort, not repeated, where it may be a secret.
"""

import re
from collections.abc import Callable, Iterable

from msgspec import inspect

from zktop.config.tree import Items, Mapping, Scalar, Tree
from zktop.config.words import quoted
from zktop.model.text import clean, nearest

_NULLS = {"", "~", "null", "Null", "NULL"}
_TRUTHS = dict.fromkeys(("true", "yes", "on"), True) | dict.fromkeys(("false", "no", "off"), False)
_WHOLE = r"[-+]?(0|[1-9][0-9_]{0,17})"
_DECIMAL = r"[-+]?[0-9]{1,18}(\.[0-9]{0,18})?([eE][-+]?[0-9]{1,2})?"
_NUMBER_TO_YAML = r"[-+]?(0[xob])?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?"


def is_null(tree: Tree) -> bool:
    """Tell whether nothing stands here: `key:` or `key: null`."""
    return isinstance(tree, Scalar) and tree.plain and tree.text in _NULLS


def sort(tree: Tree) -> str:
    """Say what stands here, without repeating it."""
    if isinstance(tree, Items):
        return "a list"
    if isinstance(tree, Mapping):
        return "a mapping"
    if is_null(tree):
        return "nothing"
    if tree.plain and tree.text.lower() in _TRUTHS:
        return f"the truth value {tree.text}"
    return "a number" if tree.plain and _is(_NUMBER_TO_YAML, tree) else "text"


def scalar(tree: Tree) -> Scalar:
    """Take one value, of whatever sort."""
    if isinstance(tree, Scalar) and not is_null(tree):
        return tree
    raise ValueError(f"expected one value, got {sort(tree)}")


def text(tree: Tree) -> str:
    """Read a text; numbers and truth values must be in quotes to be one."""
    found = sort(tree)
    if not isinstance(tree, Scalar) or found == "nothing":
        raise ValueError(f"expected text, got {found}")
    if found != "text":
        raise ValueError(f"expected text, got {found} (put it in quotes)")
    return printable(tree)


def printable(tree: Scalar) -> str:
    """Refuse what a terminal would obey."""
    if clean(tree.text) != tree.text:
        raise ValueError("contains characters that cannot be printed")
    return tree.text


def choice(kind: inspect.LiteralType, tree: Tree) -> object:
    """Read one of a few words."""
    words = tuple(map(str, kind.values))
    if not isinstance(tree, Scalar) or is_null(tree):
        raise ValueError(f"expected {_either(words)}, got {sort(tree)}")
    if tree.text in words:
        return tree.text
    meant = nearest(tree.text, words)
    hint = f" (did you mean {meant}?)" if meant else ""
    raise ValueError(f"expected {_either(words)}, got {quoted(tree.text)}{hint}")


def truth(tree: Tree) -> bool:
    """Read a truth value."""
    if isinstance(tree, Scalar) and tree.is_untyped and tree.text.lower() in _TRUTHS:
        return _TRUTHS[tree.text.lower()]
    raise ValueError(f"expected true or false, got {sort(tree)}")


def whole(kind: inspect.IntType, tree: Tree) -> int:
    """Read a whole number within its bounds."""
    if not isinstance(tree, Scalar) or not tree.is_untyped or not _is(_WHOLE, tree):
        raise ValueError(f"expected a whole number, got {_number_sort(tree)}")
    value = int(tree.text.replace("_", ""))
    _within(kind, value, tree.text)
    return value


def decimal(kind: inspect.FloatType, tree: Tree) -> float:
    """Read a number within its bounds."""
    if not isinstance(tree, Scalar) or not tree.is_untyped or not _is(_DECIMAL, tree):
        raise ValueError(f"expected a number, got {_number_sort(tree)}")
    _within(kind, float(tree.text), tree.text)
    return float(tree.text)


SCALARS: dict[type, Callable[..., object]] = {
    inspect.BoolType: lambda _, tree: truth(tree),
    inspect.FloatType: decimal,
    inspect.IntType: whole,
    inspect.LiteralType: choice,
    inspect.StrType: lambda _, tree: text(tree),
}


def _is(pattern: str, tree: Scalar) -> bool:
    return re.fullmatch(pattern, tree.text, re.ASCII) is not None


def _number_sort(tree: Tree) -> str:
    if isinstance(tree, Scalar) and not is_null(tree):
        return f"the text {quoted(tree.text)}" if sort(tree) == "text" else quoted(tree.text)
    return sort(tree)


def _within(kind: inspect.IntType | inspect.FloatType, value: float, written: str) -> None:
    if kind.ge is not None and value < kind.ge:
        raise ValueError(f"must be at least {kind.ge:g}, got {written}")
    if kind.le is not None and value > kind.le:
        raise ValueError(f"must be at most {kind.le:g}, got {written}")


def _either(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
