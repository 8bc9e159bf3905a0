"""Simulated clients of several libraries in one folder, to check which nodes each counts.

Each client does what its library's source does: it creates a numbered node, lists the children,
and holds, watches one of them, or fails. It lists them again only when its watch fires. So the
holders, the watches and the stranded nodes follow from the order of events alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import md5
from uuid import UUID


def _uuid(who: int) -> UUID:
    return UUID(hex=_hex(who), version=4)


def _hex(who: int) -> str:
    return md5(str(who).encode(), usedforsecurity=False).hexdigest()


class TieError(Exception):
    """Two nodes compare as equal, and the order in which the server lists them decides."""


class UnreadableError(Exception):
    """A library meets a name that it cannot read, and fails."""


# From its own node and the children: the child that a client waits for, or None when it holds.
Rule = Callable[[str, Sequence[str]], str | None]


@dataclass(frozen=True)
class Library:
    """How one library names its nodes, and what it concludes from a listing."""

    name: str
    node: Callable[[int, int], str]  # from the client's number and the server's counter
    look: Rule


@dataclass
class Client:
    """One process with one session that tries for the lock once."""

    library: Library
    session: int
    node: str
    czxid: int
    state: str = "looks"  # holds, waits, stranded
    target: str | None = None


class Folder:
    """The znodes of one lock folder, and the clients that contend in it."""

    def __init__(self) -> None:
        self.children: dict[str, int] = {}  # name -> czxid
        self.clients: dict[str, Client] = {}  # by node
        self.counter = 0
        self.zxid = 100

    def come(self, library: Library) -> Client:
        """Let a new client create its node and list the children."""
        number = len(self.clients) + self.zxid
        client = Client(library, 0x1000 + number, library.node(number, self.counter), 0)
        self._make(client.node)
        client.czxid = self.zxid
        self.clients[client.node] = client
        self._look(client)
        return client

    def litter(self, name: str) -> None:
        """Make a persistent child, as an operator or another program does."""
        if name not in self.children:
            self._make(name)

    def remove(self, name: str) -> None:
        """Delete a child: its client released, gave up or died; its watchers list again."""
        self.zxid += 1
        del self.children[name]
        self.clients.pop(name, None)
        for client in list(self.clients.values()):
            if client.target == name and client.state == "waits":
                self._look(client)

    def _make(self, name: str) -> None:
        self.zxid += 1
        self.counter += 1
        self.children[name] = self.zxid

    def _look(self, client: Client) -> None:
        try:
            client.target = client.library.look(client.node, list(self.children))
        except UnreadableError:
            client.state, client.target = "stranded", None
            return
        client.state = "waits" if client.target else "holds"


def _before(node: str, keys: dict[str, tuple[object, ...]]) -> str | None:
    """Return the last of those that sort before a node."""
    if len(set(keys.values())) < len(keys):
        raise TieError
    mine = keys[node]
    before = sorted((key, name) for name, key in keys.items() if key < mine)  # type: ignore[operator]
    return before[-1][1] if before else None


def curator(node: str, children: Sequence[str]) -> str | None:
    """Compare what follows `lock-` in any name, as text."""
    return _before(node, {child: (child.rpartition("lock-")[2],) for child in children})


def kazoo(mark: str) -> Rule:
    """Count the names that end with this mark and ten digits, and compare those as text."""

    def look(node: str, children: Sequence[str]) -> str | None:
        found = {name: re.search(rf"{mark}(-?\d{{10}})$", name) for name in children}
        return _before(node, {name: (one[1],) for name, one in found.items() if one})

    return look


def go(node: str, children: Sequence[str]) -> str | None:
    """Read a number after `lock-`, else after `__`; fail where there is none."""
    keys: dict[str, tuple[object, ...]] = {}
    for name in children:
        text = re.split("lock-" if "lock-" in name else "__", name)[-1]
        keys[name] = (_number(text),)
    return _before(node, keys)


def write_lock(node: str, children: Sequence[str]) -> str | None:
    """Compare the number after the last dash; names without one come last."""
    keys: dict[str, tuple[object, ...]] = {}
    for name in children:
        found = re.search(r"-(\d+)$", name)
        keys[name] = (0, int(found[1]), "") if found else (1, 0, name)
    return _before(node, keys)


def c_recipe(node: str, children: Sequence[str]) -> str | None:
    """Compare what follows the last dash as text; crash where there is none."""
    for name in children:
        if "-" not in name:
            raise UnreadableError
    return _before(node, {child: (child.rpartition("-")[2],) for child in children})


def election(node: str, children: Sequence[str]) -> str | None:
    """Read a number from the third character on; fail where there is none."""
    return _before(node, {name: (_number(name[2:]),) for name in children})


def _number(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text):
        raise UnreadableError
    return int(text)


def whole_name(node: str, children: Sequence[str]) -> str | None:
    """Compare whole names."""
    return _before(node, {name: (name,) for name in children})


def curator_rw(node: str, children: Sequence[str]) -> str | None:
    """Compare what follows the mode; a reader watches the first node of a writer."""
    keys = {child: (re.split("__READ__|__WRIT__", child)[-1],) for child in children}
    nearest = _before(node, keys)
    if "__READ__" not in node:
        return nearest
    ahead = sorted((key, name) for name, key in keys.items() if key < keys[node])
    return next((name for _, name in ahead if "__WRIT__" in name), None)


def kazoo_rw(node: str, children: Sequence[str]) -> str | None:
    """Count writers; a writer also counts readers."""
    counted = "__lock__" if "__rlock__" in node else "__r?lock__"
    own = re.escape(node[: -len("0000000000")])
    return kazoo(f"(?:{counted}|{own})")(node, children)


def zk_ruby(node: str, children: Sequence[str]) -> str | None:
    """Read a name without a number as 0; shared ones wait for names that begin with ex."""
    counted = [
        child for child in children if node[:2] == "ex" or child[:2] == "ex" or child == node
    ]
    found = {one: re.search(r"(\d+)$", one) for one in counted}
    return _before(node, {one: (int(has[1]) if has else 0,) for one, has in found.items()})


LIBRARIES = (
    Library("Curator", lambda who, n: f"_c_{_uuid(who)}-lock-{n:010d}", curator),
    Library("kazoo", lambda who, n: f"{_hex(who)}__lock__{n:010d}", kazoo("__lock__")),
    Library("kazoo -lock-", lambda who, n: f"{_hex(who)}-lock-{n:010d}", kazoo("-lock-")),
    Library("Go", lambda who, n: f"_c_{_hex(who)}-lock-{n:010d}", go),
    Library("WriteLock", lambda who, n: f"x-{(1 << 56) + who}-{n:010d}", write_lock),
    Library("zoo_lock", lambda who, n: f"x-{(1 << 56) + who:016x}-{n:010d}", c_recipe),
    Library("LeaderElectionSupport", lambda _, n: f"n_{n:010d}", election),
    Library(
        "Curator rw",
        lambda who, n: f"_c_{_uuid(who)}-__{'READ' if who % 3 else 'WRIT'}__{n:010d}",
        curator_rw,
    ),
    Library(
        "kazoo rw",
        lambda who, n: f"{_hex(who)}__{'rlock' if who % 3 else 'lock'}__{n:010d}",
        kazoo_rw,
    ),
    Library("zk-ruby", lambda who, n: f"{'sh' if who % 3 else 'ex'}{n:010d}", zk_ruby),
    Library("Vitess", lambda _, n: f"{n:010d}", whole_name),
)

# What operators and other programs leave in a folder.
LITTER = (
    "00-config", "config", "zz", "README", "a-0", "lock-0000000000", "abc-lock-0000000003",
    ".x", "-x", "foo__lock__0000000000", "0000000002", "x-1", "backup-2020", "lock-",
    "V_0000000000", "n_0000000001",
)  # fmt: skip


def steps(
    folder: Folder,
    choices: Iterator[int],
    libraries: Sequence[Library],
    count: int,
    *,
    removals: bool = True,
) -> Iterator[str]:
    """Play events and name each: `+` and the child that came, or `-` and the one that left."""
    for _ in range(count):
        what = next(choices) % (8 if removals else 6)
        if what < 4 or not folder.children:
            client = folder.come(libraries[next(choices) % len(libraries)])
            yield f"+{client.node}"
        elif what < 6:
            name = LITTER[next(choices) % len(LITTER)]
            folder.litter(name)
            yield f"+{name}"
        else:
            name = sorted(folder.children)[next(choices) % len(folder.children)]
            folder.remove(name)
            yield f"-{name}"
