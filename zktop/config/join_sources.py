"""Join command line, environment, config file and defaults into one checked `Config`.

Precedence: command line, then the named cluster, then the environment, then the file. All
become trees of the same form, so one reader finds every mistake in one pass and records the
origin of every value.
"""

import os
from collections.abc import Iterator
from collections.abc import Mapping as Environment
from functools import reduce

import msgspec
from msgspec.structs import replace

from zktop.config.check_across_keys import checks
from zktop.config.check_keys import ConfigReader, inner_key
from zktop.config.clusters import COMPLETED, cluster_tree, with_inherited
from zktop.config.files import default_file, file_tree, theme_names
from zktop.config.keys_and_defaults import Config, ConnectionSection
from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.overrides import Override, Overrides, layout_roots, with_layouts
from zktop.config.parse_values import forms
from zktop.config.tree import (
    DEFAULT,
    EMPTY,
    ConfigNode,
    ListNode,
    MapNode,
    TextNode,
    ValueOrigin,
    merge,
)
from zktop.model.locks.shapes import LAYOUTS

_CONNECTION = frozenset(ConnectionSection.__struct_fields__)


class EffectiveConfig(msgspec.Struct, frozen=True):
    """The settings in effect, and where each was written."""

    config: Config
    file: Override | None = None
    cluster: Override | None = None
    origins: dict[str, ValueOrigin] = {}

    @property
    def cluster_name(self) -> str:
        """The name of the cluster, or its hosts if it has none."""
        return self.cluster.texts[-1] if self.cluster is not None else self.config.hosts

    def origin(self, key: str) -> ValueOrigin:
        """Return where the value of a key was written, or DEFAULT if nowhere."""
        return self.origins.get(key, DEFAULT)


def load_sections(
    file: str,
    sections: frozenset[str],
    wrong: frozenset[str],
    environment: Environment[str, str],
) -> EffectiveConfig:
    """Read some sections of a config file, without the keys that are known to be wrong."""
    written = file_tree(file)
    pairs = (
        (name, _without(value, wrong, name.text))
        for name, value in written.pairs
        if name.text in sections - wrong
    )
    return _joined(Overrides(), environment, None, replace(written, pairs=tuple(pairs)))


def effective_config(
    overrides: Overrides, environment: Environment[str, str] = os.environ
) -> EffectiveConfig:
    """Join all sources, or raise a ConfigError that lists every mistake in any of them."""
    file = overrides.file or default_file(environment)
    written = file_tree(file.texts[-1]) if file else EMPTY
    return _joined(overrides, environment, file, written, _completed_keys(overrides))


def cluster_configs(
    overrides: Overrides, environment: Environment[str, str] = os.environ
) -> dict[str, Config]:
    """Return the config of each cluster that the file names.

    Connection settings from outside the file apply only to the ensemble that zktop starts with:
    its credentials must not be sent to another one.
    """
    file = overrides.file or default_file(environment)
    written = file_tree(file.texts[-1]) if file else EMPTY
    clusters = written.get("clusters")
    names = clusters.pairs if isinstance(clusters, MapNode) else ()
    others = tuple(setting for setting in overrides.settings if setting.section not in _CONNECTION)
    first = overrides.cluster.texts[-1] if overrides.cluster is not None else None
    return {
        name.text: _joined(
            replace(
                overrides,
                cluster=Override("cluster", (name.text,), name.origin),
                settings=overrides.settings if name.text == first else others,
            ),
            environment,
            file,
            written,
            _completed_keys(overrides),
        ).config
        for name, _ in names
    }


def _completed_keys(overrides: Overrides) -> frozenset[str]:
    """Return the keys of sections that options complete, which are checked only when joined."""
    sections = COMPLETED & {setting.section for setting in overrides.settings}
    cluster = f"clusters.{overrides.cluster.texts[-1]}" if overrides.cluster is not None else ""
    return sections | {inner_key(cluster, section) for section in sections}


