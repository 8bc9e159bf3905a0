"""The key w: the wait tree on any screen, and all locks by path."""

import pytest
from model.findings.cases import ZXID, facts, k
from model.make_facts import NOW, session
from ui.example_queues import looked, page_on, ring_of, shown
from ui.fake_feed import app_of, focus_by_tab, frames, settled, until

from zktop.model.facts import Gone, join
from zktop.model.text import Text
from zktop.ui.dialogs.tree import TreeDialog
from zktop.ui.interfaces import Frame
from zktop.ui.keys import KEYS
from zktop.ui.screens.locks.panes import BlockersPane
from zktop.ui.styled_text import text_of
from zktop.ui.view_state import Selection
from zktop.ui.widgets.text_view import TextList

A, B = "/locks/a", "/locks/b"
CHAIN = (
    facts(k("ann", 1), k("bob", 2, czxid=120), path=A),
    facts(k("bob", 1, czxid=110), k("cid", 2, czxid=130), path=B),
)


def chain() -> list[Frame]:
    """Ann holds a; bob holds b and waits for a; cid waits for b."""
    return looked(*CHAIN)


def listed(lines: TextList) -> str:
    """All lines of the tree."""
    return "\n".join(text_of(lines.draw(at, 100)) for at in range(lines.count))


@pytest.mark.parametrize("page", ["locks", "lock", "findings", "sessions"])
async def test_w_shows_the_tree_on_any_screen(page: str) -> None:
    """Root blocker first; escape closes it."""
    async with page_on(page, looked(ring_of("ann", "bob"))) as (app, pilot):
        text = await shown(pilot, "w")
        opened = isinstance(app.screen, TreeDialog)
        await shown(pilot, "escape")

        assert opened
        assert "Who waits for whom" in text
        assert "DEADLOCK #1" in text
        assert not isinstance(app.screen, TreeDialog)
        assert app.page is not None
        assert app.page.entry.name == page


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_the_cursor_is_on_the_selected_session(size: tuple[int, int]) -> None:
    """The lock that it waits for is above, and the clients that wait for it are below."""
    subject = Selection(session=session("bob"))
    async with page_on("sessions", chain(), size, subject) as (app, pilot):
        await shown(pilot, "w")
        text = listed(app.screen.query_one(TextList))

        assert text.index("ann") < text.index(A) < text.index("bob  waits") < text.index(B)
        assert "selected" in next(one for one in text.splitlines() if "bob  waits" in one)


async def test_enter_goes_to_the_session_of_the_line() -> None:
    """From the lock, one line up, to its holder."""
    async with page_on("lock", chain(), subject=Selection(path=A)) as (app, pilot):
        await shown(pilot, "w", "g", "enter")

        assert app.page is not None
        assert app.page.entry.name == "sessions"
        assert app.subject.session == session("ann")


async def test_enter_goes_to_the_lock_of_the_line() -> None:
    """That line is below the holder of the lock."""
    async with page_on("sessions", chain(), subject=Selection(session=session("ann"))) as (
        app,
        pilot,
    ):
        await shown(pilot, "w", "g", "down", "enter")

        assert app.page is not None
        assert app.page.entry.name == "lock"
        assert app.subject.path == A


async def test_in_a_pane_of_screen_1_it_is_about_the_line_under_the_cursor() -> None:
    """A root blocker is a session."""
    async with page_on("locks", chain(), (160, 50)) as (_, pilot):
        await focus_by_tab(pilot, BlockersPane)
        text = await shown(pilot, "w")

        assert "selected" in next(one for one in text.splitlines() if "not waiting itself" in one)


async def test_w_again_shows_all_locks_by_path() -> None:
    """The third time it shows the wait tree again."""
    async with page_on("locks", chain()) as (_, pilot):
        paths = await shown(pilot, "w", "w")
        waiting = await shown(pilot, "w")

        assert "Locks by path" in paths
        assert "WORST STATE" in paths
        assert "locks/" in paths
        assert "Who waits for whom" in waiting


async def test_a_prefix_folds_and_a_lock_opens() -> None:
    """The keys are left, right and enter."""
    async with page_on("locks", chain()) as (app, pilot):
        opened = await shown(pilot, "w", "w", "g")
        closed = await shown(pilot, "left")
        by_enter = await shown(pilot, "enter")
        by_key = await shown(pilot, "enter", "right")
        await shown(pilot, "down", "enter")

        assert ("─ a " in opened, "─ a " in closed) == (True, False)
        assert "─ a " in by_enter
        assert "─ a " in by_key
        assert app.page is not None
        assert app.page.entry.name == "lock"
        assert app.subject.path in (A, B)


async def test_it_follows_the_newest_state() -> None:
    """A waiter that leaves disappears from the tree."""
    left = Gone(path=join(Text(B), Text(k("cid", 2).name)), zxid=ZXID + 1, at=NOW + 20_000)
    some = frames((NOW, [one for part in CHAIN for one in part]), (NOW + 20_000, [left]))
    async with page_on("lock", some[:1], subject=Selection(path=A)) as (app, pilot):
        before = await shown(pilot, "w")
        app.feed.send(some[1])  # type: ignore[attr-defined]
        lines = app.screen.query_one(TextList)
        await until(pilot, lambda: "cid" not in listed(lines), "a tree without cid")

        assert "cid" in before
        assert "ann" in listed(lines)


async def test_without_a_selection_it_shows_all_root_blockers() -> None:
    """That is so even if the selected item is gone."""
    subject = Selection(path="/locks/gone")
    async with page_on("lock", chain(), subject=subject) as (_, pilot):
        assert "WHO IS BLOCKING" in await shown(pilot, "w")


async def test_without_data_there_is_no_tree() -> None:
    """A message says so."""
    app = app_of()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await shown(pilot, "w")

        assert [one.message for one in app._notifications] == ["There is no data yet."]
        assert not isinstance(app.screen, TreeDialog)


def test_the_key_has_a_stable_name() -> None:
    """`ui.keys` in a config refers to it."""
    assert next(key.keys for key in KEYS if key.id == "tree") == "w"
