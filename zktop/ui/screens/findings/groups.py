"""Equal findings of many locks: one line with a count, which opens.

A rule that finds the same in forty locks has one thing to say. What is alike is of one rule, as
bad and as sure; deadlocks are never alike.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from zktop.model.findings.finding import Finding
from zktop.ui.screens.common.status_codes import SURE

TIMES: Final = "\u00d7"
ALIKE: Final = 3  # findings; two are told one by one

T = TypeVar("T")


class FindingKind(NamedTuple):
    """What equal findings have in common; also the target of their line."""

    rule: str
    severity: str
    is_sure: bool


class FindingGroup(NamedTuple, Generic[T]):
    """Findings of one kind, the worst first; they follow one by one where it is open."""

    kind: FindingKind
    those: list[T]
    is_open: bool

    @property
    def tally(self) -> str:
        """Count them, and show whether there is more to see."""
        return f"{TIMES}{len(self.those)} {'▾' if self.is_open else '▸'}"


def kind_of(finding: Finding) -> FindingKind:
    """Tell of which kind a finding is."""
    return FindingKind(finding.rule, finding.severity, finding.confidence in SURE)


def group_alike(
    found: Iterable[T], kind: Callable[[T], Hashable | None], opened: Collection[FindingKind]
) -> Iterator[T | FindingGroup[T]]:
    """Put what is alike where the first of it stands; what has no kind stays alone."""
    told = list(found)
    alike: defaultdict[Hashable, list[T]] = defaultdict(list)
    for one in told:
        alike[kind(one)].append(one)
    for one in told:
        name = kind(one)
        those = alike[name]
        if not isinstance(name, FindingKind) or len(those) < ALIKE:
            yield one
        elif one is those[0]:
            is_open = name in opened
            yield FindingGroup(name, those, is_open)
            yield from those if is_open else ()
