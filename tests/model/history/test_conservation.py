"""Whatever happens between two looks: no member is lost or invented."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW
from model.plain_locks import Root, note

from zktop.model.history.all_locks import LockHistories
from zktop.model.history.events import Event
from zktop.model.history.lock_change import LockChange
from zktop.model.locks.lock import Lock
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE

steps = st.lists(
    st.tuples(st.sampled_from(["create", "leave", "clutter", "look"]), st.integers(0, 7)),
    max_size=60,
)
ENDINGS = ("released", "abandoned", "expired")


def act(root: Root, what: str, number: int) -> None:
    """Do one thing on the server."""
    members = list(root.members.values())
    if what == "create":
        root.create(f"worker-{number}")
    elif what == "leave" and members:
        root.delete(members[number % len(members)])
    elif what == "clutter":
        root.clutter(f"note-{root.creates}")


def watch(root: Root, script: list[tuple[str, int]], histories: LockHistories) -> list[Event]:
    """Play a script and look whenever it says so, and once at the end."""
    known = root.look(NOW)
    events = note(histories, root.path, None, known, NO_ENSEMBLE, NOW)
    for number, (what, who) in enumerate([*script, ("look", 0)]):
        act(root, what, who)
        if what == "look":
            now = NOW + 100 * number
            before, known = known, root.look(now)
            events += note(histories, root.path, before, known, NO_ENSEMBLE, now)
    return events


@given(steps)
def test_events_conserve(script: list[tuple[str, int]]) -> None:
    """Queued = left + still in the queue; each creation was seen, foreign or missed."""
    root, histories = Root(), LockHistories()
    events = watch(root, script, histories)
    counts = Counter(event.event for event in events)
    ends = sum(counts[kind] for kind in ENDINGS)
    missed = [event for event in events if event.event == "missed"]

    assert counts["queued"] == ends + len(root.members)
    assert counts["acquired"] >= counts["released"]
    assert counts["acquired"] - counts["released"] - counts["reordered"] == min(
        1, len(root.members)
    )
    creates = sum(event.creates or 0 for event in missed)
    deletes = sum(event.deletes or 0 for event in missed)
    assert root.creates == counts["queued"] + len(root.foreign) + creates
    assert root.creates - len(root.members) - len(root.foreign) == ends + deletes
    assert set(histories.of(root.path).stays) == set(root.members)


@given(steps)
def test_no_length_is_exact_by_chance(script: list[tuple[str, int]]) -> None:
    """Waits and holds are as long as the time between the looks at their ends."""
    root = Root()
    events = watch(root, script, LockHistories())
    queued = {event.node: event.at for event in events if event.event == "queued"}
    acquired = {event.node: event.at for event in events if event.event == "acquired"}

    for event in events:
        if event.waited and event.waited.bound == "exact":
            assert event.waited.ms == event.at - queued[event.node]
        if event.held and event.held.bound == "exact":
            assert event.held.ms == event.at - acquired[event.node]


def change_of(before: Lock, after: Lock) -> tuple[set[str], ...]:
    """A change by its definition, without any short cut."""
    holders = [{holder.node for holder in lock.queues[0].holders} for lock in (before, after)]
    members = [{member.node for member in lock.queues[0].members} for lock in (before, after)]
    return (
        members[1] - members[0],
        members[0] - members[1],
        holders[1] - holders[0],
        holders[0] - holders[1],
    )


@given(steps)
def test_change_is_what_sets_say(script: list[tuple[str, int]]) -> None:
    """The short cut by identity finds what comparing all names finds."""
    root = Root()
    root.create("alice")
    before = root.look()
    for what, number in script:
        act(root, what, number)
    after = root.look()

    change = LockChange.between(root.path, before, after)

    found = (change.created, change.deleted, change.granted, change.lost)
    assert tuple({one.node for one in part} for part in found) == change_of(before, after)
