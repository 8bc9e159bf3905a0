"""The queue of one lock: folding, runs, positions, watches, the matrix and the wake map."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.findings.cases import At, curator, facts, history, k, plain, usual, watching
from model.make_facts import ZK1, no_watches
from msgspec.structs import replace
from ui.example_queues import (
    STOCK,
    all_connected,
    lock_detail,
    looked,
    queue,
    ring_of,
    seen_watching,
    two_queues,
)

from zktop.model.facts import AnyFact
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.ui.filters import parsed_filter
from zktop.ui.screens.lock import table as places
from zktop.ui.screens.lock.compatibility_matrix import compatibility_matrix
from zktop.ui.screens.lock.filter import match_line, matching_positions
from zktop.ui.screens.lock.heading import lock_head
from zktop.ui.screens.lock.histograms import histogram
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.no_lock import worst_path
from zktop.ui.screens.lock.notes import lock_notes
from zktop.ui.screens.lock.queue_summary import density, mode_runs, run_line
from zktop.ui.screens.lock.rows import (
    QueueRow,
    folded_rows,
    index_of,
    single_rows,
)
from zktop.ui.screens.lock.screen import LockScreen, lock_text
from zktop.ui.screens.lock.selected_row import selected_lines, shown
from zktop.ui.screens.lock.waiter_classes import waiter_classes
from zktop.ui.screens.lock.wake_map import wake_map
from zktop.ui.styled_text import Line, text_of, width_of

SKETCH = "WW" + "R" * 5 + "W" + "R" * 21


def text(lines: list[Line]) -> str:
    """All lines as one text."""
    return "\n".join(map(text_of, lines))


def rows(detail: LockDetail) -> list[QueueRow]:
    """The rows of a queue as it is folded at first."""
    return folded_rows(detail)


def row(detail: LockDetail, place: int) -> QueueRow:
    """The row of one position."""
    return QueueRow(detail, place)


def sketch(*without: int) -> tuple[list[At], AnyFact]:
    """A queue with kazoo's watches, except for some members that watch nothing."""
    children = queue(SKETCH)
    targets = {at: _nearest(at) for at in range(1, len(children))}
    return children, seen_watching(
        children, {at: None if at in without else one for at, one in targets.items()}
    )


def _nearest(at: int) -> int:
    if SKETCH[at] == "W":
        return at - 1
    return max(before for before in range(at) if SKETCH[before] == "W")


def sketched(*without: int) -> LockDetail:
    """The detail of that queue."""
    children, table = sketch(*without)
    report = looked([*facts(*children), table, all_connected(children)])[-1].report
    detail = LockDetail.of(report, "/locks/orders")
    assert detail is not None
    return detail


def herd() -> LockDetail:
    """Three clients whose watches no table lists."""
    children = [plain(f"x{number}", number) for number in range(3)]
    tables = (watching({"another": ("/elsewhere",)}), all_connected(children))
    report = looked([*facts(*children), *tables])[-1].report
    detail = LockDetail.of(report, "/locks/orders")
    assert detail is not None
    return detail


class TestFolding:
    """Which positions are rows."""

    def test_folds_many_readers_and_keeps_the_last_two(self) -> None:
        """Five readers are rows, nineteen of twenty-one are one row."""
        detail = lock_detail(SKETCH)

        assert [(one.place, one.size) for one in rows(detail)] == [
            *((place, 1) for place in range(8)),
            (8, 19),
            (27, 1),
            (28, 1),
        ]

    def test_shows_a_short_exclusive_queue_whole(self) -> None:
        """Thirty places can be read one by one."""
        assert len(rows(lock_detail("X" * 30))) == 30

    def test_folds_the_middle_of_a_long_exclusive_queue(self) -> None:
        """Eight at the front, two at the end, one row for all others."""
        folding = [(one.place, one.size) for one in rows(lock_detail("X" * 150))]

        assert folding[7:] == [(7, 1), (8, 140), (148, 1), (149, 1)]

    def test_keeps_a_place_with_something_wrong_as_a_row(self) -> None:
        """The cursor can reach a waiter inside a folded group."""
        detail = lock_detail("X" * 150)
        node = detail.queue.members[70].node
        made = folded_rows(detail, shown=[node])

        assert [one.size for one in made if one.place == 70] == [1]

    def test_folds_alternating_modes_into_one_row(self) -> None:
        """Thousands of runs are as unreadable as thousands of places."""
        assert len(rows(lock_detail("RW" * 200))) < 20

    @given(st.text("RWX", min_size=1, max_size=60), st.sets(st.integers(0, 59)))
    def test_every_position_has_exactly_one_row(self, modes: str, opened: set[int]) -> None:
        """Each position has exactly one row, whatever is unfolded."""
        detail = _bare(modes)
        nodes = [m.node for at, m in enumerate(detail.queue.members) if at in opened]
        made = folded_rows(detail, unfolded=nodes)
        inside = [range(one.place, one.place + one.size) for one in made]

        assert [at for places in inside for at in places] == [*range(len(modes))]
        assert all(
            index_of(made, at) == index for index, places in enumerate(inside) for at in places
        )

    def test_shows_only_what_was_found(self) -> None:
        """A filter leaves the positions as they are."""
        detail = lock_detail("X" * 50)
        some = single_rows(detail, [3, 40])

        assert [one.place for one in some] == [3, 40]
        assert index_of(some, 5) is None


