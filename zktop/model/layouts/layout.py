"""The form in which a lock layout is written down, ours and the users' alike.

A layout is data: everything that tells one client library from another has a key here, so that a
user's layout in a config file can do whatever a built-in one does.
"""

from typing import Literal

import msgspec

Mode = Literal["exclusive", "read", "write", "lease", "candidate"]
Kind = Literal["mutex", "read-write", "semaphore", "election", "single", "lease", "other"]
How = Literal["data", "exists", "children"]

# How clients put the numbers in order; they only differ once the counter has overflown.
Order = Literal[
    "number",  # as signed integers
    "text",  # as text: a minus sorts before every digit, and newer before older
    "magnitude",  # the sign is lost
    "digits",  # as text without the sign
    "unsigned",  # as unsigned integers, from behind the widest gap on: right even after a wrap
    "name",  # by the whole name of the node
    "arrival",  # by the transaction that created the node
]

# Who goes first among equal numbers.
Ties = Literal[
    "server",  # whoever the server lists first
    "share",  # nobody: equal numbers do not block one another
    "name",
    "arrival",
]

# What a waiter watches.
Watch = Literal[
    "predecessor",  # the member before it; of a semaphore the one `leases` places before it
    "nearest",  # the nearest member that blocks it; of a semaphore the `leases` nearest
    "first-writer",  # a reader: the first writer of the queue; a writer: the member before it
    "holder",  # the first of the queue
    "children",  # the children of the lock
    "none",  # nothing: it polls
    "adjacent",  # the member right before it, also in a semaphore
    "run",  # the first of the neighbours that carry the same id, right before it
    "marker",  # the first waiter the children, the others the data of the member before them
]

# How a client may wait that no server's table shows.
Unlisted = Literal["children", "polls"]
ANY_WAY: tuple[Unlisted, ...] = ("children", "polls")  # for names that anybody gives


Unread = Literal["ignored", "first", "last", "zero", "fails"]


class ClientSight(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a layout's clients make of any child of the lock, whoever wrote it.

    They list the children, cut a key out of each name and compare the keys.
    """

    counts: str = "own"  # names of this layout ("own"), "all", or a pattern, searched in the name
    key: str = ""  # a pattern: its group 1 is compared; "": the whole name. Macro: {NAME}
    compare: Literal["text", "number"] = "text"
    unread: Unread = "ignored"  # a counted name without a key, or whose key is no number
    bars: str = ""  # searched: the names that readers wait for; "": by their modes
    pool: bool = False  # a semaphore that counts how many children there are
    modes: tuple[Mode, ...] = ()  # of members of these modes alone; (): of all
    about: str = ""  # the versions or the setting that it is true of


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How one client library writes a lock into znodes."""

    name: str
    pattern: str  # of a child's name; groups: seq, mode, id, name; macros: {SEQ} {U36} {H32}
    modes: dict[str, Mode] = {}  # what the mode group says -> mode; without: exclusive
    mode: Mode = "exclusive"  # of a name without a mode group
    watch: Watch = "predecessor"
    how: How = "data"
    order: Order = "number"  # of its own names
    kind: Kind | None = None  # None: follows from the modes
    ties: Ties = "server"
    id_is: Literal["label", "token"] = "label"  # a name for people, or a uuid for the client
    also_watches: tuple[str, ...] = ()  # further nodes that every waiter watches
    unlisted: tuple[Unlisted, ...] = ()  # how other recipes that write such names may wait
    sights: tuple[ClientSight, ...] = ()  # the first is assumed, others want a watch as proof
    unseen: str = ""  # without sights: a pattern of names that no client counts
    watches_negative: bool = True  # False: a client cannot watch a node with a negative number
    sees: tuple[str, ...] = ()  # without sights: other layouts whose names are counted, too
    reentrant: bool = False  # the holder of a write lock may hold a read lock besides
    grouped: bool = False  # several locks share the parent; the name group tells them apart
    persistent: bool = False  # its nodes outlive their sessions on purpose
    guessed: bool = False  # the names are too common to be sure
    about: str = ""  # which client writes it: one line

    @property
    def means(self) -> Kind:
        """The kind of lock, said or implied by the modes."""
        if self.kind is not None:
            return self.kind
        modes = set(self.modes.values()) or {self.mode}
        if "read" in modes:
            return "read-write"
        if "lease" in modes:
            return "semaphore"
        return "election" if "candidate" in modes else "mutex"
