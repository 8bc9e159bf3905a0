"""A create whose response is lost: a client that looks first does not queue up twice."""

import msgspec
import pytest
from demo.contenders import Bench
from demo.lossy_proxy import lossy_proxy

QUEUES = ("poll", "parent-watch", "predecessor", "get-watch", "rw", "rw-host", "kazoo-lock")


@pytest.mark.parametrize("recipe", QUEUES)
def test_a_lost_answer_leaves_no_ghost(threads: Bench, recipe: str):
    """The contender finds the node that it did not know it had made, and has the lock with it."""
    with lossy_proxy(threads.hosts) as proxy:
        order = threads.order("a", recipe, session_timeout_s=10.0)
        connection = msgspec.structs.replace(order.connection, hosts=proxy.hosts)
        threads.pool.start(msgspec.structs.replace(order, connection=connection))
        threads.wait_for_step("a", "acquired")

        assert proxy.lost.is_set()
        assert len(threads.nodes()) == 1

        threads.pool.release("a")
        threads.ended("a")
    assert threads.nodes() == []