def _joined(
    overrides: Overrides,
    environment: Environment[str, str],
    file: Override | None,
    written: MapNode,
    completed: frozenset[str] = frozenset(),
) -> EffectiveConfig:
    """Join the sources. Sections that are `completed` by options are not checked alone."""
    written = with_inherited(written)
    mistakes = list(_duplicate_layouts(written))
    layouts = layout_roots(overrides.layouts, mistakes) if overrides.layouts else ()
    cluster = cluster_tree(overrides.cluster, written, mistakes) if overrides.cluster else EMPTY
    from_environment = [setting.tree for setting in overrides.settings if not setting.is_typed]
    typed = [setting.tree for setting in overrides.settings if setting.is_typed]
    check = _Check(written, environment)
    check.read(written, unchecked=completed)
    for part in (with_layouts(EMPTY, layouts), *from_environment, *typed):
        check.read(part, is_whole=False)  # a missing key may be in another part
    check.raise_mistakes(mistakes)
    # Options have completed the sections at the top, but not those inside the cluster.
    joined = reduce(merge, (*from_environment, cluster, *typed), written)
    config = check.read(with_layouts(joined, layouts), unchecked=completed - COMPLETED)
    check.raise_mistakes([])
    assert isinstance(config, Config)  # noqa: S101  without mistakes nothing is WRONG
    return EffectiveConfig(config, file, overrides.cluster, check.origins)


def _without(tree: ConfigNode, wrong: frozenset[str], key: str) -> ConfigNode:
    """Return a tree without some keys, which are written as in mistakes: ui.keys.quit."""
    if isinstance(tree, MapNode):
        pairs = (
            (name, _without(value, wrong, inner))
            for name, value in tree.pairs
            if (inner := inner_key(key, name.text)) not in wrong
        )
        return replace(tree, pairs=tuple(pairs))
    if isinstance(tree, ListNode):
        numbered = ((f"{key}[{number}]", item) for number, item in enumerate(tree.items))
        items = (_without(item, wrong, inner) for inner, item in numbered if inner not in wrong)
        return replace(tree, items=tuple(items))
    return tree


class _Check:
    """Reads several trees with the same known names, and collects their mistakes."""

    def __init__(self, written: MapNode, environment: Environment[str, str]) -> None:
        layouts = {layout.name for layout in LAYOUTS}
        layouts |= {name.text for _, name in _layout_names(written)}
        self.forms = forms(layouts, theme_names(environment))
        self.checks = checks(layouts)
        self.mistakes: list[ConfigMistake] = []
        self.origins: dict[str, ValueOrigin] = {}

    def read(
        self, tree: MapNode, *, is_whole: bool = True, unchecked: frozenset[str] = frozenset()
    ) -> object:
        reader = ConfigReader(self.forms, self.checks if is_whole else {}, unchecked)
        config = reader.read_struct(Config, tree)
        self.mistakes += reader.mistakes
        self.origins = reader.origins
        return config

    def raise_mistakes(self, more: list[ConfigMistake]) -> None:
        if more or self.mistakes:
            raise ConfigError(more + self.mistakes)


def _duplicate_layouts(written: MapNode) -> Iterator[ConfigMistake]:
    first: dict[str, ValueOrigin] = {}
    for key, name in _layout_names(written):
        if name.text in first:
            problem = (
                f"a layout of this name is in line {first[name.text].line}; choose another name"
            )
            yield ConfigMistake(name.origin, key, problem)
        first.setdefault(name.text, name.origin)


def _layout_names(written: MapNode) -> Iterator[tuple[str, TextNode]]:
    layouts = written.get("layouts")
    for index, layout in enumerate(layouts.items if isinstance(layouts, ListNode) else ()):
        name = layout.get("name") if isinstance(layout, MapNode) else None
        if isinstance(name, TextNode):
            yield f"layouts[{index}].name", name
