"""The catalogue: every rule of the families below, the gravest first.

A new rule is one function in the module of its family: `@rule` makes it an entry here, with its
letters, its rank and its causes.
"""

from typing import Final, TypeAlias, cast

from zktop.model.findings import (
    contention,
    dead_holders,
    deadlocks,
    foreign_children,
    herds,
    own_earlier_nodes,
    roots,
    servers,
    sessions,
    two_owners,
    wakeups,
)
from zktop.model.findings.context import EnsembleContext, LockContext, SessionContext
from zktop.model.findings.finding import Rule

AnyRule: TypeAlias = "Rule[LockContext] | Rule[SessionContext] | Rule[EnsembleContext]"

FAMILIES: Final = (
    deadlocks,
    dead_holders,
    own_earlier_nodes,
    foreign_children,
    wakeups,
    herds,
    two_owners,
    sessions,
    contention,
    servers,
    roots,
)
_LETTERS: Final = "DBLSPR"  # of rule ids, in the order of the screen


def _order(rule: AnyRule) -> tuple[int, int, int]:
    return rule.rank, _LETTERS.index(rule.id[0]), int(rule.id[1:])


RULES: Final[tuple[AnyRule, ...]] = tuple(
    sorted(
        (one for family in FAMILIES for one in vars(family).values() if isinstance(one, Rule)),
        key=_order,
    )
)
RANK: Final = {rule.id: place for place, rule in enumerate(RULES)}
SCOPES: Final = {rule.id: rule.scope for rule in RULES}

# A rule's scope says what its function takes; the type checker cannot follow that.
LOCK_RULES: Final = tuple(cast("Rule[LockContext]", r) for r in RULES if r.scope == "lock")
SESSION_RULES: Final = tuple(
    cast("Rule[SessionContext]", r) for r in RULES if r.scope == "session"
)
ENSEMBLE_RULES: Final = tuple(
    cast("Rule[EnsembleContext]", rule) for rule in RULES if rule.scope in ("whole", "server")
)
