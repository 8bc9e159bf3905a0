"""The queues of a period at evenly spaced moments."""

from model.accounting.accounts_of import leaves
from model.make_facts import NOW
from output.stories import facts, settings

from zktop.model.accounting.ledger import Ledger
from zktop.model.examiner import Examiner
from zktop.model.facts import Link
from zktop.model.world.world import World
from zktop.output.period.timeline import MAX_MOMENTS, Timeline, TimelineJson

STORY = "X x: A B C"


def timeline(*moments: tuple[int, list[object]], until: int | None = None) -> TimelineJson:
    """The time line of a story that goes on with these facts at these milliseconds."""
    examiner, ledger, made, world = Examiner(settings(STORY)), Ledger(), Timeline(), World()
    for at, found in ((0, facts(STORY)), *moments):
        world = world.after(*found)
        report = examiner.look(world, NOW + at)
        ledger.look(report)
        made.look(report, ledger)
    return made.json(ledger.accounts(until))


def test_a_state_says_the_holder_and_the_queue_with_their_times() -> None:
    """A leaves after two seconds: then B holds and C waits."""
    found = timeline((2_000, leaves(STORY, "x", 0, 2)), (4_000, []))

    (lock,) = found.locks
    assert lock.states == [[0, 1, 2, 0, 1, 2], [40, 1, 1, 1, 2]]
    members = [(found.names[name], *rest) for name, *rest in lock.members]
    assert members == [
        ("A", "X", -30_000, -30_000, True, True),
        ("B", "X", -30_000, 2_000, True, False),
        ("C", "X", -30_000, None, True, False),
    ]
    assert found.totals == [(0, 2, 1), (40, 1, 1)]


def test_the_distance_of_moments_grows_with_the_period() -> None:
    """After a day there are not more, and each still has the state of its time."""
    day = 86_400_000
    found = timeline((3_000_000, leaves(STORY, "x", 0, 3_000)), (day, []))

    assert MAX_MOMENTS / 2 < day / found.step <= MAX_MOMENTS
    (lock,) = found.locks
    changed_at = lock.states[1][0] * found.step
    assert 3_000_000 <= changed_at < 3_000_000 + found.step


def test_nothing_is_known_while_the_connection_is_lost() -> None:
    """The page shades these times, and shows no queue."""
    lost = Link(state="suspended", zxid=3, at=NOW + 1_000)
    back = Link(state="connected", zxid=4, at=NOW + 5_000)

    found = timeline((1_000, [lost]), (3_000, []), (5_000, [back]), (6_000, []))
    at_the_end = timeline((1_000, [lost]), until=NOW + 3_000)

    assert found.unseen == [(1_000, 5_000)]
    assert at_the_end.unseen == [(1_000, 3_000)]
