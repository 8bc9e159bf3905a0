"""The head of the list of findings: what somebody looks at must not be older than a moment.

Among thousands of findings each is examined seldom, and its sentence says how long something had
lasted by then. The first of them are examined as often as if there were no others: they are few.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from zktop.model.facts import Session
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import Finding
from zktop.model.text import Text

FOREMOST: Final = 40  # about a screen of them
_SCOPES: Final = {rule.id: rule.scope for rule in RULES}


def foremost(findings: Iterable[Finding]) -> frozenset[Text | Session]:
    """Give the locks and the sessions that the first of them are about."""
    keys = (_key(finding) for finding in islice(findings, FOREMOST))
    return frozenset(key for key in keys if key is not None)


def _key(finding: Finding) -> Text | Session | None:
    match _SCOPES[finding.rule]:
        case "lock":
            return finding.lock
        case "session":
            return next(iter(finding.sessions), None)
        case _:
            return None  # of those everything is examined at every look
