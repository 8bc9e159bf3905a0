"""What kazoo and other Python clients write."""

from typing import Final

from zktop.model.layouts.layout import Layout

KAZOO_LOCK: Final = Layout(
    name="kazoo-lock",
    pattern="^(?P<id>{H32})__(?P<mode>r?lock)__{SEQ}$",
    modes={"lock": "exclusive", "rlock": "read"},
    watch="nearest",
    order="text",
    ties="share",
    id_is="token",
    # Its own pattern wants ten digits after the minus, and misses the numbers with nine.
    unseen=r"__-\d{9}$",
    persistent=True,
    about="kazoo: Lock, WriteLock, ReadLock, Election, SetPartitioner; tooz (Python)",
)

KAZOO: Final = (
    KAZOO_LOCK,
    Layout(
        name="kazoo-semaphore",
        pattern="^(?P<id>{H32})$",
        order="arrival",
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
        id_is="token",
        about="mozilla zktools: ZkLock, ZkReadLock, ZkWriteLock (Python)",
    ),
)
