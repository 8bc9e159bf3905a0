"""Protocols for objects that the UI uses but does not import: clusters, feeds, contenders etc.

`zktop.app` passes the implementations in. A feed calls its callback on its own thread. A `Copy`,
and the methods `export` and `clip` of `Exports`, may take seconds, so the UI calls them on another
thread. Everything else is called on the UI's thread and must not block, except `stop` and `close`,
which are called after the UI has ended.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from zktop.demo_types.contender_order import ContenderOrder, Mode, RecipeInfo
from zktop.demo_types.contender_state import ContenderAction, ContenderState, LogLine
from zktop.demo_types.lesson import Lesson, SceneCount
from zktop.demo_types.scene_moves import Scene, SceneAction, SceneProgress
from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.history.events import Event
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.world.world import World

FeedState = Literal[
    "connecting",  # nothing read yet
    "reading",  # connected, and reading for the first time
    "live",
    "read-only",  # live, on a server that is cut off from the others
    "lost",  # was live, but now the display shows the last known state
    "failed",  # a connection attempt failed, and zktop retries
    "replay",  # a recording is replayed
]


class Status(msgspec.Struct, frozen=True):
    """The state of the feed: a word, and a sentence about it."""

    word: FeedState
    says: str = ""
    is_end: bool = False  # no more news: the recording was read to its end


class Frame(msgspec.Struct, frozen=True, eq=False):
    """One report, and the events since the previous frame."""

    report: Report
    events: tuple[Event, ...] = ()
    is_early: bool = False  # sent during the first reading, so it is not part of the past

    @property
    def at(self) -> Millis:
        return self.report.now


class Complaint(msgspec.Struct, frozen=True):
    """One sentence about a user's request that failed."""

    sentence: str
    ends_recording: bool = False  # recording has stopped


News = Frame | Status | Complaint
OnNews = Callable[[News], None]
Past = Iterable[tuple[World, Millis]]  # what was known at each moment
Copy = Callable[[str], str | None]  # copies a text and returns where it went; None if it failed


class Feed(Protocol):
    """Where frames come from: a live ensemble, or a recording."""

    shows_tables: bool  # True while a page shows them, so that large ones are read more often

    @property
    def name(self) -> str:
        """What is watched: the cluster's name, the hosts, or the file."""

    @property
    def is_live(self) -> bool:
        """True for a live ensemble, False for a recording."""

    @property
    def notes(self) -> Sequence[str]:
        """What zktop cannot watch as closely as it should."""

    def start(self, on_news: OnNews) -> None:
        """Start a thread that delivers frames."""

    def stop(self) -> None:
        """Stop the thread, and wait for it."""

    def record(self, path: Path | None, past: Past = ()) -> None:
        """Record this past and everything from now on into a file. None stops recording."""


class WritePermission(Protocol):
    """Permission to write. The user gives it by typing a word."""

    @property
    def is_given(self) -> bool:
        """True if contenders may write below the root."""

    @property
    def word(self) -> str:
        """The word to type."""

    def give(self, typed: str) -> bool:
        """Give permission if this is the word. Return whether contenders may write now."""

    def word_for(self, path: str) -> str | None:
        """Return the word to type before a contender enters this lock; None if none is needed."""


class ContendersPort(Protocol):
    """The demo contenders and scenes; every call but `close` returns at once."""

    @property
    def hosts(self) -> str:
        """The ensemble that contenders write to."""

    @property
    def root(self) -> str:
        """The path below which one permission is enough."""

    @property
    def permission(self) -> WritePermission:
        """The permission that starting contenders and playing scenes requires."""

    @property
    def recipes(self) -> Sequence[RecipeInfo]:
        """All recipes."""

    @property
    def scenes(self) -> Sequence[Scene]:
        """All scenes."""

    @property
    def lessons(self) -> Sequence[Lesson]:
        """All lessons, in the order to learn them."""

    @property
    def count(self) -> SceneCount:
        """The wake-ups and beliefs that the contenders of the loaded scene have reported."""

    @property
    def states(self) -> Sequence[ContenderState]:
        """Running contenders in the order they started, then those that ended recently."""

    @property
    def progress(self) -> SceneProgress:
        """The loaded scene, and how far it has played."""

    def log(self, count: int, contender: str | None = None) -> Sequence[LogLine]:
        """Return the newest lines of the log, of all contenders or of one, oldest first."""

    def recipe_for(self, layout: str, mode: str) -> tuple[str, Mode] | None:
        """Return a recipe and a mode in which it can queue in a lock of this layout."""

    def listen(self, on_change: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Set the callbacks for changes and for errors, which may run on any thread."""

    def start(self, order: ContenderOrder, typed: str | None = None) -> None:
        """Start a contender. Outside the root, `typed` must be the word for its lock."""

    def act(self, action: ContenderAction, name: str) -> None:
        """Release, cancel, kill, freeze or thaw one contender."""

    def play(self, scene: str) -> None:
        """Play a scene from its beginning, after cleaning up the loaded one."""

    def load(self, scene: str) -> None:
        """Load a scene, paused before its first move."""

    def control(self, action: SceneAction) -> None:
        """Play, pause, step or stop the loaded scene; `stop` cleans up."""

    def close(self) -> None:
        """End all contenders and clean up."""


class Exports(Protocol):
    """Exports reports, spans of the past, and the name of the ensemble for command lines."""

    @property
    def connection(self) -> Sequence[str]:
        """The options with which a command of zktop reaches the ensemble."""

    def export(self, report: Report, form: str) -> str:
        """Return the report as json, text, dot or mermaid."""

    def excerpt(self, report: Report, paths: Collection[str], source: str) -> str:
        """Return these locks of a report as text; `source` is the ensemble or the file."""

    def clip(self, past: Past, settings: Settings, opens_at: Millis) -> bytes:
        """Return a past as a recording that opens at this moment."""


class OpenCluster(msgspec.Struct, frozen=True):
    """One cluster or recording, opened for the UI."""

    feed: Feed
    contenders: ContendersPort | None = None
    exports: Exports | None = None


class ClusterList(Protocol):
    """The clusters that the user may switch between."""

    @property
    def hosts(self) -> Mapping[str, str]:
        """The hosts of each cluster, by name. zktop starts with the first cluster."""

    def open(self, name: str) -> OpenCluster:
        """Open a cluster; its feed has not started yet."""


class FindingHook(Protocol):
    """Runs the user's command for a new finding."""

    def call(self, finding: Finding, cluster: str, complain: Callable[[str], None]) -> None:
        """Run the command without waiting; `complain` may be called on any thread."""

    def close(self) -> None:
        """End the commands that still run."""
