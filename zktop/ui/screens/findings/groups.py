"""Findings of the same kind about many locks, folded into one line with a count.

Findings of the same kind have the same rule and severity, and are either all confirmed or all
unconfirmed. Deadlocks are never grouped.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from zktop.model.findings.finding import Finding

TIMES: Final = "\u00d7"
MIN_GROUPED: Final = 3  # fewer findings are listed one by one

T = TypeVar("T")


class FindingKind(NamedTuple):
    """The properties that the findings of a group share."""

    rule: str
    severity: str
    is_sure: bool


class FindingGroup(NamedTuple, Generic[T]):
    """Findings of one kind, worst first. When the group is open, they are listed below it."""

    kind: FindingKind
    members: list[T]
    is_open: bool

    @property
    def tally(self) -> str:
        """Their number, and an arrow for open or folded."""
        return f"{TIMES}{len(self.members)} {'▾' if self.is_open else '▸'}"


def kind_of(finding: Finding) -> FindingKind:
    return FindingKind(finding.rule, finding.severity, finding.is_sure)


def group_alike(
    findings: Sequence[T],
    key_of: Callable[[T], Hashable | None],
    open_groups: Collection[FindingKind],
) -> Iterator[T | FindingGroup[T]]:
    """Replace findings of the same kind with a group, at the position of the first one.

    Findings whose key is not a FindingKind are never grouped.
    """
    alike: defaultdict[Hashable, list[T]] = defaultdict(list)
    for finding in findings:
        alike[key_of(finding)].append(finding)
    for finding in findings:
        kind = key_of(finding)
        members = alike[kind]
        if not isinstance(kind, FindingKind) or len(members) < MIN_GROUPED:
            yield finding
        elif finding is members[0]:
            is_open = kind in open_groups
            yield FindingGroup(kind, members, is_open)
            yield from members if is_open else ()
