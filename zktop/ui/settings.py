"""How the UI looks and answers, by the user's settings; made and checked before it is shown."""

from pathlib import Path

import msgspec
from textual.theme import Theme

from zktop.model.facts import Millis
from zktop.ui.keys import KEYS, Action
from zktop.ui.ports import FindingHook
from zktop.ui.themes import LoadThemes, ThemeList


class UiSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the user has set."""

    theme: Theme | None = None  # None: whatever Textual looks like
    themes: LoadThemes = ThemeList
    refresh: int = 20
    table: tuple[Action, ...] = KEYS
    changed_keys: frozenset[str] = frozenset()  # ids of the actions that the user gave other keys
    bell: bool = False
    herald: FindingHook | None = None  # told of new trouble
    is_ascii: bool = False
    log: Path | None = None  # for the details of what went wrong in the UI
    page: str = "locks"
    scene: str | None = None  # to play at once
    leave_after_s: float | None = None
    at: Millis | None = None  # of a recording, the moment to begin with
    speed: float | None = None  # of a recording: play it at once

    @property
    def keymap(self) -> dict[str, str]:
        """The keys that differ from the table's, as Textual wants them."""
        return {key.id: key.movable for key in self.table if key.id in self.changed_keys}
