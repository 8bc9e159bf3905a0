"""Blocking tree: root blockers, and below each one the waiters for its locks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from zktop.model.actors import BY_NAME, STRANDED, UNKNOWN, UNOWNED, Actors, session_of
from zktop.model.facts import Session, session_text, split
from zktop.model.format import count, fold_name, short
from zktop.model.locks.lock import Member, absolute
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.root_blockers import RootBlocker
from zktop.ui.past.states import locks_held, name_in
from zktop.ui.screens.common.format import MODE_LETTERS, with_spaces
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.status_codes import deadlock_name, ink_of_deadlock
from zktop.ui.styled_text import Ink, Line, Run, line
from zktop.ui.view_state import Selection

MAX_ROOTS: Final = 20
MAX_SEARCHED: Final = 500  # waiters of one lock that are checked for locks of their own
MAX_NESTED: Final = 6  # waiters of one lock that are drawn with the locks they hold
MAX_DEPTH: Final = 5
MAX_LINES: Final = 300
MAX_HOLDERS: Final = 20  # holders of one lock that are compared with a name


class BlockedLock(NamedTuple):
    """A held lock and its waiters."""

    path: Text
    waiters: Sequence[Member]
    nested: tuple[Member, ...]  # waiters that hold locks others wait for


def write_blocking_tree(writer: LineWriter, report: Report) -> None:
    """Write the tree; each line links to its lock or session."""
    roots = report.blockers
    writer.title("WHO IS BLOCKING", "root blockers first; below each, the waiters for its locks")
    if not roots:
        if report.is_lost:
            writer.say("No client was waiting when the connection dropped.", "unknown")
        else:
            writer.say("✓ No client is waiting.", "good")
        return
    for root in roots[:MAX_ROOTS]:
        _Tree(writer, report).root(root)
        if len(writer.lines) > MAX_LINES:
            break
    if len(roots) > MAX_ROOTS:
        writer.say(f"… and {len(roots) - MAX_ROOTS} more root blockers with fewer waiters", "dim")


class _Tree:
    """Writes one root and the waiters below it, each session once."""

    def __init__(self, writer: LineWriter, report: Report) -> None:
        self.writer, self.report = writer, report
        self.seen: dict[Session, str] = {}

    def root(self, root: RootBlocker) -> None:
        dead = deadlock_of(root, self.report)
        self.writer.write((*self._title(root, dead), *_blocked(root)), self._link(root, dead))
        sessions = [one for actor in root.actors if (one := session_of(actor)) is not None]
        for session in sessions:
            self.seen[session] = f"back to {self._name(session)}"
        for session in sessions:
            self._below(session, "  ", 1)
        if not sessions:
            self._below_without_session(root)

    def _title(self, root: RootBlocker, dead: Deadlock | None) -> Line:
        if dead is not None:
            names = [step.name for step in dead.steps[:3]]
            more = f" +{len(dead.actors) - 3}" if len(dead.actors) > 3 else ""  # noqa: PLR2004  three names fit
            return line(
                (f" {' + '.join(names)}{more}", "strong"),
                (f"  DEADLOCK {deadlock_name(dead)}", ink_of_deadlock(dead)),
            )
        actor = root.actors[0]
        session = session_of(actor)
        if session is not None:
            return line((f" {self._name(session)}", "strong"), ("  not waiting itself", "holds"))
        place = place_of(actor)
        if place is not None and actor.startswith(UNKNOWN):
            return line((f" {absolute(*place)}", "strong"), ("  owner hidden", "unknown"))
        if place is not None:
            path, node = place
            says = "has no owner: nothing will remove it"
            if actor.startswith(STRANDED):
                says = "stranded: its client failed"
            return line((f" {short(node)} in {path}", "strong"), (f"  {says}", "warning"))
        name = actor.removeprefix(BY_NAME)
        text = "has no session: its node outlives it" if actor != name else "not waiting itself"
        return line((f" {name}", "strong"), (f"  {text}", "warning" if actor != name else "holds"))

    def _link(self, root: RootBlocker, dead: Deadlock | None) -> LineLink | None:
        if dead is not None:
            return LineLink("lock", Selection(path=dead.locks[0]), f"root {dead.id}")
        actor = root.actors[0]
        session = session_of(actor)
        if session is not None:
            return LineLink("sessions", Selection(session=session), f"root {actor}")
        if (place := place_of(actor)) is not None:
            path, node = place
            return LineLink("lock", Selection(path=path, node=node), f"root {actor}")
        return None

    def _below(self, session: Session, indent: str, depth: int) -> None:
        for path in locks_held(self.report, session):
            branch = self._branch(path)
            if branch is not None and len(self.writer.lines) < MAX_LINES:
                self._write(branch, indent, depth)

    def _below_without_session(self, root: RootBlocker) -> None:
        """Write the waiters below an actor without a session."""
        for actor in root.actors:
            for path, _ in held_by(actor, self.report):
                branch = self._branch(path)
                if branch is not None:
                    self._write(branch, "  ", 1)

    def _branch(self, path: str) -> BlockedLock | None:
        part = self.report.parts.get(Text(path))
        if part is None or not part.lock.waiters:
            return None
        waiters = part.lock.waiters
        nested = (
            one for one in waiters[:MAX_SEARCHED] if self._is_nested(one.owner, part.lock.path)
        )
        return BlockedLock(part.lock.path, waiters, tuple(nested))

    def _is_nested(self, session: Session, path: Text) -> bool:
        held = locks_held(self.report, session)
        return any(one != path and self.report.parts[one].lock.waiters for one in held)

    def _write(self, branch: BlockedLock, indent: str, depth: int) -> None:
        link = LineLink(
            "lock", Selection(path=branch.path), f"{indent}{branch.path} {len(self.writer.lines)}"
        )
        drawn = line(
            (f"{indent}├ ", "dim"), (branch.path, "strong"), " ◀ ", *_crowd(branch.waiters)
        )
        self.writer.write(drawn, link)
        for member in branch.nested[:MAX_NESTED]:
            self._nested(member, branch, indent + "│   ", depth)
        hidden = len(branch.nested) - MAX_NESTED
        if hidden > 0:
            more = f"… {count(hidden, 'more waiter')} that block others"
            self.writer.write(line((f"{indent}│   {more}", "dim")))

    def _nested(self, member: Member, branch: BlockedLock, indent: str, depth: int) -> None:
        name = f"{MODE_LETTERS[member.mode]} {self._name(member.owner, member)}"
        subject = Selection(path=branch.path, node=member.node, session=member.owner)
        link = LineLink("lock", subject, f"{indent}{branch.path}/{member.node}")
        if member.owner in self.seen:
            drawn = line(
                (f"{indent}└ ", "dim"), name, (f"  ↑ {self.seen[member.owner]}", "critical")
            )
            self.writer.write(drawn, link)
            return
        self.seen[member.owner] = f"also waits in {branch.path}, see there"
        self.writer.write(
            line((f"{indent}└ ", "dim"), name, ("  also blocks others", "warning")), link
        )
        if depth < MAX_DEPTH:
            self._below(member.owner, indent + "    ", depth + 1)

    def _name(self, session: Session, member: Member | None = None) -> str:
        if member is None:
            return name_in(self.report, session) or session_text(session)
        return self.report.client_names(session, member.label)


def _crowd(waiters: Sequence[Member]) -> Iterator[Run]:
    """Number of waiters, and their most frequent names."""
    named = [fold_name(label) for member in waiters[:MAX_SEARCHED] if (label := member.label)]
    classes = Counter(named).most_common(3)
    text = ", ".join(name if number == 1 else f"{name} {number}" for name, number in classes)
    yield Run(count(len(waiters), "waiter"), "waits")
    if text:
        yield Run(f" ({text}{', …' if len(set(named)) > len(classes) else ''})", "dim")


def _blocked(root: RootBlocker) -> Line:
    bound = "≥" if root.undated else ""
    ink: Ink = "waits"
    seconds = f"{bound}{with_spaces(root.blocked_ms // 1000)} s in total"
    return line("   blocks ", (with_spaces(root.blocked), ink), (f"  ({seconds})", "dim"))


def deadlock_of(root: RootBlocker, report: Report) -> Deadlock | None:
    """The deadlock whose clients are this root blocker."""
    if root.core is None:
        return None
    return next((one for one in report.deadlocks if set(root.actors) & set(one.actors)), None)


def place_of(actor: str) -> tuple[Text, Text] | None:
    """The lock and the node of an actor that is a node without a session; None for others."""
    if not actor.startswith((UNOWNED, STRANDED, UNKNOWN)):
        return None
    return split(Text(actor.partition(":")[2]))


def held_by(actor: str, report: Report) -> Iterator[tuple[Text, Text]]:
    """The locks that an actor without a session holds, and its node in each."""
    place = place_of(actor)
    if place is not None:
        yield place
        return
    named = Actors(report.settings)
    for path, part in report.parts.items():
        for member in part.lock.holders[:MAX_HOLDERS]:
            if named.of(part.lock, member) == actor:
                yield path, member.node
                break
