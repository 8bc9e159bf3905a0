"""The items of the palette in groups, each with a name and the function to call."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec

from zktop.model.facts import Session
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.ui.keys import MOVES, Action, Group, key_label, known_on
from zktop.ui.messages import PlayScene
from zktop.ui.screens import PAGES
from zktop.ui.shell import Shell
from zktop.ui.themes import apply_theme
from zktop.ui.view_state import Selection

Words = Sequence[str]
UNLISTED: Final = (*MOVES, "left", "right", "palette", "next_pane", "previous_pane", "open")
ALIASES: Final = {  # of actions: what users of other programs type
    "quit": ("q", "q!", "quit", "exit"),
    "help": ("h", "help"),
    "clusters": ("clusters", "contexts", "ctx"),
    "theme": ("themes", "skin"),
}
MEMBERS_AT_ONCE: Final = 1_000  # reading them takes some 4 ms
NAMES_AT_ONCE: Final = 500  # reading them takes some 3 ms
VIEW: Final[tuple[Group, ...]] = ("find", "look", "time", "zktop")


class PaletteItem(NamedTuple):
    """A name, a description, the keys that do the same, and the function to call."""

    name: str
    about: str
    do: Callable[[], object]
    keys: str = ""
    aliases: tuple[str, ...] = ()

    def matches(self, words: Words) -> bool:
        """True if it contains all words. Without a description, each must begin a word.

        >>> quit = PaletteItem("Quit", "", print, keys="q")
        >>> quit.matches(["qu"]), quit.matches(["it"])
        (True, False)
        """
        text = " ".join((self.name, self.about, *self.aliases)).casefold()
        if self.about:
            return has_all(text, words)
        return all(re.search(rf"\b{re.escape(word)}", text) for word in words)


class PaletteGroup(NamedTuple):
    """Items of one kind: `find` returns those that contain all words, `named` a single one."""

    title: str
    find: Callable[[Words], Iterator[PaletteItem]]
    kind: str = ""  # when typed before a name, only this group is searched
    note: str = ""  # shown instead of the items while nothing is typed
    named: Callable[[str], PaletteItem | None] | None = None  # None: few items, to be searched

    def item(self, name: str) -> PaletteItem | None:
        """Return the item with this name; None if it is gone, or not allowed."""
        if self.named is not None:
            return self.named(name)
        return next((item for item in self.find((name.casefold(),)) if item.name == name), None)


class SessionName(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A session with nodes in locks: its id as text, and its name if that differs."""

    session: Session
    text: str
    about: str
    searched: str  # both, in lower case


