"""Root blockers: who stands at the root of all waiting. A lock is never to blame, somebody is."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from zktop.model.actors import BY_NAME, STRANDED, UNKNOWN, UNOWNED, session_of
from zktop.model.facts import Session, split
from zktop.model.findings.finding import Finding
from zktop.model.format import middle, short
from zktop.model.locks.lock import Lock
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.root_blockers import RootBlocker
from zktop.ui.screens.common.format import BLOCKED_CELLS, blocked_seconds
from zktop.ui.screens.common.status_codes import SURE, ink_of, ink_of_deadlock
from zktop.ui.state import Selection
from zktop.ui.styled_text import Ink, Line, fitted, joined, line, right

WHO: Final = 30
NARROW: Final = 100
LOOKED_AT: Final = 16  # holders of one lock


Owner = Session | Text  # a session; the label of who holds by a node that has none


class Holding(NamedTuple):
    """What somebody at the root of waiting holds, and what he calls himself."""

    path: Text
    node: Text
    label: Text | None


Holders = Mapping[Owner, Holding]


def holdings(locks: Iterable[Lock], wanted: AbstractSet[Owner]) -> dict[Owner, Holding]:
    """Find what each of these holds: something that others wait for, where there is such.

    Locks with much waiting are best asked first.
    """
    found: dict[Owner, Holding] = {}
    idle: dict[Owner, Holding] = {}
    for lock in locks:
        if len(found) == len(wanted):
            break
        for member in lock.holders[:LOOKED_AT]:
            owner = member.owner or member.label
            if owner is not None and owner in wanted:
                known = found if lock.waiters else idle
                known.setdefault(owner, Holding(lock.path, member.node, member.label))
    return idle | found


def owners_of(roots: Iterable[RootBlocker]) -> set[Owner]:
    """Name those whose holdings are to be found."""
    actors = (root.actors[0] for root in roots if root.core is None)
    return {session_of(one) or Text(one.removeprefix(BY_NAME)) for one in actors}


class Blocker(NamedTuple):
    """One root blocker in words, and the page that tells more."""

    who: str
    why: str
    ink: Ink
    blocked: int
    blocked_ms: int
    is_lower_bound: bool
    page: str
    subject: Selection


def blockers(report: Report, locks: Iterable[Lock], at_most: int) -> Iterator[Blocker]:
    """Give those with the most waiting behind them."""
    roots = report.blockers[:at_most]
    held = holdings(locks, owners_of(roots))
    return (_blocker(root, report, held) for root in roots)


def _blocker(root: RootBlocker, report: Report, held: Holders) -> Blocker:
    dead = next((one for one in report.deadlocks if set(root.actors) & set(one.actors)), None)
    if dead is not None and root.core is not None:
        is_sure = dead.confidence in SURE
        said = "deadlock" if is_sure else "probable deadlock"
        ink = ink_of_deadlock(dead)
        return _made(root, _ring(dead), said, ink, "findings", Selection(case=dead.id))
    actor = root.actors[0]
    session = session_of(actor)
    if session is not None:
        return _of_session(root, session, report, held.get(session))
    if root.core is not None:
        return _made(root, ", ".join(root.actors), "wait for each other", "warning", "findings",
                     Selection())  # fmt: skip
    return _without_session(root, actor, report, held)


def _ring(dead: Deadlock) -> str:
    names = [step.name for step in dead.steps]
    some = " + ".join(names[:3])
    return f"{some} + {len(names) - 3} more" if len(names) > 3 else some  # noqa: PLR2004  three names fit


def _of_session(
    root: RootBlocker, session: Session, report: Report, held: Holding | None
) -> Blocker:
    name = report.client_names(session, held.label if held else None)
    bad = (one for one in report.findings if one.severity != "info")
    said, ink = _why(one for one in bad if session in one.sessions) or _holding(held)
    return _made(root, name, said, ink, "sessions", Selection(session=session))


def _without_session(root: RootBlocker, actor: str, report: Report, held: Holders) -> Blocker:
    """Name a node that no session owns, by itself or by who made it."""
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
        return _made(root, rest, "holds", "plain", "locks", Selection())
    about = (f for f in report.findings if one.path in f.locks and one.node in f.nodes)
    said, ink = _why(about) or _WITHOUT_SESSION.get(prefix) or _holding(one)
    return _made(root, who, said, ink, "lock", Selection(path=one.path, node=one.node))


_WITHOUT_SESSION: Final[dict[str, tuple[str, Ink]]] = {
    UNOWNED: ("persistent node: no session's end removes it", "warning"),
    STRANDED: ("stranded: its client failed; only the session's end removes it", "warning"),
    UNKNOWN: ("its owner is hidden", "unknown"),
}


def _holding(held: Holding | None) -> tuple[str, Ink]:
    return (f"holds {held.path}" if held else "goes before others in a queue"), "plain"


def _why(findings: Iterable[Finding]) -> tuple[str, Ink] | None:
    """Take the worst that was found about it; findings come in that order."""
    finding = next((one for one in findings if one.severity != "info"), None)
    if finding is None:
        return None
    return f"{finding.name.replace('-', ' ')}: {finding.sentence}", ink_of(finding)


def _made(
    root: RootBlocker, who: str, why: str, ink: Ink, page: str, subject: Selection
) -> Blocker:
    return Blocker(who, why, ink, root.blocked, root.blocked_ms, bool(root.undated), page, subject)


def blocker_head(width: int) -> Line:
    """Name the columns."""
    who = _who(width)
    title = " ROOT BLOCKERS (who, not which lock)"
    return joined(
        [
            fitted(line((title, "title")), who + 4),
            line(("BLOCKED", "title")),
            line(("BLOCKED*s", "title")),
            line(("WHY", "title")),
        ]
    )


def blocker_line(number: int, one: Blocker, width: int, *, is_ascii: bool = False) -> Line:
    """Draw one of them."""
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
    return WHO + 6 if width < NARROW else WHO + 16
