"""The scene that is on, as lines: what it teaches, its moves, and what to look at."""

from zktop.model.format import count
from zktop.ui.ports import RecipeCard, SceneCard, Showing
from zktop.ui.styled_text import Ink, Line, Run, line, wrapped

MARKS: dict[str, tuple[str, Ink]] = {
    "done": ("✓", "good"),
    "now": ("▶", "selected"),
    "ahead": ("·", "dim"),
}
WORDS: dict[str, tuple[str, Ink]] = {
    "empty": ("no scene is on", "dim"),
    "paused": ("PAUSED", "warning"),
    "playing": ("PLAYING", "good"),
    "over": ("OVER: as it is now, it stays", "info"),
    "failed": ("FAILED", "critical"),
    "cleaning": ("CLEANING UP", "warning"),
}


def showing_lines(showing: Showing, width: int) -> list[Line]:
    """Draw the scene that is on."""
    scene = showing.scene
    word, ink = WORDS[showing.phase]
    if scene is None:
        return [line(("SCENE  ", "title"), (word, ink), ". "), *_invitation(width)]
    moves = f"{showing.played}/{len(scene.moves)}"
    lines = [line(("SCENE  ", "title"), (scene.title, "strong"), f"  {moves}  ", (word, ink))]
    lines += wrapped(scene.teaches, width, indent="  ")
    for number, says in enumerate(scene.moves, start=1):
        lines += _move(number, says, showing, width)
    if showing.problem:
        lines += wrapped(showing.problem, width, "critical", "  ")
    lines += [line()]
    lines += wrapped(f"Look at: {scene.look_at}", width, "info", "  ")
    if showing.folder:
        lines.append(line(("  Its locks are below ", "dim"), (showing.folder, "dim")))
    return lines


def _invitation(width: int) -> list[Line]:
    said = (
        "S or enter plays a scene: contenders as real processes, in a situation worth seeing. "
        "N starts a contender of your own. Outside the demo root, nothing is written unasked."
    )
    return wrapped(said, width, "dim", "  ")


def _move(number: int, says: str, showing: Showing, width: int) -> list[Line]:
    state = "done" if number <= showing.played else "ahead"
    if number == showing.played + 1 and showing.is_moving:
        state = "now"
    mark, ink = MARKS[state]
    first, *rest = wrapped(says, width - 7, "dim" if state == "ahead" else "plain") or [()]
    head: Line = (Run(f"  {mark} ", ink), Run(f"{number:>2} ", "dim"), *first)
    return [head, *((Run(" " * 7), *more) for more in rest)]


def scene_lines(scene: SceneCard, width: int) -> list[Line]:
    """Tell what a scene is about that is not on."""
    moves = count(len(scene.moves), "move")
    lines = [line(("SCENE  ", "title"), (scene.title, "strong"), f"  {moves}")]
    lines += wrapped(scene.teaches, width, indent="  ")
    lines += [line()]
    lines += wrapped(f"Look at: {scene.look_at}", width, "info", "  ")
    lines += [line(), line(("  enter plays it, ] plays it move by move", "dim"))]
    return lines


def recipe_lines(recipe: RecipeCard, width: int) -> list[Line]:
    """Tell what a recipe does."""
    lines = [line(("RECIPE  ", "title"), (recipe.name, "strong"), f"  {recipe.source}")]
    lines += wrapped(recipe.story, width, indent="  ")
    if recipe.broken:
        lines += wrapped(f"BROKEN: {recipe.broken}", width, "critical", "  ")
    for name, does in recipe.flaws:
        lines += wrapped(f"mistake {name}: {does}", width, "warning", "  ")
    lines += [line(), line(("  enter starts contenders of it", "dim"))]
    return lines
