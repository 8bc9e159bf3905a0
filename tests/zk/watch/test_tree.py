"""What becomes of answers."""

from zk.read.test_reader import _reader

from zktop.model.facts import Node, NodeBatch, SourceFact, Stat, single_facts
from zktop.zk.read.batch import LONGEST_DATA
from zktop.zk.read.reader import Answer
from zktop.zk.watch.tree import TreeReader

STAT = Stat(1, 1, 0)
ANSWER = Answer(None, None, 7, 8)


def test_what_several_hold_is_kept_once() -> None:
    """A service calls all its contenders the same; their labels need the room of one."""
    facts: list[SourceFact] = []
    held = {"/a": b"worker-%d" % 1, "/b": b"worker-%d" % 1, "/c": b"other", "/d": None}
    survey = TreeReader(_reader(), facts.append, watch_budget=0)
    survey._seen({path: (data, STAT) for path, data in held.items()}, ANSWER)

    nodes = [fact for fact in single_facts(facts) if isinstance(fact, Node)]
    assert {node.path: node.data for node in nodes} == held | {"/d": b""}
    assert nodes[0].data is nodes[1].data
    assert {(node.zxid, node.at) for node in nodes} == {(7, 8)}


def test_long_data_is_cut() -> None:
    """A label is at the beginning."""
    facts: list[SourceFact] = []
    survey = TreeReader(_reader(), facts.append, watch_budget=0)
    survey._seen({"/a": (b"x" * 10_000, STAT)}, ANSWER)

    assert [fact.data for fact in facts if isinstance(fact, NodeBatch)] == [(b"x" * LONGEST_DATA,)]


def test_who_was_gone_just_now_is_told_alone() -> None:
    """The answer that proves that it is there counts as newer than it; the others are as old."""
    facts: list[SourceFact] = []
    survey = TreeReader(_reader(), facts.append, watch_budget=0)
    survey._clock.happened("/a", 7, gone=True)
    survey._seen({"/a": (b"", STAT), "/b": (b"", STAT)}, ANSWER)

    assert [(fact.path, fact.zxid) for fact in facts if isinstance(fact, Node)] == [
        ("/a", 8),
        ("/b", 7),
    ]
