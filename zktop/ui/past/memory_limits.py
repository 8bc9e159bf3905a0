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
MAP_ENTRY_BYTES: Final = 32  # for each lock, when the map of all locks is rewritten
ROW_BYTES: Final = 200
FINDING_BYTES: Final = 800
ALIKE_BYTES: Final = 32  # for each finding of a group that is shown as one
EVENT_BYTES: Final = 300


class TapeLimits(NamedTuple):
    """How much a tape keeps."""

    frames_bytes: int = FRAMES_BYTES
    packed_bytes: int = PACKED_BYTES


REPLAY: Final = TapeLimits(20 * FRAMES_BYTES, 10 * PACKED_BYTES)


def new_bytes(frame: Frame, changed: Iterable[Text], previous: Report | None) -> int:
    """Estimate how many bytes a frame adds to the past.

    Most of that is the data that it replaces, which only earlier frames still hold. Locks and
    tables that are read for the first time add nothing: the newest frame holds them in any case.
    """
    report = frame.report
    if previous is None:
        return FRAME_BYTES
    locks = [record.lock for path in changed if (record := previous.records.get(path)) is not None]
    is_rewritten = previous.records.base is not report.records.base
    findings = alike = 0
    if previous.findings is not report.findings:
        previous_ids = set(map(id, previous.findings))
        new = [finding for finding in report.findings if id(finding) not in previous_ids]
        findings, alike = len(new), sum(len(finding.alike) for finding in new)
    tables, previous_tables = report.world.tables, previous.world.tables
    rows = sum(_replaced_rows(table, tables.get(name)) for name, table in previous_tables.items())
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
    shared_ids = {id(rows) for rows in _large(after)} if after else set()
    return sum(len(rows) for rows in _large(before) if id(rows) not in shared_ids)


def _large(tables: TableFacts) -> list[Collection[object]]:
    connections, watches, expiry = tables.connections, tables.watches, tables.expiry
    large = (
        connections.rows if connections else None,
        watches.rows if watches else None,
        expiry.expires_in_ms if expiry else None,
        expiry.timeouts_ms if expiry else None,
    )
    return [rows for rows in large if rows]
