"""Settings from the command line and the environment, as parts of the config tree."""

from functools import reduce

import msgspec

from zktop.config.mistakes import ConfigMistake
from zktop.config.suggest import quoted
from zktop.config.tree import ConfigNode, ListNode, MapNode, TextNode, ValueOrigin, merge

COMMAND_LINE = "command line"


class Override(msgspec.Struct, frozen=True):
    """One setting from outside the config file."""

    key: str  # its place in the file: tls.ca
    texts: tuple[str, ...]
    origin: ValueOrigin
    is_list: bool = False

    @property
    def section(self) -> str:
        """The top-level key of the file: tls."""
        return self.key.partition(".")[0]

    @property
    def is_typed(self) -> bool:
        """Whether it is from the command line, which takes precedence over the environment."""
        return self.origin.source == COMMAND_LINE

    @property
    def tree(self) -> MapNode:
        """The config tree with this setting alone."""
        texts = tuple(_text(text, self.origin) for text in self.texts)
        *sections, last = self.key.split(".")
        value = ListNode(texts, self.origin) if self.is_list else texts[-1]
        return reduce(
            lambda tree, name: _map(self.origin, **{name: tree}),
            reversed(sections),
            _map(self.origin, **{last: value}),
        )


class Overrides(msgspec.Struct, frozen=True):
    """All settings from outside the config file, and which file and cluster to use."""

    file: Override | None = None
    cluster: Override | None = None
    layouts: Override | None = None  # ROOT=NAME
    settings: tuple[Override, ...] = ()  # the last one for a key wins

    def over(self, other: "Overrides") -> "Overrides":
        """Join with the options of the outer command.

        A typed option wins over the environment. Otherwise, our own option wins.
        """
        files = [file for file in (self.file, other.file) if file]
        return Overrides(
            max(files, key=lambda file: file.is_typed, default=None),
            self.cluster or other.cluster,
            self.layouts or other.layouts,
            tuple(sorted(other.settings + self.settings, key=lambda setting: setting.is_typed)),
        )


def layout_roots(option: Override, mistakes: list[ConfigMistake]) -> tuple[MapNode, ...]:
    """Parse the `ROOT=NAME` pairs of `--layout` as roots."""
    roots = []
    for text in option.texts:
        path, equals, layout = text.rpartition("=")
        if equals:
            origin = option.origin
            roots.append(_map(origin, path=_text(path, origin), layout=_text(layout, origin)))
        else:
            problem = f"expected ROOT=NAME, like /locks/**=kazoo-lock, got {quoted(text)}"
            mistakes.append(ConfigMistake(option.origin, "", problem))
    return tuple(roots)


def with_layouts(tree: MapNode, layouts: tuple[MapNode, ...]) -> MapNode:
    """Set the layouts of roots. A path that is not a root yet becomes one."""
    if not layouts:
        return tree
    listed = tree.get("roots")
    roots = list(listed.items) if isinstance(listed, ListNode) else []
    for layout in layouts:
        paths = [_path(root) for root in roots]
        if _path(layout) not in paths:
            roots.append(layout)
            continue
        index = paths.index(_path(layout))
        root = roots[index]
        roots[index] = merge(root, layout) if isinstance(root, MapNode) else layout
    origin = layouts[0].origin
    return merge(tree, _map(origin, roots=ListNode(tuple(roots), origin)))


def _map(origin: ValueOrigin, **values: ConfigNode) -> MapNode:
    return MapNode(tuple((_text(name, origin), value) for name, value in values.items()), origin)


def _text(text: str, origin: ValueOrigin) -> TextNode:
    return TextNode(text, plain=False, origin=origin)


def _path(root: ConfigNode) -> ConfigNode | str | None:
    path = root.get("path") if isinstance(root, MapNode) else root
    return path.text if isinstance(path, TextNode) else path