_KNOWN: dict[str, LockDetail] = {}


def _bare(modes: str) -> LockDetail:
    if modes not in _KNOWN:
        _KNOWN[modes] = lock_detail(modes)
    return _KNOWN[modes]


class TestRuns:
    """A queue in one line."""

    def test_cuts_the_middle_and_counts_it(self) -> None:
        """Both ends stay, and the middle is counted."""
        runs = mode_runs(lock_detail("RW" * 40).queue.members)
        shown = run_line(runs, 40)

        assert shown.startswith("R · W")
        assert "more" in shown
        assert len(shown) <= 40

    def test_density_has_a_column_for_each_part(self) -> None:
        """A part of several modes is a star."""
        detail = lock_detail("X" * 50 + "R" * 50 + "XR" * 50)
        letters, shades = density(
            detail.queue.members, mode_runs(detail.queue.members), detail.report.now, 20
        )

        assert text_of(letters) == "WWWWWRRRRR**********"
        assert width_of(shades) >= 20


class TestCells:
    """What a row says."""

    def test_blocked_by_lists_the_holder_first(self) -> None:
        """Position 1 waits for the holder; 7 for the holder, a writer and the readers behind."""
        detail = lock_detail(SKETCH)

        assert text_of(places.blocked_by(row(detail, 1))).strip() == "0"
        assert text_of(places.blocked_by(row(detail, 7))).strip() == "0 · ahead 1..6"

    def test_blocked_by_counts_a_long_queue(self) -> None:
        """The holder is listed all the same."""
        detail = lock_detail("W" * 150)

        assert text_of(places.blocked_by(row(detail, 149))) == "0 · ahead 148 requests"

    @pytest.mark.parametrize(
        ("without", "place", "said"), [((), 1, "→ 0"), ((5,), 5, "NONE"), ((), 0, "-")]
    )
    def test_watches_are_shown_by_position(
        self, without: tuple[int, ...], place: int, said: str
    ) -> None:
        """Confirmed watches name their target; a missing one is in capitals."""
        assert text_of(places.watches(row(sketched(*without), place))).strip() == said

    def test_unseen_watches_are_a_question_mark(self) -> None:
        """Without a table nothing is known, so nothing is claimed."""
        detail = lock_detail("WW", no_watches(ZK1))

        assert text_of(places.watches(row(detail, 1))) == "?"

    def test_a_watch_on_another_member_is_elsewhere(self) -> None:
        """It would wake for the wrong release."""
        children = queue("WWW")
        table = watching({children[2].owner: (children[0],)})
        detail = lock_detail("WWW", table, all_connected(children))

        assert "elsewhere" in text_of(places.watches(row(detail, 2)))

    def test_those_that_may_watch_the_children_point_to_the_holder(self) -> None:
        """Dotted: its release wakes all of them, but no server lists such watches."""
        detail = herd()
        arrows = places.arrow_rows(rows(detail))

        assert list(arrows.values()) == ["◀┄╮", "┄┄┤", "┄┄╯"]
        assert text_of(places.watches(row(detail, 1))) == "children?"
        assert "children → x1 and x2" in text(wake_map(detail, None))

    def test_ages_that_are_lower_bounds_say_so(self) -> None:
        """A wait that began before zktop started is a lower bound."""
        assert text_of(places.age_of(row(lock_detail("WW"), 1))).startswith("≥")
        assert text_of(places.age_of(row(lock_detail("WW", is_ascii=True), 1))).startswith(">=")

    def test_in_a_ring_and_behind_it(self) -> None:
        """Members of the deadlock look different from those queued behind it."""
        report = looked(ring_of("ann", "bob", behind=1))[-1].report
        detail = LockDetail.of(report, "/locks/l0")

        assert detail is not None
        assert [text_of(places.state(row(detail, at))) for at in range(3)] == [
            "HOLDS + waits  #1",
            "waits  #1",
            "waits  behind #1",
        ]

    def test_the_gutter_marks_the_blockers_of_the_selected_row(self) -> None:
        """It groups readers, too."""
        detail = lock_detail(SKETCH)
        drawn = "".join(places.gutter(row(detail, at), {1}).text for at in range(8))

        assert drawn == "●▶┌│││└│"


