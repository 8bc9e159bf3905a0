"""Holders: one by one and all at once."""

from hypothesis import given
from model.waits import random_states as w

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.reduction import granted, is_granted
from zktop.model.waits.wait_queue import WaitQueue


@given(w.worlds())
def test_one_walk_names_whom_the_definition_names(queues: list[WaitQueue]):
    """The quick answer for a whole queue is that of the definition, for each of its members."""
    graph = WaitGraph(queues)

    for queue in queues:
        holding = {one.node for one in queue.requests if is_granted(queue, one)}
        assert granted(queue) == holding
        assert {one.node for one in queue.requests if graph.holds(queue, one)} == holding
