"""Quiet siblings are one line: which are, and how a user opens it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.builders import NOW, lock
from ui.example_ensemble import ORDERS, STOCK, deadlock, released, rows_of, servers
from ui.fake_feed import app_of, frames, pressed, settled
from ui.screens.locks.locks_app import SMALL, WIDE, chosen, page_of

from zktop.model.facts import AnyFact, Gone, join
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.app import Zktop
from zktop.ui.filters import NO_FILTER
from zktop.ui.screens.locks.groups import LINGER_MS, LockGroup
from zktop.ui.screens.locks.row import LockRow
from zktop.ui.screens.locks.rows import KEEP_GROUP, MIN_GROUP, LockRows

USERS = 30
GROUP = f"/locks/user/* ({USERS})"


def user(number: int) -> Text:
    """The path of one of many siblings."""
    return Text(f"/locks/user/{number:02d}")


def quiet(count: int = USERS) -> list[AnyFact]:
    """So many siblings, each held by somebody for whom nobody waits."""
    return [fact for number in range(count) for fact in lock(user(number), f"u{number}")]


def queue(number: int) -> list[AnyFact]:
    """Two wait for one of the siblings."""
    return lock(user(number), f"u{number}", "ann", "bob", at=NOW)


def reports(*moments: tuple[int, object]) -> list[Report]:
    """The reports of these moments."""
    return [frame.report for frame in frames(*moments)]


def entries(rows: LockRows, *apart: str) -> list[LockRow | LockGroup]:
    """What is listed in the usual order."""
    assert rows.report is not None
    return list(rows.listed(rows.report.now, NO_FILTER, apart, is_sorted=False))  # type: ignore[arg-type]  # its groups are LockGroups


def names(listed: list[LockRow | LockGroup]) -> list[str]:
    """The rows by their paths, the folds with how many they are."""
    return [
        f"{one.name} ({len(one.rows)})" if isinstance(one, LockGroup) else one.path
        for one in listed
    ]


# Which are folded


def test_quiet_siblings_are_one_line() -> None:
    """Nothing is wrong with them, and nobody waits."""
    board = rows_of(*reports((NOW, [*servers(), *quiet()])))

    assert names(entries(board)) == [GROUP]


def test_what_is_wrong_or_waited_for_has_a_row_of_its_own() -> None:
    """Trouble first, then queues, then the fold of all others."""
    facts = [*servers(), *deadlock(), *quiet(), *queue(7)]
    board = rows_of(*reports((NOW, facts), (NOW + 5_000, ())))
    others = f"/locks/user/* ({USERS - 1})"

    assert names(entries(board)) == [ORDERS, STOCK, user(7), others]


def test_few_siblings_are_never_folded() -> None:
    """A line instead of a handful of rows would only hide them."""
    board = rows_of(*reports((NOW, quiet(MIN_GROUP - 1))))

    assert len(entries(board)) == MIN_GROUP - 1


def test_locks_of_other_parents_are_counted_apart() -> None:
    """Every parent has its own line, and they come by name."""
    more = [fact for n in range(MIN_GROUP) for fact in lock(f"/jobs/{n:02d}", f"c{n}")]
    board = rows_of(*reports((NOW, [*quiet(), *more])))

    assert names(entries(board)) == [f"/jobs/* ({MIN_GROUP})", GROUP]


def test_a_fold_comes_before_quiet_locks_that_are_few() -> None:
    """And behind what is not quiet: a hundred locks are worth more than one of them."""
    facts = [*servers(), *quiet(), *queue(7), *lock("/locks/a", "ann"), *lock("/locks/z", "zoe")]
    board = rows_of(*reports((NOW, facts)))
    others = f"/locks/user/* ({USERS - 1})"

    assert names(entries(board)) == [user(7), others, "/locks/a", "/locks/z"]


def test_the_line_adds_up_what_it_stands_for() -> None:
    """How many there are, how many of them are held, and of which kind they are."""
    free = [
        Gone(path=path, zxid=2_000_000 + n, at=NOW + 1_000)
        for n in range(10)
        for path in [join(user(n), Text(_node(rows_of(*reports((NOW, quiet()))), n)))]
    ]
    board = rows_of(*reports((NOW, quiet()), (NOW + 1_000, free)))
    (group,) = entries(board)

    assert isinstance(group, LockGroup)
    assert (len(group.rows), group.held, group.kind) == (USERS, USERS - 10, "mutex")


def _node(board: LockRows, number: int) -> str:
    return board.rows[user(number)].lock.holders[0].node


def test_a_lock_stays_in_sight_for_a_while_after_its_queue_is_gone() -> None:
    """Rows that come and go with every short wait could not be read."""
    facts = [*quiet(), *queue(7)]
    gone = [released(user(7), "u7", NOW + 1_000), released(user(7), "ann", NOW + 1_000, 1)]
    film = reports((NOW, facts), (NOW + 1_000, gone), (NOW + 1_000 + LINGER_MS, ()))
    then, later = rows_of(*film[:2]), rows_of(*film)
    others = f"/locks/user/* ({USERS - 1})"

    assert names(entries(then)) == [user(7), others]
    assert names(entries(later)) == [GROUP]


def test_going_back_in_time_folds_what_was_quiet_then() -> None:
    """What happened later keeps nothing in sight."""
    gone = [released(user(7), "u7", NOW + 1_000)]
    quiet_once, waited, over = reports(
        (NOW - 60_000, quiet()), (NOW, queue(7)), (NOW + 1_000, gone)
    )
    board = rows_of(quiet_once, waited, over, quiet_once)

    assert names(entries(board))[-1] == GROUP


def test_what_the_user_wants_apart_has_a_row_of_its_own() -> None:
    """The lock under the cursor, and those that are tagged."""
    board = rows_of(*reports((NOW, quiet())))

    assert names(entries(board, user(3))) == [user(3), f"/locks/user/* ({USERS - 1})"]


def test_an_open_fold_is_followed_by_its_locks() -> None:
    """Its line stays where it was, so that it can be closed again."""
    board = rows_of(*reports((NOW, quiet())))
    board.toggle("/locks/user/*")

    assert names(entries(board, user(3))) == [GROUP, *map(user, range(USERS))]


def test_does_not_flicker_where_there_are_just_enough() -> None:
    """What was folded stays folded until clearly fewer of them are quiet."""
    busy = [[*queue(number)] for number in range(USERS)]
    few = [fact for facts in busy[: USERS - KEEP_GROUP] for fact in facts]
    fewer = [fact for facts in busy[: USERS - KEEP_GROUP + 1] for fact in facts]
    film = reports((NOW, quiet()), (NOW + 1_000, few), (NOW + 2_000, fewer))

    rows, shown = LockRows(), []
    for report in film:
        rows.update(report)
        shown.append(entries(rows))

    assert names(shown[1])[-1] == f"/locks/user/* ({KEEP_GROUP})"
    assert len(shown[2]) == USERS


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["queue", "vanish", "open"]), st.integers(0, USERS - 1)),
        max_size=12,
    )
)
def test_every_lock_is_listed_once_or_counted_once(steps: list[tuple[str, int]]) -> None:
    """Whatever happens, a fold and the rows beside it are all locks there are."""
    board, moments = LockRows(), [(NOW, quiet())]
    for at, (what, number) in enumerate(steps, start=1):
        facts = queue(number) if what == "queue" else []
        gone = Gone(path=user(number), zxid=3_000_000 + at, at=NOW + 1_000 * at)
        moments.append((NOW + 1_000 * at, [gone] if what == "vanish" else facts))
        if what == "open":
            board.toggle("/locks/user/*")
    for report in reports(*moments):
        board.update(report)
    listed = entries(board)
    rows = {one.path for one in listed if isinstance(one, LockRow)}
    folded = [one for one in listed if isinstance(one, LockGroup) and not one.is_open]
    calm = [row for row in board.rows.values() if row.is_quiet and row.path not in rows]

    assert sum(len(one.rows) for one in folded) == len(board.rows) - len(rows)
    assert sum(one.held for one in folded) == sum(row.status.code == "ok" for row in calm)


# What a user does with it


def listed(app: Zktop) -> list[str]:
    """What the table has."""
    return names(list(page_of(app).table.rows))


async def test_enter_opens_a_fold_and_closes_it() -> None:
    """Where the cursor is on its line; it stays there."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        screen = "\n".join(await settled(pilot))
        await pressed(pilot, "enter")
        opened = listed(app)
        await pressed(pilot, "enter")

        assert "▸ok   /locks/user/* (30)" in screen
        assert f"{USERS} held" in screen
        assert len(opened) == USERS + 1
        assert listed(app) == [GROUP]
        assert page_of(app).entry.name == "locks"


