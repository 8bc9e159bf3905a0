"""Screen 2 with its keys."""

import pytest
from model.findings.cases import facts, plain, watching
from model.make_facts import NOW, ZK1, ZK2, connections, kazoo_name, lock, row
from output.stories import facts as story
from ui.example_queues import ORDERS, all_connected, looked, page_on, queue, ring_of, shown
from ui.fake_feed import FakeFeed, frames, panel, settled
from ui.past.churn import make_room

from zktop.model.facts import AnyFact, Gone, join
from zktop.model.text import Text
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Status
from zktop.ui.past.memory_limits import FRAME_BYTES, TapeLimits
from zktop.ui.past.tape import Tape
from zktop.ui.screens.lock.no_lock import LastSeen, last_seen
from zktop.ui.screens.lock.screen import LockScreen
from zktop.ui.screens.lock.table import QueueTable
from zktop.ui.settings import UiSettings
from zktop.ui.view_state import Selection

PAGE = "lock"
LONG = "X" * 150
READERS = "W" + "R" * 30


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_shows_holder_queue_and_matrix_in_any_size(size: tuple[int, int]) -> None:
    """A small terminal shows as much as fits, and a large one cuts nothing."""
    async with page_on(PAGE, looked(facts(*queue("WWRRRW"))), size) as (_, pilot):
        text = await shown(pilot)

    assert "HOLDER  W" in text
    assert "QUEUE   5 = W · R3 · W" in text
    assert "COMPATIBLE WITH" in text
    assert "BLOCKED BY" in text


@pytest.mark.parametrize(("servers", "head"), [((ZK1,), "CLIENT"), ((ZK1, ZK2), "CLIENT@SERVER")])
async def test_a_server_has_a_place_in_the_head_only_beside_others(
    servers: tuple[Text, ...], head: str
) -> None:
    """With one server, the column has only the address of the client."""
    tables = [connections(one, row("ann")) for one in servers[:1]]
    tables += [connections(one) for one in servers[1:]]
    film = looked([*lock(ORDERS, "ann", "bob"), *tables])
    async with page_on(PAGE, film, (200, 60)) as (_, pilot):
        text = await shown(pilot)

    assert head in text.split()


async def test_chooses_the_worst_lock_itself() -> None:
    """Without a selection, the deadlock is shown."""
    async with page_on(PAGE, looked(ring_of("ann", "bob"), facts(*queue(LONG)))) as (app, pilot):
        text = await shown(pilot)

        assert "/locks/l0  mutex" in text
        assert app.selection.path == "/locks/l0"


async def test_enter_unfolds_a_group_and_f_folds_it_again() -> None:
    """Enter shows the members of a group."""
    async with page_on(PAGE, looked(facts(*queue(READERS)))) as (_, pilot):
        assert "+1-28" in await shown(pilot)
        assert "+1-28" not in await shown(pilot, "down", "enter")
        assert "+1-28" in await shown(pilot, "f")
        assert "+1-28" not in await shown(pilot, "f")


async def test_children_is_not_cut_beside_two_lanes_of_arrows() -> None:
    """A waiter that watches another one has its own lane."""
    children = [plain(f"x{number}", number) for number in range(4)]
    tables = watching({children[3].owner: (children[2],)}), all_connected(children)
    async with page_on(PAGE, looked([*facts(*children), *tables])) as (_, pilot):
        lines = (await shown(pilot)).splitlines()

    assert [line for line in lines if "┄╯" in line and "children? " in line]
    assert any("◀─╮" in line for line in lines)


async def test_arrows_in_two_lanes_push_no_column_out() -> None:
    """In a narrow window `children?` is cut."""
    children = [plain(f"x{number}", number) for number in range(4)]
    tables = watching({children[3].owner: (children[2],)}), all_connected(children)
    async with page_on(PAGE, looked([*facts(*children), *tables]), (80, 24)) as (_, pilot):
        assert "BLOCKED BY" in await shown(pilot)


async def test_enter_on_a_place_opens_its_session() -> None:
    """With the session as the subject."""
    async with page_on(PAGE, looked(facts(*queue("XX")))) as (app, pilot):
        await shown(pilot, "down", "enter")

        assert app.page is not None
        assert app.page.entry.name == "sessions"
        assert app.subject.session is not None


async def test_the_cursor_follows_its_place_while_the_queue_moves_on() -> None:
    """The selected row stays selected."""
    some = frames((NOW, facts(*queue(LONG))))
    async with page_on(PAGE, some) as (app, pilot):
        await shown(pilot, "down", "down")
        before = app.selection.node
        gone: list[AnyFact] = [
            Gone(path=join(ORDERS, kazoo_name("x0", 0)), zxid=2_000_000, at=NOW + 9_000)
        ]
        app.feed.send(frames((NOW, facts(*queue(LONG))), (NOW + 9_000, gone))[-1])  # type: ignore[attr-defined]
        await settled(pilot)
        table = app.query_one(QueueTable)

        assert app.selection.node == before
        assert table.row is not None
        assert table.row.place == 1


async def test_d_shows_and_hides_the_data() -> None:
    """It may be long, so it is shown on demand."""
    async with page_on(PAGE, looked(facts(*queue("XX"))), (120, 40)) as (_, pilot):
        assert "DATA" not in await shown(pilot)
        assert "DATA" in await shown(pilot, "d")
        assert "DATA" not in await shown(pilot, "d")


