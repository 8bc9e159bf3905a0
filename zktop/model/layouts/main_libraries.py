"""Layouts of client libraries: Curator, kazoo, Go clients, zk-ruby, and ZooKeeper's own recipes.

Curator's protected creates put `_c_` and a uuid before the name. It sorts children by the text
after the name of the lock, so uuids never matter. Go clients write the same without dashes in
the uuid. zk-ruby writes numbers without a separator and sorts them without their sign.
"""

from typing import Final

from zktop.model.layouts.layout import ANY_WAY, ClientView, Layout

_PREFIX: Final = "^_c_(?P<id>{U36})-"


def _after(name: str) -> ClientView:
    """Count every child; sort by the text after the lock's name, or else by the whole name."""
    return ClientView(counts="all", key=f"^(?:.*{name})?(.*)$")


AFTER_NAME: Final = _after("{NAME}")


CURATOR_MUTEX: Final = Layout(
    name="curator-mutex",
    pattern=_PREFIX + "lock-{SEQ}$",
    order="text",
    sights=(
        _after("lock-"),
        ClientView(counts="lock-", key=r"(-?\d{10})$", about="kezhuw's client (Rust)"),
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
            ClientView(counts="all", key="^(?:.*(?:__READ__|__WRIT__))?(.*)$", bars="__WRIT__"),
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
)

# Last of the layouts with `_c_`: it also matches every other Curator name.
CURATOR_CUSTOM: Final = Layout(
    name="curator-custom",
    pattern=_PREFIX + "(?P<name>.*?[-_]?){SEQ}$",  # the dash is the name's if it can be
    order="text",
    sights=(AFTER_NAME,),
    id_is="token",
    guessed=True,
    grouped=True,
    about="Curator: a mutex with a lock name of its own (Java); kezhuw's client (Rust)",
)


_EXTRA: Final = r"(?:__r?lock__|-lock-)(-?\d{10})$"
_LOCKS_AND_RLOCKS: Final = r"(?:__r?lock__)(-?\d{10})$"
_LOCKS: Final = r"(?:__lock__)(-?\d{10})$"  # it misses negative numbers with nine digits

KAZOO_LOCK: Final = Layout(
    name="kazoo-lock",
    pattern="^(?P<id>{H32})__(?P<mode>r?lock)__{SEQ}$",
    modes={"lock": "exclusive", "rlock": "read"},
    watch="nearest",
    order="text",
    ties="share",
    id_is="token",
    sights=(
        ClientView(counts=_LOCKS, key=_LOCKS, modes=("exclusive",), about="Lock"),
        ClientView(
            counts=_LOCKS_AND_RLOCKS,
            key=_LOCKS_AND_RLOCKS,
            bars=_LOCKS,
            modes=("read", "write"),
            about="ReadLock and WriteLock >= 2.9.0",
        ),
        ClientView(
            counts=_EXTRA,
            key=_EXTRA,
            bars=r"(?:__lock__|-lock-)-?\d{10}$",
            about='extra_lock_patterns=("-lock-",)',
        ),
        ClientView(
            counts="__r?lock__",
            key="^.*?__r?lock__(.*)$",
            bars="__lock__",
            about="2.3.0 to 2.7.0",
        ),
        ClientView(
            counts="all",
            key="^(?:.*?__lock__|(?!.*__lock__).{0,7})(.*)$",
            modes=("exclusive",),
            about="<= 2.2.1",
        ),
    ),
    persistent=True,
    about="kazoo: Lock, WriteLock, ReadLock, Election, SetPartitioner; tooz (Python)",
)

ZKTOOLS: Final = (
    Layout(
        name="zktools",
        pattern="^(?P<id>{H32})-(?P<mode>lock|read|write)--{SEQ}$",
        modes={"lock": "exclusive", "read": "read", "write": "write"},
        watch="nearest",
        how="exists",
        order="text",
        sights=(ClientView(counts="all", key="^(?:.*-)?(.*)$", bars="-write-"),),
        id_is="token",
        about="mozilla zktools: ZkLock, ZkReadLock, ZkWriteLock (Python)",
    ),
)


GO: Final = (
    Layout(
        name="go-lock",
        pattern="^_c_(?P<id>{H32})-lock-{SEQ}$",
        ties="share",
        id_is="token",
        watches_negative=False,
        # Lock() fails unless every name, even a foreign one, has a number.
        sights=(
            ClientView(
                counts="all",
                key="^(?:.*lock-|(?!.*lock-).*__)?(.*)$",
                compare="number",
                unread="fails",
                about="go-zookeeper/zk >= 1.0.3",
            ),
            ClientView(
                counts="all",
                key="^(?:.*-|[^-]*__)?([^-]*)$",
                compare="number",
                unread="fails",
                about="go-zookeeper/zk 1.0.2",
            ),
            ClientView(
                counts="all",
                key="^(?:.*-)?([^-]*)$",
                compare="number",
                unread="fails",
                about="go-zookeeper/zk <= 1.0.1, samuel/go-zookeeper, z-division/go-zookeeper",
            ),
        ),
        about="go-zookeeper/zk, samuel/go-zookeeper, z-division/go-zookeeper: Lock (Go)",
    ),
    Layout(
        name="go-rw",
        pattern="^_c_(?P<id>{H32})-(?P<mode>read|write)-{SEQ}$",
        modes={"read": "read", "write": "write"},
        watch="nearest",
        ties="share",
        id_is="token",
        about="A read/write lock on top of go-zookeeper (Go)",
    ),
)


_DIGITS: Final = ClientView(
    counts="all", key=r"0*(\d+)$", compare="number", unread="zero", bars="^ex"
)

RUBY_ELECTION: Final = Layout(
    name="zkruby-election",
    pattern="^ballot{SEQ}$",
    how="exists",
    order="magnitude",
    sights=(ClientView(counts="^ballot", key=r"(\d+)$", compare="number", unread="zero"),),
    kind="election",
    also_watches=("leader_ack",),
    about="zk-ruby: election; the winner creates leader_ack (Ruby)",
)

RUBY: Final = (
    Layout(
        name="zkruby-rw",
        pattern="^(?P<mode>ex|sh){SEQ}$",
        modes={"ex": "exclusive", "sh": "read"},
        watch="nearest",
        how="exists",
        order="magnitude",
        sights=(_DIGITS,),
        ties="share",
        about="zk-ruby: exclusive and shared Locker (Ruby)",
    ),
    Layout(
        name="zkruby-semaphore",
        pattern="^sem{SEQ}$",
        mode="lease",
        watch="nearest",
        how="exists",
        order="magnitude",
        sights=(_DIGITS,),
        ties="share",
        about="zk-ruby: Semaphore; its size is stored nowhere (Ruby)",
    ),
    RUBY_ELECTION,
)


JAVA_WRITELOCK: Final = Layout(
    name="zk-writelock-java",
    pattern=r"^x-(?P<id>-?\d{1,19})-{SEQ}$",
    how="exists",
    sights=(
        ClientView(
            counts="all", key="-(-?[^-]*)$", compare="number", unread="last", about=">= 3.7.0"
        ),
        ClientView(
            counts="all",
            key="-([^-]*)$",
            compare="number",
            unread="first",
            about="3.4.12, 3.5.4 to 3.6",
        ),
        ClientView(counts="all", about="<= 3.4.11, 3.5.3"),  # compares the session first
        ClientView(
            counts="all",
            key="-([^-]*)$",
            compare="number",
            unread="first-or-zero",
            about="ZooKeeperNetEx (.NET)",
        ),
    ),
    ties="name",
    id_is="token",
    about="ZooKeeper: WriteLock, the id is the session in decimal (Java); ZooKeeperNetEx (.NET)",
)

C_WRITELOCK: Final = Layout(
    name="zk-writelock-c",
    pattern="^x-(?P<id>[0-9a-f]{16})-{SEQ}$",
    how="exists",
    order="digits",
    sights=(ClientView(counts="all", key="-([^-]*)$", unread="fails"),),
    id_is="token",
    about="ZooKeeper: zoo_lock, the id is the session in hexadecimal (C)",
)

ELECTION: Final = Layout(
    name="zk-election",
    pattern="^n_{SEQ}$",
    sights=(ClientView(counts="all", key="^..(.*)$", compare="number", unread="fails"),),
    how="exists",
    kind="election",
    unlisted=ANY_WAY,
    about="ZooKeeper: LeaderElectionSupport (Java); ZooKeeperNetEx (.NET)",
)

GUID_LOCK: Final = Layout(
    name="guid-lock",
    pattern="^(?!_c_.*-n_)(?P<id>.+?)-(?:lock-|n_){SEQ}$",
    sights=(
        ClientView(
            counts=r"-(?:lock-|n_)(-?\d{10})$",
            key=r"-(?:lock-|n_)(-?\d{10})$",
            about="kazoo, a named subclass",
        ),
        ClientView(counts="all", key="^(?:.*-)?(.*)$", about="zktools: ZkAsyncLock"),
    ),
    how="exists",
    unlisted=ANY_WAY,
    about="The recipes of ZooKeeper's documentation; zktools: ZkAsyncLock (Python)",
)