class SessionNames:
    """The names of all sessions of a report."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self.known: list[SessionName] = []  # sorted by id

    def read(self) -> Iterator[None]:
        """Find all names: half a second for 100,000 locks, in steps."""
        if self._report is None:
            return
        labels: dict[Session, Text | None] = {}
        left = MEMBERS_AT_ONCE
        for record in self._report.records.values():
            for member in record.lock.members:
                if member.owner and not labels.get(member.owner):
                    labels[member.owner] = member.label
            left -= record.lock.size
            if left <= 0:
                left = MEMBERS_AT_ONCE
                yield
        for number, (session, label) in enumerate(sorted(labels.items()), start=1):
            text, name = session_text(session), self._report.client_names(session, label)
            about = name if name != text else ""
            searched = f"{text} {about}".casefold()
            self.known.append(SessionName(session, text, about, searched))
            if number % NAMES_AT_ONCE == 0:
                yield


def groups_of(app: Shell, sessions: Sequence[SessionName] = ()) -> list[PaletteGroup]:
    """Return all groups in order. Actions that write come last, and only with permission."""
    port, report = app.contenders, app.view_state.report
    may_write = port is not None and port.permission.is_given
    keys = [key for key in known_on(app.visit.page, app.table) if key.id not in UNLISTED]
    locks = count(len(report.paths), "lock") if report is not None else "no locks yet"
    hint = f"{locks}: type part of the path"
    groups = [
        _fixed("Go to", _places(app, keys)),
        PaletteGroup("Locks", partial(_locks, app), "lock", hint, partial(_lock_named, app)),
        PaletteGroup(
            "Sessions",
            partial(_sessions, app, sessions),
            "session",
            "type a name, an address or an id",
        ),
        _fixed("Clusters", _clusters(app), "cluster"),
        _fixed("View", _actions(app, keys, VIEW)),
        _fixed("Themes", _themes(app), "theme", "theme NAME"),
        _fixed("Copy, export, record", _actions(app, keys, ("keep",))),
        _fixed("Your commands", _actions(app, keys, ("commands",))),
    ]
    if may_write:
        writing = [_item(app, key) for key in keys if key.writes]
        groups += [
            _fixed("Demo: writes to ZooKeeper", writing),
            _fixed("Scenes: write to ZooKeeper", _scenes(app), "scene", "scene NAME"),
        ]
    return groups


def _fixed(
    title: str, items: Iterable[PaletteItem], kind: str = "", note: str = ""
) -> PaletteGroup:
    """Return a group whose items do not change while the palette is open."""
    return PaletteGroup(title, partial(_matching, tuple(items)), kind, note)


def has_all(text: str, words: Words) -> bool:
    for word in words:  # noqa: SIM110  each key searches 100,000 paths; `all` takes four times as long
        if word not in text:
            return False
    return True


def _matching(items: Iterable[PaletteItem], words: Words) -> Iterator[PaletteItem]:
    return (item for item in items if item.matches(words))


def _item(app: Shell, key: Action) -> PaletteItem:
    name = f"{key.help[:1].upper()}{key.help[1:]}"
    keys = " ".join(map(key_label, key.names[:1]))
    return PaletteItem(name, "", partial(app.action_act, key.id), keys, ALIASES.get(key.id, ()))


def _actions(app: Shell, keys: Iterable[Action], groups: Sequence[Group]) -> Iterator[PaletteItem]:
    listed = (key for key in keys if key.group in groups and key.id != "next_alert")
    return (_item(app, key) for key in listed if not key.writes)


def _places(app: Shell, keys: Iterable[Action]) -> Iterator[PaletteItem]:
    """Yield the screens, then the other places that a key leads to."""
    by_id = {key.id: key for key in keys}
    for number, page in enumerate(PAGES, start=1):
        key = by_id.pop(f"page_{number}", None)
        if key is not None:
            go = partial(app.action_act, key.id)
            yield PaletteItem(page.title, page.help, go, key_label(key.names[0]))
    others = (key for key in by_id.values() if key.group == "move" or key.id == "next_alert")
    yield from map(partial(_item, app), others)


def _clusters(app: Shell) -> Iterator[PaletteItem]:
    hosts = app.clusters.hosts if app.clusters is not None else {}
    for name, address in hosts.items():
        if name != app.visit.name:
            yield PaletteItem(name, address, partial(app.turn_to_cluster, name))


def _locks(app: Shell, words: Words) -> Iterator[PaletteItem]:
    report = app.view_state.report
    for path in report.paths if report else ():
        if has_all(path.casefold(), words):
            yield _lock(app, path)


def _lock_named(app: Shell, name: str) -> PaletteItem | None:
    """Return a lock without a search: that for five recent ones among 100,000 took 0.1 s."""
    report = app.view_state.report
    return _lock(app, Text(name)) if report is not None and name in report.records else None


def _lock(app: Shell, path: Text) -> PaletteItem:
    return PaletteItem(path, "", partial(app.turn_to, "lock", Selection(path=path)))


def _sessions(app: Shell, sessions: Sequence[SessionName], words: Words) -> Iterator[PaletteItem]:
    for session_name in sessions:
        if has_all(session_name.searched, words):
            go = partial(app.turn_to, "sessions", Selection(session=session_name.session))
            yield PaletteItem(session_name.text, session_name.about, go)


def _themes(app: Shell) -> Iterator[PaletteItem]:
    for design in app.settings.themes().designs:
        yield PaletteItem(design.theme.name, design.about, partial(apply_theme, app, design.theme))


def _scenes(app: Shell) -> Iterator[PaletteItem]:
    for scene in app.contenders.scenes if app.contenders else ():
        play = partial(app.post_message, PlayScene(scene.name))
        yield PaletteItem(scene.name, scene.title, play)
