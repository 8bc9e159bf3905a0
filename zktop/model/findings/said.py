"""What the last look found: about one lock or session, and about all together."""

from typing import TYPE_CHECKING, Final

import msgspec

from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import Blind, Finding
from zktop.model.findings.looks import Looks
from zktop.model.findings.surroundings import TABLES

if TYPE_CHECKING:  # most ensembles have none
    from zktop.model.waits.deadlock import Deadlock

# Also those whose sentence rests on what a waiter watches, though names alone may tell enough.
READ_TABLES: Final = frozenset(one.id for one in RULES if {*one.needs} & {*TABLES}) | {"S2", "S4"}


class Said(msgspec.Struct, frozen=True):
    """What was found, and since when."""

    looks: Looks = Looks()
    shown: tuple[Finding, ...] = ()

    @property
    def reads_tables(self) -> bool:
        """Tell whether a new table may change what is shown."""
        return any(finding.rule in READ_TABLES for finding in self.shown)


class Inspected(msgspec.Struct, frozen=True):
    """What is wrong now, what could not be seen, and deadlocks that only watch tables show."""

    findings: tuple[Finding, ...] = ()
    blind: tuple[Blind, ...] = ()
    deadlocks: "tuple[Deadlock, ...]" = ()


NOTHING: Final = Said()
