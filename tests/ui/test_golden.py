"""Every screen in its telling situations, as it was looked at and accepted.

After a wanted change: ZKTOP_ACCEPT_SCREENS=1 pytest tests/ui/test_golden.py, then read the diff.
"""

import os
import re
from difflib import unified_diff
from pathlib import Path

import pytest
from ui.feeds import ToldFeed, settled
from ui.situations import SITUATIONS, Situation

from zktop.ui.app import Look, Zktop
from zktop.ui.pages import PAGES

GOLDEN = Path(__file__).with_name("golden")
ACCEPT = "ZKTOP_ACCEPT_SCREENS"
SIZES = ((80, 24), (120, 36))
THUMB = re.compile("[▁▂▃▄▅▆▇█]$")  # of a scrollbar: how far it is depends on when it was drawn


def app_of(situation: Situation) -> Zktop:
    """The UI in this situation."""
    feed = ToldFeed(*situation.news, name="zk1:2181")
    return Zktop(feed, situation.stage, look=Look(is_ascii=situation.is_ascii))


async def screens(app: Zktop, size: tuple[int, int]) -> str:
    """All six screens, one after the other, as who presses 1 to 6 sees them."""
    shown: list[str] = []
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for number, page in enumerate(PAGES, start=1):
            await pilot.press(str(number))
            lines = [THUMB.sub("", line).rstrip() for line in await settled(pilot)]
            assert app.page is not None
            assert page.name == app.page.NAME
            shown.append("\n".join((f"{page.name:=^{size[0]}}", *lines)))
    return "\n".join(shown) + "\n"


def accepted(name: str, text: str) -> str:
    """Give the screens that were accepted; accept these when the user says so."""
    path = GOLDEN / f"{name}.txt"
    if ACCEPT in os.environ:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def difference(name: str, before: str, now: str) -> str:
    """Say what is different, and how to accept it."""
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
