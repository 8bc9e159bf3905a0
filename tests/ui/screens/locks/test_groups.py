"""Quiet locks below one parent are one line, which the user can open."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW, lock
from ui.example_ensemble import ORDERS, STOCK, deadlock, read_whole, released, rows_of, servers
from ui.fake_feed import app_of, frames, pressed, settled
from ui.screens.locks.locks_app import SMALL, WIDE, chosen, page_of

from zktop.model.facts import AnyFact, Gone, join
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.app import Zktop
from zktop.ui.filters import NO_FILTER
from zktop.ui.screens.locks.groups import KEEP_GROUP, LINGER_MS, MIN_GROUP, LockGroup, about_group
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.screens.locks.rows import LockRows
from zktop.ui.styled_text import text_of

USERS = 30
GROUP = f"/locks/user/* ({USERS})"


def user(number: int) -> Text:
    """The path of one of many siblings."""
    return Text(f"/locks/user/{number:02d}")


def quiet(count: int = USERS) -> list[AnyFact]:
    """Many locks below one parent, each held, none waited for."""
    return [fact for number in range(count) for fact in lock(user(number), f"u{number}")]


def queue(number: int) -> list[AnyFact]:
    """Two clients wait for one of these locks."""
    return lock(user(number), f"u{number}", "ann", "bob", at=NOW)


def reports(*moments: tuple[int, object]) -> list[Report]:
    """The reports of these moments."""
    return [frame.report for frame in frames(*moments)]


def entries(rows: LockRows, *apart: str) -> list[LockRow | LockGroup]:
    """The lines of the table in the usual order."""
    assert rows.report is not None
    return list(rows.listed(rows.report.now, NO_FILTER, apart, is_sorted=False))  # type: ignore[arg-type]  # its groups are LockGroups


def names(listed: list[LockRow | LockGroup]) -> list[str]:
    """Rows by path, groups by name and size."""
    return [
        f"{one.name} ({len(one.rows)})" if isinstance(one, LockGroup) else one.path
        for one in listed
    ]


# Which are folded


def test_quiet_siblings_are_one_line() -> None:
    """They have no problems and no waiters."""
    live = rows_of(*reports((NOW, [*servers(), *quiet()])))

    assert names(entries(live)) == [GROUP]


def test_a_lock_with_a_problem_or_a_queue_has_its_own_row() -> None:
    """Problems first, then queues, then the group of all others."""
    facts = [*servers(), *deadlock(), *quiet(), *queue(7)]
    live = rows_of(*reports((NOW, facts), (NOW + 5_000, ())))
    others = f"/locks/user/* ({USERS - 1})"

    assert names(entries(live)) == [ORDERS, STOCK, user(7), others]


def test_few_quiet_locks_are_not_grouped() -> None:
    """A line in place of a few rows would only hide them."""
    live = rows_of(*reports((NOW, quiet(MIN_GROUP - 1))))

    assert len(entries(live)) == MIN_GROUP - 1


def test_each_parent_has_its_own_group() -> None:
    """The groups come by name."""
    more = [fact for n in range(MIN_GROUP) for fact in lock(f"/jobs/{n:02d}", f"c{n}")]
    live = rows_of(*reports((NOW, [*quiet(), *more])))

    assert names(entries(live)) == [f"/jobs/* ({MIN_GROUP})", GROUP]


def test_a_group_comes_before_single_quiet_locks() -> None:
    """Locks that are not quiet come first."""
    facts = [*servers(), *quiet(), *queue(7), *lock("/locks/a", "ann"), *lock("/locks/z", "zoe")]
    live = rows_of(*reports((NOW, facts)))
    others = f"/locks/user/* ({USERS - 1})"

    assert names(entries(live)) == [user(7), others, "/locks/a", "/locks/z"]


def test_the_line_of_a_group_adds_up_its_locks() -> None:
    """How many there are, how many are held, and of which kind."""
    free = [
        Gone(path=path, zxid=2_000_000 + n, at=NOW + 1_000)
        for n in range(10)
        for path in [join(user(n), Text(_node(rows_of(*reports((NOW, quiet()))), n)))]
    ]
    live = rows_of(*reports((NOW, quiet()), (NOW + 1_000, free)))
    (group,) = entries(live)

    assert isinstance(group, LockGroup)
    assert (len(group.rows), group.held, group.kind) == (USERS, USERS - 10, "mutex")


def _node(live: LockRows, number: int) -> str:
    return live.rows[user(number)].lock.holders[0].node


def test_a_lock_keeps_its_row_for_a_while_after_its_queue_is_empty() -> None:
    """Rows that come and go with every short wait would be unreadable."""
    facts = [*quiet(), *queue(7)]
    gone = [released(user(7), "u7", NOW + 1_000), released(user(7), "ann", NOW + 1_000, 1)]
    film = reports((NOW, facts), (NOW + 1_000, gone), (NOW + 1_000 + LINGER_MS, ()))
    then, later = rows_of(*film[:2]), rows_of(*film)
    others = f"/locks/user/* ({USERS - 1})"

    assert names(entries(then)) == [user(7), others]
    assert names(entries(later)) == [GROUP]


def test_going_back_in_time_groups_locks_that_were_quiet_then() -> None:
    """Later events keep no row visible."""
    gone = [released(user(7), "u7", NOW + 1_000)]
    quiet_once, waited, over = reports(
        (NOW - 60_000, quiet()), (NOW, queue(7)), (NOW + 1_000, gone)
    )
    live = rows_of(quiet_once, waited, over, quiet_once)

    assert names(entries(live))[-1] == GROUP


def test_the_lock_under_the_cursor_has_its_own_row() -> None:
    """So have tagged locks."""
    live = rows_of(*reports((NOW, quiet())))

    assert names(entries(live, user(3))) == [user(3), f"/locks/user/* ({USERS - 1})"]


def test_an_open_group_is_followed_by_its_locks() -> None:
    """Its line stays in place, so that it can be closed again."""
    live = rows_of(*reports((NOW, quiet())))
    live.toggle("/locks/user/*")

    assert names(entries(live, user(3))) == [GROUP, *map(user, range(USERS))]


def test_a_group_does_not_flicker_at_its_smallest_size() -> None:
    """It stays until clearly fewer locks are quiet."""
    busy = [[*queue(number)] for number in range(USERS)]
    few = [fact for facts in busy[: USERS - KEEP_GROUP] for fact in facts]
    fewer = [fact for facts in busy[: USERS - KEEP_GROUP + 1] for fact in facts]
    film = reports((NOW, quiet()), (NOW + 1_000, few), (NOW + 2_000, fewer))

    rows, shown = LockRows(), []
    for report in film:
        read_whole(rows, report)
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
    """In any state, groups and rows together are all locks."""
    live, moments = LockRows(), [(NOW, quiet())]
    for at, (what, number) in enumerate(steps, start=1):
        facts = queue(number) if what == "queue" else []
        gone = Gone(path=user(number), zxid=3_000_000 + at, at=NOW + 1_000 * at)
        moments.append((NOW + 1_000 * at, [gone] if what == "vanish" else facts))
        if what == "open":
            live.toggle("/locks/user/*")
    for report in reports(*moments):
        read_whole(live, report)
    listed = entries(live)
    alone = {one.path for one in listed if isinstance(one, LockRow)}
    folded = [one for one in listed if isinstance(one, LockGroup) and not one.is_open]
    calm = [row for row in live.rows.values() if row.is_quiet and row.path not in alone]

    assert sum(len(one.rows) for one in folded) == len(live.rows) - len(alone)
    assert sum(one.held for one in folded) == sum(row.status.code == "ok" for row in calm)


# What a user does with it


def listed(app: Zktop) -> list[str]:
    """The lines of the table."""
    return names(list(page_of(app).table.rows))


async def test_enter_opens_and_closes_a_group() -> None:
    """The cursor stays on its line."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        screen = "\n".join(await settled(pilot))
        await pressed(pilot, "enter")
        opened = listed(app)
        await pressed(pilot, "enter")

        assert re.search(r"▸ ok +/locks/user/\* \(30\)", screen)
        assert f"{USERS} held" in screen
        assert len(opened) == USERS + 1
        assert listed(app) == [GROUP]
        assert page_of(app).entry.name == "locks"


