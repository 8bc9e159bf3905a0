"""Which watches we set, as they are on the wire.

Before 3.9 a one-shot watch on data silently takes the place of a persistent one on the same znode
and session, which brings nothing any more from then on.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.serialization import read_string
from servers import RunningServer
from zk.observed import Observation, names, observing
from zk.request_proxy import REQUEST, RequestProxy

from zktop.zk.read.requests import AddWatch

pytestmark = pytest.mark.zookeeper

EXISTS, GET_DATA, GET_CHILDREN, GET_CHILDREN_2, ADD_WATCH = 3, 4, 8, 12, 106
ONE_SHOT = {EXISTS: "data", GET_DATA: "data", GET_CHILDREN: "children", GET_CHILDREN_2: "children"}


class Wiretap(RequestProxy):
    """Notes each watch that a client sets: its kinds by path, for all connections together."""

    def __init__(self, port: int) -> None:
        self.kinds: dict[str, set[str]] = defaultdict(set)
        super().__init__(port)

    def refusal(self, frame: bytes) -> None:
        """Look at a request."""
        _, request = REQUEST.unpack_from(frame)
        if request == ADD_WATCH or request in ONE_SHOT:
            path, offset = read_string(frame, REQUEST.size)
            if request == ADD_WATCH:
                self.kinds[path].add("persistent")
            elif frame[offset]:
                self.kinds[path].add(ONE_SHOT[request])


@pytest.fixture
def wire(zookeeper: RunningServer) -> Iterator[Wiretap]:
    """A line to the server, with a tap."""
    with closing(Wiretap(zookeeper.port)) as one:
        yield one


def _churn(client: KazooClient, root: str, live: Observation) -> None:
    """A lock comes, changes, vanishes and comes back."""
    for number in range(3):
        client.create(f"{root}/l/m-{number:010d}", b"x", makepath=True)
        live.until(lambda world: names(world, f"{root}/l"))
        client.set(f"{root}/l", b"%d" % number)
        client.delete(f"{root}/l", recursive=True)
        live.until(lambda world: not names(world, f"{root}/l"))
    client.create(f"{root}/l/last-0000000000", makepath=True)
    live.until(lambda world: names(world, f"{root}/l") == {"last-0000000000"})


ROOTS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "a pattern": lambda root: (f"{root}/*",),
    "exactly a lock": lambda root: (f"{root}/l",),
    "a lock and a pattern around it": lambda root: (f"{root}/l", f"{root}/*"),
    "a deep pattern": lambda root: (f"{root}/**",),
    "everything": lambda _root: (),
}


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("persistent", [True, False], ids=["persistent", "one-shot"])
def test_no_path_has_a_persistent_watch_and_another_one(
    wire: Wiretap, client: KazooClient, root: str, roots: str, *, persistent: bool
) -> None:
    """However the locks are found, and whatever becomes of them."""
    client.create(f"{root}/l/first-0000000000", makepath=True)
    with observing(wire.address, *ROOTS[roots](root), persistent=persistent) as live:
        client.delete(f"{root}/l/first-0000000000")
        _churn(client, root, live)

    assert wire.kinds, "nothing was watched"
    mixed = {path: kinds for path, kinds in wire.kinds.items() if len(kinds) > 1}
    assert not any("persistent" in kinds for kinds in mixed.values()), mixed
    assert any("persistent" in kinds for kinds in wire.kinds.values()) == persistent


def test_a_wiretap_hears_both_kinds(wire: Wiretap) -> None:
    """Else the test above would show nothing."""
    client = KazooClient(wire.address)
    client.start()
    client.get("/", watch=lambda _event: None)
    client.get_children("/", watch=lambda _event: None)
    answer = client.handler.async_result()
    client._call(AddWatch("/"), answer)
    answer.get(timeout=10)
    client.stop()
    client.close()

    assert wire.kinds["/"] == {"data", "children", "persistent"}
