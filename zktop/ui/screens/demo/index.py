"""The list on the left of screen 6: lessons, other scenes in groups, recipes."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from zktop.demo_types.contender_order import RecipeInfo
from zktop.demo_types.lesson import Lesson
from zktop.demo_types.scene_moves import Scene
from zktop.ui.interfaces import ContendersPort
from zktop.ui.screens.demo.lesson_lines import lesson_of
from zktop.ui.styled_text import NOTHING, Line, Run, line

Target = Lesson | Scene | RecipeInfo


class IndexEntry(NamedTuple):
    """A line of the list, and the item that it selects. A heading selects None."""

    drawn: Line
    target: Target | None = None


def entries(
    port: ContendersPort, loaded: Target | None, done: Collection[str]
) -> Iterator[IndexEntry]:
    """Yield all lines. `loaded` gets the arrow; `done` contains the names of completed scenes."""
    if port.lessons:
        yield IndexEntry(line(("LESSONS", "title")))
    for number, lesson in enumerate(port.lessons, start=1):
        is_done = all(part.scene in done for part in lesson.parts)
        yield _entry(f"{number} {lesson.title}", lesson, loaded, is_done=is_done)
    if port.lessons:
        yield IndexEntry(NOTHING)
    yield IndexEntry(line(("OTHER SCENES" if port.lessons else "SCENES", "title")))
    others = [scene for scene in port.scenes if lesson_of(port.lessons, scene) is None]
    for group in dict.fromkeys(scene.group for scene in others):
        yield IndexEntry(line((f" {group}", "dim")))
        for scene in others:
            if scene.group == group:
                yield _entry(f"  {scene.title}", scene, loaded, is_done=scene.name in done)
    yield IndexEntry(NOTHING)
    yield IndexEntry(line(("RECIPES", "title")))
    for recipe in port.recipes:
        mark = Run("!", "warning") if recipe.broken else Run(" ")
        yield IndexEntry((mark, Run(f" {recipe.name}")), recipe)


def _entry(
    title: str, target: Lesson | Scene, loaded: Target | None, *, is_done: bool
) -> IndexEntry:
    if target == loaded:
        return IndexEntry(line(("▶", "good"), (f" {title}", "selected")), target)
    return IndexEntry(line(("✓" if is_done else " ", "good"), f" {title}"), target)
