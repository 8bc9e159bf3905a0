"""The table of keys: every action that a key can ask for is one entry here.

The footer, the help, the palette and the settings `ui.keys` are all made of it. What writes to
ZooKeeper has a capital letter and is a contender's. An entry without pages is known everywhere;
one with pages only there, where it comes before what is known everywhere.

Keys as the user wants them: the table of keys with other keys in it, and what is wrong there.

Textual takes unknown names for keys, and of two actions on one key it quietly drops one. So all
of it is checked before the screen is taken.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, format_key

Group = Literal["move", "look", "find", "keep", "contenders", "time", "zktop"]

LOCKS, LOCK, FINDINGS, SESSIONS, TIMELINE, DEMO = (
    "locks",
    "lock",
    "findings",
    "sessions",
    "timeline",
    "demo",
)
CONTENDING: Final = (LOCKS, LOCK, FINDINGS, SESSIONS, DEMO)

MAIN: Final[tuple[Group, ...]] = ("time", "contenders")  # what a page is about that has such keys

FIXED: Final = {"ctrl+c": "quits", "ctrl+q": "quits", "ctrl+z": "suspends"}  # whatever else holds


class Action(NamedTuple):
    """One action, its keys, and what it does in a few words."""

    id: str
    keys: str
    help: str
    group: Group
    pages: tuple[str, ...] = ()
    short: str = ""  # in the footer; nothing: only in the help
    writes: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The keys, one by one."""
        return tuple(key.strip() for key in self.keys.split(",") if key.strip())

    @property
    def movable(self) -> str:
        """The keys that another action might have: all but those that never change."""
        return ",".join(name for name in self.names if name not in FIXED) or "none"

    def binding(self) -> Binding:
        """Give it as Textual wants it."""
        shown, helped = self.short or self.help, self.help
        return Binding(
            self.movable,
            f"app.ask('{self.id}')",
            shown,
            show=bool(self.short),
            id=self.id,
            tooltip=helped,
        )


