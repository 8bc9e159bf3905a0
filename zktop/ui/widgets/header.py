"""The header: the ensemble, its state, how current the display is, and the tabs of the screens.

The first line consists of pieces with a rank. Problems and blind spots, rank 0, are always shown;
in a narrow window they replace the ensemble's name and, if necessary, zktop's. The other pieces
and the name share the rest of the line.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from textual.geometry import Offset, Size

from zktop.model.facts import EPOCH_BITS, Millis, Server, transactions_between
from zktop.model.format import clock, count, spoken
from zktop.model.report import Report
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.tables_of_one_server import LOGS
from zktop.ui.filters import FilterCount
from zktop.ui.inks import Ink
from zktop.ui.interfaces import Frame
from zktop.ui.keys import DEMO, LOCK
from zktop.ui.screens import PAGES, page_named
from zktop.ui.screens.common.numbers_and_times import large_count, with_spaces
from zktop.ui.screens.common.server_state import OUTAGES, is_same_epoch, newest_of, out_for, outage
from zktop.ui.styled_text import NOTHING, Line, Run, fitted, joined, line, width_of, wrapped
from zktop.ui.view_state import ViewState
from zktop.ui.widgets.scrolling_view import ScrollingView

SHORT_TITLE_CELLS: Final = 4  # for a tab in a very narrow window
NAME_SHARE: Final = 3  # the name may take a third of the line
MIN_NAME_CELLS: Final = 9
GAP_CELLS: Final = 2
CRUMB_RANKS: Final = (1, 2)  # for the page, and for the lock on it
CRUMB: Final = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"


class HeaderPiece(NamedTuple):
    """A piece of the first line. Rank 0 is the most important."""

    rank: int
    drawn: Line


def ensemble(
    name: str,
    report: Report | None,
    width: int,
    *,
    places: Sequence[Run] = (),
    acknowledged: Collection[str] = (),
) -> Line:
    """Return the name and the state of the ensemble, and the place in the UI, in `width` cells."""
    begin = line(("▍zktop", "key"))
    crumbs = [
        HeaderPiece(rank, line((f"{CRUMB} ", "dim"), place))
        for rank, place in zip(CRUMB_RANKS, places, strict=False)
    ]
    shown = (*crumbs, *pieces(report, acknowledged)) if report is not None else tuple(crumbs)
    room = width - width_of(begin) - GAP_CELLS
    worst = [piece for piece in shown if piece.rank == 0]
    if worst and _width(worst) > room - min(MIN_NAME_CELLS, cell_len(name)):
        return _without_name(begin, worst, width)
    least = min(width // NAME_SHARE, room - _width(worst))
    short = _short(name, max(MIN_NAME_CELLS, least, room - _width(shown)))
    named = (Run(short, "strong", "app.act('clusters')"),)
    shown_pieces = _fitting(shown, room - width_of(named))
    return fitted(joined([begin, named, *shown_pieces]), width) if width > 0 else ()


def _without_name(begin: Line, worst: Sequence[HeaderPiece], width: int) -> Line:
    """Draw the most important pieces in a narrow window, those that can be clicked first."""
    alone = joined(
        piece.drawn for piece in sorted(worst, key=lambda piece: not piece.drawn[0].link)
    )
    both = joined([begin, alone])
    return fitted(both if width_of(both) <= width else alone, width) if width > 0 else ()


def _short(name: str, room: int) -> str:
    """Cut the middle of a long name, because its end is the chroot.

    >>> _short("zk1:2181,zk2:2181,zk3:2181/app", 16), _short("記録記録記録記録", 9)
    ('zk1:2181…181/app', '記録…記録')
    """
    cut, left = name, room
    while cell_len(cut) > room:  # more than once for wide characters
        end = (left - 1) // 2
        cut = f"{name[: left - 1 - end]}…{name[len(name) - end :]}"
        left -= 1
    return cut


def _width(pieces: Iterable[HeaderPiece]) -> int:
    return sum(width_of(piece.drawn) + GAP_CELLS for piece in pieces)


def _fitting(pieces: Sequence[HeaderPiece], room: int) -> list[Line]:
    """Return the most important pieces that fit, in the order of the line."""
    fitting_pieces = set()
    for piece in sorted(pieces, key=lambda piece: piece.rank):
        needed = width_of(piece.drawn) + GAP_CELLS
        if piece.rank == 0 or needed <= room:
            fitting_pieces.add(piece)
            room -= needed
    return [piece.drawn for piece in pieces if piece in fitting_pieces]


STATUS_WORDS: dict[str, tuple[str, Ink]] = {
    "connecting": ("CONNECTING", "warning"),
    "reading": ("READING", "warning"),
    "live": ("LIVE", "good"),
    "read-only": ("READ-ONLY", "warning"),
    "lost": ("LOST", "critical"),
    "failed": ("NO CONNECTION", "critical"),
    "replay": ("REPLAY", "info"),
}

MAX_STATUS_LINES = 2
MAX_ERROR_LINES = 2


class FilterResult(NamedTuple):
    """How many rows of the visible page match, and what is wrong with the filter."""

    passed: FilterCount | None
    mistake: str


NO_FILTER_RESULT = FilterResult(None, "")


class PageHeader(ScrollingView, can_focus=False):
    """Two lines, and more for the connection, errors, and mistakes in the filter."""

    DEFAULT_CSS = """
    PageHeader { height: auto; max-height: 8; background: $panel; overflow: hidden; }
    """

    def __init__(self) -> None:
        super().__init__(id="head")
        self._lines: Sequence[Line] = ((), ())

    def show(
        self,
        state: ViewState,
        page: str,
        recording: str = "",
        trouble: str = "",
        result: FilterResult = NO_FILTER_RESULT,
    ) -> None:
        width = self.app.size.width
        lines = [
            _first_line(state, _places(state, page), _when(state, recording), width),
            _at_both_ends(
                tabs(page, width, has_demo=state.contenders is not None),
                _filter(state, result),
                width,
            ),
            *wrapped(result.mistake, width, "warning", " ")[:MAX_STATUS_LINES],
            *wrapped(_status_sentence(state), width, "warning", " ")[:MAX_STATUS_LINES],
            *wrapped(trouble, width, "critical", " ")[:MAX_ERROR_LINES],
        ]
        is_taller = len(lines) != len(self._lines)
        self._lines = lines
        if is_taller:
            self.refresh(layout=True)
            self._keep_messages_below()
        self.repaint()

    def _keep_messages_below(self) -> None:
        """Move messages below the last line. Their first line is one below the margin."""
        for messages in self.screen.query("ToastRack"):
            messages.styles.margin = (len(self._lines) - 1, 0, 0, 0)

    @property
    def tabs(self) -> Iterator[tuple[str, Offset]]:
        """The number of each tab and its position on the screen. A filter may hide some tabs."""
        x, y = self.region.offset
        for run in self._lines[1]:
            number = run.text.strip()[:1]
            if run.link is not None and number.isdigit():
                yield number, Offset(x, y + 1)
            x += width_of((run,))

    @property
    def count(self) -> int:
        return len(self._lines)

    def draw(self, index: int, width: int) -> Line:
        return self._lines[index]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines)


def _places(state: ViewState, page: str) -> list[Run]:
    """Return the current place: the page, and the lock on it. A click goes there."""
    path = state.subject.path if page == LOCK else None
    titles = [page_named(page).title, *([path] if path else [])]
    number = [entry.name for entry in PAGES].index(page) + 1
    return [Run(title, "plain", f"app.act('page_{number}')") for title in titles]


def _first_line(state: ViewState, places: Sequence[Run], at_right: Line, width: int) -> Line:
    room = max(0, width - width_of(at_right) - 1)
    report = state.report
    acknowledged = state.acknowledged.covered(report) if report is not None else ()
    drawn = ensemble(state.feed.name, report, room, places=places, acknowledged=acknowledged)
    return (*drawn, Run(" "), *at_right)


def _at_both_ends(left: Line, at_right: Line, width: int) -> Line:
    """Put a piece at each end of a line. A very narrow line has only the left one."""
    room = width - width_of(at_right)
    return (
        (*fitted(left, max(0, room - 1)), Run(" "), *at_right) if room > 1 else fitted(left, width)
    )


def _when(state: ViewState, recording: str) -> Line:
    """Return the right end of the first line: badges, the state of the feed, and the time."""
    return joined(
        [
            _badge(state) if state.feed.is_live else NOTHING,
            line(("● REC", "critical")) if recording else NOTHING,
            line((" LOADING ", "paused")) if state.is_unpacking else NOTHING,
            *_mode(state),
            *_shown_moment(state),
        ]
    )


def _mode(state: ViewState) -> Iterator[Line]:
    """Yield the state of the feed, and whether the display shows its newest state."""
    word, ink = STATUS_WORDS[state.status.word]
    if state.is_newest or state.frame is None:
        yield line((f"● {word}" if word == "LIVE" else word, ink))
        yield from _unanswered(state)
    elif not state.feed.is_live:
        mode = f"PLAYING {state.speed:g}x" if state.is_playing else "PAUSED"
        yield line((word, ink), " ", (f" {mode} ", "good" if state.is_playing else "paused"))
    else:
        newest = state.tape.last
        ago = spoken((newest.at - _moment(state, state.frame)) / 1000) if newest else "?"
        mode = "PAUSED" if state.is_paused else "IN THE PAST"
        yield line((f" {mode}, {ago} behind ", "paused"))
        # IN THE PAST and LIVE would contradict each other, and one LOST is enough
        if state.status.word != "live" and not (word == "LOST" and _was_lost(state)):
            yield line((word, ink))


def _shown_moment(state: ViewState) -> Iterator[Line]:
    """Yield the time on display, and whether the connection was lost then."""
    if _was_lost(state):
        yield line(STATUS_WORDS["lost"])
    if state.frame is not None:
        yield line((f"{clock(_moment(state, state.frame))} ", "strong"))


def _was_lost(state: ViewState) -> bool:
    """True if the moment on display is past, and in an outage or a gap of a recording."""
    is_past = state.status.word == "replay" or not state.is_newest
    return is_past and state.report is not None and state.report.is_lost


def _moment(state: ViewState, frame: Frame) -> Millis:
    """Return the moment on display. Its frame may be slightly older."""
    return frame.at if state.at is None else state.at


def _badge(state: ViewState) -> Line:
    """Return the badge that shows whether zktop may write to this ensemble."""
    port = state.contenders
    may_write = port is not None and port.permission.is_given
    return line((" DEMO ", "caution") if may_write else (" RO ", "allowed"))


def _unanswered(state: ViewState) -> Iterator[Line]:
    """Yield an outage of the server that zktop is connected to, until the connection drops."""
    frame = state.frame
    if frame is None or state.status.word != "live":
        return
    link = frame.report.world.link
    for server in frame.report.ensemble.servers:
        if server.state in OUTAGES and link is not None and server.server == link.server:
            yield line(outage(server.state, out_for(server, frame.at)))


def tabs(page: str, width: int, *, has_demo: bool) -> Line:
    """Return the tabs: with gaps if they fit, else without gaps, else with short titles."""
    shown = [
        (number, entry) for number, entry in enumerate(PAGES, 1) if has_demo or entry.name != DEMO
    ]
    for gap, cells in ((" ", None), ("", None), ("", SHORT_TITLE_CELLS)):
        runs: list[Run] = []
        for number, entry in shown:
            is_here = entry.name == page
            title = entry.title if is_here else entry.title[:cells]
            text = f" {number} {title}{' ' if is_here else gap}"
            runs.append(Run(text, "tab" if is_here else "dim", f"app.act('page_{number}')"))
        if width_of(tuple(runs)) <= width:
            break
    return tuple(runs)


def _filter(state: ViewState, result: FilterResult) -> Line:
    if not state.filter:
        return ()
    passed = result.passed
    counted = f" {with_spaces(passed.shown)} of {with_spaces(passed.total)} " if passed else ""
    return line((f"/{state.filter.text} ", "selected"), (counted, "dim"))


def _status_sentence(state: ViewState) -> str:
    if state.report is not None and _was_lost(state):
        why = state.report.why_lost or ""
        return why[:1].upper() + why[1:]
    if state.status.says:
        return state.status.says
    return "; ".join(state.feed.notes) if state.status.word == "live" else ""


def pieces(report: Report, acknowledged: Collection[str] = ()) -> Iterator[HeaderPiece]:
    """Yield all pieces, in the order of the line. `acknowledged` are ids of alerts."""
    ensemble = report.ensemble
    yield HeaderPiece(1, line(large_count(len(report.paths), "lock")))
    yield from _servers(ensemble)
    yield from _leader_and_lag(ensemble)
    yield from _problems(report, acknowledged)
    if any(rule.need not in ("history", "leases") for rule in report.blind):
        yield HeaderPiece(0, line(("BLIND SPOTS", "unknown")))


def _servers(ensemble: Ensemble) -> Iterator[HeaderPiece]:
    """Yield how many servers are up. An outage has rank 0."""
    servers, sees = ensemble.servers, ensemble.visibility
    if not servers:
        yield HeaderPiece(2, line("servers not asked"))
        return
    if servers[0].server == LOGS:
        yield HeaderPiece(2, line("transaction logs"))
        return
    up = f"{sum(server.is_up for server in servers)}/{len(servers)} servers"
    if any(server.state in OUTAGES for server in servers):
        yield HeaderPiece(0, line((up, "warning")))
    elif sees.sessions == sees.watches == sees.expiry == "none":
        yield HeaderPiece(2, line(f"{up}, ", ("0 tables", "unknown")))
    else:
        yield HeaderPiece(2, line(up))


def _leader_and_lag(ensemble: Ensemble) -> Iterator[HeaderPiece]:
    """Yield the leader, the number of sessions, the newest zxid and the largest lag."""
    servers = ensemble.servers
    leader = next((server for server in servers if server.mode == "leader"), None)
    if leader is not None:
        yield HeaderPiece(4, line(f"leader {_host(leader.server, servers)}"))
    if (sessions := ensemble.session_count) is not None:
        at_least = "≥" if ensemble.visibility.sessions == "some" else ""
        yield HeaderPiece(3, line(f"{at_least}{large_count(sessions, 'session')}"))
    newest = newest_of(servers)
    if newest:
        epoch, counter = newest >> EPOCH_BITS, newest & (1 << EPOCH_BITS) - 1
        yield HeaderPiece(
            6,
            line(("zxid ", "dim"), f"{epoch:x}:{counter:x}"),
        )
    if len(servers) > 1 and newest:
        yield HeaderPiece(5, line(("lag ", "dim"), _behind(servers, newest)))


def _behind(servers: Sequence[Server], newest: int) -> tuple[str, Ink]:
    """Return the largest lag. It is a lower bound if some are unknown or in another epoch."""
    zxids = [server.server_zxid for server in servers if server.server_zxid is not None]
    oldest = min(zxids)
    largest = transactions_between(oldest, newest)
    if len(zxids) == len(servers) and is_same_epoch(oldest, newest):
        return str(largest), "plain"
    return f"≥{largest}", "unknown"


def _problems(report: Report, acknowledged: Collection[str]) -> Iterator[HeaderPiece]:
    """Yield the numbers of deadlocks, critical findings and warnings.

    The first two are red if any of them is proven. Deadlocks are always shown, and if there are
    none, so are critical findings. Acknowledged deadlocks are counted without a pill.
    """
    ids = {deadlock.id for deadlock in report.deadlocks}
    are_sure = [
        deadlock.is_sure for deadlock in report.deadlocks if deadlock.id not in acknowledged
    ]
    by_severity: dict[str, list[bool]] = {"critical": [], "warning": [], "info": []}
    for finding in report.findings:
        if not finding.cause and finding.id not in acknowledged and finding.id not in ids:
            by_severity[finding.severity].append(finding.is_sure)
    critical, warnings = by_severity["critical"], by_severity["warning"]
    if are_sure:
        yield HeaderPiece(0, _alarm(count(len(are_sure), "deadlock"), is_sure=any(are_sure)))
    if critical:
        rank = 1 if are_sure else 0
        yield HeaderPiece(rank, _alarm(f"{len(critical)} critical", is_sure=any(critical)))
    if warnings:
        yield HeaderPiece(1, _pill(count(len(warnings), "warning"), "caution"))
    if len(ids) > len(are_sure):
        text = f"{count(len(ids) - len(are_sure), 'deadlock')} acknowledged"
        yield HeaderPiece(1, line((text, "dim")))


def _alarm(text: str, *, is_sure: bool) -> Line:
    return _pill(text, "alarm") if is_sure else _pill(f"{text}?", "caution")


def _pill(text: str, ink: Ink) -> Line:
    """Draw a filled pill. A click on it goes to the next alert."""
    return (Run(f" {text} ".upper(), ink, "app.act('next_alert')"),)


def _host(address: str, servers: Sequence[Server]) -> str:
    """Return the host of a server, with its port if another server has the same host."""
    hosts = [server.server.rpartition(":")[0] for server in servers]
    host = address.rpartition(":")[0]
    return host if hosts.count(host) == 1 else address
