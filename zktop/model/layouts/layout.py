"""A lock layout: how one client library writes a lock into znodes.

A layout is data. Every difference between client libraries has a field here, so a layout in a
user's config can express everything that a built-in one does.

A server prints the signed 32-bit counter of sequential nodes at least ten characters wide, so -1
reads `-000000001`. In a pattern, `{SEQ}` stands for this number, `{U36}` for a uuid with dashes
and `{H32}` for 32 hexadecimal digits. `{SEQ}` matches only numbers that a counter can reach: in
`lock-2147483648` the dash must be a minus sign, so the text before the number is `lock`.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal

import msgspec

LockMode = Literal["exclusive", "read", "write", "lease", "candidate"]
LockKind = Literal["mutex", "read-write", "semaphore", "election", "single", "lease", "other"]
WatchKind = Literal["data", "exists", "children"]

MODE_LETTERS: Final[dict[str, str]] = {
    "exclusive": "X",
    "read": "R",
    "write": "W",
    "lease": "S",
    "candidate": "C",
}

_HELD_AS: Final = {
    "read": "the read lock of ",
    "write": "the write lock of ",
    "lease": "a lease of ",
}


def lock_in_mode(mode: str, lock: str) -> str:
    """Name what a client holds or wants of a lock.

    >>> lock_in_mode("write", "/locks/a"), lock_in_mode("exclusive", "/locks/a")
    ('the write lock of /locks/a', '/locks/a')
    """
    return f"{_HELD_AS.get(mode, '')}{lock}"


# How clients sort. The first five differ only after the counter has overflowed.
SortOrder = Literal[
    "number",  # as signed integers
    "text",  # as text: negative numbers first, mostly newer before older
    "magnitude",  # the sign is lost
    "digits",  # as text without the sign
    "unsigned",  # as unsigned integers, starting after the widest gap: correct even after a wrap
    "name",  # by the whole name of the node
    "arrival",  # by the transaction that created the node
]

# Which of two members with the same number goes first.
TieRule = Literal[
    "server",  # the one the server lists first
    "share",  # neither: members with the same number do not block one another
    "name",
    "arrival",
]

# What a waiter watches.
WatchRule = Literal[
    "predecessor",  # the previous member; in a semaphore, the one `leases` places before it
    "nearest",  # the nearest member that blocks it; in a semaphore, the `leases` nearest
    "first-writer",  # a reader: the first writer of the queue; a writer: the previous member
    "holder",  # the first of the queue
    "children",  # the children of the lock
    "none",  # nothing: it polls
    "adjacent",  # the member right before it, in a semaphore too
    "run",  # the first of the members right before it that share one id
    "marker",  # first waiter: the children; others: the data of the previous member
]

# Ways to wait that no server table shows.
HiddenWait = Literal["children", "polls"]
ANY_WAY: tuple[HiddenWait, ...] = ("children", "polls")  # for names that many clients use


# Where a client sorts a name that it counts, if the name has no key, or no number as its key.
Unread = Literal[
    "ignored",  # not counted after all
    "first",
    "last",
    "zero",  # as the number 0
    "first-or-zero",  # first without a key; as 0 if the key is no number
    "fails",  # the client gives up
]


class ClientView(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the clients of a layout see any child of the lock, whichever client made it.

    They list the children, extract a key from each name and compare the keys.
    """

    counts: str = "own"  # names of this layout ("own"), "all", or a pattern, searched in the name
    key: str = ""  # a pattern: its group 1 is compared; "": the whole name. Macro: {NAME}
    compare: Literal["text", "number"] = "text"
    unread: Unread = "ignored"
    bars: str = ""  # a pattern of the names that readers wait for; "": their modes decide
    pool: bool = False  # a semaphore that counts the children
    modes: tuple[LockMode, ...] = ()  # applies only to members with these modes; (): to all
    about: str = ""  # the versions or setting it applies to


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How one client library writes a lock into znodes."""

    name: str
    pattern: str  # of a child's name; groups: seq, mode, id, name; macros: {SEQ} {U36} {H32}
    modes: dict[str, LockMode] = {}  # text of the mode group -> mode; if empty: exclusive
    mode: LockMode = "exclusive"  # of a name without a mode group
    watch: WatchRule = "predecessor"
    how: WatchKind = "data"
    order: SortOrder = "number"  # of its own names
    kind: LockKind | None = None  # None: the modes decide
    ties: TieRule = "server"
    id_is: Literal["label", "token"] = "label"  # a name for people, or a uuid for the client
    also_watches: tuple[str, ...] = ()  # further nodes that every waiter watches
    unlisted: tuple[HiddenWait, ...] = ()  # other ways in which clients with these names may wait
    sights: tuple[ClientView, ...] = ()  # the first is assumed; a watch may prove another
    unseen: str = ""  # a pattern of names that no client counts; ignored if there are `sights`
    watches_negative: bool = True  # False: a client cannot watch a node with a negative number
    sees: tuple[str, ...] = ()  # other layouts whose names are counted; ignored like `unseen`
    reentrant: bool = False  # the holder of a write lock may also hold a read lock
    grouped: bool = False  # several locks share the parent; the name group separates them
    persistent: bool = False  # its nodes outlive their sessions on purpose
    guessed: bool = False  # the names are too common for certainty
    about: str = ""  # the client that writes it, in one line

    @property
    def means(self) -> LockKind:
        """The kind of lock, as given or implied by the modes."""
        if self.kind is not None:
            return self.kind
        modes = set(self.modes.values()) or {self.mode}
        if "read" in modes:
            return "read-write"
        if "lease" in modes:
            return "semaphore"
        return "election" if "candidate" in modes else "mutex"


SMALLEST, LARGEST = -(1 << 31), (1 << 31) - 1

# Numbers above two billion, digit by digit: if a digit is below that of the limit, the rest is
# free; if it is the same, the next digit decides.
_TAIL = r"{0}(?:0\d{{8}}|1(?:[0-3]\d{{7}}|4(?:[0-6]\d{{6}}|7(?:[0-3]\d{{5}}|4(?:[0-7]\d{{4}}"
_TAIL += r"|8(?:[0-2]\d{{3}}|3(?:[0-5]\d{{2}}|6(?:[0-3]\d|4[0-{1}]))))))))"
_POSITIVE = r"[01]\d{9}|" + _TAIL.format("2", 7)
_NEGATIVE = r"-\d{9}|-1\d{9}|-" + _TAIL.format("2", 8)

MACROS = {
    "{SEQ}": f"(?P<seq>{_POSITIVE}|{_NEGATIVE})",
    "{U36}": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "{H32}": r"[0-9a-f]{32}",
}
UUID: Final = f"{MACROS['{H32}']}|{MACROS['{U36}']}"


# The same without limits, because it compiles faster; `parse_name` checks the limits.
_ANY_NUMBER = r"(?P<seq>[0-2]\d{9}|-\d{9}|-[12]\d{9})"


class ParsedName(msgspec.Struct, frozen=True, gc=False):
    """The parts of a contender's name."""

    mode: LockMode
    sequence: int | None
    id: str | None
    group: str


