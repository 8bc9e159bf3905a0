"""Other sessions of the same name: those of a process that was started again are told here."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

from zktop.model.facts import session_text
from zktop.model.findings.words import count, several
from zktop.model.history.event import Event
from zktop.model.locks.lock import Member
from zktop.model.text import Text
from zktop.ui.draw.clock import second
from zktop.ui.draw.contact import left
from zktop.ui.draw.fate import LOOKED_AT, SHOWN
from zktop.ui.draw.log import span
from zktop.ui.draw.sessions import Row
from zktop.ui.ink import Ink

TOLD: Final = 2  # sessions, one by one
GLIMPSE: Final = 5_000  # events that are looked through for an earlier life

Told = tuple[str, Text | None, Ink]  # a sentence, the lock that it is about, and how bad it is


def earlier(row: Row, past: Iterable[Event]) -> Iterator[Told]:
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


def _others(row: Row) -> Iterator[tuple[Text, Member, Member]]:
    """Find the places of others of this name in its locks, each session once."""
    report, known = row.scene.report, {row.session}
    holds, waits = row.places.holds, row.places.waits
    for path, own in islice(chain(holds.items(), waits.items()), SHOWN):
        part = report.parts.get(path)
        for member in (
            (*part.lock.holders[:LOOKED_AT], *part.lock.waiters[:LOOKED_AT]) if part else ()
        ):
            if not member.owner or member.owner in known:
                continue
            if report.naming(member.owner, member.label) == row.name:
                known.add(member.owner)
                yield path, member, own


def _told(row: Row, path: Text, member: Member, own: Member) -> Told | None:
    """Tell of one that is not connected; None where it is."""
    report, other = row.scene.report, member.owner
    is_there = report.sight.connected(other, member.czxid)
    if is_there:
        return None
    holders = report.parts[path].lock.holders
    does = "holds" if any(one.node == member.node for one in holders) else "waits for"
    when = "earlier" if member.czxid < own.czxid else "later"
    told = f"{when}: {session_text(other)} {does} {path}"
    if is_there is None:
        return f"{told}; whether it is connected cannot be seen", path, "unknown"
    until = left(report.sight.expires_in(other, report.now))
    return f"{told}, connected to no server; its place goes in {until}", path, "warning"


def _expired(row: Row, past: Iterable[Event]) -> Iterator[Told]:
    """Tell of the newest one that expired, and what it had had."""
    naming = row.scene.report.naming
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
        f"earlier: {session_text(first.session or 0)} expired at {second(first.at)}; it had {what}"
    )
    yield told, first.lock, "plain"
