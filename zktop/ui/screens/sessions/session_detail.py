"""One session in detail: its locks, contacts and findings, and the consequences if it dies."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from zktop.model.facts import Millis, last_name
from zktop.model.format import count, short
from zktop.model.history.events import Event
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.lock_view import Contender, LockView
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.open_folder import part_held_by
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.ui.inks import Ink
from zktop.ui.past.contacts_and_packet_rates import RecentContacts
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.lock_status import ink_of
from zktop.ui.screens.common.numbers_and_times import age, time_or_date
from zktop.ui.screens.sessions.contact_bar import (
    contact_strip,
    expires_at,
    expires_when,
    time_left,
)
from zktop.ui.screens.sessions.earlier_sessions import sessions_of_same_name
from zktop.ui.screens.sessions.if_it_dies import (
    MAX_LOCKS,
    blast_radius,
    if_it_dies,
    if_it_wakes_late,
    longest_queue_first,
)
from zktop.ui.screens.sessions.others_on_host import is_silent, others_on_host
from zktop.ui.screens.sessions.rows import SessionRow
from zktop.ui.styled_text import Line, Run, line
from zktop.ui.view_state import Selection

VERDICTS: Final[dict[str, tuple[str, Ink]]] = {
    "confirmed": ("watch OK", "good"),
    "elsewhere": ("WATCHES ELSEWHERE", "critical"),
    "missing": ("NO WATCH", "critical"),
    "invisible": ("watch not visible", "unknown"),
    "unknown": ("watch unknown", "unknown"),
    "early": ("watch not checked yet", "unknown"),
    "none-needed": ("no watch needed", "dim"),
}
LABEL_CELLS: Final = 11
MAX_WATCHES: Final = 6
MAX_STRIP_CELLS: Final = 100
DUE: Final = "due, according to the last server table"


def details(
    row: SessionRow,
    contacts: RecentContacts,
    width: int,
    past: Iterable[Event] = (),
    *,
    is_ascii: bool,
) -> LineWriter:
    """Describe one session. Lines about a lock link to it.

    `past` are the events before this moment, newest first.
    """
    writer = LineWriter(width)
    _put(writer, "client", _client(row))
    if about_owner := _about_owner(row):
        _put(writer, "known", about_owner)
    held = longest_queue_first(row)
    _locks(writer, row, held, is_ascii=is_ascii)
    _put(writer, "watches", _watched(row))
    _contact(writer, row, contacts)
    presence = row.presence
    is_quiet = presence is not None and is_silent(presence)
    if is_quiet:
        _host(writer, row)
    for number, (path, text) in enumerate(if_it_dies(row, held)):
        _put(writer, "" if number else "if it dies", text, path)
    _put(writer, "", blast_radius(row))
    for path, text in if_it_wakes_late(row, held):
        _put(writer, "wakes late", text, path)
    for number, (text, path, ink) in enumerate(sessions_of_same_name(row, past)):
        _put(writer, "" if number else "same name", text, path, ink)
    for case in row.risk.cases:
        _put(writer, "finding", case.sentence, case.lock, ink_of(case))
    if not is_quiet:
        _host(writer, row)
    return writer


def _host(writer: LineWriter, row: SessionRow) -> None:
    others = others_on_host(row.report.ensemble, row.session)
    if others:
        _put(writer, "host", others)


def _put(
    writer: LineWriter, label: str, text: str, path: Text | None = None, ink: Ink = "plain"
) -> None:
    """Write a label and a text, with a link if they are about a lock."""
    writer.item((_label(label), "dim"), text, ink, _link(path, label))


def _label(label: str) -> str:
    return f"  {label:<{LABEL_CELLS}}"


def _link(path: Text | None, name: str) -> LineLink | None:
    return LineLink("lock", Selection(path=path), name) if path is not None else None


def _client(row: SessionRow) -> str:
    """Return the address of a session, and what is known of its connection."""
    presence, timeout = row.presence, row.report.ensemble.timeout_ms(row.session)
    parts = ["a demo client"] if row.is_ours else []
    if presence is not None:
        parts.append(f"{presence.client} on {presence.server}")
        if presence.established is not None:
            parts.append(f"since {time_or_date(presence.established, row.report.now)}")
    if timeout is not None:
        parts.append(f"timeout {timeout / 1000:g}s")
    return ", ".join(parts) or "unknown"


def _about_owner(row: SessionRow) -> str:
    """Return what the list of owners adds to the name of the client."""
    client = row.presence.client if row.presence is not None else ""
    entry = row.report.client_names.owners.details_of(session_text(row.session), client)
    return ", ".join(
        f"{key} {text}" for key, text in entry.items() if text not in (row.name or "")
    )


def _locks(writer: LineWriter, row: SessionRow, held: Iterable[Text], *, is_ascii: bool) -> None:
    locks, by_watch = row.locks, sorted(row.locks.by_watch)
    holds = {path: locks.holds[path] for path in held}
    _members(writer, row, "holds", holds, is_ascii=is_ascii)
    if locks.waits or not by_watch:
        _members(writer, row, "waits for", locks.waits, is_ascii=is_ascii)
    label = "" if locks.waits else "waits for"
    for path in by_watch[:MAX_LOCKS]:
        record = row.report.records.get(path)  # None if it vanished, and the rows are still older
        how = "  stands by" if record is not None and record.lock.has_standbys else " "
        drawn = line((f"X {path}", "waits"), f"{how} without a node, by its watch")
        writer.write((Run(_label(label), "dim"), *drawn), _link(path, "waits for"))
        label = ""  # only on the first line
    _more(writer, len(by_watch))


def _more(writer: LineWriter, locks: int) -> None:
    """Say how many locks are not listed."""
    if locks > MAX_LOCKS:
        _put(writer, "", f"... and {count(locks - MAX_LOCKS, 'more lock')}")


def _members(
    writer: LineWriter,
    row: SessionRow,
    title: str,
    members: Mapping[Text, Member],
    *,
    is_ascii: bool,
) -> None:
    label = title
    for path, member in islice(members.items(), MAX_LOCKS):
        view = row.report.view(path)
        if view is not None:
            drawn = _lock(view, member, row.report.now, is_ascii=is_ascii)
            writer.write((Run(_label(label), "dim"), *drawn), _link(path, title))
            label = ""  # only on the first line
    _more(writer, len(members))
    if not members:
        writer.write(line((_label(label), "dim"), ("-", "dim")))


def _lock(view: LockView, member: Member, now: Millis, *, is_ascii: bool) -> Line:
    client = view.contender(member)
    since = age(client.since, client.since_is, now, is_ascii=is_ascii)
    holds = client.state == "holds"
    head = line(
        (f"{MODE_LETTERS[client.mode]} {view.lock.path}", "holds" if holds else "waits"),
        (f" {short(member.node)}", "dim"),
        (f"  {since}", "strong"),
    )
    return (*head, *(_behind(view, member) if holds else _place(view, client)))


def _behind(view: LockView, holder: Member) -> Line:
    """Return the usual length of a hold, and how many clients wait for this one to end."""
    usual = view.history.usual_hold
    usually = line((f", p99 hold {usual.p99_ms / 1000:g}s", "dim")) if usual else ()
    waiters = part_held_by(view.lock, holder.owner).waiters
    behind = len(waiters) + len(view.watch_check.watchers_waiting)
    if behind and view.lock.has_standbys:
        standbys = count(behind, "client stands by", "clients stand by")
        return (*usually, Run(f"  {standbys}", "standby"))
    if behind:
        return (*usually, Run(f"  {count(behind, 'client')} behind", "waits"))
    if view.knows_waiters:
        return (*usually, Run("  no clients behind", "dim"))
    return (*usually, Run("  waiters unknown", "unknown"))


def _place(view: LockView, client: Contender) -> Line:
    """Return which client is ahead of a waiter, and whether its watch is right."""
    ahead = _ahead(view.lock, client.blocked_by, client.ahead)
    is_early = client.verdict == "unknown" and client.actual is not None  # the table is older
    word, ink = VERDICTS["early" if is_early else client.verdict]
    other_states = {"standby": "stands by", "pending": "not queued yet"}
    return line(f"  {other_states.get(client.state, f'behind {ahead}')}", (f"  {word}", ink))


def _ahead(lock: Lock, nodes: Sequence[Text], number: int) -> str:
    if not nodes:
        return "an unknown client"
    nearest = lock.member(nodes[-1])
    shown: str = short(last_name(nodes[-1]))
    if nearest is not None and nearest.sequence is not None:
        shown = f"{nearest.sequence:010d}"
    return f"{shown} and {number - 1} more" if number > 1 else shown


def _watched(row: SessionRow) -> str:
    watched = row.report.ensemble.watched(row.session)
    if watched is None:
        return "unknown: its server gave no watch table"
    if not watched:
        return "none in the server tables; servers never list child watches"
    shown = [short(path) for path in sorted(watched)[:MAX_WATCHES]]
    more = f" and {len(watched) - MAX_WATCHES} more" if len(watched) > MAX_WATCHES else ""
    return ", ".join(shown) + more


def _contact(writer: LineWriter, row: SessionRow, contacts: RecentContacts) -> None:
    report = row.report
    presence, timeout, span = row.presence, report.ensemble.timeout_ms(row.session), row.expires_in
    if report.ensemble.is_cut_off(row.session, row.locks.newest_czxid):
        why = f"not connected; expires {expires_when(span)} unless it reconnects"
        _put(writer, "contact", why, None, "unknown" if span is None else "critical")
        return
    if presence is None or timeout is None or presence.contact is None:
        why = "not in the server tables" if presence is None else "its server does not say"
        _put(writer, "contact", f"unknown: {why}", None, "unknown")
    else:
        known_from = min(contacts.known_from, report.now)
        all_known = RecentContacts(tuple(sorted({*contacts.times, presence.contact})), known_from)
        cells = max(20, min(writer.width - LABEL_CELLS - 3, MAX_STRIP_CELLS))
        for number, drawn in enumerate(contact_strip(all_known, report.now, timeout, span, cells)):
            label = "" if number else "contact"
            writer.write((Run(_label(label), "dim"), *drawn))
    if span is not None:
        in_how_long = f"in {time_left(span)}" if span.high else DUE
        when = f"{expires_at(report.now, span)} ({in_how_long}) unless it reconnects"
        _put(writer, "expires", when)
