"""The JSON that zktop prints: snapshots, events, and ways to free a lock.

This is a contract. Fields may be added. Renaming a field or changing its meaning needs a new
schema number. Unknown is null, never 0 or "". `zktop schema` prints the names without `Json`.
"""

import re
from typing import Annotated, Final, Literal

import msgspec

SNAPSHOT: Final = "zktop.snapshot/1"
EVENT: Final = "zktop.event/1"
FREE: Final = "zktop.free/1"
_OLD_NAMES: Final = {
    b"ClientView": b"ClientSight",
    b"LookMark": b"Look",
    b"StateMark": b"State",
}

Confidence = Literal["C1", "C2", "C3", "C4"]
Time = Annotated[str, msgspec.Meta(description="ISO-8601, UTC, milliseconds")]
SessionId = Annotated[str, msgspec.Meta(description="0x and hex, unsigned 64 bits, no padding")]
Zxid = Annotated[str, msgspec.Meta(description="0x and hex")]
ServerState = Annotated[
    Literal["up", "down", "no-answer", "no-quorum", "unreached", "unknown"],
    msgspec.Meta(
        description="down: refuses connections. no-answer: accepts them, but failed to answer "
        "twice. no-quorum: answers that it serves no clients. unreached: a member that never "
        "answered zktop, perhaps because its address is not valid here."
    ),
]


class JsonObject(msgspec.Struct, frozen=True):
    """A JSON object of the contract."""


class WatchTargetJson(JsonObject, frozen=True, kw_only=True):
    """A watch that a client should set."""

    path: str
    how: Literal["data", "exists", "children"]


class WatchJson(JsonObject, frozen=True, kw_only=True):
    """What a contender should watch, and what it watches."""

    expected: list[WatchTargetJson]
    actual: list[str] | None
    verdict: Literal["confirmed", "elsewhere", "missing", "invisible", "unknown", "none-needed"]


class ContenderJson(JsonObject, frozen=True, kw_only=True):
    """One place in a lock; `node` is null for a waiter known only by its watch.

    `owner` is the client's label, which others may share; `name` is unique.
    """

    node: str | None
    mode: Literal["exclusive", "read", "write", "lease", "candidate"]
    sequence: int | None
    session: SessionId | None
    owner: str | None
    name: str
    created: Time | None
    since: Time | None
    since_is: Annotated[
        Literal["seen", "at-least", "at-most", "unknown"],
        msgspec.Meta(description="at-most is reserved: no version of zktop has printed it"),
    ]
    state: Literal["holds", "waits", "standby", "pending"]
    blocked_by: Annotated[
        list[str],
        msgspec.Meta(
            description="The contenders that must go first: every holder and all that are ahead, "
            "if `ahead` is at most 100; else the first 100 holders and the contenders just ahead "
            "of this one."
        ),
    ]
    ahead: Annotated[int, msgspec.Meta(description="How many contenders must go first in total")]
    watch: WatchJson
    ours: bool
    stranded: Annotated[
        bool,
        msgspec.Meta(
            description="Its client failed and left the node behind: it waits for nothing, but "
            "blocks others until its session ends"
        ),
    ]


class LockJson(JsonObject, frozen=True, kw_only=True):
    """One lock; holders and waiters in queue order."""

    path: str
    layout: str
    kind: Literal["mutex", "read-write", "semaphore", "election", "single", "lease", "other"]
    leases: int | None
    next_sequence: int | None
    error: str | None
    holders: list[ContenderJson]
    waiters: list[ContenderJson]
    foreign: Annotated[
        list[str],
        msgspec.Meta(description="Children that are not contenders; `blocked_by` may name them"),
    ]
    warnings: list[str]


