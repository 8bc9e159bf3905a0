"""The filter of the lock screen: which members of a queue match it."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from zktop.model.facts import session_text
from zktop.model.locks.lock import Member
from zktop.ui.filters import Filter
from zktop.ui.screens.common.format import MODE_LETTERS, with_spaces
from zktop.ui.screens.lock.cells import estimate
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.styled_text import Line, line

FIELDS: Final = ("owner", "state", "session", "client", "mode")
WORDS = {"holds": "holds holding", "waits": "waits waiting"}


class MemberFields(Mapping[str, str]):
    """Fields of one queue member; each is computed once, when the filter reads it."""

    __slots__ = ("_detail", "_known", "_member", "_state")

    def __init__(self, detail: LockDetail, member: Member, state: str) -> None:
        self._detail, self._member, self._state = detail, member, state
        self._known: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._computed(name)
        return known

    def _computed(self, name: str) -> str:
        member = self._member
        match name:
            case "":
                return f"{member.node} {self['owner']} {self['session']} {self['client']}"
            case "owner":
                report, label = self._detail.report, member.label
                return f"{label or ''} {report.client_names(member.owner, label)}"
            case "session":
                return session_text(member.owner) if member.owner else ""
            case "client":
                presence = self._detail.report.ensemble.presence(member.owner)
                return f"{presence.client}@{presence.server}" if presence else ""
            case "mode":
                return f"{member.mode} {MODE_LETTERS[member.mode]}"
            case "state":
                return self._state
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(("", *FIELDS))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def matching_positions(detail: LockDetail, wanted: Filter) -> list[int]:
    """Positions of the members that match; a bare watcher has no fields and never matches."""
    return [position for position, fields in enumerate(_fields(detail)) if wanted.passes(fields)]


@lru_cache(maxsize=1)
def _fields(detail: LockDetail) -> list[MemberFields]:
    """The fields of all members: each key that the user types filters the same queue."""
    return [
        MemberFields(detail, member, _state(detail, position, member))
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
