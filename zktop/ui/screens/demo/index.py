"""The list on the left of screen 6: lessons, other scenes in groups, recipes."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from zktop.demo_types.contender_order import RecipeInfo
from zktop.demo_types.lesson import Lesson
from zktop.demo_types.scene_moves import Scene
from zktop.ui.inks import Ink
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
        is_loaded = lesson == loaded
        mark = _mark(is_loaded=is_loaded, is_done=is_done)
        title = _title(f"{number} {lesson.title}", is_loaded=is_loaded)
        yield IndexEntry((mark, *title), lesson)
    if port.lessons:
        yield IndexEntry(NOTHING)
    yield IndexEntry(line(("OTHER SCENES" if port.lessons else "SCENES", "title")))
    others = [scene for scene in port.scenes if lesson_of(port.lessons, scene) is None]
    for group in dict.fromkeys(scene.group for scene in others):
        yield IndexEntry(line((f" {group}", "dim")))
        for scene in others:
            if scene.group == group:
                is_loaded = scene == loaded
                mark = _mark(is_loaded=is_loaded, is_done=scene.name in done)
                title = _title(f"  {scene.title}", is_loaded=is_loaded)
                yield IndexEntry((mark, *title), scene)
    yield IndexEntry(NOTHING)
    yield IndexEntry(line(("RECIPES", "title")))
    for recipe in port.recipes:
        mark = Run("!", "warning") if recipe.broken else Run(" ")
        yield IndexEntry((mark, *_title(recipe.name)), recipe)


def _mark(*, is_loaded: bool, is_done: bool) -> Run:
    if is_loaded:
        return Run("▶", "good")
    return Run("✓", "good") if is_done else Run(" ")


def _title(text: str, *, is_loaded: bool = False) -> Line:
    ink: Ink = "selected" if is_loaded else "plain"
    return (Run(f" {text}", ink),)
