"""The recipes, in the order shown. To add one, write a class in a module and an entry here."""

from zktop.demo.recipes import kazoo, read_write, sequential, single_node
from zktop.demo.recipes.recipe import LockRefusedError, PlaceLostError, Recipe, flaw_of
from zktop.demo_types.contender_order import LockClaim
from zktop.errors import UsageError

RECIPES: tuple[type[Recipe], ...] = (
    sequential.Poll,
    sequential.WatchParent,
    sequential.WatchPredecessor,
    sequential.WatchPredecessorByGet,
    single_node.SingleNode,
    read_write.ReadWriteHerd,
    read_write.ReadWriteHerdHost,
    read_write.ReadWrite,
    read_write.ReadWriteHost,
    read_write.NaiveReadWrite,
    kazoo.KazooLock,
    kazoo.KazooReadWrite,
    kazoo.KazooSemaphore,
    kazoo.KazooElection,
)
_BY_NAME = {recipe.name: recipe for recipe in RECIPES}


def recipe_of(claim: LockClaim) -> type[Recipe]:
    """Return the recipe of a claim. Raise UsageError if the recipe, mode or flaw does not exist.

    >>> recipe_of(LockClaim("poll", "/zktop-demo/x")).__name__
    'Poll'
    >>> recipe_of(LockClaim("pole", "/zktop-demo/x"))
    Traceback (most recent call last):
    zktop.errors.UsageError: there is no recipe 'pole'; there are: poll, parent-watch, ...
    """
    recipe = _BY_NAME.get(claim.recipe)
    if recipe is None:
        raise UsageError(f"there is no recipe {claim.recipe!r}; there are: {', '.join(_BY_NAME)}")
    if claim.mode is not None and claim.mode not in recipe.modes:
        modes = ", ".join(recipe.modes)
        raise UsageError(f"recipe {recipe.name} has no mode {claim.mode!r}; it has: {modes}")
    if claim.flaw is not None:
        flaw_of(recipe, claim.flaw)  # only to check it: raises UsageError
    return recipe


__all__ = ["RECIPES", "LockRefusedError", "PlaceLostError", "Recipe", "recipe_of"]
