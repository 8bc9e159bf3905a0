"""The `zktop` program: global options, subcommands, and how every run ends."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click
from click.exceptions import Exit
from click.shell_completion import shell_complete

from zktop.app.garbage_collection import no_collections
from zktop.cli.common.options import READ_ONLY, typed_words, ui_options
from zktop.cli.common.output import drop_output, flush, narrate, put_table
from zktop.config.overrides import Overrides
from zktop.config.suggest import quoted
from zktop.errors import ExitCode, ZktopError
from zktop.model.text import nearest

# Name -> its line in `--help`. A command is imported only when it runs, so --help is fast and
# only the commands with a UI, `--show-config`, `info` and `config validate` import Textual.
COMMANDS = {
    "demo": "Show a deadlock of demo clients on a sandbox server.",
    "contend": "Run a demo client that prints every step.",
    "scene": "Play a scene on an ensemble; --list lists them.",
    "snapshot": "Print every lock at one moment: as JSON, text or a graph.",
    "events": "Print changes as they happen, one JSON object per line.",
    "check": "Exit with 1 if there is a deadlock or another serious finding.",
    "free": "Print the ways to free a lock, with commands to copy.",
    "metrics": "Print metrics for Prometheus, or serve them.",
    "record": "Record an ensemble to a file.",
    "import": "Make a recording from ZooKeeper's transaction logs and snapshots.",
    "report": "Report on a period: what happened, and who made others wait.",
    "replay": "Open a recording in the UI: play, step, seek.",
    "sandbox": "Run a ZooKeeper server in memory, for your clients.",
    "layouts": "List the known lock layouts, or those that match a name.",
    "config": "Write a config file with comments, or list the mistakes in one.",
    "info": "Print what a bug report needs: versions, terminal, config.",
    "schema": "Print the JSON Schema of what zktop reads and writes.",
}
SCREENS = ("locks", "lock", "findings", "sessions", "timeline")  # the UI can open on any of them
_TITLES = {"deadlocks": "findings", "learn": "demo", "6": "demo"}  # tabs -> what to type instead
_MODULES = {"import": "import_files"}  # `import` is a Python keyword
_WRITING_COMMANDS = ("demo", "scene", "contend")
_COMPLETE_VARIABLE = "_ZKTOP_COMPLETE"
_EXAMPLES = """\b
Examples:
  zktop demo
  zktop --hosts zk1:2181,zk2:2181
  zktop --hosts zk1:2181 --root '/locks/**' --root /leader
  zktop findings --hosts zk1:2181
  zktop --hosts zk1:2181 --show-config
  zktop layouts lock-0000000007
  zktop COMMAND --help

Without a command it opens the terminal UI, where ? explains everything; q quits.
The name or number of a screen opens it there: locks (1), lock (2), findings (3),
sessions (4), timeline (5).

Completion: eval "$(_ZKTOP_COMPLETE=bash_source zktop)" in bash, zsh_source in zsh;
in fish: _ZKTOP_COMPLETE=fish_source zktop | source
"""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command line, by default that of the process, and exit."""
    if sys.flags.optimize > 1:
        narrate(
            "zktop explains findings with docstrings, which python -OO drops: run it without -OO"
        )
        sys.exit(ExitCode.USAGE)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="backslashreplace")  # a terminal may not support UTF-8
    if instruction := os.environ.get(_COMPLETE_VARIABLE):
        sys.exit(shell_complete(zktop, {}, "zktop", _COMPLETE_VARIABLE, instruction))
    sys.exit(run(sys.argv[1:] if args is None else list(args)))


def run(args: list[str]) -> int:
    """Run a command line. Return the exit code, and print any error as a sentence on stderr."""
    try:
        with zktop.make_context("zktop", args) as context:
            result = zktop.invoke(context)
        flush()
        return int(result or ExitCode.FINE)
    except Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.INTERRUPTED
    except click.UsageError as error:
        narrate(_usage_sentence(error))
        return ExitCode.USAGE
    except ZktopError as error:
        narrate(str(error))
        return error.exit_code
    except OSError as error:
        return _report_os_error(error)


def module_of(command: str) -> str:
    return f"zktop.cli.{_MODULES.get(command, command)}"


