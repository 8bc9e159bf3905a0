"""What kazoo and other Python clients write."""

from typing import Final

from zktop.model.layouts.layout import ClientSight, Layout

_EXTRA: Final = r"(?:__r?lock__|-lock-)(-?\d{10})$"
_BOTH: Final = r"(?:__r?lock__)(-?\d{10})$"
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
        ClientSight(counts=_LOCKS, key=_LOCKS, modes=("exclusive",), about="Lock"),
        ClientSight(
            counts=_BOTH,
            key=_BOTH,
            bars=_LOCKS,
            modes=("read", "write"),
            about="ReadLock and WriteLock >= 2.9.0",
        ),
        ClientSight(
            counts=_EXTRA,
            key=_EXTRA,
            bars=r"(?:__lock__|-lock-)-?\d{10}$",
            about='extra_lock_patterns=("-lock-",)',
        ),
        ClientSight(
            counts="__r?lock__",
            key="^.*?__r?lock__(.*)$",
            bars="__lock__",
            about="2.3.0 to 2.7.0",
        ),
        ClientSight(
            counts="all",
            key="^(?:.*?__lock__|(?!.*__lock__).{0,7})(.*)$",
            modes=("exclusive",),
            about="<= 2.2.1",
        ),
    ),
    persistent=True,
    about="kazoo: Lock, WriteLock, ReadLock, Election, SetPartitioner; tooz (Python)",
)

KAZOO: Final = (
    KAZOO_LOCK,
    Layout(
        name="kazoo-semaphore",
        pattern="^(?P<id>{H32})$",
        order="arrival",
        sights=(ClientSight(counts="all", pool=True),),
        mode="lease",
        watch="children",
        id_is="token",
        guessed=True,
        about="kazoo: Semaphore; its queue is the sibling named <path>-__lock__ (Python)",
    ),
    Layout(
        name="kazoo-lease",
        pattern="^lease_holder$",
        order="arrival",
        watch="none",
        kind="lease",
        persistent=True,
        about="kazoo: NonBlockingLease, MultiNonBlockingLease; held until a date (Python)",
    ),
    Layout(
        name="kazoo-locking-queue",
        pattern=r"^entry-\d{3}-{SEQ}$",
        watch="none",
        kind="other",
        persistent=True,
        about="kazoo: LockingQueue; each child of `taken` is one item held (Python)",
    ),
)

ZKTOOLS: Final = (
    Layout(
        name="zktools",
        pattern="^(?P<id>{H32})-(?P<mode>lock|read|write)--{SEQ}$",
        modes={"lock": "exclusive", "read": "read", "write": "write"},
        watch="nearest",
        how="exists",
        order="text",
        sights=(ClientSight(counts="all", key="^(?:.*-)?(.*)$", bars="-write-"),),
        id_is="token",
        about="mozilla zktools: ZkLock, ZkReadLock, ZkWriteLock (Python)",
    ),
)
