"""The command palette: Textual's, made safe for fast typing."""

import contextlib

from textual import on, work
from textual.command import CommandList, CommandPalette
from textual.css.query import NoMatches
from textual.widgets import Input

from zktop.ui.dialogs.base import ClosesOnce


class PaletteDialog(CommandPalette, ClosesOnce[None]):
    """Runs what the user typed, even if Enter comes before the results do."""

    _found: str | None = None  # the query that the list shows
    _wanted: str | None = None  # the query at the time of Enter

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)  # noqa: SLF001  Textual cancels this group
    async def _gather_commands(self, search_value: str) -> None:
        """Search, then run the first result if Enter was pressed for this query."""
        gather = CommandPalette._gather_commands.__wrapped__  # type: ignore[attr-defined]  # noqa: SLF001  the method without its decorator
        with contextlib.suppress(NoMatches):  # the palette was closed meanwhile
            await gather(self, search_value)
            self._found = search_value
            if self._wanted == search_value:
                self._select_or_command()

    @on(Input.Changed)
    def _forget_enter(self, event: Input.Changed) -> None:
        """Enter was for another query."""
        if self._wanted != event.value.strip():
            self._wanted = None

    @on(Input.Submitted)
    def _wait_for_results(self, event: Input.Submitted) -> None:
        """Hold Enter back while the list belongs to an older query."""
        self._wanted = event.value.strip()
        if self._selected_command is None and self._wanted != self._found:
            event.stop()
            event.prevent_default()

    def _action_command_list(self, action: str) -> None:
        """Ignore page keys until the list is drawn; Textual fails on a list without lines."""
        if self.query_one(CommandList).scrollable_content_region or not action.startswith("page"):
            super()._action_command_list(action)
