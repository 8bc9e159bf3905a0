"""The state of a lock in three letters: what is wrong there, how bad it is, and how sure that is.

Red is only for what is proven. A question mark says "probably" where there is no colour to say it.
"""

from typing import Final, NamedTuple

from zktop.model.findings.catalogue import RANK, RULES
from zktop.model.findings.finding import LETTERS, SEVERITIES, Finding
from zktop.model.locks.lock import Lock
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.styled_text import Ink, Line, Run

SURE: Final = ("C3", "C4")

CODES: Final = {rule.id: rule.code for rule in RULES if rule.code}
OTHER: Final = "!"  # a finding that has no letters of its own
QUIET_RANK: Final = 10_000


class LockStatus(NamedTuple):
    """What is shown of a lock's state; the smaller the rank, the worse."""

    code: str
    ink: Ink
    rank: int = QUIET_RANK
    words: str = ""  # what a filter finds
    case: str | None = None  # the id of the finding that says so
    sentence: str = ""


OK: Final = LockStatus("ok", "good", words="ok")
FREE: Final = LockStatus("free", "dim", words="free")
LOCKED: Final = LockStatus("LCK", "unknown", QUIET_RANK - 1, "LCK error hidden")


def status_of(finding: Finding) -> LockStatus:
    """Give the state that a finding puts its locks into."""
    code = CODES.get(finding.rule, OTHER)
    is_sure = finding.confidence in SURE
    return LockStatus(
        code if is_sure else f"{code}?",
        ink_of(finding),
        1_000 * SEVERITIES.index(finding.severity) + RANK[finding.rule],
        f"{code} {finding.rule} {finding.name} {finding.severity}",
        finding.id,
        finding.sentence,
    )


def ink_of(finding: Finding) -> Ink:
    """Give the ink of how bad it is, as far as that is sure."""
    if finding.severity == "info":
        return "info"
    if finding.confidence == "C1":
        return "dim"
    is_red = finding.severity == "critical" and finding.confidence in SURE
    return "critical" if is_red else "warning"


def deadlock_name(deadlock: Deadlock) -> str:
    """Call a deadlock by the number that it has in this run."""
    return f"#{deadlock.number}"


def ink_of_deadlock(deadlock: Deadlock) -> Ink:
    """Give the ink of a deadlock: red is for what is proven."""
    return "critical" if deadlock.confidence in SURE else "warning"


def status_without_finding(lock: Lock) -> LockStatus:
    """Give the state of a lock that no finding is about."""
    if lock.error is not None:
        return LOCKED
    return OK if any(line.members for line in lock.queues) else FREE


def legend() -> list[Line]:
    """Say what the letters mean."""
    return [(Run(f"{code:<5}", "strong"), Run(words)) for code, words in LETTERS.items()]


def deadlock_status(deadlock: Deadlock) -> LockStatus:
    """Give the state of the locks in a deadlock, from its first moment on."""
    is_sure = deadlock.confidence in SURE
    return LockStatus(
        "DED" if is_sure else "DED?",
        ink_of_deadlock(deadlock),
        RANK[deadlock.rule],
        f"DED {deadlock_name(deadlock)} {deadlock.rule} deadlock {deadlock.kind} critical",
        deadlock.id,
        deadlock.sentence,
    )
