"""The app: the shell, plus the actions that change the view.

Actions on alerts, contenders, files and time are in `zktop.ui.actions`.
"""

from functools import partial
from typing import Final

from zktop.ui.actions.alerts import AlertActions
from zktop.ui.actions.contenders import ContenderActions, why_no_contenders
from zktop.ui.actions.export import ExportActions
from zktop.ui.actions.record import RecordActions
from zktop.ui.actions.run_user_command import CommandActions
from zktop.ui.actions.time import TimeActions
from zktop.ui.actions.tree import TreeActions
from zktop.ui.dialogs.choice import ThemeDialog
from zktop.ui.dialogs.clusters import ClusterDialog
from zktop.ui.dialogs.columns import ColumnsDialog
from zktop.ui.dialogs.help import HelpDialog
from zktop.ui.dialogs.jump import JumpDialog, JumpTarget, pane_targets
from zktop.ui.dialogs.palette import PaletteDialog
from zktop.ui.dialogs.palette_items import PaletteItem
from zktop.ui.keys import known_on
from zktop.ui.screens import PAGES, page_named
from zktop.ui.screens.findings.finding_list import worst_first
from zktop.ui.view_state import Selection
from zktop.ui.widgets.header import PageHeader

REFRESH_STEP: Final = 5  # frames per second
NO_OTHER_CLUSTER: Final = (
    "No other clusters. Name them in the config file (clusters), and run zktop without a command."
)


class Zktop(
    AlertActions,
    CommandActions,
    ContenderActions,
    ExportActions,
    RecordActions,
    TimeActions,
    TreeActions,
):
    """Shows what a feed reports, one screen at a time."""

    def action_show_screen(self, name: str) -> None:
        """Go to a screen, if this session has it."""
        if page_named(name).needs_contenders and self.contenders is None:
            self.show_message(why_no_contenders(self))
        else:
            self.turn_to(name, self._live_case() if name == "findings" else None)

    def action_explain_no_contenders(self) -> None:
        """Show why this session has no contenders."""
        self.show_message(why_no_contenders(self))

    def _live_case(self) -> Selection | None:
        """Return the worst current deadlock, if the selected one has ended."""
        report, page, selection = self.view_state.report, self.page, self.selection
        if report is None or page is None:
            return None
        live = [deadlock.id for deadlock in worst_first(report)] if report.deadlocks else []
        is_over = selection.case in self.tape.deadlocks and selection.case not in live
        return selection._replace(case=live[0]) if live and is_over else None

    async def action_back(self) -> None:
        """Clear the filter, else return to live, else return to the previous page."""
        if self.visit.filter_text:
            self.set_filter("")
        elif self.feed.is_live and not self.playback.is_newest:
            self.seek(None)
        else:
            self.turn_back()

    def action_previous_place(self) -> None:
        self.turn_back()

    def action_next_place(self) -> None:
        self.turn_forward()

    def action_filter(self) -> None:
        self.filter_line.open(self.visit.filter_text)
        if self.page is not None:
            self.page.filter_opened()

    def action_faster(self) -> None:
        self.set_refresh(self.refresh_rate + REFRESH_STEP)

    def action_slower(self) -> None:
        self.set_refresh(self.refresh_rate - REFRESH_STEP)

    async def action_quit(self) -> None:
        self.leave()

    def action_palette(self) -> None:
        """Let the user choose an item of the palette, and run it."""

        def run(item: PaletteItem) -> None:
            self.visit.remember(item.name)
            self.call_later(item.do)

        self.ask(PaletteDialog(self), run)

    def action_clusters(self) -> None:
        """Let the user choose a cluster, and show it."""
        if self.clusters is None or len(self.clusters.hosts) == 1:
            self.show_message(NO_OTHER_CLUSTER)
        else:
            self.ask(ClusterDialog(self), self.turn_to_cluster)

    def action_jump(self) -> None:
        """Show a letter on each pane and tab. The next key goes to the one with that letter."""
        page = self.page
        panes = [pane for pane in self.screen.focus_chain if page in pane.ancestors]
        targets = [
            JumpTarget(number, at, partial(self.action_show_screen, PAGES[int(number) - 1].name))
            for number, at in self.query_one(PageHeader).tabs
        ]
        targets += pane_targets(panes)
        self.ask(JumpDialog(targets), lambda target: target.go())

    def action_help(self) -> None:
        page = self.page
        if page is not None:
            self.push_screen(HelpDialog(page, tuple(known_on(page.entry.name, self.table))))

    def action_sort(self) -> None:
        """Let the user choose the columns and the order of the table."""
        ordered_table = self.page.ordered_table if self.page is not None else None
        if ordered_table is not None:
            self.push_screen(ColumnsDialog(*ordered_table))

    def action_theme(self) -> None:
        themes = self.settings.themes()
        for mistake in themes.mistakes:
            self.show_message(mistake, is_wrong=True)
        if not themes.designs:
            self.show_message("There are no themes to choose from.", is_wrong=True)
            return
        dialog = ThemeDialog(themes, self.current_theme)
        self.ask(dialog, lambda name: self.show_message(f"Theme: {name}"))
