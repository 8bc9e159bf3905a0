"""Everything by name: what the command palette finds.

A fuzzy match costs so much that ten thousand locks would stall the screen, so names are sifted by
plain search first, and no more than a screenful is ever given.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from zktop.model.facts import session_text
from zktop.ui.keys import known_on, shown
from zktop.ui.messages import PlayScene
from zktop.ui.state import Selection
from zktop.ui.themes import ThemeList, apply_theme

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

MAX_RESULTS: Final = 50


class PaletteItem(NamedTuple):
    """Something that has a name, and what choosing it does."""

    name: str
    about: str
    do: Callable[[], object]


class PaletteProvider(Provider):
    """Finds whatever has a name: actions and screens first, then locks, sessions and the rest."""

    async def startup(self) -> None:
        """Read the themes once, not at every letter."""
        self._wardrobe = self._zktop.look.themes()

    async def discover(self) -> Hits:
        """Offer the actions before anything is typed."""
        for thing in actions(self._zktop):
            told = Content(thing.name)  # as it is: a znode may be called [bold]
            yield DiscoveryHit(told, thing.do, thing.name, help=escape(thing.about))

    async def search(self, query: str) -> Hits:
        """Find what contains all the words, as the user typed them."""
        words = query.casefold().split()
        for thing in found(everything(self._zktop, self._wardrobe), query):
            told = _marked(thing.name, words)
            yield Hit(score(thing.name, words), told, thing.do, thing.name, escape(thing.about))

    @property
    def _zktop(self) -> "Zktop":
        return self.app  # type: ignore[return-value]  # there is no other app


def found(things: Iterable[PaletteItem], query: str) -> Iterator[PaletteItem]:
    """Sift by name, without regard to case; no more than a screenful."""
    words = query.casefold().split()
    fitting = (
        thing
        for thing in things
        if all(word in f"{thing.name} {thing.about}".casefold() for word in words)
    )
    return islice(fitting, MAX_RESULTS)


def score(name: str, words: Sequence[str]) -> float:
    """Tell how likely it is meant: names that begin so, then those that have it in them.

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
    """Underline what was typed; the name itself stays as it is, for a znode may be [bold]."""
    content, text = Content(name), name.casefold()
    for word in words if len(text) == len(name) else ():
        at = text.find(word)
        if at >= 0:
            content = content.stylize("bold underline", at, at + len(word))
    return content


def everything(app: "Zktop", wardrobe: ThemeList) -> Iterator[PaletteItem]:
    """Name all there is, in the order in which it is most likely meant."""
    yield from actions(app)
    yield from _locks(app)
    yield from _sessions(app)
    yield from _themes(app, wardrobe)
    yield from _scenes(app)


def actions(app: "Zktop") -> Iterator[PaletteItem]:
    """Name what keys do here, screens among it."""
    page = app.page
    for key in known_on(page.NAME if page else "", app.table):
        if key.id in ("up", "down", "left", "right", "palette"):
            continue
        names = ", ".join(map(shown, key.names)) or "no key"
        name = f"{key.help[:1].upper()}{key.help[1:]}"
        yield PaletteItem(name, f"key {names}", partial(app.action_ask, key.id))


def _locks(app: "Zktop") -> Iterator[PaletteItem]:
    frame = app.moment.frame
    for path in frame.report.paths if frame else ():
        yield PaletteItem(path, "lock", partial(app.turn_to, "lock", Selection(path=path)))


def _sessions(app: "Zktop") -> Iterator[PaletteItem]:
    frame = app.moment.frame
    for session, view in frame.report.sessions.items() if frame else ():
        name = session_text(session)
        about = f"session of {view.name}" if view.name != name else "session"
        subject = Selection(session=session)
        yield PaletteItem(name, about, partial(app.turn_to, "sessions", subject))


def _themes(app: "Zktop", wardrobe: ThemeList) -> Iterator[PaletteItem]:
    for one in wardrobe.designs:
        yield PaletteItem(
            one.theme.name, f"theme: {one.about}", partial(apply_theme, app, one.theme)
        )


def _scenes(app: "Zktop") -> Iterator[PaletteItem]:
    stage = app.stage
    for scene in stage.scenes if stage else ():
        about = f"scene: {scene.title}"
        yield PaletteItem(scene.name, about, partial(app.post_message, PlayScene(scene.name)))
