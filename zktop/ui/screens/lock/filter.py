"""The filter of the lock screen: which members of a queue match it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from zktop.model.locks.lock import Member
from zktop.model.session_ids import session_text
from zktop.ui.filters import Filter, LazyFields
from zktop.ui.screens.common.format import MODE_LETTERS, with_spaces
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.screens.lock.table import estimate
from zktop.ui.styled_text import Line, line

WORDS = {"holds": "holds holding", "waits": "waits waiting"}


def _words(detail: LockDetail, member: Member, state: str) -> str:
    texts = (made(detail, member, state) for made in (_owner, _session, _client))
    return " ".join((member.node, *texts))


def _owner(detail: LockDetail, member: Member, _state: str) -> str:
    return f"{member.label or ''} {detail.report.client_names(member.owner, member.label)}"


def _session(_detail: LockDetail, member: Member, _state: str) -> str:
    return session_text(member.owner) if member.owner else ""


def _client(detail: LockDetail, member: Member, _state: str) -> str:
    presence = detail.report.ensemble.presence(member.owner)
    return f"{presence.client}@{presence.server}" if presence else ""


MEMBER_FIELDS: Final[dict[str, Callable[[LockDetail, Member, str], str]]] = {
    "": _words,
    "owner": _owner,
    "state": lambda _detail, _member, state: state,
    "session": _session,
    "client": _client,
    "mode": lambda _detail, member, _state: f"{member.mode} {MODE_LETTERS[member.mode]}",
}
FIELDS: Final = tuple(filter(None, MEMBER_FIELDS))


def matching_positions(detail: LockDetail, wanted: Filter) -> list[int]:
    """Positions of the members that match; a session that only watches never matches."""
    return [position for position, fields in enumerate(_fields(detail)) if wanted.passes(fields)]


@lru_cache(maxsize=1)
def _fields(detail: LockDetail) -> list[LazyFields]:
    """The fields of all members, kept while the user types: each key filters the same queue."""
    return [
        LazyFields(MEMBER_FIELDS, detail, member, _state(detail, position, member))
        for position, member in enumerate(detail.queue.members)
    ]


def _state(detail: LockDetail, position: int, member: Member) -> str:
    word = "holds" if position < detail.queue.holding else "waits"
    finding = detail.marks.get(member.node) if detail.marks else None
    return f"{WORDS[word]} {finding.name} {finding.rule}" if finding else WORDS[word]


def match_line(detail: LockDetail, positions: list[int], wanted: Filter) -> Line:
    """How many members match, the position of the first, and when its turn may come."""
    total = with_spaces(len(detail.queue.members))
    if not positions:
        return line((f" FILTER  {wanted.text}  ", "selected"), f"no match among {total}")
    guess = estimate(QueueRow(detail, positions[0]))
    return line(
        (f" FILTER  {wanted.text}  ", "selected"),
        f"{with_spaces(len(positions))} of {total};"
        f" the first at position {with_spaces(positions[0])}",
        (f", {guess}" if guess else "", "dim"),
    )
