"""Which orders are valid, and the sentences that refuse the others."""

import os
import subprocess
import sys

import msgspec
import pytest

from zktop.demo.contender import checked_order
from zktop.demo.parse_order import read_order
from zktop.demo.recipes import RECIPES
from zktop.demo_types.contender_order import ClientSettings, ContenderOrder, LockClaim
from zktop.errors import UsageError


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (
            LockClaim("poll", "/app/lock"),
            "demo clients write only below /zktop-demo, and /app/lock",
        ),
        (LockClaim("poll", "/zktop-demo"), "demo clients write only below /zktop-demo, and"),
        (
            LockClaim("poll", "/zktop-demonstration/x"),
            "demo clients write only below /zktop-demo, and",
        ),
        (LockClaim("poll", "/zktop-demo/../app"), "not a lock path: '/zktop-demo/../app'"),
        (LockClaim("poll", "/zktop-demo/x/"), "not a lock path: '/zktop-demo/x/'"),
        (LockClaim("poll", "x"), "not a lock path: 'x'"),
        (LockClaim("pole", "/zktop-demo/x"), "there is no recipe 'pole'; there are: poll, "),
        (
            LockClaim("rw", "/zktop-demo/x", mode="lease"),
            "recipe rw has no mode 'lease'; it has: read",
        ),
        (
            LockClaim("poll", "/zktop-demo/x", flaw="y"),
            "recipe poll has no flaw 'y'; it has: failed",
        ),
        (
            LockClaim("get-watch", "/zktop-demo/x", flaw="y"),
            "recipe get-watch has no flaw 'y'; it has",
        ),
    ],
)
def test_an_impossible_claim_is_refused_in_a_sentence(claim: LockClaim, sentence: str):
    """Before anything is connected."""
    with pytest.raises(UsageError) as refusal:
        checked_order(ContenderOrder("a", (claim,)))

    assert str(refusal.value).startswith(sentence)


def test_a_refused_order_is_exit_code_2():
    """One line on stderr, nothing on stdout, no traceback."""
    order = msgspec.json.encode(ContenderOrder("a", (LockClaim("poll", "/app/lock"),))).decode()
    done = subprocess.run(
        [sys.executable, "-m", "zktop.demo", str(os.getpid())],
        input=order,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("demo clients write only below /zktop-demo")
    assert done.stderr.count("\n") == 1


def test_an_order_that_is_not_json_is_refused_in_a_sentence():
    """The sentence says what is wrong with the JSON."""
    with pytest.raises(UsageError, match="not a valid order: JSON is malformed"):
        read_order("work harder")


def test_an_order_travels_as_json():
    """No field is lost or changed."""
    order = ContenderOrder(
        "a",
        (
            LockClaim("rw", "/zktop-demo/x", "write", timeout_s=1.5),
            LockClaim("poll", "/zktop-demo/y"),
        ),
        ClientSettings(
            "zk1:2181/app", auth=(("digest", "me:sesame"),), sasl={"mechanism": "GSSAPI"}
        ),
        work="oversleep",
        rounds=0,
    )

    assert read_order(msgspec.json.encode(order)) == order


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_recipe_is_described(recipe: type):
    """Where it comes from, what it does in one line, and what each flaw does."""
    found = [recipe.info().story, recipe.source, *(flaw.does for flaw in recipe.flaws)]

    assert all(found)
    assert "\n" not in "".join(found)


def test_recipes_have_names_of_their_own():
    """A name stands for one recipe."""
    assert len({recipe.name for recipe in RECIPES}) == len(RECIPES)
