"""One session in detail: what it holds and waits for, and what happens when it dies."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from zktop.model.contender import View
from zktop.model.facts import Millis, Session, session_text
from zktop.model.findings.words import count, several, short
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.draw.clock import exact
from zktop.ui.draw.contact import expires_at, left, strip
from zktop.ui.draw.host import is_silent, of_host
from zktop.ui.draw.sessions import Row
from zktop.ui.draw.times import age
from zktop.ui.ink import Ink, Line, Run, line, wrapped
from zktop.ui.roster import Places, Roster

LETTERS: Final = {"exclusive": "X", "read": "R", "write": "W", "lease": "S", "candidate": "C"}
VERDICTS: Final[dict[str, tuple[str, Ink]]] = {
    "confirmed": ("watches what it must", "good"),
    "elsewhere": ("WATCHES ELSEWHERE", "critical"),
    "missing": ("NO WATCH", "critical"),
    "invisible": ("its watch cannot be seen", "unknown"),
    "unknown": ("its watches are unknown", "unknown"),
    "none-needed": ("needs no watch", "dim"),
}
LABEL: Final = 11
SHOWN: Final = 6  # places of one session that are listed; the others are counted
WATCHED: Final = 6
LOOKED_AT: Final = 200  # waiters that may be next
SEARCHED: Final = 5_000  # actors of a blast radius; more are "at least so many"

Described = tuple[list[Line], list[Text | None]]


def details(row: Row, contacts: Iterable[Millis], width: int, *, is_ascii: bool) -> Described:
    """Draw one session; beside the lines, the lock that each line is about."""
    made = _Lines(width)
    made.add(_head(row))
    _places(made, row, is_ascii=is_ascii)
    made.put("watches", _watched(row))
    _contact(made, row, contacts)
    presence = row.presence
    if presence is not None and is_silent(presence):
        _host(made, row)
    for path, text in _if_it_dies(row):
        made.put("if it dies", text, path)
    made.put("", _blast(row))
    for case in row.danger.cases:
        ink: Ink = "critical" if case.severity == "critical" else "warning"
        made.put("finding", f"{case.sentence} ({case.rule}, {case.confidence})", case.lock, ink)
    if presence is not None and not is_silent(presence):
        _host(made, row)
    return made.lines, made.targets


def _host(made: "_Lines", row: Row) -> None:
    beside = of_host(row.scene.report.sight, row.session)
    if beside:
        made.put("host", beside)


class _Lines:
    """Lines with a label at their left, and what each is about."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.lines: list[Line] = []
        self.targets: list[Text | None] = []

    def add(self, drawn: Line, about: Text | None = None) -> None:
        self.lines.append(drawn)
        self.targets.append(about)

    def labelled(self, label: str, drawn: Line, about: Text | None = None) -> None:
        before = f"  {label:<{LABEL}}"
        self.add((Run(before, "dim"), *drawn), about)

    def put(self, label: str, text: str, about: Text | None = None, ink: Ink = "plain") -> None:
        room = self._width - LABEL - 3
        for number, folded in enumerate(wrapped(text, room, ink)):
            self.labelled("" if number else label, folded, about if not number else None)


def _head(row: Row) -> Line:
    presence = row.presence
    pieces: list[Run] = [Run("SELECTED ", "title"), Run(session_text(row.session), "strong")]
    if row.name:
        pieces.append(Run(f"  {row.name}", "ours" if row.is_ours else "strong"))
    if row.is_ours:
        pieces.append(Run("  (a contender of ours)", "ours"))
    if presence is not None:
        pieces.append(Run(f"  from {presence.client} on {presence.server}"))
        if presence.established is not None:
            pieces.append(Run(f"  since {exact(presence.established)[:8]}"))
    timeout = row.scene.report.sight.timeout_ms(row.session)
    if timeout is not None:
        pieces.append(Run(f"  timeout {timeout / 1000:g}s"))
    return tuple(pieces)


def _places(made: _Lines, row: Row, *, is_ascii: bool) -> None:
    places, report = row.places, row.scene.report
    for label, known in (("holds", places.holds), ("waits for", places.waits)):
        for path, member in islice(known.items(), SHOWN):
            view = report.view(path)
            if view is not None:
                made.labelled(label, _place(view, member, report.now, is_ascii=is_ascii), path)
                label = ""  # noqa: PLW2901  once is enough
        if len(known) > SHOWN:
            made.put("", f"... and {count(len(known) - SHOWN, 'more lock')}")
        if not known:
            made.labelled(label, line(("-", "dim")))


def _place(view: View, member: Member, now: Millis, *, is_ascii: bool) -> Line:
    one = view.contender(member)
    since = age(one.since, one.since_is, now, is_ascii=is_ascii)
    said: list[Run] = [
        Run(f"{LETTERS[one.mode]} {view.lock.path}", "holds" if one.state == "holds" else "waits"),
        Run(f" {short(member.node)}", "dim"),
        Run(f"  {since}", "strong"),
    ]
    if one.state == "holds":
        usual = view.history.usual_hold
        if usual is not None:
            said.append(Run(f", 99 of 100 holds last less than {usual[1] / 1000:g}s", "dim"))
        behind = len(view.lock.waiters) + len(view.lookout.crowd)
        ink: Ink = "waits" if behind else "dim"
        said.append(Run(f"  {count(behind, 'waits', 'wait')} behind", ink))
        return tuple(said)
    ahead = _ahead(one.blocked_by)
    word, ink = VERDICTS[one.verdict]
    state = {"standby": "stands by", "pending": "on its way in"}.get(one.state, f"behind {ahead}")
    return (*said, Run(f"  {state}"), Run(f"  {word}", ink))


