"""A feed that tells what a test has it tell: frames made by the real examiner from facts."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from textual import events
from textual.keys import format_key
from textual.pilot import Pilot
from ui.fake_contenders import FakeContenders

from zktop.app.exports import ReportExports
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Millis
from zktop.model.settings import Settings
from zktop.model.world.world import World
from zktop.ui.app import Zktop
from zktop.ui.ports import Frame, News, OnNews, Status
from zktop.ui.settings import UiSettings

CONSEQUENCES = 2  # a key leads to a question, and the question to what is to be seen
Moment = tuple[Millis, Iterable[AnyFact]]


def frames(*moments: Moment, settings: Settings | None = None) -> list[Frame]:
    """Look at a world at these moments, after it was told these facts."""
    return list(_looks(moments, settings))


def _looks(moments: Sequence[Moment], settings: Settings | None) -> Iterator[Frame]:
    examiner, world = Examiner(settings or Settings()), World()
    for at, facts in moments:
        world = world.after(*facts)
        report = examiner.look(world, at)
        yield Frame(report, report.events)


class ToldFeed:
    """Tells what it was given when the app begins; a test may tell more at any time."""

    def __init__(self, *news: News, name: str = "test", is_live: bool = True) -> None:
        self.name, self.is_live = name, is_live
        self.notes: Sequence[str] = ()
        self.news = list(news)
        self.recorded: list[Path | None] = []
        self.tell: OnNews = self.news.append

    def start(self, tell: OnNews) -> None:
        """Tell all that there is."""
        self.tell = tell
        tell(Status("live" if self.is_live else "replay"))
        for one in self.news:
            tell(one)

    def stop(self) -> None:
        """Nothing runs."""

    def record(self, path: Path | None) -> None:
        """Remember what was asked for."""
        self.recorded.append(path)


def app_of(*news: News, page: str = "locks", is_live: bool = True, **look: object) -> Zktop:
    """Give the UI on a feed that tells this; `look` is what the user has set."""
    stage = FakeContenders() if is_live else None
    feed, exports = ToldFeed(*news, is_live=is_live), ReportExports("zk1:2181")
    return Zktop(feed, stage, exports, UiSettings(page=page, **look))


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    """Press keys, and wait after each until everybody has done what came of it.

    A pilot's own `press` sleeps until the processor rests, which takes thirty times as long.
    """
    app = pilot.app
    for key in keys:
        typed = " " if key == "space" else format_key(key)
        is_typed = len(typed) == 1 and typed.isascii()
        app.post_message(events.Key(key, typed if is_typed else None))
        for _ in range(CONSEQUENCES):
            await pilot._wait_for_screen()
        while is_busy(app):
            await pilot._wait_for_screen()


def is_busy(app: object) -> bool:
    """Tell whether keys wait for something, a page on its way maybe."""
    return isinstance(app, Zktop) and app.is_running and app.key_queue.is_busy


async def settled(pilot: Pilot[int]) -> list[str]:
    """Wait until nothing more is to be drawn, and give what is on the screen, line by line."""
    app = pilot.app
    await pilot.pause()
    await pilot.pause()
    while isinstance(app, Zktop) and (is_busy(app) or app._is_due or app._inbox._news):
        await pilot.pause()
    if isinstance(app, Zktop) and app.error_log.last is not None:
        raise app.error_log.last  # the UI goes on after an error; a test does not
    compositor = pilot.app.screen._compositor  # the only way to the text
    return [strip.text.rstrip() for strip in compositor.render_strips()]
