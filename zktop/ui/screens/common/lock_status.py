"""The status of a lock in a word: its worst problem, how bad it is, and whether it is confirmed.

Only confirmed problems are red. A question mark means "likely", for terminals without colours.
"""

from typing import Final, NamedTuple

from zktop.model.findings.catalogue import RANK, RULES
from zktop.model.findings.finding import SEVERITIES, Finding
from zktop.model.format import several
from zktop.model.locks.lock import Lock
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.inks import Ink
from zktop.ui.styled_text import Line, Run

CODES: Final = {rule.id: rule.code for rule in RULES if rule.code}
OTHER_CODE: Final = "!"  # for a finding whose rule has no code of its own
# By the code of a rule: the word in the list of locks, and its meaning.
WORDS: Final = {
    "DED": ("DEADLOCK", "deadlock"),
    "TWO": ("2 OWNERS", "two clients may hold it"),
    "DEL": ("NODE GONE", "the node of its holder was deleted"),
    "FOR": ("IN THE WAY", "a foreign child is in the way"),
    "ORP": ("ORPHAN", "orphan: no client will ever release it"),
    "GHO": ("GHOST", "ghost of an earlier attempt"),
    "WAK": ("NO WAKE-UP", "a wake-up was lost"),
    "SIL": ("SILENT", "a client is silent"),
    "FLP": ("FLAPS", "a client keeps losing its connection"),
    "NUM": ("NUMBERS", "sequence numbers run out"),
    "SLF": ("SELF-WAIT", "waits for itself"),
    "ORD": ("ORDER", "acquired in different orders"),
    "LEA": ("LEASES", "leases do not add up"),
    "STK": ("STUCK", "its holder seems stuck"),
    "HRD": ("HERD", "a release wakes a herd"),
    "POL": ("POLLS", "polls instead of watching"),
    "LNG": ("SLOW", "held unusually long"),
    "QUE": ("JAM", "its queue does not shrink"),
    "STV": ("STARVES", "a client starves"),
    "NEW": ("RECREATED", "deleted and created again"),
    "NOL": ("NO LOCK", "a named root that is not a lock"),
    "LCK": ("DENIED", "not readable: denied by an ACL"),
}
PILLS: Final[dict[Ink, Ink]] = {"critical": "alarm", "warning": "caution"}
QUIET_RANK: Final = 10_000  # the rank of a lock without problems


class LockStatus(NamedTuple):
    """The status of a lock. The smaller its rank, the worse it is."""

    code: str
    ink: Ink
    rank: int = QUIET_RANK
    words: str = ""  # that a filter can match
    case: str | None = None  # the id of the finding or deadlock
    sentence: str = ""

    @property
    def word(self) -> str:
        """Its word in the list of locks."""
        code = self.code.rstrip("?")
        return WORDS.get(code, (code, ""))[0]


def pill(ink: Ink) -> Ink:
    """Return the filled form of an ink, where it has one."""
    return PILLS.get(ink, ink)


def state_cell(status: LockStatus) -> Line:
    """Draw the status as a word. A problem is a filled pill, and a likely one has a `?`."""
    sign = "?" if status.code.endswith("?") else ""
    return (Run(f" {status.word}{sign} ", pill(status.ink)),)


OK: Final = LockStatus("ok", "good", words="ok")
FREE: Final = LockStatus("free", "dim", words="free")
LOCKED: Final = LockStatus("LCK", "unknown", QUIET_RANK - 1, "LCK error hidden")
NO_LOCK: Final = LockStatus("NOL", "unknown", QUIET_RANK - 1, "NOL error no lock")


def status_of(finding: Finding) -> LockStatus:
    code = CODES.get(finding.rule, OTHER_CODE)
    is_sure = finding.is_sure
    return LockStatus(
        code if is_sure else f"{code}?",
        ink_of(finding),
        1_000 * SEVERITIES.index(finding.severity) + RANK[finding.rule],
        f"{code} {finding.rule} {finding.name} {finding.severity}",
        finding.id,
        finding.sentence,
    )


def ink_of(finding: Finding) -> Ink:
    """Return the ink for the severity and confidence of a finding."""
    if finding.severity == "info":
        return "info"
    if finding.confidence == "C1":
        return "dim"
    is_red = finding.severity == "critical" and finding.is_sure
    return "critical" if is_red else "warning"


def no_locks(report: Report) -> str:
    """Return the clause about named roots that are not locks; empty if there are none."""
    paths = [lock.path for lock in report.no_locks]
    what = "is not a lock" if len(paths) == 1 else "are not locks"
    return f"{several(paths)} {what}" if paths else ""


def deadlock_name(deadlock: Deadlock) -> str:
    """Return the number of a deadlock in this run: `#1`."""
    return f"#{deadlock.number}"


def clients_of(deadlock: Deadlock) -> str:
    """Return the names of some clients of a deadlock, and the number of others."""
    return several((step.name for step in deadlock.steps), len(deadlock.actors))


def ink_of_deadlock(deadlock: Deadlock) -> Ink:
    """Return the ink of a deadlock: red only if it is confirmed."""
    return "critical" if deadlock.is_sure else "warning"


def status_without_finding(lock: Lock) -> LockStatus:
    if lock.error is not None:
        return NO_LOCK if lock.is_not_a_lock else LOCKED
    return OK if any(queue.members for queue in lock.queues) else FREE


def legend() -> list[Line]:
    """Return the lines that explain the codes."""
    return [
        (Run(f"{word:<11}", "strong"), Run(f"{code}  ", "dim"), Run(meaning))
        for code, (word, meaning) in WORDS.items()
    ]


def deadlock_status(deadlock: Deadlock) -> LockStatus:
    is_sure = deadlock.is_sure
    return LockStatus(
        "DED" if is_sure else "DED?",
        ink_of_deadlock(deadlock),
        RANK[deadlock.rule],
        f"DED {deadlock_name(deadlock)} {deadlock.rule} deadlock {deadlock.kind} critical",
        deadlock.id,
        deadlock.sentence,
    )
