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


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How one client library writes a lock into znodes."""

    name: str
    pattern: str  # of a child's name; groups: seq, mode, id, name; macros: {SEQ} {U36} {H32}
    modes: dict[str, Mode] = {}  # what the mode group says -> mode; without: exclusive
    mode: Mode = "exclusive"  # of a name without a mode group
    watch: Watch = "predecessor"
    how: How = "data"
    order: Order = "number"
    kind: Kind | None = None  # None: follows from the modes
    ties: Ties = "server"
    id_is: Literal["label", "token"] = "label"  # a name for people, or a uuid for the client
    also_watches: tuple[str, ...] = ()  # further nodes that every waiter watches
    unseen: str = ""  # a pattern of names that block nobody, because no client counts them
    unlisted: tuple[Unlisted, ...] = ()  # how other recipes that write such names may wait
    watches_negative: bool = True  # False: a client cannot watch a node with a negative number
    sees: tuple[str, ...] = ()  # other layouts whose nodes these clients count, too
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
