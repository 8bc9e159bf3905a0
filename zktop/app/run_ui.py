"""Run the terminal UI on a live ensemble, with a demo scene, or on a recording."""

import os
import sys
from collections.abc import Callable, Collection

from msgspec.structs import replace

from zktop.app.connection_settings import access_of, plan_of
from zktop.app.contenders import Contenders
from zktop.app.exports import ReportExports
from zktop.app.feeds import LiveFeed, ReplayFeed
from zktop.app.replay import Replay
from zktop.app.ui_settings import ui_settings
from zktop.config.join_sources import EffectiveConfig
from zktop.config.types import Config
from zktop.errors import UsageError
from zktop.model.facts import Millis, Session
from zktop.model.settings import SECOND_MS, Root
from zktop.ui.app import Zktop
from zktop.ui.interfaces import ContendersPort, Feed
from zktop.ui.settings import UiSettings

SAMPLE_EVERY_S = 2.0


def run_live_ui(effective: EffectiveConfig) -> int:
    """Show an ensemble until the user quits; return the exit code."""
    require_terminal("zktop snapshot")
    return _run_live(effective.config, ui_settings(effective, os.environ))


def run_demo_ui(
    effective: EffectiveConfig,
    config: Config,
    scene: str,
    sandbox: str | None,
    duration: Millis | None,
) -> int:
    """Show an ensemble while a scene plays, for a duration or until the user quits.

    `config` is the effective one, narrowed to the scene; `sandbox` is the server that zktop
    started for it, if any.
    """
    require_terminal("zktop demo --text")
    settings = replace(
        ui_settings(effective, os.environ),
        page="demo",
        scene=scene,
        leave_after_s=None if duration is None else duration / SECOND_MS,
    )
    return _run_live(config, settings, sandbox)


def run_replay_ui(
    effective: EffectiveConfig, recording: Replay, at: Millis | None, speed: float | None
) -> int:
    """Show a recording: paused at the beginning or at a moment, or playing at a speed."""
    settings = ui_settings(effective, os.environ)
    settings = replace(settings, page="timeline", at=at, speed=speed)
    hosts = recording.hosts + recording.chroot
    return _run(ReplayFeed(recording), None, hosts, settings)


def require_terminal(instead: str) -> None:
    """Raise UsageError, which names another command, if the output is a file or a pipe."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    is_terminal = all(stream is not None and stream.isatty() for stream in streams)
    if not is_terminal or os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError(f"The terminal UI needs a terminal; `{instead}` writes text or JSON.")


def live_feed(config: Config, ours: Callable[[], Collection[Session]]) -> LiveFeed:
    """Return the feed of an ensemble; `ours` are the sessions of zktop's own contenders.

    If roots are configured, the demo root is watched too, because contenders write there.
    """
    if config.roots:
        config = replace(config, roots=(*config.roots, Root(f"{config.demo.root}/**")))
    plan = plan_of(config, SAMPLE_EVERY_S)
    return LiveFeed(config.hosts, access_of(config), plan, config.settings(), ours)


def _run_live(config: Config, settings: UiSettings, sandbox: str | None = None) -> int:
    can_write = sandbox is not None or config.demo.allow != "never"
    contenders = Contenders(config, sandbox) if can_write else None
    feed = live_feed(config, lambda: contenders.sessions if contenders else ())
    return _run(feed, contenders, config.hosts, settings)


def _run(feed: Feed, contenders: ContendersPort | None, address: str, settings: UiSettings) -> int:
    """Run the app, then stop everything it has started."""
    hosts, slash, chroot = address.partition("/")
    app = Zktop(feed, contenders, ReportExports(hosts, slash + chroot), settings)
    try:
        code = app.run()
    finally:
        feed.stop()
        if contenders is not None:
            contenders.close()
        if settings.finding_hook is not None:
            settings.finding_hook.close()
    return code if code is not None else app.return_code or 0
