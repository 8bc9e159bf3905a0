"""Draw the pictures of the documentation: the real screens, on a recording, at a fixed moment.

`python docs/pictures.py [FOLDER]` writes them. They are the same in every run.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path
from typing import Final

for setting in ("NO_COLOR", "TEXTUAL_THEME"):
    os.environ.pop(setting, None)
os.environ["TEXTUAL_ANIMATIONS"] = "none"  # Textual reads it when it is imported

from scenery import Scenery  # noqa: E402
from textual.pilot import Pilot  # noqa: E402
from textual.theme import Theme  # noqa: E402

from zktop.app.replay import Replay  # noqa: E402
from zktop.app.ui_settings import theme_list  # noqa: E402
from zktop.ui.actions.svg_picture import portable_svg  # noqa: E402
from zktop.ui.app import Zktop  # noqa: E402
from zktop.ui.interfaces import Frame, OnNews, Status  # noqa: E402
from zktop.ui.settings import UiSettings  # noqa: E402

DOCS: Final = Path(__file__).parent
THEME: Final = "zktop-night"
AT_MS: Final = 33_600  # the deadlock is confirmed, and the rest is still moving
SIZE: Final = (120, 36)
FRAMES_AT_ONCE: Final = 20  # the inbox merges frames if there are many more
LONGEST_S: Final = 240.0
STILL_S: Final = 1.2  # rows are sorted at most once a second
CONSEQUENCES: Final = 5  # messages that cause one another, at most


PICTURES: Final = {  # name -> the keys that lead there from the first screen
    "locks": (),
    "lock": ("enter", "down"),
    "deadlock": ("3",),
    "sessions": ("4",),
    "timeline": ("5",),
    "demo": ("6",),
}


class Past:
    """A recording, delivered as if it happened now."""

    is_live = True
    notes: Sequence[str] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.send: OnNews | None = None  # None: not started

    def start(self, on_news: OnNews) -> None:
        """Store the callback, and report that the feed is live."""
        self.send = on_news
        on_news(Status("live"))

    def stop(self) -> None:
        """Nothing runs."""

    def record(self, path: Path | None, past: Sequence[Frame] = ()) -> None:
        """Nothing is recorded."""


async def drawn(keys: Sequence[str], frames: Sequence[Frame], hosts: str) -> str:
    """Draw the screen after these keys, when all frames have arrived."""
    feed = Past(hosts)
    scenery = Scenery(frames)
    if keys == PICTURES["demo"]:
        scenery.permission.give(scenery.permission.word)  # else no scene could play
    app = Zktop(feed, scenery, settings=UiSettings(theme=theme()))
    async with app.run_test(size=SIZE) as pilot:
        await deliver(pilot, app, feed, frames)
        await still(pilot)
        await pilot.press(*keys)
        while app.key_queue.is_busy:  # the key is not handled yet
            await pilot.pause()
        await app.workers.wait_for_complete()  # a page is created when it is first shown
        await still(pilot)
        return portable_svg(app.export_screenshot(title="zktop"))


async def deliver(pilot: Pilot[int], app: Zktop, feed: Past, frames: Sequence[Frame]) -> None:
    """Deliver all frames, a few at a time, as soon as the feed is started."""
    while feed.send is None:
        await pilot.pause()
    for begin in range(0, len(frames), FRAMES_AT_ONCE):
        for frame in frames[begin : begin + FRAMES_AT_ONCE]:
            feed.send(frame)
        while app.tape.last is not frame:
            await pilot.pause()


async def within(name: str, drawing: Awaitable[str]) -> str:
    """Draw a picture; after too long, exit with its name."""
    try:
        return await asyncio.wait_for(drawing, LONGEST_S)
    except TimeoutError:
        raise SystemExit(f"The picture {name} was not drawn within {LONGEST_S:g} s.") from None


def theme() -> Theme:
    """Return the default theme, whatever the config of this machine says."""
    return next(one.theme for one in theme_list({}).designs if one.theme.name == THEME)


async def still(pilot: Pilot[int]) -> None:
    """Wait until the picture has not changed for longer than any screen waits to draw."""
    before = ""
    while (now := pilot.app.export_screenshot()) != before:
        before = now
        await pilot.pause(STILL_S)
        for _ in range(CONSEQUENCES):  # other pictures may have used the time of the pause
            await pilot.pause()


def frames_until(replay: Replay, at_ms: int) -> Iterator[Frame]:
    """Yield the frames up to this moment."""
    for report in replay.reports(replay.begin + at_ms):
        yield Frame(report, report.events)


async def main(folder: Path) -> None:
    """Write all pictures."""
    replay = Replay(DOCS / "incident.zktop")
    frames = tuple(frames_until(replay, AT_MS))
    texts = await asyncio.gather(
        *(within(name, drawn(keys, frames, replay.hosts)) for name, keys in PICTURES.items())
    )
    for name, text in zip(PICTURES, texts, strict=True):
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS))