class ServerJson(JsonObject, frozen=True, kw_only=True):
    """One ensemble member; `flavour` is its implementation, null if unknown."""

    address: str
    flavour: Literal["zookeeper", "keeper", "raftkeeper", "zetcd"] | None
    mode: str | None
    version: str | None
    connections: int | None
    watches: int | None
    latency_ms: tuple[float, float, float] | None
    outstanding: int | None
    znodes: int | None
    channel: Literal["4lw", "admin", "none"]
    state: ServerState  # `error` is why it does not answer or has no figures
    since: Time | None  # when it stopped serving; null while it serves
    error: str | None


class SeesJson(JsonObject, frozen=True, kw_only=True):
    """Which of the servers' tables could be read."""

    sessions: Literal["all", "some", "none"]
    watches: Literal["all", "some", "none"]
    expiry: Literal["all", "none"]


class SourceJson(JsonObject, frozen=True, kw_only=True):
    """The ensemble, and zktop's connection to it."""

    hosts: str | None
    chroot: str
    state: str
    zxid: Zxid | None
    session: SessionId | None
    sees: SeesJson
    servers: list[ServerJson]


class SessionJson(JsonObject, frozen=True, kw_only=True):
    """One session that holds or waits for a lock."""

    client: str | None
    server: str | None
    timeout_ms: int | None
    last_contact_s: float | None
    expires_in_s: tuple[float, float] | None
    owner: str | None
    name: str
    known: dict[str, str]  # the entry of the config's owners, or of the owners_file
    holds: list[str]
    waits: list[str]


class HeldJson(JsonObject, frozen=True, kw_only=True):
    """A lock that an actor of a deadlock holds."""

    lock: str
    node: str
    mode: str


class StepJson(JsonObject, frozen=True, kw_only=True):
    """What one actor of a deadlock holds and waits for."""

    actor: str
    owner: str | None
    name: str
    holds: list[HeldJson]
    waits: HeldJson
    waits_for: str = msgspec.field(name="for")
    edge: Literal["hard", "soft"]
    closing: bool


class WayOutJson(JsonObject, frozen=True, kw_only=True):
    """An actor whose end would resolve the deadlock, with its address and server."""

    actor: str
    name: str
    client: str | None
    server: str | None
    why: str
    frees: int


class DeadlockJson(JsonObject, frozen=True, kw_only=True):
    """One independent deadlock; `number` counts the deadlocks of this run."""

    id: str
    number: int
    rule: str
    kind: Literal["cycle", "fairness", "knot", "upgrade", "upgraders", "watches", "election"]
    confidence: Confidence
    since: Time | None
    coexistence_proven: bool
    actors: list[str]
    steps: list[StepJson]
    behind: int
    sentence: str
    ways_out: list[WayOutJson]


class EvidenceJson(JsonObject, frozen=True, kw_only=True):
    """A reason for or against; null for an assumption."""

    supports: bool | None
    text: str


class FindingJson(JsonObject, frozen=True, kw_only=True):
    """One diagnosed problem."""

    id: str
    rule: str
    name: str
    former_name: str | None  # that the rule had in earlier versions
    severity: Literal["critical", "warning", "info"]
    confidence: Confidence
    lock: str | None
    nodes: list[str]
    sessions: list[SessionId]
    since: Time | None
    sentence: str
    evidence: list[EvidenceJson]
    advice: str


class BlindJson(JsonObject, frozen=True, kw_only=True):
    """A rule that could not be checked, and why."""

    rule: str
    why: str


class CostJson(JsonObject, frozen=True, kw_only=True):
    """What watching costs the ensemble."""

    watches: int
    requests: int
    bytes_in: int
    requests_per_s: float | None


class FreedLockJson(JsonObject, frozen=True, kw_only=True):
    """A lock that an expired session held, and the first client that got it afterwards."""

    lock: str
    next: str | None
    next_session: SessionId | None
    after_s: float | None


class ExpiredSessionJson(JsonObject, frozen=True, kw_only=True):
    """One session that expired while it had nodes in locks."""

    at: Time
    session: SessionId
    owner: str | None
    client: str | None
    freed: list[FreedLockJson]
    left: list[str]  # locks in whose queue it waited


