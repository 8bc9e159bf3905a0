"""The terminal UI on a live ensemble: joins the feed, the stage and the screens."""

import os
import sys
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from zktop.commands.connection import Wanted
from zktop.commands.exports import Shapes
from zktop.commands.later import Later
from zktop.commands.looks import look_of
from zktop.config.effective import Effective
from zktop.config.shape import Config
from zktop.errors import UsageError
from zktop.model.facts import Millis
from zktop.model.settings import SECOND, Root
from zktop.ui.app import Zktop
from zktop.ui.look import Look
from zktop.ui.ports import Feed, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from zktop.commands.live import LiveFeed
    from zktop.commands.troupe import Troupe
    from zktop.model.facts import Session

SAMPLE_EVERY_S = 2.0


def watch(wanted: Wanted) -> int:
    """Show an ensemble until the user has seen enough."""
    insist_on_a_terminal("zktop snapshot")
    effective = wanted.effective()
    return _run_live(effective.config, look_of(effective, os.environ))


def perform(
    effective: Effective, config: Config, scene: str, hosts: str | None, duration: Millis | None
) -> int:
    """Show an ensemble with a scene on it; without a length of time until the user leaves."""
    insist_on_a_terminal("zktop demo --text")
    look = look_of(effective, os.environ)
    leave_after_s = None if duration is None else duration / SECOND
    look = replace(look, page="demo", scene=scene, leave_after_s=leave_after_s)
    return _run_live(config, look, hosts)


def _run_live(config: Config, look: Look, own_server: str | None = None) -> int:
    """Show an ensemble; what reads it, and who contends in it, comes after the first frame."""
    can_write = own_server is not None or config.demo.allow != "never"
    stage = Later(lambda: _troupe(config, own_server)) if can_write else None
    feed = Later(
        lambda: live_feed(config, lambda: cast("Troupe", stage).sessions if stage else ()),
        name=config.hosts,
        is_live=True,
    )
    return run(cast("Feed", feed), cast("Stage | None", stage), config, look)


def _troupe(config: Config, own_server: str | None) -> "Troupe":
    from zktop.commands.troupe import Troupe  # noqa: PLC0415  after the first frame

    return Troupe(config, own_server)


def live_feed(config: Config, ours: "Callable[[], Collection[Session]]") -> "LiveFeed":
    """Give the feed of an ensemble in which contenders of ours may be.

    Whoever names roots sees those, and what contenders of ours do below the demo root.
    """
    from zktop.commands.access import access_of, plan_of  # noqa: PLC0415  after the first frame
    from zktop.commands.live import LiveFeed  # noqa: PLC0415

    if config.roots:
        config = replace(config, roots=(*config.roots, Root(f"{config.demo.root}/**")))
    plan = plan_of(config, SAMPLE_EVERY_S)
    return LiveFeed(config.hosts, access_of(config), plan, config.settings(), ours)


def run(feed: Feed, stage: Stage | None, config: Config, look: Look) -> int:
    """Run the UI; afterwards nothing of it is left."""
    hosts, slash, chroot = config.hosts.partition("/")
    app = Zktop(feed, stage, Shapes(hosts, slash + chroot), look)
    try:
        code = app.run()
    finally:
        feed.stop()
        if stage is not None:
            stage.close()
        if look.herald is not None:
            look.herald.close()
    return code if code is not None else app.return_code or 0


def insist_on_a_terminal(instead: str) -> None:
    """Refuse to paint into a file or a pipe."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    is_terminal = all(stream is not None and stream.isatty() for stream in streams)
    if not is_terminal or os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError(f"The terminal UI needs a terminal; `{instead}` writes text or JSON.")
