"""A feed for tests, with frames that the real examiner makes from facts; and waits for the UI."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from time import monotonic

from textual import events
from textual._context import visible_screen_stack
from textual.app import App
from textual.keys import format_key
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget
from ui.fake_contenders import FakeContenders
from ui.quiet_loop import wait_for_quiet

from zktop.app.export_formats import ReportExports
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Millis
from zktop.model.settings import Settings
from zktop.model.world.world import World
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame, News, OnNews, Past, Status
from zktop.ui.settings import UiSettings

WAIT_S = 30.0
MOST_PANES = 20  # of one screen
Moment = tuple[Millis, Iterable[AnyFact]]


def frames(*moments: Moment, settings: Settings | None = None) -> list[Frame]:
    """One frame for each moment, each with the facts learned by then."""
    return list(_looks(moments, settings))


def _looks(moments: Sequence[Moment], settings: Settings | None) -> Iterator[Frame]:
    examiner, world = Examiner(settings or Settings()), World()
    for at, facts in moments:
        world = world.after(*facts)
        report = examiner.look(world, at)
        yield Frame(report, report.events)


class FakeFeed:
    """Sends its news when the app starts; a test may send more with `send`."""

    def __init__(self, *news: News, name: str = "test", is_live: bool = True) -> None:
        self.name, self.is_live, self.shows_tables = name, is_live, False
        self.notes: Sequence[str] = ()
        self.news = list(news)
        self.recorded: list[Path | None] = []
        self.recorded_past: Sequence[tuple[World, Millis]] = ()
        self.send: OnNews = self.news.append

    def start(self, on_news: OnNews) -> None:
        """Send all news."""
        self.send = on_news
        on_news(Status("live" if self.is_live else "replay"))
        for one in self.news:
            on_news(one)

    def stop(self) -> None:
        """Nothing runs."""

    def record(self, path: Path | None, past: Past = ()) -> None:
        """Remember the requested file, and the past to write into it."""
        self.recorded.append(path)
        self.recorded_past = list(past)


def app_of(*news: News, page: str = "locks", is_live: bool = True, **look: object) -> Zktop:
    """The UI with a feed that sends this news; `look` are settings."""
    stage = FakeContenders() if is_live else None
    feed = FakeFeed(*news, is_live=is_live)
    exports = ReportExports("zk1:2181", connection=("--hosts", "zk1:2181"))
    return Zktop(feed, stage, exports, UiSettings(page=page, **look))


async def until(pilot: Pilot[int], condition: Callable[[], object], what: str) -> None:
    """Wait until the condition holds; fail with a message after `WAIT_S`."""
    end = monotonic() + WAIT_S
    while not condition():
        assert monotonic() < end, f"waited {WAIT_S:.0f} s for: {what}"
        await pilot.pause()


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    """Press keys and wait after each until it has been handled, also where keys are held."""
    app = pilot.app
    for key in keys:
        typed = " " if key == "space" else format_key(key)
        is_typed = len(typed) == 1 and typed.isascii()
        app.post_message(events.Key(key, typed if is_typed else None))
        await wait_for_quiet()
        end = monotonic() + WAIT_S
        while is_busy(app):
            assert monotonic() < end, f"the key {key} is still being handled"
            await wait_for_quiet()
            await asyncio.sleep(0)


async def press_export(app: Zktop, pilot: Pilot[int], *keys: str) -> None:
    """Open the export dialog, press keys and Enter in it, and wait for the file."""
    await pilot.press("x")
    await settled(pilot)
    await pilot.press(*keys, "enter")
    await until(
        pilot,
        lambda: any(one.message.startswith("Written") for one in app._notifications),
        "the message that the file is written",
    )


async def focus_by_tab(pilot: Pilot[int], pane: type[Widget]) -> None:
    """Press Tab until this pane has the focus."""
    for _ in range(MOST_PANES):
        if isinstance(pilot.app.focused, pane):
            return
        await pressed(pilot, "tab")
    raise AssertionError(f"Tab never reaches {pane.__name__}, but {pilot.app.focused}")


def is_busy(app: object) -> bool:
    """True while a key is being handled or a page is loading."""
    return isinstance(app, Zktop) and app.is_running and app.key_queue.is_busy


def is_idle(app: Zktop) -> bool:
    """True when no key, no frame and no news is waiting."""
    return not (
        is_busy(app) or app._is_due or any(visit.inbox._news for visit in app.visits.values())
    )


async def settled(pilot: Pilot[int]) -> list[str]:
    """Wait until the screen is drawn; return its lines."""
    app = pilot.app
    await pilot.pause()
    await pilot.pause()
    if isinstance(app, Zktop):
        await until(pilot, lambda: is_idle(app), "an idle app: no held key, no frame due, no news")
    if isinstance(app, Zktop) and app.error_log.last is not None:
        raise app.error_log.last  # the UI continues after an error; a test must not
    return [strip.text.rstrip() for strip in painted(app)]


def painted(app: App[object]) -> list[Strip]:
    """The lines of the screen, with the screens below a dialog."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()  # the only way to the text


def panel(lines: Sequence[str], title: str) -> list[str]:
    """The lines of the panel with this title."""
    top = next((n for n, one in enumerate(lines) if f"─ {title}" in one), None)
    assert top is not None, f"there is no panel {title!r} in:\n" + "\n".join(lines)
    begin = lines[top].index(f"─ {title}")
    left = lines[top].rfind("╭", 0, begin + 1)
    if left < 0:  # a small window: the line with the title is all there is of the frame
        below = lines[top + 1 :]
        return list(takewhile(lambda one: not one.startswith("─ "), below))
    right = lines[top].index("╮", begin)
    inside = takewhile(lambda one: one[left] != "╰", lines[top + 1 :])
    return [one[left + 1 : right] for one in inside]
