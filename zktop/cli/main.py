"""The program: how it begins and how it ends; what it does is in `zktop.cli`.

The command line: the options at the top, and where every error ends as a sentence.

A click group that knows its subcommands by a table and imports only the one that runs.

What the shell offers where an argument is one of ours.

`zktop --show-config`: which settings hold, and where each comes from.

The table of subcommands: a new one is a module with a `command`, and one entry here.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit
from click.shell_completion import CompletionItem

from zktop.cli.options import READ_ONLY, Wanted, ui_options
from zktop.cli.output import drop_output, narrate, put_table
from zktop.cli.process import uncollected
from zktop.config.load import EffectiveConfig
from zktop.config.show import rows
from zktop.demo.scenes import SCENES
from zktop.errors import ExitCode, ZktopError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_COMPLETE = "_ZKTOP_COMPLETE"
_TOOLS = range(6)  # that `sys.monitoring` has a number for


def main(args: "Sequence[str] | None" = None) -> "NoReturn":
    """Run the command line, the program's own unless another is given; never returns."""
    with uncollected():
        pass

    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="backslashreplace")  # a terminal may know less than UTF-8
    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415  rarely needed

        sys.exit(shell_complete(zktop, {}, "zktop", _COMPLETE, instruction))
    code = run(sys.argv[1:] if args is None else list(args))
    if args is None and not _is_measured():
        _end(code)
    sys.exit(code)


def _is_measured() -> bool:
    """Tell whether somebody follows this program who has something to tell in the end."""
    monitoring = getattr(sys, "monitoring", None)  # since 3.12
    tools = [monitoring.get_tool(number) for number in _TOOLS] if monitoring else []
    return any((sys.gettrace(), sys.getprofile(), *tools))


def _end(code: int) -> "NoReturn":
    """End at once: everything is closed, and what is left the system takes back faster.

    The interpreter would look through all memory, and free it piece by piece, beside threads of
    the client that may still be at work.
    """
    from contextlib import suppress  # noqa: PLC0415  as `typing`

    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):  # nobody listens any more, and that was told while there was one
            stream.flush()
    os._exit(code)


def scenes(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Give the scenes whose names begin so."""
    return [
        CompletionItem(scene.name, help=scene.title)
        for scene in SCENES
        if scene.name.startswith(begun)
    ]


def print_config(effective: EffectiveConfig) -> None:
    """Print a line for each setting; secrets are masked."""
    put_table([("SETTING", "VALUE", "FROM"), *rows(effective)])


# Name -> what `--help` says; the module of that name is imported when it is used, so that the help
# stays fast.
COMMANDS = {
    "demo": "A server, contenders and a deadlock, to look at.",
    "contend": "One demo contender, telling every step.",
    "scene": "Play a scene on an ensemble; --list lists them.",
    "snapshot": "Every lock at one moment: as JSON, text or a drawing.",
    "events": "What happens, one JSON object a line.",
    "check": "Exit with 1 when there is a deadlock or another serious finding.",
    "record": "Write what is read into a file, to look at later.",
    "replay": "The screens on a recording: play, step, seek.",
    "sandbox": "A ZooKeeper server in memory, for your clients.",
    "layouts": "The known lock layouts; which of them write such names.",
    "schema": "The JSON Schema of what zktop reads and writes.",
}


class Commands(click.Group):
    """The subcommands of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names in the order of the table."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of this subcommand."""
        if cmd_name not in COMMANDS:
            return None
        with uncollected():
            command: click.Command = import_module(f"zktop.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand, or say what was probably meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            from zktop.config.suggest import quoted  # noqa: PLC0415  --help needs none
            from zktop.model.text import nearest  # noqa: PLC0415

            meant = nearest(name, self.list_commands(ctx)) or (":" in name and f"--hosts {name}")
            hint = f" Did you mean {meant}?" if meant else ""
            raise click.UsageError(f"There is no command {quoted(name)}.{hint}", ctx=ctx)
        return super().resolve_command(ctx, args)


_EXAMPLES = """\b
Examples:
  zktop demo
  zktop --hosts zk1:2181,zk2:2181
  zktop --hosts zk1:2181 --root '/locks/**' --root /leader
  zktop --hosts zk1:2181 --show-config
  zktop layouts lock-0000000007
  zktop COMMAND --help

Without a command it opens the terminal UI, where ? explains everything; q quits.

Completion: eval "$(_ZKTOP_COMPLETE=bash_source zktop)" in bash, zsh_source in zsh;
in fish: _ZKTOP_COMPLETE=fish_source zktop | source
"""
_WRITING = ("demo", "scene", "contend")


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
def zktop(context: click.Context, wanted: Wanted, *, show_config: bool) -> None:
    """See every ZooKeeper lock, live: who holds it, who waits, and which deadlock they are in."""
    command = context.invoked_subcommand
    if command in _WRITING and any(one.key == READ_ONLY.key for one in wanted.asked.settings):
        raise click.UsageError(f"`zktop {command}` starts contenders; --read-only forbids it")
    if show_config:
        print_config(wanted.effective())
    elif command is None:
        from zktop.app.run_ui import run_live_ui  # noqa: PLC0415  no other command needs a screen

        context.exit(run_live_ui(wanted))


def run(args: list[str]) -> int:
    """Run the command that was asked for; give the exit code."""
    try:
        with zktop.make_context("zktop", args) as context:
            result = zktop.invoke(context)
        if sys.stdout:
            sys.stdout.flush()
        return int(result or ExitCode.FINE)
    except Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.INTERRUPTED
    except click.UsageError as error:
        return _complain(_reshaped(error), ExitCode.USAGE)
    except ZktopError as error:
        return _complain(str(error), error.exit_code)
    except OSError as error:
        return _output_lost(error)


def _reshaped(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "zktop"
    if isinstance(error, click.NoSuchOption):
        from zktop.config.suggest import quoted  # noqa: PLC0415  --help needs none

        meant = f" Did you mean {error.possibilities[0]}?" if error.possibilities else ""
        sentence = f"There is no option {quoted(error.option_name)}.{meant}"
    else:
        sentence = " ".join(error.format_message().split())
        sentence += "" if sentence.endswith((".", "?")) else "."
    return f"{sentence} See `{command} --help`."


def _complain(sentence: str, code: int) -> int:
    narrate(sentence)
    return code


def _output_lost(error: OSError) -> int:
    """Say what failed; but `zktop layouts | head -1` is no error."""
    drop_output()
    if isinstance(error, BrokenPipeError):
        return ExitCode.FINE
    what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return _complain(f"Reading or writing failed: {what}.", ExitCode.USAGE)
