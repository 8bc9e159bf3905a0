"""From worlds to reports: only changed locks are examined again."""

import gc
import random
import weakref
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW, folder, kazoo_name, lock, session

from zktop.model.deadlock_log import RULES_CHANGED
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Denied, Gone, Node, Stat, join
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

LATER = NOW + 10_000


def report(*facts: AnyFact, now: int = LATER, settings: Settings | None = None) -> Report:
    """A report on a world that was read at once."""
    return Examiner(settings).look(World().after(*facts), now)


def ab_ba() -> list[AnyFact]:
    """Alice holds orders and wants stock, bob the reverse."""
    return [*lock("/orders", "alice", "bob"), *lock("/stock", "bob", "alice")]


def test_an_examiner_is_freed_without_the_collector() -> None:
    """The UI makes one for each look into the packed past, and has the collector switched off."""
    gc.disable()
    try:
        examiner = Examiner()
        examiner.look(World().after(*ab_ba()), LATER)
        gone = weakref.ref(examiner)
        del examiner
        assert gone() is None
    finally:
        gc.enable()


def test_a_deadlock_that_cannot_be_read_any_more_is_not_said_to_be_left() -> None:
    """After a reconnection an ACL hides all of it: its nodes may still be there."""
    examiner = Examiner()
    examiner.look(World().after(*ab_ba()), LATER)
    denied = (
        Denied(path=Text(path), what="list", zxid=10_000, at=LATER + 5_000)
        for path in ("/orders", "/stock")
    )
    (over,) = examiner.look(World().after(*denied), LATER + 5_000).over

    assert over.how == RULES_CHANGED


def test_holders_and_waiters_are_there_with_their_names() -> None:
    """A report has every lock with its contenders in queue order."""
    view = report(*lock("/orders", "alice", "bob", "carol")).view("/orders")

    assert view is not None
    assert [contender.owner for contender in view.holders] == ["alice"]
    assert [contender.owner for contender in view.waiters] == ["bob", "carol"]


def test_sessions_are_joined_across_locks() -> None:
    """A holder of one lock that waits for another is one session with both."""
    found = report(*ab_ba()).sessions[session("alice")]

    assert (found.holds, found.waits) == (("/orders",), ("/stock",))


def test_a_deadlock_is_found_and_said_in_one_sentence() -> None:
    """A report states the deadlock of two locks in one sentence."""
    made = report(*ab_ba())

    assert [deadlock.rule for deadlock in made.deadlocks] == ["D1"]
    assert {*made.deadlocks[0].actors} == {session_text(session(n)) for n in ("alice", "bob")}
    assert "alice holds /orders and waits for /stock, which bob holds" in (
        made.deadlocks[0].sentence
    )
    assert "D1" in [finding.rule for finding in made.findings]


def test_a_chain_is_no_deadlock() -> None:
    """Bob waits for alice, who waits for nothing."""
    assert not report(*lock("/orders", "alice", "bob"), *lock("/stock", "bob")).deadlocks


def test_an_unchanged_lock_is_the_same_object() -> None:
    """A change of one lock leaves the objects of all others."""
    examiner = Examiner()
    before = World().after(*lock("/orders", "alice", "bob"), *lock("/stock", "carol"))
    first = examiner.look(before, LATER)
    gone = Gone(path=Text(f"/orders/{kazoo_name('alice', 0)}"), zxid=before.zxid + 1, at=LATER)
    second = examiner.look(before.after(gone), LATER + 50)

    assert second.records[Text("/stock")] is first.records[Text("/stock")]
    assert second.records[Text("/orders")] is not first.records[Text("/orders")]


def test_events_between_two_looks_are_reported() -> None:
    """A release and the next acquisition are both events."""
    examiner = Examiner()
    before = World().after(*lock("/orders", "alice", "bob"))
    examiner.look(before, LATER)
    gone = Gone(path=Text(f"/orders/{kazoo_name('alice', 0)}"), zxid=before.zxid + 1, at=LATER)
    events = examiner.look(before.after(gone), LATER + 50).events

    assert [(event.event, event.owner) for event in events] == [
        ("released", "alice"),
        ("acquired", "bob"),
    ]


def test_a_deadlock_goes_when_one_of_its_nodes_goes() -> None:
    """The deadlock ends with its node."""
    examiner = Examiner()
    dead = World().after(*ab_ba())
    assert examiner.look(dead, LATER).deadlocks
    gone = Gone(path=Text(f"/stock/{kazoo_name('bob', 0)}"), zxid=dead.zxid + 1, at=LATER)

    assert not examiner.look(dead.after(gone), LATER + 50).deadlocks


def test_only_configured_roots_are_listed() -> None:
    """With configured roots, other locks are not listed."""
    settings = Settings(roots=(Root("/app/**"),))
    made = report(*lock("/app/a", "alice"), *lock("/other", "bob"), settings=settings)

    assert made.paths == ("/app/a",)


def test_a_lock_that_may_not_be_listed_is_shown_as_such() -> None:
    """A configured root without permission is shown as denied."""
    denied = Denied(path=Text("/secret"), what="list", zxid=9, at=NOW)
    view = report(denied, settings=Settings(roots=(Root("/secret"),))).view("/secret")

    assert view is not None
    assert view.lock.error == "its children cannot be listed: the ACL forbids it"