def test_the_help_shows_cells_as_the_table_draws_them() -> None:
    """Its example is a writer behind a reader and another writer."""
    writer = row(lock_detail("RWW"), 2)
    drawn = {column.name: text_of(column.draw(writer)) for column in places.COLUMNS}
    example = {cell.name: cell.text.strip() for cell in LockScreen.HELP_ROW}

    for name in ("POS", "M", "BLOCKED BY", "STATE"):
        assert example[name] == drawn[name]


class TestMatrix:
    """Which modes can be granted together."""

    def test_readers_share_and_writers_do_not(self) -> None:
        """Held and queued halves, with the row of the chosen member marked."""
        detail = lock_detail(SKETCH)
        heads, writes, reads = map(
            text_of, compatibility_matrix(detail.queue, detail.queue.members[2])
        )

        assert heads.split() == [
            "COMPATIBLE", "WITH",
            "held", "write", "held", "read", "queued", "write", "queued", "read",
        ]  # fmt: skip
        assert " ".join(writes.split()[2:]) == "no 1 no no 2 no 26"
        assert " ".join(reads.split()) == "▶ wants read no 1 ◀ yes no 2 ◀ yes 26"

    def test_blockers_of_the_selected_row_are_marked_among_the_holders_too(self) -> None:
        """A writer behind a queued writer waits for the reader that holds as well."""
        detail = lock_detail("RWRW")
        _, writes, _ = map(text_of, compatibility_matrix(detail.queue, detail.queue.members[3]))

        assert " ".join(writes.split()[3:]) == "no no 1 ◀ no 2 ◀ no 1 ◀"

    def test_is_empty_for_a_free_lock(self) -> None:
        """No mode is held or queued."""
        detail = lock_detail("X")
        nobody = type(detail.queue)(detail.queue.lock, (), 0)

        assert compatibility_matrix(nobody, None) == []


class TestWakes:
    """The wake map."""

    def test_readers_that_share_a_target_are_normal(self) -> None:
        """Twenty-one of them may wake at once: all can go on."""
        shown = text(wake_map(sketched(), None))

        assert "7 w7 → r8, r9, r10 and 18 more  21 readers share one target: normal" in shown
        assert "0 w0 → w1" in shown

    def test_a_herd_is_called_one(self) -> None:
        """All of them watch the holder, and only one can go on."""
        children = queue("X" * 8)
        table = seen_watching(children, dict.fromkeys(range(1, 8), 0))
        detail = lock_detail("X" * 8, table, all_connected(children))

        shown = text(wake_map(detail, None))

        assert "0 x0 → x1, x2, x3 and 4 more  HERD of 7: only one can proceed" in shown

    def test_without_tables_it_is_only_expected(self) -> None:
        """Expected watches are labelled as expected."""
        assert "expected: no watch table" in text(wake_map(lock_detail("XX"), None))

    def test_says_of_a_long_queue_how_far_it_looked(self) -> None:
        """With watch tables: the first and the selected member, else the first waiters."""
        modes = "X" * 402
        table = seen_watching(queue(modes), {1: 0})
        guessed, looked_up = lock_detail(modes), lock_detail(modes, table)

        assert "shows the first 6 and the selected one only" in text(wake_map(looked_up, None))
        assert "first 6" not in text(wake_map(guessed, None))
        assert "computed for the first 400 of 401 waiters" in text(wake_map(guessed, None))

    @pytest.mark.parametrize("places", [400, 401])
    def test_says_nothing_of_it_where_all_were_looked_at(self, places: int) -> None:
        """401 members with one holder have 400 waiters: all of them are covered."""
        shown = text(wake_map(lock_detail("X" * places), None))

        assert "alone" not in shown
        assert "worked out" not in shown

    def test_names_sessions_without_a_place(self) -> None:
        """A stale watch wakes a client that has left the queue."""
        children = queue("XX")
        table = watching({"ghost": (children[0],), children[1].owner: (children[0],)})
        detail = lock_detail("XX", table, all_connected(children))

        assert "(not in this queue)" in text(wake_map(detail, None))


