"""D: deadlocks that have not happened yet: locks that are taken in several orders (D9, D10)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zktop.model.findings.rule import Answer, Rule, Subject, Verdict, rule
from zktop.model.findings.surroundings import Survey
from zktop.model.findings.words import clock, several
from zktop.model.text import Text

if TYPE_CHECKING:  # most ensembles have none of them
    from zktop.model.waits.order_story import Inversion


@rule(
    "D9",
    "lock-order-inversion",
    "info",
    "whole",
    needs=("names", "stats", "history"),
    means="Actors take the same locks in different orders: a deadlock that has not happened yet.",
)
def order_inversion(survey: Survey) -> Iterator[Answer]:
    """Take rings in the order in which locks were taken so far."""
    return _potential("D9", "Agree on one order of these locks.", survey)


@rule(
    "D10",
    "unordered-nesting",
    "info",
    "whole",
    needs=("names", "stats", "history"),
    means="Several locks of one kind are taken together, in no fixed order.",
)
def unordered_nesting(survey: Survey) -> Iterator[Answer]:
    """Take rings among the locks of one class."""
    return _potential("D10", "Sort the keys before locking several of them.", survey)


def _potential(rule_id: str, advice: str, survey: Survey) -> Iterator[Answer]:
    for found in survey.inversions:
        if found.rule == rule_id:
            yield Verdict(
                about=Subject(
                    who=found.actors,
                    locks=tuple(dict.fromkeys(Text(turn.lock) for turn in found.turns)),
                    nodes=tuple(dict.fromkeys(Text(turn.node) for turn in found.turns)),
                ),
                sentence=_sentence(found),
                confidence=found.confidence,
                evidence=tuple((clue.supports, clue.text) for clue in found.evidence),
                advice=_with_majority(found, advice),
                id=found.id,
            )


def _sentence(found: "Inversion") -> str:
    """Say it; what has happened is no potential deadlock any more."""
    if found.deadlocked_at is None:
        return found.sentence
    happened = f"Deadlocked at {clock(found.deadlocked_at)}"
    return found.sentence.replace("Potential deadlock", happened, 1)


def _with_majority(found: "Inversion", advice: str) -> str:
    usual = f" Usual order: {found.majority}." if found.majority else ""
    odd = f" Odd one out: {several(found.odd_one_out)}." if found.odd_one_out else ""
    return advice + usual + odd


ORDER_RULES: tuple[Rule[Survey], ...] = (order_inversion, unordered_nesting)
