"""Screen 6, Learn: lessons and scenes, a picture of the current scene, contenders, the log."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from zktop.demo_types.contender_order import RecipeInfo
from zktop.demo_types.contender_state import ContenderState, LogLine
from zktop.demo_types.lesson import Lesson
from zktop.demo_types.scene_moves import Scene
from zktop.ui.filters import Filter, FilterCount
from zktop.ui.interfaces import ContendersPort
from zktop.ui.messages import PageReady, PlayScene, PressKey, ShowPage
from zktop.ui.screens.common.example_row import ExampleCell
from zktop.ui.screens.common.lock_status import deadlock_name, ink_of, ink_of_deadlock
from zktop.ui.screens.common.numbers_and_times import time_s
from zktop.ui.screens.demo.contender_table import STATES, ContenderTable, passes
from zktop.ui.screens.demo.counters import counters, deadlocks_below
from zktop.ui.screens.demo.index import Target, entries
from zktop.ui.screens.demo.lesson_lines import (
    QUESTION,
    ShownLesson,
    after_scene,
    lesson_lines,
    lesson_of,
    next_scene,
)
from zktop.ui.screens.demo.pane_heights import share, share_columns
from zktop.ui.screens.demo.picture import draw_scene
from zktop.ui.screens.demo.scene_lines import PHASES, caption, recipe_lines, scene_lines
from zktop.ui.screens.page import Page
from zktop.ui.screens.timeline.last_60_seconds import minute_lines
from zktop.ui.screens.timeline.last_60_seconds_panel import MinutePanel
from zktop.ui.styled_text import NOTHING, Line, Run, line, wrapped
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.panel import FrameWords, ListPanel, LogPanel, TextPanel

MAX_LINES = 300
NO_MATCHES = (line((" No demo client matches the filter. Esc clears it.", "warning")),)
NO_SCENE: Final = "No scene is loaded. Select a lesson or a scene in the list first."
CLIENT_PANES: Final = ("contenders", "picture", "scene-minute")  # each line is a demo client
MIN_WIDTH_CELLS: Final = 20
CLEANED_UP: Final = ("R2", "R3", "R7")  # rules that the clean-up of an earlier scene may trigger


class DemoScreen(Page):
    """The index of lessons, scenes and recipes, and next to it picture, text, contenders, log."""

    DEFAULT_CLASSES = "-air"
    FIELDS = ("owner", "state")
    STATES = STATES
    HELP: ClassVar[str | None] = (
        "Learn how locks work: six lessons, more scenes, and recipes, played by demo clients, "
        "which are real processes.\n\n"
        "A lesson has one or two scenes, a question, and an answer. The picture shows each lock "
        "of the scene: its holder (●), its waiters (│), and an arrow from each waiter to what it "
        "watches. The queue is what ZooKeeper has; the arrows are what the demo clients "
        "report.\n\n"
        "The list of demo clients shows what each one believes. Demo clients write below the demo "
        "root; zktop asks before it starts one in another lock. A filter applies to the list and "
        "to the log."
    )
    HELP_KEYS: ClassVar[Mapping[str, str]] = {
        "open": "play the lesson or scene",
        "answer": "show or hide the answer",
        "scene_play": "pause or play",
        "scene_step": "play one step",
        "scene_stop": "end it and clean up",
        "release": "make a client release",
        "kill": "kill a client",
        "next_pane": "go to the next pane",
    }
    HELP_ROW: ClassVar[tuple[ExampleCell, ...]] = (
        ExampleCell("CLIENT", "ann", "name of the demo client", "ours"),
        ExampleCell("STATE", "waits", "what it believes", "waits"),
        ExampleCell("LOCK", "ab-ba/stock", "lock that it holds or waits for"),
        ExampleCell("SAYS", "watches lock-0000000000", "last report", "dim"),
    )
    SCOPED_CSS: ClassVar[bool] = False  # the class -narrow is set on the screen
    DEFAULT_CSS = """
    DemoScreen #index { width: 36; }
    .-narrow DemoScreen #index { width: 24; max-width: 40%; }
    .-triple DemoScreen #index { width: 44; }
    .-triple DemoScreen #stage { layout: horizontal; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._port: ContendersPort | None = None
        self._scene: str | None = None  # loaded when the screen was last drawn
        self._picture = ("", 0, 0)  # its scene, its width, and its largest number of lines
        self._counted: dict[str, list[str]] = {}  # sentences of `counters`, by scene
        self._done: set[str] = set()  # scenes that were played to their ends
        self._answered: set[str] = set()  # lessons whose answer is shown
        self._index, self._drawing = ListPanel(id="index"), ListPanel(id="picture")
        self._text, self._minute = TextPanel(id="scene"), MinutePanel(id="scene-minute")
        self._contenders, self._log = ContenderTable(), LogPanel(id="log")
        self._stage, self._lesson = Vertical(id="stage"), Vertical(id="lesson")
        self._clients = Vertical(id="clients")

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._index
            with self._stage:
                with self._lesson:
                    yield self._drawing
                    yield self._text
                    yield self._minute
                with self._clients:
                    yield self._contenders
                    yield self._log

    def draw(self, state: ViewState) -> None:
        self._port = port = state.contenders
        if port is None:  # then no key opens this page
            return
        self._count(port, state)
        self._show_index(port)
        picture = self._show_picture(port, state)
        text = self._show_text(port)
        contenders = [contender for contender in port.states if passes(contender, state.filter)]
        self.passed = FilterCount(len(contenders), len(port.states)) if state.filter else None
        self._show_contenders(contenders, port)
        self._show_log(port, state.filter)
        self._set_heights(port, state, picture, text, max(1, len(contenders)) + 1)

    def _count(self, port: ContendersPort, state: ViewState) -> None:
        """Keep the sentences of `counters`, to show them while the next part of a lesson plays."""
        progress = port.progress
        if progress.scene is None or progress.phase in ("cleaning", "failed"):
            return
        name, folder = progress.scene.name, progress.folder or ""
        report = state.report
        self._counted[name] = counters(report, folder, port.states, port.count)
        if progress.phase == "over":
            self._done.add(name)

    def _set_heights(
        self, port: ContendersPort, state: ViewState, picture: int, text: int, contenders: int
    ) -> None:
        room, is_beside = self._stage.size.height, self.screen.has_class("-triple")
        frame = self._log.gutter.height
        wanted = [lines + frame if lines else 0 for lines in (picture, text, contenders)]
        if is_beside:
            heights = share_columns(room, wanted[0], wanted[2])
            minute = self._show_minute(port, state, heights.text - wanted[1])
            heights = heights._replace(text=heights.text - minute)
        else:
            self._minute.hide()
            heights = share(room, *wanted, is_alone=bool(port.states) and not picture)
        self._clients.display = heights.log > 0
        self._clients.styles.height = room if is_beside else heights.contenders + heights.log
        self._lesson.styles.height = room if is_beside else "1fr"
        panes = self._drawing, self._text, self._contenders, self._log
        for pane, height in zip(panes, heights, strict=True):
            pane.display = height > 0
            pane.styles.height = height

    def _show_minute(self, port: ContendersPort, state: ViewState, left: int) -> int:
        """Show the last minute of the demo clients if there is room. Return its height."""
        minute, report = self._minute, state.report
        sessions = tuple(contender.session for contender in port.states if contender.session)
        if report is None or not sessions:
            minute.hide()
        else:
            draw = partial(minute_lines, state, report, sessions)
            minute.show_minute(draw, (sessions, state.chosen_moment), self._lesson_width, left)
        return minute.wanted_height

    @property
    def _lesson_width(self) -> int:
        """The width of a line in the panes on the right, even while they are hidden."""
        return max(MIN_WIDTH_CELLS, self._lesson.size.width - self._text.gutter.width - 1)

    def _show_contenders(self, shown: list[ContenderState], port: ContendersPort) -> None:
        contenders = self._contenders
        running = sum(not state.is_gone for state in port.states)
        keys = "{new} new  {kill} kill  {freeze} freeze"
        contenders.frame(FrameWords("Demo clients", f"{running} running", keys))
        hint = f" None yet. Enter plays a lesson, {contenders.key_of('new')} starts one."
        contenders.show(shown, NO_MATCHES if port.states else [line((hint, "dim"))])

    def _show_index(self, port: ContendersPort) -> None:
        index = self._index
        scene = port.progress.scene
        loaded = self._loaded(port)
        listed = list(entries(port, loaded, self._done))
        name = scene.name if scene else None
        if name != self._scene:  # the cursor follows the scene
            self._scene = name
            index.target = loaded
        index.show([entry.drawn for entry in listed], [entry.target for entry in listed])
        index.frame(FrameWords("Learn", "", f"{{open}} {self._index_verb}"))

    def _loaded(self, port: ContendersPort) -> Target | None:
        """Return the loaded lesson, or the loaded scene if it belongs to no lesson."""
        scene = port.progress.scene
        return lesson_of(port.lessons, scene) or scene

    def _show_picture(self, port: ContendersPort, state: ViewState) -> int:
        """Draw the loaded scene. Return the number of lines."""
        pane, progress = self._drawing, port.progress
        if progress.scene is None:
            pane.show([])
            return 0
        width = self._lesson_width
        report = state.report
        drawn = draw_scene(report, progress.folder or "", port.states, port.count, width)
        head = [*caption(progress, width, pane.key_of), NOTHING]
        lines = [*head, *drawn.lines]
        targets = [*(None for _ in head), *drawn.targets] if drawn.targets else []
        counted = self._counted.get(progress.scene.name, ())
        below = [
            *(part for sentence in counted for part in wrapped(sentence, width, "strong", " ")),
            *_verdict(state, progress.folder or "", width),
            *after_scene(port.lessons, {scene.name: scene for scene in port.scenes}, progress),
        ]  # fmt: skip
        lines += [NOTHING, *below] if below else []
        play = "pause" if progress.phase == "playing" else "play"
        pane.frame(
            FrameWords(
                progress.scene.title,
                PHASES[progress.phase].format(pane.key_of("scene_stop")),
                f"{{scene_play}} {play}  {{scene_step}} step  {{scene_stop}} end",
                is_alarm=progress.phase == "failed",
            )
        )
        pane.show(lines, targets)
        return self._most_lines(progress.scene.name, width, len(lines))

    def _most_lines(self, scene: str, width: int, lines: int) -> int:
        """Return the largest number of lines so far, so that the panes below do not move."""
        previous_lines = self._picture[2] if self._picture[:2] == (scene, width) else 0
        self._picture = scene, width, max(previous_lines, lines)
        return self._picture[2]

    def _show_text(self, port: ContendersPort) -> int:
        """Describe the item under the cursor of the index, else the loaded one."""
        pane, width = self._text, self._lesson_width
        target = self._index.target
        loaded = self._loaded(port)
        about = target if self.focused_pane == "index" or loaded is None else loaded
        lines, title, keys = self._about(about, port, width)
        pane.frame(FrameWords(title, "", keys))
        pane.show(lines)
        return len(lines)

    def _about(
        self, about: object, port: ContendersPort, width: int
    ) -> tuple[list[Line], str, str]:
        """Return lines about a lesson, scene or recipe, and the title and keys of their frame."""
        key_of = self._index.key_of
        if isinstance(about, RecipeInfo):
            return recipe_lines(about, width), "Recipe", "{open} start"
        if isinstance(about, Scene):
            return scene_lines(about, port.progress, width, key_of), "Scene", "{open} play"
        if not isinstance(about, Lesson):
            return [], "Lesson", ""
        scenes = {scene.name: scene for scene in port.scenes}
        counted = {name: sentences[0] for name, sentences in self._counted.items() if sentences}
        number = 1 + list(port.lessons).index(about)
        is_answered = about.title in self._answered
        shown = ShownLesson(about, number, scenes, port.progress, counted, is_answered)
        lines = lesson_lines(shown, width, key_of("answer"))
        return lines, "Lesson", "{open} play  {answer} answer"

    def _show_log(self, port: ContendersPort, wanted: Filter) -> None:
        """Show the log of all contenders, or of the one under the cursor."""
        pane, contender = self._log, self._contenders.row
        has_focus = self.focused_pane == "contenders"
        chosen = contender.name if isinstance(contender, ContenderState) and has_focus else None
        entries = [
            entry
            for entry in port.log(MAX_LINES, chosen)
            if wanted.passes({"": f"{entry.contender} {entry.says}", "owner": entry.contender})
        ]
        pane.frame(FrameWords("Log", chosen or "all demo clients"))
        pane.show(_log_lines(entries, self._lesson_width))

    # Keys

    @property
    def focused_pane(self) -> str:
        focused = self.screen.focused
        return focused.id or "" if focused is not None else ""

    def on_text_list_moved(self) -> None:
        """Draw the item under the cursor, and the footer, which says what Enter does to it."""
        self.post_message(PageReady())

    def action_open(self) -> None:
        """Play the lesson or scene, start the recipe, or go to the lock under the cursor."""
        if self._port is None:
            return
        if self.focused_pane in CLIENT_PANES:
            if self.subject.path:
                self.post_message(ShowPage("lock", self.subject))
            return
        if isinstance(self._index.target, RecipeInfo):
            self.post_message(PressKey("new"))
        elif (scene := self._chosen_scene) is not None:
            self.post_message(PlayScene(scene))

    @property
    def _chosen_scene(self) -> str | None:
        """The name of the scene under the cursor of the index. For a lesson, of its next part."""
        target = self._index.target
        if isinstance(target, Lesson) and self._port is not None:
            return next_scene(target, self._port.progress)
        return target.name if isinstance(target, Scene) else None

    def action_answer(self) -> None:
        """Show or hide the answer of the lesson."""
        loaded = self._loaded(self._port) if self._port else None
        target = self._index.target if self.focused_pane == "index" else loaded
        if isinstance(target, Lesson):
            self._answered ^= {target.title}
            self.redraw()
            at = self._text.find(QUESTION)
            if target.title in self._answered and at is not None:
                self._text.scroll_to(y=at, animate=False)
        else:
            self.say("Only lessons have a question and an answer.")

    def action_scene_play(self) -> None:
        """Play or pause the loaded scene, else play the scene under the cursor."""
        if self._port is None:
            return
        if self._port.progress.scene is not None:
            is_playing = self._port.progress.phase == "playing"
            self._port.control("pause" if is_playing else "play")
        else:
            self._play_chosen(steps=False)

    def action_scene_step(self) -> None:
        """Play one move of the loaded scene, else of the scene under the cursor."""
        if self._port is None:
            return
        if self._port.progress.scene is not None:
            self._port.control("step")
        else:
            self._play_chosen(steps=True)

    def _play_chosen(self, *, steps: bool) -> None:
        """Play the scene under the cursor of the index, or its first move."""
        scene = self._chosen_scene
        if scene is not None:
            self.post_message(PlayScene(scene, steps=steps))
        else:
            self.say(NO_SCENE)

    def action_scene_stop(self) -> None:
        if self._port is None:
            return
        if self._port.progress.scene is not None:
            self._port.control("stop")
        else:
            self.say(NO_SCENE)

    @property
    def footer_words(self) -> Mapping[str, str]:
        """Enter opens the lock of a demo client. Elsewhere it plays, or starts a recipe."""
        is_playing = self._port is not None and self._port.progress.phase == "playing"
        words = {"scene_play": "Pause"} if is_playing else {}
        if self.focused_pane in CLIENT_PANES:
            return words
        return {**words, "open": self._index_verb.capitalize()}

    @property
    def _index_verb(self) -> str:
        """What Enter does to the item under the cursor of the index."""
        return "start" if isinstance(self._index.target, RecipeInfo) else "play"

    @property
    def recipe(self) -> str | None:
        target = self._index.target
        has_focus = self.focused_pane == "index"
        return target.name if has_focus and isinstance(target, RecipeInfo) else None

    @property
    def subject(self) -> Selection:
        contender = self._contender
        if contender is None:
            return Selection()
        return Selection(path=contender.path, session=contender.session, contender=contender.name)

    @property
    def _contender(self) -> ContenderState | None:
        """The contender under the cursor of the list, if it has the focus, else of the picture."""
        picture, port = self._drawing, self._port
        if port is not None and picture.display and self.focused_pane != "contenders":
            for state in port.states:
                if state.name == picture.target:
                    return state
        row = self._contenders.row
        return row if isinstance(row, ContenderState) else None

    def copied(self) -> str:
        if self._port is None:
            return ""
        return "\n".join(
            f"{time_s(entry.at)} {entry.contender}: {entry.says}"
            for entry in self._port.log(MAX_LINES)
        )