def test_an_actor_that_the_config_merges_closes_the_ring() -> None:
    """Two sessions of one process are one actor when the pattern matches."""
    facts = [*lock("/x", "p1s1", "p2s2"), *lock("/y", "p2s1", "p1s2")]
    settings = Settings(identity="owner", identity_pattern=r"(p\d)s\d")

    assert not report(*facts).deadlocks
    assert report(*facts, settings=settings).deadlocks[0].actors in (("p1", "p2"), ("p2", "p1"))


def changes(chance: random.Random, steps: int) -> Iterator[AnyFact]:
    """A history of a few locks: owners come, go, and want more than one."""
    alive: list[tuple[str, str, int]] = []
    for step in range(steps):
        zxid, path = 100 + step, chance.choice(("/a", "/b", "/c"))
        if alive and chance.random() < 0.4:
            place, owner, number = alive.pop(chance.randrange(len(alive)))
            name = kazoo_name(owner, number)
            yield Gone(path=join(place, name), zxid=zxid, at=NOW + step)
        else:
            owner = chance.choice("pqrst")
            alive.append((path, owner, step))
            stat = Stat(zxid, zxid, NOW + step, owner=session(owner), pzxid=zxid)
            name = kazoo_name(owner, step)
            yield Node(
                path=join(path, name), stat=stat, data=owner.encode(), zxid=zxid, at=NOW + step
            )


@given(st.randoms(use_true_random=False), st.integers(1, 30))
def test_reports_do_not_depend_on_earlier_ones(chance: random.Random, steps: int) -> None:
    """What is kept between reports changes the cost, never the result."""
    roots = [
        Children(path=Text(path), names=(), stat=Stat(1, 1, 0), zxid=1, at=NOW)
        for path in ("/a", "/b", "/c")
    ]
    now, examiner, seen = World().after(*roots), Examiner(), None
    for fact in changes(chance, steps):
        now = now.after(fact)
        seen = examiner.look(now, fact.at + 1)
    fresh = Examiner().look(now, NOW + steps)

    assert seen is not None
    # An emptied lock stays known as a lock in the run that saw it in use.
    assert set(fresh.paths) <= set(seen.paths)
    assert [_shape(seen, path) for path in fresh.paths] == [
        _shape(fresh, path) for path in fresh.paths
    ]
    assert {deadlock.id for deadlock in seen.deadlocks} == {
        deadlock.id for deadlock in fresh.deadlocks
    }


def _shape(made: Report, path: str) -> list[tuple[object, ...]]:
    view = made.view(path)
    assert view is not None
    contenders = [*view.holders, *view.waiters]
    return [
        (contender.node, contender.state, contender.blocked_by, contender.expected)
        for contender in contenders
    ]


def test_findings_of_a_quick_report_follow_later() -> None:
    """A quick report has the locks at once, and later ones all findings."""
    facts = [fact for n in range(450) for fact in lock(f"{folder(n)}/l", "a", "b")]
    examiner, before = Examiner(), World().after(*facts)
    counts = [
        len(examiner.look(before, LATER + 700_000 + 100 * n, thorough=False).findings)
        for n in range(12)
    ]

    assert counts[0] < counts[-1]
    assert counts[-1] == len(Examiner().look(before, LATER + 700_000).findings)


@pytest.mark.parametrize("text", ["\x1b[2J", "\n", "\u202e"])
def test_no_text_in_a_report_can_control_a_terminal(text: str) -> None:
    """Names and data of clients are cleaned, wherever they appear."""
    name = f"{text}{kazoo_name('alice', 0)}"
    stat = Stat(5, 5, NOW, owner=0)
    facts = [
        Children(path=Text("/a"), names=(Text(name),), stat=Stat(1, 1, 0), zxid=9, at=NOW),
        Node(path=Text(f"/a/{name}"), stat=stat, data=f"x{text}".encode(), zxid=9, at=NOW),
    ]
    made = report(*facts, settings=Settings(roots=(Root("/a"),)))

    assert text not in repr([list(made.views), made.findings, made.sessions, made.world])


def test_a_long_queue_keeps_its_verdicts_while_it_shrinks() -> None:
    """No member is lost or swapped around the length from which members are remembered."""
    owners = [f"w{number}" for number in range(67)]
    now, examiner = World().after(*lock("/a", *owners)), Examiner()
    examiner.look(now, LATER)
    for number in range(6):
        gone = Gone(path=join("/a", kazoo_name(owners[number], number)), zxid=now.zxid + 1, at=NOW)
        now = now.after(gone)
        seen = examiner.look(now, LATER + number)
        view = seen.view("/a")

        assert view is not None
        assert [holder.owner for holder in view.holders] == [owners[number + 1]]
        assert [root.blocked for root in Examiner().look(now, LATER).blockers] == [65 - number]
        graph = examiner._waits.graph.queues["/a"]
        assert [request.node for request in graph.requests] == [
            member.node for member in view.lock.members
        ]
