"""Candidates of an election are on standby: they do not wait, from the first look on."""

from model.make_facts import NOW, kazoo_name, lock, session

from zktop.model.examiner import Examiner
from zktop.model.facts import Gone, join
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

LEADER, STOCK = Text("/locks/leader"), Text("/locks/stock")
CROSSED = World().after(*lock(LEADER, "ann", "bob"), *lock(STOCK, "bob", "ann"))


def test_a_candidate_is_no_waiter_and_its_leader_blocks_no_client() -> None:
    """Whether it was there at the first look or came later."""
    examiner = Examiner()
    first = examiner.look(World().after(*lock(LEADER, "ann", "bob")), NOW)
    later = examiner.look(World().after(*lock(LEADER, "ann", "bob", "cem")), NOW + 1_000)

    assert [waiter.state for waiter in first.view(LEADER).waiters] == ["standby"]
    assert first.blockers == later.blockers == ()


def test_a_leader_that_waits_for_its_candidate_is_a_hint() -> None:
    """Candidates mostly go on working; the hint says what it would mean if they did not."""
    report = Examiner().look(CROSSED, NOW + 60_000)

    assert report.deadlocks == ()
    assert [
        (finding.rule, finding.confidence) for finding in report.findings if finding.rule == "D8"
    ] == [("D8", "C1")]


def test_it_is_a_deadlock_where_the_user_says_that_candidates_wait() -> None:
    """`blocking: true` in the config."""
    roots = (Root(LEADER, kind="election", blocking=True), Root(STOCK))
    report = Examiner(Settings(roots=roots)).look(CROSSED, NOW + 60_000)

    assert [deadlock.rule for deadlock in report.deadlocks] == ["D8"]


def test_a_candidate_may_leave() -> None:
    """In an election without any other actor."""
    examiner, world = Examiner(), World().after(*lock(LEADER, "ann", "bob"))
    examiner.look(world, NOW)
    left = Gone(path=join(LEADER, kazoo_name("bob", 1)), zxid=300, at=NOW + 1_000)
    report = examiner.look(world.after(left), NOW + 1_000)

    assert [holder.owner for holder in report.view(LEADER).holders] == ["ann"]
    assert session_text(session("bob")) not in report.sessions