class TestAround:
    """Head, notes, the selected row, and long queues."""

    @pytest.mark.parametrize("width", [80, 120, 200])
    def test_the_heading_shows_holders_and_waiters(self, width: int) -> None:
        """In any width."""
        shown = text(lock_head(sketched(), width))

        assert "read-write" in shown
        assert "HOLDER  W 0000000000 w0" in shown
        assert "28 = W · R5 · W · R21" in shown

    def test_head_of_a_deadlocked_lock_never_drains(self) -> None:
        """The queue will not get shorter by itself."""
        report = looked(ring_of("ann", "bob"))[-1].report
        detail = LockDetail.of(report, "/locks/l0")

        assert detail is not None
        assert "stuck: deadlock #1" in text(lock_head(detail, 120))

    def test_notes_count_missing_numbers(self) -> None:
        """Missing sequence numbers are abandoned requests."""
        children = [*queue("XX"), *queue("XXXXXX")[5:]]
        report = looked(facts(*children))[-1].report
        detail = LockDetail.of(report, "/locks/orders")

        assert detail is not None
        assert "3 numbers are missing" in text(lock_notes(detail, 100))

    def test_the_selected_row_is_described_in_full(self) -> None:
        """Whole node name, whole session, and what its watch means."""
        shown = text(selected_lines(row(sketched(5), 5), 150, with_data=True))

        assert "__rlock__0000000005" in shown
        assert "nothing will wake it" in shown
        assert "DATA\n    r5" in shown

    def test_those_ahead_in_a_long_queue_are_all_counted(self) -> None:
        """Only the holder and the nearest one are named."""
        shown = text(selected_lines(row(lock_detail("W" * 150), 149), 200, with_data=False))

        assert "and 147 more" in shown

    def test_data_never_reaches_the_terminal_raw(self) -> None:
        """Control sequences are escaped."""
        assert shown(b"\x1b[2Jx\xff").isprintable()

    def test_no_history_is_no_bar(self) -> None:
        """Without a finished hold, the text says so; no bar is drawn."""
        detail = lock_detail("X")
        shown = text(histogram("HOLD", detail.view.history.holds, ("1s", 1000), 30))

        assert "none yet" in shown

    def test_a_long_queue_is_counted_by_name(self) -> None:
        """The number of each name, and the age of the oldest."""
        shown = text(waiter_classes(lock_detail("X" * 100)))

        assert "x*" in shown
        assert "99  100 %" in shown

    def test_a_filter_finds_a_position(self) -> None:
        """The number stays that of the queue."""
        detail = lock_detail("X" * 100)
        wanted = parsed_filter("owner:x42")
        found = matching_positions(detail, wanted)

        assert found == [42]
        assert "the first at position 42" in text_of(match_line(detail, found, wanted))

    def test_the_worst_lock_is_looked_at_first(self) -> None:
        """A deadlock before a long queue."""
        report = looked(ring_of("ann", "bob"), facts(*queue("X" * 20)))[-1].report

        assert worst_path(report) == "/locks/l0"

    def test_text_for_others_has_every_row(self) -> None:
        """Without a terminal it is still readable."""
        shown = lock_text(lock_detail("XXX"), None)

        assert all(name in shown for name in ("x0", "x1", "x2", "/locks/orders"))


