"""The texts of the lessons: complete, in order, and about scenes that exist."""

import pytest

from zktop.demo.lessons import LESSONS
from zktop.demo.scenes import SCENES
from zktop.demo_types.lesson import Lesson

EACH = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.title)
MAX_WORDS = 90  # of a paragraph that fits beside its picture


def test_there_are_six_in_the_order_of_learning():
    """From a queue that works to one that sleeps for ever."""
    assert [one.parts[0].scene for one in LESSONS] == [
        "queue", "herd", "readers-and-writers", "ab-ba", "crash", "lost-wake-up",
    ]  # fmt: skip


def test_no_scene_is_in_two_lessons():
    """So that a scene that plays tells which lesson is shown."""
    names = [part.scene for one in LESSONS for part in one.parts]

    assert len(names) == len({*names})
    assert {*names} <= {scene.name for scene in SCENES}


def test_every_other_scene_is_in_a_group():
    """A group of its own kind, that is: 'More' is for scenes that users add."""
    assert [scene.name for scene in SCENES if scene.group == "More"] == []


@EACH
def test_a_lesson_is_one_or_two_scenes(lesson: Lesson):
    """The second one is the cure, or the next step."""
    assert len(lesson.parts) in (1, 2)


@EACH
def test_a_lesson_is_written_in_sentences(lesson: Lesson):
    """The question asks something; nothing is longer than a paragraph."""
    assert lesson.about.endswith(".")
    assert "?" in lesson.question
    assert lesson.answer.endswith(".")
    for text in (lesson.about, lesson.question, lesson.answer):
        assert len(text.split()) <= MAX_WORDS
    assert not any(says.endswith(".") for says in lesson.look_at)
