"""The keys and the mouse on screen 1."""

import pytest
from model.make_facts import NOW, lock
from textual.events import MouseScrollDown
from textual.pilot import Pilot
from ui.example_ensemble import IMPORT, LONG, ORDERS, QUIET, STOCK, trouble
from ui.fake_feed import app_of, focus_by_tab, frames, panel, settled, until
from ui.screens.locks.locks_app import WIDE, chosen, page_of

from zktop.ui.screens.common import live_rows
from zktop.ui.screens.locks.panes import AlertsPane, BlockersPane
from zktop.ui.screens.locks.screen import LocksScreen
from zktop.ui.screens.locks.table import LockTable
from zktop.ui.widgets.table import Table

FILM = trouble()
MANY = frames(
    (NOW, [fact for n in range(60) for fact in lock(f"/locks/l{n:02d}", f"u{n}", f"v{n}")])
)


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        (("down",), 1),
        (("j", "j", "j"), 3),
        (("down", "down", "up"), 1),
        (("j", "j", "k"), 1),
        (("G",), 59),
        (("end",), 59),
        (("G", "g"), 0),
        (("end", "home"), 0),
    ],
)
async def test_moves_the_cursor(keys: tuple[str, ...], at: int) -> None:
    """Arrows, letters, and to both ends."""
    app = app_of(*MANY)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press(*keys)

        assert chosen(app) == f"/locks/l{at:02d}"


@pytest.mark.parametrize(("down", "up"), [("pagedown", "pageup"), ("ctrl+f", "ctrl+b")])
async def test_moves_by_pages(down: str, up: str) -> None:
    """By one line less than is visible, and back by as many."""
    app = app_of(*MANY)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        room = page_of(app).table.lines_in_sight()
        await pilot.press(down)
        below = chosen(app)
        await pilot.press(up)

        assert below == f"/locks/l{room - 1:02d}"
        assert chosen(app) == "/locks/l00"


async def test_enter_opens_the_lock_under_the_cursor() -> None:
    """On screen 2, and escape leads back to the same row."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("down", "enter")
        await settled(pilot)
        opened = (app.page.entry.name, app.subject.path) if app.page else None
        await pilot.press("escape")
        await settled(pilot)

        assert opened == ("lock", STOCK)
        assert chosen(app) == STOCK


async def test_the_cursor_follows_the_selection_of_other_screens() -> None:
    """It is on the lock that was selected last."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.subject = app.subject._replace(path=IMPORT)
        app.draw()

        assert chosen(app) == IMPORT


@pytest.mark.parametrize(("pane", "page"), [(AlertsPane, "findings"), (BlockersPane, "findings")])
async def test_enter_opens_what_an_alert_or_a_blocker_is_about(
    pane: type[AlertsPane | BlockersPane], page: str
) -> None:
    """Tab goes to the pane; the deadlock is on screen 3."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await focus_by_tab(pilot, pane)
        await pilot.press("enter")
        await settled(pilot)

        assert app.page is not None
        assert (app.page.entry.name, app.subject.case) == (page, FILM[-1].report.deadlocks[0].id)


async def test_the_second_alert_is_the_next_line_of_its_pane() -> None:
    """The cursor passes over the lines of the first."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.query_one(AlertsPane).focus()
        await pilot.press("down", "down", "down", "enter")
        await settled(pilot)

        assert app.subject.case == next(
            one.id for one in FILM[-1].report.findings if one.rule == "B1"
        )


async def test_sorts_by_columns_and_reverses_the_order() -> None:
    """O opens the columns, O reverses the order; the heads show it."""
    app = app_of(*MANY)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("o", "l", "enter", "escape")
        by_path = [panel(await settled(pilot), "Locks")[0], page_of(app).table.rows[0].path]
        await pilot.press("O")
        turned = [panel(await settled(pilot), "Locks")[0], page_of(app).table.rows[0].path]

        assert "LOCK↑" in by_path[0]
        assert by_path[1] == "/locks/l00"
        assert "LOCK↓" in turned[0]
        assert turned[1] == "/locks/l59"


async def test_the_arrow_of_an_age_points_down_if_the_longest_is_first() -> None:
    """Like the arrow of a number."""
    old, new = (
        lock("/locks/old", "ann", at=NOW - 60_000),
        lock("/locks/new", "bob", at=NOW - 1_000),
    )
    async with app_of(*frames((NOW, [*new, *old]))).run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("o", "h", "h", "enter", "escape")
        lines = panel(await settled(pilot), "Locks")

    assert "HELD↓" in lines[0]
    assert "/locks/old" in lines[1]


