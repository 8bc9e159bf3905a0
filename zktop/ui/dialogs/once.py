"""What is left once, however often it is told to: a second enter may be on its way already.

Textual pops whatever screen is on top then: another dialog, or the last screen there is.
"""

from typing import Generic, TypeVar

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.screen import Screen

T = TypeVar("T")


class Once(Screen[T], Generic[T]):
    """A screen that closes itself alone."""

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close it, where it is not closed yet."""
        return super().dismiss(result) if self.is_current else AwaitComplete()


class Palette(Once[None], CommandPalette):
    """Everything by name."""
