"""How answers are kept in the tree."""

import pytest
from kazoo.exceptions import NoNodeError
from zk.read.test_requests_in_flight import _reader

from zktop.model.facts import MAX_DATA_BYTES, Node, NodeBatch, SourceFact, Stat, single_facts
from zktop.zk.read.requests_in_flight import Answer, Then
from zktop.zk.watch.root_pattern import RootPattern
from zktop.zk.watch.root_watcher import RootWatcher
from zktop.zk.watch.tree_reader import TreeReader, created_again
from zktop.zk.watch.watched_roots import WatchedRoot, WatchedRoots

STAT = Stat(1, 1, 0)
ANSWER = Answer(None, None, 7, 8)


def test_equal_labels_are_kept_once() -> None:
    """Labels of a service are often equal and share one object."""
    facts: list[SourceFact] = []
    held = {"/a": b"worker-%d" % 1, "/b": b"worker-%d" % 1, "/c": b"other", "/d": None}
    tree = TreeReader(_reader(), facts.append, watch_budget=0, roots=WatchedRoots())
    tree._emit_reads({path: (data, STAT) for path, data in held.items()}, ANSWER)

    nodes = [fact for fact in single_facts(facts) if isinstance(fact, Node)]
    assert {node.path: node.data for node in nodes} == held | {"/d": b""}
    assert nodes[0].data is nodes[1].data
    assert {(node.zxid, node.at) for node in nodes} == {(7, 8)}


def test_long_data_is_cut() -> None:
    """Only the beginning of the data is kept, which has the label."""
    facts: list[SourceFact] = []
    tree = TreeReader(_reader(), facts.append, watch_budget=0, roots=WatchedRoots())
    tree._emit_reads({"/a": (b"x" * 10_000, STAT)}, ANSWER)

    assert [fact.data for fact in facts if isinstance(fact, NodeBatch)] == [
        (b"x" * MAX_DATA_BYTES,)
    ]


def test_a_root_that_was_dropped_leaves_its_znodes_to_the_next_one() -> None:
    """Its listing was under way; it covers nothing any more."""
    roots = WatchedRoots()
    dropped, live = (
        WatchedRoot(RootPattern(path), recursive=True, flood_per_s=9) for path in ("/**", "/*")
    )
    dropped.patterns.clear()
    roots.add(live)
    tree = TreeReader(_reader(), [].append, watch_budget=0, roots=roots)
    for root in (dropped, live):
        tree._take_listing(root, "/a", (), STAT, ANSWER)

    assert not dropped.covers_child("/a", "/a/b")
    assert tree.folders["/a"].root is live


def test_a_tree_of_many_levels_is_forgotten() -> None:
    """A path of one-letter names may have thousands of them."""
    roots = WatchedRoots()
    root = WatchedRoot(RootPattern("/**"), recursive=True, flood_per_s=9)
    roots.add(root)
    tree = TreeReader(_reader(), [].append, watch_budget=0, roots=roots)
    for level in range(2_000):
        tree._take_listing(root, "/a" * (level + 1), ("a",), STAT, ANSWER)
    tree.forget("/a")

    assert not tree.folders


def test_an_answer_about_a_root_that_was_dropped_asks_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its watch was under way; what is below it is not wanted any more."""
    reader, answers = _reader(), list[Then]()
    monkeypatch.setattr(reader, "ask", lambda _request, then: answers.append(then))
    watcher = RootWatcher(reader, [].append, watch_budget=9, flood_per_s=9)
    pattern = RootPattern("/locks/*")
    watcher.add(pattern)
    (on_watch_added,) = answers
    watcher.drop(pattern)
    answers.clear()
    on_watch_added(Answer(None, NoNodeError(), 7, 8))

    assert not answers


def test_a_recreated_child_is_a_fact_of_its_own() -> None:
    """It counts as newer than its deletion; the facts of the others keep their zxid."""
    facts: list[SourceFact] = []
    tree = TreeReader(_reader(), facts.append, watch_budget=0, roots=WatchedRoots())
    tree._clock.happened("/a", 7, gone=True)
    tree._emit_reads({"/a": (b"", STAT), "/b": (b"", STAT)}, ANSWER)

    assert [(fact.path, fact.zxid) for fact in facts if isinstance(fact, Node)] == [
        ("/a", 8),
        ("/b", 7),
    ]


def test_a_znode_that_an_event_announced_leaves_its_siblings_unread() -> None:
    """The parent's counter has grown by the one that is known from the event."""
    roots = WatchedRoots()
    root = WatchedRoot(RootPattern("/locks/*"), recursive=True, flood_per_s=9)
    roots.add(root)
    tree = TreeReader(_reader(), [].append, watch_budget=0, roots=roots)
    before, after = (Stat(1, 1, 0, cversion=number, num_children=number) for number in (2, 3))
    tree._take_listing(root, "/locks", ("a", "b"), before, ANSWER)
    folder = tree.folders["/locks"]
    folder.created("c")
    known = folder.relisted(("a", "b", "c"))

    assert not created_again(folder, known, after)


def test_a_folder_that_can_be_listed_again_is_not_hidden() -> None:
    """Its ACL was opened; the servers need not be asked about it any more."""
    roots = WatchedRoots()
    root = WatchedRoot(RootPattern("/*"), recursive=True, flood_per_s=9)
    roots.add(root)
    tree = TreeReader(_reader(), [].append, watch_budget=0, roots=roots)
    tree.unreadable.add("/a")
    tree._take_listing(root, "/a", (), STAT, ANSWER)

    assert not tree.hidden
