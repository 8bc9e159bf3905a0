"""The command line: the options at the top, and where every error ends as a sentence."""

import sys

import click
from click.exceptions import Exit

from zktop.commands.connection import READ_ONLY, Wanted, ui_options
from zktop.commands.group import Commands
from zktop.commands.output import drop_output, narrate
from zktop.errors import ExitCode, ZktopError

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
        from zktop.commands.show_config import print_config  # noqa: PLC0415  --help needs none

        print_config(wanted.effective())
    elif command is None:
        from zktop.commands.tui import watch  # noqa: PLC0415  no other command needs a screen

        context.exit(watch(wanted))


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
        from zktop.config.words import quoted  # noqa: PLC0415  --help needs none

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
