"""What a UI does with scenes: load, play, pause, step, stop; and no call of it waits."""

import threading
from collections.abc import Callable, Iterator

import pytest
from demo.contenders import PATIENCE_S, Bench

from zktop.demo.scene_player import ScenePlayer
from zktop.demo.scenes import scene_named
from zktop.demo.scenes.building_blocks import contends, first
from zktop.demo_types.contender_order import ClientSettings
from zktop.demo_types.scene_moves import (
    CommandContender,
    ExpectedStep,
    Scene,
    SceneMove,
    SceneProgress,
)

# What a bench does does not depend on the kind of server.
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
)
ENDLESS = Scene(
    "endless", "", "", (SceneMove("waits", (), (ExpectedStep("nobody", "lost"),)),), ""
)
NOBODY = Scene(
    "odd",
    "",
    "",
    (SceneMove("kills", (CommandContender("nobody", "kill"),), (), ("x",)),),
    "",
)


class ProgressLog:
    """Collects the progress of a scene, and waits for it."""

    def __init__(self) -> None:
        self.seen: list[SceneProgress] = []
        self._news = threading.Condition()

    def add(self, progress: SceneProgress) -> None:
        """Take in one change."""
        with self._news:
            self.seen.append(progress)
            self._news.notify_all()

    def until(self, condition: Callable[[SceneProgress], bool]) -> SceneProgress:
        """Wait for a progress; fails with the last one instead."""
        with self._news:
            now = lambda: self.seen and condition(self.seen[-1])  # noqa: E731
            happened = self._news.wait_for(now, PATIENCE_S)

        assert happened, self.seen[-1:]
        return self.seen[-1]

    def sees(self, phase: str, played: int | None = None) -> SceneProgress:
        """Wait until the player is in this phase, after so many moves."""
        return self.until(lambda one: one.phase == phase and played in (None, one.played))


@pytest.fixture
def shown() -> ProgressLog:
    """Records the progress."""
    return ProgressLog()


@pytest.fixture
def player(bench: Bench, shown: ProgressLog) -> Iterator[ScenePlayer]:
    """A bench with a pool."""
    connection = ClientSettings(bench.hosts, session_timeout_s=2.0)
    with ScenePlayer(bench.pool, bench.log, connection, shown.add) as player:
        yield player


def test_loaded_it_stands_before_the_first_move(player: ScenePlayer, shown: ProgressLog):
    """No contender is started yet."""
    player.load(TRIO)

    progress = shown.sees("paused", 0)

    assert (progress.scene, progress.folder) == (TRIO, "/zktop-demo/trio")
    assert progress.lines == ()


def test_a_step_is_one_move(player: ScenePlayer, shown: ProgressLog, bench: Bench):
    """Then it is paused again."""
    player.load(TRIO)
    player.step()
    progress = shown.sees("paused", 1)

    assert [line.number for line in progress.lines] == [0, 1]
    assert [one.name for one in bench.pool.states()] == ["ann"]


def test_it_plays_to_the_end(player: ScenePlayer, shown: ProgressLog):
    """Every move in turn, and the last line says what to look at."""
    player.play(TRIO, 0)
    progress = shown.sees("over", 3)

    assert [line.number for line in progress.lines] == [0, 1, 2, 3, 3]
    assert [one.played for one in shown.seen if one.is_moving and not one.lines] == [0]


def test_a_pause_is_heard_between_two_moves(player: ScenePlayer, shown: ProgressLog):
    """However long the pace is."""
    player.play(TRIO, 3600)
    shown.sees("playing", 1)
    player.pause()

    assert shown.sees("paused", 1).goal == 1


def test_play_resumes_after_a_pause_and_starts_over_after_the_end(
    player: ScenePlayer, shown: ProgressLog
):
    """As players do."""
    player.load(TRIO)
    player.step()
    player.play(pace_s=0)
    shown.sees("over", 3)
    shown.seen.clear()
    player.play(pace_s=0)

    assert len(shown.sees("over", 3).lines) == 5
    assert ("playing", 0) in [(one.phase, one.played) for one in shown.seen]


def test_a_stop_ends_a_move_that_waits(player: ScenePlayer, shown: ProgressLog):
    """Whatever it waits for will never come."""
    player.play(ENDLESS)
    shown.until(lambda one: one.is_moving)
    player.stop()

    shown.sees("empty")


def test_another_scene_takes_the_place_of_one_that_waits(player: ScenePlayer, shown: ProgressLog):
    """And finds the bench empty."""
    player.play(ENDLESS)
    shown.until(lambda one: one.is_moving)
    player.play(scene_named("queue"), 0)

    assert shown.sees("over").scene == scene_named("queue")


def test_stopped_it_leaves_nothing_behind(player: ScenePlayer, shown: ProgressLog, bench: Bench):
    """No contender, no node."""
    player.play(TRIO, 3600)
    shown.sees("playing", 1)
    player.stop()
    shown.sees("empty")

    assert bench.pool.states() == ()
    assert bench.zookeeper.exists("/zktop-demo") is None


def test_a_failure_is_a_sentence_and_not_the_end(player: ScenePlayer, shown: ProgressLog):
    """Another scene can be put on."""
    player.play(NOBODY)

    assert shown.sees("failed").problem == "there is no demo client 'nobody'"

    player.play(TRIO, 0)
    shown.sees("over", 3)


def test_a_failed_scene_can_be_tried_again(player: ScenePlayer, shown: ProgressLog, bench: Bench):
    """The name that was taken is free now."""
    bench.start("ann")
    player.play(TRIO, 0)

    assert "already a demo client 'ann'" in str(shown.sees("failed").problem)

    bench.pool.cancel("ann")
    bench.ended("ann")
    player.play(pace_s=0)
    shown.sees("over", 3)


def test_without_a_scene_nothing_happens(player: ScenePlayer, shown: ProgressLog):
    """Keys may be pressed in any order."""
    player.pause()
    player.step()
    player.play()
    player.stop()
    shown.until(lambda one: one == SceneProgress())

    assert {one.phase for one in shown.seen} == {"empty"}
