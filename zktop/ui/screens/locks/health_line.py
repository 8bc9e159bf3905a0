"""The line below the table of all locks: which tables were read, and what zktop itself asks."""

from collections.abc import Callable, Sequence

from zktop.model.facts import Cost
from zktop.model.report import Report
from zktop.model.world.tables_of_one_server import ServerTables
from zktop.ui.styled_text import Line, joined, line


def health(report: Report, notes: Sequence[str] = ()) -> Line:
    """Return one line: which server tables were read, zktop's own load, and notes."""
    tables = report.ensemble.tables
    return joined(
        [
            line((" HEALTH", "title")),
            *(_tables(tables) if tables else [line(("no server asked yet", "unknown"))]),
            line(("own load ", "dim"), _load(report.cost)),
            *(line((note, "warning")) for note in notes),
        ]
    )


def _tables(tables: Sequence[ServerTables]) -> list[Line]:
    return [
        _count("watch tables", tables, lambda server: server.watches is not None),
        _count("connection tables", tables, lambda server: server.connections is not None),
        _expiry(tables),
    ]


def _count(name: str, tables: Sequence[ServerTables], has: Callable[[ServerTables], bool]) -> Line:
    read = sum(map(has, tables))
    is_all = read == len(tables)
    text = f"{read}/{len(tables)}"
    return line((f"{name} ", "dim"), (text, "good") if is_all else (f"{text} !", "unknown"))


def _expiry(tables: Sequence[ServerTables]) -> Line:
    is_read = any(table.expiry.expires_in_ms for table in tables)
    return line(("expiry table ", "dim"), ("yes", "good") if is_read else ("no !", "unknown"))


def _load(cost: Cost | None) -> str:
    if cost is None:
        return "not counted"
    rate = "?" if cost.requests_per_s is None else f"{cost.requests_per_s:g}"
    return f"{rate} req/s, {cost.watches} watch{'' if cost.watches == 1 else 'es'}"