def _verdict(state: ViewState, folder: str, width: int) -> list[Line]:
    """Return the verdict on the locks of the scene: a deadlock, else the first finding."""
    report = state.report
    if report is None:
        return []
    for deadlock in deadlocks_below(report, folder):
        sure = "confirmed" if deadlock.is_sure else "likely"
        text = f"Deadlock {deadlock_name(deadlock)}, {sure}: screen 3 shows how to resolve it."
        return wrapped(text, width, ink_of_deadlock(deadlock), " ")
    for finding in report.findings:
        paths = [path for path in (finding.lock, *finding.locks) if path is not None]
        if (
            not finding.cause
            and finding.rule not in CLEANED_UP
            and paths
            and all(path.startswith(f"{folder}/") for path in paths)
        ):
            text = f"{finding.sentence} (screen 3 explains it)"
            return wrapped(text, width, ink_of(finding), " ")
    return []


def _log_lines(entries: Sequence[LogLine], width: int) -> list[Line]:
    lines: list[Line] = []
    for entry in entries:
        head = Run(f"{time_s(entry.at)} ", "dim")
        if entry.contender:
            rest: Line = (Run(f"{entry.contender} ", "ours"), Run(entry.says))
            lines.append((head, *rest))
        else:
            lines += [(head, *fold) for fold in wrapped(entry.says, width - 10, "strong")]
    return lines
