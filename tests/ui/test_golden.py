"""Every screen in typical situations, as it was reviewed and accepted.

After a wanted change: ZKTOP_ACCEPT_SCREENS=1 pytest tests/ui/test_golden.py, then read the diff.
"""

import os
import re
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import pytest
from rich.style import Style
from ui.example_states import SITUATIONS, Situation
from ui.fake_feed import FakeFeed, painted, settled

from zktop.ui.app import Zktop
from zktop.ui.screens import PAGES
from zktop.ui.settings import UiSettings

GOLDEN = Path(__file__).with_name("golden")
ACCEPT = "ZKTOP_ACCEPT_SCREENS"
SIZES = ((80, 24), (120, 36))
THUMB = re.compile("[▁▂▃▄▅▆▇█](│?)$")  # of a scrollbar; it depends on when it was drawn

BAR = re.compile("⟦.⟧$")  # the same, where it is reversed


def app_of(situation: Situation) -> Zktop:
    """The UI in this situation."""
    feed = FakeFeed(*situation.news, name="zk1:2181")
    return Zktop(feed, situation.stage, settings=UiSettings(is_ascii=situation.is_ascii))


Read = Callable[[Zktop, list[str]], list[str]]


def as_it_is(_app: Zktop, lines: list[str]) -> list[str]:
    """The lines as plain text."""
    return lines


def with_reverse(app: Zktop, _lines: list[str]) -> list[str]:
    """The lines, with reversed text in brackets; any colour is an error."""
    found = []
    for strip in painted(app):
        text = ""
        for segment in strip:
            style = segment.style
            assert style is None or not _colours(style), (segment.text, style)
            is_reversed = style is not None and style.reverse
            text += f"⟦{segment.text}⟧" if is_reversed else segment.text
        found.append(BAR.sub("", text.replace("⟧⟦", "")))
    return found


def _colours(style: Style) -> set[str]:
    """The colours in a style; the terminal's own two are none."""
    known = {one.name for one in (style.color, style.bgcolor) if one is not None}
    return known - {"default"}


async def screens(app: Zktop, size: tuple[int, int], read: Read = as_it_is) -> str:
    """All six screens, one after the other, by the keys 1 to 6."""
    shown: list[str] = []
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for number, page in enumerate(PAGES, start=1):
            await pilot.press(str(number))
            text = read(app, await settled(pilot))
            lines = [THUMB.sub(r" \1", line).rstrip() for line in text]
            assert app.page is not None
            assert page.name == app.page.entry.name
            shown.append("\n".join((f"{page.name:=^{size[0]}}", *lines)))
    return "\n".join(shown) + "\n"


def accepted(name: str, text: str) -> str:
    """The accepted screens; with the environment variable set, accept these."""
    path = GOLDEN / f"{name}.txt"
    if ACCEPT in os.environ:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def difference(name: str, before: str, now: str) -> str:
    """The differences, and how to accept them."""
    lines = unified_diff(
        before.splitlines(), now.splitlines(), "accepted", "now", lineterm="", n=1
    )
    how = f"to accept it: {ACCEPT}=1 pytest {Path(__file__).name}"
    return "\n".join([f"{name} looks different; {how}", *lines])


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("situation", SITUATIONS)
async def test_looks_as_accepted(situation: str, size: tuple[int, int]) -> None:
    """All six screens."""
    name = f"{situation}-{size[0]}x{size[1]}"
    now = await screens(app_of(SITUATIONS[situation]()), size)
    before = accepted(name, now)

    assert now == before, difference(name, before, now)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_without_colours_it_looks_as_accepted(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No colour is written; the line under the cursor is reversed."""
    monkeypatch.setenv("NO_COLOR", "1")
    name = f"colourless-{size[0]}x{size[1]}"
    now = await screens(app_of(SITUATIONS["deadlock"]()), size, with_reverse)
    before = accepted(name, now)

    assert now == before, difference(name, before, now)
