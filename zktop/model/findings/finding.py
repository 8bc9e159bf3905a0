"""Findings: what is wrong, since when, how sure that is, and what speaks for and against it."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Literal, get_args

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.text import Text, clean

Severity = Literal["critical", "warning", "info"]
Confidence = Literal["C1", "C2", "C3", "C4"]
Need = Literal[
    "names", "stats", "root stat", "leases", "watches", "connections", "expiry", "history"
]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """One reason: it supports the finding, would refute it, or (None) is assumed."""

    supports: bool | None
    text: Text

    def __post_init__(self) -> None:
        """Keep text clean, whoever made this."""
        if not self.text.isprintable():
            msgspec.structs.force_setattr(self, "text", clean(self.text))


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One diagnosed state; the same state has the same id as long as it lives, and in a replay."""

    id: str
    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    lock: Text | None
    nodes: tuple[Text, ...]
    sessions: tuple[Session, ...]
    since: Millis | None
    sentence: Text
    evidence: tuple[Evidence, ...]
    advice: Text
    signature: str  # the same trouble elsewhere or tomorrow has the same one: for muting
    locks: tuple[Text, ...] = ()  # all that it concerns; `lock` is the one to look at first
    as_of: Millis  # when the newest fact it rests on was read
    patience_ms: int = 0  # how long it must last before it is worth a line
    at_once: bool = False  # proven by the structure alone: no second look needed
    cause: str | None = None  # the id of the finding that it is folded under
    folded: int = 0  # how many findings are folded under this one

    def __post_init__(self) -> None:
        """Keep text clean, whoever made this."""
        for field in ("sentence", "advice", "signature"):
            text = getattr(self, field)
            if not text.isprintable():
                msgspec.structs.force_setattr(self, field, clean(text))


class Blind(msgspec.Struct, frozen=True, order=True, gc=False):
    """A rule that cannot be decided, and the input it lacks."""

    rule: str
    why: Text
    need: Need


def identity(rule: str, subject: Iterable[object]) -> str:
    """Name a finding after its rule and what it is about.

    >>> identity("B1", ("/locks/import", "lock-0000000007"))
    'B1-57bd3a57'
    """
    text = "\0".join(map(str, subject)).encode("utf-8", "backslashreplace")
    return f"{rule}-{blake2b(text, digest_size=4).hexdigest()}"
