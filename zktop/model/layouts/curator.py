"""What Apache Curator writes (Java), and everything that stands on it.

Its protected creates put `_c_` and a uuid before the name. Children are sorted by the text after
the name of the lock, so that uuids never matter.
"""

from typing import Final

from zktop.model.layouts.layout import ClientSight, Layout

_PREFIX: Final = "^_c_(?P<id>{U36})-"


def _after(name: str) -> ClientSight:
    """Count every child, by the text behind the lock's name, or the whole name without it."""
    return ClientSight(counts="all", key=f"^(?:.*{name})?(.*)$")


CURATOR_MUTEX: Final = Layout(
    name="curator-mutex",
    pattern=_PREFIX + "lock-{SEQ}$",
    order="text",
    sights=(
        _after("lock-"),
        ClientSight(counts="lock-", key=r"(-?\d{10})$", about="kezhuw's client (Rust)"),
    ),
    id_is="token",
    about="Curator: InterProcessMutex, LeaderSelector, MultiLock; Spring, NiFi, "
    "DolphinScheduler; the old InterProcessSemaphore (Java); kezhuw's client (Rust)",
)

CURATOR: Final = (
    CURATOR_MUTEX,
    Layout(
        name="curator-rw",
        pattern=_PREFIX + "__(?P<mode>READ|WRIT)__{SEQ}$",
        modes={"READ": "read", "WRIT": "write"},
        watch="first-writer",
        order="text",
        sights=(
            ClientSight(counts="all", key="^(?:.*(?:__READ__|__WRIT__))?(.*)$", bars="__WRIT__"),
        ),
        id_is="token",
        reentrant=True,
        about="Curator: InterProcessReadWriteLock; Oozie (Java)",
    ),
    Layout(
        name="curator-latch",
        pattern=_PREFIX + "latch-{SEQ}$",
        order="text",
        sights=(_after("latch-"),),
        kind="election",
        id_is="token",
        about="Curator: LeaderLatch; Druid, Storm, Flink, Spark, ElasticJob (Java)",
    ),
    Layout(
        name="curator-semaphore-v2",
        pattern=_PREFIX + "lease-{SEQ}$",
        mode="lease",
        order="arrival",
        sights=(ClientSight(counts="all", pool=True),),
        watch="children",
        id_is="token",
        about="Curator: InterProcessSemaphoreV2, InterProcessSemaphoreMutex; "
        "below the sub-nodes `leases` and `locks` (Java)",
    ),
)

# Last of all that begin with `_c_`: it would match every other Curator name, too.
CURATOR_CUSTOM: Final = Layout(
    name="curator-custom",
    pattern=_PREFIX + "(?P<name>.*?){SEQ}$",
    order="text",
    sights=(_after("{NAME}"),),
    id_is="token",
    guessed=True,
    grouped=True,
    about="Curator: a mutex with a lock name of its own (Java); kezhuw's client (Rust)",
)
