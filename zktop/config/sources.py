"""Where settings come from: a file, the environment, the command line; each as a tree."""

import os
from collections.abc import Mapping as Environment
from functools import reduce

from zktop.config.asked import Given
from zktop.config.document import LARGEST_FILE
from zktop.config.forms import one_of
from zktop.config.known import config_folder
from zktop.config.scalars import is_null, sort
from zktop.config.tree import (
    DEFAULT,
    ConfigError,
    Items,
    Mapping,
    Mistake,
    Origin,
    Scalar,
    Tree,
    merge,
)
from zktop.config.words import quoted

EMPTY = Mapping((), DEFAULT)


def default_file(environment: Environment[str, str]) -> Given | None:
    """Find the user's own config file, if there is one."""
    file = f"{config_folder(environment)}/config.yaml"
    is_there = os.path.isfile(file)  # noqa: PTH113  pathlib takes a while, and most have no file
    return Given("config", (file,), DEFAULT) if is_there else None


def file_tree(name: str) -> Mapping:
    """Read a config file; an empty one is an empty mapping."""
    from pathlib import Path  # noqa: PLC0415  as above

    from zktop.config.simple import simple  # noqa: PLC0415  many have no file

    try:
        with Path(name).expanduser().open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError([Mistake(Origin(name), "", f"cannot be read: {why}")]) from None
    return simple(data, name) or _yaml_tree(data, name)


def _yaml_tree(data: bytes, name: str) -> Mapping:
    from zktop.config import document  # noqa: PLC0415  YAML is slow to import and rarely needed

    tree = document.parse(data, name)
    if tree is None or is_null(tree):
        return EMPTY
    if isinstance(tree, Mapping):
        return tree
    raise ConfigError(
        [Mistake(tree.origin, "", f"expected a mapping (key: value), got {sort(tree)}")]
    )


def given_tree(given: Given) -> Mapping:
    """Put a setting where it would stand in the file."""
    texts = tuple(Scalar(text, plain=False, origin=given.origin) for text in given.texts)
    *sections, last = given.key.split(".")
    value = Items(texts, given.origin) if given.is_list else texts[-1]
    start = _record(given.origin, **{last: value})
    return reduce(lambda tree, name: _record(given.origin, **{name: tree}), sections[::-1], start)


def layout_roots(given: Given, mistakes: list[Mistake]) -> tuple[Mapping, ...]:
    """Read `ROOT=NAME` pairs as roots."""
    roots = []
    for text in given.texts:
        path, equals, layout = text.rpartition("=")
        if equals:
            pair = {"path": path, "layout": layout}
            texts = {
                name: Scalar(part, plain=False, origin=given.origin) for name, part in pair.items()
            }
            roots.append(_record(given.origin, **texts))
        else:
            what = f"expected ROOT=NAME, like /locks/**=kazoo-lock, got {quoted(text)}"
            mistakes.append(Mistake(given.origin, "", what))
    return tuple(roots)


def with_layouts(tree: Mapping, layouts: tuple[Mapping, ...]) -> Mapping:
    """Give roots their layouts; what is no root yet becomes one."""
    found = tree.get("roots")
    roots = list(found.items) if isinstance(found, Items) else []
    for layout in layouts:
        at = next((i for i, root in enumerate(roots) if _path(root) == _path(layout)), None)
        if at is None:
            roots.append(layout)
        else:
            below = roots[at]
            roots[at] = merge(below, layout) if isinstance(below, Mapping) else layout
    if not layouts:
        return tree
    origin = layouts[0].origin
    return merge(tree, _record(origin, roots=Items(tuple(roots), origin)))


def cluster_tree(given: Given, written: Mapping, mistakes: list[Mistake]) -> Mapping:
    """Find the settings of a named cluster."""
    name = given.texts[-1]
    clusters = written.get("clusters")
    if not isinstance(clusters, Mapping):
        what = f"there is no cluster {quoted(name)}; a config file must define it"
        mistakes.append(Mistake(given.origin, "", what))
        return EMPTY
    try:
        one_of("cluster", [known.text for known, _ in clusters.pairs])(name)
    except ValueError as error:
        mistakes.append(Mistake(given.origin, "", str(error)))
    found = clusters.get(name)
    return found if isinstance(found, Mapping) else EMPTY


def _record(origin: Origin, **values: Tree) -> Mapping:
    pairs = ((Scalar(name, plain=False, origin=origin), value) for name, value in values.items())
    return Mapping(tuple(pairs), origin)


def _path(root: Tree) -> Tree | str | None:
    path = root.get("path") if isinstance(root, Mapping) else root
    return path.text if isinstance(path, Scalar) else path
