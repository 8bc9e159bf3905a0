"""Root blockers: who stands at the root of all waiting. A lock is never to blame, somebody is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from zktop.model.actors import BY_NAME, NOBODY, UNKNOWN, session_of
from zktop.model.facts import Session, session_text, split
from zktop.model.findings.finding import Finding
from zktop.model.findings.words import short
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.forest import Root
from zktop.ui.ink import Ink, Line, fitted, joined, line, right
from zktop.ui.moment import Subject

WHO: Final = 30
NARROW: Final = 100


class Held(NamedTuple):
    """What somebody at the root of waiting holds, and what he calls himself."""

    path: Text
    label: Text | None


class Blocker(NamedTuple):
    """One root blocker in words, and the page that tells more."""

    who: str
    why: str
    ink: Ink
    blocked: int
    blocked_ms: int
    is_lower_bound: bool
    page: str
    subject: Subject


def blockers(report: Report, held: Mapping[Session, Held], at_most: int) -> Iterator[Blocker]:
    """Give those with the most waiting behind them."""
    for root in report.blockers[:at_most]:
        yield _blocker(root, report, held)


def _blocker(root: Root, report: Report, held: Mapping[Session, Held]) -> Blocker:
    dead = next((one for one in report.deadlocks if set(root.actors) & set(one.actors)), None)
    if dead is not None and root.core is not None:
        return _made(root, _ring(dead), "deadlock", "critical", "findings", Subject(case=dead.id))
    actor = root.actors[0]
    session = session_of(actor)
    if session is not None:
        return _of_session(root, session, report, held.get(session))
    if root.core is not None:
        return _made(root, ", ".join(root.actors), "wait for each other", "warning", "findings",
                     Subject())  # fmt: skip
    return _without_session(root, actor, report)


def _ring(dead: Deadlock) -> str:
    names = [step.owner or step.actor for step in dead.steps]
    some = " + ".join(names[:3])
    return f"{some} + {len(names) - 3} more" if len(names) > 3 else some  # noqa: PLR2004  three names fit


def _of_session(root: Root, session: Session, report: Report, held: Held | None) -> Blocker:
    name = report.naming(session, held.label if held else None)
    why = _why(finding for finding in report.findings if session in finding.sessions)
    where = f"holds {held.path}" if held else ""
    said, ink = why or (where or "holds", "plain")
    who = name or session_text(session)
    return _made(root, who, said, ink, "sessions", Subject(session=session))


def _without_session(root: Root, actor: str, report: Report) -> Blocker:
    prefix = next((one for one in (NOBODY, UNKNOWN, BY_NAME) if actor.startswith(one)), "")
    rest = actor.removeprefix(prefix)
    if prefix == NOBODY:
        path, node = split(rest)
        why = _why(one for one in report.findings if node in one.nodes and path in one.locks)
        said, ink = why or ("persistent node: no session's end removes it", "warning")
        subject = Subject(path=path, node=node)
        return _made(root, f"{short(node)} in {path}, no owner", said, ink, "lock", subject)
    if prefix == UNKNOWN:
        path, node = split(rest)
        subject = Subject(path=path, node=node)
        return _made(root, f"{short(node)} in {path}", "its owner is hidden", "unknown", "lock",
                     subject)  # fmt: skip
    return _made(root, rest, "holds", "plain", "sessions", Subject())


def _why(findings: Iterable[Finding]) -> tuple[str, Ink] | None:
    """Take the worst that was found about it; findings come in that order."""
    finding = next((one for one in findings if one.severity != "info"), None)
    if finding is None:
        return None
    ink: Ink = "critical" if finding.severity == "critical" else "warning"
    return finding.sentence, ink


def _made(root: Root, who: str, why: str, ink: Ink, page: str, subject: Subject) -> Blocker:
    return Blocker(
        who, why, ink, root.blocked, root.blocked_ms, bool(root.undated), page, subject
    )


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
    seconds = f"{bound}{one.blocked_ms // 1000:,}".replace(",", " ")
    return joined(
        [
            line((f" {number:>2}", "strong")),
            fitted(line((one.who, "strong")), _who(width) - 1),
            right(line(str(one.blocked)), 7),
            right(line(seconds), 9),
            line((one.why, one.ink)),
        ]
    )


def _who(width: int) -> int:
    return WHO + 6 if width < NARROW else WHO + 16
