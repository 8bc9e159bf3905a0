"""Ask for the format and the name of a file to export."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from zktop.ui.dialogs.base import Box, Dialog, text_field
from zktop.ui.dialogs.choice import Choosable, option_line
from zktop.ui.screens.common.numbers_and_times import time_s, with_date_if_needed
from zktop.ui.view_state import TimeRange
from zktop.ui.widgets.text_view import TextList

FORMATS: Final = {  # id: file extension, name, description
    "json": ("json", "JSON", "everything, as `zktop snapshot --format json` prints it"),
    "text": ("txt", "text", "deadlocks, findings and queues, for a ticket"),
    "dot": ("dot", "DOT", "the wait-for graph, for Graphviz"),
    "mermaid": ("mmd", "Mermaid", "the wait-for graph, for a wiki"),
    "clip": ("zktop", "recording", "{} to {}, for `zktop replay`"),
    "svg": ("svg", "picture", "this screen as it looks now (SVG)"),
}
NAME_WIDTH: Final = 10


class ExportRequest(NamedTuple):
    """What to export: the id of a format, and the file."""

    form: str
    file: Path


class ExportDialog(Dialog[ExportRequest]):
    """Returns a request. The file name follows the format until the user edits it."""

    DEFAULT_CSS = """
    ExportDialog TextList { height: auto; background: $surface; }
    ExportDialog Horizontal { height: 1; margin-top: 1; }
    ExportDialog Label { width: 7; }
    ExportDialog Input { padding: 0 1; width: 1fr; }
    """

    moves_in = "#forms"

    def __init__(
        self, forms: Sequence[str], stem: str, time_range: TimeRange | None = None
    ) -> None:
        """Offer these formats. With a time range, first offer a recording of that range."""
        super().__init__()
        self._forms = ["clip", *forms] if time_range else forms
        self._stem, self._time_range = stem, time_range

    def compose(self) -> ComposeResult:
        with Box("Write a file", "up, down choose   enter write   esc cancel"):
            yield TextList(id="forms")
            first = self._file_name(self._forms[0])
            yield Horizontal(Label("file"), text_field(first, name="file"))
            yield Label("", id="wrong", markup=False)

    def on_mount(self) -> None:
        """Select the first format, and let typing edit the name."""
        ends = self._time_range or ()
        times = [f"{with_date_if_needed(time_s(at), at, *ends)}Z" for at in ends]
        options = [
            Choosable(name, about.format(*times))
            for _, name, about in (FORMATS[form] for form in self._forms)
        ]
        formats = self.query_one(TextList)
        formats.styles.height = len(options)
        formats.show([option_line(option, NAME_WIDTH) for option in options], self._forms)
        self.query_one(Input).focus()

    def on_text_list_moved(self) -> None:
        field = self.query_one(Input)
        if field.value in map(self._file_name, self._forms):
            field.value = self._file_name(self._form)

    def action_accept(self) -> None:
        name = self.query_one(Input).value.strip()
        why = why_refused(name)
        if why:
            self.refuse(why)
        else:
            self.dismiss(ExportRequest(self._form, Path(name).expanduser().absolute()))

    @property
    def _form(self) -> str:
        target = self.query_one(TextList).target
        return target if isinstance(target, str) else self._forms[0]

    def _file_name(self, form: str) -> str:
        return f"{self._stem}.{FORMATS[form][0]}"


def why_refused(name: str) -> str:
    """Return why a file with this name cannot be written; empty if it can.

    >>> why_refused(""), why_refused("/")
    ('Enter a file name.', '/ is a directory.')
    """
    if not name:
        return "Enter a file name."
    try:
        file = Path(name).expanduser()
        if file.is_dir():
            return f"{file} is a directory."
        if file.exists():
            return f"{file} already exists. Choose another name."
        if not file.absolute().parent.is_dir():
            return f"No such directory: {file.parent}"
    except (OSError, RuntimeError, ValueError) as error:
        return f"Not a valid file name: {error}"
    return ""
