"""The columns of a table: what each means, which are shown, and which one sorts the rows.

Every choice is applied at once, so the dialog returns nothing.
"""

from typing import Any, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.getters import query_one

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.styled_text import Line, fitted, joined, line, wrapped
from zktop.ui.widgets.table import Column, Table
from zktop.ui.widgets.text_view import TextList, TextView

USUAL_ORDER: Final = ""  # stands for the usual order in the list of columns
NAME_CELLS: Final = 14
TITLE_CELLS: Final = 25
ABOUT_LINES: Final = 3
BOX_CELLS: Final = 76


class ColumnsDialog(Dialog[None]):
    """Hides or shows the columns of the table behind it, and sorts by them."""

    BINDINGS: ClassVar = [Binding("space", "show_or_hide", "Show or hide")]
    DEFAULT_CSS = f"""
    ColumnsDialog Box {{ max-width: {BOX_CELLS}; }}
    ColumnsDialog TextView {{ background: $surface; }}
    ColumnsDialog #about {{ height: {ABOUT_LINES + 1}; border-top: solid $panel; }}
    """
    moves_in = "#columns"

    def __init__(self, table: Table[Any], title: str, usual_order: str) -> None:
        super().__init__()
        self._table, self._title, self._usual_order = table, title, usual_order

    def compose(self) -> ComposeResult:
        keys = "enter sort  space show or hide  a-z find  esc close"
        with Box(f"Columns of {self._title}", keys):
            yield TextList(id="columns")
            yield TextView(id="about")

    def on_mount(self) -> None:
        self._list.target = self._table.sorted_by or USUAL_ORDER
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def on_text_list_moved(self) -> None:
        column = self._column
        about = f"The usual order: {self._usual_order}." if column is None else column.about
        view = self.query_one("#about", TextView)
        view.show(wrapped(about, max(20, view.room.width)))

    def on_key(self, event: events.Key) -> None:
        """Go to the next column whose name begins with the typed letter."""
        names = [column.name for column in self._table.columns]
        at = names.index(self._column.name) + 1 if self._column else 0
        for name in (*names[at:], *names[:at]):
            if event.character and name.startswith(event.character.upper()):
                event.stop()
                event.prevent_default()
                self._list.go_to(1 + names.index(name))
                return

    def action_accept(self) -> None:
        """Sort by the selected column. If the rows are already sorted by it, reverse them."""
        column = self._column
        if column is None or column.key is not None:
            self._table.sort_by(column.name if column else None)
            self._draw()

    action_open = action_accept  # a click

    def action_show_or_hide(self) -> None:
        column = self._column
        if column is not None and self._table.toggle_column(column.name):
            self._draw()

    _list = query_one("#columns", TextList)

    @property
    def _column(self) -> Column[Any] | None:
        """The column under the cursor. None if that is the usual order."""
        name = self._list.target
        return next((column for column in self._table.columns if column.name == name), None)

    def _draw(self) -> None:
        table, view = self._table, self._list
        lines = [
            _usual_order_line(self._usual_order, table),
            *(_column_line(column, table) for column in table.columns),
        ]
        view.styles.height = max(1, min(len(lines), self.lines_without(ABOUT_LINES + 1)))
        view.show(lines, [USUAL_ORDER, *(column.name for column in table.columns)])
        self.on_text_list_moved()


def _usual_order_line(order: str, table: Table[Any]) -> Line:
    is_chosen = table.sorted_by is None
    arrow = ("↑" if table.reversed else "↓") if is_chosen else " "
    return line(f"     {arrow} ", (order, "strong" if is_chosen else "plain"))


def _column_line(column: Column[Any], table: Table[Any]) -> Line:
    is_hidden = column.name in table.hidden
    arrow = table.arrow if column.name == table.sorted_by else " "
    box = "[ ]" if is_hidden else "[x]"
    has_room = is_hidden or column.name in table.columns_in_sight
    notes = ("" if has_room else "no room", "" if column.key else "unsortable")
    return joined(
        [
            line(f" {box} ", (arrow, "key")),
            fitted(line((column.name, "dim" if is_hidden else "strong")), NAME_CELLS),
            fitted(line(column.title), TITLE_CELLS),
            line((", ".join(filter(None, notes)), "dim")),
        ],
        " ",
    )
