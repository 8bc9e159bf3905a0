"""Each lesson, played on the sandbox: what it claims is what was measured."""

from collections.abc import Callable, Iterator

import pytest
from servers import sandbox_server

from zktop.app.connection_settings import SHORT_SESSION_S
from zktop.app.contenders import Contenders
from zktop.app.live_run import LiveRun
from zktop.config.keys_and_defaults import Config
from zktop.demo.lessons import LESSONS
from zktop.demo.scenes import scene_named
from zktop.demo_types.contender_order import DEMO_ROOT
from zktop.demo_types.lesson import Lesson
from zktop.model.facts import SECOND_MS
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.ui.screens.demo.counters import counters
from zktop.ui.screens.demo.picture import draw_scene
from zktop.ui.styled_text import text_of
from zktop.zk import Access, Plan, parse_hosts

WITHIN_S = 60.0  # a scene takes at most three session timeouts and two seconds a step
WIDTH = 70

pytestmark = pytest.mark.timeout(3 * WITHIN_S)


class Classroom:
    """Contenders on a sandbox of their own, and what zktop reports of it."""

    def __init__(self, contenders: Contenders, watch: LiveRun) -> None:
        self.contenders, self._watch = contenders, watch

    def play(self, scene: str, claim: str) -> None:
        """Play a scene to its end, step by step; wait until the claim is counted."""
        self.contenders.load(scene)
        self.until(lambda _: self.progress == (scene, 0), f"{scene} is loaded")
        for number, move in enumerate(scene_named(scene).moves, start=1):
            self.contenders.control("step")
            self.until(lambda _, number=number: self.progress == (scene, number), move.says)
        self.until(lambda report: claim in self.counted(report), claim)

    def until(self, condition: Callable[[Report], bool], what: str) -> None:
        """Wait for a report of which the condition holds."""
        report = None
        for report in self._watch.reports(WITHIN_S):
            if condition(report):
                return
        counted = self.counted(report) if report else []
        pytest.fail(f"not within {WITHIN_S:.0f} s: {what}; counted: {counted}, {self.progress}")

    @property
    def progress(self) -> tuple[str, int]:
        """The scene that is loaded, and how many steps of it were played."""
        progress = self.contenders.progress
        return progress.scene.name if progress.scene else "", progress.played

    def counted(self, report: Report) -> list[str]:
        """The sentences below the picture."""
        folder = self.contenders.progress.folder or ""
        return counters(report, folder, self.contenders.states, self.contenders.count)

    def picture(self, report: Report) -> str:
        """The picture as text."""
        one = self.contenders
        drawn = draw_scene(report, one.progress.folder or "", one.states, one.count, WIDTH)
        return "\n".join(map(text_of, drawn.lines))

    def time_of(self, who: str, says: str) -> int:
        """When a contender said this, in milliseconds."""
        lines = self.contenders.log(500, who)
        return next(line.at for line in lines if says in line.says)


@pytest.fixture
def classroom() -> Iterator[Classroom]:
    """A sandbox, its contenders, and zktop."""
    settings = Settings(roots=(Root(f"{DEMO_ROOT}/**"),))
    plan = Plan(roots=(f"{DEMO_ROOT}/**",), sample_every=0.5)
    with (
        sandbox_server() as server,
        LiveRun(Access(parse_hosts(server.address)), plan, settings) as watch,
    ):
        contenders = Contenders(Config(), server.address)
        watch.read()
        try:
            yield Classroom(contenders, watch)
        finally:
            contenders.close()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.title)
def test_a_lesson_claims_what_is_measured(classroom: Classroom, lesson: Lesson) -> None:
    """The counter of each part, at its end."""
    for part in lesson.parts:
        classroom.play(part.scene, part.counted)


def test_a_herd_is_drawn_as_arrows_to_the_children_of_the_lock(classroom: Classroom) -> None:
    """No server lists these watches: the contenders say so."""
    classroom.play("herd", "1 release woke 5 clients, 1 could go on.")

    def is_drawn(report: Report) -> bool:
        text = classroom.picture(report)
        return "its children ◀─╮" in text and text.count("──┤") == 3 and text.count("──╯") == 1

    classroom.until(is_drawn, "four arrows to the children")
    classroom.until(
        lambda report: classroom.picture(report).count("woken for nothing") == 4, "woken in vain"
    )


def test_a_reader_behind_a_writer_waits_to_read(classroom: Classroom) -> None:
    """The answer of the lesson on readers and writers."""
    classroom.play("readers-and-writers", "2 clients share the lock, 3 wait.")

    classroom.until(lambda report: "r3      waits to read" in classroom.picture(report), "r3")


def test_a_lock_is_free_only_when_the_session_of_its_dead_holder_has_expired(
    classroom: Classroom,
) -> None:
    """'Five seconds in the sandbox', says the lesson on crashes."""
    classroom.play("crash", "1 crash woke 1 client, 1 could go on.")
    waited_ms = classroom.time_of("bob", "acquired") - classroom.time_of("ann", "killed")

    assert SHORT_SESSION_S - 3 < waited_ms / SECOND_MS < SHORT_SESSION_S + 6


def test_a_release_wakes_no_client_after_a_lost_wake_up(classroom: Classroom) -> None:
    """What the question of the last lesson asks the learner to try."""
    classroom.play("lost-wake-up", LESSONS[-1].parts[0].counted)
    classroom.contenders.act("release", "ann")

    classroom.until(lambda report: "1 release woke no client." in classroom.counted(report), "it")
    cid = next(state for state in classroom.contenders.states if state.name == "cid")
    assert cid.state == "waits"
