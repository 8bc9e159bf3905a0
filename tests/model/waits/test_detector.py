"""How often the verdict on deadlocks is renewed."""

from model.make_facts import NOW, ZK1, connections, kazoo_name, lock, row, watches, world

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Gone, join
from zktop.model.layouts.layout import Layout
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.detector import (
    EARLY_END_SHARE,
    RANKED_QUEUES_AT_ONCE,
    RANKED_QUEUES_PER_MS,
    TESTED_PLACES_PER_MS,
)
from zktop.model.waits.evidence import JUDGED_REQUESTS_PER_LOOK, LARGE_KNOT_REQUESTS, PAUSE_MS

PAIRS = LARGE_KNOT_REQUESTS // 4 + 1  # of two locks and two clients each, four requests in all


def knot(pairs: int) -> list[AnyFact]:
    """Two clients that hold what the other wants, so many times."""
    return [
        fact
        for number in range(pairs)
        for one, other in ((f"a{number}", f"b{number}"), (f"b{number}", f"a{number}"))
        for fact in lock(f"/locks/{one}", one, other, czxid=100 + 10 * number)
    ]


def release() -> AnyFact:
    """The first deadlock ends: one of its holders is gone."""
    path = join(Text("/locks/a0"), kazoo_name("a0", 0))
    return Gone(path=path, zxid=1_000_000, at=NOW)


class Looks:
    """Looks at a state from time to time, as a live run does."""

    def __init__(self, pairs: int) -> None:
        self.examiner, self.world = Examiner(), world(*knot(pairs))

    def deadlocks(self, after_ms: int, *, thorough: bool = False) -> int:
        """Look so long after the first look, and count."""
        report: Report = self.examiner.look(self.world, NOW + after_ms, thorough=thorough)
        return len(report.deadlocks)

    def relisted(self, after_ms: int) -> set[str]:
        """Look, and return the locks to list again."""
        return {*self.examiner.look(self.world, NOW + after_ms, thorough=False).relist}

    def most_blocked(self, after_ms: int) -> int:
        """Look, and return how many clients wait for the first root blocker."""
        report = self.examiner.look(self.world, NOW + after_ms, thorough=False)
        return max((blocker.blocked for blocker in report.blockers), default=0)

    def release(self) -> None:
        """Let one holder go."""
        self.world = self.world.after(release())


def test_a_watch_that_a_layout_of_the_user_leaves_unlisted_is_no_doubt():
    """Screens call it invisible; a client that lacks its watch may not be waiting at all."""
    pattern = r"^.*__lock__{SEQ}$"
    visible, unlisted = (
        Layout(name="own", pattern=pattern, unlisted=ways) for ways in ((), ("children",))
    )

    assert confidence(visible) == "C2"
    assert confidence(unlisted) == "C3"


def confidence(layout: Layout) -> str:
    """How sure a deadlock is whose clients send nothing for minutes and watch nothing."""
    settings = Settings(roots=(Root(path="/locks/*", layout="own"),), layouts=(layout,))
    examiner, seen = Examiner(settings), world(*knot(1))
    for at in range(NOW, NOW + 300_000, 60_000):
        rows = [row(name, last_cxid=1, received=at) for name in ("a0", "b0")]
        seen = seen.after(
            connections(ZK1, *rows, at=at), watches(ZK1, {"a0": (), "b0": ()}, at=at)
        )
        (found,) = examiner.look(seen, at).deadlocks
    return found.confidence


def test_a_small_knot_is_judged_at_every_look():
    """Nothing of it is ever old."""
    looks = Looks(2)
    assert looks.deadlocks(0) == 2

    looks.release()

    assert looks.deadlocks(1) == 1


def test_a_deadlock_that_is_over_is_never_shown():
    """Not even beside a large knot, which is judged only now and then."""
    looks = Looks(PAIRS)
    assert looks.deadlocks(0) == PAIRS

    looks.release()

    assert looks.deadlocks(1) == PAIRS - 1


def test_a_deadlock_whose_locks_are_deleted_is_never_shown():
    """Its lock is gone, and not only one of its nodes."""
    looks = Looks(PAIRS)
    looks.deadlocks(0)

    looks.world = looks.world.after(Gone(path=Text("/locks/a0"), zxid=1_000_000, at=NOW))

    assert looks.deadlocks(1) == PAIRS - 1


def test_beside_a_large_knot_a_new_deadlock_appears_after_a_pause():
    """A large knot is tested only now and then, so that it keeps no processor busy."""
    looks = Looks(1)
    crowd = [f"waiter{number}" for number in range(LARGE_KNOT_REQUESTS)]
    looks.world = looks.world.after(*lock("/locks/a0", "a0", "b0", *crowd))
    looks.deadlocks(0)

    looks.world = looks.world.after(*knot(2))

    assert looks.deadlocks(PAUSE_MS - 1) == 1
    assert looks.deadlocks(PAUSE_MS) == 2


