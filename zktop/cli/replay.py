"""`zktop replay`: the screens on a recording, with the verdicts of the run that it is of."""

import os
from pathlib import Path

import click
from msgspec.structs import replace

from zktop.cli.options import MOMENT, ReplayTime, Wanted, connection_options
from zktop.cli.options import replay as opened

_EXAMPLES = """\b
Examples:
  zktop replay incident.zktop
  zktop replay incident.zktop --at 2026-01-31T13:57:10Z
  zktop replay incident.zktop --at +90s --speed 8
"""


@click.command("replay", epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--at", type=MOMENT, metavar="TIME", help="Begin then, paused: a time, or +90s.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0.01, max=1000),
    metavar="N",
    help="Play at once, so many times as fast as it was.",
)
@connection_options
def command(wanted: Wanted, file: Path, at: ReplayTime | None, speed: float | None) -> int:
    """Show a recording: play, pause, step, and seek, on every screen.

    It begins paused, at its beginning or at --at; with --speed it plays at once.
    """
    from zktop.app.feeds import ReplayFeed  # noqa: PLC0415
    from zktop.app.run_ui import (  # noqa: PLC0415
        require_terminal,
        run,
        ui_look,
    )

    found, moment = opened(wanted, file, at)
    require_terminal(f"zktop snapshot --from {file}")
    effective = wanted.effective()
    look = replace(ui_look(effective, os.environ), page="timeline", at=moment, speed=speed)
    config = replace(effective.config, hosts=found.hosts + found.chroot)
    return run(ReplayFeed(found), None, config, look)
