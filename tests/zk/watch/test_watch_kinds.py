"""The kinds of watches that the observer sets, as they are on the recorder.

Before 3.9 a one-shot watch on data silently replaces a persistent one of the same znode and
session, which then sends no events.
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


class WatchRecorder(RequestProxy):
    """Records the kinds of watches by path, for all connections together."""

    def __init__(self, port: int) -> None:
        self.kinds: dict[str, set[str]] = defaultdict(set)
        super().__init__(port)

    def refusal(self, frame: bytes) -> None:
        """Record the watch of a request."""
        _, request = REQUEST.unpack_from(frame)
        if request == ADD_WATCH or request in ONE_SHOT:
            path, offset = read_string(frame, REQUEST.size)
            if request == ADD_WATCH:
                self.kinds[path].add("persistent")
            elif frame[offset]:
                self.kinds[path].add(ONE_SHOT[request])


@pytest.fixture
def recorder(zookeeper: RunningServer) -> Iterator[WatchRecorder]:
    """A proxy to the server that records watches."""
    with closing(WatchRecorder(zookeeper.port)) as one:
        yield one


def _churn(client: KazooClient, root: str, live: Observation) -> None:
    """A lock appears, changes, vanishes and returns."""
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
    recorder: WatchRecorder, client: KazooClient, root: str, roots: str, *, persistent: bool
) -> None:
    """No path has two kinds of watches, however its lock was found."""
    client.create(f"{root}/l/first-0000000000", makepath=True)
    with observing(recorder.address, *ROOTS[roots](root), persistent=persistent) as live:
        client.delete(f"{root}/l/first-0000000000")
        _churn(client, root, live)

    assert recorder.kinds, "nothing was watched"
    mixed = {path: kinds for path, kinds in recorder.kinds.items() if len(kinds) > 1}
    assert not any("persistent" in kinds for kinds in mixed.values()), mixed
    assert any("persistent" in kinds for kinds in recorder.kinds.values()) == persistent


def test_the_recorder_sees_both_kinds(recorder: WatchRecorder) -> None:
    """The test above relies on this."""
    client = KazooClient(recorder.address)
    client.start()
    client.get("/", watch=lambda _event: None)
    client.get_children("/", watch=lambda _event: None)
    answer = client.handler.async_result()
    client._call(AddWatch("/"), answer)
    answer.get(timeout=10)
    client.stop()
    client.close()

    assert recorder.kinds["/"] == {"data", "children", "persistent"}
