"""The create arrives, its answer does not: who looks before it creates again stands there once."""

import msgspec
import pytest
from demo.contenders import Stage
from demo.lossy_proxy import lossy_line

QUEUES = ("poll", "parent-watch", "predecessor", "get-watch", "rw", "rw-host", "kazoo-lock")


@pytest.mark.parametrize("recipe", QUEUES)
def test_a_lost_answer_leaves_no_ghost(rehearsal: Stage, recipe: str):
    """The contender finds the node that it did not know it had made, and has the lock with it."""
    with lossy_line(rehearsal.hosts) as line:
        order = rehearsal.order("a", recipe, session_timeout_s=10.0)
        connection = msgspec.structs.replace(order.connection, hosts=line.hosts)
        rehearsal.pool.start(msgspec.structs.replace(order, connection=connection))
        rehearsal.told("a", "acquired")

        assert line.lost.is_set()
        assert len(rehearsal.nodes()) == 1

        rehearsal.pool.release("a")
        rehearsal.ended("a")
    assert rehearsal.nodes() == []
