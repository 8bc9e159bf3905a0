"""The keys: `KEYS` has one entry for each action that a key runs.

Bindings, footer, help, command palette and the setting `ui.keys` are built from this table. The
entry `copy` runs the method `action_copy` of the focused widget, the screen or the app, whichever
has it first. An entry without pages works everywhere; one with pages works there and hides a
global entry with the same key. Actions that write to ZooKeeper have a capital letter, except those
that play the scene on screen 6.

The second half checks the user's own keys before the terminal is taken over: Textual accepts
unknown key names, and drops one of two actions on the same key without a message.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, format_key

from zktop.ui.screens import PAGES

Group = Literal["move", "look", "find", "keep", "commands", "contenders", "time", "zktop"]

LOCKS, LOCK, FINDINGS = "locks", "lock", "findings"
SESSIONS, TIMELINE, DEMO = "sessions", "timeline", "demo"
CONTENDING: Final = (LOCKS, LOCK, FINDINGS, SESSIONS, DEMO)

FIRST_GROUPS: Final[tuple[Group, ...]] = ("time", "contenders")  # listed first on their own page

WRITTEN_OUT: Final = ("enter", "up", "down", "left", "right")  # Textual has symbols for these
FIXED: Final = {"ctrl+c": "quits", "ctrl+q": "quits", "ctrl+z": "suspends"}  # not configurable


class Action(NamedTuple):
    """One action: its keys, and what it does in a few words."""

    id: str
    keys: str
    help: str
    group: Group
    pages: tuple[str, ...] = ()
    short: str = ""  # the name in the footer; without it, the key is only in the help
    writes: bool = False
    run: str = ""  # the Textual action, where it is not the id
    needs_contenders: bool = False
    panes: tuple[str, ...] = ()  # ids of the panes for which the footer lists the key first

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(key.strip() for key in self.keys.split(",") if key.strip())

    @property
    def movable(self) -> str:
        """The keys that the user may give to another action."""
        return ",".join(name for name in self.names if name not in FIXED) or "none"

    def binding(self) -> Binding:
        """Return a Textual binding. `Shell.action_act` looks for the method."""
        return Binding(self.movable, f"app.act('{self.id}')", show=False, id=self.id)


KEYS: Final = (
    Action("open", "enter", "open the selected item", "move", short="Open",
        panes=("locks", "alerts", "minute", "blockers", "waits", "events", "lock-queue",
            "lock-minute", "lock-tree", "cases", "case", "case-minute", "sessions", "servers",
            "session-minute", "strips", "index", "scene-minute", "contenders")),
    Action("back", "escape", "go back, clear the filter or end the pause", "move", short="Back"),
    Action("previous_place", "alt+left", "back to where you were: screen and selection", "move"),
    Action("next_place", "alt+right", "forward again", "move"),
    *(
        Action(f"page_{number}", page.key, f"screen {number}: {page.help}", "move",
            run=f"show_screen('{page.name}')", needs_contenders=page.needs_contenders)
        for number, page in enumerate(PAGES, 1)
    ),
    Action("clusters", "at", "switch to another cluster (those that you leave stay connected)",
        "move"),
    Action("next_pane", "tab", "next pane", "move", run="focus_next"),
    Action("previous_pane", "shift+tab", "previous pane", "move", run="focus_previous"),
    Action("up", "up,k", "up", "move"),
    Action("down", "down,j", "down", "move"),
    Action("left", "left,h", "go left, or fold the group", "move"),
    Action("right", "right,l", "go right, or unfold the group", "move"),
    Action("page_up", "pageup,ctrl+b", "page up", "move"),
    Action("page_down", "pagedown,ctrl+f", "page down", "move"),
    Action("first", "g,home", "first line", "move"),
    Action("last", "G,end", "last line", "move"),
    Action("next_alert", "n", "next alert", "find", short="Alert",
        panes=("alerts", "cases", "case")),
    Action("acknowledge", "a", "acknowledge the selected alert until it gets worse; press again "
        "to undo", "find", pages=(LOCKS, FINDINGS), short="Ack",
        panes=("alerts", "cases", "case")),
    Action("acknowledge_all", "A", "acknowledge all alerts; press again to undo", "find",
        pages=(LOCKS, FINDINGS)),
    Action("show_notes", "i", "hide or show notes: findings that are purely informational", "find",
        pages=(LOCKS, FINDINGS)),
    Action("filter", "slash", "filter: text, !text, /pattern/, state:waiting, owner:name", "find",
        short="Filter", panes=("locks", "lock-queue", "cases", "sessions", "log")),
    Action("tree", "w",
        "who waits for whom around the selected item; press again for all locks by path", "look",
        short="Waits", panes=("locks", "blockers", "lock-queue", "sessions")),
    Action("palette", "colon,ctrl+p", "find a screen, lock, session, theme, cluster or action",
        "find", short="Find", panes=("locks", "lock-queue", "cases", "sessions")),
    Action("sort", "o", "explain, hide, show and sort columns", "look",
        pages=(LOCKS, SESSIONS), short="Sort", panes=("locks", "sessions")),
    Action("reverse", "O", "reverse the sort order", "look", pages=(LOCKS, SESSIONS)),
    Action("pause", "p", "pause the display (data collection continues)", "look", short="Pause"),
    Action("tag", "space", "tag the selected lock", "look", pages=(LOCKS,), short="Tag",
        panes=("locks",)),
    Action("side_wider", "less_than_sign", "make the right columns wider, or drag their border",
        "look", pages=(LOCKS, LOCK, FINDINGS)),
    Action("side_narrower", "greater_than_sign", "make the right columns narrower", "look",
        pages=(LOCKS, LOCK, FINDINGS)),
    Action("jump", "apostrophe,ctrl+o", "jump: show a letter on each pane, then go to one",
        "move"),
    Action("faster", "plus", "refresh more often", "look"),
    Action("slower", "minus", "refresh less often", "look"),
    Action("play", "space", "play or pause", "time", pages=(TIMELINE,), short="Play",
        panes=("strips",)),
    Action("step_back", "left_square_bracket,left,h", "previous change", "time",
        pages=(TIMELINE,), short="Prev", panes=("strips",)),
    Action("step", "right_square_bracket,right,l", "next change", "time", pages=(TIMELINE,),
        short="Next", panes=("strips",)),
    Action("second_back", "shift+left,H", "one second back", "time", pages=(TIMELINE,)),
    Action("second_on", "shift+right,L", "one second forward", "time", pages=(TIMELINE,)),
    Action("zoom_in", "plus", "zoom in, like the mouse wheel", "time", pages=(TIMELINE,)),
    Action("zoom_out", "minus", "zoom out", "time", pages=(TIMELINE,)),
    Action("speed", "s", "playback speed: doubles up to 64x, then starts over", "time",
        pages=(TIMELINE,)),
    Action("seek", "t", "go to a time", "time", pages=(TIMELINE,), short="Go to"),
    Action("mark", "m", "mark this moment, to compare or export from there to the cursor", "time",
        pages=(TIMELINE,)),
    Action("compare", "c", "compare the cursor with the mark, or else with now", "time",
        pages=(TIMELINE,), short="Compare"),
    Action("accounts", "b", "who blocked others and for how long, in view or from the mark to "
        "the cursor", "time", pages=(TIMELINE,), short="Blocked"),
    Action("new", "N", "start a demo client", "contenders", short="New", writes=True),
    Action("new_reader", "R", "add a demo reader to this lock", "contenders", pages=CONTENDING,
        writes=True),
    Action("new_writer", "W", "add a demo writer to this lock", "contenders", pages=CONTENDING,
        writes=True),
    Action("new_exclusive", "X", "add an exclusive demo client", "contenders", pages=CONTENDING,
        writes=True),
    Action("release", "U", "make a demo client release its lock", "contenders",
        pages=CONTENDING, short="Release", writes=True, panes=("contenders", "picture")),
    Action("cancel", "C", "cancel a demo client's request", "contenders", pages=CONTENDING,
        short="Cancel", writes=True, panes=("contenders", "picture")),
    Action("kill", "K", "kill a demo client: its session expires later", "contenders",
        pages=CONTENDING, short="Kill", writes=True, panes=("contenders", "picture")),
    Action("freeze", "Z", "freeze or thaw a demo client", "contenders", pages=CONTENDING,
        short="Freeze", writes=True, panes=("contenders", "picture")),
    Action("scene_play", "space", "play or pause the scene", "contenders", pages=(DEMO,),
        short="Play", writes=True, panes=("index", "picture", "scene")),
    Action("scene_step", "right_square_bracket", "play one step of the scene", "contenders",
        pages=(DEMO,), short="Step", writes=True, panes=("index", "picture", "scene")),
    Action("scene_stop", "E", "end the scene and clean up", "contenders", pages=(DEMO,),
        short="End", writes=True, panes=("index", "picture", "scene")),
    Action("answer", "a", "show or hide the answer of the lesson", "contenders", pages=(DEMO,),
        short="Answer", panes=("index", "picture", "scene")),
    Action("scene", "S", "play a scene", "contenders", short="Scene", writes=True),
    Action("copy", "y", "copy the selected item as text", "keep", short="Copy",
        panes=("alerts", "minute", "blockers", "events", "case", "detail", "instant", "lock-side",
            "log")),
    Action("copy_text", "Y", "copy everything about the deadlock or finding as text", "keep",
        pages=(FINDINGS,)),
    Action("export", "x",
        "write a file: JSON, text, DOT, Mermaid or SVG, or on screen 5 a recording", "keep",
        short="Export"),
    Action("record", "r", "start or stop a recording", "keep", short="Record"),
    Action("show_data", "d", "show or hide the data of the selected znode", "look", pages=(LOCK,),
        short="Data", panes=("lock-queue",)),
    Action("fold", "f", "fold or unfold groups", "look", pages=(LOCKS, LOCK, FINDINGS, SESSIONS),
        short="Fold", panes=("locks", "lock-queue", "cases", "sessions")),
    Action("theme", "T", "choose a theme", "zktop"),
    Action("help", "question_mark,f1", "help for this screen, and its keys", "zktop",
        short="Help"),
    Action("quit", "q,ctrl+c,ctrl+q", "quit", "zktop", short="Quit"),
)  # fmt: skip

MOVES: Final = ("up", "down", "page_up", "page_down", "first", "last")  # they work in dialogs too


def key_of(action: str, table: Sequence[Action] = KEYS) -> str:
    """Return the key of an action as users write it. If it has several, return the first.

    >>> key_of("filter"), key_of("tree", with_user_keys({"tree": "f9"}))
    ('/', 'f9')
    """
    return next(key_label(key.names[0]) for key in (*table, *KEYS) if key.id == action)


def reading_only(table: Sequence[Action]) -> tuple[Action, ...]:
    """Return the keys of a session that starts no contenders and so has no screen 6.

    >>> {key.id for key in KEYS} - {key.id for key in reading_only(KEYS)} >= {"new", "page_6"}
    True
    """
    return tuple(key for key in table if not (key.writes or key.needs_contenders))


def known_on(page: str, table: Sequence[Action] = KEYS) -> Iterable[Action]:
    """Return the actions that work on a page, the page's own groups first.

    A global action is left out if the page has other actions for all of its keys.
    """
    own = [key for key in table if page in key.pages]
    taken = {name for key in own for name in key.names}

    def works(key: Action) -> bool:
        return page in key.pages if key.pages else not taken.issuperset(key.names)

    return sorted(
        filter(works, table), key=lambda key: key.group not in FIRST_GROUPS or not key.pages
    )


_MODIFIERS: Final = ("alt", "ctrl", "meta", "super", "hyper", "shift")
_CHORD: Final = re.compile(r"((?:[a-z]+\+)*)(.+)", re.DOTALL)
_NAMES: Final = {
    *(key.value for key in Keys if key.value.isalnum()),
    *KEY_NAME_REPLACEMENTS.values(),
}


def with_user_keys(settings: Mapping[str, str]) -> tuple[Action, ...]:
    """Return the table with the user's keys, already checked by `key_mistakes`."""

    def with_own_keys(key: Action) -> Action:
        if key.id not in settings:
            return key
        return key._replace(keys=",".join(map(textual_key, _parts(settings[key.id]))))

    return tuple(map(with_own_keys, KEYS))


