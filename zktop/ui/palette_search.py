"""What the command palette finds: actions, screens, locks, sessions, themes and scenes.

Names are searched for plain text first. Textual's fuzzy match would stall the screen with 10,000
locks.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from zktop.model.facts import session_text
from zktop.ui.keys import known_on, shown
from zktop.ui.messages import PlayScene
from zktop.ui.shell import Shell
from zktop.ui.themes import ThemeList, apply_theme
from zktop.ui.view_state import Selection

MAX_RESULTS: Final = 50


class PaletteItem(NamedTuple):
    """A name, a description, and the function to call."""

    name: str
    about: str
    do: Callable[[], object]


class PaletteProvider(Provider):
    """Textual's interface to the search."""

    async def startup(self) -> None:
        """Read the theme files once, not at every letter."""
        self._themes = self._shell.settings.themes()

    async def discover(self) -> Hits:
        """List the actions before anything is typed."""
        for item in actions(self._shell):
            shown_name = Content(item.name)  # not markup: a znode may be called [bold]
            yield DiscoveryHit(shown_name, item.do, item.name, help=escape(item.about))

    async def search(self, query: str) -> Hits:
        """List the items that contain all words."""
        words = query.casefold().split()
        for item in found(everything(self._shell, self._themes), query):
            shown_name = _marked(item.name, words)
            yield Hit(score(item.name, words), shown_name, item.do, item.name, escape(item.about))

    @property
    def _shell(self) -> Shell:
        return cast("Shell", self.app)


def found(items: Iterable[PaletteItem], query: str) -> Iterator[PaletteItem]:
    """The first items that contain all words, in any case."""
    words = query.casefold().split()
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
    if text.startswith(words[0]):
        return 1.0
    if any(re.search(rf"\b{re.escape(word)}", text) for word in words):
        return 0.9
    return 0.6 if any(word in text for word in words) else 0.3


def _marked(name: str, words: Sequence[str]) -> Content:
    """The name with the typed text underlined."""
    content, text = Content(name), name.casefold()
    for word in words if len(text) == len(name) else ():
        at = text.find(word)
        if at >= 0:
            content = content.stylize("bold underline", at, at + len(word))
    return content


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
