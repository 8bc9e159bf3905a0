"""Screen 6: scenes and contenders of ours, with every word they say."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from zktop.demo_types import ContenderState, LogLine, RecipeInfo, Scene
from zktop.ui.filters import Filter, FilterCount
from zktop.ui.messages import PlayScene, PressKey, ShowPage
from zktop.ui.ports import ContendersPort
from zktop.ui.screens.common.status_codes import ink_of_deadlock
from zktop.ui.screens.demo.scene import progress_lines, recipe_lines, scene_lines
from zktop.ui.screens.screen import Page
from zktop.ui.state import Selection, ViewState
from zktop.ui.styled_text import Ink, Line, Run, line, wrapped
from zktop.ui.widgets.header import clock
from zktop.ui.widgets.table import Column, Table
from zktop.ui.widgets.text_view import LogView, TextList, TextView

STATES: dict[str, Ink] = {
    "holds": "holds",
    "waits": "waits",
    "frozen": "critical",
    "suspended": "warning",
    "lost": "critical",
}
MAX_LINES = 300
NOBODY = (line((" nobody yet; N starts one, S plays a scene", "dim")),)
NONE_PASSES = (line((" none of them passes the filter; esc takes it away", "warning")),)


class DemoIndex(TextList):
    """The scenes and recipes there are."""


class DemoScreen(Page):
    """Three panes above each other, and the programme beside them where there is room."""

    FIELDS = ("owner", "state")
    HELP: ClassVar[str | None] = (
        "Scenes are situations worth seeing, played by contenders: client processes of our own, "
        "which write below the demo root alone. The list at the left has all scenes and "
        "recipes; enter plays or starts the one under the cursor. What a contender believes is "
        "told by itself; whether it is so, the other screens show. A filter sifts the contenders "
        "and what is told."
    )
    SCOPED_CSS: ClassVar[bool] = False  # the screen says how narrow it is
    DEFAULT_CSS = """
    DemoScreen #programme { width: 30; border-right: solid $panel; }
    .-narrow DemoScreen #programme { width: 22; }
    DemoScreen #play { height: auto; max-height: 50%; }
    DemoScreen #hands { height: auto; min-height: 3; max-height: 30%; border-top: solid $panel; }
    DemoScreen #said { height: 1fr; border-top: solid $panel; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._stage: ContendersPort | None = None
        self._on: str | None = None  # the scene that was on when this was drawn last

    def compose(self) -> ComposeResult:
        """Give the panes."""
        with Horizontal():
            yield DemoIndex(id="programme")
            with Vertical():
                yield TextView(id="play")
                yield Table(COLUMNS, lambda hand: hand.name, id="hands")
                yield LogView(id="said")

    def show(self, moment: ViewState) -> None:
        """Draw this moment."""
        self._stage = stage = moment.stage
        said = self.query_one("#said", LogView)
        if stage is None:  # then nothing leads here
            return
        self._show_programme(stage)
        self._show_play(stage, moment)
        hands = [hand for hand in stage.states if _passes(hand, moment)]
        self.passed = FilterCount(len(hands), len(stage.states)) if moment.filter else None
        self._show_hands(hands, stage)
        self._show_said(said, stage, moment.filter)

    def _show_hands(self, shown: list[ContenderState], stage: ContendersPort) -> None:
        hands = self.query_one("#hands", Table)
        hands.styles.height = 2 + max(1, len(shown))
        hands.show(shown, NONE_PASSES if stage.states else NOBODY)

    def _show_programme(self, stage: ContendersPort) -> None:
        programme = self.query_one(DemoIndex)
        on = stage.progress.scene.name if stage.progress.scene else None
        lines: list[Line] = [line(("SCENES", "title"))]
        lines += [_entry(one.name, is_on=one.name == on) for one in stage.scenes]
        lines += [line(), line(("RECIPES", "title"))]
        lines += [_entry(one.name, is_broken=bool(one.broken)) for one in stage.recipes]
        targets = [None, *stage.scenes, None, None, *stage.recipes]
        if on != self._on:  # the cursor goes with the scene
            self._on = on
            programme.target = next((one for one in stage.scenes if one.name == on), None)
        programme.show(lines, targets)

    def _show_play(self, stage: ContendersPort, moment: ViewState) -> None:
        pane = self.query_one("#play", TextView)
        width = max(20, pane.size.width - 1)
        target = self.query_one(DemoIndex).target
        progress = stage.progress
        is_other = isinstance(target, Scene) and (
            progress.scene is None or progress.scene.name != target.name
        )
        if self.focused_pane == "programme" and isinstance(target, RecipeInfo):
            lines = recipe_lines(target, width)
        elif self.focused_pane == "programme" and is_other and progress.phase in ("empty", "over"):
            lines = scene_lines(target, width)  # type: ignore[arg-type]  # a scene, says is_other
        else:
            lines = [*progress_lines(progress, width), *_verdict(moment, width)]
        pane.styles.height = len(lines)
        pane.show(lines)

    def _show_said(self, pane: LogView, stage: ContendersPort, wanted: Filter) -> None:
        """Show what was told: by all, or by the contender that the user has chosen."""
        hand = self.query_one("#hands", Table).row
        is_meant = self.focused_pane == "hands"
        who = hand.name if isinstance(hand, ContenderState) and is_meant else None
        said = [
            one
            for one in stage.log(MAX_LINES, who)
            if wanted.passes({"": f"{one.who} {one.says}", "owner": one.who})
        ]
        lines = _told(said, max(20, pane.size.width))
        pane.show(lines)

    # Keys

    @property
    def focused_pane(self) -> str:
        """The name of the pane that the keys go to."""
        focused = self.screen.focused
        return focused.id or "" if focused is not None else ""

    def action_open(self) -> None:
        """Play the scene, start the recipe, or go to the lock under the cursor."""
        if self._stage is None:
            return
        if self.focused_pane == "hands":
            if self.subject.path:
                self.post_message(ShowPage("lock", self.subject))
            return
        target = self.query_one(DemoIndex).target
        if isinstance(target, Scene):
            self.post_message(PlayScene(target.name))
        elif isinstance(target, RecipeInfo):
            self.post_message(PressKey("new"))

    def action_scene_play(self) -> None:
        """Play on, or pause."""
        if self._stage is not None and self._stage.progress.scene is not None:
            is_on = self._stage.progress.phase == "playing"
            self._stage.control("pause" if is_on else "play")

    def action_scene_step(self) -> None:
        """Play one move; of the scene under the cursor when none is on."""
        if self._stage is None:
            return
        target = self.query_one(DemoIndex).target
        if self._stage.progress.scene is not None:
            self._stage.control("step")
        elif isinstance(target, Scene):
            self.post_message(PlayScene(target.name, steps=True))

    def action_scene_stop(self) -> None:
        """Take the scene down."""
        if self._stage is not None and self._stage.progress.scene is not None:
            self._stage.control("stop")

    @property
    def recipe(self) -> str | None:
        """The recipe under the cursor."""
        target = self.query_one(DemoIndex).target
        is_meant = self.focused_pane == "programme" and isinstance(target, RecipeInfo)
        return target.name if is_meant and isinstance(target, RecipeInfo) else None

    @property
    def subject(self) -> Selection:
        """The contender under the cursor."""
        hand = self.query_one("#hands", Table).row
        if not isinstance(hand, ContenderState):
            return Selection()
        return Selection(path=hand.path, session=hand.session, hand=hand.name)

    def copied(self) -> str:
        """Give what was told."""
        if self._stage is None:
            return ""
        return "\n".join(
            f"{clock(one.at)} {one.who}: {one.says}" for one in self._stage.log(MAX_LINES)
        )


