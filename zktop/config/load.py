"""Command line over environment over config file over default: what holds, and why.

All sources become trees of the same form, so one reader checks them all, in one pass, and every
value of the result knows where it comes from. A cluster is named on the command line, so it beats
the environment.

Where settings come from: a file, the environment, the command line; each as a tree.

The names that a config may use but does not define: built-in layouts, themes.

What was asked for outside the config file: by options and by the environment.
"""

import os
from collections.abc import Iterator
from collections.abc import Mapping as Environment
from functools import reduce
from typing import TYPE_CHECKING

import msgspec

from zktop.config.checks import checks
from zktop.config.reader import ConfigReader
from zktop.config.suggest import quoted
from zktop.config.types import Config, UiSection
from zktop.config.values import forms, is_null, one_of, sort
from zktop.config.yaml_tree import (
    DEFAULT,
    LARGEST_FILE,
    ConfigError,
    ConfigMistake,
    ConfigNode,
    ListNode,
    MapNode,
    TextNode,
    ValueOrigin,
    merge,
)
from zktop.model.layouts.catalogue import LAYOUTS

if TYPE_CHECKING:
    from pathlib import Path


def layout_names() -> set[str]:
    """Give the names of the built-in layouts."""
    return {layout.name for layout in LAYOUTS}


def theme_names(environ: Environment[str, str]) -> set[str]:
    """Give the names of the themes: ours, and the user's own beside the config file."""
    return {UiSection().theme, *theme_files(environ)}


def theme_files(environ: Environment[str, str]) -> "dict[str, Path]":
    """Find the file of every theme by its name; the user's own come before ours."""
    from pathlib import Path  # noqa: PLC0415  takes a while, and most commands ask for no theme

    package = Path(__file__).parent.parent
    installed = package / "themes"
    ours = installed if installed.is_dir() else package.parent / "themes"  # a checkout
    folders = (ours, Path(config_folder(environ)) / "themes")
    return {
        file.stem: file
        for folder in folders
        if folder.is_dir()
        for file in sorted(folder.glob("*.yaml"))
    }


def config_folder(environ: Environment[str, str]) -> str:
    """Give the folder of the user's own config and themes."""
    base = environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  as above
    return f"{base}/zktop"


COMMAND_LINE = "command line"


class Override(msgspec.Struct, frozen=True):
    """A setting that was given outside the file."""

    key: str  # where it would stand in the file: tls.ca
    texts: tuple[str, ...]
    origin: ValueOrigin
    is_list: bool = False

    @property
    def is_typed(self) -> bool:
        """Whether it stands on the command line, which beats the environment."""
        return self.origin.source == COMMAND_LINE


class Overrides(msgspec.Struct, frozen=True):
    """All that was asked for outside the file."""

    file: Override | None = None
    cluster: Override | None = None
    layouts: Override | None = None  # ROOT=NAME
    settings: tuple[Override, ...] = ()  # what comes later wins

    def over(self, other: "Overrides") -> "Overrides":
        """Lay this over what was asked for before; the environment stays below."""
        files = [file for file in (other.file, self.file) if file]
        return Overrides(
            max(files, key=lambda file: file.is_typed, default=None),
            self.cluster or other.cluster,
            self.layouts or other.layouts,
            tuple(sorted(other.settings + self.settings, key=lambda given: given.is_typed)),
        )


EMPTY = MapNode((), DEFAULT)


def default_file(environment: Environment[str, str]) -> Override | None:
    """Find the user's own config file, if there is one."""
    file = f"{config_folder(environment)}/config.yaml"
    is_there = os.path.isfile(file)  # noqa: PTH113  pathlib takes a while, and most have no file
    return Override("config", (file,), DEFAULT) if is_there else None


def file_tree(name: str) -> MapNode:
    """Read a config file; an empty one is an empty mapping."""
    from pathlib import Path  # noqa: PLC0415  as above

    from zktop.config.yaml_tree import simple  # noqa: PLC0415  many have no file

    try:
        with Path(name).expanduser().open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            [ConfigMistake(ValueOrigin(name), "", f"cannot be read: {why}")]
        ) from None
    return simple(data, name) or _yaml_tree(data, name)


def _yaml_tree(data: bytes, name: str) -> MapNode:
    from zktop.config import yaml_tree as document  # noqa: PLC0415  YAML is slow to import and rarely needed

    tree = document.parse(data, name)
    if tree is None or is_null(tree):
        return EMPTY
    if isinstance(tree, MapNode):
        return tree
    raise ConfigError(
        [ConfigMistake(tree.origin, "", f"expected a mapping (key: value), got {sort(tree)}")]
    )


def given_tree(given: Override) -> MapNode:
    """Put a setting where it would stand in the file."""
    texts = tuple(TextNode(text, plain=False, origin=given.origin) for text in given.texts)
    *sections, last = given.key.split(".")
    value = ListNode(texts, given.origin) if given.is_list else texts[-1]
    start = _record(given.origin, **{last: value})
    return reduce(lambda tree, name: _record(given.origin, **{name: tree}), sections[::-1], start)


def layout_roots(given: Override, mistakes: list[ConfigMistake]) -> tuple[MapNode, ...]:
    """Read `ROOT=NAME` pairs as roots."""
    roots = []
    for text in given.texts:
        path, equals, layout = text.rpartition("=")
        if equals:
            pair = {"path": path, "layout": layout}
            texts = {
                name: TextNode(part, plain=False, origin=given.origin)
                for name, part in pair.items()
            }
            roots.append(_record(given.origin, **texts))
        else:
            what = f"expected ROOT=NAME, like /locks/**=kazoo-lock, got {quoted(text)}"
            mistakes.append(ConfigMistake(given.origin, "", what))
    return tuple(roots)


