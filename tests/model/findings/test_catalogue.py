"""The catalogue as a whole: complete, documented, and tried rule by rule.

A test named test_b1_fires_... holds a case of rule B1, one named test_b1_is_quiet_... a near miss.
The tests here run them all again and observe what the rule answers.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import msgspec
import pytest
from model.findings.cases import BY_ID

from zktop.model.findings import apply
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import RuleMatch

HERE = Path(__file__).parent
FAMILIES = {"D": 10, "B": 11, "L": 11, "S": 7, "P": 17, "R": 10}
EVERY = [f"{family}{n}" for family, number in FAMILIES.items() for n in range(1, number + 1)]
NAMED = re.compile(r"test_((?:[dblspr]\d+_)+)(fires|is_quiet)")

PARAMETERS = type(pytest.param())

Run = Callable[[], object]


def runs(rule: str, kind: str) -> Iterator[Run]:
    """The tests of this folder that are named after a rule, with each set of their parameters."""
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(f"model.findings.{path.stem}")
        for name, test in inspect.getmembers(module, inspect.isfunction):
            named = NAMED.match(name)
            if named and named[2] == kind and rule.lower() in named[1].split("_"):
                yield from with_parameters(test)


def with_parameters(test: Callable[..., object]) -> Iterator[Run]:
    """A test with each set of its parameters, as pytest calls it."""
    marks = [one for one in getattr(test, "pytestmark", []) if one.name == "parametrize"]
    for values in product(*(mark.args[1] for mark in marks)):
        arguments: dict[str, object] = {}
        for mark, value in zip(marks, values, strict=True):
            names = mark.args[0]
            keys = names.split(", ") if isinstance(names, str) else names
            several = value.values if isinstance(value, PARAMETERS) else value
            is_single = len(keys) == 1 and not isinstance(value, PARAMETERS)
            arguments |= zip(keys, (value,) if is_single else several, strict=True)
        yield partial(test, **arguments)


def answered(rule: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Run a test; return for each question to the rule whether it found something."""
    found: list[bool] = []
    real = BY_ID[rule]

    def check(context: object) -> list[object]:
        results = list(real.check(context))
        found.append(any(isinstance(result, RuleMatch) for result in results))
        return results

    observed = msgspec.structs.replace(real, check=check)
    monkeypatch.setitem(BY_ID, rule, observed)
    for name in ("LOCK_RULES", "SESSION_RULES", "ENSEMBLE_RULES"):
        rules = tuple(observed if one is real else one for one in getattr(apply, name))
        monkeypatch.setattr(apply, name, rules)
    apply.fitting_rules.cache_clear()
    run()
    apply.fitting_rules.cache_clear()
    monkeypatch.undo()
    return found


def test_all_rules_are_there_once() -> None:
    """The ids of each family count from 1 on."""
    assert sorted(rule.id for rule in RULES) == sorted(EVERY)


@pytest.mark.parametrize("rule", EVERY)
def test_each_rule_fires_in_its_case(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At least one test is named after it, and in that one it finds something."""
    assert any(any(answered(rule, run, monkeypatch)) for run in runs(rule, "fires"))


@pytest.mark.parametrize("rule", EVERY)
def test_each_rule_is_quiet_in_its_near_miss(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked about a case that is nearly one of its own, and finds nothing."""
    assert any(False in answered(rule, run, monkeypatch) for run in runs(rule, "is_quiet"))


def test_the_gravest_rules_come_first() -> None:
    """As the screen shows them."""
    ids = [rule.id for rule in RULES]

    assert ids[:6] == ["D1", "D2", "D3", "D4", "D5", "D7"]
    assert " ".join(ids[6:21]) == "S1 S2 S4 B1 B10 B11 B2 B3 B4 B5 L2 L1 S3 S6 S7"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_explains_itself(rule: object) -> None:
    """Its name is a slug, its meaning one sentence, its causes are known."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.means.endswith(".")
    assert rule.means[0].isupper()
    assert {one for _, ids in rule.after for one in ids.split()} <= {*EVERY, "forever"}
    assert len({other.name for other in RULES}) == len(RULES)
