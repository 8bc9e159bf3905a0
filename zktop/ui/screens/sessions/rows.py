"""The sessions, a row each: what their servers tell of them, joined with what they hold."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final, Literal

import msgspec

from zktop.model.facts import Session, session_text
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.ensemble import ExpiryWindow
from zktop.model.world.server_tables import Presence
from zktop.ui.filters import Fields
from zktop.ui.screens.common.format import per_second, with_spaces
from zktop.ui.screens.common.session_index import (
    NO_LOCKS,
    RISKS,
    PacketRates,
    SessionDirectory,
    SessionLocks,
    SessionRisk,
    SessionRisks,
)
from zktop.ui.screens.sessions.contact_bar import bar, left
from zktop.ui.styled_text import Ink, Line, Run, line
from zktop.ui.widgets.table import Column

WIDE: Final = 150  # cells; what only some want to know has no place in a narrower table
RISK_INKS: Final[dict[str, Ink]] = {"HIGH": "critical", "MED": "warning", "LOW": "plain"}


class SessionsSnapshot(msgspec.Struct, frozen=True, eq=False, dict=True):
    """What all rows of one moment are drawn from."""

    report: Report
    roster: SessionDirectory
    dangers: SessionRisks
    rates: PacketRates

    @cached_property
    def connected(self) -> set[Session]:
        """The sessions that some server has a connection of; our own is left out."""
        every = self.report.ensemble.tables
        found = {one for tables in every for one in tables.connections or ()}
        found.discard(self.report.ensemble.own or 0)
        return found

    @cached_property
    def in_none(self) -> int:
        """How many of them have no place in a lock."""
        return len(self.connected - self.roster.places.keys())

    @cached_property
    def in_danger(self) -> int:
        """How many are in bad danger."""
        return sum(one.risk == "HIGH" for one in self.dangers.by_session.values())


FIELDS: Final = ("owner", "state", "session", "client", "server", "risk", "lock")


class SessionRow(msgspec.Struct, frozen=True, eq=False):
    """One session; everything else is looked up when it is drawn or sorted by."""

    session: Session
    scene: SessionsSnapshot
    danger: SessionRisk

    @property
    def places(self) -> SessionLocks:
        """What it holds and waits for."""
        return self.scene.roster.places.get(self.session, NO_LOCKS)

    @property
    def name(self) -> Text | None:
        """What it is called."""
        return self.scene.roster.name(self.session)

    @property
    def called(self) -> Text:
        """The same, by a name that is no other's."""
        return self.scene.roster.called(self.session)

    @property
    def presence(self) -> Presence | None:
        """Its connection."""
        return self.scene.report.ensemble.presence(self.session)

    @property
    def left(self) -> ExpiryWindow | None:
        """In how long it expires, should it stay silent."""
        return self.scene.report.ensemble.expires_in(self.session, self.scene.report.now)

    @property
    def is_ours(self) -> bool:
        """Tell whether it is one of our contenders'."""
        return self.session in self.scene.report.ours

    @property
    def rate(self) -> float | None:
        """How many packets a second come from it."""
        presence = self.presence
        return self.scene.rates.received(presence.server, self.session) if presence else None

    @property
    def watches(self) -> int | None:
        """How many watches it has that a table shows."""
        watched = self.scene.report.ensemble.watched(self.session)
        return None if watched is None else len(watched)

    @property
    def fields(self) -> Fields:
        """What a filter looks at."""
        presence, places = self.presence, self.places
        name, session = self.name or "", session_text(self.session)
        where = f"{presence.client} {presence.server}" if presence else ""
        state = ("holding " if places.holds else "") + ("waiting" if places.waits else "")
        locks = " ".join((*places.holds, *places.waits))
        return {
            "": f"{name} {session} {where} {self.danger.risk} {self.danger.note} {locks}",
            "owner": name,
            "session": session,
            "client": presence.client if presence else "",
            "server": presence.server if presence else "",
            "state": state or "quiet",
            "risk": self.danger.risk,
            "lock": locks,
        }


def short(session: Session) -> str:
    """Write the end of a session's id: its beginning is that of its server.

    >>> short(0x100000d0d270000)
    '0x…70000'
    """
    text = session_text(session)
    return text if len(text) <= 8 else f"0x…{text[-5:]}"  # noqa: PLR2004  no shorter than that


def _identity(row: SessionRow) -> Line:
    name = row.called if row.name else "?"
    if row.is_ours:
        return line((name, "ours"), (" ours", "dim"))
    return line((name, "strong" if row.name else "unknown"))


def _client(row: SessionRow) -> Line:
    presence = row.presence
    return line(presence.client) if presence else line(("?", "unknown"))


def _server(row: SessionRow) -> Line:
    presence = row.presence
    if presence is None:
        return line(("?", "unknown"))
    return line(presence.server + "".join(f" also {one}" for one in presence.also))


def _timeout(row: SessionRow) -> Line:
    timeout = row.scene.report.ensemble.timeout_ms(row.session)
    return line(("?", "unknown")) if timeout is None else line(f"{timeout / 1000:g}s")


