"""Lists all findings in screen order, in steps: a few per look while there are many."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from typing import Final

from zktop.model.facts import Millis
from zktop.model.findings.catalogue import screen_order
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.findings.finding import Finding
from zktop.model.findings.listing.causes import CauseIndex, WaitsAhead
from zktop.model.findings.listing.group_similar import Grouping, Listing
from zktop.model.findings.schedule import Subject

FINDINGS_PER_STEP: Final = 2_500  # at most 10 ms
LISTED_FINDINGS_PER_MS: Final = 5  # so 10,000 findings take two seconds
NO_LISTING: Final = Listing()


class FindingList:
    """The newest listing. The next one is built in steps, one per look."""

    def __init__(self) -> None:
        self.is_changed = True  # whether findings changed since the newest listing was started
        self._listing = NO_LISTING
        self._next: Iterator[Listing | None] | None = None
        self._begun_at: Millis = 0  # when the last listing, or rewording, was begun
        self._number = 0  # number of all findings
        self._reworded: dict[str, Finding] = {}  # by id: only the wording changed since then

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self._listing.findings

    @property
    def unseen(self) -> AbstractSet[str]:
        """The ids of findings hidden in a group."""
        return self._listing.unseen

    @property
    def is_behind(self) -> bool:
        """Whether a listing is being built."""
        return self._next is not None

    def note(self, before: Sequence[Finding], after: Sequence[Finding]) -> None:
        """Record the previous and current findings about one subject."""
        self._number += len(after) - len(before)
        if are_reworded(before, after):
            self._reworded.update((finding.id, finding) for finding in after)
        else:
            self.is_changed |= after != before

    def advance(
        self,
        subjects: Mapping[Subject, SubjectFindings],
        ahead: WaitsAhead,
        now: Millis,
        *,
        thorough: bool,
    ) -> bool:
        """Continue to list or reword the findings; return whether the listing was replaced.

        Listing a thousand takes 10 ms, so the pause between two listings grows with their number.
        """
        if thorough and self._next is not None:  # the unfinished one has older findings
            self._next, self.is_changed = None, True
        is_due = thorough or now - self._begun_at >= self._number // LISTED_FINDINGS_PER_MS
        if self._next is None and is_due:
            if self.is_changed:
                self._begin(subjects, ahead, now)
            elif self._reworded:
                reworded, self._reworded, self._begun_at = self._reworded, {}, now
                return self._replace(self._listing.reworded(reworded))
        return self._continue(thorough=thorough)

    def _begin(
        self, subjects: Mapping[Subject, SubjectFindings], ahead: WaitsAhead, now: Millis
    ) -> None:
        """Begin a listing of the findings as they are now; `subjects` will change."""
        shown = [findings.shown for findings in subjects.values()]
        self._next = listings(chain.from_iterable(shown), ahead, self._listing)
        self._begun_at, self.is_changed, self._reworded = now, False, {}

    def _continue(self, *, thorough: bool) -> bool:
        """Take the next step of the listing, or all steps; return whether it was finished."""
        for listing in islice(self._next or (), None if thorough else 1):
            if listing is not None:
                self._next = None
                return self._replace(listing)
        return False

    def _replace(self, listing: Listing) -> bool:
        before, self._listing = self._listing, listing
        return listing is not before


def listings(
    findings: Iterable[Finding], ahead: WaitsAhead, before: Listing = NO_LISTING
) -> Iterator[Listing | None]:
    """List findings in steps: yield None after each but the last, then the listing."""
    by_id: dict[str, Finding] = {}
    yield from _in_steps(findings, lambda finding: by_id.update({finding.id: finding}))
    index = CauseIndex({finding.rule for finding in by_id.values()})
    yield from _in_steps(by_id.values(), index.file)
    causes: dict[str, str] = {}
    yield from _in_steps(by_id.values(), lambda finding: index.note_cause(finding, ahead, causes))
    grouping = Grouping(causes, before.groups.keys())
    yield from _in_steps(by_id.values(), grouping.add)
    grouping.close()
    yield from _in_steps(grouping.effects, grouping.add_effect)
    grouping.close()
    yield grouping.listing()


def _in_steps(findings: Iterable[Finding], work: Callable[[Finding], None]) -> Iterator[None]:
    for number, finding in enumerate(findings, 1):
        work(finding)
        if number % FINDINGS_PER_STEP == 0:
            yield None


def are_reworded(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether only the wording changed: then order and causes stay the same."""
    return before != after and list(map(_fixed, before)) == list(map(_fixed, after))


def _fixed(finding: Finding) -> tuple[object, ...]:
    """What the order and the cause of a finding depend on."""
    return screen_order(finding), finding.nodes, finding.sessions, finding.locks
