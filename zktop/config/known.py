"""The names that a config may use but does not define: built-in layouts, themes."""

import os
from collections.abc import Mapping as Environment
from typing import TYPE_CHECKING

from zktop.config.shape import Ui
from zktop.model.layouts.catalogue import LAYOUTS

if TYPE_CHECKING:
    from pathlib import Path


def layout_names() -> set[str]:
    """Give the names of the built-in layouts."""
    return {layout.name for layout in LAYOUTS}


def theme_names(environ: Environment[str, str]) -> set[str]:
    """Give the names of the themes: ours, and the user's own beside the config file."""
    return {Ui().theme, *theme_files(environ)}


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
