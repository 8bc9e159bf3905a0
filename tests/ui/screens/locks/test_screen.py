"""Screen 1 as a user sees it: locks, problems, and its text when there are none."""

import re
from collections.abc import Iterator

import pytest
from model.make_facts import NOW, lock
from ui.example_ensemble import IMPORT, LATER, LONG, ORDERS, QUIET, STOCK, quiet, released, trouble
from ui.fake_feed import FakeFeed, app_of, frames, panel, settled
from ui.screens.locks.locks_app import SMALL, WIDE, chosen, page_of, screen

from zktop.model.facts import Gone, join
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame, Status
from zktop.ui.screens.locks import rows as lock_rows
from zktop.ui.screens.locks.rows import LockRows
from zktop.ui.settings import UiSettings
from zktop.ui.view_state import Selection

FILM = trouble()
MANY = frames(
    (NOW, [fact for n in range(60) for fact in lock(f"/locks/l{n:02d}", f"u{n}", f"v{n}")])
)


async def test_shows_problems_and_all_locks() -> None:
    """Alert, sentence, the table with the worst first, root blockers, events, health."""
    text = await screen(*FILM)
    table = text[text.index("─ Locks ") :]
    order = [table.index(f" {path}  ") for path in (ORDERS, STOCK, IMPORT, QUIET)]

    assert "Deadlock · likely · 1m10s" in text
    assert re.search(r"ann.* ──holds─▶ /locks/orders ◀──wants── bob", text)
    assert order == sorted(order)
    assert all(one in text for one in ("Who is blocking", "ann and bob", "Events", "HEALTH"))


async def test_a_small_terminal_shows_the_most_important() -> None:
    """The alert, what to stop, and six columns."""
    lines = (await screen(*FILM, size=SMALL)).splitlines()

    assert panel(lines, "Deadlock · likely")[0].startswith(" ann ")
    assert panel(lines, "Deadlock · likely")[2].startswith(" Kill ")
    heads = panel(lines, "Locks")[0]
    assert heads.split() == ["STATE", "LOCK", "HOLDER", "HELD", "QUEUE", "OLDEST"]
    assert not any("Who is blocking" in line or "HEALTH" in line for line in lines)


@pytest.mark.parametrize("size", [SMALL, WIDE, (200, 60), (250, 80), (40, 12)])
async def test_fits_every_terminal(size: tuple[int, int]) -> None:
    """No line is too long, and the worst lock is always visible."""
    async with app_of(*FILM).run_test(size=size) as pilot:
        lines = await settled(pilot)

        assert len(lines) == size[1]
        assert any("DEADLOCK?" in line and "orders" in line for line in lines)


