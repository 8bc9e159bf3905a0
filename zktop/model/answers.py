"""When to put all findings in order anew: soon where another thing is wrong, else at leisure.

To order ten thousand takes as long as a hundred examinations, and in each second some of so many
have words that time has made untrue.
"""

from collections.abc import Iterable
from typing import Final

from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.findings.said import Inspected

ORDERED_PER_MS: Final = 10  # findings
REWORDED_PER_MS: Final = 2  # the same, where only words are different


class Answers:
    """The newest answer, and what has become of it since."""

    def __init__(self) -> None:
        """Begin with nothing found."""
        self.newest = Inspected()
        self._at: Millis = 0
        self._is_wrong = True
        self._is_old = False  # but for its words it is right

    def renew(self) -> None:
        """Take note that another answer is to be given."""
        self._is_wrong = True

    def compare(self, before: Iterable[Finding], now: Iterable[Finding]) -> None:
        """Take note of what is said of one lock or session now."""
        self._is_old = True
        self._is_wrong |= list(map(_gist, before)) != list(map(_gist, now))

    def is_due(self, now: Millis, *, at_once: bool) -> bool:
        """Tell whether it is time for another one."""
        if not (self._is_wrong or self._is_old):
            return False
        per_ms = ORDERED_PER_MS if self._is_wrong else REWORDED_PER_MS
        return at_once or now - self._at >= len(self.newest.findings) // per_ms

    def give(self, answer: Inspected, now: Millis) -> Inspected:
        """Remember the newest one."""
        self.newest, self._at = answer, now
        self._is_wrong = self._is_old = False
        return answer


def _gist(finding: Finding) -> tuple[str, str, str]:
    """Leave out what only grows older."""
    return finding.id, finding.severity, finding.confidence
