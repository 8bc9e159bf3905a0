"""What the UI needs from outside, in its own words; who joins the parts gives it these.

A feed calls `tell` on a thread of its own. Everything else here is called on the UI's thread and
must not block it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from zktop.model.facts import Millis, Session

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
    """How the feed is doing, in one word and one sentence."""

    word: FeedState
    says: str = ""
    is_end: bool = False  # nothing more will come: a recording was read to its end


class Frame(msgspec.Struct, frozen=True, eq=False):
    """One report, and what happened since the frame before it."""

    report: "Report"
    events: "tuple[Event, ...]" = ()

    @property
    def at(self) -> Millis:
        """The moment that it shows."""
        return self.report.now


class Complaint(msgspec.Struct, frozen=True):
    """Something that was asked for went wrong; one sentence for the user."""

    sentence: str
    ends_recording: bool = False  # nothing more is written into the file that was asked for


News = Frame | Status | Complaint
OnNews = Callable[[News], None]


class Feed(Protocol):
    """Where frames come from: a live ensemble, or a recording."""

    @property
    def name(self) -> str:
        """What is watched: the cluster's name, the hosts, or the file."""

    @property
    def is_live(self) -> bool:
        """Tell a live ensemble from a recording."""

    @property
    def notes(self) -> Sequence[str]:
        """Say what is followed less closely than it should be."""

    def start(self, tell: OnNews) -> None:
        """Begin to tell, on another thread."""

    def stop(self) -> None:
        """End that thread, and wait for it."""

    def record(self, path: Path | None) -> None:
        """Write what is read from now on into this file; None ends that."""


class Wish(msgspec.Struct, frozen=True):
    """Contenders that the user wants to have."""

    recipe: str
    path: str
    mode: str | None = None
    hold_s: float | None = None  # None: until it is told to release
    timeout_s: float | None = None
    count: int = 1
    flaw: str | None = None


class Hand(msgspec.Struct, frozen=True):
    """One contender of ours, as it stands now."""

    name: str
    recipe: str
    path: str
    mode: str
    state: str
    session: Session | None = None
    holds: tuple[str, ...] = ()  # what it believes to hold
    says: str = ""  # its last words
    is_gone: bool = False


class LogLine(msgspec.Struct, frozen=True):
    """One thing that a contender, or the scene, has told."""

    at: Millis
    who: str  # nobody: the narration of the scene
    says: str


class SceneCard(msgspec.Struct, frozen=True):
    """What a scene is about, before it is played."""

    name: str
    title: str
    teaches: str
    look_at: str
    moves: tuple[str, ...] = ()


class RecipeCard(msgspec.Struct, frozen=True):
    """What a recipe is about."""

    name: str
    source: str
    story: str
    modes: tuple[str, ...] = ()
    flaws: tuple[tuple[str, str], ...] = ()  # name, and what it does
    broken: str | None = None


Phase = Literal["empty", "paused", "playing", "over", "failed", "cleaning"]


class Showing(msgspec.Struct, frozen=True):
    """The scene that is on, if any."""

    phase: Phase = "empty"
    scene: SceneCard | None = None
    folder: str | None = None  # where its locks are
    played: int = 0  # moves
    is_moving: bool = False  # in the middle of a move
    problem: str | None = None


ContenderAction = Literal["release", "cancel", "kill", "freeze", "thaw"]
SceneAction = Literal["play", "pause", "step", "stop"]


class WritePermission(Protocol):
    """Whether contenders may write; only what a person types gives it."""

    @property
    def is_given(self) -> bool:
        """Whether contenders may write below the root."""

    @property
    def word(self) -> str:
        """The word that gives it."""

    def give(self, typed: str) -> bool:
        """Take what was typed; True if contenders may write below the root now."""

    def word_for(self, path: str) -> str | None:
        """Give the word to type before a contender goes into this lock; None: no question."""


class ContendersPort(Protocol):
    """The contenders and scenes of ours; every call but `close` returns at once."""

    @property
    def hosts(self) -> str:
        """The ensemble that contenders write to."""

    @property
    def root(self) -> str:
        """The path below which scenes play, and contenders are started with one permission."""

    @property
    def permission(self) -> WritePermission:
        """What `spawn` and `put_on` refuse to do anything without."""

    @property
    def recipes(self) -> Sequence[RecipeCard]:
        """All recipes."""

    @property
    def scenes(self) -> Sequence[SceneCard]:
        """All scenes."""

    @property
    def hands(self) -> Sequence[Hand]:
        """All contenders, in the order of their hiring; behind them who ended lately."""

    @property
    def showing(self) -> Showing:
        """The scene that is on."""

    def said(self, count: int, who: str | None = None) -> Sequence[LogLine]:
        """Give the newest of what was told, by all or by one, oldest first."""

    def recipe_for(self, layout: str, mode: str) -> tuple[str, str] | None:
        """Give a recipe and its mode whose contenders can join a lock of this layout so."""

    def listen(self, heard: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Call these when something was told, or went wrong; on any thread."""

    def spawn(self, wish: Wish, typed: str | None = None) -> None:
        """Start contenders; a lock outside the root needs the word that the user typed for it."""

    def act(self, act: ContenderAction, name: str) -> None:
        """Have something done to one contender."""

    def put_on(self, scene: str, *, paused: bool = False) -> None:
        """Play a scene from its beginning; one that is on is taken down first."""

    def steer(self, steer: SceneAction) -> None:
        """Steer the scene that is on; `stop` takes it down and cleans up."""

    def close(self) -> None:
        """End all contenders and clean up."""


class Exports(Protocol):
    """Other shapes of a report."""

    @property
    def forms(self) -> Sequence[str]:
        """What can be asked for: json, text, dot, mermaid."""

    def export(self, report: "Report", form: str) -> str:
        """Write a report in one of these forms."""

    def clip(self, frames: Sequence[Frame]) -> bytes:
        """Write these frames as a recording."""


class FindingHook(Protocol):
    """Somebody outside who wants to know of new trouble."""

    def call(self, finding: "Finding", complain: Callable[[str], None]) -> None:
        """Tell, without waiting; `complain` may be called on any thread."""

    def close(self) -> None:
        """End whatever still runs."""