async def test_reverses_the_usual_order() -> None:
    """The worst lock is last."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("O")
        await settled(pilot)

        assert [row.path for row in page_of(app).table.rows][-1] == ORDERS


async def test_sorting_works_from_every_pane() -> None:
    """The keys of the table do not depend on the focus."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("tab", "o", "l", "enter", "escape", "space")
        await settled(pilot)

        assert page_of(app).table.sorted_by is not None
        assert any(one[0] == "*" for one in panel(await settled(pilot), "Locks"))


async def test_tags_rows_and_copies_them() -> None:
    """Space tags and moves on; y copies tagged locks; escape removes the tags."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("space", "down", "space", "y")
        marks = [one[0] for one in panel(await settled(pilot), "Locks") if one[0] == "*"]
        copied = app.clipboard
        await pilot.press("escape")
        left = [one for one in panel(await settled(pilot), "Locks") if one[0] == "*"]

        assert (marks, left) == (["*", "*"], [])
        assert ORDERS in copied
        assert IMPORT in copied
        assert f"\n{QUIET}" not in copied


async def test_a_second_space_removes_the_tag() -> None:
    """A tag is on or off."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("space", "up", "space")

        assert not [one for one in panel(await settled(pilot), "Locks") if one[0] == "*"]


async def test_copies_the_lock_under_the_cursor() -> None:
    """In the format of a text snapshot."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("y")

        assert "DEADLOCK #" in app.clipboard
        assert "/locks/orders  mutex  kazoo-lock  2 waiting" in app.clipboard


async def test_copies_what_an_alert_is_about() -> None:
    """In the alerts pane, y copies the locks of the deadlock, not the row of the table."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("G")
        app.query_one(AlertsPane).focus()
        await pilot.press("y")

        assert "2 locks, 1 deadlock" in app.clipboard
        assert LONG not in app.clipboard


async def test_nothing_to_copy_is_a_message() -> None:
    """It is not an error."""
    app = app_of(*frames((NOW, ())))
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("y", "enter", "space", "o", "escape", "O", "down", "G")

        assert app.clipboard == ""
        assert isinstance(app.page, LocksScreen) or app.page is not None


async def test_escape_puts_the_cursor_back_on_the_first_row() -> None:
    """From then on new problems at the top are visible."""
    app = app_of(*MANY)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("G", "escape")
        await settled(pilot)

        assert chosen(app) == "/locks/l00"
        assert not page_of(app).table.held


async def typed(pilot: Pilot[int], text: str) -> None:
    """Type a text letter by letter."""
    await pilot.press(*("space" if letter == " " else letter for letter in text))


async def test_filters_while_it_is_typed() -> None:
    """Enter keeps the filter, escape clears it."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("slash")
        await typed(pilot, "user")
        await settled(pilot)
        while_typing = [row.path for row in page_of(app).table.rows]
        await pilot.press("enter")
        await settled(pilot)
        kept = [row.path for row in page_of(app).table.rows]
        await pilot.press("escape")
        await settled(pilot)

        assert while_typing == kept == [QUIET]
        assert len(page_of(app).table.rows) == 5


async def test_a_filter_of_many_locks_is_prepared_in_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The letters need not wait for it; the last one decides what is listed."""
    monkeypatch.setattr(live_rows, "TEXTS_AT_ONCE", 1)
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("slash")
        await typed(pilot, "user")
        await until(pilot, lambda: len(page_of(app).table.rows) == 1, "the match")
        text = "\n".join(await settled(pilot))

        assert [row.path for row in page_of(app).table.rows] == [QUIET]
        assert "1 of 5" in text


async def test_a_filter_without_a_match_says_so() -> None:
    """With the key that clears it."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("slash", "z", "z", "enter")
        text = "\n".join(await settled(pilot))
        await pilot.press("escape")
        after = "\n".join(await settled(pilot))

        assert "5 locks, but none matches the filter: zz" in text
        assert ORDERS in after


async def test_a_click_selects_and_a_second_one_opens() -> None:
    """The mouse does what the keys do."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.click(Table, offset=(11, 4))
        await settled(pilot)
        first = (chosen(app), app.page.entry.name if app.page else None)
        await pilot.click(Table, offset=(11, 4))
        await settled(pilot)

        assert first == (IMPORT, "locks")
        assert app.page is not None
        assert (app.page.entry.name, app.subject.path) == ("lock", IMPORT)


async def test_a_click_on_a_head_sorts() -> None:
    """By the column that was clicked on."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.click(LockTable, offset=(16, 1))
        await settled(pilot)

        assert page_of(app).table.sorted_by == "LOCK"
        assert page_of(app).table.rows[0].path == LONG


async def test_the_wheel_scrolls() -> None:
    """The cursor stays where it is."""
    app = app_of(*MANY)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        table = page_of(app).table
        table.post_message(
            MouseScrollDown(table, 5, 5, 0, 1, 0, shift=False, meta=False, ctrl=False)
        )
        await settled(pilot)

        assert table.scroll_offset.y > 0
        assert chosen(app) == "/locks/l00"
