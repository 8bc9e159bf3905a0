"""Screen 5 by its keys: what each does to the moment, and what the user reads."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from model.findings.cases import facts, k
from model.make_facts import NOW, connections, lock, own, row
from output.stories import facts as story
from textual.pilot import Pilot
from ui.example_past import BEGIN, moments, past
from ui.fake_feed import app_of, frames, panel, pressed, settled

from zktop.model.facts import DAY_MS, Link
from zktop.model.text import Text
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Status
from zktop.ui.screens.timeline import screen as screen_module

END = BEGIN + 21_000


@asynccontextmanager
async def shown(*, is_live: bool = True, page: str = "timeline") -> AsyncIterator[Pilot[int]]:
    """Show the past with the deadlock."""
    app = app_of(*past(), page=page, is_live=is_live)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        yield pilot


def at(pilot: Pilot[int]) -> int | None:
    """The displayed moment, in milliseconds from the beginning."""
    app = pilot.app
    assert isinstance(app, Zktop)
    moment = app.view_state.at
    return None if moment is None else moment - BEGIN


async def test_a_past_that_was_thinned_can_be_drawn_for_a_new_size() -> None:
    """The frame on display may be gone from the tape by then."""
    async with shown() as pilot:
        await pilot.press("left")
        await settled(pilot)
        app = pilot.app
        assert isinstance(app, Zktop)
        del app.tape._stored[:-1]

        await pilot.resize_terminal(100, 30)
        await settled(pilot)

        assert app.is_running
        assert not app.trouble


@pytest.mark.parametrize(
    ("keys", "moment"),
    [
        (["left_square_bracket"], 20_000),
        (["left"], 20_000),
        (["h"], 20_000),
        (["left", "left"], 2_000),
        (["left", "left", "left", "left"], 0),
        (["left", "left", "right"], 20_000),
        (["left", "left", "right_square_bracket"], 20_000),
        (["shift+left"], 20_000),
        (["H", "H", "H"], 18_000),
        (["H", "H", "L"], 20_000),
        (["n"], 2_000),
        (["left", "escape"], 21_000),
        (["left", "left", "left", "right", "right", "right", "right"], 21_000),
    ],
)
async def test_keys_move_through_time(keys: list[str], moment: int) -> None:
    """By changes, by seconds, to the next alert, and back to live."""
    async with shown() as pilot:
        await pilot.press(*keys)
        await settled(pilot)

        assert at(pilot) == moment


async def test_the_past_is_on_every_screen() -> None:
    """In the past, the screens show the locks of that moment, and the header says so."""
    async with shown() as pilot:
        await pilot.press("n", "4")
        screen = await settled(pilot)

        assert "IN THE PAST, 19s behind" in screen[0]
        assert "LIVE" not in screen[0]  # it would be read as a contradiction
        assert any("B holds" in line or " B " in line for line in screen[4:])


async def test_contacts_name_the_server_also_by_an_ipv6_address() -> None:
    """Without its port, which is the same for all servers."""
    server = Text("[fd00::7]:2181")
    table = connections(server, row("A", 500), at=BEGIN, zxid=BEGIN)
    lock = facts(k("A", 1))
    app = app_of(*frames((BEGIN, [own(at=BEGIN), *lock, table])))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("5")
        screen = await settled(pilot)

        assert any("[fd00::7]" in line for line in screen)


async def test_space_plays_a_recording_and_stops_it() -> None:
    """The header says whether it is playing."""
    async with shown(is_live=False) as pilot:
        await pilot.press("space")
        playing = await settled(pilot)
        await pilot.press("space")
        paused = await settled(pilot)

        assert "PLAYING 1x" in playing[0]
        assert "PAUSED" in paused[0]


async def test_space_while_live_says_what_to_do() -> None:
    """There is nothing to play at the newest moment."""
    async with shown() as pilot:
        await pilot.press("space")
        await settled(pilot)

        assert at(pilot) == 21_000


async def test_a_new_speed_is_reported() -> None:
    """In the title, once there is something to play."""
    async with shown(is_live=False) as pilot:
        await pilot.press("s")
        screen = await settled(pilot)

        assert any("speed 2x" in line for line in screen)


async def test_zoom_changes_what_a_column_is() -> None:
    """The panel says how long one is."""
    async with shown() as pilot:
        await pilot.press("plus")
        near = await settled(pilot)
        await pilot.press("minus", "minus")
        far = await settled(pilot)

        assert any("1 column = 0.2s" in line for line in near)
        assert any("1 column = 1.0s" in line for line in far)


@pytest.mark.parametrize("keys", [["plus"], ["minus"], ["minus", "minus", "plus"]])
async def test_the_cursor_stays_in_its_place_while_zooming(keys: list[str]) -> None:
    """On the screen, and in time."""
    async with shown() as pilot:
        await pilot.press("left", "left")
        before = cursor_cell(await settled(pilot))
        await pilot.press(*keys)
        after = cursor_cell(await settled(pilot))

        assert abs(after - before) <= 1
        assert at(pilot) == 2_000


@pytest.mark.parametrize(("keys", "path"), [([], "/locks/x"), (["down", "up"], "/locks/jobs")])
async def test_the_first_strip_is_selected_until_the_user_moves(
    monkeypatch: pytest.MonkeyPatch, keys: list[str], path: str
) -> None:
    """The strips are sorted again while a recording is read: the selection would seem random."""
    monkeypatch.setattr(screen_module, "CHOSEN_EVERY_S", 0)
    jobs = story("JOBS x: J K", at=BEGIN)
    crossed = story("X x: A B ; Y x: B A", at=BEGIN + 2_000, zxid=200)
    first, *others = frames((BEGIN, jobs), (BEGIN + 2_000, crossed), (BEGIN + 5_000, []))
    app = app_of(first, page="timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, *keys)
        for news in others:
            app.feed.send(news)
        screen = await settled(pilot)

        assert next(line for line in screen if "/locks/" in line).split()[1] == "/locks/x"
        assert app.selection.path == path


async def test_the_strips_stay_while_the_cursor_moves_among_them() -> None:
    """The cursor moves, the strips do not."""
    async with shown() as pilot:
        await pilot.press("left")
        before = panel(await settled(pilot), "Timeline")
        await pilot.press("H", "H")
        after = panel(await settled(pilot), "Timeline")

        assert stuck_from("B", before) == stuck_from("B", after)


def stuck_from(name: str, lines: Sequence[str]) -> int:
    """The cell in which the deadlock of a client begins."""
    return next(line for line in lines if line.split()[1:2] == [name]).index("□")


def cursor_cell(screen: Sequence[str]) -> int:
    """The cell of the cursor; it is the same in all strips and in the graph."""
    found = {one.index("┃") for one in panel(screen, "Timeline") if "┃" in one}
    assert len(found) == 1, found
    return found.pop()


async def test_the_cursor_crosses_all_strips_and_the_graph() -> None:
    """From the axis to the bottom of the panel; words are left readable."""
    async with shown() as pilot:
        await pilot.press("left")
        screen = panel(await settled(pilot), "Timeline")

        below = screen[2:]  # in words, and the times
        last = max(n for n, one in enumerate(below) if one.strip())
        assert all("┃" in one for one in below[: last + 1])


async def test_the_axis_shows_the_time_of_the_cursor() -> None:
    """To the millisecond."""
    async with shown() as pilot:
        await pilot.press("left")
        screen = panel(await settled(pilot), "Timeline")

        assert " 00:33:40.000 " in screen[1]


async def test_waiting_clients_are_an_area_below_the_strips() -> None:
    """It shares the axis, so it begins and ends where clients came and went."""
    async with shown() as pilot:
        screen = panel(await settled(pilot), "Timeline")

        (title,) = (n for n, one in enumerate(screen) if "WAITING" in one)
        bottom = screen[title + 1 :]
        drawn = [one for one in bottom if one.strip()]
        strip = next(one for one in screen if one.split()[1:2] == ["B"])
        assert "up to 2 clients" in screen[title]
        first = min(one.index(cell) for one in drawn for cell in one if "⠀" < cell <= "⣿")
        assert abs(first - strip.index("□")) <= 1


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (100, 30), (120, 36), (200, 60), (250, 80)])
async def test_every_size_has_strips_of_locks_and_clients(size: tuple[int, int]) -> None:
    """A small one leaves out the words and the graph first."""
    app = app_of(*past(), page="timeline")
    async with app.run_test(size=size) as pilot:
        screen = "\n".join(await settled(pilot))

        assert "/locks/x" in screen
        assert re.search(r"[AB] A .*□", screen)


async def test_a_tall_window_shows_every_lock() -> None:
    """No lock is left out while lines below are free."""
    facts = [one for number in range(9) for one in lock(f"/locks/l{number}", f"a{number}", "b")]
    app = app_of(*frames((NOW, facts), (NOW + 9_000, [])), page="timeline")
    async with app.run_test(size=(120, 60)) as pilot:
        screen = "\n".join(await settled(pilot))

        assert all(f"/locks/l{number} " in screen for number in range(9))


@pytest.mark.parametrize(
    ("typed", "moment"), [("+5s", 5_000), ("00:33:25", 5_000), ("-1s", 20_000)]
)
async def test_a_time_can_be_typed(typed: str, moment: int) -> None:
    """The time of day, from the beginning, or back from here."""
    async with shown() as pilot:
        await pilot.press("t")
        await settled(pilot)
        await pilot.press(*_typed(typed), "enter")
        await settled(pilot)

        assert at(pilot) == moment


async def test_a_wrong_time_is_refused_and_can_be_corrected() -> None:
    """The dialog stays; escape leaves it without going anywhere."""
    async with shown() as pilot:
        await pilot.press("t", "x", "enter")
        screen = await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)

        assert any("Not a time: x" in line for line in screen)
        assert at(pilot) == 21_000


async def test_without_a_mark_the_cursor_is_compared_with_now() -> None:
    """The past deadlock, and the present holders; the title says which moments they are."""
    async with shown() as pilot:
        await pilot.press("n", "c")
        screen = await settled(pilot)
        await pilot.press("escape")
        closed = await settled(pilot)

        assert any("Compare: cursor 00:33:22.000Z with now 00:33:41.000Z" in one for one in screen)
        assert any("- D1 B holds /locks/y" in line for line in screen)
        assert any("held by A; no waiters" in line for line in screen)
        assert panel(closed, "Timeline")


@pytest.mark.parametrize("is_live", [True, False])
async def test_the_mark_is_compared_with_the_cursor(*, is_live: bool) -> None:
    """The earlier one comes first, whichever of them is marked."""
    async with shown(is_live=is_live) as pilot:
        await pilot.press("n", "m", "left", "c")
        screen = await settled(pilot)

        title = next(one for one in screen if "Compare:" in one)
        assert re.findall(r"(cursor|mark) (\S+)Z", title) == [
            ("cursor", "00:33:20.000"),
            ("mark", "00:33:22.000"),
        ]
        assert any("+ D1 B holds /locks/y" in line for line in screen)


async def test_a_recording_without_a_mark_says_how_to_compare() -> None:
    """Its end is no moment of interest."""
    async with shown(is_live=False) as pilot:
        await pilot.press("c")
        await settled(pilot)

        assert [one.message for one in pilot.app._notifications][-1].startswith("Mark a moment")


async def test_the_pane_below_shows_what_happened_at_the_cursor() -> None:
    """What began, and each lock before and after."""
    async with shown() as pilot:
        await pilot.press("n")
        screen = "\n".join(await settled(pilot))

        assert re.search(r"At the cursor ─+ 00:33:22.000Z", screen)
        assert "! begins: B holds /locks/y and waits for /locks/x" in screen
        assert "before: held by A; no waiters" in screen


async def test_enter_opens_the_lock_under_the_cursor() -> None:
    """The first strip is that of a lock of the deadlock."""
    async with shown() as pilot:
        await pilot.press("enter")
        await settled(pilot)

        app = pilot.app
        assert isinstance(app, Zktop)
        assert app.page is not None
        assert (app.page.entry.name, app.subject.path) == ("lock", "/locks/x")


async def test_keys_before_the_first_report_do_no_harm() -> None:
    """Every key shows a message or does nothing."""
    async with app_of(page="timeline").run_test(size=(80, 24)) as pilot:
        for key in (
            "space",
            "left",
            "right",
            "H",
            "L",
            "plus",
            "minus",
            "s",
            "n",
            "t",
            "c",
            "enter",
        ):
            await pilot.press(key)
        screen = await settled(pilot)

        assert "Timeline" in screen[0]


def _typed(text: str) -> list[str]:
    names: Callable[[str], str] = {"+": "plus", "-": "minus", ":": "colon"}.get  # type: ignore[assignment]  # every key here is one
    return [names(one) or one for one in text]


async def test_a_lost_connection_is_not_called_live() -> None:
    """The strips end with what was known last."""
    app = app_of(*past(), Status("lost", "The connection was lost."), page="timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        screen = "\n".join(await settled(pilot))

        assert "LAST KNOWN STATE" in screen
        assert "LIVE" not in screen


async def test_a_jump_in_a_paused_recording_chooses_other_strips(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At once, also if it soon follows another choice: no further frame may come."""
    monkeypatch.setattr(screen_module, "CHOSEN_EVERY_S", 60.0)
    later = BEGIN + 3_600_000
    queue = story("Q x: P1 P2 P3", at=later, zxid=5_000)
    film = frames(*moments(), (later, queue), (later + 60_000, []))
    app = app_of(*film, page="timeline", is_live=False)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.seek(later + 30_000)
        screen = await settled(pilot)

    assert any(one.strip("│┃ ")[1:5] == " P1 " for one in screen), "\n".join(screen)