async def test_a_filter_finds_a_place_in_a_long_queue() -> None:
    """The row keeps its position; escape shows all again."""
    async with page_on(PAGE, looked(facts(*queue(LONG)))) as (app, pilot):
        app.set_filter("x77")
        text = await shown(pilot)

        assert "the first at position 77" in text
        assert "     77 " in text
        app.set_filter("nobody-is-called-so")
        assert "No client matches the filter" in await shown(pilot)


async def test_another_page_may_point_to_a_place_in_a_group() -> None:
    """That place gets a separate row, with the cursor on it."""
    some = looked(facts(*queue(LONG)))
    node = some[-1].report.records[ORDERS].lock.waiters[90].node
    async with page_on(PAGE, some, subject=Selection(path=ORDERS, node=node)) as (app, pilot):
        await shown(pilot)

        assert app.selection.node == node


async def test_a_lock_that_has_vanished_leaves_a_tombstone() -> None:
    """The text says what was last known about it."""
    some = looked(facts(*queue("XX")))
    away: list[AnyFact] = [Gone(path=ORDERS, zxid=3_000_000, at=NOW + 60_000)]
    late = frames((NOW, facts(*queue("XX"))), (NOW + 60_000, away))[-1]
    async with page_on(PAGE, [*some, late], subject=Selection(path=ORDERS)) as (_, pilot):
        text = await shown(pilot)

    assert "This lock no longer exists" in text
    assert "1 holder (x0) and 1 waiter" in text


def test_a_lock_that_vanished_long_ago_is_not_called_unseen() -> None:
    """Its reports are packed, but the tracks know until when it was there."""
    away: list[AnyFact] = [Gone(path=ORDERS, zxid=3_000_000, at=NOW + 2_000)]
    later = [(NOW + 1_000 * n, story(f"Z x: P{n}", zxid=3_000_000 + 10 * n)) for n in range(3, 30)]
    tape = Tape(TapeLimits(frames_bytes=10 * FRAME_BYTES))
    for frame in frames((NOW, facts(*queue("XX"))), (NOW + 2_000, away), *later):
        tape.add(frame)
        make_room(tape)

    assert tape.is_packed(NOW + 2_000)
    assert last_seen(ORDERS, tape, NOW + 29_000) == LastSeen(NOW + 2_000)
    assert last_seen("/locks/no", tape, NOW + 29_000) is None


async def test_a_path_that_never_was_a_lock_says_so() -> None:
    """It is not called deleted."""
    async with page_on(PAGE, looked(facts(*queue("X"))), subject=Selection(path="/locks/no")) as (
        _,
        pilot,
    ):
        assert "had not seen one here earlier" in await shown(pilot)


async def test_before_the_first_report_it_shows_the_address() -> None:
    """An empty table would look as if there were no locks."""
    app = Zktop(FakeFeed(), settings=UiSettings(page="lock"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.feed.send(Status("connecting", "Trying zk1:2181 ..."))  # type: ignore[attr-defined]
        shown = "\n".join(await settled(pilot))

    assert "Trying zk1:2181" in shown


async def test_y_copies_the_lock_as_text() -> None:
    """For a chat or a ticket."""
    async with page_on(PAGE, looked(facts(*queue("XXX")))) as (app, pilot):
        await settled(pilot)
        page = app.page

        assert isinstance(page, LockScreen)
        assert "HOLDER  X" in page.copied()
        assert "0 · ahead 1" in page.copied()


async def test_the_matrix_follows_the_cursor() -> None:
    """The row of the selected client's mode is marked."""
    async with page_on(PAGE, looked(facts(*queue("WR")))) as (_, pilot):
        assert "▶ wants write" in await shown(pilot)
        assert "▶ wants read" in await shown(pilot, "down")


async def test_no_key_breaks_it() -> None:
    """Any keys, in any order, on any report."""
    keys = ["down", "G", "o", "O", "space", "left", "right", "f", "d", "enter", "escape", "tab"]
    async with page_on(PAGE, looked(ring_of("ann", "bob", behind=9))) as (app, pilot):
        for key in [*keys, *reversed(keys), "pagedown", "pageup", "g", "plus", "minus", "p", "p"]:
            await pilot.press(key)
        await shown(pilot, "escape")

        assert app.is_running


async def test_a_large_window_shows_the_last_minute_and_who_waits_for_whom() -> None:
    """Enter on a line of the tree goes to its client."""
    film = looked(ring_of("ann", "bob"))
    async with page_on(PAGE, film, (200, 60)) as (app, pilot):
        lines = (await shown(pilot)).splitlines()
        app.screen.set_focus(app.query_one("#lock-tree"))
        await shown(pilot, "g", "down", "enter")

        assert any(one.startswith("ann ") for one in map(str.strip, panel(lines, "Last 60 s")))
        assert "DEADLOCK #1" in panel(lines, "Who waits for whom")[0]
        assert app.page is not None
        assert app.page.entry.name == "sessions"


async def test_a_small_window_has_neither() -> None:
    """Who may enter, and who wakes, comes first."""
    async with page_on(PAGE, looked(ring_of("ann", "bob")), (120, 36)) as (_, pilot):
        text = await shown(pilot)

        assert "Last 60 s" not in text
        assert "Who waits for whom" not in text
