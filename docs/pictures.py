"""Draws the pictures of the documentation: the real screens, on a recording, at a fixed moment.

`python docs/pictures.py [FOLDER]` writes them; they come out equal in every run.
"""

import asyncio
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

for name in ("NO_COLOR", "TEXTUAL_THEME"):
    os.environ.pop(name, None)
os.environ["TEXTUAL_ANIMATIONS"] = "none"  # Textual reads it when it is imported

from scenery import Scenery  # noqa: E402
from textual.pilot import Pilot  # noqa: E402
from textual.theme import Theme  # noqa: E402

from zktop.commands.looks import wardrobe  # noqa: E402
from zktop.commands.replayed import Replay  # noqa: E402
from zktop.ui.app import Zktop  # noqa: E402
from zktop.ui.look import Look  # noqa: E402
from zktop.ui.ports import Frame, Status, Tell  # noqa: E402

DOCS: Final = Path(__file__).parent
THEME: Final = "zktop-dark"
AT_MS: Final = 32_000  # the deadlock is confirmed, and the rest still moves
COLUMNS: Final = 120
STILL_S: Final = 1.2  # numbers are sorted anew at most once a second


class Picture(NamedTuple):
    """One screen, and the keys that lead to what is worth seeing there."""

    name: str
    page: str
    keys: tuple[str, ...] = ()
    lines: int = 36


PICTURES: Final = (
    Picture("locks", "locks"),
    Picture("lock", "locks", ("enter",)),
    Picture("deadlock", "findings"),
    Picture("sessions", "sessions"),
    Picture("timeline", "timeline"),
    Picture("demo", "demo"),
)


class Past:
    """A recording that is told as if it happened now."""

    is_live = True
    notes: Sequence[str] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.tell: Tell = lambda _news: None

    def start(self, tell: Tell) -> None:
        """Begin to tell."""
        self.tell = tell
        tell(Status("live"))

    def stop(self) -> None:
        """Nothing runs."""

    def record(self, path: Path | None) -> None:
        """Nothing is recorded."""


async def drawn(picture: Picture, frames: Sequence[Frame], hosts: str) -> str:
    """Draw one picture, when the screens have seen all that happened until then."""
    look = Look(theme=theme(), page=picture.page)
    feed, stage = Past(hosts), Scenery(frames)
    app = Zktop(feed, stage, look=look)
    async with app.run_test(size=(COLUMNS, picture.lines)) as pilot:
        await still(pilot)
        for frame in frames:
            feed.tell(frame)
            await pilot.pause()
        await still(pilot)
        for key in picture.keys:
            await pilot.press(key)
            await still(pilot)
        return plain(app.export_screenshot(title="zktop"))


def theme() -> Theme:
    """Give the default theme, whatever the user of this machine has."""
    return next(one.theme for one in wardrobe({}).designs if one.theme.name == THEME)


async def still(pilot: Pilot[int]) -> None:
    """Wait until the picture has stayed the same for longer than any of the screens' paces."""
    before = ""
    while (now := pilot.app.export_screenshot()) != before:
        before = now
        await pilot.pause(STILL_S)


def plain(picture: str) -> str:
    """Take out what loads fonts from elsewhere, and name what is inside by its content alone."""
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code", "Fira Code, DejaVu Sans Mono, Menlo, Consolas")
    return re.sub(r"terminal-\d+-", "zktop-", picture)


def frames_until(replay: Replay, at_ms: int) -> Iterator[Frame]:
    """Give what the screens were told up to then."""
    for report in replay.reports(replay.begin + at_ms):
        yield Frame(report, report.events)


async def main(folder: Path) -> None:
    """Write all pictures."""
    replay = Replay(DOCS / "incident.zktop")
    frames = tuple(frames_until(replay, AT_MS))
    for picture in PICTURES:
        text = await drawn(picture, frames, replay.hosts)
        (folder / f"{picture.name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS))
