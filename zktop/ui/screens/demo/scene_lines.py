"""Lines about a scene or a recipe: what it teaches, its moves, and what to look at."""

from zktop.demo_types.contender_order import RecipeInfo
from zktop.demo_types.scene_moves import Scene, SceneProgress
from zktop.model.format import count
from zktop.ui.inks import Ink
from zktop.ui.styled_text import NOTHING, Line, Run, hanging_lines, line, wrapped
from zktop.ui.view_state import KeyOf

MARKS: dict[str, tuple[str, Ink]] = {
    "done": ("✓", "good"),
    "now": ("▶", "selected"),
    "ahead": ("·", "dim"),
}
PHASES: dict[str, str] = {
    "empty": "",
    "paused": "Paused",
    "playing": "Playing",
    "over": "Finished (state is kept; {} cleans up)",
    "failed": "Failed",
    "cleaning": "Cleaning up",
}


def caption(progress: SceneProgress, width: int, key_of: KeyOf) -> list[Line]:
    """Return the current or last move, and any reason why the scene cannot continue."""
    scene = progress.scene
    if scene is None:
        return []
    number = min(progress.played + progress.is_moving, len(scene.moves))
    if number:
        mark, ink = MARKS["now" if progress.is_moving else "done"]
        head = line((f" {mark} ", ink), (f"{number}/{len(scene.moves)}  ", "dim"))
        lines = hanging_lines(head, scene.moves[number - 1].says, width - 1, "strong")
    else:
        play, step = map(key_of, ("scene_play", "scene_step"))
        lines = [line((f" {play} plays it, {step} plays one step", "dim"))]
    if progress.problem:
        lines += wrapped(progress.problem, width - 1, "critical", " ")
    return lines


def scene_lines(scene: Scene, progress: SceneProgress, width: int, key_of: KeyOf) -> list[Line]:
    """Describe a scene: what it teaches, and its moves. Those already played have a mark."""
    is_loaded = progress.scene is not None and progress.scene.name == scene.name
    moves = count(len(scene.moves), "step")
    lines = [line(("SCENE  ", "title"), (scene.title, "strong"), f"  {moves}")]
    lines += wrapped(scene.teaches, width, indent="  ")
    if is_loaded:
        for number, move in enumerate(scene.moves, start=1):
            lines += _move(number, move.says, progress, width)
    lines += [NOTHING, *wrapped(f"Notice: {scene.look_at}", width, "info", "  ")]
    if is_loaded and progress.folder:
        lines.append(line(("  Its locks are below ", "dim"), (progress.folder, "dim")))
    elif not is_loaded:
        how = f"  enter plays it, {key_of('scene_step')} plays it step by step"
        lines += [NOTHING, line((how, "dim"))]
    return lines


def _move(number: int, says: str, progress: SceneProgress, width: int) -> list[Line]:
    state = "done" if number <= progress.played else "ahead"
    if number == progress.played + 1 and progress.is_moving:
        state = "now"
    mark, ink = MARKS[state]
    head: Line = (Run(f"  {mark} ", ink), Run(f"{number:>2} ", "dim"))
    return hanging_lines(head, says, width, "dim" if state == "ahead" else "plain")


def recipe_lines(recipe: RecipeInfo, width: int) -> list[Line]:
    lines = [line(("RECIPE  ", "title"), (recipe.name, "strong"), f"  {recipe.source}")]
    lines += wrapped(recipe.story, width, indent="  ")
    if recipe.broken:
        lines += wrapped(f"BROKEN: {recipe.broken}", width, "critical", "  ")
    for flaw in recipe.flaws:
        lines += wrapped(f"mistake {flaw.name}: {flaw.does}", width, "warning", "  ")
    lines += [NOTHING, line(("  enter starts demo clients with it", "dim"))]
    return lines