def key_mistakes(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield all mistakes in the user's keys: the action, and what is wrong."""
    good: dict[str, str] = {}
    for action, text in settings.items():
        mistakes = [mistake for name in _parts(text) for mistake in _mistakes_in(name, action)]
        yield from ((action, mistake) for mistake in mistakes)
        if not any(_parts(text)):
            yield action, "names no key"
        elif not mistakes:
            good[action] = text
    yield from clashes(with_user_keys(good), frozenset(good))


def added_mistakes(
    added: Sequence[Action], settings: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield all mistakes in the keys of the user's own actions: the action, and what is wrong."""
    for action in added:
        for name in action.names:
            yield from ((action.id, mistake) for mistake in _mistakes_in(name, action.id))
        if not action.names:
            yield action.id, "names no key"
    new = frozenset(action.id for action in added)
    for action_id, clash in clashes((*with_user_keys(settings), *added), new):
        if action_id in new:
            yield action_id, clash


def clashes(table: Sequence[Action], changed: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the keys that run two actions in one place, with the action that the user changed."""
    names = {key.id: frozenset(key.names) for key in table}
    for first, second in combinations(table, 2):
        if names[first.id].isdisjoint(names[second.id]) or not _overlap(first, second):
            continue
        blamed, other = (second, first) if second.id in changed else (first, second)
        is_command = other.group == "commands"
        other_name = other.help if is_command else f"{other.id} ({other.help})"
        for name in second.names:
            if name in first.names:
                yield blamed.id, f"{key_label(name)} is also the key of {other_name}"


def textual_key(text: str) -> str:
    """Return Textual's name for a key.

    >>> textual_key("?"), textual_key("ctrl+k"), textual_key("G"), textual_key("shift+tab")
    ('question_mark', 'ctrl+k', 'G', 'shift+tab')
    """
    match = _CHORD.fullmatch(text)
    prefix, base = match.groups() if match else ("", text)
    if len(base) == 1 and not base.isalnum():
        name = unicodedata.name(base, base).lower().replace("-", "_").replace(" ", "_")
        base = KEY_NAME_REPLACEMENTS.get(name, name)
    return f"{prefix}{base.lower() if len(base) > 1 else base}"


def key_label(name: str) -> str:
    """Return a key as users write it.

    >>> key_label("question_mark"), key_label("ctrl+p"), key_label("pageup"), key_label("escape")
    ('?', 'ctrl+p', 'pgup', 'esc')
    """
    prefix, plus, base = name.rpartition("+")
    return prefix + plus + (base if base in WRITTEN_OUT else format_key(base))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _mistakes_in(text: str, action: str) -> Iterator[str]:
    match = _CHORD.fullmatch(textual_key(text))
    prefix, base = match.groups() if match else ("", "")
    modifiers = prefix.split("+")[:-1]
    if not _is_key(base) or not set(modifiers) <= set(_MODIFIERS):
        yield f'"{text}" is not a key; use a letter, or a name like f2, space or ctrl+k'
    elif modifiers and base.isupper():
        yield f"write {prefix}shift+{base.lower()} for {text}"
    elif modifiers == ["shift"] and len(base) == 1:
        yield f"write {base.upper()} for {text}"
    elif (key := textual_key(text)) in FIXED and not (action == "quit" and FIXED[key] == "quits"):
        yield f"{key} always {FIXED[key]}"


def _is_key(base: str) -> bool:
    if base in _NAMES or (len(base) == 1 and base.isprintable()):
        return True
    try:
        return unicodedata.lookup(base.replace("_", " ")).isprintable()
    except KeyError:
        return False


def _overlap(first: Action, second: Action) -> bool:
    """True if one of the two would hide the other: both global, or on the same page."""
    if not first.pages or not second.pages:
        return not first.pages and not second.pages
    return not set(first.pages).isdisjoint(second.pages)
