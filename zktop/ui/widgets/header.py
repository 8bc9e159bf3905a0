"""The head of every screen: where we are, how current the picture is, and the pages.

What the head says of the ensemble and of what is in it: as much as there is room for.

What is wrong, and what cannot be seen, is said on any terminal; a long name makes room for it.

How the ensemble stands, and what is in it, in pieces of which the head shows what it can.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.geometry import Size

from zktop.model.facts import Millis, Server, ServerState
from zktop.model.format import count, spoken
from zktop.model.report import Report
from zktop.model.world.ensemble import Ensemble
from zktop.ui.filters import FilterCount
from zktop.ui.keys import DEMO
from zktop.ui.screens import PAGES
from zktop.ui.screens.common.format import elapsed, with_spaces
from zktop.ui.screens.common.status_codes import SURE
from zktop.ui.state import ViewState
from zktop.ui.styled_text import Ink, Line, Run, fitted, joined, line, width_of, wrapped
from zktop.ui.widgets.canvas import Canvas

if TYPE_CHECKING:
    from zktop.model.report import Report

SHARE: Final = 3  # the name may have this part of the room, where nothing urgent needs it
LEAST_NAME: Final = 9
GAP: Final = 2


def ensemble(name: str, report: "Report | None", width: int) -> Line:
    """Say where we are, and how it stands there, in at most so many cells."""
    begin = line((" zktop", "title"))
    pieces = _standing(report) if report is not None else ()
    room = width - width_of(begin) - GAP
    least = min(width // SHARE, room - _width(one for one in pieces if one.rank == 0))
    named = line((_short(name, max(LEAST_NAME, least, room - _width(pieces))), "strong"))
    kept = _fitting(pieces, room - width_of(named))
    return fitted(joined([begin, named, *kept]), width) if width > 0 else ()


def _standing(report: "Report") -> Sequence["HeaderPiece"]:

    return tuple(pieces(report))


def _short(name: str, room: int) -> str:
    """Leave out the middle of what is too long: its end tells the chroot.

    >>> _short("zk1:2181,zk2:2181,zk3:2181/app", 16)
    'zk1:2181…181/app'
    """
    if len(name) <= room:
        return name
    end = (room - 1) // 2
    return f"{name[: room - 1 - end]}…{name[len(name) - end :]}"


def _width(pieces: Iterable["HeaderPiece"]) -> int:
    return sum(width_of(one.drawn) + GAP for one in pieces)


def _fitting(pieces: Sequence["HeaderPiece"], room: int) -> list[Line]:
    """Choose what matters most, in the order in which it is told."""
    kept = set()
    for one in sorted(pieces, key=lambda one: one.rank):
        needed = width_of(one.drawn) + GAP
        if one.rank == 0 or needed <= room:
            kept.add(one)
            room -= needed
    return [one.drawn for one in pieces if one in kept]


STATUS_WORDS: dict[str, tuple[str, Ink]] = {
    "connecting": ("CONNECTING", "warning"),
    "reading": ("READING", "warning"),
    "live": ("LIVE", "good"),
    "read-only": ("READ-ONLY", "warning"),
    "lost": ("LOST", "critical"),
    "failed": ("NO CONNECTION", "critical"),
    "replay": ("REPLAY", "info"),
}

MOST_SAID = 2  # lines about the connection
MOST_TROUBLE = 2  # lines of what went wrong in here


class FilterResult(NamedTuple):
    """What the page in sight makes of the filter."""

    passed: FilterCount | None
    mistake: str


NO_FILTER_RESULT = FilterResult(None, "")


class PageHeader(Canvas, can_focus=False):
    """Two lines, and more where there is something to say about the connection."""

    DEFAULT_CSS = """
    PageHeader { height: auto; max-height: 8; background: $panel; overflow: hidden; }
    """

    def __init__(self) -> None:
        super().__init__(id="head")
        self._lines: Sequence[Line] = ((), ())

    def show(
        self,
        moment: ViewState,
        page: str,
        recording: str = "",
        trouble: str = "",
        sifted: FilterResult = NO_FILTER_RESULT,
    ) -> None:
        """Show where we are."""
        width = self.app.size.width
        lines = [
            _first(moment, _when(moment, recording), width),
            _between(_tabs(page, width, moment.stage is not None), _filter(moment, sifted), width),
            *wrapped(sifted.mistake, width, "warning", " ")[:MOST_SAID],
            *wrapped(_said(moment), width, "warning", " ")[:MOST_SAID],
            *wrapped(trouble, width, "critical", " ")[:MOST_TROUBLE],
        ]
        is_taller = len(lines) != len(self._lines)
        self._lines = lines
        if is_taller:
            self.refresh(layout=True)
        self.repaint()

    @property
    def count(self) -> int:
        """How many lines it has."""
        return len(self._lines)

    def draw(self, index: int, width: int) -> Line:
        """Give one of them."""
        return self._lines[index]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Take as many lines as there are."""
        return len(self._lines)


