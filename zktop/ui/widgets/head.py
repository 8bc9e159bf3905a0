"""The head of every screen: where we are, how current the picture is, and the pages."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from textual.geometry import Size

from zktop.headless.durations import spoken
from zktop.ui.draw.ensemble import ensemble
from zktop.ui.draw.numbers import grouped
from zktop.ui.filters import Passed
from zktop.ui.ink import Ink, Line, Run, fitted, joined, line, width_of, wrapped
from zktop.ui.keys import DEMO
from zktop.ui.moment import Moment
from zktop.ui.pages import PAGES
from zktop.ui.widgets.canvas import Canvas

WORDS: dict[str, tuple[str, Ink]] = {
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


class Sifted(NamedTuple):
    """What the page in sight makes of the filter."""

    passed: Passed | None
    mistake: str


NOT_SIFTED = Sifted(None, "")


class Head(Canvas, can_focus=False):
    """Two lines, and more where there is something to say about the connection."""

    DEFAULT_CSS = """
    Head { height: auto; max-height: 8; background: $panel; overflow: hidden; }
    """

    def __init__(self) -> None:
        super().__init__(id="head")
        self._lines: Sequence[Line] = ((), ())

    def show(
        self,
        moment: Moment,
        page: str,
        recording: str = "",
        trouble: str = "",
        sifted: Sifted = NOT_SIFTED,
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


def _first(moment: Moment, at_right: Line, width: int) -> Line:
    room = max(0, width - width_of(at_right) - 1)
    report = moment.frame.report if moment.frame is not None else None
    return (*ensemble(moment.feed.name, report, room), Run(" "), *at_right)


def _between(left: Line, at_right: Line, width: int) -> Line:
    room = width - width_of(at_right)
    return (
        (*fitted(left, max(0, room - 1)), Run(" "), *at_right) if room > 1 else fitted(left, width)
    )


def _when(moment: Moment, recording: str) -> Line:
    word, ink = WORDS[moment.status.word]
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


def _unanswered(moment: Moment) -> Iterator[Line]:
    """Say that the server which zktop reads from does not answer: the client notices it later."""
    frame = moment.frame
    if frame is None or moment.status.word != "live":
        return
    from zktop.ui.draw.standing import OUTAGES, out_for, outage  # noqa: PLC0415  with the first report

    link = frame.report.world.link
    for one in frame.report.sight.servers:
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
        runs.append(Run(f"{mark[0]}{number} {title}{mark[1]}", ink, f"app.ask('page_{number}')"))
    return tuple(runs)


def _filter(moment: Moment, sifted: Sifted) -> Line:
    if not moment.filter:
        return ()
    passed = sifted.passed
    counted = f" {grouped(passed.shown)} of {grouped(passed.total)} " if passed else ""
    return line((f"/{moment.filter.text} ", "selected"), (counted, "dim"))


def _said(moment: Moment) -> str:
    if moment.status.says:
        return moment.status.says
    return "; ".join(moment.feed.notes) if moment.status.word == "live" else ""
