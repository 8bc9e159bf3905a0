"""The events of a znode that was listed but not read yet wait for its owner."""

from model.make_facts import NOW, kazoo_name, lock, session
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact
from zktop.model.session_ids import session_text
from zktop.model.world.world import World
from zktop.output.event_stream import PATIENCE_MS, EventStream
from zktop.output.schema import EventJson

ALONE, LISTED, BOB = lock("/l", "alice"), *lock("/l", "alice", "bob")[::2]


class Run:
    """Examines a growing world that begins with alice alone."""

    def __init__(self) -> None:
        self._world, self._examiner, self.stream = World(), Examiner(), EventStream()
        self.events(0, *ALONE)

    def events(self, after_ms: int, *facts: AnyFact) -> list[EventJson]:
        """The events of one look."""
        self._world = self._world.after(*facts)
        report = self._examiner.look(self._world, NOW + after_ms)
        return [one for one in self.stream.events(report) if one.lock == "/l"]


def brief(events: list[EventJson]) -> list[tuple[str, str | None, str | None]]:
    """Event, session and owner."""
    return [(event.event, event.session, event.owner) for event in events]


def test_the_event_of_an_unread_contender_waits_for_its_owner() -> None:
    """With its session, its label and its transaction."""
    run = Run()

    unread, read = run.events(10, LISTED), run.events(20, BOB)

    assert unread == []
    assert brief(read) == [("queued", session_text(session("bob")), "bob")]
    assert read[0].zxid == "0x66"


def test_later_events_wait_as_well() -> None:
    """Alice leaves before bob's owner is known: her event comes after his."""
    run = Run()
    left = replace(LISTED, names=(kazoo_name("bob", 1),), zxid=LISTED.zxid + 1)

    unread, read = (
        run.events(10, LISTED) + run.events(20, left),
        run.events(30, BOB),
    )

    assert unread == []
    assert [one.event for one in read] == ["queued", "released", "acquired"]
    assert [one.owner for one in read] == ["bob", "alice", "bob"]


def test_a_contender_that_leaves_unread_has_no_owner() -> None:
    """Its event has the node only."""
    run = Run()

    events = run.events(10, LISTED) + run.events(20, *lock("/l", "alice", czxid=110))

    assert ("queued", None, None) in brief(events)


def test_the_wait_for_an_owner_ends() -> None:
    """An ACL may hide the data for good."""
    run = Run()

    events = run.events(10, LISTED) + run.events(20 + PATIENCE_MS)

    assert brief(events) == [("queued", None, None)]


def test_events_held_back_are_printed_at_the_end() -> None:
    """After the last report."""
    run = Run()
    run.events(10, LISTED)

    assert brief(list(run.stream.rest())) == [("queued", None, None)]