def clock(at: int) -> str:
    """Write a time of day, in UTC like everything else here.

    >>> clock(1769860800123)
    '12:00:00'
    """
    return f"{datetime.fromtimestamp(at / 1000, UTC):%H:%M:%S}"


def _first(moment: ViewState, at_right: Line, width: int) -> Line:
    room = max(0, width - width_of(at_right) - 1)
    report = moment.frame.report if moment.frame is not None else None
    return (*ensemble(moment.feed.name, report, room), Run(" "), *at_right)


def _between(left: Line, at_right: Line, width: int) -> Line:
    room = width - width_of(at_right)
    return (
        (*fitted(left, max(0, room - 1)), Run(" "), *at_right) if room > 1 else fitted(left, width)
    )


def _when(moment: ViewState, recording: str) -> Line:
    word, ink = STATUS_WORDS[moment.status.word]
    pieces: list[Line] = []
    if moment.feed.is_live and moment.stage is None:
        pieces.append(line(("RO", "strong")))  # nothing here can write
    if recording:
        pieces.append(line(("● REC", "critical")))
    frame = moment.frame
    if moment.is_newest or frame is None:
        pieces.append(line((word, ink)))
        pieces += _unanswered(moment)
    elif not moment.feed.is_live:
        how = f"PLAYING {moment.speed:g}x" if moment.is_playing else "PAUSED"
        pieces.append(
            line((word, ink), " ", (f" {how} ", "good" if moment.is_playing else "paused"))
        )
    else:
        newest = moment.tape.last
        ago = spoken((newest.at - frame.at) / 1000) if newest else "?"
        what = "PAUSED" if moment.is_paused else "IN THE PAST"
        pieces.append(line((f" {what}, {ago} behind ", "paused")))
        if moment.status.word != "live":  # both at once would be read as a contradiction
            pieces.append(line((word, ink)))
    if frame is not None:
        pieces.append(line((f"{clock(frame.at)}Z ", "strong")))
    return joined(pieces)


def _unanswered(moment: ViewState) -> Iterator[Line]:
    """Say that the server which zktop reads from does not answer: the client notices it later."""
    frame = moment.frame
    if frame is None or moment.status.word != "live":
        return

    link = frame.report.world.link
    for one in frame.report.ensemble.servers:
        if one.state in OUTAGES and link is not None and one.server == link.server:
            yield line(outage(one.state, out_for(one, frame.at)))


@lru_cache(16)
def _tabs(page: str, width: int, has_demo: bool) -> Line:  # noqa: FBT001  a part of the cache's key
    runs: list[Run] = []
    for number, entry in enumerate(PAGES, start=1):
        if entry.name == DEMO and not has_demo:
            continue
        ink: Ink = "selected" if entry.name == page else "dim"
        mark = "[" if entry.name == page else " ", "]" if entry.name == page else " "
        title = entry.title if width >= 72 or entry.name == page else entry.title[:4]  # noqa: PLR2004  six titles fit
        runs.append(Run(f"{mark[0]}{number} {title}{mark[1]}", ink, f"app.act('page_{number}')"))
    return tuple(runs)


def _filter(moment: ViewState, sifted: FilterResult) -> Line:
    if not moment.filter:
        return ()
    passed = sifted.passed
    counted = f" {with_spaces(passed.shown)} of {with_spaces(passed.total)} " if passed else ""
    return line((f"/{moment.filter.text} ", "selected"), (counted, "dim"))


def _said(moment: ViewState) -> str:
    if moment.status.says:
        return moment.status.says
    return "; ".join(moment.feed.notes) if moment.status.word == "live" else ""


OUTAGES: Final[dict[ServerState | None, tuple[str, Ink]]] = {
    "down": ("DOWN", "critical"),
    "no-quorum": ("NO QUORUM", "critical"),
    "no-answer": ("NO ANSWER", "critical"),
}
EPOCH: Final = 32  # bits of a zxid that count within the term of one leader


class HeaderPiece(NamedTuple):
    """Something to say; the smaller the rank, the more it matters."""

    rank: int
    drawn: Line


