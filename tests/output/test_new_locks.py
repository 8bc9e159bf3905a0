"""A znode is announced before it is read: its events wait for the name of who made it."""

from model.builders import NOW, kazoo_name, lock, session
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, session_text
from zktop.model.world.world import World
from zktop.output.events import PATIENCE_MS, EventStream
from zktop.output.schema import EventJson

ALONE, LISTED, BOB = lock("/l", "alice"), *lock("/l", "alice", "bob")[::2]


class Run:
    """Looks at a world that grows; all begin with alice alone."""

    def __init__(self) -> None:
        self._world, self._examiner, self.teller = World(), Examiner(), EventStream()
        self.told(0, *ALONE)

    def told(self, after_ms: int, *facts: AnyFact) -> list[EventJson]:
        """The events of one look."""
        self._world = self._world.after(*facts)
        report = self._examiner.look(self._world, NOW + after_ms)
        return [one for one in self.teller.events(report) if one.lock == "/l"]


def brief(events: list[EventJson]) -> list[tuple[str, str | None, str | None]]:
    """What, whose, and by what name."""
    return [(one.event, one.session, one.owner) for one in events]


def test_an_unread_newcomer_is_told_of_when_it_is_read() -> None:
    """With its session, its label and its transaction."""
    run = Run()

    unread, read = run.told(10, LISTED), run.told(20, BOB)

    assert unread == []
    assert brief(read) == [("queued", session_text(session("bob")), "bob")]
    assert read[0].zxid == "0x66"


def test_nothing_overtakes_it() -> None:
    """Alice leaves before bob is known: that is told after his coming."""
    run = Run()
    left = replace(LISTED, names=(kazoo_name("bob", 1),), zxid=LISTED.zxid + 1)

    unread, read = run.told(10, LISTED) + run.told(20, left), run.told(30, BOB)

    assert unread == []
    assert [one.event for one in read] == ["queued", "released", "acquired"]
    assert [one.owner for one in read] == ["bob", "alice", "bob"]


def test_who_went_before_that_stays_unknown() -> None:
    """It was there, and more is not known."""
    run = Run()

    events = run.told(10, LISTED) + run.told(20, *lock("/l", "alice", czxid=110))

    assert ("queued", None, None) in brief(events)


def test_nobody_waits_for_ever() -> None:
    """An ACL may hide it."""
    run = Run()

    events = run.told(10, LISTED) + run.told(20 + PATIENCE_MS)

    assert brief(events) == [("queued", None, None)]


def test_the_rest_is_told_in_the_end() -> None:
    """No report comes any more."""
    run = Run()
    run.told(10, LISTED)

    assert brief(list(run.teller.rest())) == [("queued", None, None)]
