"""The catalogue: every rule, in the order of the screen, and what facts cannot decide.

A new rule is a function in the module of its family and its name in that module's RULES.
"""

from typing import Final, TypeAlias, cast

from zktop.model.findings import (
    blocked,
    deadlocks,
    expiries,
    foreign,
    inversions,
    outages,
    performance,
    roots,
    safety,
    structure,
    wakeups,
)
from zktop.model.findings.examination import Examination
from zktop.model.findings.rule import Rule
from zktop.model.findings.surroundings import Interview, Survey

AnyRule: TypeAlias = "Rule[Examination] | Rule[Interview] | Rule[Survey]"

_FIRST: Final = (
    *("D1", "D2", "D3", "D4", "D5", "D7"),
    *("S1", "S2", "S4"),
    *("B1", "B10", "B11", "B2", "B3", "B4", "B5"),
    *("L2", "L1"),
    *("S3", "S6", "S7"),
)


def _ordered(rules: tuple[AnyRule, ...]) -> tuple[AnyRule, ...]:
    """Put the gravest in front; the others stay in the order of their families."""
    rank = {rule_id: place for place, rule_id in enumerate(_FIRST)}
    return tuple(sorted(rules, key=lambda rule: rank.get(rule.id, len(_FIRST))))


RULES: Final[tuple[AnyRule, ...]] = _ordered(
    (
        *deadlocks.RULES,
        *inversions.ORDER_RULES,
        *blocked.RULES,
        *foreign.RULES,
        *wakeups.RULES,
        *safety.RULES,
        *foreign.SPLIT,
        *performance.RULES,
        *outages.RULES,
        *expiries.RULES,
        *structure.RULES,
        *roots.RULES,
    )
)

RANK: Final = {rule.id: place for place, rule in enumerate(RULES)}

# A rule's scope says what its function takes; the type checker cannot follow that.
LOCK_RULES: Final = tuple(cast("Rule[Examination]", r) for r in RULES if r.scope == "lock")
SESSION_RULES: Final = tuple(cast("Rule[Interview]", r) for r in RULES if r.scope == "session")
SURVEY_RULES: Final = tuple(
    cast("Rule[Survey]", rule) for rule in RULES if rule.scope in ("whole", "server")
)

# Parts of rules that no fact decides, and why. Every rule of the catalogue is in RULES.
UNDECIDED: Final = (
    ("B5", "that two servers disagree about one node: zktop lists through one connection"),
    ("L6", "a poller that owns no node: its requests name no path in any table"),
    ("L8", "that the re-reads come within a second of a release: tables are read too rarely"),
    ("P12", "how long our own reads take: no fact carries it"),
    ("S3", "whether a host or a network is silent: shown by the sessions page, side by side"),
    ("S5", "who deleted a node: servers do not record it, so the rule stays a hint"),
)