async def test_many_locks_are_read_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones are shown meanwhile, and at the end all of them, the worst first."""
    at_once = await screen(*FILM)
    drawn: list[int] = []
    read = LockRows.read

    def counted(rows: LockRows, report: Report) -> Iterator[None]:
        for _ in read(rows, report):
            drawn.append(len(rows.rows))
            yield

    monkeypatch.setattr(lock_rows, "MEMBERS_AT_ONCE", 1)
    monkeypatch.setattr(LockRows, "read", counted)

    assert await screen(*FILM) == at_once
    assert drawn[:5] == [1, 2, 3, 4, 5]


async def test_a_changed_lock_changes_its_row() -> None:
    """At once after a quiet time: the order may wait, values do not."""
    first, second = frames((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    app = app_of(first)
    async with app.run_test(size=WIDE) as pilot:
        before = "\n".join(await settled(pilot))
        app.feed.send(second)  # type: ignore[attr-defined]  # the feed of a test
        after = "\n".join(await settled(pilot))

        assert "X api-1" in before
        assert "X api-2" in after


async def test_rows_that_change_all_the_time_are_drawn_less_often_than_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reader could not follow them."""
    monkeypatch.setattr("zktop.ui.screens.locks.screen.READABLE_S", 60.0)
    first, second = frames((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    app = app_of(first)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.feed.send(second)  # type: ignore[attr-defined]  # the feed of a test
        lines = await settled(pilot)

        assert any("X api-1" in line for line in panel(lines, "Locks"))
        assert any("api-1 released" in line for line in panel(lines, "Events"))


async def test_rows_keep_their_places_right_after_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are put in order a moment later."""
    monkeypatch.setattr("zktop.ui.screens.common.live_rows.READABLE_S", 0.0)
    film = frames((NOW, quiet()), (NOW + 1_000, lock("/locks/worse", "a", *"bcdefgh")))
    app = app_of(film[0])
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("down")
        app.feed.send(film[1])  # type: ignore[attr-defined]  # the feed of a test
        await settled(pilot)
        at_once = [row.path for row in page_of(app).table.rows]
        while len(page_of(app).table.rows) == len(at_once):
            await pilot.pause(0.05)

        assert at_once == [QUIET, LONG]
        assert [row.path for row in page_of(app).table.rows] == [QUIET, "/locks/worse", LONG]
        assert chosen(app) == LONG


async def test_a_deleted_lock_under_the_cursor_stays_for_a_moment() -> None:
    """The user sees what happened to it."""
    gone = [Gone(path=path, zxid=2_000_000, at=LATER) for path in (join(QUIET, "x"), QUIET)]
    film = frames((NOW, quiet()), (LATER, gone))
    app = app_of(film[0])
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("down", "up")
        app.feed.send(film[1])  # type: ignore[attr-defined]  # the feed of a test
        text = "\n".join(await settled(pilot))

        assert re.search(rf"gone +{QUIET}", text)
        assert "deleted: the lock's nodes, or its root, are gone" in text


async def test_says_that_there_are_no_problems() -> None:
    """Checks without data are counted in the same line."""
    assert "No problems found" in await screen(*frames((NOW, quiet())))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status("connecting", "Connecting to zk1:2181."), "Connecting to zk1:2181."),
        (Status("reading", "Connected. 1200 znodes were read so far."), "1200 znodes"),
        (Status("failed", "Nobody answers at zk1:2181."), "Nobody answers at zk1:2181."),
    ],
)
async def test_says_what_it_is_doing_before_the_first_report(status: Status, said: str) -> None:
    """Never an empty screen."""
    text = await screen(status)

    assert said in text
    assert "STATE" not in text


async def test_the_table_comes_with_the_first_report() -> None:
    """It has the focus."""
    app = app_of(Status("reading", "Connected."))
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.feed.send(FILM[-1])  # type: ignore[attr-defined]  # the feed of a test
        await settled(pilot)
        await pilot.press("down")

        assert chosen(app) == STOCK


async def test_an_ensemble_without_locks_says_where_it_looked() -> None:
    """It also says that new locks will appear."""
    text = await screen(*frames((NOW, ())))

    assert "No locks found" in text
    assert "--root" in text


@pytest.mark.parametrize("cells", [50, 60, 80, 119, 120, 121, 160])
async def test_why_there_are_no_locks_is_never_cut(cells: int) -> None:
    """The scrollbar needs a column, too."""
    text = await screen(*frames((NOW, ())), size=(cells, 36))

    assert "…" not in "".join(panel(text.splitlines(), "Locks")), text


async def test_a_lost_connection_leaves_the_last_report() -> None:
    """It says nothing about the present."""
    (frame,) = frames((NOW, quiet()))
    text = await screen(frame, Status("lost", "The connection was lost 12s ago."))

    assert QUIET in text
    assert "The connection was lost 12s ago." in text
    assert "No problems were known at that time." in text


async def test_an_ascii_terminal_sees_blocks_as_signs() -> None:
    """The sparkline and bounds have an ASCII form."""
    app = Zktop(FakeFeed(*FILM), settings=UiSettings(page="locks", is_ascii=True))
    async with app.run_test(size=WIDE) as pilot:
        lines = await settled(pilot)
        row = next(line for line in lines if "DEADLOCK?" in line and "/locks/orders" in line)

        assert row.isascii()
        assert ">=1m10s" in row


async def test_a_pause_holds_the_table() -> None:
    """Changes are shown when the pause is over."""
    first, second = frames((NOW, quiet()), (LATER, [released(QUIET, "api-1", LATER)]))
    app = app_of(first)
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("p")
        app.feed.send(second)  # type: ignore[attr-defined]  # the feed of a test
        held = "\n".join(await settled(pilot))
        await pilot.press("p")
        after = "\n".join(await settled(pilot))

        assert "X api-1" in held
        assert "X api-2" in after


async def test_only_visible_rows_are_drawn() -> None:
    """Among hundreds of locks, when one of them changes."""
    facts = [fact for n in range(300) for fact in lock(f"/locks/l{n:04d}", f"a{n}", f"b{n}")]
    film = frames((NOW, facts), (NOW + 100, [released(Text("/locks/l0000"), "a0", NOW + 100)]))
    app = app_of(film[0])
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        table, drawn = page_of(app).table, []
        plain = table.draw
        table.draw = lambda index, width: drawn.append(index) or plain(index, width)  # type: ignore[method-assign,func-returns-value]  # to count
        page_of(app).show(_moment(app, film[1]))

        assert len(drawn) <= WIDE[1]


def _moment(app: Zktop, frame: Frame) -> object:
    app.tape.add(frame)
    return app.view_state


async def test_three_columns_show_who_waits_for_whom() -> None:
    """Enter on a client opens its session."""
    app = app_of(*FILM)
    async with app.run_test(size=(200, 60)) as pilot:
        lines = await settled(pilot)
        app.screen.set_focus(app.query_one("#waits"))
        await pilot.press("down", "enter")
        await settled(pilot)

        assert "DEADLOCK #1" in panel(lines, "Who waits for whom")[0]
        assert app.page is not None
        assert app.page.entry.name == "sessions"


async def test_a_lock_that_another_screen_selected_is_described_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also between two drawings of the panes."""
    monkeypatch.setattr("zktop.ui.screens.locks.screen.READABLE_S", 60.0)
    app = app_of(*trouble())
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.turn_to("locks", Selection(path=QUIET))
        lines = await settled(pilot)

        assert any(line.startswith(f" {QUIET}  ") for line in lines)
