"""The letters that the list of locks shows for a finding, and what they stand for."""

from typing import Final

LETTERS: Final = {
    "DED": "deadlock",
    "TWO": "two clients may hold it",
    "FOR": "a foreign child is in the way",
    "ORP": "orphan: no client will ever release it",
    "GHO": "ghost of an earlier attempt",
    "WAK": "a wake-up was lost",
    "SIL": "its holder is silent",
    "NUM": "sequence numbers run out",
    "SLF": "waits for itself",
    "ORD": "acquired in different orders",
    "LEA": "leases do not add up",
    "STK": "its holder seems stuck",
    "HRD": "a release wakes a herd",
    "POL": "polls instead of watching",
    "LNG": "held unusually long",
    "QUE": "its queue does not shrink",
    "STV": "a client starves",
    "NEW": "deleted and created again",
    "LCK": "not readable: denied by an ACL",
}
