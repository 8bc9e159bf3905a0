"""The texts of recipes and scenes: complete, and short enough for a terminal."""

import pytest
from click.testing import CliRunner

from zktop.cli.main import zktop
from zktop.demo.recipes import RECIPES, Recipe
from zktop.demo.scenes import SCENES
from zktop.demo_types.scene_moves import Scene, StartContender

LINE = 79


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_describes_itself(recipe: type[Recipe]):
    """The description has what the recipe creates, lists, decides and watches."""
    for part in (recipe.creates, recipe.lists, recipe.decides, recipe.watches):
        assert part in recipe.info().story
    assert len(f"    {recipe.name:<15} {recipe.brief}") <= LINE


@pytest.mark.parametrize(
    ("article", "words"),
    [
        (1, ["mylock", "polls"]),
        (2, ["ZkClient", "/Mutex", "timeout", "retries"]),
        (3, ["exclusive lock", "host1-W- and host2-R-", "version 1", "version 2"]),
        (4, ["kazoo", "read- and write-", "sorted by name"]),
        (5, ["method 1", "method 2", "/lockKey_<id>/lock_"]),
    ],
)
def test_every_article_can_be_found(article: int, words: list[str]):
    """The sources of the recipes name each article, with words that a reader remembers."""
    sources = " ".join(one.source for one in RECIPES if f"article {article}" in one.source)

    assert [word for word in words if word not in sources] == []


def test_the_list_of_recipes_is_complete():
    """It has each recipe and each flaw, on lines that fit a terminal."""
    listed = CliRunner().invoke(zktop, ["contend", "--list"]).stdout

    assert [r.name for r in RECIPES if f"{r.name}: {r.source}" not in listed] == []
    assert [f.name for r in RECIPES for f in r.flaws if f"--flaw {f.name}:" not in listed] == []
    assert max(map(len, listed.splitlines())) <= LINE


def test_the_list_of_scenes_names_them_all():
    """`zktop scene --list` prints one line for each scene, in order."""
    listed = CliRunner().invoke(zktop, ["scene", "--list"]).stdout.splitlines()

    assert [line.split()[0] for line in listed] == [scene.name for scene in SCENES]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_scene_says_what_to_learn_and_what_to_look_at(scene: Scene):
    """`teaches` and `look_at` are sentences, the title is not, and moves are described briefly."""
    assert scene.teaches.endswith(".")
    assert scene.look_at.endswith(".")
    assert scene.title[0].isupper()
    assert not scene.title.endswith(".")
    for move in scene.moves:
        assert len(move.says) < 2 * LINE


def test_every_recipe_is_in_a_scene():
    """Three recipes are left out, because each differs little from one in a scene."""
    acts = (act for scene in SCENES for move in scene.moves for act in move.acts)
    played = {
        claim.recipe for act in acts if isinstance(act, StartContender) for claim in act.claims
    }

    assert {recipe.name for recipe in RECIPES} - played == {"kazoo-rw", "rw-herd", "rw-host"}


def test_every_flaw_is_in_a_scene():
    """For each flaw, a scene shows what it does."""
    acts = (act for scene in SCENES for move in scene.moves for act in move.acts)
    played = {
        claim.flaw for act in acts if isinstance(act, StartContender) for claim in act.claims
    }

    assert {flaw.name for recipe in RECIPES for flaw in recipe.flaws} <= played