async def test_there_is_nothing_to_mark_before_the_first_report() -> None:
    """And no mark to remove."""
    app = app_of(page="timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("m")
        await settled(pilot)

        assert not list(app._notifications)


async def test_strips_are_blank_where_there_was_no_connection() -> None:
    """Nothing is known of that time: the lock may have been free."""
    known = (own(at=BEGIN), *lock("/locks/x", "ann", "bob", at=BEGIN))
    gone = Link(state="suspended", at=BEGIN + 5_000, zxid=0, lost_at=BEGIN + 5_000)
    film = frames(
        (BEGIN, known),
        (BEGIN + 8_000, (gone,)),
        (BEGIN + 10_000, (own(at=BEGIN + 10_000),)),
        (BEGIN + 12_000, ()),
    )
    app = app_of(*film, page="timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        drawn = await settled(pilot)
        await pilot.hover("#strips", offset=(105, 6))
        pointed_at = (await settled(pilot))[3]

    assert any(
        line.startswith("│ /locks/x") and "A━━━━━━━━━          A━━━━ " in line for line in drawn
    )
    assert any(
        line.startswith("│ B bob") and "╌╌╌╌╌╌╌╌╌╌          ╌╌╌╌╌ " in line for line in drawn
    )
    assert "nothing is known of this time" in pointed_at


async def test_times_of_a_past_over_several_days_have_dates() -> None:
    """A ring folder keeps days; a time of day alone would be one of several moments."""
    moments = [(BEGIN, facts(k("ann", 0))), (BEGIN + 2 * DAY_MS, [own(at=BEGIN + 2 * DAY_MS)])]
    app = app_of(*frames(*moments), page="timeline", is_live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        lines = "\n".join(await settled(pilot))
        await pilot.press("t")
        dialog = "\n".join(await settled(pilot))

    assert " 2d00h kept, 1970-01-01 00:33:20 to 1970-01-03 00:33:20 UTC" in lines
    assert " 1970-01-01 00:33:20.000Z " in lines
    assert "1970-01-01 00:33:20Z to 1970-01-03 00:33:20Z is available" in dialog
    assert "1970-01-01 00:33, " in dialog
    assert "│ 1970-01-01 00:33:20.000 " in dialog


async def test_moments_of_two_days_are_compared_with_their_dates() -> None:
    """They may have the same time of day."""
    moments = [(BEGIN, facts(k("ann", 0))), (BEGIN + 2 * DAY_MS, facts(k("bob", 1)))]
    app = app_of(*frames(*moments), page="timeline", is_live=False)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("m", "right", "c")
        compared = "\n".join(await settled(pilot))

    days = "mark 1970-01-01 00:33:20.000Z with cursor 1970-01-03 00:33:20.000Z"
    assert f"Compare: {days}" in compared
