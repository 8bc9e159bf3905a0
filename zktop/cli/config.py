"""`zktop config`: write a commented config file, and list the mistakes in one."""

import os
import sys
from pathlib import Path

import click

from zktop.cli.common.options import FILE_PATH, config_options
from zktop.cli.common.output import put
from zktop.config.files import config_file, example_text
from zktop.config.overrides import Overrides
from zktop.errors import ExitCode, UsageError

_OWNER_ONLY = 0o600  # passwords may be in it
_EXAMPLES = """\b
Examples:
  zktop config init
  zktop config validate
  zktop config validate zktop.yaml
"""


@click.group("config", epilog=_EXAMPLES, no_args_is_help=False)
def command() -> None:
    """Write a config file, or check one.

    Both take the path of the file. The default is the one that --config or ZKTOP_CONFIG names,
    else ~/.config/zktop/config.yaml. `zktop --show-config` prints the settings in effect.
    """


@click.command(
    "init", short_help="Write a config file with comments.", epilog="Example: zktop config init"
)
@click.argument("file", type=FILE_PATH, required=False)
@click.option("--force", is_flag=True, help="Replace the file without asking.")
@config_options
def init(overrides: Overrides, file: str | None, *, force: bool) -> None:
    """Write a config file with every setting, its default, and a comment.

    An existing file is replaced only if you agree.
    """
    path = config_file(file, overrides, os.environ)
    if path.exists() and not force:
        _ask(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(_OWNER_ONLY)
    path.write_text(example_text(), encoding="utf-8")
    put(f"wrote {path}")


def _ask(path: Path) -> None:
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError(f"{path} exists; --force replaces it.")
    click.confirm(f"{path} exists. Replace it with the defaults?", abort=True, err=True)


@click.command(
    "validate",
    short_help="Print the mistakes in a config file.",
    epilog="Example: zktop config validate zktop.yaml",
)
@click.argument("file", type=FILE_PATH, required=False)
@config_options
def validate(overrides: Overrides, file: str | None) -> int:
    """Print every mistake in a config file: its line, its key, and what is wrong.

    The exit code is 2 if there is one. The file is only read: nothing connects to the ensemble.
    """
    from zktop.app.config_file_mistakes import config_file_mistakes  # noqa: PLC0415  loads the UI

    path = config_file(file, overrides, os.environ)
    if not path.exists():
        raise UsageError(f"There is no {path}; `zktop config init` writes it.")
    mistakes = config_file_mistakes(str(path))
    for mistake in mistakes:
        put(str(mistake))
    if not mistakes:
        put(f"{path}: no mistakes")
    return ExitCode.USAGE if mistakes else ExitCode.FINE


command.add_command(init)
command.add_command(validate)
