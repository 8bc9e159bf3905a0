"""What to write into a file, and how the file is called."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.dialogs.choice import Choosable, DialogList, ListDialog, drawn
from zktop.ui.screens.common.format import time_s
from zktop.ui.state import TimeRange

FORMATS: Final = {  # form: ending of the file, what it is, for whom
    "json": ("json", "JSON", "everything, as `zktop snapshot` prints it: for programs"),
    "text": ("txt", "text", "deadlocks, findings and queues in words: for a ticket"),
    "dot": ("dot", "DOT", "who waits for whom, as a graph for Graphviz"),
    "mermaid": ("mmd", "Mermaid", "who waits for whom, as a graph for a wiki"),
    "clip": ("zktop", "recording", "{} to {}, for `zktop replay`"),
    "svg": ("svg", "picture", "this screen as it looks now (SVG)"),
}
NAMES: Final = 10  # cells for what a form is called


class ExportRequest(NamedTuple):
    """A form, and the file to write it into."""

    form: str
    file: Path


class ExportDialog(ListDialog, Dialog[ExportRequest]):
    """Gives an order; the name follows the form until somebody changes it."""

    DEFAULT_CSS = """
    ExportDialog DialogList { height: auto; background: $surface; }
    ExportDialog Horizontal { height: 1; margin-top: 1; }
    ExportDialog Label { width: 7; }
    ExportDialog Input { border: none; height: 1; padding: 0 1; width: 1fr; }
    ExportDialog #wrong { width: 1fr; height: auto; color: $error; text-style: bold; }
    """

    def __init__(self, forms: Sequence[str], stem: str, stretch: TimeRange | None = None) -> None:
        """Offer these forms; where there is a stretch of time, first of all to cut that out."""
        super().__init__()
        self._forms = ["clip", *forms] if stretch else forms
        self._stem, self._stretch = stem, stretch

    def compose(self) -> ComposeResult:
        """Give the forms, and the name."""
        box = Box()
        box.border_title = "Write a file"
        box.border_subtitle = "up, down choose   enter write   esc leave"
        with box:
            yield DialogList(id="forms")
            field = Input(self._called(self._forms[0]), compact=True, id="file")
            field.cursor_blink = False
            yield Horizontal(Label("file"), field)
            yield Label("", id="wrong", markup=False)

    def on_mount(self) -> None:
        """Begin with the first form; what is typed goes into the name."""
        times = [f"{time_s(at)}Z" for at in self._stretch or ()]
        options = [
            Choosable(form, FORMATS[form][1], (FORMATS[form][2].format(*times),))
            for form in self._forms
        ]
        sheet = self.query_one(DialogList)
        sheet.styles.height = len(options)
        sheet.show(
            [drawn(Choosable(one.title, one.about[0]), NAMES) for one in options],
            [one.name for one in options],
        )
        self.query_one(Input).focus()

    def rests(self) -> None:
        """Have the name follow the form."""
        field = self.query_one(Input)
        if field.value in map(self._called, self._forms):
            field.value = self._called(self._form)

    def do_up(self) -> None:
        """Go one up."""
        self.query_one(DialogList).move(-1)

    def do_down(self) -> None:
        """Go one down."""
        self.query_one(DialogList).move(1)

    def on_input_submitted(self) -> None:
        """Write."""
        self.action_accept()

    def action_accept(self) -> None:
        """Give the order, or say what is wrong with it."""
        name = self.query_one(Input).value.strip()
        wrong = refused(name)
        if wrong:
            self.query_one("#wrong", Label).update(wrong)
        else:
            self.dismiss(ExportRequest(self._form, Path(name).expanduser().absolute()))

    @property
    def _form(self) -> str:
        target = self.query_one(DialogList).target
        return target if isinstance(target, str) else self._forms[0]

    def _called(self, form: str) -> str:
        return f"{self._stem}.{FORMATS[form][0]}"


def refused(name: str) -> str:
    """Say why a file of this name cannot be written; nothing when it can.

    >>> refused(""), refused("/")
    ('The file needs a name.', '/ is a folder.')
    """
    if not name:
        return "The file needs a name."
    try:
        file = Path(name).expanduser()
        if file.is_dir():
            return f"{file} is a folder."
        if file.exists():
            return f"{file} is there already; choose another name."
        if not file.parent.is_dir():
            return f"There is no folder {file.parent}."
    except (OSError, RuntimeError, ValueError) as error:
        return f"{name!r} cannot be the name of a file: {error}"
    return ""
