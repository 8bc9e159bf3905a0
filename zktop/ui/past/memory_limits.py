"""How much memory the past may take, and how much a frame adds to it."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.newest_tables import TableFacts
from zktop.ui.interfaces import Frame

FRAMES_BYTES: Final = 8_000_000
PACKED_BYTES: Final = 19_000_000

# The weight of new data in a frame; measured on 2,000 locks with the tables of 6,000 sessions.
FRAME_BYTES: Final = 16_000
LOCK_BYTES: Final = 5_600
MEMBER_BYTES: Final = 32
MAP_ENTRY_BYTES: Final = 32  # of the map of all locks, which is rewritten now and then
ROW_BYTES: Final = 200
FINDING_BYTES: Final = 800
ALIKE_BYTES: Final = 32  # of each of many findings that are shown as one
EVENT_BYTES: Final = 300


class TapeLimits(NamedTuple):
    """How much a tape keeps."""

    frames_bytes: int = FRAMES_BYTES
    packed_bytes: int = PACKED_BYTES


REPLAY: Final = TapeLimits(20 * FRAMES_BYTES, 10 * PACKED_BYTES)


def new_bytes(frame: Frame, changed: Iterable[Text], before: Report | None) -> int:
    """Estimate by how much a frame makes the past larger.

    Most of that is the data that it replaces, which only earlier frames still hold. Locks and
    tables that are read for the first time add nothing: the newest frame holds them in any case.
    """
    report = frame.report
    if before is None:
        return FRAME_BYTES
    locks = [record.lock for path in changed if (record := before.records.get(path)) is not None]
    is_rewritten = before.records.base is not report.records.base
    findings = alike = 0
    if before.findings is not report.findings:
        ids_before = set(map(id, before.findings))
        new = [finding for finding in report.findings if id(finding) not in ids_before]
        findings, alike = len(new), sum(len(finding.alike) for finding in new)
    tables, tables_before = report.world.tables, before.world.tables
    rows = sum(_replaced_rows(table, tables.get(name)) for name, table in tables_before.items())
    return (
        FRAME_BYTES
        + LOCK_BYTES * len(locks)
        + MEMBER_BYTES * sum(lock.size for lock in locks)
        + (MAP_ENTRY_BYTES * len(report.records.base) if is_rewritten else 0)
        + ROW_BYTES * rows
        + FINDING_BYTES * findings
        + ALIKE_BYTES * alike
        + EVENT_BYTES * len(frame.events)
    )


def _replaced_rows(before: TableFacts, after: TableFacts | None) -> int:
    """Count the rows of tables in `before` that `after` does not share."""
    kept = {id(rows) for rows in _large(after)} if after else set()
    return sum(len(rows) for rows in _large(before) if id(rows) not in kept)


def _large(tables: TableFacts) -> list[Collection[object]]:
    connections, watches, expiry = tables.connections, tables.watches, tables.expiry
    large = (
        connections.rows if connections else None,
        watches.rows if watches else None,
        expiry.expires_in_ms if expiry else None,
        expiry.timeouts_ms if expiry else None,
    )
    return [rows for rows in large if rows]
