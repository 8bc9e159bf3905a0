"""What the page of all locks says where there is no lock to show: why, and what to do about it."""

from zktop.model.format import count, several
from zktop.model.report import Report
from zktop.model.world.roots import named_roots
from zktop.ui.state import ViewState
from zktop.ui.styled_text import Ink, Line, line, wrapped

WIDEST = 76
UNSEEN_ROOTS = ("R8", "R9")  # rules
TITLES: dict[str, tuple[str, Ink]] = {
    "connecting": ("Connecting", "title"),
    "reading": ("Reading the locks", "title"),
    "failed": ("No connection", "critical"),
    "lost": ("The connection was lost", "critical"),
}


def empty_state(moment: ViewState, width: int) -> list[Line]:
    """Say why the table is empty."""
    if moment.frame is None:
        return _before(moment, width)
    report = moment.frame.report
    if moment.filter and report.paths:
        return _filtered(moment, report, width)
    return _without_locks(moment, report, width)


def _before(moment: ViewState, width: int) -> list[Line]:
    title, ink = TITLES.get(moment.status.word, ("Waiting for the first picture", "title"))
    said = moment.status.says or "Nothing was read yet."
    lines = [(), line(("  " + title, ink)), (), *_told(said, width)]
    if moment.status.word == "failed":
        lines += [(), *_told(_TRY, width, "dim")]
    elif moment.feed.is_live:
        lines += [(), *_told(_HARMLESS, width, "dim")]
    return lines


def _filtered(moment: ViewState, report: Report, width: int) -> list[Line]:
    said = f"None of {count(len(report.paths), 'lock')} passes the filter: {moment.filter.text}"
    return [
        (),
        line(("  Nothing to show", "title")),
        (),
        *_told(said, width),
        (),
        line(("  esc", "key"), " shows all locks again;  ", ("/", "key"), " changes the filter."),
        *_told(
            "A filter is a text, !text, /pattern/, or a field: state:waiting owner:name "
            "kind:mutex layout:kazoo session:0x1.",
            width,
            "dim",
        ),
    ]


def _without_locks(moment: ViewState, report: Report, width: int) -> list[Line]:
    roots = [root.path for root in named_roots(report.settings) or report.settings.roots]
    where = f"below {several(roots)}" if roots else "everywhere below /, as far as zktop may look"
    whys = [one.sentence for one in report.findings if one.rule in UNSEEN_ROOTS]
    lines = [
        (),
        line(("  No lock was found", "title")),
        (),
        *(one for why in whys for one in _told(why, width, "warning")),
        *([()] if whys else []),
        *_told(
            f"zktop looked {where}. It goes on looking: a lock appears when it is made.", width
        ),
        (),
        *_told(_ELSEWHERE, width, "dim"),
    ]
    if moment.stage is not None:
        lines += [
            (),
            line(("  N", "key"), " starts a contender, ", ("S", "key"), " plays a scene."),
        ]
    return lines


def _told(text: str, width: int, ink: Ink = "plain") -> list[Line]:
    return wrapped(text, min(width, WIDEST), ink, "  ")


_HARMLESS = (
    "zktop only reads. It sets one watch for each root, where the servers are new enough, and "
    "asks for nothing while nothing changes."
)
_TRY = (
    "Is the address right, and is ZooKeeper running there? Another one is given with --hosts. "
    "zktop goes on trying; q quits. `zktop demo` has a server of its own."
)
_ELSEWHERE = (
    "If locks are elsewhere, name their place: zktop --root /app/locks/* ( * is one level, ** any "
    "depth). A layout that zktop does not know is described in the config file: zktop layouts."
)
