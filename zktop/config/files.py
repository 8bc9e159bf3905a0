"""The files with settings: the user's config and the themes."""

from collections.abc import Callable, Mapping
from pathlib import Path

from zktop.config.keys_and_defaults import UiSection
from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.overrides import Override, Overrides
from zktop.config.parse_values import is_null, kind_of
from zktop.config.tree import DEFAULT, EMPTY, MapNode, ValueOrigin


def file_tree(name: str) -> MapNode:
    """Read a config or theme file. An empty file gives an empty mapping."""
    # PyYAML takes 10 ms to load, and most runs read no file.
    from zktop.config.parse_yaml import MAX_FILE_BYTES, parse  # noqa: PLC0415  see above

    try:
        with expanded(name).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            [ConfigMistake(ValueOrigin(name), "", f"cannot be read: {why}")]
        ) from None
    tree = parse(data, name)
    if tree is None or is_null(tree):
        return EMPTY
    if isinstance(tree, MapNode):
        return tree
    problem = f"expected a mapping (key: value), got {kind_of(tree)}"
    raise ConfigError([ConfigMistake(tree.origin, "", problem)])


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's own config and themes."""
    base = environment.get("XDG_CONFIG_HOME") or home() / ".config"
    return Path(base) / "zktop"


def default_file(environment: Mapping[str, str]) -> Override | None:
    """Return the user's own config file, if there is one."""
    file = _default_path(environment)
    return Override("config", (str(file),), DEFAULT) if exists(file.is_file) else None


def config_file(named: str | None, overrides: Overrides, environment: Mapping[str, str]) -> Path:
    """Return the path of the config file, which need not exist: `named`, or the one in effect."""
    if named is None and overrides.file is not None:
        named = overrides.file.texts[-1]
    return expanded(named) if named else _default_path(environment)


def example_text() -> str:
    """Return config.example.yaml: every setting with its default and a comment."""
    return _installed("config.example.yaml").read_text(encoding="utf-8")


def theme_names(environment: Mapping[str, str]) -> set[str]:
    """Return the names of the built-in themes and of the user's own."""
    return {UiSection().theme, *theme_files(environment)}


def theme_files(environment: Mapping[str, str]) -> dict[str, Path]:
    """Map each theme's name to its file. A user's theme replaces a built-in one."""
    folders = (_installed("themes"), config_folder(environment) / "themes")
    return {file.stem: file for folder in folders for file in themes_in(folder)}


def themes_in(folder: Path) -> list[Path]:
    """Return the theme files in a folder, which need not exist."""
    return sorted(folder.glob("*.yaml")) if exists(folder.is_dir) else []


def expanded(name: str) -> Path:
    """Expand `~` in a path, or leave it unchanged if there is no such home folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def home() -> Path:
    """Return the user's home folder, or `/` for a user without one, as in containers."""
    try:
        return Path("~").expanduser()
    except RuntimeError:
        return Path("/")


def exists(check: Callable[[], bool]) -> bool:
    """Call a method like `path.is_file`, but return False if the folder may not be searched."""
    try:
        return check()
    except OSError:
        return False


def _default_path(environment: Mapping[str, str]) -> Path:
    return config_folder(environment) / "config.yaml"


def _installed(name: str) -> Path:
    """Return the path of a file or folder: in the installed package, or else in the checkout."""
    package = Path(__file__).parent.parent
    inside = package / name
    return inside if inside.exists() else package.parent / name
