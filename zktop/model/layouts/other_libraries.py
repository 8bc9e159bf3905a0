"""Layouts of other libraries and of tutorials: .NET, Scala, PHP, Perl, Rust, HBase, ClickHouse.

Many of them share short names. `precedence` tries the short ones first, then those with a host or
an owner in the name, then plain numbers.
"""

from typing import Final

import msgspec

from zktop.model.layouts.client_view import BY_NUMBER
from zktop.model.layouts.layout import ANY_WAY, ClientView, Layout, LockMode

_READ_WRITE: Final[dict[str, LockMode]] = {"read": "read", "write": "write"}
_LETTERS: Final[dict[str, LockMode]] = {"R": "read", "W": "write", "r": "read", "w": "write"}

_OWN: Final = ClientView()
_WHOLE: Final = ClientView(counts="all", about="clients that sort whole names")
_NUMBERS: Final = ClientView(
    counts="all", key=BY_NUMBER, compare="number", about="an id before the number"
)

ACQUIRED: Final = b"ACQUIRED"  # holders of a medallion-semaphore write it into their nodes

SHORT: Final = (
    Layout(
        name="medallion-semaphore",
        pattern="^semaphore-{SEQ}$",
        mode="lease",
        watch="marker",
        order="unsigned",
        ties="arrival",
        unlisted=ANY_WAY,
        sights=(ClientView(counts="^semaphore-", key=r"^semaphore-(\d{10})$", compare="number"),),
        about="DistributedLock.ZooKeeper: semaphore; holders write ACQUIRED (.NET)",
    ),
    Layout(
        name="permit-semaphore",
        pattern="^permit-{SEQ}$",
        mode="lease",
        watch="adjacent",
        how="exists",
        sights=(
            ClientView(counts="^permit-", key="^permit-(.*)$", compare="number", unread="fails"),
        ),
        unlisted=ANY_WAY,
        about="Twitter util-zk: ZkAsyncSemaphore (Scala); menagerie (Java)",
    ),
    Layout(
        name="rw-menagerie",
        pattern="^(?P<mode>read|write)Lock-{SEQ}$",
        modes=_READ_WRITE,
        watch="nearest",
        how="exists",
        sights=(
            ClientView(
                counts="^(?:read|write)Lock",
                key="-([^-]*)$",
                compare="number",
                unread="fails",
                bars="^writeLock",
            ),
        ),
        reentrant=True,
        unlisted=ANY_WAY,
        about="menagerie: ReentrantZkReadWriteLock (Java)",
    ),
    Layout(
        name="rw-read-write",
        pattern="^(?P<mode>read|write)[-_]{SEQ}$",
        modes=_READ_WRITE,
        watch="nearest",
        how="exists",
        order="unsigned",
        sights=(
            _OWN,
            ClientView(
                counts="all",
                key="(.{10})$",
                compare="number",
                unread="fails",
                bars="^write-",
                about="HBase",
            ),
            ClientView(
                counts="all", key="([0-9]+)$", compare="number", bars="^write-", about="Gutza"
            ),
            _WHOLE,
        ),
        ties="arrival",
        unlisted=ANY_WAY,
        about="HBase 0.9x and 1.x: table locks; DistributedLock.ZooKeeper (.NET); Gutza (PHP)",
    ),
    Layout(
        name="rw-R-W",
        pattern="^(?P<mode>[RWrw])-{SEQ}$",
        modes=_LETTERS,
        watch="nearest",
        how="exists",
        order="text",
        sights=(ClientView(counts="all", key="^..(.*)$", unread="fails", bars="^[Ww]-"),),
        unlisted=ANY_WAY,
        about="ClickHouse: RWLock of 2016 and later forks (C++); tutorials",
    ),
    Layout(
        name="rw-r-w-lock",
        pattern="^(?:_c_{U36}-)?(?P<mode>[rw])-lock-{SEQ}$",
        modes=_LETTERS,
        watch="nearest",
        order="text",
        sights=(ClientView(counts="all", key="^(?:.*?lock-)?(.*)$", bars="w-lock-"),),
        unlisted=ANY_WAY,
        about="Tutorials that copy Curator's read/write lock (Java)",
    ),
    Layout(
        name="rust-latch",
        pattern="^latch-(?P<id>.+?)-{SEQ}$",
        how="exists",
        order="magnitude",
        sights=(ClientView(counts="all", key="^(?:.*-)?([^-]*)$", compare="number"),),
        kind="election",
        unlisted=ANY_WAY,
        about="bonifaido/rust-zookeeper: LeaderLatch (Rust)",
    ),
    Layout(
        name="zooit",
        pattern=r"^(?P<id>.+\.PID\.\d+)-{SEQ}$",
        how="exists",
        sights=(ClientView(counts="all", key=r"-(\d+)$", compare="number"),),
        ties="share",
        unlisted=ANY_WAY,
        about="Net::ZooIt (Perl)",
    ),
)

