"""The footer: the most useful keys of the visible page."""

from collections.abc import Iterable, Sequence

from zktop.ui.keys import Action, known_on, shown
from zktop.ui.styled_text import NOTHING, Line, Run, joined, line, width_of
from zktop.ui.widgets.canvas import Canvas

ALWAYS = ("help", "quit")  # on any terminal


class PageFooter(Canvas, can_focus=False):
    """One line. A click on a key runs its action."""

    DEFAULT_CSS = """
    PageFooter { height: 1; background: $panel; overflow: hidden; }
    """

    def __init__(self) -> None:
        super().__init__(id="foot")
        self._of: tuple[str, Sequence[Action]] = ("", ())
        self._keys: Iterable[Action] = ()

    def show(self, page: str, table: Sequence[Action]) -> None:
        if self._of != (page, table):
            self._of, self._keys = (page, table), known_on(page, table)
            self.repaint()

    @property
    def count(self) -> int:
        return 1

    def draw(self, index: int, width: int) -> Line:
        return drawn(self._keys, width)


def drawn(keys: Iterable[Action], width: int) -> Line:
    """The keys that fit, those of the page first. The help lists the rest."""
    shown_keys = [key for key in keys if key.short and key.names]
    last = [_one(key) for key in shown_keys if key.id in ALWAYS]
    room = width - 1 - sum(width_of(piece) + 2 for piece in last)
    kept: list[Line] = []
    for key in shown_keys:
        piece = _one(key) if key.id not in ALWAYS else NOTHING
        if piece and width_of(piece) + 2 <= room:
            room -= width_of(piece) + 2
            kept.append(piece)
    return (*line(" "), *joined([*kept, *last]))


def _one(key: Action) -> Line:
    link = f"app.act('{key.id}')"
    return (Run(shown(key.names[0]), "key", link), Run(f" {key.short}", "plain", link))