def of_children(*children: At) -> LockDetail:
    """The detail of a lock with these children."""
    detail = LockDetail.of(looked(facts(*children))[-1].report, "/locks/orders")
    assert detail is not None
    return detail


class TestForeignChildren:
    """Children that are not lock requests, and nodes that failed clients left behind."""

    def test_names_a_foreign_child_that_blocks(self) -> None:
        """It has no position in the queue: its name says what to delete."""
        detail = of_children(At("00-config", "", czxid=50), curator("alice", 1), curator("bob", 2))

        assert text_of(places.blocked_by(row(detail, 0))) == "00-config"
        assert text_of(places.blocked_by(row(detail, 1))) == "ahead 0 · 00-config"
        assert "none: 00-config is first in the queue but not a lock request" in text(
            lock_head(detail, 100)
        )

    def test_calls_a_stranded_node_so(self) -> None:
        """It waits for nothing, and nothing will wake it."""
        gopher = At(f"_c_{'a' * 32}-lock-0000000001", "gopher")
        detail = of_children(At("config", "", czxid=50), gopher)

        assert text_of(places.blocked_by(row(detail, 0))) == "stranded"
        assert text_of(places.state(row(detail, 0))).startswith("stranded")
        assert "none: failed clients left their nodes behind" in text(lock_head(detail, 100))
        chosen = text(selected_lines(row(detail, 0), 100, with_data=False))
        assert "stranded     its client failed" in chosen
        assert "watch" not in chosen.partition("broken")[0]


class TestSeparateQueues:
    """Two locks of their own in one folder, one of them in a deadlock."""

    def test_a_deadlock_stops_only_the_queue_that_it_is_in(self) -> None:
        """The holder of the other one is free, and so is the way for those behind."""
        other = facts(k("bob", 0, czxid=90), k("ann", 1, czxid=130), path="/locks/y")
        detail = LockDetail.of(two_queues(*other), STOCK)

        assert detail is not None
        assert [text_of(places.state(row(detail, at))) for at in range(4)] == [
            "HOLDS + waits  #1",
            "HOLDS",
            "waits  #1",
            "waits",
        ]
        assert "stuck" not in text(lock_head(detail, 100))

    def test_only_those_of_the_same_name_come_first(self) -> None:
        """One request is before yve, not three."""
        detail = LockDetail.of(two_queues(), STOCK)
        assert detail is not None
        view = replace(detail.view, history=history(holds=usual(10_000, 20_000)))
        detail = replace(detail, view=view)

        assert places.turn_estimate(row(detail, 3)).startswith("about 10s ")

    def test_the_release_of_another_queue_wakes_nobody(self) -> None:
        """The dotted arrow of a waiter ends at its own holder."""
        tables = (
            all_connected(plain(one, 0) for one in ("ann", "bob", "xen", "yve")),
            watching({"another": ("/elsewhere",)}),
        )
        detail = LockDetail.of(two_queues(*tables), STOCK)
        assert detail is not None
        drawn = places.arrow_rows(rows(detail))

        assert list(drawn.values()) == ["◀┄╮", "  ┊◀┄╮", "┄┄╯  ┊", "┄┄┄┄┄╯"]

    def test_a_deadlock_may_stop_both_queues_of_a_folder(self) -> None:
        """Cid waits behind dan for one lock, and yve behind bob for the other."""
        owners = [("ann", "stock-"), ("xen", "price-"), ("dan", "stock-"), ("bob", "price-")]
        owners += [("cid", "stock-"), ("yve", "price-")]
        members = [
            plain(owner, number, prefix, czxid=120 + number)
            for number, (owner, prefix) in enumerate(owners)
        ]
        others = [
            *facts(k("bob", 0, czxid=90), k("ann", 1, czxid=130), path="/locks/y"),
            *facts(k("dan", 0, czxid=91), k("xen", 1, czxid=131), path="/locks/z"),
        ]
        roots = Root(path=STOCK, layout="named-sequence"), Root(path="/locks/*")
        film = looked(facts(*members, path=STOCK), others, settings=Settings(roots=roots))
        detail = LockDetail.of(film[-1].report, STOCK)

        assert detail is not None
        assert [detail.ring_before(at) is not None for at in (4, 5)] == [True, True]
