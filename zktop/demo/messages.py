"""What a contender is asked to do, as a value that travels as JSON.

What a contender tells while it contends: frozen steps, each with a sentence in plain words.
"""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from zktop.errors import UsageError
from zktop.model.text import Text, clean

DEMO_ROOT = "/zktop-demo"
Mode = Literal["exclusive", "read", "write", "lease", "candidate"]
WorkStyle = Literal["hold", "oversleep", "raise", "die", "never"]
Seconds = Annotated[float, Meta(ge=0)]

_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[^/\x00-\x1f\x7f-\x9f]+)+")


class ClientSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where the ensemble is and how to be let in. Never on a command line: it may hold secrets."""

    hosts: str = "127.0.0.1:2181"
    session_timeout_s: Annotated[float, Meta(gt=0)] = 6.0
    connect_timeout_s: Annotated[float, Meta(gt=0)] = 10.0
    auth: tuple[tuple[str, str], ...] = ()  # scheme, credentials
    sasl: dict[str, str] = {}
    tls: bool = False
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    tls_verify: bool = True


class LockClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One lock that a contender wants, and how."""

    recipe: str
    path: str
    mode: Mode | None = None  # None: the first mode that the recipe knows
    flaw: str | None = None
    timeout_s: Seconds | None = None
    leases: Annotated[int, Meta(ge=1)] = 1
    poll_s: Annotated[float, Meta(gt=0)] = 1.0
    gate: bool = False  # ask for it only when told to go on


class ContenderOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything about one contender: its name, the locks in the order it takes them, its work."""

    name: str
    claims: Annotated[tuple[LockClaim, ...], Meta(min_length=1)]
    connection: ClientSettings = ClientSettings()
    work: WorkStyle = "hold"
    hold_s: Seconds | None = None  # None: until told to release
    sleep_s: Seconds = 0.0  # how long an oversleeper stands still
    rounds: Annotated[int, Meta(ge=0)] = 1  # 0: for ever
    pause_s: Seconds = 0.0  # between two rounds
    root: str = DEMO_ROOT
    anywhere: bool = False  # write outside the root: only when a person asked for it
    witness: str | None = None  # a path where the critical section is proven to be exclusive


def read_order(text: str | bytes) -> ContenderOrder:
    """Read an order from JSON.

    >>> read_order('{"name": "a", "claims": [{"recipe": "poll", "path": "/zktop-demo/x"}]}').work
    'hold'
    >>> read_order('{"name": "a"}')
    Traceback (most recent call last):
    zktop.errors.UsageError: this is no order: Object missing required field `claims`
    """
    try:
        return msgspec.json.decode(text, type=ContenderOrder)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise UsageError(f"this is no order: {problem}") from None


def check_path(path: str, order: ContenderOrder) -> None:
    """Refuse what is no path, and what is not below the demo root.

    >>> check_path("/app/lock", ContenderOrder("a", ()))
    Traceback (most recent call last):
    zktop.errors.UsageError: contenders write only below /zktop-demo, and /app/lock is not ...
    """
    if not _PATH.fullmatch(path):
        raise UsageError(f"{path!r} is no path of a lock: it has to look like {order.root}/name")
    if not order.anywhere and not path.startswith(order.root.rstrip("/") + "/"):
        raise UsageError(
            f"contenders write only below {order.root}, and {path} is not below it; "
            "say explicitly that it may be written anywhere, or choose another path"
        )


StepKind = Literal[
    "connected",
    "suspended",  # the connection is gone, the session may live
    "lost",  # the session is gone, and with it every node and every lock
    "waiting",  # for the word to go on
    "created",
    "listed",
    "decided",
    "watching",
    "notified",
    "acquired",
    "working",
    "clash",  # somebody else is in the critical section too
    "releasing",  # from here on it does not count on the lock any more
    "released",
    "gave-up",
    "failed",
    "ended",
]

REPEATABLE = frozenset({"listed", "decided", "watching"})
REPEATED_AFTER_S = 1.0


class ContenderStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that one contender did or saw."""

    who: Text
    what: StepKind
    says: Text
    at: str
    lock: Text | None = None
    node: Text | None = None  # what was created, watched, notified or released
    requests: int = 0  # that this contender has sent so far, for locks
    session: Text | None = None  # told when it is connected, as in a report: 0x and hex

    def line(self) -> str:
        """Give the step as one line for people."""
        return f"{self.at[11:23]} {self.who}: {self.says}"

    def json(self) -> str:
        """Give the step as one line for programs."""
        return msgspec.json.encode(self).decode()


OnStep = Callable[[ContenderStep], None]


class StepReporter:
    """Stamps the steps of one contender and hands them on.

    A contender that spins would drown everybody in its steps: what was said less than a second
    ago is not said again, unless something has happened since.
    """

    def __init__(self, who: str, say: OnStep) -> None:
        """Speak for one contender."""
        self._who = clean(who)
        self._say = say
        self._said: dict[tuple[str, str], float] = {}
        self.requests = 0

    def tell(
        self,
        what: StepKind,
        says: str,
        *,
        lock: str | None = None,
        node: str | None = None,
        session: str | None = None,
    ) -> None:
        """Tell one step."""
        if what not in REPEATABLE:
            self._said = {}
        elif self._just_said(what, says):
            return
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        step = ContenderStep(self._who, what, clean(says), at, requests=self.requests)
        given = {"lock": lock, "node": node, "session": session}
        names = {name: clean(raw) for name, raw in given.items() if raw}
        self._say(msgspec.structs.replace(step, **names))

    def _just_said(self, what: str, says: str) -> bool:
        now = time.monotonic()
        recent = now - self._said.get((what, says), -REPEATED_AFTER_S) < REPEATED_AFTER_S
        if not recent:
            self._said = {key: at for key, at in self._said.items() if now - at < REPEATED_AFTER_S}
            self._said[what, says] = now
        return recent