KEYS: Final = (
    Action("open", "enter", "open what is under the cursor", "move", short="Open"),
    Action("back", "escape", "go back; leave a filter or a pause", "move", short="Back"),
    Action("page_1", "1", "screen 1: all locks", "move"),
    Action("page_2", "2", "screen 2: one lock", "move"),
    Action("page_3", "3", "screen 3: deadlocks and findings", "move"),
    Action("page_4", "4", "screen 4: sessions and servers", "move"),
    Action("page_5", "5", "screen 5: the timeline", "move"),
    Action("page_6", "6", "screen 6: demo contenders and scenes", "move"),
    Action("next_pane", "tab", "go to the next pane", "move"),
    Action("previous_pane", "shift+tab", "go to the pane before", "move"),
    Action("up", "up,k", "one line up", "move"),
    Action("down", "down,j", "one line down", "move"),
    Action("left", "left,h", "to the left", "move"),
    Action("right", "right,l", "to the right", "move"),
    Action("page_up", "pageup,ctrl+b", "one page up", "move"),
    Action("page_down", "pagedown,ctrl+f", "one page down", "move"),
    Action("first", "g,home", "to the first line", "move"),
    Action("last", "G,end", "to the last line", "move"),
    Action("next_alert", "n", "to the next alert", "find", short="Alert"),
    Action("filter", "slash", "filter: text, !text, /pattern/, state:waiting, owner:name", "find",
        short="Filter"),
    Action("sort", "o", "sort by the next column", "look", pages=(LOCKS, SESSIONS), short="Sort"),
    Action("reverse", "O", "reverse the order", "look", pages=(LOCKS, SESSIONS)),
    Action("pause", "p", "hold the picture; collecting goes on", "look", short="Pause"),
    Action("tag", "space", "tag the lock under the cursor", "look", pages=(LOCKS,)),
    Action("faster", "plus", "refresh more often", "look"),
    Action("slower", "minus", "refresh less often", "look"),
    Action("play", "space", "play or pause", "time", pages=(TIMELINE,), short="Play"),
    Action("step_back", "left_square_bracket,left,h", "to the change before", "time",
        pages=(TIMELINE,), short="<"),
    Action("step", "right_square_bracket,right,l", "to the next change", "time", pages=(TIMELINE,),
        short=">"),
    Action("second_back", "shift+left,H", "one second back", "time", pages=(TIMELINE,)),
    Action("second_on", "shift+right,L", "one second on", "time", pages=(TIMELINE,)),
    Action("zoom_in", "plus", "more detail", "time", pages=(TIMELINE,)),
    Action("zoom_out", "minus", "a longer time", "time", pages=(TIMELINE,)),
    Action("speed", "s", "play faster, up to 64 times; then slowly again", "time",
        pages=(TIMELINE,)),
    Action("seek", "t", "go to a time", "time", pages=(TIMELINE,), short="Go to"),
    Action("mark", "m", "mark this moment: x cuts out what is from there to the cursor", "time",
        pages=(TIMELINE,)),
    Action("compare", "c", "compare this moment with the newest", "time", pages=(TIMELINE,),
        short="Compare"),
    Action("new", "N", "start a contender", "contenders", short="New", writes=True),
    Action("new_reader", "R", "one more reader in this lock", "contenders", pages=CONTENDING,
        writes=True),
    Action("new_writer", "W", "one more writer in this lock", "contenders", pages=CONTENDING,
        writes=True),
    Action("new_exclusive", "X", "one more contender in this lock", "contenders", pages=CONTENDING,
        writes=True),
    Action("release", "U", "have a contender of ours release its lock", "contenders",
        pages=CONTENDING, writes=True),
    Action("cancel", "C", "have a contender of ours give up", "contenders", pages=CONTENDING,
        writes=True),
    Action("kill", "K", "kill a contender of ours, as a crash would", "contenders",
        pages=CONTENDING, writes=True),
    Action("freeze", "Z", "freeze a contender of ours, or thaw it", "contenders", pages=CONTENDING,
        writes=True),
    Action("scene_play", "space", "play the scene, or pause it", "contenders", pages=(DEMO,),
        short="Play", writes=True),
    Action("scene_step", "right_square_bracket", "play one move of the scene", "contenders",
        pages=(DEMO,), short="Step", writes=True),
    Action("scene_stop", "E", "end the scene and clean up after it", "contenders", pages=(DEMO,),
        short="End", writes=True),
    Action("scene", "S", "play a scene", "contenders", short="Scene", writes=True),
    Action("copy", "y", "copy what is under the cursor as text", "keep", short="Copy"),
    Action("export", "x", "write a file: JSON, text, DOT, Mermaid, a picture; on screen 5 a clip",
        "keep", short="Export"),
    Action("record", "r", "start or end a recording", "keep", short="Record"),
    Action("show_data", "d", "read the data of the znode under the cursor", "look", pages=(LOCK,),
        short="Data"),
    Action("fold", "f", "fold or unfold groups", "look", pages=(LOCKS, LOCK, FINDINGS, SESSIONS),
        short="Fold"),
    Action("theme", "T", "choose a theme", "zktop"),
    Action("palette", "colon,ctrl+p", "everything by name: screens, locks, sessions, actions",
        "zktop"),
    Action("help", "question_mark,f1", "these keys, and what this screen shows", "zktop",
        short="Help"),
    Action("quit", "q,ctrl+c,ctrl+q", "quit", "zktop", short="Quit"),
)  # fmt: skip


def reading_only(table: Sequence[Action]) -> tuple[Action, ...]:
    """Give the keys of a session that starts no contenders: it has no screen 6 either.

    >>> {key.id for key in KEYS} - {key.id for key in reading_only(KEYS)} >= {"new", "page_6"}
    True
    """
    return tuple(key for key in table if not key.writes and key.id != "page_6")


def bindings(page: str | None = None) -> Iterator[Binding]:
    """Give the bindings of one page, or those that are known everywhere."""
    for key in KEYS:
        if page in key.pages if page else not key.pages:
            yield key.binding()


def known_on(page: str, table: Sequence[Action] = KEYS) -> Iterable[Action]:
    """Give the keys that do something on a page, each key name once; what it is about first."""
    own = [key for key in table if page in key.pages]
    taken = {name for key in own for name in key.names}
    known = [
        key for key in table if page in key.pages or not (key.pages or taken.issuperset(key.names))
    ]
    return sorted(known, key=lambda key: key.group not in MAIN or not key.pages)


