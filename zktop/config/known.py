"""The names that a config may use but does not define: built-in layouts, themes."""

from collections.abc import Mapping
from pathlib import Path

from zktop.config.shape import Ui
from zktop.model.layouts.catalogue import LAYOUTS

_PACKAGE = Path(__file__).parent.parent


def layout_names() -> set[str]:
    """Give the names of the built-in layouts."""
    return {layout.name for layout in LAYOUTS}


def theme_names(environ: Mapping[str, str]) -> set[str]:
    """Give the names of the themes: ours, and the user's own beside the config file."""
    folders = (_PACKAGE / "themes", _PACKAGE.parent / "themes", config_folder(environ) / "themes")
    files = (file for folder in folders if folder.is_dir() for file in folder.glob("*.yaml"))
    return {Ui().theme, *(file.stem for file in files)}


def config_folder(environ: Mapping[str, str]) -> Path:
    """Give the folder of the user's own config and themes."""
    base = environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return Path(base) / "zktop"
