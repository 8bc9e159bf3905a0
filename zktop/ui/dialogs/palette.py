"""The command palette: actions, screens, locks, sessions, themes and scenes by name.

Names are searched for plain text: a fuzzy match would stall the screen with 10,000 locks.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.widgets import Input

from zktop.model.facts import session_text
from zktop.ui.dialogs.base import Box, Dialog, text_field
from zktop.ui.keys import known_on, shown
from zktop.ui.messages import PlayScene
from zktop.ui.shell import Shell
from zktop.ui.styled_text import Line, fitted, line
from zktop.ui.themes import ThemeList, apply_theme
from zktop.ui.view_state import Selection
from zktop.ui.widgets.text_view import TextList

MAX_RESULTS: Final = 50
NAME_SHARE: Final = 0.6  # of a line; the description has the rest


class PaletteItem(NamedTuple):
    """A name, a description, and the function to call."""

    name: str
    about: str
    do: Callable[[], object]


class PaletteDialog(Dialog[PaletteItem]):
    """Returns the item that the user chose: an action before anything is typed."""

    DEFAULT_CSS = """
    PaletteDialog { align: center top; }
    PaletteDialog Box { margin-top: 2; height: 80%; }
    PaletteDialog TextList { height: 1fr; background: $surface; border-top: solid $panel; }
    """
    moves_in = "#found"

    def __init__(self, app: Shell) -> None:
        super().__init__()
        self._shell, self._themes = app, app.settings.themes()

    def compose(self) -> ComposeResult:
        with Box("Find", "up, down choose   enter run   esc close"):
            yield text_field(hint="an action, a screen, a lock, a session, a theme, a scene")
            yield TextList(id="found")

    def on_input_changed(self) -> None:
        """Search, and select the best result."""
        results = self.query_one(TextList)
        results.target, results.cursor = None, 0
        self._show()

    def on_resize(self, _event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def action_accept(self) -> None:
        item = self.query_one(TextList).target
        if isinstance(item, PaletteItem):
            self.dismiss(item)

    def _show(self) -> None:
        results = self.query_one(TextList)
        width = results.room.width
        words = self.query_one(Input).value.casefold().split()
        app = self._shell
        items = found(everything(app, self._themes), words) if words else actions(app)
        listed = sorted(items, key=lambda item: -score(item.name, words))
        lines = [_drawn(item, width) for item in listed]
        results.show(lines or [line(("No match.", "dim"))], listed)


def _drawn(item: PaletteItem, width: int) -> Line:
    name = fitted(line((item.name, "strong")), round(NAME_SHARE * width))
    return (*name, *line((f"  {item.about}", "dim")))


def found(items: Iterable[PaletteItem], words: Sequence[str]) -> Iterator[PaletteItem]:
    """The first items that contain all words, in any case."""
    fitting = (
        item
        for item in items
        if all(word in f"{item.name} {item.about}".casefold() for word in words)
    )
    return islice(fitting, MAX_RESULTS)


def score(name: str, words: Sequence[str]) -> float:
    """Rank a name: it starts with the text, a word in it does, it contains the text.

    >>> [score(name, ["or"]) for name in ("orders", "/locks/orders", "worker", "stock")]
    [1.0, 0.9, 0.6, 0.3]
    """
    text = name.casefold()
    if text.startswith(tuple(words[:1])):
        return 1.0
    if any(re.search(rf"\b{re.escape(word)}", text) for word in words):
        return 0.9
    return 0.6 if any(word in text for word in words) else 0.3


def everything(app: Shell, themes: ThemeList) -> Iterator[PaletteItem]:
    """All items, the most likely ones first."""
    yield from actions(app)
    yield from _locks(app)
    yield from _sessions(app)
    yield from _themes(app, themes)
    yield from _scenes(app)


def actions(app: Shell) -> Iterator[PaletteItem]:
    """The actions of the visible page, including the screens."""
    page = app.page
    for key in known_on(page.entry.name if page else "", app.table):
        if key.id in ("up", "down", "left", "right", "palette"):
            continue
        names = ", ".join(map(shown, key.names)) or "no key"
        name = f"{key.help[:1].upper()}{key.help[1:]}"
        yield PaletteItem(name, f"key {names}", partial(app.action_act, key.id))


def _locks(app: Shell) -> Iterator[PaletteItem]:
    frame = app.view_state.frame
    for path in frame.report.paths if frame else ():
        yield PaletteItem(path, "lock", partial(app.turn_to, "lock", Selection(path=path)))


def _sessions(app: Shell) -> Iterator[PaletteItem]:
    frame = app.view_state.frame
    for session, view in frame.report.sessions.items() if frame else ():
        name = session_text(session)
        about = f"session of {view.name}" if view.name != name else "session"
        subject = Selection(session=session)
        yield PaletteItem(name, about, partial(app.turn_to, "sessions", subject))


def _themes(app: Shell, themes: ThemeList) -> Iterator[PaletteItem]:
    for one in themes.designs:
        yield PaletteItem(
            one.theme.name, f"theme: {one.about}", partial(apply_theme, app, one.theme)
        )


def _scenes(app: Shell) -> Iterator[PaletteItem]:
    contenders = app.contenders
    for scene in contenders.scenes if contenders else ():
        about = f"scene: {scene.title}"
        yield PaletteItem(scene.name, about, partial(app.post_message, PlayScene(scene.name)))
