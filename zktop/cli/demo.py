"""`zktop demo`: start a sandbox server, play a scene on it, and show the deadlock that forms.

On a terminal this opens the UI. With --text, or without a terminal, it prints text: it plays the
scene, keeps the final state for a while, cleans up and starts again. On the user's ensemble it
prints text only with --text, because it cannot ask for permission.
"""

import contextlib
import sys
from textwrap import wrap

import click
from msgspec.structs import replace

from zktop.app.connection_settings import access_of, demo_connection, plan_of
from zktop.app.live_run import LiveRun
from zktop.cli.common.interrupts import signals_as_ctrl_c
from zktop.cli.common.options import SECONDS, demo_options, typed_words
from zktop.cli.common.output import WIDTH, flush, narrate, put
from zktop.cli.sandbox import sandbox_process
from zktop.cli.scene import complete_scene
from zktop.config.join_sources import EffectiveConfig, effective_config
from zktop.config.keys_and_defaults import Config
from zktop.config.overrides import Overrides
from zktop.demo.contender_processes import ProcessPool
from zktop.demo.contender_tally import ContenderTally
from zktop.demo.scene_player import ScenePlayer
from zktop.demo.scenes import scene_named
from zktop.errors import UsageError
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.output.snapshot_json import snapshot
from zktop.output.snapshot_text import lines as snapshot_lines

_EXAMPLES = """\b
Examples:
  zktop demo
  zktop demo --scene philosophers
  zktop demo --scene ab-ba --hosts zk1:2181
  zktop demo --text --duration 30s
  zktop scene --list
"""
_KEEP_END_S = 12.0  # show the final state for this long, then clean up and repeat the scene
_MAX_NARRATION_LINES = 6
_SAMPLE_EVERY_S = 1.0


@click.command("demo", epilog=_EXAMPLES)
@click.option(
    "--scene",
    "name",
    default="ab-ba",
    metavar="NAME",
    shell_complete=complete_scene,
    help="Default: ab-ba. `zktop scene --list` lists all.",
)
@click.option(
    "--duration", "duration_s", type=SECONDS, help="End after this time; default: on ctrl-c or q."
)
@click.option("--text", is_flag=True, help="Print text instead of the terminal UI.")
@demo_options
def command(overrides: Overrides, name: str, duration_s: float | None, *, text: bool) -> int:
    """Play a scene and watch it: by default on a sandbox server, which needs nothing installed.

    With --hosts or --cluster, demo clients write to that ensemble, and only below the demo root,
    unless you send them to another lock. The UI asks before it starts them, but --text does not.
    The hosts of the config file are not used.
    """
    scene_named(name)  # only to check it: raises UsageError before a server is started
    effective = effective_config(overrides)
    with contextlib.ExitStack() as stack:
        sandbox = None  # the address of the server that zktop starts for the demo
        has_ui = not text and bool(sys.stdout) and sys.stdout.isatty()
        if _names_ensemble(effective):
            _check_permission(effective, is_allowed=has_ui or text)
        else:
            sandbox = stack.enter_context(sandbox_process())
            narrate(f"a sandbox server for this demo is on {sandbox}; it saves nothing")
        config = _config_for_scenes(effective.config, sandbox)
        if not has_ui:
            with signals_as_ctrl_c():
                _print_demo(config, name, sandbox, duration_s)
            return 0
        from zktop.app.run_ui import run_demo_ui  # noqa: PLC0415  the UI starts here

        words = typed_words(overrides).words
        return run_demo_ui(effective, config, name, sandbox, duration_s, words)


def _names_ensemble(effective: EffectiveConfig) -> bool:
    """Return whether the user named an ensemble for the demo, which writes to it.

    The `hosts` of the config file are for watching, not for demos.
    """
    return effective.origin("hosts").option is not None or effective.cluster is not None


def _print_demo(config: Config, name: str, sandbox: str | None, duration_s: float | None) -> None:
    """Play the scene repeatedly, and print a report after each change."""
    tally, settings = ContenderTally(), demo_connection(config, sandbox)
    printed: tuple[object, ...] = ()
    narration: list[str] = []
    with (
        ProcessPool(tally.add, config.demo.max_contenders) as pool,
        ScenePlayer(
            pool,
            tally,
            settings,
            lambda _progress: None,
            root=config.demo.root,
            repeat_after_s=_KEEP_END_S,
        ) as player,
        LiveRun(access_of(config), plan_of(config, _SAMPLE_EVERY_S), config.settings()) as run,
    ):
        player.play(scene_named(name))
        for report in run.reports(duration_s):
            if player.failure is not None:
                raise player.failure
            # The player drops its lines before it repeats the scene: keep showing the old ones.
            newest = [move.line() for move in player.progress.lines[-_MAX_NARRATION_LINES:]]
            narration = newest or narration
            content = (
                *report.records.values(),
                *(deadlock.id for deadlock in report.deadlocks),
                *narration,
            )
            if content != printed:
                printed = content
                _print(report, run.hosts, narration)


def _print(report: Report, hosts: str, narration: list[str]) -> None:
    for text in narration:
        for row in wrap(text, WIDTH, subsequent_indent="  "):
            put(row)
    for row in ("", *snapshot_lines(snapshot(report, hosts)), ""):
        put(row)
    flush()


def _check_permission(effective: EffectiveConfig, *, is_allowed: bool) -> None:
    """Refuse to play on the user's ensemble if the settings forbid it, or if nothing allows it.

    The UI asks before it writes. --text allows it, and so does `demo.allow: always`. With output
    to a file or a pipe, zktop can neither ask nor assume that it is allowed.
    """
    hosts, why = effective.config.hosts, ""
    if effective.config.demo.allow == "never":
        why = f"A demo writes to {hosts}, and demo.allow is never"
        why += f" ({effective.origin('demo.allow')})."
    elif not is_allowed and effective.config.demo.allow != "always":
        why = f"This demo writes to {hosts}, and without a terminal it cannot ask:"
        why += " give --text to allow that."
    if why:
        named_by = effective.origin("hosts").option or "--cluster"
        raise UsageError(f"{why} Without {named_by} it uses its own server.")


def _config_for_scenes(config: Config, sandbox: str | None) -> Config:
    """Return the config with the demo root as its only root, for the sandbox if there is one."""
    config = replace(config, roots=(Root(f"{config.demo.root}/**"),))
    if sandbox is None:
        return config
    return replace(config, hosts=sandbox, aliases={}, auth=(), sasl=None, tls=None)
