"""`zktop scene`: play a scene without the UI, move by move, then clean up."""

import click
from click.shell_completion import CompletionItem

from zktop.app.connection_settings import access_of, demo_connection
from zktop.cli.common.interrupts import signals_as_ctrl_c
from zktop.cli.common.options import SECONDS, connection_options
from zktop.cli.common.output import narrate, put, put_at_once
from zktop.cli.contend import check_permission
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides
from zktop.demo.contender_processes import ContenderChange, ProcessPool
from zktop.demo.contender_tally import ContenderTally
from zktop.demo.scene_player import SceneRun
from zktop.demo.scenes import SCENES, scene_named
from zktop.errors import UsageError
from zktop.zk.source import preflight_of

_EXAMPLES = """\b
Examples:
  zktop scene --list
  zktop scene ab-ba --hosts zk1:2181
  zktop scene three-windows --pace 2s --keep 60s
"""


def complete_scene(
    _context: click.Context, _parameter: click.Parameter, prefix: str
) -> list[CompletionItem]:
    return [
        CompletionItem(scene.name, help=scene.title)
        for scene in SCENES
        if scene.name.startswith(prefix)
    ]


@click.command("scene", epilog=_EXAMPLES)
@click.argument("name", required=False, shell_complete=complete_scene)
@click.option("--list", "is_list", is_flag=True, help="List the scenes.")
@click.option(
    "--pace", "pace_s", type=SECONDS, default="1s", help="Pause between two moves; default 1s."
)
@click.option(
    "--keep", "keep_s", type=SECONDS, default="0s", help="Keep the final state for this long."
)
@connection_options
def command(
    overrides: Overrides, name: str | None, *, is_list: bool, pace_s: float, keep_s: float
) -> None:
    """Play the scene NAME on an ensemble, below the demo root, then clean up."""
    if is_list:
        for scene in SCENES:
            put(f"{scene.name:<20} {scene.title}")
        return
    if name is None:
        raise UsageError("Which scene? `zktop scene --list` lists them.")
    effective = effective_config(overrides)
    check_permission(effective)
    config, scene = effective.config, scene_named(name)
    preflight_of(access_of(config))
    tally = ContenderTally()

    def on_change(change: ContenderChange) -> None:
        tally.add(change)
        if change.step:
            narrate(f"    {change.step.line()}")

    with signals_as_ctrl_c(), ProcessPool(on_change, config.demo.max_contenders) as pool:
        scene_run = SceneRun(
            scene,
            pool,
            tally,
            demo_connection(config),
            lambda line: put_at_once(line.line()),
            root=config.demo.root,
        )
        try:
            scene_run.play(pace_s)
            tally.until(lambda: False, keep_s)  # ctrl-c ends it sooner
        finally:
            narrate("cleaning up")
            scene_run.clean_up()
