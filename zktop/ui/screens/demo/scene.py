"""Lines about a scene or a recipe: what a scene teaches, its moves, what to look at."""

from zktop.demo_types import RecipeInfo, Scene, SceneProgress
from zktop.model.format import count
from zktop.ui.styled_text import Ink, Line, Run, hanging, line, wrapped

MARKS: dict[str, tuple[str, Ink]] = {
    "done": ("✓", "good"),
    "now": ("▶", "selected"),
    "ahead": ("·", "dim"),
}
WORDS: dict[str, tuple[str, Ink]] = {
    "empty": ("no scene is loaded", "dim"),
    "paused": ("PAUSED", "warning"),
    "playing": ("PLAYING", "good"),
    "over": ("OVER: it stays as it is", "info"),
    "failed": ("FAILED", "critical"),
    "cleaning": ("CLEANING UP", "warning"),
}


def progress_lines(progress: SceneProgress, width: int) -> list[Line]:
    """The loaded scene, with its moves, or an invitation to play one."""
    scene = progress.scene
    word, ink = WORDS[progress.phase]
    if scene is None:
        return [line(("SCENE  ", "title"), (word, ink), ". "), *_invitation(width)]
    moves = f"{progress.played}/{len(scene.moves)}"
    lines = [line(("SCENE  ", "title"), (scene.title, "strong"), f"  {moves}  ", (word, ink))]
    lines += wrapped(scene.teaches, width, indent="  ")
    for number, move in enumerate(scene.moves, start=1):
        lines += _move(number, move.says, progress, width)
    if progress.problem:
        lines += wrapped(progress.problem, width, "critical", "  ")
    lines += [line()]
    lines += wrapped(f"Look at: {scene.look_at}", width, "info", "  ")
    if progress.folder:
        lines.append(line(("  Its locks are below ", "dim"), (progress.folder, "dim")))
    return lines


def _invitation(width: int) -> list[Line]:
    text = (
        "S or enter plays a scene: contenders as real processes, in a situation worth seeing. "
        "N starts a contender of your own. Outside the demo root, nothing is written unasked."
    )
    return wrapped(text, width, "dim", "  ")


def _move(number: int, says: str, progress: SceneProgress, width: int) -> list[Line]:
    state = "done" if number <= progress.played else "ahead"
    if number == progress.played + 1 and progress.is_moving:
        state = "now"
    mark, ink = MARKS[state]
    head: Line = (Run(f"  {mark} ", ink), Run(f"{number:>2} ", "dim"))
    return hanging(head, says, width, "dim" if state == "ahead" else "plain")


def scene_lines(scene: Scene, width: int) -> list[Line]:
    """What a scene that is not loaded teaches."""
    moves = count(len(scene.moves), "move")
    lines = [line(("SCENE  ", "title"), (scene.title, "strong"), f"  {moves}")]
    lines += wrapped(scene.teaches, width, indent="  ")
    lines += [line()]
    lines += wrapped(f"Look at: {scene.look_at}", width, "info", "  ")
    lines += [line(), line(("  enter plays it, ] plays it move by move", "dim"))]
    return lines


def recipe_lines(recipe: RecipeInfo, width: int) -> list[Line]:
    """What a recipe does, and its flaws."""
    lines = [line(("RECIPE  ", "title"), (recipe.name, "strong"), f"  {recipe.source}")]
    lines += wrapped(recipe.story, width, indent="  ")
    if recipe.broken:
        lines += wrapped(f"BROKEN: {recipe.broken}", width, "critical", "  ")
    for flaw in recipe.flaws:
        lines += wrapped(f"mistake {flaw.name}: {flaw.does}", width, "warning", "  ")
    lines += [line(), line(("  enter starts contenders of it", "dim"))]
    return lines
