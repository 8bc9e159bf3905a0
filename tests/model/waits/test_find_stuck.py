"""Holders: one by one and all at once."""

from hypothesis import given
from model.waits import random_states as w

from zktop.model.waits.find_stuck import holding_nodes
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue


@given(w.worlds())
def test_one_walk_names_whom_the_definition_names(queues: list[WaitQueue]):
    """The quick answer for a whole queue is that of the definition, for each of its members."""
    for queue in queues:
        members = queue.requests
        holding = {
            one.node for place, one in enumerate(members) if w.is_granted(queue, members, place)
        }
        assert not queue.can_block or holding_nodes(queue) == holding


@given(w.worlds())
def test_one_request_holds_if_the_whole_queue_says_so(queues: list[WaitQueue]):
    """The answer for one request needs no walk over a queue with one holder."""
    graph = WaitGraph(queues)
    for queue in queues:
        holding = {request.node for request in queue.requests if graph.holds(queue, request)}
        assert holding == holding_nodes(queue)
