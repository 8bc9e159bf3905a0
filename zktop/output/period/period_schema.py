"""The JSON of `zktop report`, which is a contract like `zktop.output.schema`."""

from typing import Annotated, Final, Literal

from msgspec import Meta, field

from zktop.output.schema import (
    BlindJson,
    DeadlockJson,
    ExpiredSessionJson,
    FindingJson,
    JsonObject,
    Time,
)

PERIOD: Final = "zktop.report/1"

Seconds = Annotated[float, Meta(description="in seconds")]
Bound = Annotated[
    Literal["exact", "at-least"],
    Meta(description="at-least: some of it was not seen, or is not over"),
]


class BoundedJson(JsonObject, frozen=True, kw_only=True):
    """A duration, or the least that it was."""

    s: Seconds
    is_: Bound = field(name="is")


class SpreadJson(JsonObject, frozen=True, kw_only=True):
    """How long waits or holds took; null if there was none."""

    number: int
    p50: BoundedJson | None
    p99: BoundedJson | None
    max: BoundedJson | None


class FiguresJson(JsonObject, frozen=True, kw_only=True):
    """What all accounts have in common."""

    waits: Annotated[
        SpreadJson,
        Meta(description="Until the lock was acquired; lower bounds if it was not"),
    ]
    holds: SpreadJson
    given_up: Annotated[int, Meta(description="Waits that ended without the lock")]
    waiting: Annotated[int, Meta(description="Places in queues at the end")]
    holding: Annotated[int, Meta(description="Locks held at the end")]
    deadlocks: int
    expiries: Annotated[int, Meta(description="Nodes that were removed with expired sessions")]


class ChargeJson(JsonObject, frozen=True, kw_only=True):
    """How long others waited for locks that a client held, added up.

    While several clients held a lock together, each of them may have caused all of the wait or
    none of it.
    """

    at_least_s: Annotated[Seconds, Meta(description="It was the only holder")]
    at_most_s: Annotated[Seconds, Meta(description="It was the holder, or one of several")]
    waiting_itself_s: Annotated[
        Seconds, Meta(description="The part of it during which it waited for a lock itself")
    ]


class ClientAccountJson(JsonObject, frozen=True, kw_only=True):
    """A client, or a node without one that is in the way."""

    actor: str
    name: str
    client: Annotated[str | None, Meta(description="Its address")]
    blocked_others: ChargeJson
    waited_s: Seconds
    worst_lock: Annotated[str | None, Meta(description="The lock where it cost most")]
    figures: FiguresJson


class ChargedJson(JsonObject, frozen=True, kw_only=True):
    """One of the clients that made others wait for a lock."""

    actor: str
    name: str
    blocked_others: ChargeJson


class LockAccountJson(JsonObject, frozen=True, kw_only=True):
    """A lock, or a class: locks whose paths differ only in ids, which are written as `*`."""

    path: str
    locks: int
    blocked_s: Annotated[Seconds, Meta(description="The waits of all clients, added up")]
    blocked_is: Bound
    contenders_seen: int
    contenders_missed: Annotated[
        int, Meta(description="Known only from the counters of the lock's znode")
    ]
    charged: Annotated[list[ChargedJson], Meta(description="The clients that cost most")]
    figures: FiguresJson


class AccountingJson(JsonObject, frozen=True, kw_only=True):
    """Who made others wait, where and for how long; those that cost most come first."""

    blocked_s: Annotated[Seconds, Meta(description="The waits of all clients, added up")]
    blocked_is: Bound
    expired_sessions: int
    clients: list[ClientAccountJson]
    locks: list[LockAccountJson]
    classes: list[LockAccountJson]
    left_out: Annotated[
        tuple[int, int, int],
        Meta(description="Clients, locks and classes that are not listed: they cost least"),
    ]


class PeriodDeadlockJson(JsonObject, frozen=True, kw_only=True):
    """A deadlock of the period, with its last verdict."""

    deadlock: DeadlockJson
    first_seen: Time
    ended: Annotated[Time | None, Meta(description="null: it exists at the end")]
    how: Annotated[str | None, Meta(description="How it ended")]


class PeriodFindingJson(JsonObject, frozen=True, kw_only=True):
    """A finding of the period, with the last sentence that it had for a while."""

    finding: FindingJson
    first_seen: Time
    last_seen: Annotated[Time, Meta(description="If it is over: when it was seen to be gone")]
    is_over: bool
    times: Annotated[int, Meta(description="How often it came; it went in between")]
    follows_from: Annotated[str | None, Meta(description="The id of its cause")]


class SeenJson(JsonObject, frozen=True, kw_only=True):
    """How much of the period was seen."""

    share: Annotated[float, Meta(description="Of the time, with a connection")]
    contenders: Annotated[
        float | None,
        Meta(description="Share of the new contenders that was seen; null: none came"),
    ]
    notes: list[str]
    blind: Annotated[list[BlindJson], Meta(description="Rules without data at the end")]


class PeriodJson(JsonObject, frozen=True, kw_only=True):
    """What happened in a period."""

    schema: Literal["zktop.report/1"]
    hosts: str | None
    chroot: str
    since: Time
    until: Time
    duration_s: Seconds
    locks: Annotated[int, Meta(description="Locks at the end")]
    seen: SeenJson
    deadlocks: list[PeriodDeadlockJson]
    findings: Annotated[list[PeriodFindingJson], Meta(description="The worst first")]
    findings_left_out: int
    expiries: Annotated[
        list[ExpiredSessionJson], Meta(description="Sessions that expired, the last ones")
    ]
    accounting: AccountingJson
