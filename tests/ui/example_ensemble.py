"""A small ensemble with a deadlock, an orphan and quiet locks, as facts, for the page of locks."""

from collections.abc import Hashable
from functools import cache
from typing import Any

from model.make_facts import NOW, ZK1, connections, figures, kazoo_name, lock, no_watches, own, row
from ui.fake_feed import frames

from zktop.model.facts import AnyFact, Gone, Millis, Node, Stat, join
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.filters import NO_FILTER, Filter
from zktop.ui.interfaces import Frame
from zktop.ui.screens.common.live_rows import LiveRows
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.screens.locks.rows import LockRows
from zktop.ui.styled_text import Line, text_of

LATER = NOW + 70_000
ORDERS, STOCK, IMPORT, QUIET = (
    Text(f"/locks/{name}") for name in ("orders", "stock", "import", "user/17")
)
LONG = Text("/locks/a/path/that/is/too/long/for/any/column/of/the/table/billing")
CONTENDERS = ("ann", "bob", "cid", "eve", "api-1", "api-2")


def orphan(path: str, former_owner: str, *waiters: str) -> tuple[AnyFact, ...]:
    """A lock whose first node is persistent; the session that created it ended long ago."""
    facts = lock(path, former_owner, *waiters)
    return tuple(map(_persistent, facts[:2])) + facts[2:]


def _persistent(fact: AnyFact) -> AnyFact:
    if not isinstance(fact, Node) or fact.stat is None:
        return fact
    stat = Stat(fact.stat.czxid, fact.stat.mzxid, NOW - 300_000, owner=0)
    return Node(path=fact.path, stat=stat, data=fact.data, zxid=fact.zxid, at=fact.at)


def deadlock() -> tuple[AnyFact, ...]:
    """Ann holds orders and wants stock, bob the other way round; cid and eve queue behind."""
    return (*lock(ORDERS, "ann", "bob", "cid"), *lock(STOCK, "bob", "ann", "eve"))


def quiet() -> tuple[AnyFact, ...]:
    """A lock that is held, one with a waiter, and one with a long path."""
    return (*lock(QUIET, "api-1", "api-2"), *lock(LONG, "rep-1"))


def servers() -> tuple[AnyFact, ...]:
    """One server that lists all sessions and hides its watches."""
    return own(), connections(ZK1, *map(row, CONTENDERS)), no_watches(ZK1), figures(ZK1)


def released(path: Text, owner: str, at: Millis, number: int = 0) -> Gone:
    """A client releases a lock."""
    return Gone(path=join(path, kazoo_name(owner, number)), zxid=1_000_000 + at, at=at)


@cache
def trouble() -> list[Frame]:
    """The facts about all these locks over seventy seconds."""
    facts = (*servers(), *deadlock(), *orphan(IMPORT, "zed", "yan"), *quiet())
    waiting = [(NOW + 6_000 * step, ()) for step in range(1, 12)]
    return frames((NOW, facts), *waiting, (LATER, [released(QUIET, "api-1", LATER)]))


def rows_of(*reports: Report) -> LockRows:
    """The rows after these reports."""
    rows = LockRows()
    for report in reports:
        read_whole(rows, report)
    return rows


def read_whole(rows: LiveRows[Any], report: Report) -> set[Hashable]:
    """Apply a report in one go; return the keys of the rows that changed."""
    before = dict(rows.rows)
    for _ in rows.read(report):
        pass
    either = before.keys() | rows.rows.keys()
    return {key for key in either if before.get(key) is not rows.rows.get(key)}


def listed(rows: LockRows, wanted: Filter = NO_FILTER) -> list[LockRow]:
    """All rows that pass the filter, the worst first."""
    assert rows.report is not None
    lines = rows.listed(rows.report.now, wanted, is_sorted=True)
    return [line for line in lines if isinstance(line, LockRow)]


def seen(
    facts: object, at: int = NOW, settings: Settings | None = None
) -> tuple[Report, LockRows]:
    """The header for these facts."""
    (frame,) = frames((at, facts), settings=settings)
    return frame.report, rows_of(frame.report)


def texts(lines: list[Line]) -> list[str]:
    """Lines without inks."""
    return [text_of(line) for line in lines]
