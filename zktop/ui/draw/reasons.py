"""What speaks for a verdict and against it, what is merely assumed, and what nobody could see."""

from collections.abc import Iterable
from typing import Final, Protocol

from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import Blind
from zktop.ui.draw.pen import Pen
from zktop.ui.ink import Ink

MEANS: Final = {rule.id: rule for rule in RULES}
SURENESS: Final[dict[str, tuple[str, Ink]]] = {
    "C4": ("proven by what ZooKeeper holds", "critical"),
    "C3": ("proven, if what is assumed is true", "critical"),
    "C2": ("likely", "warning"),
    "C1": ("a hint, no more", "dim"),
}
MARKS: Final[dict[bool | None, tuple[str, Ink]]] = {
    True: ("  + ", "good"),
    False: ("  - ", "warning"),
    None: ("  ? ", "unknown"),
}
SHOWN: Final = 12


class Reason(Protocol):
    """One line of evidence, of a deadlock or of another finding."""

    @property
    def supports(self) -> bool | None:
        """It supports the verdict, speaks against it, or (None) is assumed."""

    @property
    def text(self) -> str:
        """In words."""


def write_reasons(pen: Pen, confidence: str, reasons: Iterable[Reason]) -> None:
    """Write how sure it is, and why: what supports it, what does not, what is assumed."""
    word, _ = SURENESS[confidence]
    pen.title("HOW SURE", f"{confidence}: {word}   + for   - against   ? assumed")
    given = list(reasons)
    for supports in (True, False, None):
        for reason in given:
            if reason.supports is supports:
                pen.item(MARKS[supports], reason.text)
    if not given:
        pen.say("Nothing more is known about it.", "unknown")


def write_blind(pen: Pen, rule: str, blind: Iterable[Blind]) -> None:
    """Write what this rule could not see; nothing where it saw all."""
    whys = dict.fromkeys(one.why for one in blind if one.rule == rule)
    if whys:
        pen.title("NOT SEEN", "more of the same may be hidden")
        for why in list(whys)[:SHOWN]:
            pen.item(("  ? ", "unknown"), why)


def write_all_blind(pen: Pen, blind: Iterable[Blind]) -> None:
    """Write which checks could not look at all, why, and what that may hide."""
    by_why: dict[str, list[str]] = {}
    for one in blind:
        rules = by_why.setdefault(one.why, [])
        if one.rule not in rules:
            rules.append(one.rule)
    if not by_why:
        pen.say("✓ Every check could look at all that it needs.", "good")
        return
    for why, rules in by_why.items():
        pen.item(("  ? ", "unknown"), f"{why}. So these checks see nothing, or not all:", "strong")
        for rule in rules:
            means = f"{MEANS[rule].name}: {MEANS[rule].means}" if rule in MEANS else ""
            pen.item((f"      {rule:<4} ", "unknown"), means, "dim")