def _contact(row: SessionRow) -> Line:
    presence, report = row.presence, row.scene.report
    if presence is None:
        is_gone = report.ensemble.gone(row.session, row.places.newest)
        return line(("[no contact]", "critical")) if is_gone else line(("?", "unknown"))
    return bar(presence.quiet_ms, presence.timeout_ms)


def _left(row: SessionRow) -> Line:
    span = row.left
    return line((left(span), "plain" if span else "unknown"))


def _number(count: int, ink: Ink) -> Line:
    return line((str(count), ink if count else "dim"))


def _known(value: int | None) -> Line:
    return line(("?", "unknown")) if value is None else line(str(value))


def _last(row: SessionRow) -> Line:
    presence = row.presence
    told = presence.last_operation if presence else None
    return line(told) if told else line(("?", "unknown"))


def _note(row: SessionRow) -> Line:
    note = row.danger.note
    return line((note, RISK_INKS.get(row.danger.risk, "plain"))) if note else line(("-", "dim"))


def _risk(row: SessionRow) -> Line:
    risk = row.danger.risk
    return line((risk, RISK_INKS[risk])) if risk else line(("-", "dim"))


def _contact_share(row: SessionRow) -> float:
    presence = row.presence
    if presence is None or presence.quiet_ms is None or not presence.timeout_ms:
        return -1
    return presence.quiet_ms / presence.timeout_ms


COLUMNS: Final[Sequence[Column[SessionRow]]] = (
    Column("RISK", 4, _risk, lambda row: RISKS.index(row.danger.risk)),
    Column("SESSION", 8, lambda row: line(short(row.session)), lambda row: row.session),
    Column("IDENTITY", 14, _identity, lambda row: row.name or "", share=2,
           names=lambda _: True),
    Column("CLIENT", 21, _client, lambda row: _text(_client(row)), rank=5),
    Column("SERVER", 15, _server, lambda row: _text(_server(row)), rank=4),
    Column("T/OUT", 6, _timeout,
           lambda row: row.scene.report.ensemble.timeout_ms(row.session) or -1,
           at_right=True, rank=6),
    Column("CONTACT", 12, _contact, _contact_share, descending=True),
    Column("LEFT", 7, _left, lambda row: span.low if (span := row.left) else -1, at_right=True),
    Column("HOLDS", 5, lambda row: _number(len(row.places.holds), "holds"),
           lambda row: len(row.places.holds), at_right=True, descending=True),
    Column("WAITS", 5, lambda row: _number(len(row.places.waits), "waits"),
           lambda row: len(row.places.waits), at_right=True, descending=True),
    Column("WATCHES", 7, lambda row: _known(row.watches), lambda row: _or(row.watches),
           at_right=True, rank=7, descending=True),
    Column("REQ/s", 6, lambda row: line(per_second(row.rate)), lambda row: _or(row.rate),
           at_right=True, rank=3, descending=True),
    Column("RECVD", 7, lambda row: _packets(row, "received"),
           lambda row: _counted(row, "received"), at_right=True, rank=10, descending=True,
           needs=WIDE),
    Column("SENT", 7, lambda row: _packets(row, "sent"), lambda row: _counted(row, "sent"),
           at_right=True, rank=9, descending=True, needs=WIDE),
    Column("LAST", 4, _last, lambda row: _text(_last(row)), rank=8),
    Column("NOTE", 10, _note, lambda row: row.danger.note, share=3),
)  # fmt: skip


def _packets(row: SessionRow, which: Literal["received", "sent"]) -> Line:
    """Count what its server had received from it, or sent to it, since it connected."""
    number = _counted(row, which)
    return line(("?", "unknown")) if number < 0 else line((with_spaces(number), "dim"))


def _counted(row: SessionRow, which: Literal["received", "sent"]) -> int:
    presence = row.presence
    return -1 if presence is None else presence.received if which == "received" else presence.sent


def _or(value: float | None) -> float:
    return -1 if value is None else value


def _text(drawn: Line) -> str:
    return "".join(run.text for run in drawn)


def summary(scene: SessionsSnapshot, *, folded: bool, shown: int) -> Line:
    """Say how many sessions there are, and how many of them are not listed."""
    is_told = scene.report.ensemble.visibility.sessions != "none"
    in_locks, quiet, bad = len(scene.roster.places), scene.in_none, scene.in_danger
    pieces = [
        Run(
            count(in_locks + quiet, "session") if is_told else "sessions: only those with a place"
        ),
        Run(f", {in_locks} in locks"),
        Run(f", {bad} at HIGH risk", "critical" if bad else "dim"),
    ]
    if folded and quiet:
        pieces.append(Run(f"   {quiet} in none: f shows them", "dim"))
    elif not folded:
        pieces.append(Run("   all listed: f folds those in none", "dim"))
    if not shown:
        pieces.append(Run("   none passes the filter", "warning"))
    return tuple(pieces)