def pieces(report: Report) -> Iterator[HeaderPiece]:
    """Say all of it."""
    ensemble = report.ensemble
    yield HeaderPiece(1, line(count(len(report.paths), "lock")))
    yield from _servers(ensemble)
    yield from _roles(ensemble)
    yield from _wrong(report)
    if any(one.need not in ("history", "leases") for one in report.blind):
        yield HeaderPiece(0, line(("BLIND SPOTS", "unknown")))


def lag(zxid: int | None, newest: int) -> int | None:
    """Count the transactions that a server is behind; None where it is of another term.

    >>> lag(0x5A00000003, 0x5A00000010), lag(0x5900000003, 0x5A00000010), lag(None, 0)
    (13, None, None)
    """
    is_same_term = zxid is not None and zxid >> EPOCH == newest >> EPOCH
    return newest - zxid if is_same_term and zxid is not None else None


def newest_of(servers: Iterable[Server]) -> int:
    """Give the newest transaction that any server tells of."""
    return max((one.server_zxid or 0 for one in servers), default=0)


def _servers(ensemble: Ensemble) -> Iterator[HeaderPiece]:
    """Count the servers that answer; those that do not are never left out."""
    servers, sees = ensemble.servers, ensemble.visibility
    if not servers:
        yield HeaderPiece(2, line("servers not asked"))
        return
    told = f"{sum(one.is_up for one in servers)}/{len(servers)} servers"
    if any(one.state in OUTAGES for one in servers):
        yield HeaderPiece(0, line((told, "warning")))
    elif sees.sessions == sees.watches == sees.expiry == "none":
        yield HeaderPiece(2, line(f"{told}, ", ("0 tables", "unknown")))
    else:
        yield HeaderPiece(2, line(told))


def _roles(ensemble: Ensemble) -> Iterator[HeaderPiece]:
    """Say who leads, who is connected, and whether the others keep up with the leader."""
    servers = ensemble.servers
    leader = next((one for one in servers if one.mode == "leader"), None)
    if leader is not None:
        yield HeaderPiece(4, line(f"leader {_host(leader.server, servers)}"))
    if ensemble.visibility.sessions != "none":
        there = sum(len(one.connections or ()) for one in ensemble.tables)
        at_least = "≥" if ensemble.visibility.sessions == "some" else ""
        ours = any(ensemble.own in (one.connections or ()) for one in ensemble.tables)
        yield HeaderPiece(3, line(f"{at_least}{count(there - ours, 'session')}"))
    newest = newest_of(servers)
    if newest:
        yield HeaderPiece(
            6, line(("zxid ", "dim"), f"{newest >> EPOCH:x}:{newest & (1 << EPOCH) - 1:x}")
        )
    if len(servers) > 1 and newest:
        yield HeaderPiece(5, line(("lag ", "dim"), _behind(servers, newest)))


def _behind(servers: Sequence[Server], newest: int) -> tuple[str, Ink]:
    """Say how far the slowest server is behind, as far as all of them tell."""
    lags = [lag(one.server_zxid, newest) for one in servers]
    told = [one for one in lags if one is not None]
    at_least = "" if len(told) == len(lags) else "≥"
    return f"{at_least}{max(told)}", "plain" if not at_least else "unknown"


def _wrong(report: Report) -> Iterator[HeaderPiece]:
    """Count what is wrong; red is for what is proven."""
    if report.deadlocks:
        is_sure = any(one.confidence in SURE for one in report.deadlocks)
        yield HeaderPiece(
            0, _alarm(count(len(report.deadlocks), "deadlock").upper(), is_sure=is_sure)
        )
        return
    bad = [one for one in report.findings if one.severity == "critical" and not one.cause]
    if bad:
        is_sure = any(one.confidence in SURE for one in bad)
        yield HeaderPiece(0, _alarm(f"{len(bad)} CRITICAL", is_sure=is_sure))


def _alarm(said: str, *, is_sure: bool) -> Line:
    return line((said, "critical") if is_sure else (f"{said}?", "warning"))


def _host(address: str, servers: Sequence[Server]) -> str:
    """Leave the port out where no other server is on that host."""
    hosts = [one.server.rpartition(":")[0] for one in servers]
    host = address.rpartition(":")[0]
    return host if hosts.count(host) == 1 else address


def out_for(server: Server, now: Millis) -> int | None:
    """Count for how long a server has not served, up to the newest round at least."""
    return None if server.since is None else max(0, max(now, server.at) - server.since)


def outage(state: ServerState | None, out_ms: int | None) -> tuple[str, Ink]:
    """Write what is wrong with a server, and for how long.

    >>> outage("down", 12_000)
    ('DOWN 12s', 'critical')
    """
    word, ink = OUTAGES[state]
    return (word if out_ms is None else f"{word} {elapsed(out_ms)}"), ink
