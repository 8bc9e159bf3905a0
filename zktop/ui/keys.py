"""The table of keys: every action that a key can ask for is one entry here.

The footer, the help, the palette and the settings `ui.keys` are all made of it. What writes to
ZooKeeper has a capital letter and is a contender's. An entry without pages is known everywhere;
one with pages only there, where it comes before what is known everywhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from textual.binding import Binding

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


class Key(NamedTuple):
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
    Key("open", "enter", "open what is under the cursor", "move", short="Open"),
    Key("back", "escape", "go back; leave a filter or a pause", "move", short="Back"),
    Key("page_1", "1", "screen 1: all locks", "move"),
    Key("page_2", "2", "screen 2: one lock", "move"),
    Key("page_3", "3", "screen 3: deadlocks and findings", "move"),
    Key("page_4", "4", "screen 4: sessions and servers", "move"),
    Key("page_5", "5", "screen 5: the timeline", "move"),
    Key("page_6", "6", "screen 6: demo contenders and scenes", "move"),
    Key("next_pane", "tab", "go to the next pane", "move"),
    Key("previous_pane", "shift+tab", "go to the pane before", "move"),
    Key("up", "up,k", "one line up", "move"),
    Key("down", "down,j", "one line down", "move"),
    Key("left", "left,h", "to the left", "move"),
    Key("right", "right,l", "to the right", "move"),
    Key("page_up", "pageup,ctrl+b", "one page up", "move"),
    Key("page_down", "pagedown,ctrl+f", "one page down", "move"),
    Key("first", "g,home", "to the first line", "move"),
    Key("last", "G,end", "to the last line", "move"),
    Key("next_alert", "n", "to the next alert", "find", short="Alert"),
    Key("filter", "slash", "filter: text, !text, /pattern/, state:waiting, owner:name", "find",
        short="Filter"),
    Key("sort", "o", "sort by the next column", "look", pages=(LOCKS, SESSIONS), short="Sort"),
    Key("reverse", "O", "reverse the order", "look", pages=(LOCKS, SESSIONS)),
    Key("pause", "p", "hold the picture; collecting goes on", "look", short="Pause"),
    Key("tag", "space", "tag the lock under the cursor", "look", pages=(LOCKS,)),
    Key("faster", "plus", "refresh more often", "look"),
    Key("slower", "minus", "refresh less often", "look"),
    Key("play", "space", "play or pause", "time", pages=(TIMELINE,), short="Play"),
    Key("step_back", "left_square_bracket,left,h", "to the change before", "time",
        pages=(TIMELINE,), short="<"),
    Key("step", "right_square_bracket,right,l", "to the next change", "time", pages=(TIMELINE,),
        short=">"),
    Key("second_back", "shift+left,H", "one second back", "time", pages=(TIMELINE,)),
    Key("second_on", "shift+right,L", "one second on", "time", pages=(TIMELINE,)),
    Key("zoom_in", "plus", "more detail", "time", pages=(TIMELINE,)),
    Key("zoom_out", "minus", "a longer time", "time", pages=(TIMELINE,)),
    Key("speed", "s", "play faster, up to 64 times; then slowly again", "time", pages=(TIMELINE,)),
    Key("seek", "t", "go to a time", "time", pages=(TIMELINE,), short="Go to"),
    Key("mark", "m", "mark this moment: x cuts out what is from there to the cursor", "time",
        pages=(TIMELINE,)),
    Key("compare", "c", "compare this moment with the newest", "time", pages=(TIMELINE,),
        short="Compare"),
    Key("new", "N", "start a contender", "contenders", short="New", writes=True),
    Key("new_reader", "R", "one more reader in this lock", "contenders", pages=CONTENDING,
        writes=True),
    Key("new_writer", "W", "one more writer in this lock", "contenders", pages=CONTENDING,
        writes=True),
    Key("new_exclusive", "X", "one more contender in this lock", "contenders", pages=CONTENDING,
        writes=True),
    Key("release", "U", "have a contender of ours release its lock", "contenders",
        pages=CONTENDING, writes=True),
    Key("cancel", "C", "have a contender of ours give up", "contenders", pages=CONTENDING,
        writes=True),
    Key("kill", "K", "kill a contender of ours, as a crash would", "contenders",
        pages=CONTENDING, writes=True),
    Key("freeze", "Z", "freeze a contender of ours, or thaw it", "contenders", pages=CONTENDING,
        writes=True),
    Key("scene_play", "space", "play the scene, or pause it", "contenders", pages=(DEMO,),
        short="Play", writes=True),
    Key("scene_step", "right_square_bracket", "play one move of the scene", "contenders",
        pages=(DEMO,), short="Step", writes=True),
    Key("scene_stop", "E", "end the scene and clean up after it", "contenders", pages=(DEMO,),
        short="End", writes=True),
    Key("scene", "S", "play a scene", "contenders", short="Scene", writes=True),
    Key("copy", "y", "copy what is under the cursor as text", "keep", short="Copy"),
    Key("export", "x", "write a file: JSON, text, DOT, Mermaid, a picture; on screen 5 a clip",
        "keep", short="Export"),
    Key("record", "r", "start or end a recording", "keep", short="Record"),
    Key("show_data", "d", "read the data of the znode under the cursor", "look", pages=(LOCK,),
        short="Data"),
    Key("fold", "f", "fold or unfold groups", "look", pages=(LOCKS, LOCK, FINDINGS, SESSIONS),
        short="Fold"),
    Key("theme", "T", "choose a theme", "zktop"),
    Key("palette", "colon,ctrl+p", "everything by name: screens, locks, sessions, actions",
        "zktop"),
    Key("help", "question_mark,f1", "these keys, and what this screen shows", "zktop",
        short="Help"),
    Key("quit", "q,ctrl+c,ctrl+q", "quit", "zktop", short="Quit"),
)  # fmt: skip


def reading_only(table: Sequence[Key]) -> tuple[Key, ...]:
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


def known_on(page: str, table: Sequence[Key] = KEYS) -> Iterable[Key]:
    """Give the keys that do something on a page, each key name once; what it is about first."""
    own = [key for key in table if page in key.pages]
    taken = {name for key in own for name in key.names}
    known = [
        key for key in table if page in key.pages or not (key.pages or taken.issuperset(key.names))
    ]
    return sorted(known, key=lambda key: key.group not in MAIN or not key.pages)
