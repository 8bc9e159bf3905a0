"""The filter of the lock screen: which members of a queue match it."""

from collections.abc import Callable
from typing import Final

from zktop.model.findings.catalogue import RULES
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.session_ids import session_text
from zktop.ui.filters import Filter
from zktop.ui.screens.common.numbers_and_times import with_spaces
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.screens.lock.table import turn_estimate
from zktop.ui.styled_text import Line, line

FIELDS: Final = ("owner", "state", "session", "client", "mode")
STATES: Final = (
    *("holding", "waiting", "holds", "waits"),
    *(text for rule in RULES for text in (rule.name, rule.id)),
)


def matching_positions(detail: LockDetail, wanted: Filter) -> list[int]:
    """Return positions of the members that match. A session that only watches never matches."""
    return wanted.passing(range(len(detail.queue.members)), _texts(detail))


def _texts(detail: LockDetail) -> dict[str, Callable[[int], str]]:
    """Return functions for the text of each field, given the position of a member."""
    members, report = detail.queue.members, detail.report

    def owner(position: int) -> str:
        member = members[position]
        return f"{member.label or ''} {report.client_names.of(member)}"

    def state(position: int) -> str:
        holds = position < detail.queue.holder_count
        words = "holds holding" if holds else "waits waiting"
        finding = detail.marks.get(members[position].node)
        return f"{words} {finding.name} {finding.rule}" if finding else words

    def session(position: int) -> str:
        return session_text(members[position].owner) if members[position].owner else ""

    def client(position: int) -> str:
        presence = report.ensemble.presence(members[position].owner)
        return f"{presence.client}@{presence.server}" if presence else ""

    def mode(position: int) -> str:
        mode = members[position].mode
        return f"{mode} {MODE_LETTERS[mode]}"

    def without_field(position: int) -> str:
        texts = (members[position].node, owner(position), session(position), client(position))
        return " ".join(texts)

    return {
        "": without_field,
        "owner": owner,
        "state": state,
        "session": session,
        "client": client,
        "mode": mode,
    }


def match_line(detail: LockDetail, positions: list[int], wanted: Filter) -> Line:
    """Return how many members match, the position of the first, and when its turn may come."""
    total = with_spaces(len(detail.queue.members))
    if not positions:
        return line((f" FILTER  {wanted.text}  ", "selected"), f"no match among {total}")
    estimate = turn_estimate(QueueRow(detail, positions[0]))
    return line(
        (f" FILTER  {wanted.text}  ", "selected"),
        f"{with_spaces(len(positions))} of {total};"
        f" the first at position {with_spaces(positions[0])}",
        (f", {estimate}" if estimate else "", "dim"),
    )
