"""Run the terminal UI on a live ensemble, with a demo scene, or on a recording."""

import os
import sys
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from zktop.app.clusters import Clusters, exports_of, open_cluster, recorded_options
from zktop.app.feeds import ReplayFeed
from zktop.app.garbage_collection import collect_rarely
from zktop.app.replay import Replay
from zktop.app.ui_settings import ui_settings
from zktop.config.join_sources import EffectiveConfig
from zktop.config.keys_and_defaults import Config
from zktop.errors import UsageError
from zktop.model.facts import Millis
from zktop.ui.app import Zktop
from zktop.ui.interfaces import OpenCluster
from zktop.ui.settings import UiSettings


def run_live_ui(
    effective: EffectiveConfig, others: Mapping[str, Config], typed: Sequence[str], page: str
) -> int:
    """Show an ensemble, first on this page, until the user quits. Return the exit code.

    `others` are the configs of the clusters that the user may switch to. `typed` are the
    connection options that the user typed.
    """
    require_terminal("zktop snapshot")
    configs = {effective.cluster_name: effective.config}
    configs |= {name: config for name, config in others.items() if name not in configs}
    file = effective.file
    own_file = ("--config", file.texts[-1]) if file is not None and file.is_typed else ()

    def open_named(name: str) -> OpenCluster:
        words = typed if name == effective.cluster_name else own_file
        return open_cluster(name, configs[name], typed=words)

    hosts = {name: config.hosts for name, config in configs.items()}
    settings = replace(ui_settings(effective, os.environ), page=page)
    return _run(Clusters(hosts, open_named), settings)


def run_demo_ui(
    effective: EffectiveConfig,
    config: Config,
    scene: str,
    sandbox: str | None,
    duration_s: float | None,
    typed: Sequence[str],
) -> int:
    """Show an ensemble while a scene plays, for a duration or until the user quits.

    `config` is the effective one, narrowed to the scene. `sandbox` is the server that zktop
    started for it, if any. `typed` are the connection options that the user typed.
    """
    require_terminal("zktop demo --text")
    settings = replace(
        ui_settings(effective, os.environ),
        page="demo",
        scene=scene,
        leave_after_s=duration_s,
    )
    name, words = (effective.cluster_name, typed) if sandbox is None else (sandbox, ())
    cluster = open_cluster(name, config, sandbox, words)
    return _run(Clusters({name: config.hosts}, lambda _name: cluster), settings)


def run_replay_ui(
    effective: EffectiveConfig, recording: Replay, at: Millis | None, speed: float | None
) -> int:
    """Show a recording: paused at its first alert or at a moment, or playing at a speed."""
    require_terminal(f"zktop snapshot --from {recording.path}")
    settings = ui_settings(effective, os.environ)
    at = recording.opens_at if at is None else at
    settings = replace(settings, page="timeline", at=at, speed=speed)
    hosts = recording.hosts + recording.chroot
    exports = exports_of(hosts, recorded_options(hosts))
    recorded = OpenCluster(ReplayFeed(recording), exports=exports)
    return _run(Clusters({recorded.feed.name: hosts}, lambda _name: recorded), settings)


def require_terminal(instead: str) -> None:
    """Raise UsageError, which suggests the command `instead`, if there is no terminal."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    is_terminal = all(stream is not None and stream.isatty() for stream in streams)
    if not is_terminal or os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError(f"The terminal UI needs a terminal; `{instead}` writes text or JSON.")


def _run(clusters: Clusters, settings: UiSettings) -> int:
    """Show the first cluster until the user quits, then stop everything that was started."""
    collect_rarely()
    first = clusters.open(next(iter(clusters.hosts)))
    app = Zktop(first.feed, first.contenders, first.exports, settings, clusters)
    try:
        code = app.run()
    finally:
        clusters.close()
        if settings.finding_hook is not None:
            settings.finding_hook.close()
    return code if code is not None else app.return_code or 0
