"""How much of the ensemble can be seen, and what looking costs it."""

from collections.abc import Callable, Sequence

from zktop.model.cost import Cost
from zktop.model.report import Report
from zktop.model.witness import Witness
from zktop.ui.ink import Line, joined, line
from zktop.ui.row import Row


def health(report: Report, notes: Sequence[str] = ()) -> Line:
    """Say it in one line: tables that were read, our own load, what is followed less closely."""
    witnesses = report.sight.witnesses
    return joined(
        [
            line((" HEALTH", "title")),
            *(_tables(witnesses) if witnesses else [line(("no server was asked", "unknown"))]),
            line(("own load ", "dim"), _load(report.cost)),
            *(line((note, "warning")) for note in notes),
        ]
    )


def _tables(witnesses: Sequence[Witness]) -> list[Line]:
    return [
        _count("watch tables", witnesses, lambda one: one.watches is not None),
        _count("connection tables", witnesses, lambda one: one.connections is not None),
        _expiry(witnesses),
    ]


def _count(name: str, witnesses: Sequence[Witness], has: Callable[[Witness], bool]) -> Line:
    there = sum(map(has, witnesses))
    is_all = there == len(witnesses)
    told = f"{there}/{len(witnesses)}"
    return line((f"{name} ", "dim"), (told, "good") if is_all else (f"{told} !", "unknown"))


def _expiry(witnesses: Sequence[Witness]) -> Line:
    is_there = any(one.expiry.expires_in_ms for one in witnesses)
    return line(("expiry table ", "dim"), ("yes", "good") if is_there else ("no !", "unknown"))


def _load(cost: Cost | None) -> str:
    if cost is None:
        return "not counted"
    rate = "?" if cost.requests_per_s is None else f"{cost.requests_per_s:g}"
    return f"{rate} req/s, {cost.watches} watch{'' if cost.watches == 1 else 'es'}"


def about(row: Row) -> Line:
    """Say what does not fit into the row: the whole path, the layout, and what is wrong."""
    lock, mark = row.lock, row.mark
    if row.gone_at is not None:
        said = "is gone: all its nodes, or its root, were deleted"
    else:
        said = mark.sentence or lock.error or ""
    return joined(
        [
            line((f" {row.path}", "strong")),
            line((lock.layout, "dim")),
            line((said, mark.ink if mark.sentence else "unknown")) if said else (),
        ]
    )