def test_a_deadlock_of_a_large_knot_is_over_after_a_tenth_of_the_pause():
    """Its clients may release forty locks a second, and each time the whole knot is judged."""
    looks = Looks(1)
    crowd = [f"waiter{number}" for number in range(LARGE_KNOT_REQUESTS)]
    looks.world = looks.world.after(*lock("/locks/a0", "a0", "b0", *crowd))
    looks.deadlocks(0)

    looks.world = looks.world.after(Gone(path=Text("/locks/a0"), zxid=1_000_000, at=NOW))

    assert looks.deadlocks(PAUSE_MS // EARLY_END_SHARE - 1) == 1
    assert looks.deadlocks(PAUSE_MS // EARLY_END_SHARE) == 0


def test_a_doubtful_deadlock_of_a_large_knot_does_not_end_the_pause():
    """Its locks are to be listed again first, so no screen shows it."""
    looks, crowd = Looks(0), [f"waiter{number}" for number in range(LARGE_KNOT_REQUESTS)]
    looks.world = looks.world.after(
        *lock("/locks/a", "one", "two", *crowd), *lock("/locks/b", "two", "one", czxid=1_000)
    )
    assert looks.relisted(0) == {"/locks/a"}

    left = join(Text("/locks/a"), kazoo_name("one", 0))
    looks.world = looks.world.after(Gone(path=left, zxid=1_000_000, at=NOW))

    assert looks.relisted(PAUSE_MS - 1) == {"/locks/a"}
    assert looks.relisted(PAUSE_MS) == set()


def test_beside_many_deadlocks_a_new_one_appears_at_once():
    """Each of them is tested and judged by itself."""
    looks = Looks(PAIRS)
    looks.deadlocks(0)

    looks.world = looks.world.after(*knot(PAIRS + 1))

    assert looks.deadlocks(1) == PAIRS + 1


def test_many_deadlocks_are_judged_in_steps():
    """The first look shows the locks at once, and the next ones all deadlocks."""
    looks = Looks(JUDGED_REQUESTS_PER_LOOK)  # four requests each
    found = [looks.deadlocks(number) for number in range(4)]

    assert found == [number * JUDGED_REQUESTS_PER_LOOK // 4 for number in (1, 2, 3, 4)]


def test_a_change_in_one_of_many_deadlocks_is_judged_at_once():
    """The others rest meanwhile."""
    looks = Looks(PAIRS)
    looks.deadlocks(0)

    looks.world = looks.world.after(*lock("/locks/a7", "a7", "b7", "late", czxid=170))
    report = looks.examiner.look(looks.world, NOW + 1, thorough=False)

    assert [one.behind for one in report.deadlocks if "/locks/a7" in one.locks] == [1]


def test_beside_many_tangled_requests_a_new_deadlock_appears_at_once():
    """A verdict tests only requests of clients whose waits have changed, and of those behind."""
    looks, requests = Looks(0), 100 * TESTED_PLACES_PER_MS
    looks.world = looks.world.after(
        *(
            fact
            for number in range(requests)
            for fact in lock(f"/locks/c{number}", f"holder{number}", f"waiter{number // 2}")
        )
    )
    assert looks.deadlocks(0) == 0

    looks.world = looks.world.after(*knot(1))

    assert looks.deadlocks(1) == 1


def test_after_a_test_of_many_requests_a_new_deadlock_appears_after_a_pause():
    """A client that asked for many locks now waits itself, and so do all behind it."""
    looks, behind = Looks(0), 100 * TESTED_PLACES_PER_MS
    looks.world = looks.world.after(
        *lock("/locks/late", "other"),
        *(
            fact
            for number in range(behind)
            for fact in lock(f"/locks/c{number}", "service", f"waiter{number // 2}")
        ),
    )
    assert looks.deadlocks(0) == 0
    looks.world = looks.world.after(
        *lock("/locks/late", "other", "service"), *lock("/locks/more", "other")
    )
    assert looks.deadlocks(1) == 0

    looks.world = looks.world.after(*knot(1))

    assert looks.deadlocks(100) == 0
    assert looks.deadlocks(101 + behind // TESTED_PLACES_PER_MS) == 1


def test_a_thorough_look_does_not_wait():
    """What scripts and recordings get is never old."""
    looks = Looks(PAIRS)
    looks.deadlocks(0)

    looks.world = looks.world.after(*knot(PAIRS + 1))

    assert looks.deadlocks(1, thorough=True) == PAIRS + 1


def test_a_new_deadlock_is_seen_at_once():
    """The pause begins only when a verdict has shown a large knot."""
    looks = Looks(0)
    assert looks.deadlocks(0) == 0

    looks.world = looks.world.after(*knot(PAIRS))

    assert looks.deadlocks(1) == PAIRS


def test_with_thousands_of_locks_a_look_with_a_change_leaves_the_ranking_to_the_next_one():
    """So that the change is shown some milliseconds earlier. It is put off only once."""
    number = RANKED_QUEUES_AT_ONCE + 1
    looks, pause_ms = Looks(0), 2 * number // RANKED_QUEUES_PER_MS
    looks.world = looks.world.after(
        *(fact for n in range(number) for fact in lock(f"/locks/c{n}", f"a{n}", f"b{n}"))
    )
    assert [looks.most_blocked(at_ms) for at_ms in (0, 50)] == [0, 1]
    queue = ["ann", "bob", "cid", "dot"]

    for longest, at_ms in ((2, pause_ms), (3, 2 * pause_ms)):
        looks.world = looks.world.after(*lock(f"/locks/new{longest}", *queue[: longest + 1]))

        assert looks.most_blocked(at_ms) == longest - 1
        if longest == 3:
            looks.world = looks.world.after(*lock("/locks/newest", "eve"))
        assert looks.most_blocked(at_ms + 50) == longest
