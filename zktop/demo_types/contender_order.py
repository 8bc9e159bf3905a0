"""The order for a contender, and the recipes that it may name.

An order travels unchanged from the dialog that fills it in to the process that carries it out.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from zktop.tls import Tls

DEMO_ROOT = "/zktop-demo"
OVERSLEEP_SESSIONS = 3  # how long `oversleep` sleeps by default, in session timeouts
Mode = Literal["exclusive", "read", "write", "lease", "candidate"]
WorkStyle = Literal["hold", "oversleep", "raise", "die", "never"]
Seconds = Annotated[float, Meta(ge=0)]


class ClientSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a contender connects. Never put it on a command line: it may hold secrets."""

    hosts: str = "127.0.0.1:2181"
    session_timeout_s: Annotated[float, Meta(gt=0)] = 6.0
    connect_timeout_s: Annotated[float, Meta(gt=0)] = 10.0
    auth: tuple[tuple[str, str], ...] = ()  # scheme, credentials
    sasl: dict[str, str] = {}
    tls: Tls | None = None


class LockClaim(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One lock that a contender wants, and how."""

    recipe: str
    path: str
    mode: Mode | None = None  # None: the first mode of the recipe
    flaw: str | None = None
    timeout_s: Seconds | None = None
    leases: Annotated[int, Meta(ge=1)] = 1
    poll_s: Annotated[float, Meta(gt=0)] = 1.0
    gate: bool = False  # ask for the lock only after the command `go`


class ContenderOrder(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything about one contender: its name, its locks in order, its work, its connection."""

    name: str
    claims: Annotated[tuple[LockClaim, ...], Meta(min_length=1)]
    connection: ClientSettings = ClientSettings()
    work: WorkStyle = "hold"
    hold_s: Seconds | None = None  # None: until the command `release`
    sleep_s: Seconds = 0.0  # how long the work style `oversleep` blocks the process
    rounds: Annotated[int, Meta(ge=0)] = 1  # 0: repeat forever
    pause_s: Seconds = 0.0  # between two rounds
    root: str = DEMO_ROOT
    anywhere: bool = False  # may write outside the root, which only the user can allow


class Flaw(Struct, frozen=True):
    """A mistake from real code that a recipe can make on request."""

    name: str
    does: str


class RecipeInfo(Struct, frozen=True):
    """A description of a recipe, and the modes and flaws that an order may request."""

    name: str
    source: str
    brief: str  # one short line, for a list of recipes
    story: str
    modes: tuple[Mode, ...] = ("exclusive",)
    flaws: tuple[Flaw, ...] = ()
    broken: str | None = None  # what is wrong with it even without a flaw
