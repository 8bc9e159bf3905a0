"""One session in detail: what it holds and waits for, and what happens when it dies.

Other sessions of the same name: those of a process that was started again are told here.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from zktop.model.facts import Millis, session_text
from zktop.model.format import count, several, short
from zktop.model.history.events import Event
from zktop.model.locks.lock import Member
from zktop.model.report import LockView
from zktop.model.text import Text
from zktop.ui.screens.common.format import age, time_ms, time_s
from zktop.ui.screens.common.status_codes import ink_of
from zktop.ui.screens.locks.events import span
from zktop.ui.screens.sessions.contact_bar import expires_at, left, strip
from zktop.ui.screens.sessions.if_it_dies import (
    LOOKED_AT,
    SHOWN,
    blast,
    foremost,
    if_it_dies,
    if_it_wakes_late,
    is_silent,
    of_host,
)
from zktop.ui.screens.sessions.rows import SessionRow
from zktop.ui.styled_text import Ink, Line, Run, line, wrapped

TOLD: Final = 2  # sessions, one by one
GLIMPSE: Final = 5_000  # events that are looked through for an earlier life

Told = tuple[str, Text | None, Ink]  # a sentence, the lock that it is about, and how bad it is


def earlier(row: SessionRow, past: Iterable[Event]) -> Iterator[Told]:
    """Tell of others of this name: with places in its locks, or expired not long ago."""
    if row.name is None:
        return
    connected = 0
    lost: list[Told] = []
    for path, member, own in _others(row):
        told = _told(row, path, member, own)
        if told is None:
            connected += 1
        else:
            lost.append(told)
    yield from lost[:TOLD]
    if len(lost) > TOLD:
        yield f"... and {len(lost) - TOLD} more without a connection", None, "warning"
    if connected:
        more = count(connected, "more session is", "more sessions are")
        yield f"{more} in the same locks, and connected: others beside it", None, "dim"
    yield from _expired(row, past)


def _others(row: SessionRow) -> Iterator[tuple[Text, Member, Member]]:
    """Find the places of others of this name in its locks, each session once."""
    report, known = row.report, {row.session}
    holds, waits = row.locks.holds, row.locks.waits
    for path, own in islice(chain(holds.items(), waits.items()), SHOWN):
        part = report.parts.get(path)
        for member in (
            (*part.lock.holders[:LOOKED_AT], *part.lock.waiters[:LOOKED_AT]) if part else ()
        ):
            if not member.owner or member.owner in known:
                continue
            if report.owner_name(member.owner, member.label) == row.name:
                known.add(member.owner)
                yield path, member, own


def _told(row: SessionRow, path: Text, member: Member, own: Member) -> Told | None:
    """Tell of one that is not connected; None where it is."""
    report, other = row.report, member.owner
    is_there = report.ensemble.connected(other, member.czxid)
    if is_there:
        return None
    holders = report.parts[path].lock.holders
    does = "holds" if any(one.node == member.node for one in holders) else "waits for"
    when = "earlier" if member.czxid < own.czxid else "later"
    told = f"{when}: {session_text(other)} {does} {path}"
    if is_there is None:
        return f"{told}; whether it is connected cannot be seen", path, "unknown"
    until = left(report.ensemble.expires_in(other, report.now))
    return f"{told}, connected to no server; its place goes in {until}", path, "warning"


def _expired(row: SessionRow, past: Iterable[Event]) -> Iterator[Told]:
    """Tell of the newest one that expired, and what it had had."""
    naming = row.report.owner_name
    ends = [
        one
        for one in islice(past, GLIMPSE)
        if one.event == "expired"
        and one.session != row.session
        and naming(one.session or 0, one.owner) == row.name
    ]
    newest = [one for one in ends if one.session == ends[0].session]
    if not newest or newest[0].session is None:
        return
    first = newest[0]
    held = [one for one in newest if one.held is not None]
    for_ = f" for {span(held[0].held)}" if held and held[0].held else ""
    what = (
        f"held {several(one.lock for one in held)}{for_}"
        if held
        else f"waited for {several(one.lock for one in newest)}"
    )
    told = (
        f"earlier: {session_text(first.session or 0)} expired at {time_s(first.at)}; it had {what}"
    )
    yield told, first.lock, "plain"


LETTERS: Final = {"exclusive": "X", "read": "R", "write": "W", "lease": "S", "candidate": "C"}
VERDICTS: Final[dict[str, tuple[str, Ink]]] = {
    "confirmed": ("watches what it must", "good"),
    "elsewhere": ("WATCHES ELSEWHERE", "critical"),
    "missing": ("NO WATCH", "critical"),
    "invisible": ("its watch cannot be seen", "unknown"),
    "unknown": ("its watches are unknown", "unknown"),
    "early": ("its watch was not looked for yet", "unknown"),
    "none-needed": ("needs no watch", "dim"),
}
LABEL: Final = 11
WATCHED: Final = 6

SessionDetails = tuple[list[Line], list[Text | None]]


def details(
    row: SessionRow,
    contacts: Iterable[Millis],
    width: int,
    past: Iterable[Event] = (),
    *,
    is_ascii: bool,
) -> SessionDetails:
    """Draw one session; beside the lines, the lock that each line is about.

    `past` is what had happened by then, newest first.
    """
    made = _Lines(width)
    made.add(_head(row))
    _places(made, row, is_ascii=is_ascii)
    made.put("watches", _watched(row))
    _contact(made, row, contacts)
    presence = row.presence
    if presence is not None and is_silent(presence):
        _host(made, row)
    for number, (path, text) in enumerate(if_it_dies(row)):
        made.put("" if number else "if it dies", text, path)
    made.put("", blast(row))
    for path, text in if_it_wakes_late(row):
        made.put("wakes late", text, path)
    for number, told in enumerate(earlier(row, past)):
        made.put("" if number else "same name", *told)
    for case in row.risk.cases:
        sentence = f"{case.sentence} ({case.rule}, {case.confidence})"
        made.put("finding", sentence, case.lock, ink_of(case))
    if presence is not None and not is_silent(presence):
        _host(made, row)
    return made.lines, made.targets


def _host(made: "_Lines", row: SessionRow) -> None:
    beside = of_host(row.report.ensemble, row.session)
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


def _head(row: SessionRow) -> Line:
    presence = row.presence
    pieces: list[Run] = [Run("SELECTED ", "title"), Run(session_text(row.session), "strong")]
    if row.name:
        pieces.append(Run(f"  {row.name}", "ours" if row.is_ours else "strong"))
    if row.is_ours:
        pieces.append(Run("  (a contender of ours)", "ours"))
    if presence is not None:
        pieces.append(Run(f"  from {presence.client} on {presence.server}"))
        if presence.established is not None:
            pieces.append(Run(f"  since {time_ms(presence.established)[:8]}"))
    timeout = row.report.ensemble.timeout_ms(row.session)
    if timeout is not None:
        pieces.append(Run(f"  timeout {timeout / 1000:g}s"))
    return tuple(pieces)


def _places(made: _Lines, row: SessionRow, *, is_ascii: bool) -> None:
    places, report = row.locks, row.report
    held = {path: places.holds[path] for path in foremost(row)}
    for label, known in (("holds", held), ("waits for", places.waits)):
        for path, member in islice(known.items(), SHOWN):
            view = report.view(path)
            if view is not None:
                made.labelled(label, _place(view, member, report.now, is_ascii=is_ascii), path)
                label = ""  # noqa: PLW2901  once is enough
        if len(known) > SHOWN:
            made.put("", f"... and {count(len(known) - SHOWN, 'more lock')}")
        if not known:
            made.labelled(label, line(("-", "dim")))


def _place(view: LockView, member: Member, now: Millis, *, is_ascii: bool) -> Line:
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
        behind = len(view.lock.waiters) + len(view.watch_check.crowd)
        ink: Ink = "waits" if behind else "dim"
        said.append(Run(f"  {count(behind, 'waits', 'wait') if behind else 'nobody'} behind", ink))
        return tuple(said)
    ahead = _ahead(one.blocked_by, one.ahead)
    is_early = one.verdict == "unknown" and one.actual is not None  # its table is older than it
    word, ink = VERDICTS["early" if is_early else one.verdict]
    state = {"standby": "stands by", "pending": "on its way in"}.get(one.state, f"behind {ahead}")
    return (*said, Run(f"  {state}"), Run(f"  {word}", ink))


def _ahead(nodes: Sequence[Text], many: int) -> str:
    if not nodes:
        return "nobody that is known"
    name = nodes[-1].rpartition("/")[2]  # the nearest
    number = name[-10:] if name[-9:].isdigit() else short(name)
    return f"{number}, {many - 1} more" if many > 1 else number


def _watched(row: SessionRow) -> str:
    watched = row.report.ensemble.watched(row.session)
    if watched is None:
        return "unknown: no watch table of its server could be read"
    if not watched:
        return "nothing that a table shows (child watches are never in it)"
    shown = [short(path) for path in sorted(watched)[:WATCHED]]
    more = f" and {len(watched) - WATCHED} more" if len(watched) > WATCHED else ""
    return ", ".join(shown) + more


def _contact(made: _Lines, row: SessionRow, contacts: Iterable[Millis]) -> None:
    report = row.report
    presence, timeout, span = row.presence, report.ensemble.timeout_ms(row.session), row.expires_in
    if presence is None or timeout is None or presence.contact is None:
        why = "no server says when it was heard of"
        if report.ensemble.gone(row.session, row.locks.newest):
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
