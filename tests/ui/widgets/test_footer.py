"""The footer: the keys of the focused pane come first, and keys that write come last."""

import pytest
from textual.pilot import Pilot
from ui.example_ensemble import trouble
from ui.fake_contenders import FakeContenders
from ui.fake_feed import FakeFeed, app_of, pressed, settled

from zktop.ui.app import Zktop
from zktop.ui.keys import KEYS, reading_only
from zktop.ui.screens import PAGES
from zktop.ui.settings import UiSettings
from zktop.ui.styled_text import text_of
from zktop.ui.widgets.footer import drawn, in_order


def foot(page: str, pane: str, width: int = 80, *, may_write: bool = True) -> str:
    """The footer of a page with the focus in a pane."""
    return text_of(drawn(in_order(page, pane, KEYS, may_write=may_write), width))


@pytest.mark.parametrize(
    ("page", "pane", "begin"),
    [
        ("locks", "locks", " enter Open  / Filter  w Waits  : Find  o Sort  space Tag"),
        ("locks", "alerts", " enter Open  n Alert  a Ack  y Copy"),
        ("locks", "events", " enter Open  y Copy"),
        ("lock", "lock-queue", " enter Open  / Filter  w Waits  : Find  d Data  f Fold"),
        ("findings", "cases", " enter Open  n Alert  a Ack  / Filter  : Find  f Fold"),
        ("findings", "case", " enter Open  n Alert  a Ack  y Copy"),
        ("sessions", "sessions", " enter Open  / Filter  w Waits  : Find  o Sort  f Fold"),
        ("timeline", "strips", " space Play  [ Prev  ] Next  enter Open"),
        ("demo", "contenders", " U Release  C Cancel  K Kill  Z Freeze  enter Open"),
    ],
)
def test_the_keys_of_the_pane_come_first(page: str, pane: str, begin: str) -> None:
    """At 80 columns, too."""
    assert foot(page, pane).startswith(begin)


@pytest.mark.parametrize("width", [30, 80, 120])
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_help_and_quit_are_always_there(entry: object, width: int) -> None:
    """Whatever has the focus."""
    panes = {pane for key in KEYS for pane in key.panes}

    for pane in panes:
        assert foot(entry.name, pane, width).endswith("? Help  q Quit")


def test_keys_that_write_are_left_out_without_permission() -> None:
    """With permission it comes last."""
    without, with_it = (foot("locks", "locks", 300, may_write=may) for may in (False, True))

    assert "New" not in without
    assert "Scene" not in without
    assert with_it.index("N New") > with_it.index("r Record")


def test_keys_that_write_do_not_fill_a_gap() -> None:
    """A short key that writes is not shown where a longer one was left out."""
    assert not any("N New" in foot("findings", "cases", width) for width in range(60, 110))


def test_every_pane_of_the_table_is_a_pane_of_the_ui() -> None:
    """A name that no widget has would never come first."""
    known = {"locks", "alerts", "blockers", "waits", "events", "cases", "case"}
    known |= {
        "lock-queue",
        "lock-side",
        "lock-minute",
        "lock-tree",
        "case-minute",
        "session-minute",
        "scene-minute",
    }
    known |= {"sessions", "servers", "detail", "strips", "instant", "index", "scene"}
    known |= {"contenders", "log", "minute", "picture"}

    assert {pane for key in KEYS for pane in key.panes} == known


async def line_of(pilot: Pilot[int]) -> str:
    """The footer as it is shown."""
    return (await settled(pilot))[-1]


async def test_tab_changes_it() -> None:
    """As soon as another pane has the focus."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        table = await line_of(pilot)
        await pressed(pilot, "tab")
        blockers = await line_of(pilot)

    assert table.startswith(" enter Open  / Filter")
    assert blockers.startswith(" enter Open  y Copy")


async def test_a_click_into_a_pane_changes_it() -> None:
    """The mouse moves the focus, too."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.click("#events", offset=(5, 1))

        assert (await line_of(pilot)).startswith(" enter Open  y Copy")


async def test_a_dialog_does_not_change_it() -> None:
    """It keeps the keys of the pane below."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        before = await line_of(pilot)
        await pressed(pilot, "question_mark")

        assert await line_of(pilot) == before


async def test_permission_shows_the_keys_that_write() -> None:
    """From then on, at the end."""
    stage = FakeContenders(allow="ask")
    app = Zktop(FakeFeed(*trouble()), stage, settings=UiSettings())
    async with app.run_test(size=(180, 36)) as pilot:
        before = await line_of(pilot)
        stage.permission.give(stage.permission.word)
        app.draw()
        after = await line_of(pilot)

    assert "N New" not in before
    assert "N New" in after


def test_without_contenders_nothing_writes() -> None:
    """Their keys are not in the table."""
    table = reading_only(KEYS)
    keys = in_order("locks", "locks", table)

    assert not any(key.writes for key in keys)
