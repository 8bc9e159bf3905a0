"""`zktop demo`: a server, contenders and a deadlock that forms before your eyes.

On a terminal that is the terminal UI with the scene on. With --text, or without a terminal, it is
lines of text: the scene is played, looked at for a while, taken down, and played again.
"""

import contextlib
import sys
import threading
from collections import deque
from textwrap import wrap
from typing import Self

import click
from msgspec.structs import replace

from zktop.app.connect import access_of, demo_connection, plan_of
from zktop.app.live_run import LiveRun
from zktop.cli.main import scenes
from zktop.cli.options import DURATION, Wanted, demo_options
from zktop.cli.output import WIDTH, narrate, put
from zktop.cli.process import sandbox
from zktop.config.load import EffectiveConfig
from zktop.config.tree import DEFAULT
from zktop.config.types import Config
from zktop.demo.log import ContenderLog
from zktop.demo.processes import ProcessPool
from zktop.demo.scene_player import SceneLine, SceneRun
from zktop.demo.scenes import scene_named
from zktop.errors import UsageError, ZktopError
from zktop.model.facts import Millis
from zktop.model.report import Report
from zktop.model.settings import SECOND, Root
from zktop.output.snapshot import snapshot
from zktop.output.text import lines

_EXAMPLES = """\b
Examples:
  zktop demo
  zktop demo --scene philosophers
  zktop demo --scene ab-ba --hosts zk1:2181
  zktop demo --text --duration 30s
  zktop scene --list
"""
_SHOWN_S = 12.0  # how long the end of the scene stays
_PACE_S = 2.0


@click.command("demo", epilog=_EXAMPLES)
@click.option(
    "--scene",
    "name",
    default="ab-ba",
    metavar="NAME",
    shell_complete=scenes,
    help="ab-ba if not given; `zktop scene --list` lists them.",
)
@click.option("--duration", type=DURATION, help="End after this; else when you end it.")
@click.option("--text", is_flag=True, help="Print lines of text; no terminal UI.")
@demo_options
def command(wanted: Wanted, name: str, duration: Millis | None, *, text: bool) -> int:
    """Play a scene and watch it: by default on a sandbox server, which needs nothing installed.

    With --hosts the contenders write to that ensemble, below the demo root alone; the UI asks
    before it starts them.
    """
    scene_named(name)
    effective = wanted.effective()
    with contextlib.ExitStack() as stack:
        hosts = None
        if effective.origin("hosts") != DEFAULT:
            _insist_that_it_may_write(effective)
        else:
            hosts = stack.enter_context(sandbox())
            narrate(f"a sandbox server for this demo is on {hosts}; nothing in it is kept")
        config = _seen(effective.config, hosts)
        if text or not sys.stdout.isatty():
            _tell(config, name, hosts, duration)
            return 0
        from zktop.app.run_ui import run_demo_ui  # noqa: PLC0415  text needs no screen

        return run_demo_ui(effective, config, name, hosts, duration)


def _tell(config: Config, name: str, hosts: str | None, duration: Millis | None) -> None:
    """Play and print, again and again."""
    plan = plan_of(config, 1.0)
    with (
        _Stage(config, name, hosts) as stage,
        LiveRun(access_of(config), plan, config.settings()) as watch,
    ):
        screen = _Screen()
        for report in watch.reports(None if duration is None else duration / SECOND):
            stage.insist()
            screen.show(report, watch.hosts, stage.said)


def _insist_that_it_may_write(effective: EffectiveConfig) -> None:
    """Refuse to play on somebody's ensemble where the settings forbid it."""
    if effective.config.demo.allow == "never":
        raise UsageError(
            f"A demo writes to {effective.config.hosts}, and demo.allow is never "
            f"({effective.origin('demo.allow')}). Without --hosts it has a server of its own."
        )


def _seen(config: Config, hosts: str | None) -> Config:
    """Look at the scene alone, wherever it is played."""
    roots = (Root(f"{config.demo.root}/**"),)
    return replace(config, roots=roots, hosts=hosts or config.hosts)


class _Stage:
    """The scene, played again and again by a thread of its own."""

    def __init__(self, config: Config, name: str, hosts: str | None) -> None:
        self.said: deque[str] = deque(maxlen=6)
        self._name, self._root = name, config.demo.root
        self._connection = demo_connection(config, hosts)
        self._chronicle = ContenderLog()
        self._crew = ProcessPool(self._chronicle.hear, config.demo.max_contenders)
        self._player: SceneRun | None = None
        self._over = threading.Event()
        self._failed: ZktopError | None = None
        self._thread = threading.Thread(target=self._run, name="stage", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        if self._player is not None:
            self._player.stop()
        self._thread.join()
        self._crew.close()

    def insist(self) -> None:
        """Pass on what went wrong on the stage."""
        if self._failed is not None:
            raise self._failed

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                self._play()
        except ZktopError as error:
            self._failed = error

    def _play(self) -> None:
        scene = scene_named(self._name)
        player = SceneRun(
            scene, self._crew, self._chronicle, self._connection, self._hear, root=self._root
        )
        self._player = player
        try:
            player.play(_PACE_S)
            self._over.wait(_SHOWN_S)
        finally:
            player.clean_up()

    def _hear(self, line: SceneLine) -> None:
        if not line.number:
            self.said.clear()
        self.said.append(f"[{line.number}/{line.of}] {line.says}" if line.number else line.says)


class _Screen:
    """The newest picture, with what the stage said above it."""

    def __init__(self) -> None:
        self._shown: tuple[object, ...] | None = None

    def show(self, report: Report, hosts: str, said: deque[str]) -> None:
        """Print the picture when something happened."""
        if (news := _news(report, said)) != self._shown:
            self._shown = news
            for line in (*_picture(report, hosts, said, WIDTH), ""):
                put(line)
            sys.stdout.flush()


def _picture(report: Report, hosts: str, said: deque[str], width: int) -> list[str]:
    told = (fold for line in list(said) for fold in wrap(line, width, subsequent_indent="  "))
    return [*told, "", *lines(snapshot(report, hosts), width)]


def _news(report: Report, said: deque[str]) -> tuple[object, ...]:
    return (*report.parts.values(), *(one.id for one in report.deadlocks), *said)
