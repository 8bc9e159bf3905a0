"""What becomes of answers."""

from zk.test_reader import _reader

from zktop.model.facts import AnyFact, Node, Stat
from zktop.zk.reader import Answer
from zktop.zk.survey import LONGEST_DATA, Survey

STAT = Stat(1, 1, 0)


def test_what_several_hold_is_kept_once() -> None:
    """A service calls all its contenders the same; their labels need the room of one."""
    facts: list[AnyFact] = []
    held = {"/a": b"worker-%d" % 1, "/b": b"worker-%d" % 1, "/c": b"other", "/d": None}
    survey = Survey(_reader(), facts.append, watch_budget=0)
    survey._seen([(path, (data, STAT)) for path, data in held.items()], Answer(None, None, 7, 8))

    nodes = [fact for fact in facts if isinstance(fact, Node)]
    assert [node.data for node in nodes] == [b"worker-1", b"worker-1", b"other", b""]
    assert nodes[0].data is nodes[1].data
    assert {(node.zxid, node.at) for node in nodes} == {(7, 8)}


def test_long_data_is_cut() -> None:
    """A label is at the beginning."""
    facts: list[AnyFact] = []
    Survey(_reader(), facts.append, watch_budget=0)._seen(
        [("/a", (b"x" * 10_000, STAT))], Answer(None, None, 7, 8)
    )

    assert [fact.data for fact in facts if isinstance(fact, Node)] == [b"x" * LONGEST_DATA]
