"""Root blockers: the clients that others wait for, and that wait for no other client.

Also deadlocks: clients that wait for each other. Each has a line with the reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from zktop.model.actors import BY_NAME, STRANDED, UNKNOWN, UNOWNED, session_of
from zktop.model.facts import Session, split
from zktop.model.findings.finding import SURE, Finding
from zktop.model.format import middle, short
from zktop.model.locks.lock import Lock
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.root_blockers import RootBlocker
from zktop.ui.screens.common.format import BLOCKED_CELLS, blocked_seconds
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.screens.common.status_codes import ink_of, ink_of_deadlock
from zktop.ui.styled_text import Ink, Line, fitted, joined, line, right
from zktop.ui.view_state import Selection

WHO_CELLS: Final = 36
WIDE_WHO_CELLS: Final = 46
WIDE: Final = 100  # cells of the line
MAX_NAMES: Final = 3  # of a deadlock
MAX_HOLDERS: Final = 16  # of one lock that are searched


Owner = Session | Text  # a session, or the label in a node without a session


class Holding(NamedTuple):
    """A lock that a root blocker holds, its node there, and the label in it."""

    path: Text
    node: Text
    label: Text | None


Holders = Mapping[Owner, Holding]


def holdings(locks: Iterable[Lock], wanted: AbstractSet[Owner]) -> dict[Owner, Holding]:
    """Find one lock of each wanted owner, if possible one that others wait for.

    The search ends early if the locks with the most waiting come first.
    """
    found: dict[Owner, Holding] = {}
    idle: dict[Owner, Holding] = {}
    for lock in locks:
        if len(found) == len(wanted):
            break
        for member in lock.holders[:MAX_HOLDERS]:
            owner = member.owner or member.label
            if owner is not None and owner in wanted:
                known = found if lock.waiters else idle
                known.setdefault(owner, Holding(lock.path, member.node, member.label))
    return idle | found


def owners_of(roots: Iterable[RootBlocker]) -> set[Owner]:
    """Return the owners of these root blockers, but not of those that wait for each other."""
    actors = (root.actors[0] for root in roots if root.core is None)
    return {session_of(one) or Text(one.removeprefix(BY_NAME)) for one in actors}


class Blocker(NamedTuple):
    """One root blocker as text, and the screen with more about it."""

    who: str
    why: str
    ink: Ink
    blocked: int
    blocked_ms: int
    is_lower_bound: bool
    link: LineLink


def blockers(report: Report, locks: Iterable[Lock], at_most: int) -> Iterator[Blocker]:
    """Return the root blockers with the longest total wait behind them."""
    roots = report.blockers[:at_most]
    held = holdings(locks, owners_of(roots))
    return (_blocker(root, report, held) for root in roots)


def _blocker(root: RootBlocker, report: Report, held: Holders) -> Blocker:
    deadlock = next((one for one in report.deadlocks if set(root.actors) & set(one.actors)), None)
    if deadlock is not None and root.core is not None:
        is_sure = deadlock.confidence in SURE
        why = "deadlock" if is_sure else "probable deadlock"
        ink = ink_of_deadlock(deadlock)
        return _made(
            root, _ring(deadlock), why, ink, LineLink("findings", Selection(case=deadlock.id))
        )
    actor = root.actors[0]
    session = session_of(actor)
    if session is not None:
        return _of_session(root, session, report, held.get(session))
    if root.core is not None:
        who, link = ", ".join(root.actors), LineLink("findings", Selection())
        return _made(root, who, "wait for each other", "warning", link)
    return _without_session(root, actor, report, held)


def _ring(deadlock: Deadlock) -> str:
    names = [step.name for step in deadlock.steps]
    some = " + ".join(names[:MAX_NAMES])
    more = len(names) - MAX_NAMES
    return f"{some} + {more} more" if more > 0 else some


def _of_session(
    root: RootBlocker, session: Session, report: Report, held: Holding | None
) -> Blocker:
    name = report.client_names(session, held.label if held else None)
    bad = (one for one in report.findings if one.severity != "info")
    why, ink = _why(one for one in bad if session in one.sessions) or _holding(held)
    return _made(root, name, why, ink, LineLink("sessions", Selection(session=session)))


def _without_session(root: RootBlocker, actor: str, report: Report, held: Holders) -> Blocker:
    """Describe a node that no session owns, by its name or by the label in it."""
    prefix = next(
        (one for one in (UNOWNED, STRANDED, UNKNOWN, BY_NAME) if actor.startswith(one)), ""
    )
    rest = Text(actor.removeprefix(prefix))
    if prefix in (UNOWNED, STRANDED, UNKNOWN):
        one = Holding(*split(rest), None)
        who = f"{short(one.node)} in {one.path}"
    elif (known := held.get(rest)) is not None:
        one, who = known, rest
    else:
        return _made(root, rest, "holds", "plain", LineLink("locks", Selection()))
    about = (f for f in report.findings if one.path in f.locks and one.node in f.nodes)
    why, ink = _why(about) or _WITHOUT_SESSION.get(prefix) or _holding(one)
    return _made(root, who, why, ink, LineLink("lock", Selection(path=one.path, node=one.node)))


_WITHOUT_SESSION: Final[dict[str, tuple[str, Ink]]] = {
    UNOWNED: ("persistent node: does not go away with any session", "warning"),
    STRANDED: ("left behind by a failed client: goes away only with its session", "warning"),
    UNKNOWN: ("owner unknown", "unknown"),
}


def _holding(held: Holding | None) -> tuple[str, Ink]:
    return (f"holds {held.path}" if held else "is ahead of others in a queue"), "plain"


def _why(findings: Iterable[Finding]) -> tuple[str, Ink] | None:
    """Return the worst finding; findings come in that order."""
    finding = next((one for one in findings if one.severity != "info"), None)
    if finding is None:
        return None
    return f"{finding.name.replace('-', ' ')}: {finding.sentence}", ink_of(finding)


def _made(root: RootBlocker, who: str, why: str, ink: Ink, link: LineLink) -> Blocker:
    return Blocker(who, why, ink, root.blocked, root.blocked_ms, bool(root.undated), link)


def blocker_head(width: int) -> Line:
    """Draw the head of the pane."""
    who = _who(width)
    title = " WHO IS BLOCKING"
    return joined(
        [
            fitted(line((title, "title")), who + 4),
            line(("BLOCKED", "title")),
            line(("BLOCKED*s", "title")),
            line(("WHY", "title")),
        ]
    )


def blocker_line(number: int, one: Blocker, width: int, *, is_ascii: bool = False) -> Line:
    """Draw one root blocker."""
    bound = (">=" if is_ascii else "≥") if one.is_lower_bound else ""
    who = line((middle(one.who, _who(width) - 1), "strong"))
    return joined(
        [
            line((f" {number:>2}", "strong")),
            fitted(who, _who(width) - 1),
            right(line(str(one.blocked)), 7),
            right(line(blocked_seconds(one.blocked_ms, bound)), BLOCKED_CELLS),
            line((one.why, one.ink)),
        ]
    )


def _who(width: int) -> int:
    return WHO_CELLS if width < WIDE else WIDE_WHO_CELLS