async def test_f_lists_every_lock_and_groups_them_again() -> None:
    """One key for all groups."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pressed(pilot, "f")
        all_of_them = listed(app)
        await pressed(pilot, "f")

        assert all_of_them == [*map(user, range(USERS))]
        assert listed(app) == [GROUP]


async def test_a_group_is_explained() -> None:
    """In a line with the keys that open it."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        screen = "\n".join(await settled(pilot))
        about = text_of(about_group(page_of(app).table.group, "f"))

        assert "30 quiet locks: no problems, no waiters" in screen
        assert "enter opens the group" in about


async def test_a_group_is_not_a_lock() -> None:
    """No key opens, copies or tags a lock in its place."""
    app = app_of(*frames((NOW, quiet())))
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pressed(pilot, "down", "up", "space")

        assert chosen(app) is None
        assert not page_of(app).table.tagged
        assert page_of(app).copied().startswith("/locks/user/*")


@pytest.mark.parametrize(
    "keys", [("slash", *"user", "enter"), ("o", "l", "enter", "escape"), ("O",)]
)
async def test_a_filter_or_an_order_lists_every_lock(keys: tuple[str, ...]) -> None:
    """Then f changes nothing, and a message says why."""
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
        assert said == ["All locks are listed while a filter or a sort order is set."]


async def test_a_lock_that_was_opened_keeps_its_own_row() -> None:
    """Back from its screen, the cursor is on it."""
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
