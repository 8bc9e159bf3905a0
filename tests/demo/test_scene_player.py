"""Playing scenes: step by step, with a pause, stopped half-way, again and again."""

import threading

import pytest
from demo.contenders import PATIENCE_S, Bench

from zktop.demo.scene_player import SceneFailedError, SceneRun
from zktop.demo.scenes import SCENES, scene_named
from zktop.demo.scenes.building_blocks import contends, first
from zktop.demo_types.contender_order import ClientSettings
from zktop.demo_types.contender_state import ContenderStep
from zktop.demo_types.scene_moves import (
    CommandContender,
    ExpectedStep,
    Scene,
    SceneLine,
    SceneMove,
)

DUO = Scene(
    "duo",
    "Two moves",
    "How to wait.",
    (
        first(contends("ann", "predecessor", "x")),
        SceneMove(
            "ann goes",
            (CommandContender("ann", "release"),),
            (ExpectedStep("ann", "released"),),
            ("ann",),
        ),
    ),
    "nothing",
)


def player(bench: Bench, scene: Scene = DUO, lines: list[SceneLine] | None = None) -> SceneRun:
    """A player on this bench."""
    lines = [] if lines is None else lines
    connection = ClientSettings(bench.hosts, session_timeout_s=2.0)
    return SceneRun(scene, bench.pool, bench.log, connection, lines.append)


def test_a_step_is_one_move(bench: Bench):
    """It returns when what the move is for has happened."""
    duo = player(bench)
    duo.step()

    assert duo.played == 1
    assert bench.log.believers("/zktop-demo/duo/x") == {"ann"}
    assert not duo.over

    duo.step()

    assert duo.over
    assert bench.log.believers("/zktop-demo/duo/x") == set()


def test_a_timeout_is_seen_however_slowly_the_scene_is_played(bench: Bench):
    """If bob gives up before cid is behind it, nothing is woken."""
    scene = scene_named("time-out")
    playing = player(bench, scene)
    for _ in scene.moves:
        playing.step()
        if bench.log.count("bob", "created"):
            bench.wait_for_step("bob", "gave-up")

    assert bench.log.count("cid", "notified") == 1


def test_the_pace_is_a_wait_that_a_stop_ends(bench: Bench):
    """Stopped between two moves of an hour's distance, it returns at once."""
    duo = player(bench)
    playing = threading.Thread(target=duo.play, args=(3600,))
    playing.start()
    bench.wait_for_step("ann", "acquired")
    duo.stop()
    playing.join(PATIENCE_S)

    assert not playing.is_alive()
    assert duo.over


def test_a_stop_ends_a_move_that_waits(bench: Bench):
    """However long it would have waited."""
    endless = Scene(
        "endless",
        "",
        "",
        (SceneMove("waits", (), (ExpectedStep("nobody", "lost"),)),),
        "",
    )
    waiting = player(bench, endless)
    playing = threading.Thread(target=waiting.play)
    playing.start()
    waiting.stop()
    playing.join(PATIENCE_S)

    assert not playing.is_alive()


def test_a_scene_can_be_played_again_over_its_own_remains(bench: Bench):
    """What was left half-way is cleared away first."""
    player(bench).step()
    again = player(bench)

    again.play()
    again.clean_up()

    assert bench.pool.states() == ()
    assert bench.zookeeper.exists("/zktop-demo") is None


def test_other_contenders_are_left_alone(bench: Bench):
    """Clean-up ends the scene's contenders, and no others."""
    bench.queue_up("predecessor", "mine")
    duo = player(bench)
    duo.step()
    duo.clean_up()

    assert [one.name for one in bench.pool.states()] == ["mine"]
    assert bench.nodes() == ["lock-0000000000"]


def test_a_move_that_fails_is_told_in_a_sentence(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    """Which scene, which move, and what did not happen."""
    monkeypatch.setattr("zktop.demo.scene_player.MOVE_TIMEOUT_S", -5.9)
    odd = Scene(
        "odd",
        "",
        "",
        (SceneMove("waits", (), (ExpectedStep("ann", "acquired"),)),),
        "",
    )

    with pytest.raises(SceneFailedError, match=r"move 1: did not happen within .*: ann acquired"):
        player(bench, odd).play()


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_every_move_waits_for_something(scene: Scene):
    """A move without a condition would make the end depend on luck."""
    assert all(move.until or move.ended for move in scene.moves)


def test_scenes_have_names_of_their_own():
    """Two of one name could not be distinguished."""
    assert len({scene.name for scene in SCENES}) == len(SCENES)


def test_a_step_is_one_line_for_people():
    """The time, the contender, and its sentence."""
    step = ContenderStep("ann", "acquired", "acquired /x", "2026-01-31T12:00:00.123Z")

    assert step.line() == "12:00:00.123 ann: acquired /x"


def test_a_stop_within_a_move_starts_no_more_clients(bench: Bench):
    """Cleaning up would have to end them at once."""
    both = contends("ann", "predecessor", "x"), contends("bob", "predecessor", "x")
    move = SceneMove("two come", both, (ExpectedStep("ann", "lost"), ExpectedStep("bob", "lost")))
    duo = player(bench, Scene("late", "", "", (move,), ""))
    playing = threading.Thread(target=duo.step)
    playing.start()
    bench.wait_for_step("ann", "acquired")
    duo.stop()
    playing.join(PATIENCE_S)

    assert [one.name for one in bench.pool.states()] == ["ann"]
