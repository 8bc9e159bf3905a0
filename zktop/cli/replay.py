"""`zktop replay`: the UI on a recording, with the verdicts of the recorded run."""

from pathlib import Path

import click

from zktop.cli.common.options import REPLAY_TIME, ReplayTime, replay_options
from zktop.cli.common.sources import open_recording
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides

_EXAMPLES = """\b
Examples:
  zktop replay incident.zktop
  zktop replay incident.zktop --at 2026-01-31T13:57:10Z
  zktop replay incident.zktop --at +90s --speed 8
  zktop replay ring
"""


@click.command("replay", epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--at", type=REPLAY_TIME, metavar="TIME", help="Begin paused at a time, or at +90s.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0.01, max=1000),
    metavar="N",
    help="Play at once, N times as fast as it happened.",
)
@replay_options
def command(overrides: Overrides, file: Path, at: ReplayTime | None, speed: float | None) -> int:
    """Show a recording, or the folder of `record --dir`: play, pause, step, and seek.

    It begins paused at its first alert, or at its beginning if it has none. A saved part begins
    where it was marked. --at chooses another time. With --speed it plays at once.
    """
    from zktop.app.run_ui import run_replay_ui  # noqa: PLC0415  the UI starts here

    recording, moment = open_recording(overrides, file, at, ranks_blockers=True)
    return run_replay_ui(effective_config(overrides), recording, moment, speed)
