"""The footer: the most useful keys of the pane with the focus, then those of the page."""

from collections.abc import Iterable, Mapping, Sequence

from zktop.ui.keys import DEMO, Action, key_label, known_on
from zktop.ui.styled_text import Line, Run, joined, line, width_of
from zktop.ui.widgets.scrolling_view import ScrollingView

ALWAYS = ("help", "quit")  # on any terminal


class PageFooter(ScrollingView, can_focus=False):
    """One line. A click on a key runs its action."""

    DEFAULT_CSS = """
    PageFooter { height: 1; background: $panel; overflow: hidden; }
    """

    def __init__(self) -> None:
        super().__init__(id="foot")
        self._shown_for: tuple[object, ...] = ()
        self._keys: Sequence[Action] = ()

    def show(
        self,
        page: str,
        pane: str,
        table: Sequence[Action],
        words: Mapping[str, str],
        *,
        may_write: bool,
    ) -> None:
        """Show the keys of a page, with the focus in this pane. `words` renames actions."""
        shown_for = page, pane, table, words, may_write
        if self._shown_for != shown_for:
            self._shown_for = shown_for
            actions = in_order(page, pane, table, may_write=may_write)
            self._keys = [key._replace(short=words.get(key.id, key.short)) for key in actions]
            self.repaint()

    @property
    def count(self) -> int:
        return 1

    def draw(self, index: int, width: int) -> Line:
        return drawn(self._keys, width)


def in_order(
    page: str, pane: str, table: Sequence[Action], *, may_write: bool = True
) -> list[Action]:
    """Return the keys of a page, those of the pane first.

    Outside the demo page, keys that write come last, and only with permission; keys that act on a
    demo client are left out.
    """
    actions = [
        key
        for key in known_on(page, table)
        if page == DEMO or not key.writes or (may_write and not key.panes)
    ]
    return sorted(actions, key=lambda key: (pane not in key.panes, key.writes and page != DEMO))


def drawn(keys: Iterable[Action], width: int) -> Line:
    """Return the first keys that fit. The help lists the rest."""
    shown_keys = [key for key in keys if key.short and key.names]
    last = [_piece(key) for key in shown_keys if key.id in ALWAYS]
    room = width - 1 - sum(width_of(piece) + 2 for piece in last)
    fitting_pieces: list[Line] = []
    for key in shown_keys:
        if key.id in ALWAYS:
            continue
        piece = _piece(key)
        room -= width_of(piece) + 2
        if room < 0:
            break
        fitting_pieces.append(piece)
    return (*line(" "), *joined([*fitting_pieces, *last]))


def _piece(key: Action) -> Line:
    link = f"app.act('{key.id}')"
    return (Run(key_label(key.names[0]), "key", link), Run(f" {key.short}", "plain", link))
