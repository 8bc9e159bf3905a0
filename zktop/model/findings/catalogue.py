"""The catalogue: every rule of the families below, most serious first.

To add a rule, write a function in the module of its family: `@Rule` adds it to the catalogue,
with its letters, rank and causes.
"""

from typing import Final, TypeAlias, cast

from zktop.model.findings import (
    busy_pollers,
    contention,
    dead_holders,
    deadlocks,
    foreign_children,
    herds,
    missed_wakeups,
    own_earlier_nodes,
    roots,
    sequence_numbers,
    servers,
    sessions,
    two_owners,
)
from zktop.model.findings.context import EnsembleContext, LockContext, SessionContext
from zktop.model.findings.finding import SEVERITIES, Finding, Rule

AnyRule: TypeAlias = "Rule[LockContext] | Rule[SessionContext] | Rule[EnsembleContext]"

FAMILIES: Final = (
    deadlocks,
    dead_holders,
    own_earlier_nodes,
    foreign_children,
    missed_wakeups,
    busy_pollers,
    herds,
    two_owners,
    sequence_numbers,
    sessions,
    contention,
    servers,
    roots,
)
_LETTERS: Final = "DBLSPR"  # the first letters of rule ids, in screen order


def _order(rule: AnyRule) -> tuple[int, int, int]:
    return rule.rank, _LETTERS.index(rule.id[0]), int(rule.id[1:])


RULES: Final[tuple[AnyRule, ...]] = tuple(
    sorted(
        (rule for family in FAMILIES for rule in vars(family).values() if isinstance(rule, Rule)),
        key=_order,
    )
)
RANK: Final = {rule.id: place for place, rule in enumerate(RULES)}
SCOPES: Final = {rule.id: rule.scope for rule in RULES}
TABLE_RULES: Final = frozenset(rule.id for rule in RULES if rule.tables)

# A rule's scope decides which context its function takes; the type checker cannot know that.
LOCK_RULES: Final = tuple(
    cast("Rule[LockContext]", rule) for rule in RULES if rule.scope == "lock"
)
SESSION_RULES: Final = tuple(
    cast("Rule[SessionContext]", rule) for rule in RULES if rule.scope == "session"
)
ENSEMBLE_RULES: Final = tuple(
    cast("Rule[EnsembleContext]", rule) for rule in RULES if rule.scope in ("whole", "server")
)


def screen_order(finding: Finding) -> tuple[int, int, int, str]:
    """Return the sort key: by severity, by rank of the rule, then oldest first."""
    since = finding.since or 0
    return SEVERITIES.index(finding.severity), RANK[finding.rule], since, finding.id
