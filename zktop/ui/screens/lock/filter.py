"""The filter of the lock screen: which members of a queue match it."""

from collections.abc import Callable
from typing import Final, NamedTuple

from zktop.model.findings.catalogue import RULES
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.locks.lock import Member
from zktop.model.session_ids import session_text
from zktop.ui.filters import Filter
from zktop.ui.screens.common.numbers_and_times import with_spaces
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.screens.lock.table import turn_estimate
from zktop.ui.styled_text import Line, line

STATE_WORDS: Final = {"holds": "holds holding", "waits": "waits waiting"}  # for `state:`


class _Candidate(NamedTuple):
    """One member, with the texts that a filter searches."""

    detail: LockDetail
    position: int
    member: Member

    @property
    def texts(self) -> str:
        """The text that words without a field search."""
        return f"{self.member.node} {self.owner} {self.session} {self.client}"

    @property
    def owner(self) -> str:
        member = self.member
        name = self.detail.report.client_names.of(member)
        return f"{member.label or ''} {name}"

    @property
    def session(self) -> str:
        return session_text(self.member.owner) if self.member.owner else ""

    @property
    def client(self) -> str:
        presence = self.detail.report.ensemble.presence(self.member.owner)
        return f"{presence.client}@{presence.server}" if presence else ""

    @property
    def state(self) -> str:
        detail = self.detail
        state = "holds" if self.position < detail.queue.holder_count else "waits"
        finding = detail.marks.get(self.member.node) if detail.marks else None
        words = STATE_WORDS[state]
        return f"{words} {finding.name} {finding.rule}" if finding else words


MEMBER_FIELDS: Final[dict[str, Callable[[_Candidate], str]]] = {
    "": lambda candidate: candidate.texts,  # a word without a field
    "owner": lambda candidate: candidate.owner,
    "state": lambda candidate: candidate.state,
    "session": lambda candidate: candidate.session,
    "client": lambda candidate: candidate.client,
    "mode": lambda candidate: f"{candidate.member.mode} {MODE_LETTERS[candidate.member.mode]}",
}
FIELDS: Final = tuple(filter(None, MEMBER_FIELDS))
STATES: Final = (
    *("holding", "waiting", "holds", "waits"),
    *(text for rule in RULES for text in (rule.name, rule.id)),
)


def matching_positions(detail: LockDetail, wanted: Filter) -> list[int]:
    """Return positions of the members that match. A session that only watches never matches."""
    members = enumerate(detail.queue.members)
    candidates = [_Candidate(detail, position, member) for position, member in members]
    return [candidate.position for candidate in wanted.passing(candidates, MEMBER_FIELDS)]


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