@lru_cache(maxsize=1024)
def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a layout's pattern. Digits are ASCII, and `$` matches only at the end."""
    for macro, expansion in MACROS.items():
        pattern = pattern.replace(macro, expansion)
    return re.compile(pattern, re.ASCII)


# A compiled pattern, and the numbers of its groups (sequence, mode, id, name); 0: it has none.
_Reader = tuple[Callable[[str], re.Match[str] | None], int, int, int, int]


@lru_cache(maxsize=1024)
def _reader(pattern: str, *, exact: bool) -> _Reader:
    expression = compiled_pattern(pattern if exact else pattern.replace("{SEQ}", _ANY_NUMBER))
    number = expression.groupindex.get
    return (
        expression.fullmatch,
        number("seq", 0),
        number("mode", 0),
        number("id", 0),
        number("name", 0),
    )


def parse_name(layout: Layout, name: str) -> ParsedName | None:
    """Read a node's name, or return None if the layout does not match it.

    >>> lock = Layout(name="plain", pattern="^lock-{SEQ}$")
    >>> parse_name(lock, "lock-0000000007").sequence, parse_name(lock, "lock--000000001").sequence
    (7, -1)
    >>> parse_name(lock, "lock-2147483648") is None
    True
    """
    parsed = _read(layout, name, _reader(layout.pattern, exact=False))
    if parsed is None or _is_possible(parsed.sequence):
        return parsed
    parsed = _read(layout, name, _reader(layout.pattern, exact=True))
    return parsed if parsed is None or _is_possible(parsed.sequence) else None


def _read(layout: Layout, name: str, reader: _Reader) -> ParsedName | None:
    fullmatch, seq, mode_group, id_, group = reader
    match = fullmatch(name)
    if match is None:
        return None
    mode = layout.mode
    if layout.modes:
        text = match[mode_group] if mode_group else None
        mode_of_text = layout.modes.get(text or "")
        if mode_of_text is None:
            return None
        mode = mode_of_text
    digits = match[seq] if seq else None
    try:
        sequence = None if digits is None else int(digits)
    except ValueError:  # a user's pattern may match anything
        return None
    lock_name = match[group] if group else None
    return ParsedName(mode, sequence, match[id_] if id_ else None, lock_name or "")


def _is_possible(sequence: int | None) -> bool:
    return sequence is None or SMALLEST <= sequence <= LARGEST


def sequence_text(sequence: int) -> str:
    """Format a number as the server does.

    >>> sequence_text(7), sequence_text(-5), sequence_text(-2147483648)
    ('0000000007', '-000000005', '-2147483648')
    """
    return f"{sequence:010d}"
