"""Back and forward through what the user has visited."""

import pytest
from textual.pilot import Pilot
from ui.example_ensemble import IMPORT, ORDERS, STOCK, trouble
from ui.fake_feed import app_of, settled
from ui.screens.locks.locks_app import WIDE, chosen

from zktop.ui.app import Zktop
from zktop.ui.navigation_history import MAX_ENTRIES_EACH_WAY, NavigationEntry, NavigationHistory
from zktop.ui.view_state import Selection
from zktop.ui.widgets.header import CRUMB

FILM = trouble()
LOCKS, LOCK, SESSIONS = (NavigationEntry(name) for name in ("locks", "lock", "sessions"))


def test_back_and_forward_again() -> None:
    """As in a browser."""
    history = NavigationHistory().after_leaving(LOCKS).after_leaving(LOCK)
    there = history.back(SESSIONS)

    assert there.before[-1] == LOCKS
    assert there.following == (SESSIONS,)
    assert there.forward(LOCK) == history


def test_a_new_entry_has_nothing_after_it() -> None:
    """The entries to go forward to are forgotten."""
    back = NavigationHistory().after_leaving(LOCKS).back(LOCK)

    assert back.after_leaving(SESSIONS).following == ()


def test_an_entry_that_was_left_twice_is_kept_once() -> None:
    """Going back always leads elsewhere."""
    assert NavigationHistory().after_leaving(LOCKS).after_leaving(LOCKS).before == (LOCKS,)


def test_the_oldest_entries_are_forgotten() -> None:
    """There is a limit."""
    history = NavigationHistory()
    for number in range(MAX_ENTRIES_EACH_WAY + 5):
        history = history.after_leaving(NavigationEntry("lock", Selection(path=f"/{number}")))

    assert len(history.before) == MAX_ENTRIES_EACH_WAY
    assert history.before[0].subject.path == "/5"


def where(app: Zktop) -> tuple[str, str | None]:
    """The screen and the lock."""
    assert app.page is not None
    return app.page.entry.name, app.selection.path


async def after(pilot: Pilot[int], *keys: str) -> list[str]:
    """The screen after these keys."""
    await pilot.press(*keys)
    return await settled(pilot)


async def test_alt_left_goes_back_and_alt_right_forward() -> None:
    """To the same screen with the same selection, and the header names both."""
    app = app_of(*FILM)
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot)
        await after(pilot, "down", "enter")
        await after(pilot, "1", "down", "enter")
        seen = [where(app)]
        crumbs = [(await settled(pilot))[0]]
        for key in ("alt+left", "alt+left", "alt+left", "alt+right"):
            lines = await after(pilot, key)
            seen.append(where(app))
            crumbs.append(lines[0])

        assert seen == [
            ("lock", IMPORT),
            ("locks", IMPORT),
            ("lock", STOCK),
            ("locks", STOCK),
            ("lock", STOCK),
        ]
        assert f"{CRUMB} Lock  {CRUMB} /locks/import" in crumbs[0]
        assert f"{CRUMB} Locks" in crumbs[1]
        assert f"{CRUMB} Lock  {CRUMB} /locks/stock" in crumbs[2]
        assert f"{CRUMB} Lock  {CRUMB} /locks/stock" in crumbs[4]


async def test_the_header_names_a_lock_that_was_not_selected() -> None:
    """Screen 2 shows the worst one then."""
    app = app_of(*FILM, page="lock")
    async with app.run_test(size=(160, 40)) as pilot:
        lines = await settled(pilot)

        assert app.subject.path is None
        assert f"{CRUMB} Lock  {CRUMB} {ORDERS}" in lines[0]


async def test_the_cursor_returns_to_the_row_that_was_left() -> None:
    """It was on another row in between."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "down", "enter")
        await after(pilot, "1", "down", "enter")
        await after(pilot, "alt+left", "alt+left", "alt+left")

        assert chosen(app) == STOCK


async def test_the_finding_that_was_read_is_there_again() -> None:
    """The one under the cursor, not the one that the screen was opened with."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "n", "down")
        read = app.selection.case
        await after(pilot, "4")
        await after(pilot, "n")
        await after(pilot, "alt+left", "alt+left")

        assert where(app)[0] == "findings"
        assert app.selection.case == read


async def test_without_a_moved_cursor_the_top_row_stays_selected() -> None:
    """Going back does not pin the cursor to the row that was first."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "4")
        await after(pilot, "alt+left")

        assert where(app)[0] == "locks"
        assert app.page is not None
        assert not app.page.table.held  # type: ignore[attr-defined]  # the locks screen


@pytest.mark.parametrize("key", ["alt+left", "alt+right", "escape"])
async def test_where_there_is_no_other_entry_the_key_does_nothing(key: str) -> None:
    """The screen stays."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        before = await settled(pilot)

        assert await after(pilot, key) == before


async def test_escape_goes_back_as_well() -> None:
    """And alt+right undoes that."""
    app = app_of(*FILM)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await after(pilot, "down", "enter", "escape")
        back = where(app)
        await after(pilot, "alt+right")

        assert (back, where(app)) == (("locks", STOCK), ("lock", STOCK))
