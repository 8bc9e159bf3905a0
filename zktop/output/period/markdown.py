"""A period as Markdown, for a ticket or a chat."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from zktop.output.period.words import DeadlockWords, Document, WordTable

MAX_TABLE_ROWS: Final = 15
_LINKED: Final = r"@|:(?=//)|(?<=www)\."  # GitHub turns plain text with these into links
_SPECIAL: Final = re.compile(rf"([\\`*_\[\]<>|~&#]|{_LINKED})", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Escape everything that Markdown or HTML would interpret.

    >>> plain("/locks/a|b <b>*x*")
    '/locks/a\\|b \\<b\\>\\*x\\*'
    """
    return _SPECIAL.sub(r"\\\1", text)


def lines(document: Document) -> Iterator[str]:
    yield from (f"# {plain(document.title)}", "", f"{document.period}. {plain(document.summary)}")
    for deadlock in document.deadlocks:
        yield from ("", *_deadlock(deadlock))
    if document.findings:
        yield from ("", "## Findings", "")
        for finding in document.findings:
            title = f"{finding.severity}, {finding.title}"
            yield f"* **{title}**, {finding.when}: {plain(finding.sentence)}"
        if document.more_findings:
            yield f"* {document.more_findings}"
    for table in document.tables:
        yield from ("", *_table(table))
    yield from ("", "## How much was seen", "")
    yield from (f"* {plain(line)}" for line in document.seen)


def _deadlock(deadlock: DeadlockWords) -> Iterator[str]:
    yield from (f"## {deadlock.title}", "", f"{deadlock.when}. {plain(deadlock.sentence)}", "")
    yield from (f"{number}. {plain(step)}" for number, step in enumerate(deadlock.steps, start=1))
    rest = " ".join(filter(None, (deadlock.behind, deadlock.way_out)))
    if rest:
        yield from ("", plain(rest))


def _table(table: WordTable) -> Iterator[str]:
    yield from (f"## {table.title}", "")
    if not table.rows:
        yield "None."
        return
    if table.about:
        yield from (table.about, "")
    yield from (_cells(table.head), _cells("---" for _ in table.head))
    yield from (_cells(plain(text) for text, _ in row) for row in table.rows[:MAX_TABLE_ROWS])
    if len(table.rows) > MAX_TABLE_ROWS:
        yield from ("", f"… and {len(table.rows) - MAX_TABLE_ROWS} more.")


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
