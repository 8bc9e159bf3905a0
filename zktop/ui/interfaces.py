"""Protocols of what the UI uses but does not import: feeds, contenders, exports, finding hooks.

`zktop.app` passes the implementations in. A feed calls its callback on a thread of its own.
A `Copy` may take seconds, and is called on a thread, too. Everything else here is called on
the UI's thread and must not block it.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from zktop.demo_types import (
    ContenderAction,
    ContenderOrder,
    ContenderState,
    LogLine,
    Mode,
    RecipeInfo,
    Scene,
    SceneAction,
    SceneProgress,
)
from zktop.model.facts import Millis

if TYPE_CHECKING:
    from zktop.model.findings.finding import Finding
    from zktop.model.history.events import Event
    from zktop.model.report import Report

FeedState = Literal[
    "connecting",  # nothing was read yet
    "reading",  # connected; the first reading is under way
    "live",
    "read-only",  # live, on a server that is cut off from the others
    "lost",  # was live; the picture is of the past
    "failed",  # a try to connect failed; another one follows
    "replay",  # of a recording
]


class Status(msgspec.Struct, frozen=True):
    """The state of the feed, in one word and one sentence."""

    word: FeedState
    says: str = ""
    is_end: bool = False  # nothing more will come: a recording was read to its end


class Frame(msgspec.Struct, frozen=True, eq=False):
    """One report, and the events since the frame before it."""

    report: "Report"
    events: "tuple[Event, ...]" = ()

    @property
    def at(self) -> Millis:
        return self.report.now


class Complaint(msgspec.Struct, frozen=True):
    """Something that the user asked for failed; one sentence says what."""

    sentence: str
    ends_recording: bool = False  # nothing more is written into the file that was asked for


News = Frame | Status | Complaint
OnNews = Callable[[News], None]
Copy = Callable[[str], str | None]  # copies a text; returns where it is, None if nothing took it


class Feed(Protocol):
    """Where frames come from: a live ensemble, or a recording."""

    @property
    def name(self) -> str:
        """What is watched: the cluster's name, the hosts, or the file."""

    @property
    def is_live(self) -> bool:
        """True for a live ensemble, False for a recording."""

    @property
    def notes(self) -> Sequence[str]:
        """What is watched less closely than it should be."""

    def start(self, tell: OnNews) -> None:
        """Start a thread that delivers frames."""

    def stop(self) -> None:
        """Stop the thread, and wait for it."""

    def record(self, path: Path | None) -> None:
        """Record everything from now on into this file; None stops recording."""


class WritePermission(Protocol):
    """Permission to write, which only a word that the user types can give."""

    @property
    def is_given(self) -> bool:
        """True if contenders may write below the root."""

    @property
    def word(self) -> str:
        """The word that gives it."""

    def give(self, typed: str) -> bool:
        """Give permission if this is the word; True if contenders may write now."""

    def word_for(self, path: str) -> str | None:
        """The word to type before a contender enters this lock; None: no question."""


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
        """Nothing is started or played without it."""

    @property
    def recipes(self) -> Sequence[RecipeInfo]:
        """All recipes."""

    @property
    def scenes(self) -> Sequence[Scene]:
        """All scenes."""

    @property
    def states(self) -> Sequence[ContenderState]:
        """The contenders that run, in the order of their starts, then those that ended lately."""

    @property
    def progress(self) -> SceneProgress:
        """The scene that is loaded, and how far it was played."""

    def log(self, count: int, who: str | None = None) -> Sequence[LogLine]:
        """The newest lines of the log, of all contenders or of one, oldest first."""

    def recipe_for(self, layout: str, mode: str) -> tuple[str, Mode] | None:
        """A recipe and its mode whose contenders can queue up in a lock of this layout."""

    def listen(self, on_change: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Call these after every change, and when something went wrong; on any thread."""

    def start(self, order: ContenderOrder, typed: str | None = None) -> None:
        """Start a contender; outside the root only with the word that the user typed for it."""

    def act(self, action: ContenderAction, name: str) -> None:
        """Release, cancel, kill, freeze or thaw one contender."""

    def play(self, scene: str) -> None:
        """Play a scene from its beginning; the one that is loaded is cleaned up first."""

    def load(self, scene: str) -> None:
        """Load a scene, paused before its first move."""

    def control(self, action: SceneAction) -> None:
        """Play, pause, step or stop the scene that is loaded; `stop` cleans up."""

    def close(self) -> None:
        """End all contenders and clean up."""


class Exports(Protocol):
    """Exports of a report."""

    def export(self, report: "Report", form: str) -> str:
        """The report as json, text, dot or mermaid."""

    def excerpt(self, report: "Report", paths: Collection[str], source: str) -> str:
        """Write these locks of a report as text; `source` is the ensemble or the file."""

    def clip(self, frames: Sequence[Frame]) -> bytes:
        """These frames as a recording."""


class FindingHook(Protocol):
    """Runs the user's command for a new finding."""

    def call(self, finding: "Finding", complain: Callable[[str], None]) -> None:
        """Run the command without waiting; `complain` may be called on any thread."""

    def close(self) -> None:
        """End the commands that still run."""
