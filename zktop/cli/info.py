"""`zktop info`: what a bug report needs. It prints names of settings, never their values."""

import locale
import os
import platform
import ssl
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from zktop.cli.common.options import config_options
from zktop.cli.common.output import put_table
from zktop.config.files import config_file, config_folder, expanded, themes_in
from zktop.config.join_sources import effective_config
from zktop.config.keys_and_defaults import Config
from zktop.config.mistakes import ConfigError
from zktop.config.overrides import Overrides
from zktop.model.format import count

_EXAMPLES = """\b
Examples:
  zktop info
"""
_NEEDED = ("textual", "rich", "kazoo", "click", "msgspec", "pyyaml")
_EXTRAS = {
    "prometheus-client": "`zktop metrics` needs it",
    "pure-sasl": "--sasl needs it",
    "kerberos": "--sasl GSSAPI needs it",
}
_TERMINAL_VARIABLES = (
    "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "NO_COLOR", "ZKTOP_ASCII",
    "LC_ALL", "LC_CTYPE", "LANG", "TZ",
)  # fmt: skip
_PLACES = ("TMUX", "STY", "SSH_TTY")  # set in tmux, screen and ssh; only the names are printed


@click.command("info", epilog=_EXAMPLES)
@config_options
def command(overrides: Overrides) -> None:
    """Print what a bug report needs: versions, the terminal, and which settings are set.

    No value of a setting is printed: the output has no host names and no passwords.
    """
    path = config_file(None, overrides, os.environ)
    put_table([*_versions(), *_terminal(os.environ), *_config(path, overrides, os.environ)])


def _versions() -> Iterator[tuple[str, str]]:
    yield "zktop", f"{_version('zktop')}, in {_short(Path(__file__).parent.parent)}"
    yield "Python", f"{platform.python_version()}, {platform.python_implementation()}"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "TLS", ssl.OPENSSL_VERSION
    for name in _NEEDED:
        yield name, _version(name)
    for name, why in _EXTRAS.items():
        yield name, _version(name, f"not installed; {why}")


def _version(package: str, missing: str = "not installed") -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return missing


def _terminal(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    from rich.console import Console  # noqa: PLC0415  only this command needs it

    from zktop.app.ui_settings import is_ascii  # noqa: PLC0415  loads the UI

    yield "terminal", _size()
    console = Console(file=sys.__stderr__, force_terminal=True)
    yield "colours", console.color_system or "none"
    shape = "ASCII" if is_ascii(environment) else "Unicode"
    encoding = getattr(sys.__stderr__, "encoding", None) or "unknown"
    yield "encoding", f"{encoding}, drawn with {shape}; files: {locale.getpreferredencoding()}"
    for name in _TERMINAL_VARIABLES:
        if name in environment:
            yield name, environment[name] or '""'
    inside = [name for name in _PLACES if name in environment]
    yield "inside", " ".join(inside) or "none of tmux, screen, ssh"


def _size() -> str:
    """Return the size of the terminal, even if stdout is a pipe."""
    for stream in (sys.__stderr__, sys.__stdout__, sys.__stdin__):
        try:
            columns, lines = os.get_terminal_size(stream.fileno())  # type: ignore[union-attr]  # caught below
        except (AttributeError, OSError, ValueError):
            continue
        return f"{columns} columns, {lines} lines"
    return "none"


def _config(
    path: Path, overrides: Overrides, environment: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    from zktop.app.ui_settings import state_folder  # noqa: PLC0415  loads the UI

    yield "config", f"{_short(path)}: {_state(path, environment)}"
    try:
        settings = ", ".join(_changed(effective_config(overrides, environment).config))
    except ConfigError:
        settings = "not usable; `zktop --show-config` says why"
    yield "settings", settings or "the defaults"
    variables = sorted(name for name in environment if name.startswith("ZKTOP_"))
    yield "variables", ", ".join(variables) or "none"
    themes = config_folder(environment) / "themes"
    yield "themes", f"{_short(themes)}: {count(len(themes_in(themes)), 'file')}"
    yield "log", _short(state_folder(environment) / "ui.log")


def _state(path: Path, environment: Mapping[str, str]) -> str:
    from zktop.app.config_file_mistakes import config_file_mistakes  # noqa: PLC0415  loads the UI

    try:
        if not path.exists():
            return "does not exist"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    mistakes = len(config_file_mistakes(str(path), environment))
    return f"{count(mistakes, 'mistake')}; see `zktop config validate`" if mistakes else "valid"


def _changed(config: Config) -> Iterator[str]:
    """Yield the top-level keys that differ from their default, with the length of lists."""
    default = Config()
    for key in Config.__struct_fields__:
        value = getattr(config, key)
        if value != getattr(default, key):
            yield f"{key} ({len(value)})" if isinstance(value, (tuple, dict)) else key


def _short(path: Path) -> str:
    """Return a path with ~ for the home folder, whose name is often the user's.

    >>> _short(Path.home() / ".config")
    '~/.config'
    """
    home = expanded("~")
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