LONG: Final = (
    Layout(
        name="rw-host",
        pattern="^(?P<id>.+?)-(?P<mode>[RW])-{SEQ}$",
        modes=_LETTERS,
        watch="nearest",
        how="exists",
        order="text",
        sights=(_OWN, _WHOLE),
        unlisted=ANY_WAY,
        about="A tutorial's shared lock, with the host in the name (Java)",
    ),
)

PLAIN: Final = (
    Layout(
        name="plain-lock-id",
        pattern="^lock_(?P<id>.+?)_{SEQ}$",
        watch="children",
        order="text",
        sights=(ClientView(counts="all", key="^(?:.*_)?(.*)$"),),
        unlisted=ANY_WAY,
        about="ZKDLock, ZKLockGuard (C++); tutorials with an id in the name",
    ),
    Layout(
        name="plain-lock",
        pattern="^lock[-_]{SEQ}$",
        watch="adjacent",
        how="exists",
        order="unsigned",
        sights=(
            _OWN,
            _WHOLE,
            ClientView(counts="all", key="^(?:.*lock-)?(.*)$", about="copies of Curator's rule"),
            ClientView(counts="all", key="^(?:lock-)?(.*)$", compare="number", about="nladuo"),
        ),
        ties="arrival",
        unlisted=ANY_WAY,
        about="txzookeeper (Python), zk-lock (Node), DistributedLock.ZooKeeper (.NET), "
        "menagerie (Java), Gutza (PHP), nladuo (Go), tutorials",
    ),
    Layout(
        name="plain-lock-dashless",
        pattern="^lock{SEQ}$",
        how="exists",
        order="unsigned",
        sights=(_OWN, _WHOLE),
        ties="arrival",
        unlisted=ANY_WAY,
        about="`lock` and a number without a separator: lock-2147483648 is a negative one",
    ),
    Layout(
        name="zplock",
        pattern=r"^1(?P<seq>[012]\d{9})$",
        kind="read-write",
        sights=(ClientView(counts="all", key=r"^(\d+)", compare="number", unread="zero"),),
        unlisted=ANY_WAY,
        about="ZPLock: the name is a digit 1 and the number, the mode is in the data (PHP)",
    ),
    Layout(
        name="bare-sequence",
        pattern="^{SEQ}$",
        how="exists",
        order="text",
        sights=(_WHOLE,),
        unlisted=ANY_WAY,
        about="Vitess zk2topo: locks and elections (Go); tutorials",
    ),
)

NAMED: Final = Layout(
    name="named-sequence",
    pattern="^(?P<name>.+?[-_]?){SEQ}$",
    how="exists",
    order="text",
    sights=(_OWN, _WHOLE, _NUMBERS),
    grouped=True,
    guessed=True,
    unlisted=ANY_WAY,
    about="Net::ZooKeeper::Lock (Perl), zk-ultralight, zoo-lock, zookeeper-node-shared-lock "
    "(Node), tutorials: the text before the number distinguishes the locks of one parent",
)


def zplock_mode(data: bytes | None) -> LockMode:
    """Read the mode of a ZPLock node from `type`, whose values for a shared lock vary."""
    try:
        kind = msgspec.json.decode(data or b"{}", type=dict[str, object]).get("type")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return "exclusive"
    return "read" if str(kind).lower() in ("read", "r", "shared", "share") else "write"
