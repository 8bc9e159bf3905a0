"""A click group that knows its subcommands by a table and imports only the one that runs."""

from importlib import import_module

import click

from zktop.commands import COMMANDS
from zktop.commands.garbage import uncollected


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
            command: click.Command = import_module(f"zktop.commands.{cmd_name}").command
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
            from zktop.config.words import quoted  # noqa: PLC0415  --help needs none
            from zktop.model.text import nearest  # noqa: PLC0415

            meant = nearest(name, self.list_commands(ctx)) or (":" in name and f"--hosts {name}")
            hint = f" Did you mean {meant}?" if meant else ""
            raise click.UsageError(f"There is no command {quoted(name)}.{hint}", ctx=ctx)
        return super().resolve_command(ctx, args)
