"""The settings of the UI, checked before the terminal is taken over."""

from pathlib import Path

import msgspec
from textual.theme import Theme

from zktop.model.facts import Millis
from zktop.ui.interfaces import Copy, FindingHook
from zktop.ui.keys import KEYS, Action
from zktop.ui.themes import LoadThemes, ThemeList
from zktop.ui.user_commands import RunProgram, UserCommand


class UiSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the UI."""

    theme: Theme | None = None  # None: Textual's default
    themes: LoadThemes = ThemeList
    refresh: int = 20
    table: tuple[Action, ...] = KEYS
    changed_keys: frozenset[str] = frozenset()  # ids of the actions whose keys the user changed
    bell: bool = False
    finding_hook: FindingHook | None = None  # runs the user's command for new findings
    commands: tuple[UserCommand, ...] = ()
    run_program: RunProgram | None = None  # runs a user command
    copy: Copy | None = None  # copies to the clipboard of the desktop or of tmux
    is_ascii: bool = False
    log: Path | None = None  # tracebacks of the UI
    page: str = "locks"
    scene: str | None = None  # the scene to play at the start
    leave_after_s: float | None = None
    at: Millis | None = None  # where a recording starts
    speed: float | None = None  # of a recording: play it from the start

    @property
    def keymap(self) -> dict[str, str]:
        """The changed keys, for Textual."""
        return {key.id: key.movable for key in self.table if key.id in self.changed_keys}
