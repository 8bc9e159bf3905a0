"""Who waits for whom around the selected item. The same key again shows all locks by path."""

from typing import ClassVar, Final, cast

from textual.app import ComposeResult

from zktop.model.report import Report
from zktop.ui.base_app import BaseApp
from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.keys import KEYS
from zktop.ui.screens.common.line_writer import FoldLink, LineLink, LineWriter
from zktop.ui.screens.common.throttle import READABLE_S, Throttle
from zktop.ui.textual_fixes.work_in_steps import call_in_steps, is_done_after_step
from zktop.ui.trees.path_tree import PathNode, PathTree, PathTreeLines, is_open_by_default
from zktop.ui.trees.tree_lines import WaitTreeLines, write_overview
from zktop.ui.trees.wait_tree import tree_of
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.text_view import TextList

WAITING: Final = ("Who waits for whom", "enter go there   {} locks by path   esc close")
BY_PATH: Final = ("Locks by path", "enter open   left, right fold   {} waiting   esc close")
MIN_LINES: Final = 6


class TreeDialog(Dialog[LineLink]):
    """Returns the line that the user chose. It always shows the same moment as the page."""

    BINDINGS: ClassVar = [key.binding() for key in KEYS if key.id in ("left", "right", "tree")]
    DEFAULT_CSS = """
    TreeDialog Box { max-width: 140; }
    TreeDialog TextList { background: $surface; }
    """
    moves_in = "#tree"

    def __init__(self, state: ViewState, selected: Selection) -> None:
        super().__init__()
        self._state, self._selected = state, selected
        self._is_by_path = False
        self._height = 0  # of the list, in lines
        self._drawing = Throttle(self, self._draw, READABLE_S)
        self._is_counting = False  # the locks below each path, in steps
        self._paths: PathNode | None = None
        self._paths_of: Report | None = None  # the report that they come from, or will
        self._folded: dict[str, bool] = {}  # prefixes that the user opened (True) or closed

    def compose(self) -> ComposeResult:
        with Box(*self._frame):
            yield TextList(id="tree")

    @property
    def _frame(self) -> tuple[str, str]:
        """The title, and the keys below the text."""
        title, keys = BY_PATH if self._is_by_path else WAITING
        return title, keys.format(cast("BaseApp", self.app).key_of("tree"))

    def on_resize(self) -> None:
        self._drawing.now()

    def show_state(self, state: ViewState) -> None:
        """Draw the tree of another moment."""
        is_new = state.frame is not self._state.frame
        self._state = state
        if is_new and self.is_mounted:
            self._drawing.when_due()

    def _draw(self) -> None:
        report = self._state.report
        must_count = self._is_by_path and self._paths_of is not report and not self._is_counting
        if report is not None and must_count:
            self._count_paths(report)
        else:
            self._draw_tree()

    def _count_paths(self, report: Report) -> None:
        """Count the locks below each path, in steps if there are many. Then draw."""
        tree = PathTree()
        steps = tree.read(report)
        self._is_counting, self._paths_of = True, report

        def counted() -> None:
            self._is_counting, self._paths = False, tree.top
            self._draw_tree()

        if is_done_after_step(steps):
            counted()
        else:
            self._draw_tree()
            call_in_steps(self, steps, then=counted)

    def _draw_tree(self) -> None:
        report, view = self._state.report, self.query_one(TextList)
        if report is None or not view.room.width:
            return
        box = self.query_one(Box)
        box.frame(*self._frame)
        writer = LineWriter(view.room.width)
        if not self._is_by_path:
            self._write_waiting(writer, report)
        elif self._paths is None:
            writer.say("Counting the locks below each path ...")
        else:
            PathTreeLines(self._is_open).write(writer, self._paths)
        self._grow(view, len(writer.lines))
        if view.target is None:
            view.target = self._first_target(writer)
        view.show(writer.lines, writer.links)

    def _grow(self, view: TextList, lines: int) -> None:
        """Make room for all lines. Do not shrink, so that the frame stays where it is."""
        self._height = max(MIN_LINES, min(self.lines_without(0), max(self._height, lines)))
        if view.styles.height is None or view.styles.height.value != self._height:
            view.styles.height = self._height

    def _write_waiting(self, writer: LineWriter, report: Report) -> None:
        tree = tree_of(report, self._selected)
        if tree is None:
            write_overview(writer, report, is_ascii=self._state.is_ascii)
        else:
            WaitTreeLines(report, is_ascii=self._state.is_ascii).write(writer, [tree])

    def _is_open(self, node: PathNode) -> bool:
        default = is_open_by_default(node, self._selected.path)
        return self._folded.get(node.path, default)

    def _first_target(self, writer: LineWriter) -> LineLink | None:
        links = (link for link in writer.links if isinstance(link, LineLink))
        return next((link for link in links if self._is_selected(link.subject)), None)

    def _is_selected(self, subject: Selection) -> bool:
        selected = self._selected
        if selected.session is not None:
            return subject.session == selected.session
        return selected.path is not None and subject.path == selected.path

    # Keys

    def action_tree(self) -> None:
        """Change between the two trees."""
        self._is_by_path = not self._is_by_path
        self.query_one(TextList).target = None
        self._draw()

    def action_accept(self) -> None:
        """Go to the item of the line, or open or close its prefix."""
        target = self.query_one(TextList).target
        if isinstance(target, LineLink):
            self.dismiss(target)
        elif isinstance(target, FoldLink):
            self._toggle(target.section)

    action_open = action_accept  # a click

    def action_left(self) -> None:
        self._set_open(opens=False)

    def action_right(self) -> None:
        self._set_open(opens=True)

    def _set_open(self, *, opens: bool) -> None:
        target = self.query_one(TextList).target
        if isinstance(target, FoldLink):
            self._folded[target.section] = opens
            self._draw()

    def _toggle(self, path: str) -> None:
        if self._paths is None:
            return
        node = next(node for node in _all_nodes(self._paths.below) if node.path == path)
        self._folded[path] = not self._is_open(node)
        self._draw()


def _all_nodes(nodes: tuple[PathNode, ...]) -> list[PathNode]:
    return [*nodes, *(below for node in nodes for below in _all_nodes(node.below))]
