"""Other sessions with the name of the selected one: in the same locks, or recently expired.

A restarted process may wait for its earlier session, which keeps its lock until it expires.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

from zktop.model.format import count, several
from zktop.model.history.events import Event
from zktop.model.locks.lock import Member
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.ui.inks import Ink
from zktop.ui.screens.common.event_lines import bounded_span
from zktop.ui.screens.common.numbers_and_times import time_s
from zktop.ui.screens.sessions.contact_bar import expires_when
from zktop.ui.screens.sessions.if_it_dies import MAX_LOCKS, MAX_MEMBERS_SEARCHED
from zktop.ui.screens.sessions.rows import SessionRow

MAX_NAMESAKES: Final = 2  # more of them are counted
MAX_EVENTS_SEARCHED: Final = 5_000  # for an expired session of the same name

Sentence = tuple[str, Text | None, Ink]  # words, path of the lock that they are about, ink


def sessions_of_same_name(row: SessionRow, past: Iterable[Event]) -> Iterator[Sentence]:
    """Describe other sessions of this name: in the same locks, or recently expired."""
    if row.name is None:
        return
    connected = 0
    lost: list[Sentence] = []
    for path, member, own in _others(row):
        sentence = _if_not_connected(row, path, member, own)
        if sentence is None:
            connected += 1
        else:
            lost.append(sentence)
    yield from lost[:MAX_NAMESAKES]
    if len(lost) > MAX_NAMESAKES:
        yield f"... and {len(lost) - MAX_NAMESAKES} more without a connection", None, "warning"
    if connected:
        others = count(connected, "other live session")
        yield f"{others} with this name in these locks", None, "dim"
    yield from _expired(row, past)


def _others(row: SessionRow) -> Iterator[tuple[Text, Member, Member]]:
    """Find the nodes of other sessions of this name in its locks, one per session."""
    report, listed = row.report, {row.session}
    holds, waits = row.locks.holds, row.locks.waits
    for path, own in islice(chain(holds.items(), waits.items()), MAX_LOCKS):
        if path not in report.records:
            continue
        lock = report.records[path].lock
        for member in (*lock.holders[:MAX_MEMBERS_SEARCHED], *lock.waiters[:MAX_MEMBERS_SEARCHED]):
            if not member.owner or member.owner in listed:
                continue
            if report.owner_name(member.owner, member.label) == row.name:
                listed.add(member.owner)
                yield path, member, own


def _if_not_connected(row: SessionRow, path: Text, member: Member, own: Member) -> Sentence | None:
    """Describe a session of the same name; None if it is connected."""
    report, other = row.report, member.owner
    is_connected = report.ensemble.connected(other, member.czxid)
    if is_connected:
        return None
    holders = report.records[path].lock.holders
    does = "holds" if any(holder.node == member.node for holder in holders) else "waits for"
    when = "earlier" if member.czxid < own.czxid else "later"
    text = f"{when}: {session_text(other)} {does} {path}"
    if is_connected is None:
        return f"{text}; connection unknown", path, "unknown"
    ends = expires_when(report.ensemble.expires_in(other, report.now))
    return f"{text}, not connected; its request ends {ends}", path, "warning"


def _expired(row: SessionRow, past: Iterable[Event]) -> Iterator[Sentence]:
    """Describe the last expired session of this name, and its locks."""
    owner_name = row.report.owner_name
    expiries = [event for event in islice(past, MAX_EVENTS_SEARCHED) if event.event == "expired"]
    others = (event for event in expiries if event.session not in (None, row.session))
    same_name = (
        event for event in others if owner_name(event.session or 0, event.owner) == row.name
    )
    newest = next(same_name, None)
    if newest is None:
        return
    freed = [event for event in expiries if event.session == newest.session]
    held = [f"{event.lock} for {bounded_span(event.held)}" for event in freed if event.held]
    waited_for = f"waited for {several(event.lock for event in freed)}"
    outcome = f"held {several(held)}" if held else waited_for
    expired = f"{session_text(newest.session or 0)} expired at {time_s(newest.at)}"
    yield f"earlier: {expired}; it {outcome}", newest.lock, "plain"
