"""The key for the wait tree."""

from zktop.ui.dialogs.tree import TreeDialog
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.shell import Shell
from zktop.ui.view_state import Selection


class TreeActions(Shell):
    """Opens the wait tree of the item under the cursor, and keeps it up to date."""

    _tree: TreeDialog | None = None

    def action_tree(self) -> None:
        """Show who waits for whom around the selected item."""
        state = self.view_state
        if state.frame is None:
            self.show_message("There is no data yet.")
            return

        def chosen(link: LineLink | None) -> None:
            self._tree = None
            if link is not None:
                self.turn_to(link.page, link.subject)

        selected = self.page.under_cursor if self.page is not None else Selection()
        self._tree = TreeDialog(state, selected)
        self.push_screen(self._tree, chosen)

    def draw(self) -> None:
        super().draw()
        if self._tree is not None and self._tree.is_current:
            self._tree.show_state(self.view_state)