class Commands(click.Group):
    """The group of subcommands. It imports only the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return _screen_command(cmd_name)
        with no_collections():
            command: click.Command = import_module(module_of(cmd_name)).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand, or suggest one in the error."""
        name = args[0]
        if name not in COMMANDS and _screen_name(name) is None and not ctx.resilient_parsing:
            meant = _TITLES.get(name.lower()) or nearest(name, [*COMMANDS, *SCREENS])
            if not meant and ":" in name:
                meant = f"--hosts {name}"
            hint = f" Did you mean {meant}?" if meant else ""
            raise click.UsageError(f"There is no command {quoted(name)}.{hint}", ctx=ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    epilog=_EXAMPLES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@ui_options
@click.option("--show-config", is_flag=True, help="Print the settings and their origins.")
@click.version_option(package_name="zktop", message="%(prog)s %(version)s")
@click.pass_context
def zktop(context: click.Context, overrides: Overrides, *, show_config: bool) -> None:
    """See every ZooKeeper lock, live: who holds it, who waits, and which deadlock they are in."""
    command = context.invoked_subcommand
    if command in _WRITING_COMMANDS and any(
        setting.key == READ_ONLY.key for setting in overrides.settings
    ):
        raise click.UsageError(_writing_sentence(command))
    if show_config:
        _print_config(overrides)
        context.exit()
    if command is None:
        context.exit(_open_ui(overrides))


def _print_config(overrides: Overrides) -> None:
    """Print a line for each setting, with secrets masked. Imports late, like subcommands."""
    from zktop.app.config_file_mistakes import every_mistake  # noqa: PLC0415  see above
    from zktop.app.ui_settings import check_ui  # noqa: PLC0415  see above
    from zktop.config.join_sources import effective_config  # noqa: PLC0415  see above
    from zktop.config.show import rows  # noqa: PLC0415  see above

    with every_mistake(overrides):
        effective = effective_config(overrides)
        check_ui(effective)
    put_table([("SETTING", "VALUE", "FROM"), *rows(effective)])


def _screen_name(word: str) -> str | None:
    """Return the name of the screen with this name or number; None if there is none."""
    by_number = {str(number): name for number, name in enumerate(SCREENS, start=1)}
    return word if word in SCREENS else by_number.get(word)


def _screen_command(word: str) -> click.Command | None:
    """Return a command that opens the UI on one of its screens."""
    screen = _screen_name(word)
    if screen is None:
        return None

    @click.command(word, help=f"Open the terminal UI on its {screen} screen.")
    @ui_options
    def command(overrides: Overrides) -> int:
        return _open_ui(overrides, screen)

    return command


def _open_ui(overrides: Overrides, screen: str = SCREENS[0]) -> int:
    with no_collections():
        from zktop.app.config_file_mistakes import every_mistake  # noqa: PLC0415  loads the UI, too
        from zktop.app.run_ui import run_live_ui  # noqa: PLC0415  the UI starts here
        from zktop.config.join_sources import cluster_configs, effective_config  # noqa: PLC0415  not needed for --help

    with every_mistake(overrides):
        effective, clusters = effective_config(overrides), cluster_configs(overrides)
    return run_live_ui(effective, clusters, typed_words(overrides).words, screen)


def _writing_sentence(command: str) -> str:
    return f"`zktop {command}` starts demo clients; {READ_ONLY.flag} forbids it"


def _usage_sentence(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "zktop"
    if isinstance(error, click.NoSuchOption) and error.option_name == READ_ONLY.flag:
        name = command.removeprefix("zktop ")
        if name in _WRITING_COMMANDS:
            return f"{_writing_sentence(name)}."
        return (
            f"The option {quoted(READ_ONLY.flag)} goes before the command: "
            f"`zktop {READ_ONLY.flag} {name}`."
        )
    if isinstance(error, click.NoSuchOption):
        meant = f" Did you mean {error.possibilities[0]}?" if error.possibilities else ""
        sentence = f"There is no option {quoted(error.option_name)}.{meant}"
    else:
        sentence = " ".join(error.format_message().split())
        sentence += "" if sentence.endswith((".", "?")) else "."
    return f"{sentence} See `{command} --help`."


def _report_os_error(error: OSError) -> int:
    """Report a failed read or write, unless the pipe was closed (`zktop layouts | head -1`)."""
    drop_output()
    if isinstance(error, BrokenPipeError):
        return ExitCode.FINE
    what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    narrate(f"Reading or writing failed: {what}.")
    return ExitCode.USAGE