_MODIFIERS: Final = ("alt", "ctrl", "meta", "super", "hyper", "shift")
_CHORD: Final = re.compile(r"((?:[a-z]+\+)*)(.+)", re.DOTALL)
_NAMES: Final = {
    *(key.value for key in Keys if key.value.isalnum()),
    *KEY_NAME_REPLACEMENTS.values(),
}


def remapped(settings: Mapping[str, str]) -> tuple[Action, ...]:
    """Give the table of keys with these keys in it; the settings have to be right."""
    return tuple(
        key._replace(keys=",".join(map(named, _parts(settings[key.id]))))
        if key.id in settings
        else key
        for key in KEYS
    )


def key_mistakes(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Say all that is wrong with the keys of known actions: whose, and what."""
    good: dict[str, str] = {}
    for action, text in settings.items():
        wrong = [what for name in _parts(text) for what in _wrong(name, action)]
        yield from ((action, what) for what in wrong)
        if not any(_parts(text)):
            yield action, "names no key"
        elif not wrong:
            good[action] = text
    yield from clashes(remapped(good), frozenset(good))


def clashes(table: Sequence[Action], changed: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Find keys that mean two things at one place; told of the one that was changed."""
    names = {key.id: frozenset(key.names) for key in table}
    for first, second in combinations(table, 2):
        if names[first.id].isdisjoint(names[second.id]) or not _meet(first, second):
            continue
        later, earlier = (second, first) if second.id in changed else (first, second)
        for name in second.names:
            if name in first.names:
                yield later.id, f"{shown(name)} is a key of {earlier.id} as well ({earlier.help})"


def named(text: str) -> str:
    """Give a key the name that Textual has for it.

    >>> named("?"), named("ctrl+k"), named("G"), named("shift+tab")
    ('question_mark', 'ctrl+k', 'G', 'shift+tab')
    """
    match = _CHORD.fullmatch(text)
    prefix, base = match.groups() if match else ("", text)
    if len(base) == 1 and not base.isalnum():
        name = unicodedata.name(base, base).lower().replace("-", "_").replace(" ", "_")
        base = KEY_NAME_REPLACEMENTS.get(name, name)
    return f"{prefix}{base.lower() if len(base) > 1 else base}"


def shown(name: str) -> str:
    """Write a key as people do.

    >>> shown("question_mark"), shown("ctrl+p"), shown("pageup"), shown("escape")
    ('?', 'ctrl+p', 'pgup', 'esc')
    """
    prefix, plus, base = name.rpartition("+")
    words = {"enter": "enter", "up": "up", "down": "down", "left": "left", "right": "right"}
    return prefix + plus + (words.get(base) or format_key(base))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _wrong(text: str, action: str) -> Iterator[str]:
    match = _CHORD.fullmatch(named(text))
    prefix, base = match.groups() if match else ("", "")
    modifiers = prefix.split("+")[:-1]
    if not _is_key(base) or not set(modifiers) <= set(_MODIFIERS):
        yield f'"{text}" is no key; write a letter, or a name like f2, space or ctrl+k'
    elif modifiers and base.isupper():
        yield f"write {prefix}shift+{base.lower()} for {text}"
    elif modifiers == ["shift"] and len(base) == 1:
        yield f"write {base.upper()} for {text}"
    elif named(text) in FIXED and not (action == "quit" and FIXED[named(text)] == "quits"):
        yield f"{named(text)} always {FIXED[named(text)]}"


def _is_key(base: str) -> bool:
    if base in _NAMES or (len(base) == 1 and base.isprintable()):
        return True
    try:
        return unicodedata.lookup(base.replace("_", " ")).isprintable()
    except KeyError:
        return False


def _meet(first: Action, second: Action) -> bool:
    """Tell whether both are asked at the same place, so that one would hide the other."""
    if not first.pages or not second.pages:
        return not first.pages and not second.pages
    return not set(first.pages).isdisjoint(second.pages)