async def test_f_lists_every_lock_and_folds_them_again() -> None:
    """One key for all folds."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pressed(pilot, "f")
        all_of_them = listed(app)
        await pressed(pilot, "f")

        assert all_of_them == [*map(user, range(USERS))]
        assert listed(app) == [GROUP]


async def test_a_fold_tells_what_it_is() -> None:
    """In a line of its own, with the keys that open it."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        screen = "\n".join(await settled(pilot))

        assert "30 quiet locks: no problems, no waiters" in screen
        assert "enter opens the group" in screen


async def test_a_fold_is_no_lock_that_a_key_could_mean() -> None:
    """Nothing is opened, copied or tagged in place of it."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pressed(pilot, "down", "up", "space")

        assert chosen(app) is None
        assert not page_of(app).table.tagged
        assert page_of(app).copied().startswith("/locks/user/*")


@pytest.mark.parametrize("keys", [("slash", "u", "s", "e", "r", "enter"), ("o",), ("O",)])
async def test_whoever_looks_for_locks_or_compares_them_sees_all(keys: tuple[str, ...]) -> None:
    """A filter passes locks, and an order is one of locks; f says why it changes nothing."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        await pressed(pilot, *keys)
        await settled(pilot)
        before = listed(app)
        await pressed(pilot, "f")
        await settled(pilot)
        said = [one.message for one in app._notifications]

        assert sorted(before) == sorted(listed(app)) == [*map(user, range(USERS))]
        assert said == ["All locks are listed while a filter or another order is set."]


async def test_a_lock_that_was_looked_at_is_not_lost_in_a_fold() -> None:
    """Whoever comes back from it finds it under the cursor, with a row of its own."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=SMALL) as pilot:
        await settled(pilot)
        await pressed(pilot, "enter", "down", "down", "enter")
        await settled(pilot)
        await pressed(pilot, "escape")
        await settled(pilot)
        await pressed(pilot, "f", "f")
        await settled(pilot)

        assert chosen(app) == user(1)
        assert listed(app) == [user(1), f"/locks/user/* ({USERS - 1})"]
