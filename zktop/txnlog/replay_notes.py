"""Collects notes about an import: holes, damage, and transactions that cannot be decoded."""

from collections import Counter
from typing import Final

from zktop.model.format import count

MAX_NOTES: Final = 20  # of one kind


class ReplayNotes:
    """Sentences about an import. The first MAX_NOTES of each kind are kept, the rest counted."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self._numbers: Counter[str] = Counter()  # by kind
        self._unknown: Counter[int] = Counter()  # transactions by their unknown type

    def add(self, sentence: str, kind: str) -> None:
        """Add a sentence. `kind` is what it describes, in the singular, like "damaged place"."""
        self._numbers[kind] += 1
        if self._numbers[kind] <= MAX_NOTES:
            self.sentences.append(sentence)

    def count_unknown(self, kind: int) -> None:
        """Count a transaction of a type that zktop does not know."""
        self._unknown[kind] += 1

    def conclude(self) -> None:
        """Add how many sentences were left out, and how many transactions were not understood."""
        for noun, number in self._numbers.items():
            if number > MAX_NOTES:
                verb = "is" if number == MAX_NOTES + 1 else "are"
                self.sentences.append(f"There {verb} {count(number - MAX_NOTES, f'more {noun}')}.")
        for kind, number in sorted(self._unknown.items()):
            subject = count(number, "transaction has", "transactions have")
            self.sentences.append(f"{subject} type {kind}, which zktop does not know.")
