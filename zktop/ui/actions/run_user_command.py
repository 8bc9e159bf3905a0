"""The keys of the user's own commands."""

import shlex
from collections.abc import Sequence
from functools import partial

from zktop.ui.dialogs.program_output import OutputDialog
from zktop.ui.dialogs.question import YesNoDialog
from zktop.ui.shell import Shell
from zktop.ui.user_commands import UserCommand, values_for


class CommandActions(Shell):
    """Runs the commands of the config on the selected item."""

    def action_user_command(self, number: int) -> None:
        """Fill in the selection, and run. First ask the user, unless the config says not to."""
        command = self.settings.commands[number]
        report = self.view_state.report
        values = values_for(command.on, self.selection, report) if report else None
        if values is None:
            self.show_message(f"{command.title}: select a {command.on} first.")
            return
        try:
            words = command.filled(values)
        except ValueError as error:
            self.show_message(f"{command.title}: {error}.", is_wrong=True)
            return
        run = partial(self._show_output, command, words)
        if command.confirms:
            dialog = YesNoDialog(command.title, shlex.join(words), "run")
            self.ask(dialog, lambda _yes: self.call_after_refresh(run))
        else:
            run()

    def _show_output(self, command: UserCommand, words: Sequence[str]) -> None:
        if self.settings.run_program is not None:
            self.push_screen(OutputDialog(command.title, words, self.settings.run_program))
