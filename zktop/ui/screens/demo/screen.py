"""Screen 6: demo scenes, demo contenders, and the log of what they report."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from zktop.demo_types import ContenderState, LogLine, RecipeInfo, Scene
from zktop.ui.filters import Filter, FilterCount
from zktop.ui.interfaces import ContendersPort
from zktop.ui.messages import PlayScene, PressKey, ShowPage
from zktop.ui.screens.common.format import time_s
from zktop.ui.screens.common.status_codes import ink_of_deadlock
from zktop.ui.screens.demo.scene import progress_lines, recipe_lines, scene_lines
from zktop.ui.screens.page import Page
from zktop.ui.styled_text import Ink, Line, Run, line, wrapped
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.panel import FrameWords, ListPanel, LogPanel, Panel, TextPanel
from zktop.ui.widgets.table import Column, Table

INK_OF_STATE: dict[str, Ink] = {
    "holds": "holds",
    "waits": "waits",
    "frozen": "critical",
    "suspended": "warning",
    "lost": "critical",
}
MAX_LINES = 300
NO_CONTENDERS = (line((" none yet; N starts one, S plays a scene", "dim")),)
NO_MATCHES = (line((" no contender matches the filter; esc clears it", "warning")),)


class DemoScreen(Page):
    """The index of scenes and recipes, and beside it scene, contenders and log."""

    FIELDS = ("owner", "state")
    HELP: ClassVar[str | None] = (
        "Scenes are situations worth seeing, played by contenders: client processes of our own, "
        "which write below the demo root alone. The list at the left has all scenes and "
        "recipes; enter plays or starts the one under the cursor. This screen shows what a "
        "contender believes; the other screens show whether that is true. A filter applies to the "
        "contenders and to the log."
    )
    SCOPED_CSS: ClassVar[bool] = False  # the class -narrow is set on the screen
    DEFAULT_CSS = """
    DemoScreen #index { width: 32; }
    .-narrow DemoScreen #index { width: 22; }
    DemoScreen #scene { height: auto; max-height: 50%; }
    DemoScreen #contenders { height: auto; min-height: 3; max-height: 30%; }
    DemoScreen #log { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._port: ContendersPort | None = None
        self._on: str | None = None  # the scene that was loaded at the last draw

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield ListPanel(id="index")
            with Vertical():
                yield TextPanel(id="scene")
                yield ContenderTable()
                yield LogPanel(id="log")

    def draw(self, state: ViewState) -> None:
        self._port = port = state.contenders
        if port is None:  # then no key leads here
            return
        self._show_index(port)
        self._show_scene(port, state)
        contenders = [contender for contender in port.states if _passes(contender, state.filter)]
        self.passed = FilterCount(len(contenders), len(port.states)) if state.filter else None
        self._show_contenders(contenders, port)
        self._show_log(port, state.filter)

    def _show_contenders(self, shown: list[ContenderState], port: ContendersPort) -> None:
        contenders = self.query_one(ContenderTable)
        running = sum(not one.is_gone for one in port.states)
        contenders.frame(FrameWords("Contenders", f"{running} running", "N new  K kill  Z freeze"))
        contenders.styles.height = 2 + contenders.gutter.height + max(0, len(shown) - 1)
        contenders.show(shown, NO_MATCHES if port.states else NO_CONTENDERS)

    def _show_index(self, port: ContendersPort) -> None:
        index = self._index
        index.frame(FrameWords("Scenes and recipes", "", "enter play"))
        on = port.progress.scene.name if port.progress.scene else None
        lines: list[Line] = [line(("SCENES", "title"))]
        lines += [_entry(one.name, is_on=one.name == on) for one in port.scenes]
        lines += [line(), line(("RECIPES", "title"))]
        lines += [_entry(one.name, is_broken=bool(one.broken)) for one in port.recipes]
        targets = [None, *port.scenes, None, None, *port.recipes]
        if on != self._on:  # the cursor follows the scene
            self._on = on
            index.target = next((one for one in port.scenes if one.name == on), None)
        index.show(lines, targets)

    def _show_scene(self, port: ContendersPort, state: ViewState) -> None:
        pane = self.query_one("#scene", TextPanel)
        width = max(20, pane.size.width - 1)
        target = self._index.target
        progress = port.progress
        is_other = isinstance(target, Scene) and (
            progress.scene is None or progress.scene.name != target.name
        )
        if self.focused_pane == "index" and isinstance(target, RecipeInfo):
            lines = recipe_lines(target, width)
        elif self.focused_pane == "index" and is_other and progress.phase in ("empty", "over"):
            lines = scene_lines(target, width)  # type: ignore[arg-type]  # a scene, says is_other
        else:
            lines = [*progress_lines(progress, width), *_verdict(state, width)]
        name = progress.scene.title if progress.scene else "Scene"
        pane.frame(
            FrameWords(name, progress.phase if progress.scene else "", "space play  ] step")
        )
        pane.styles.height = len(lines) + pane.gutter.height
        pane.show(lines)

    def _show_log(self, port: ContendersPort, wanted: Filter) -> None:
        """Show the log of all contenders, or of the one under the cursor."""
        pane = self.query_one("#log", LogPanel)
        contender = self.query_one(ContenderTable).row
        is_meant = self.focused_pane == "contenders"
        who = contender.name if isinstance(contender, ContenderState) and is_meant else None
        entries = [
            one
            for one in port.log(MAX_LINES, who)
            if wanted.passes({"": f"{one.who} {one.says}", "owner": one.who})
        ]
        pane.frame(FrameWords("Log", who or "all contenders"))
        pane.show(_log_lines(entries, max(20, pane.size.width)))

    # Keys

    @property
    def _index(self) -> ListPanel:
        return self.query_one(ListPanel)

    @property
    def focused_pane(self) -> str:
        focused = self.screen.focused
        return focused.id or "" if focused is not None else ""

    def on_text_list_moved(self) -> None:
        self.redraw()

    def action_open(self) -> None:
        """Play the scene, start the recipe, or go to the lock under the cursor."""
        if self._port is None:
            return
        if self.focused_pane == "contenders":
            if self.subject.path:
                self.post_message(ShowPage("lock", self.subject))
            return
        target = self._index.target
        if isinstance(target, Scene):
            self.post_message(PlayScene(target.name))
        elif isinstance(target, RecipeInfo):
            self.post_message(PressKey("new"))

    def action_scene_play(self) -> None:
        if self._port is not None and self._port.progress.scene is not None:
            is_on = self._port.progress.phase == "playing"
            self._port.control("pause" if is_on else "play")

    def action_scene_step(self) -> None:
        """Play one move, of the scene under the cursor if none is loaded."""
        if self._port is None:
            return
        target = self._index.target
        if self._port.progress.scene is not None:
            self._port.control("step")
        elif isinstance(target, Scene):
            self.post_message(PlayScene(target.name, steps=True))

    def action_scene_stop(self) -> None:
        if self._port is not None and self._port.progress.scene is not None:
            self._port.control("stop")

    @property
    def recipe(self) -> str | None:
        target = self._index.target
        is_meant = self.focused_pane == "index" and isinstance(target, RecipeInfo)
        return target.name if is_meant and isinstance(target, RecipeInfo) else None

    @property
    def subject(self) -> Selection:
        contender = self.query_one(ContenderTable).row
        if not isinstance(contender, ContenderState):
            return Selection()
        return Selection(path=contender.path, session=contender.session, contender=contender.name)

    def copied(self) -> str:
        if self._port is None:
            return ""
        return "\n".join(
            f"{time_s(one.at)} {one.who}: {one.says}" for one in self._port.log(MAX_LINES)
        )


