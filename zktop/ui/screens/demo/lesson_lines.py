"""Lines about a lesson: its subject, its parts, the question, and where to look."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from zktop.demo_types.lesson import Lesson
from zktop.demo_types.scene_moves import Scene, SceneProgress
from zktop.ui.screens import PAGES
from zktop.ui.screens.demo.scene_lines import MARKS
from zktop.ui.styled_text import NOTHING, Line, Run, hanging_lines, line, width_of, wrapped

INDENT: Final = "  "
PAGE_CELLS: Final = 14
QUESTION: Final = "QUESTION"


def lesson_of(lessons: Sequence[Lesson], scene: Scene | None) -> Lesson | None:
    name = scene.name if scene else None
    return next(
        (lesson for lesson in lessons if any(part.scene == name for part in lesson.parts)), None
    )


def next_scene(lesson: Lesson, progress: SceneProgress) -> str:
    """Return the scene that Enter plays: the loaded part, or the next one if it is over.

    >>> from zktop.demo_types.lesson import LessonPart
    >>> from zktop.demo_types.scene_moves import SceneMove
    >>> parts = (LessonPart("herd", ""), LessonPart("no-herd", ""))
    >>> lesson = Lesson("Herds", "", parts, "", "", ("", "", "", "", ""))
    >>> herd = Scene("herd", "The herd", "", (SceneMove("ann enters"),), "")
    >>> next_scene(lesson, SceneProgress()), next_scene(lesson, SceneProgress(herd))
    ('herd', 'herd')
    >>> next_scene(lesson, SceneProgress(herd, played=1))
    'no-herd'
    """
    names = [part.scene for part in lesson.parts]
    loaded = progress.scene.name if progress.scene else None
    if loaded not in names:
        return names[0]
    at = names.index(loaded)
    return names[(at + 1) % len(names)] if progress.phase == "over" else names[at]


def after_scene(
    lessons: Sequence[Lesson], scenes: Mapping[str, Scene], progress: SceneProgress
) -> list[Line]:
    """Return the hint that follows one part of a lesson: the key for the next part or lesson."""
    lesson = lesson_of(lessons, progress.scene)
    if lesson is None or progress.scene is None or progress.phase != "over":
        return []
    names = [part.scene for part in lesson.parts]
    following = names.index(progress.scene.name) + 1
    if following < len(names):
        title = scenes[names[following]].title
        return [line(" ", ("enter", "key"), (f" plays part {following + 1}: {title}", "dim"))]
    index = lessons.index(lesson) + 1
    if index == len(lessons):
        return []
    title = lessons[index].title
    return [line(" ", ("down, enter", "key"), (f" play lesson {index + 1}: {title}", "dim"))]


class ShownLesson(NamedTuple):
    """A lesson, and the user's progress in it."""

    lesson: Lesson
    number: int
    scenes: Mapping[str, Scene]  # keys: their names
    progress: SceneProgress
    counted: Mapping[str, str]  # scene: what was counted in this part, once it was played
    is_answered: bool


def lesson_lines(shown: ShownLesson, width: int, answer_key: str) -> list[Line]:
    """Return the lesson as text. `answer_key` is the key that shows the answer."""
    lesson = shown.lesson
    head = line((f"LESSON {shown.number}  ", "title"))
    lines = hanging_lines(head, lesson.title, width, "strong")
    lines += wrapped(lesson.about, width, indent=INDENT)
    lines += [NOTHING, *_parts(shown, width)]
    lines += [
        NOTHING,
        line((QUESTION, "title")),
        *wrapped(lesson.question, width, indent=INDENT),
    ]
    if shown.is_answered:
        lines += [line(("ANSWER", "good")), *wrapped(lesson.answer, width, indent=INDENT)]
    else:
        lines.append(line("  ", (answer_key, "key"), (" shows the answer", "dim")))
    lines += [NOTHING, line(("LOOK AT", "title"))]
    for page, says in zip(PAGES, lesson.look_at, strict=False):
        head = line("  ", (page.key, "key"), f" {page.title}".ljust(PAGE_CELLS))
        if width >= 2 * width_of(head):
            lines += hanging_lines(head, says, width)
        else:
            lines += [head, *wrapped(says, width, indent=2 * INDENT)]
    return lines


def _parts(shown: ShownLesson, width: int) -> list[Line]:
    """Return the parts. Below each one that was played is what was counted in it."""
    progress, parts = shown.progress, shown.lesson.parts
    loaded = progress.scene.name if progress.scene else None
    following = next_scene(shown.lesson, progress)
    lines: list[Line] = []
    for number, part in enumerate(parts, start=1):
        scene, counted = shown.scenes.get(part.scene), shown.counted.get(part.scene)
        is_on = part.scene == loaded and progress.phase != "over"
        played = "done" if counted else "ahead"
        mark, ink = MARKS["now" if is_on else played]
        name = f"part {number}: " if len(parts) > 1 else ""
        title = scene.title if scene else part.scene
        lines += hanging_lines(line(INDENT, (f"{mark} ", ink)), f"{name}{title}", width)
        if part.scene == following and not is_on:
            hint = "enter plays it again" if part.scene == loaded else "enter plays it"
            if width_of(lines[-1]) + 2 + len(hint) <= width:
                lines[-1] = (*lines[-1], Run(f"  {hint}", "dim"))
            else:
                lines += wrapped(hint, width, "dim", 2 * INDENT)
        if counted and part.scene != loaded:  # for the loaded part it is below the picture
            lines += wrapped(counted, width, "info", f"{INDENT}    ")
    return lines