def _verdict(moment: ViewState, width: int) -> list[Line]:
    """Say what the observer makes of it, beside what the contenders believe."""
    report = moment.frame.report if moment.frame else None
    if report is None:
        return []
    worst = next((one for one in report.findings if not one.cause), None)
    if report.deadlocks:
        first = report.deadlocks[0]
        said = f"DEADLOCK: {first.sentence} (3 shows it)"
        return wrapped(said, width, ink_of_deadlock(first), "  ")
    if worst is not None:
        return wrapped(f"{worst.name}: {worst.sentence} (3 shows it)", width, "warning", "  ")
    return []


def _passes(hand: ContenderState, moment: ViewState) -> bool:
    words = f"{hand.name} {hand.state} {hand.path} {hand.recipe} {hand.mode} {hand.says}"
    state = {"holds": "holding", "waits": "waiting"}.get(hand.state, hand.state)
    return moment.filter.passes({"": words, "state": state, "owner": hand.name})


def _lock(hand: ContenderState) -> Line:
    """Name the lock without what all demo locks have in front."""
    return line("/".join(hand.path.split("/")[-2:]))


def _state(hand: ContenderState) -> Line:
    ink: Ink = "dim" if hand.is_gone else STATES.get(hand.state, "plain")
    return line((hand.state, ink))


COLUMNS = (
    Column[ContenderState](
        "CONTENDER", 14, lambda hand: line((hand.name, "dim" if hand.is_gone else "ours"))
    ),
    Column[ContenderState]("STATE", 18, _state),
    Column[ContenderState]("LOCK", 16, _lock, share=1),
    Column[ContenderState]("MODE", 9, lambda hand: line(hand.mode), rank=2),
    Column[ContenderState]("RECIPE", 14, lambda hand: line(hand.recipe), rank=1),
    Column[ContenderState]("SAYS", 16, lambda hand: line((hand.says, "dim")), share=2),
)


def _entry(name: str, *, is_on: bool = False, is_broken: bool = False) -> Line:
    mark = Run("▶", "good") if is_on else Run("!", "warning") if is_broken else Run(" ")
    return (mark, Run(f" {name}", "selected" if is_on else "plain"))


def _told(said: Sequence[LogLine], width: int) -> list[Line]:
    lines: list[Line] = []
    for one in said:
        head = Run(f"{clock(one.at)} ", "dim")
        if one.who:
            rest: Line = (Run(f"{one.who} ", "ours"), Run(one.says))
            lines.append((head, *rest))
        else:
            lines += [(head, *fold) for fold in wrapped(one.says, width - 10, "strong")]
    return lines
