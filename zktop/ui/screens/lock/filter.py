"""Which places of a queue pass the filter; what was looked at once is not looked at again."""

from collections.abc import Iterator, Mapping
from typing import Final

from zktop.model.facts import session_text
from zktop.model.locks.lock import Member
from zktop.ui.filters import Filter
from zktop.ui.screens.common.format import with_spaces
from zktop.ui.screens.lock.cells import estimate
from zktop.ui.screens.lock.rows import QueueRow
from zktop.ui.screens.lock.view import LockDetail
from zktop.ui.screens.locks.row import MODE_LETTERS
from zktop.ui.styled_text import Line, line

FIELDS: Final = ("owner", "state", "session", "client", "mode")
WORDS = {"holds": "holds holding", "waits": "waits waiting"}


class MemberFields(Mapping[str, str]):
    """What a filter may look at in a place; each field is made when it is asked for."""

    def __init__(self, detail: LockDetail, member: Member, state: str) -> None:
        """Look at this place."""
        self._detail, self._member, self._state = detail, member, state

    def __getitem__(self, name: str) -> str:
        """Give one field."""
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
        """Name the fields."""
        return iter(("", *FIELDS))

    def __len__(self) -> int:
        """Count them."""
        return sum(1 for _ in self)


class QueueFilter:
    """Finds the places that pass."""

    def __init__(self) -> None:
        """Begin with nothing looked at."""
        self._asked: tuple[str, str] = "", ""
        self._known: dict[tuple[str, str], bool] = {}

    def places(self, detail: LockDetail, wanted: Filter) -> list[int]:
        """Give their positions; who only watches is found by nothing but its session."""
        if self._asked != (detail.path, wanted.text):
            self._asked, self._known = (detail.path, wanted.text), {}
        queue, before = detail.queue, self._known
        now: dict[tuple[str, str], bool] = {}
        found = []
        for place, member in enumerate(queue.members):
            state = _state(detail, place, member)
            key = member.node, state
            passes = before.get(key)
            if passes is None:
                passes = wanted.passes(MemberFields(detail, member, state))
            now[key] = passes
            if passes:
                found.append(place)
        self._known = now
        return found


def _state(detail: LockDetail, place: int, member: Member) -> str:
    word = "holds" if place < detail.queue.holding else "waits"
    finding = detail.marks.get(member.node) if detail.marks else None
    return f"{WORDS[word]} {finding.name} {finding.rule}" if finding else WORDS[word]


def match_line(detail: LockDetail, places: list[int], wanted: Filter) -> Line:
    """Say how many passed, where the first of them stands, and when its turn may come."""
    total = with_spaces(len(detail.queue.members))
    if not places:
        return line((f" FILTER  {wanted.text}  ", "selected"), f"nobody of {total} passes it")
    first = QueueRow(detail, places[0], 1, "")
    guess = estimate(first)
    return line(
        (f" FILTER  {wanted.text}  ", "selected"),
        f"{with_spaces(len(places))} of {total}; the first at position {with_spaces(places[0])}",
        (f", {guess}" if guess else "", "dim"),
    )
