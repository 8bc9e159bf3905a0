"""Sessions that are shown together are told apart, whatever their last digits."""

from collections.abc import Sequence

import pytest
from model.locks.lock_worlds import ROOT, world_of
from model.make_facts import NOW, ZK1, connections, row
from msgspec.structs import replace
from ui.example_ensemble import read_whole
from ui.fake_feed import frames

from zktop.model.examiner import Examiner
from zktop.model.facts import Session
from zktop.model.settings import Settings
from zktop.ui.screens.lock import table as places
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.screens.sessions.rows import SessionRows
from zktop.ui.styled_text import text_of, width_of
from zktop.ui.widgets.table import Column, cut_cell, fitting, lent

ONE, OTHER, NEXT = 0x1000_00D0_D270_000, 0x2000_00D0_D170_000, 0x1000_00D0_D270_001
SESSION = next(column for column in places.COLUMNS if column.name == "SESSION")


def queue_of(*owners: Session) -> list[QueueRow]:
    """The queue of a lock whose members have these sessions."""
    names = [f"{number:032x}__lock__{number:010}" for number in range(len(owners))]
    report = Examiner(Settings()).look(world_of(names, owners=owners, next_sequence=9), NOW)
    detail = LockDetail.of(report, ROOT)
    assert detail is not None
    return [QueueRow(detail, place) for place in range(len(owners))]


def shown(rows: Sequence[QueueRow], cells: int = 20) -> list[str]:
    """The cells of the column SESSION."""
    drawn = [(row, places.session(row)) for row in rows]
    return [
        text_of(one if width_of(one) <= cells else cut_cell(SESSION, row, one, cells))
        for row, one in drawn
    ]


def test_the_first_sessions_of_two_servers_are_told_apart_in_a_queue() -> None:
    """Each server counts from 0, so their last four digits are the same."""
    assert shown(queue_of(ONE, OTHER, NEXT)) == [
        "0x100000d0d270000",
        "0x200000d0d170000",
        "0x…0001",
    ]


def test_a_narrow_column_shows_the_end_of_a_whole_id() -> None:
    """It has the time at which the server began to count, which differs."""
    assert shown(queue_of(ONE, OTHER), cells=7) == ["…270000", "…170000"]


def test_a_session_with_two_nodes_in_a_queue_is_one_session() -> None:
    """Its id stays short."""
    assert shown(queue_of(ONE, ONE)) == ["0x…0000", "0x…0000"]


def test_the_column_of_whole_ids_takes_spare_cells() -> None:
    """The names of clients may leave some."""
    columns = (Column[QueueRow]("IDENTITY", 20, lambda _: ()), SESSION)
    flexible = (columns[0]._replace(share=1), SESSION)
    widths = lent(fitting(flexible, 40), {"IDENTITY": 9, "SESSION": 17})

    assert [cells for _, cells in widths] == [22, 17]


def sessions_of(*looks: Sequence[str]) -> SessionRows:
    """The rows of screen 4 after looks with these connections."""
    rows = SessionRows()
    rows.set_grouped(on=False)
    ids = {"one": ONE, "other": OTHER}
    tables = [[replace(row(name), session=ids[name]) for name in names] for names in looks]
    times = range(NOW, NOW + len(looks))
    for frame in frames(
        *((at, [connections(ZK1, *table, at=at)]) for at, table in zip(times, tables, strict=True))
    ):
        read_whole(rows, frame.report)
    return rows


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        ([("one", "other")], f"{ONE:#x}"),
        ([("one", "other"), ("one",)], "0x…70000"),
    ],
    ids=["two", "one is gone"],
)
def test_the_sessions_screen_tells_them_apart_too(looks: list[tuple[str]], said: str) -> None:
    """An id is short again when the other session is gone."""
    assert sessions_of(*looks).rows[ONE].short_id == said


def test_a_session_whose_row_is_replaced_is_one_session() -> None:
    """Its id stays short."""
    rows = sessions_of(("one",))
    before = rows.rows[ONE]
    rows.set_grouped(on=False)

    assert rows.rows[ONE] is not before
    assert rows.rows[ONE].short_id == "0x…70000"
