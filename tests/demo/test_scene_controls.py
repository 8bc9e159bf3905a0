"""What a UI does with scenes: load, play, pause, step, seek, stop; and no call of it waits."""

import threading
from collections.abc import Callable, Iterator

import pytest
from demo.contenders import PATIENCE_S, Stage

from zktop.demo.messages import ClientSettings
from zktop.demo.scene_player import ScenePlayer as Theatre
from zktop.demo.scene_player import SceneProgress
from zktop.demo.scenes import Scene, SceneEnd, scene_named
from zktop.demo.scenes.scene import CommandContender, ExpectedStep, SceneMove, contends, first

# What a stage does does not depend on the kind of server.
pytestmark = pytest.mark.parametrize("hosts", ["sandbox"], indirect=True, scope="session")

TRIO = Scene(
    "trio",
    "Three moves",
    "How to wait.",
    (
        first(contends("ann", "predecessor", "x")),
        first(contends("bob", "predecessor", "y")),
        SceneMove(
            "ann goes",
            (CommandContender("ann", "release"),),
            (ExpectedStep("ann", "released"),),
            ("ann",),
        ),
    ),
    "nothing",
    SceneEnd(),
)
ENDLESS = Scene(
    "endless", "", "", (SceneMove("waits", (), (ExpectedStep("nobody", "lost"),)),), "", SceneEnd()
)
NOBODY = Scene(
    "odd",
    "",
    "",
    (SceneMove("kills", (CommandContender("nobody", "kill"),), (), ("x",)),),
    "",
    SceneEnd(),
)


class Audience:
    """Hears what is shown, and waits for it."""

    def __init__(self) -> None:
        self.seen: list[SceneProgress] = []
        self._news = threading.Condition()

    def hear(self, showing: SceneProgress) -> None:
        """Take in one change."""
        with self._news:
            self.seen.append(showing)
            self._news.notify_all()

    def until(self, condition: Callable[[SceneProgress], bool]) -> SceneProgress:
        """Wait for a showing; fails with the last one instead."""
        with self._news:
            now = lambda: self.seen and condition(self.seen[-1])  # noqa: E731
            happened = self._news.wait_for(now, PATIENCE_S)

        assert happened, self.seen[-1:]
        return self.seen[-1]

    def sees(self, phase: str, played: int | None = None) -> SceneProgress:
        """Wait until the stage is in this phase, after so many moves."""
        return self.until(lambda one: one.phase == phase and played in (None, one.played))


@pytest.fixture
def audience() -> Audience:
    """Somebody who looks on."""
    return Audience()


@pytest.fixture
def theatre(stage: Stage, audience: Audience) -> Iterator[Theatre]:
    """A stage with a crew."""
    connection = ClientSettings(stage.hosts, session_timeout_s=2.0)
    with Theatre(stage.crew, stage.chronicle, connection, audience.hear) as theatre:
        yield theatre


def test_loaded_it_stands_before_the_first_move(theatre: Theatre, audience: Audience):
    """Nobody is hired yet."""
    theatre.load(TRIO)

    showing = audience.sees("paused", 0)

    assert (showing.scene, showing.folder) == (TRIO, "/zktop-demo/trio")
    assert showing.lines == ()


def test_a_step_is_one_move(theatre: Theatre, audience: Audience, stage: Stage):
    """And then it stands still again."""
    theatre.load(TRIO)
    theatre.step()
    showing = audience.sees("paused", 1)

    assert [line.number for line in showing.lines] == [0, 1]
    assert [hand.name for hand in stage.crew.hands()] == ["ann"]


def test_it_plays_to_the_end(theatre: Theatre, audience: Audience):
    """Every move in turn, and the last line says what to look at."""
    theatre.play(TRIO, 0)
    showing = audience.sees("over", 3)

    assert [line.number for line in showing.lines] == [0, 1, 2, 3, 3]
    assert [one.played for one in audience.seen if one.moving and not one.lines] == [0]


def test_a_pause_is_heard_between_two_moves(theatre: Theatre, audience: Audience):
    """However long the pace is."""
    theatre.play(TRIO, 3600)
    audience.sees("playing", 1)
    theatre.pause()

    assert audience.sees("paused", 1).goal == 1


def test_play_goes_on_after_a_pause_and_begins_anew_after_the_end(
    theatre: Theatre, audience: Audience
):
    """As players do."""
    theatre.load(TRIO)
    theatre.step()
    theatre.play(pace_s=0)
    audience.sees("over", 3)
    audience.seen.clear()
    theatre.play(pace_s=0)

    assert len(audience.sees("over", 3).lines) == 5
    assert ("playing", 0) in [(one.phase, one.played) for one in audience.seen]


@pytest.mark.parametrize(("start", "move", "names"), [(0, 2, "ann bob"), (3, 1, "ann")])
def test_seeking(
    theatre: Theatre, audience: Audience, stage: Stage, start: int, move: int, names: str
):
    """Forward it plays on; backward it begins anew. Then those are there who should be."""
    theatre.load(TRIO)
    theatre.seek(start)
    theatre.seek(move)
    audience.sees("paused", move)

    assert [hand.name for hand in stage.crew.hands()] == names.split()


def test_a_stop_ends_a_move_that_waits(theatre: Theatre, audience: Audience):
    """Whatever it waits for will never come."""
    theatre.play(ENDLESS)
    audience.until(lambda one: one.moving)
    theatre.stop()

    audience.sees("empty")


def test_another_scene_takes_the_place_of_one_that_waits(theatre: Theatre, audience: Audience):
    """And finds the stage empty."""
    theatre.play(ENDLESS)
    audience.until(lambda one: one.moving)
    theatre.play(scene_named("queue"), 0)

    assert audience.sees("over").scene == scene_named("queue")


def test_stopped_it_leaves_nothing_behind(theatre: Theatre, audience: Audience, stage: Stage):
    """No contender, no node."""
    theatre.play(TRIO, 3600)
    audience.sees("playing", 1)
    theatre.stop()
    audience.sees("empty")

    assert stage.crew.hands() == ()
    assert stage.zookeeper.exists("/zktop-demo") is None


def test_a_failure_is_a_sentence_and_not_the_end(theatre: Theatre, audience: Audience):
    """Another scene can be put on."""
    theatre.play(NOBODY)

    assert audience.sees("failed").problem == "nobody in the crew is called 'nobody'"

    theatre.play(TRIO, 0)
    audience.sees("over", 3)


def test_a_failed_scene_can_be_tried_again(theatre: Theatre, audience: Audience, stage: Stage):
    """The name that was taken is free now."""
    stage.hire("ann")
    theatre.play(TRIO, 0)

    assert "called 'ann' already" in str(audience.sees("failed").problem)

    stage.crew.cancel("ann")
    stage.ended("ann")
    theatre.play(pace_s=0)
    audience.sees("over", 3)


def test_without_a_scene_nothing_happens(theatre: Theatre, audience: Audience):
    """Keys may be pressed in any order."""
    theatre.pause()
    theatre.step()
    theatre.seek(3)
    theatre.play()
    theatre.stop()
    audience.until(lambda one: one == SceneProgress())

    assert {one.phase for one in audience.seen} == {"empty"}
