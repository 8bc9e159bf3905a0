"""Command line over environment over config file over default: what holds, and why.

All sources become trees of the same form, so one reader checks them all, in one pass, and every
value of the result knows where it comes from. A cluster is named on the command line, so it beats
the environment.
"""

from collections.abc import Iterator
from collections.abc import Mapping as Environment
from functools import reduce

import msgspec

from zktop.config import known
from zktop.config.asked import COMMAND_LINE, Asked, Given
from zktop.config.checks import checks
from zktop.config.forms import forms
from zktop.config.reader import Reader
from zktop.config.shape import Config
from zktop.config.sources import (
    EMPTY,
    cluster_tree,
    default_file,
    file_tree,
    given_tree,
    layout_roots,
    with_layouts,
)
from zktop.config.tree import (
    DEFAULT,
    ConfigError,
    Items,
    Mapping,
    Mistake,
    Origin,
    Scalar,
    merge,
)


class Effective(msgspec.Struct, frozen=True):
    """The settings that hold, and where each comes from."""

    config: Config
    file: Given | None = None
    cluster: Given | None = None
    origins: dict[str, Origin] = {}

    def origin(self, key: str) -> Origin:
        """Tell where a value comes from."""
        return self.origins.get(key, DEFAULT)


def load(file: str) -> Config:
    """Read one config file and nothing else."""
    return effective(Asked(file=Given("config", (file,), Origin(COMMAND_LINE))), {}).config


def effective(asked: Asked, environment: Environment[str, str]) -> Effective:
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
    return Effective(config, file, asked.cluster, readings.origins)


class _Readings:
    """Several trees read with the same names known; their mistakes add up."""

    def __init__(self, written: Mapping, environment: Environment[str, str]) -> None:
        layouts = known.layout_names() | {name.text for _, name in _declared(written)}
        self.forms = forms(layouts, lambda: known.theme_names(environment))
        self.checks = checks(layouts)
        self.mistakes: list[Mistake] = []
        self.origins: dict[str, Origin] = {}

    def read(self, tree: Mapping, *, is_whole: bool = True) -> object:
        reader = Reader(self.forms, self.checks if is_whole else {})
        config = reader.record(Config, tree)
        self.mistakes += reader.mistakes
        self.origins = reader.origins
        return config

    def refuse(self, more: list[Mistake]) -> None:
        if more or self.mistakes:
            raise ConfigError(more + self.mistakes)


def _layouts_given_twice(written: Mapping) -> Iterator[Mistake]:
    first: dict[str, Origin] = {}
    for key, name in _declared(written):
        if name.text in first:
            what = f"a layout of this name is in line {first[name.text].line}; choose another name"
            yield Mistake(name.origin, key, what)
        first.setdefault(name.text, name.origin)


def _declared(written: Mapping) -> Iterator[tuple[str, Scalar]]:
    layouts = written.get("layouts")
    for index, layout in enumerate(layouts.items if isinstance(layouts, Items) else ()):
        name = layout.get("name") if isinstance(layout, Mapping) else None
        if isinstance(name, Scalar):
            yield f"layouts[{index}].name", name