def _verdict(state: ViewState, width: int) -> list[Line]:
    """The first deadlock or finding of the report, to compare with what contenders believe."""
    report = state.frame.report if state.frame else None
    if report is None:
        return []
    worst = next((one for one in report.findings if not one.cause), None)
    if report.deadlocks:
        first = report.deadlocks[0]
        lines = f"DEADLOCK: {first.sentence} (3 shows it)"
        return wrapped(lines, width, ink_of_deadlock(first), "  ")
    if worst is not None:
        return wrapped(f"{worst.name}: {worst.sentence} (3 shows it)", width, "warning", "  ")
    return []


def _passes(one: ContenderState, wanted: Filter) -> bool:
    words = f"{one.name} {one.state} {one.path} {one.recipe} {one.mode} {one.says}"
    state = {"holds": "holding", "waits": "waiting"}.get(one.state, one.state)
    return wanted.passes({"": words, "state": state, "owner": one.name})


def _lock(contender: ContenderState) -> Line:
    """The lock without the path that all demo locks have in common."""
    return line("/".join(contender.path.split("/")[-2:]))


def _state(contender: ContenderState) -> Line:
    ink: Ink = "dim" if contender.is_gone else INK_OF_STATE.get(contender.state, "plain")
    return line((contender.state, ink))


COLUMNS = (
    Column[ContenderState](
        "CONTENDER",
        14,
        lambda one: line((one.name, "dim" if one.is_gone else "ours")),
    ),
    Column[ContenderState]("STATE", 18, _state),
    Column[ContenderState]("LOCK", 16, _lock, share=1),
    Column[ContenderState]("MODE", 9, lambda one: line(one.mode), rank=2),
    Column[ContenderState]("RECIPE", 14, lambda one: line(one.recipe), rank=1),
    Column[ContenderState]("SAYS", 16, lambda one: line((one.says, "dim")), share=2),
)


def _entry(name: str, *, is_on: bool = False, is_broken: bool = False) -> Line:
    mark = Run("▶", "good") if is_on else Run("!", "warning") if is_broken else Run(" ")
    return (mark, Run(f" {name}", "selected" if is_on else "plain"))


def _log_lines(entries: Sequence[LogLine], width: int) -> list[Line]:
    lines: list[Line] = []
    for one in entries:
        head = Run(f"{time_s(one.at)} ", "dim")
        if one.who:
            rest: Line = (Run(f"{one.who} ", "ours"), Run(one.says))
            lines.append((head, *rest))
        else:
            lines += [(head, *fold) for fold in wrapped(one.says, width - 10, "strong")]
    return lines


class ContenderTable(Panel, Table[ContenderState]):
    """The demo contenders."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, lambda contender: contender.name, id="contenders")