def _ahead(nodes: Sequence[Text]) -> str:
    if not nodes:
        return "nobody that is known"
    name = nodes[0].rpartition("/")[2]
    number = name[-10:] if name[-9:].isdigit() else short(name)
    return f"{number}, {len(nodes) - 1} more" if len(nodes) > 1 else number


def _watched(row: Row) -> str:
    watched = row.scene.report.sight.watched(row.session)
    if watched is None:
        return "unknown: no watch table of its server could be read"
    if not watched:
        return "nothing that a table shows (child watches are never in it)"
    shown = [short(path) for path in sorted(watched)[:WATCHED]]
    more = f" and {len(watched) - WATCHED} more" if len(watched) > WATCHED else ""
    return ", ".join(shown) + more


def _contact(made: _Lines, row: Row, contacts: Iterable[Millis]) -> None:
    report = row.scene.report
    presence, timeout, span = row.presence, report.sight.timeout_ms(row.session), row.left
    if presence is None or timeout is None or presence.contact is None:
        why = "no server says when it was heard of"
        if report.sight.gone(row.session, row.places.newest):
            why = f"connected to no server; expires in {left(span)} unless it comes back"
        made.put("contact", why, None, "unknown" if span is None else "critical")
        return
    known = sorted({*contacts, presence.contact})
    for number, drawn in enumerate(strip(known, report.now, timeout, span, made_width(made))):
        made.labelled("" if number else "contact", drawn)
    if span is not None:
        in_how_long = f"in {left(span)}" if span.high else "due, by the last table of its server"
        when = f"{expires_at(report.now, span)} ({in_how_long}), should it stay silent"
        made.put("expires", when)


def made_width(made: _Lines) -> int:
    """Give the cells that a strip may take beside its label."""
    return max(20, min(made._width - LABEL - 3, 100))  # noqa: SLF001  its own kind


def _if_it_dies(row: Row) -> Iterator[tuple[Text | None, str]]:
    """Say for each lock who is next when the session is gone."""
    report, places = row.scene.report, row.places
    for path in islice(places.holds, SHOWN):
        view = report.view(path)
        if view is not None:
            yield path, _inheritance(view, row.session)
    if places.waits:
        paths = several(places.waits)
        yield None, f"its places in {paths} go; those behind it move up"
    if not places.holds and not places.waits:
        yield None, "no lock changes"


def _inheritance(view: View, session: Session) -> str:
    lock = view.lock
    kept = [one for one in lock.holders if one.owner != session]
    lasting = [one for one in lock.holders if one.owner == session and not one.releases]
    if lasting:
        return f"{lock.path} stays held: its node is persistent, so nobody frees it"
    heirs = [one for one in lock.waiters[:LOOKED_AT] if _is_freed(view, one, session)]
    if heirs:
        who = several(_who(view, one) for one in heirs)
        return f"{lock.path} goes to {who}"
    if kept:
        still = f" still waits for {several(_who(view, one) for one in kept)}"
        first = lock.waiters[0] if lock.waiters else None
        tail = f"; {_who(view, first)}{still}" if first else ""
        return f"{lock.path} keeps {count(len(kept), 'other holder')}{tail}"
    if lock.waiters:
        return f"{lock.path} is freed; who is next depends on more than this session"
    return f"{lock.path} is free"


def _is_freed(view: View, member: Member, session: Session) -> bool:
    before = view.lock.blocked_by(member)
    return bool(before) and all(one.owner == session for one in before)


def _who(view: View, member: Member) -> str:
    return view.naming(member.owner, member.label) or session_text(member.owner)


def _blast(row: Row) -> str:
    holds = row.places.holds
    behind, is_all = behind_it(row.scene.report, row.scene.roster, row.session)
    if not holds:
        return "It holds nothing, so nobody waits for it to let go."
    many = count(len(holds), "lock")
    if not behind:
        return f"It holds {many}; nobody waits behind it."
    names = several(row.scene.roster.name(one) or session_text(one) for one in behind[:4])
    number = f"{'' if is_all else 'at least '}{count(len(behind), 'session')}"
    at_once = ", all freed at once" if len(holds) > 1 else ""
    more = f" and {len(behind) - 4} more" if len(behind) > 4 else ""  # noqa: PLR2004  as above
    return f"Blast radius: {number} behind its {many}{at_once}: {names}{more}."


def behind_it(report: Report, roster: Roster, session: Session) -> tuple[list[Session], bool]:
    """Give who waits for what it holds, and for what those hold; and whether that is everybody."""
    found: dict[Session, None] = {}
    queue: list[Session] = [session]
    while queue:
        places: Places | None = roster.places.get(queue.pop(0))
        for path in places.holds if places else ():
            part = report.parts.get(path)
            for member in part.lock.waiters if part else ():
                owner = member.owner
                if owner and owner != session and owner not in found:
                    found[owner] = None
                    queue.append(owner)
                    if len(found) >= SEARCHED:
                        return list(found), False
    return list(found), True
