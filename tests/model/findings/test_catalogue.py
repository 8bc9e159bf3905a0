"""The catalogue as a whole: complete, documented, and tested rule by rule."""

import ast
import re
from pathlib import Path

import pytest

from zktop.model.findings.catalogue import RULES, UNDECIDED

HERE = Path(__file__).parent
FAMILIES = {"D": 10, "B": 11, "L": 11, "S": 7, "P": 15, "R": 9}
EVERY = {f"{family}{n}" for family, number in FAMILIES.items() for n in range(1, number + 1)}
TOLD = re.compile(r"test_((?:[dblspr]\d+_)+)(fires|is_quiet)")


def covered() -> dict[str, set[str]]:
    """Which rules have a test of each sort, by the names of the tests in this folder."""
    sorts: dict[str, set[str]] = {"fires": set(), "is_quiet": set()}
    for path in HERE.glob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            named = TOLD.match(node.name) if isinstance(node, ast.FunctionDef) else None
            if named:
                sorts[named[2]].update(named[1].upper().strip("_").split("_"))
    return sorts


def test_all_rules_are_there_once() -> None:
    """What no fact decides is a part of a rule, and is written down with its reason."""
    assert sorted(rule.id for rule in RULES) == sorted(EVERY)
    assert {rule for rule, _ in UNDECIDED} <= EVERY


@pytest.mark.parametrize("sort", ["fires", "is_quiet"])
def test_each_rule_has_a_case_that_fires_and_a_near_miss(sort: str) -> None:
    """By the names of the tests: test_b1_fires_..., test_b1_is_quiet_...."""
    assert not EVERY - covered()[sort]


def test_the_gravest_rules_come_first() -> None:
    """As the screen shows them."""
    ids = [rule.id for rule in RULES]

    assert ids[:6] == ["D1", "D2", "D3", "D4", "D5", "D7"]
    assert " ".join(ids[6:21]) == "S1 S2 S4 B1 B10 B11 B2 B3 B4 B5 L2 L1 S3 S6 S7"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_explains_itself(rule: object) -> None:
    """Its name is a slug, its meaning one sentence, its needs are known."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.means.endswith(".")
    assert rule.means[0].isupper()
    assert rule.needs
    assert len({other.name for other in RULES}) == len(RULES)