def with_layouts(tree: MapNode, layouts: tuple[MapNode, ...]) -> MapNode:
    """Give roots their layouts; what is no root yet becomes one."""
    found = tree.get("roots")
    roots = list(found.items) if isinstance(found, ListNode) else []
    for layout in layouts:
        at = next((i for i, root in enumerate(roots) if _path(root) == _path(layout)), None)
        if at is None:
            roots.append(layout)
        else:
            below = roots[at]
            roots[at] = merge(below, layout) if isinstance(below, MapNode) else layout
    if not layouts:
        return tree
    origin = layouts[0].origin
    return merge(tree, _record(origin, roots=ListNode(tuple(roots), origin)))


def cluster_tree(given: Override, written: MapNode, mistakes: list[ConfigMistake]) -> MapNode:
    """Find the settings of a named cluster."""
    name = given.texts[-1]
    clusters = written.get("clusters")
    if not isinstance(clusters, MapNode):
        what = f"there is no cluster {quoted(name)}; a config file must define it"
        mistakes.append(ConfigMistake(given.origin, "", what))
        return EMPTY
    try:
        one_of("cluster", [known.text for known, _ in clusters.pairs])(name)
    except ValueError as error:
        mistakes.append(ConfigMistake(given.origin, "", str(error)))
    found = clusters.get(name)
    return found if isinstance(found, MapNode) else EMPTY


def _record(origin: ValueOrigin, **values: ConfigNode) -> MapNode:
    pairs = ((TextNode(name, plain=False, origin=origin), value) for name, value in values.items())
    return MapNode(tuple(pairs), origin)


def _path(root: ConfigNode) -> ConfigNode | str | None:
    path = root.get("path") if isinstance(root, MapNode) else root
    return path.text if isinstance(path, TextNode) else path


class EffectiveConfig(msgspec.Struct, frozen=True):
    """The settings that hold, and where each comes from."""

    config: Config
    file: Override | None = None
    cluster: Override | None = None
    origins: dict[str, ValueOrigin] = {}

    def origin(self, key: str) -> ValueOrigin:
        """Tell where a value comes from."""
        return self.origins.get(key, DEFAULT)


def load(file: str) -> Config:
    """Read one config file and nothing else."""
    return effective_config(
        Overrides(file=Override("config", (file,), ValueOrigin(COMMAND_LINE))), {}
    ).config


def effective_config(asked: Overrides, environment: Environment[str, str]) -> EffectiveConfig:
    """Join all sources, or say everything that is wrong with any of them."""
    file = asked.file or default_file(environment)
    written = file_tree(file.texts[-1]) if file else EMPTY
    mistakes = list(_layouts_given_twice(written))
    layouts = layout_roots(asked.layouts, mistakes) if asked.layouts else ()
    cluster = cluster_tree(asked.cluster, written, mistakes) if asked.cluster else EMPTY
    environ = [given_tree(each) for each in asked.settings if not each.is_typed]
    typed = [given_tree(each) for each in asked.settings if each.is_typed]
    readings = _Readings(written, environment)
    readings.read(written)
    for part in (with_layouts(EMPTY, layouts), *environ, *typed):
        readings.read(part, is_whole=False)  # what it lacks, another one may have
    readings.refuse(mistakes)
    joined = reduce(merge, (*environ, cluster, *typed), written)
    config = readings.read(with_layouts(joined, layouts))
    readings.refuse([])
    assert isinstance(config, Config)  # noqa: S101  no mistake, so nothing is WRONG
    return EffectiveConfig(config, file, asked.cluster, readings.origins)


class _Readings:
    """Several trees read with the same names known; their mistakes add up."""

    def __init__(self, written: MapNode, environment: Environment[str, str]) -> None:
        layouts = layout_names() | {name.text for _, name in _declared(written)}
        self.forms = forms(layouts, lambda: theme_names(environment))
        self.checks = checks(layouts)
        self.mistakes: list[ConfigMistake] = []
        self.origins: dict[str, ValueOrigin] = {}

    def read(self, tree: MapNode, *, is_whole: bool = True) -> object:
        reader = ConfigReader(self.forms, self.checks if is_whole else {})
        config = reader.record(Config, tree)
        self.mistakes += reader.mistakes
        self.origins = reader.origins
        return config

    def refuse(self, more: list[ConfigMistake]) -> None:
        if more or self.mistakes:
            raise ConfigError(more + self.mistakes)


def _layouts_given_twice(written: MapNode) -> Iterator[ConfigMistake]:
    first: dict[str, ValueOrigin] = {}
    for key, name in _declared(written):
        if name.text in first:
            what = f"a layout of this name is in line {first[name.text].line}; choose another name"
            yield ConfigMistake(name.origin, key, what)
        first.setdefault(name.text, name.origin)


def _declared(written: MapNode) -> Iterator[tuple[str, TextNode]]:
    layouts = written.get("layouts")
    for index, layout in enumerate(layouts.items if isinstance(layouts, ListNode) else ()):
        name = layout.get("name") if isinstance(layout, MapNode) else None
        if isinstance(name, TextNode):
            yield f"layouts[{index}].name", name
