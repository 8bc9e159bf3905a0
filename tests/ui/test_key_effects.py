"""Every key does something, and every dialog has a key that opens it."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

import pytest
from textual.pilot import Pilot
from ui.example_states import deadlock
from ui.fake_contenders import FakeContenders
from ui.fake_feed import FakeFeed, painted, pressed, settled

import zktop.ui.dialogs
from zktop.app.export_formats import ReportExports
from zktop.app.ui_settings import theme_list
from zktop.ui.app import Zktop
from zktop.ui.dialogs.base import Dialog, Overlay, TextDialog
from zktop.ui.dialogs.clusters import ClusterDialog
from zktop.ui.dialogs.program_output import OutputDialog
from zktop.ui.dialogs.question import ConfirmDialog, QuestionDialog, YesNoDialog
from zktop.ui.keys import KEYS, LOCKS, Action
from zktop.ui.settings import UiSettings

LEADING_THERE: Final[dict[str, Sequence[str]]] = {  # keys pressed before, where it needs any
    "page_1": ("2",),
    "back": ("slash", "x", "enter"),
    "previous_place": ("2", "3"),
    "next_place": ("2", "3", "alt+left"),
    "up": ("down",),
    "page_up": ("G",),
    "first": ("G",),
    "side_narrower": ("less_than_sign",),
    "left": ("w", "w", "up"),
    "right": ("w", "w", "up", "left"),
    "second_on": ("H", "H"),
    "compare": ("H", "m", "H"),
}
ELSEWHERE: Final = {  # dialogs of settings that this app lacks, and those with tests of their own
    ClusterDialog, OutputDialog, ConfirmDialog, YesNoDialog,
}  # fmt: skip


async def test_every_key_has_an_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the screen, in a message, at the demo clients, or on the app; a new key must have one."""
    monkeypatch.chdir(tmp_path)
    found = deadlock()
    settings = UiSettings(themes=lambda: theme_list({}))
    exports = ReportExports("zk1:2181")
    app = Zktop(FakeFeed(*found.news, name="zk1:2181"), found.stage, exports, settings)
    opened: set[type[object]] = set()
    without: list[str] = []
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        for key in KEYS:
            if key.id == "quit":
                continue
            await _go(pilot, app, key)
            before = _seen(app, found.stage)
            await pressed(pilot, key.names[0])
            await settled(pilot)
            opened.add(type(app.screen))
            if _seen(app, found.stage) == before:
                without.append(key.id)
        await pressed(pilot, "escape", "q")

    assert without == [], " ".join(without)
    assert _dialogs() - opened - ELSEWHERE == set()


async def _go(pilot: Pilot[int], app: Zktop, key: Action) -> None:
    """The first page of a key, where nothing is open, filtered or chosen."""
    await pressed(pilot, "escape", "escape")
    app.turn_to(key.pages[0] if key.pages else LOCKS)
    await settled(pilot)
    await pressed(pilot, *LEADING_THERE.get(key.id, ()))
    await settled(pilot)


def _seen(app: Zktop, stage: FakeContenders) -> tuple[object, ...]:
    return (
        painted(app),
        type(app.screen),
        len(stage.asked),
        frozenset(one.identity for one in app._notifications),
        app.theme,
    )


def _dialogs() -> set[type[object]]:
    """Every dialog class that is not only a base of others."""
    for module in iter_modules(zktop.ui.dialogs.__path__, "zktop.ui.dialogs."):
        importlib.import_module(module.name)
    bases = {Overlay, Dialog, TextDialog, QuestionDialog}
    todo, found = [Overlay], set()
    while todo:
        one = todo.pop()
        todo += one.__subclasses__()
        found.add(getattr(one, "__origin__", one))
    return {one for one in found if one not in bases and one.__module__.startswith("zktop.")}
