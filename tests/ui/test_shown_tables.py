"""The feed knows whether the page shows tables of servers: then it reads them more often."""

import pytest
from model.findings.cases import facts, k
from model.make_facts import NOW
from ui.fake_feed import app_of, frames, settled

from zktop.ui.screens import PAGES
from zktop.ui.screens.page import PageEntry


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
async def test_the_pages_of_one_lock_and_of_sessions_need_new_tables(entry: PageEntry) -> None:
    """They show the silence of sessions, which grows from one reading to the next."""
    app = app_of(*frames((NOW, facts(k("ann", 1)))))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("2")
        await settled(pilot)
        await pilot.press(entry.key)
        await settled(pilot)
        assert app.feed.shows_tables == (entry.name in ("lock", "sessions"))