class SnapshotJson(JsonObject, frozen=True, kw_only=True):
    """Everything that zktop knows at one moment."""

    schema: Literal["zktop.snapshot/1"]
    taken_at: Time
    source: SourceJson
    locks: list[LockJson]
    sessions: dict[SessionId, SessionJson]
    deadlocks: list[DeadlockJson]
    findings: list[FindingJson]
    blind: list[BlindJson]
    expiries: list[ExpiredSessionJson]
    cost: CostJson | None


class WayToFreeJson(JsonObject, frozen=True, kw_only=True):
    """One way to free a lock; `option` is the rest of the command line that lets zktop do it."""

    kind: Literal["ask-to-release", "stop-process", "end-session", "delete-node"]
    what: str
    commands: list[str]
    needs: Annotated[
        str | None, msgspec.Meta(description="What to add to the commands: secrets are left out")
    ]
    effect: str
    belief: Annotated[str, msgspec.Meta(description="What its victim will believe")]
    option: list[str] | None
    refusal: Annotated[
        str | None, msgspec.Meta(description="Why zktop does not do it itself, where it could")
    ]


class LockBlockerJson(JsonObject, frozen=True, kw_only=True):
    """One node in the way of a lock; that of a deadlock may be in another lock."""

    lock: str
    node: str
    path: str
    role: Literal["holder", "leftover", "foreign", "deadlocked"]
    name: str
    session: SessionId | None
    client: str | None
    server: str | None
    about: str
    ways: list[WayToFreeJson]


class FreedJson(JsonObject, frozen=True, kw_only=True):
    """What `zktop free` did, or would do in a dry run."""

    kind: Literal["ask-to-release", "delete-node"]
    paths: list[str]
    outcome: Literal["dry-run", "freed", "asked"]
    sentence: str


class FreeJson(JsonObject, frozen=True, kw_only=True):
    """The ways to free one lock."""

    schema: Literal["zktop.free/1"]
    lock: str
    layout: str
    kind: str
    holders: list[str]
    waiting: int
    error: Annotated[str | None, msgspec.Meta(description="Why the lock cannot be read")]
    deadlocks: list[DeadlockJson]
    findings: list[FindingJson]
    blockers: list[LockBlockerJson]
    more: Annotated[int, msgspec.Meta(description="How many blockers are not listed")]
    done: FreedJson | None


class EventJson(JsonObject, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `zktop events`."""

    schema: Literal["zktop.event/1"]
    at: Time
    event: Literal[
        "queued",
        "acquired",
        "released",
        "abandoned",
        "expired",
        "reordered",
        "lock-appeared",
        "lock-vanished",
        "missed",
        "deadlock",
        "deadlock-resolved",
        "finding",
        "finding-cleared",
        "connection",
    ]
    zxid: Zxid | None = None
    lock: str | None = None
    node: str | None = None
    session: SessionId | None = None
    owner: str | None = None
    mode: str | None = None
    waited_s: float | None = None
    waited_is: Literal["exact", "at-least"] | None = None
    held_s: float | None = None
    held_is: Literal["exact", "at-least"] | None = None
    creates: int | None = None
    deletes: int | None = None
    id: str | None = None
    rule: str | None = None
    severity: Literal["critical", "warning", "info"] | None = None  # of a finding
    confidence: Confidence | None = None
    sentence: str | None = None
    state: str | None = None
    number: int | None = None
    how: Annotated[
        str | None, msgspec.Meta(description="How a deadlock ended: which actor went, and how")
    ] = None


def with_published_names(schema: bytes) -> bytes:
    """Replace class names in a JSON Schema with the published names.

    >>> with_published_names(b'{"$ref": "#/$defs/ContenderJson"}')
    b'{"$ref": "#/$defs/Contender"}'
    """
    return re.sub(rb'(\w+)"', _published_name, schema)


def _published_name(match: re.Match[bytes]) -> bytes:
    name = match[1].removesuffix(b"Json").removesuffix(b"Section")
    return _OLD_NAMES.get(name, name) + b'"'
