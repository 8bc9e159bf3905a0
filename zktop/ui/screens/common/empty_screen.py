"""The text of a screen without locks: why there are none, and what to do."""

from zktop.model.format import count, several
from zktop.model.report import Report
from zktop.model.world.missing_roots import named_roots
from zktop.ui.inks import Ink
from zktop.ui.styled_text import Line, line, wrapped
from zktop.ui.view_state import ViewState

MAX_TEXT_CELLS = 76
FRAME_CELLS = 3  # the frame of the pane, and its scrollbar
UNSEEN_ROOTS = ("R8", "R9")  # rules about roots that cannot be read, or do not exist
TITLES: dict[str, tuple[str, Ink]] = {
    "connecting": ("Connecting", "title"),
    "reading": ("Reading the locks", "title"),
    "failed": ("No connection", "critical"),
    "lost": ("Connection lost", "critical"),
}


def empty_state(state: ViewState, width: int) -> list[Line]:
    report = state.report
    if report is None:
        return _before_first_report(state, width)
    if state.filter and report.paths:
        return _filtered(state, report, width)
    return _without_locks(state, report, width)


def _before_first_report(state: ViewState, width: int) -> list[Line]:
    title, ink = TITLES.get(state.status.word, ("Waiting for data", "title"))
    text = state.status.says or "No data yet."
    lines = [(), line(("  " + title, ink)), (), *paragraph(text, width)]
    if state.status.word == "failed":
        lines += [(), *paragraph(_TRY, width, "dim")]
    elif state.feed.is_live:
        lines += [(), *paragraph(_HARMLESS, width, "dim")]
    return lines


def _filtered(state: ViewState, report: Report, width: int) -> list[Line]:
    key = state.key_of("filter")
    text = f"{count(len(report.paths), 'lock')}, but none matches the filter: {state.filter.text}"
    return [
        (),
        line(("  No match", "title")),
        (),
        *paragraph(text, width),
        (),
        line(("  esc", "key"), " clears the filter;  ", (key, "key"), " edits it."),
        *paragraph(
            "Filters: text, !text, /regex/, or a field such as state:waiting owner:name "
            "kind:mutex layout:kazoo session:0x1.",
            width,
            "dim",
        ),
    ]


def _without_locks(state: ViewState, report: Report, width: int) -> list[Line]:
    roots = [root.path for root in named_roots(report.settings) or report.settings.roots]
    where = f"below {several(roots)}" if roots else "everywhere that it has permission to read"
    promise = " A new lock appears here as soon as it is created." if _is_now(state) else ""
    reasons = [finding.sentence for finding in report.findings if finding.rule in UNSEEN_ROOTS]
    lines = [
        (),
        line(("  No locks found", "title")),
        (),
        *(drawn for text in reasons for drawn in paragraph(text, width, "warning")),
        *([()] if reasons else []),
        *paragraph(f"zktop searched {where}.{promise}", width),
    ]
    if state.feed.is_live:
        lines += [(), *paragraph(_ELSEWHERE, width, "dim")]
    if state.contenders is not None:
        new, scene = map(state.key_of, ("new", "scene"))
        lines += [
            (),
            line(
                (f"  {new}", "key"), " starts a demo client, ", (scene, "key"), " plays a scene."
            ),
        ]
    return lines


def _is_now(state: ViewState) -> bool:
    """True if the screen shows the present."""
    return state.feed.is_live and state.is_newest and state.status.word in ("live", "read-only")


def paragraph(text: str, width: int, ink: Ink = "plain") -> list[Line]:
    """Wrap a text to a readable width. `width` is that of its pane, with the frame."""
    return wrapped(text, min(width - FRAME_CELLS, MAX_TEXT_CELLS), ink, "  ")


_HARMLESS = (
    "zktop only reads. On ZooKeeper 3.6 and later it sets one watch per root, and sends no "
    "requests while nothing changes."
)
_TRY = "Use --hosts for another server, or try `zktop demo`, which brings its own. q quits."
_ELSEWHERE = (
    "If the locks are elsewhere, name the path: zktop --root '/app/locks/*' (* is one level, ** "
    "any depth). To describe a layout that zktop does not know, see `zktop layouts`."
)
