"""Foreign children and other libraries in a lock, look after look, and what proves what."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model.locks.lock_worlds import DEFAULT_SETTINGS, ROOT, child, lock_in, nodes

from zktop.model.facts import AnyFact, Children, Gone, Stat, Watches, join
from zktop.model.layouts.layout import ClientView, Layout
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.open_folder import only_mixed
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

HEX, UUID = "ab{:030x}", "{:08x}-0000-4000-8000-000000000000"
HEADS = {
    "curator": "_c_" + UUID + "-lock-", "writer": "_c_" + UUID + "-__WRIT__",
    "reader": "_c_" + UUID + "-__READ__", "latch": "_c_" + UUID + "-latch-",
    "kazoo": HEX + "__lock__", "rlock": HEX + "__rlock__", "named": HEX + "-lock-",
    "go": "_c_" + HEX + "-lock-", "java": "x-{}-", "c": "x-{:016x}-", "ex": "ex", "sh": "sh",
    "offer": "n_", "lock": "lock_", "bare": "",
}  # fmt: skip
SESSION = 72057682084757504


def contender(kind: str, number: int) -> tuple[str, int]:
    """Name a contender of a library, and give its session."""
    session = SESSION + number
    found = session if kind in ("java", "c") else number
    return HEADS[kind].format(found) + f"{number:010d}", session


class Past:
    """A lock on a server: each change is a transaction, and each is looked at."""

    def __init__(self) -> None:
        self.zxid = 100
        self.world = World().after(self._listing(()))
        self.names: list[str] = []
        self.lock: Lock | None = None
        self.is_asleep = False  # it does not look

    def _listing(self, names: Sequence[str]) -> Children:
        stat = Stat(
            1, 1, 0, cversion=2 * 50 - len(names), num_children=len(names), pzxid=self.zxid
        )
        known = tuple(map(Text, names))
        return Children(zxid=self.zxid, at=1, path=Text(ROOT), names=known, stat=stat)

    def come(self, *others: tuple[str, int]) -> "Past":
        """Create children one after another; an owner of 0 is no session."""
        for name, owner in others:
            self.zxid += 1
            self.names.append(name)
            node = child(name, czxid=self.zxid, owner=owner, zxid=self.zxid)
            self._learn(self._listing(self.names), node)
        return self

    def go(self, *names: str) -> "Past":
        """Delete children."""
        for name in names:
            self.zxid += 1
            self.names.remove(name)
            gone = Gone(zxid=self.zxid, at=1, path=join(ROOT, name))
            self._learn(gone, self._listing(self.names))
        return self

    def seen(self, rows: dict[int, Sequence[str]]) -> "Past":
        """Read the watch table."""
        watched = {one: tuple(join(ROOT, name) for name in names) for one, names in rows.items()}
        self._learn(Watches(server=Text("zk"), rows=watched, zxid=self.zxid, at=self.zxid))
        return self

    def _learn(self, *facts: AnyFact) -> None:
        self.world = self.world.after(*facts)
        if self.is_asleep:
            return
        found = lock_at(ROOT, self.world, DEFAULT_SETTINGS, 0, self.lock)
        self.lock = found if isinstance(found, Lock) else None

    @property
    def now(self) -> Lock:
        """The lock as it is, looked at again and again."""
        assert self.lock is not None
        return self.lock

    @property
    def afresh(self) -> Lock:
        """The lock as a new observer sees it."""
        return lock_in(self.world)


def said(lock: Lock) -> tuple[object, ...]:
    """Return a lock as plain values."""
    waits = [(m.node, nodes(lock.members_before(m)), lock.expected(m)) for m in lock.waiters]
    fields = lock.layout, lock.kind, lock.stranded, sorted(lock.foreign), sorted(lock.warnings)
    return nodes(lock.holders), waits, fields, sorted(nodes(lock.obstacles))


ONE, TWO, THREE = (contender("curator", number) for number in (1, 2, 3))
GO_ONE, GO_TWO, GO_THREE = (contender("go", number) for number in (1, 2, 3))
FIRST, CONFIG = ("00-config", 0), ("config", 0)


def test_a_waiter_meets_a_late_child_when_it_looks_again() -> None:
    """The child came while the lock was held; the holder goes, and the waiter lists again."""
    past = Past().come(ONE, TWO, FIRST).go(ONE[0])

    assert not past.now.holders
    assert nodes(past.now.members_before(past.now.waiters[0])) == ["00-config"]


def test_a_waiter_takes_the_lock_where_the_child_came_after_it_did() -> None:
    """It was first when the holder went."""
    past = Past().come(ONE, TWO).go(ONE[0]).come(FIRST)

    assert nodes(past.now.holders) == [TWO[0]]


@pytest.mark.parametrize(("kind", "foreign"), [("curator", FIRST), ("go", CONFIG)])
@pytest.mark.parametrize("is_late", [True, False])
def test_one_look_after_a_child_and_a_release_shows_who_met_it(
    kind: str, foreign: tuple[str, int], *, is_late: bool
) -> None:
    """Their transactions say which came first: the waiter listed the children at the release."""
    one, two = contender(kind, 1), contender(kind, 2)
    past = Past().come(one, two)
    past.is_asleep = True
    if is_late:
        past.go(one[0])
        past.is_asleep = False
        past.come(foreign)
    else:
        past.come(foreign)
        past.is_asleep = False
        past.go(one[0])

    assert nodes(past.now.holders) == [two[0]] * is_late


def test_a_client_fails_when_it_looks_again() -> None:
    """And what it left behind stays when the cause is gone, because no other client removes it."""
    past = Past().come(GO_ONE, GO_TWO, CONFIG)
    assert not past.now.stranded

    assert past.go(GO_ONE[0]).now.stranded == {GO_TWO[0]}
    assert past.go("config").now.stranded == {GO_TWO[0]}
    assert not past.come(GO_THREE).now.holders


def test_a_stranded_node_is_waited_for() -> None:
    """By clients of the same library that came after the name was gone, too."""
    past = Past().come(CONFIG, GO_ONE).go("config").come(GO_TWO)

    assert nodes(past.now.members_before(past.now.waiters[-1])) == [GO_ONE[0]]
    assert past.now.state(past.now.waiters[0]) == "waits"
    assert past.now.blocked_by(past.now.waiters[0]) == ()


KAZOO_TWO = contender("kazoo", 2)


@pytest.mark.parametrize(
    ("watched", "holders"),
    [
        ([ONE[0]], [ONE[0]]),
        ([], [ONE[0], KAZOO_TWO[0]]),
        ([ONE[0], KAZOO_TWO[0]], [ONE[0], KAZOO_TWO[0]]),
        ([ONE[0], THREE[0]], [ONE[0], KAZOO_TWO[0]]),
        ([THREE[0]], [ONE[0], KAZOO_TWO[0]]),
    ],
    ids=["its blocker", "nothing", "itself, too", "a later one, too", "a later one"],
)
def test_a_watch_proves_another_sight(watched: list[str], holders: list[str]) -> None:
    """Kazoo with extra patterns watches Curator's node; a cache watches others as well."""
    past = Past().come(ONE, KAZOO_TWO, THREE).seen({KAZOO_TWO[1]: watched})

    assert nodes(past.now.holders) == holders


def test_a_watch_is_proof_for_its_session_alone() -> None:
    """Another kazoo beside it may have the default patterns."""
    other = contender("kazoo", 3)
    past = Past().come(ONE, KAZOO_TWO, other).seen({KAZOO_TWO[1]: [ONE[0]]})

    assert nodes(past.now.waiters) == [KAZOO_TWO[0], other[0]]
    assert nodes(past.now.members_before(past.now.waiters[1])) == [KAZOO_TWO[0]]


def test_a_watch_from_before_the_node_is_left_over() -> None:
    """It gave up, kept its watch, and came again with a lock that does not count Curator."""
    again = (contender("kazoo", 4)[0], KAZOO_TWO[1])
    past = Past().come(ONE, KAZOO_TWO).seen({KAZOO_TWO[1]: [ONE[0]]})
    past.go(KAZOO_TWO[0]).come(again).seen({KAZOO_TWO[1]: [ONE[0]]})

    assert nodes(past.now.holders) == [ONE[0], again[0]]


def test_a_watch_left_by_an_earlier_try_hides_no_proof() -> None:
    """Kazoo gives up and keeps its watch; its next try waits for the newer one of Curator."""
    again = (contender("kazoo", 6)[0], KAZOO_TWO[1])
    other = contender("go", 5)  # it keeps the folder mixed
    past = Past().come(ONE, KAZOO_TWO, THREE, other).seen({KAZOO_TWO[1]: [ONE[0]]})
    past.go(KAZOO_TWO[0]).come(again).seen({KAZOO_TWO[1]: [ONE[0], other[0]]})

    assert nodes(past.now.holders) == [ONE[0]]


@pytest.mark.parametrize("has_been_seen", [True, False])
def test_a_watch_is_surer_if_it_is_surely_new(*, has_been_seen: bool) -> None:
    """Its session was seen without it, before the node came."""
    past = Past().come(ONE, KAZOO_TWO)
    if has_been_seen:
        past.seen({KAZOO_TWO[1]: ["elsewhere"]})
    again = (contender("kazoo", 4)[0], KAZOO_TWO[1])
    past.go(KAZOO_TWO[0]).come(again).seen({KAZOO_TWO[1]: [ONE[0]]})

    (proof,) = [one for queue in only_mixed(past.now.queues) for one in queue.proofs.values()]
    assert proof.is_fresh is has_been_seen


def test_a_watch_from_before_a_change_proves_nothing() -> None:
    """The table is older than the newest child."""
    past = Past().come(ONE, KAZOO_TWO).seen({KAZOO_TWO[1]: [ONE[0]]})
    late = Past().come(ONE, KAZOO_TWO)
    late.zxid -= 1
    late.seen({KAZOO_TWO[1]: [ONE[0]]})

    assert nodes(past.now.holders) == [ONE[0]]
    assert nodes(late.now.holders) == [ONE[0], KAZOO_TWO[0]]


def test_a_proven_view_lasts_as_long_as_the_node() -> None:
    """The watch is gone when its target goes, and another comes."""
    past = Past().come(ONE, TWO, contender("kazoo", 3)).seen({SESSION + 3: [TWO[0]]})
    past.go(ONE[0])

    assert nodes(past.now.holders) == [TWO[0]]


LOCK_TWO, LOCK_ZERO = ("abc-lock-0000000002", 0), ("foo__lock__0000000001", 0)


@pytest.mark.parametrize(
    ("foreign", "kind"),
    [(LOCK_TWO, "curator"), (LOCK_TWO, "named"), (LOCK_ZERO, "kazoo"), (("x-2", 0), "offer"),
     (("0000000002", 0), "go")],
)  # fmt: skip
def test_a_waiter_watches_either_of_two_children_with_one_number(
    foreign: tuple[str, int], kind: str
) -> None:
    """The server decides which of the two is listed last."""
    number = int(foreign[0][-1])
    twin, me = contender(kind, number), contender(kind, number + 1)
    past = Past().come(foreign, twin, me)

    for target in (foreign[0], twin[0]):
        past.seen({me[1]: [target]})
        assert [one.path for one in past.now.expected(past.now.waiters[-1])] == [target]
        assert said(past.now) == said(past.afresh)


def test_zooit_does_not_wait_for_a_child_with_its_own_number() -> None:
    """It looks for lower ones alone."""
    me = ("host.PID.7-0000000001", SESSION)

    assert nodes(Past().come(("abc-0000000001", 0), me).now.holders) == [me[0]]
    assert not Past().come(("abc-0000000000", 0), me).now.holders


def java(session: int, number: int) -> tuple[str, int]:
    """Name a contender of ZooKeeper's WriteLock by its session."""
    return f"x-{SESSION + session}-{number:010d}", SESSION + session


OLD_FIVE, OLD_THREE, OLD_SIX = java(5, 0), java(3, 1), java(6, 2)


def test_a_watch_proves_the_write_lock_that_sorts_by_session() -> None:
    """Until 3.4.11 it compares whole names: the third client waits for the first one."""
    past = Past().come(OLD_FIVE, OLD_THREE, OLD_SIX)
    past.seen({OLD_SIX[1]: [OLD_FIVE[0]]})

    (_, last) = past.now.waiters
    assert nodes(past.now.holders) == [OLD_FIVE[0]]
    assert nodes(past.now.members_before(last)) == [OLD_THREE[0], OLD_FIVE[0]]
    assert [one.path for one in past.now.expected(last)] == [OLD_FIVE[0]]
    assert said(past.now) == said(past.afresh)


@pytest.mark.parametrize("watched", [[OLD_THREE[0]], [], [OLD_FIVE[0], OLD_THREE[0]]])
def test_other_watches_leave_write_locks_in_the_order_of_their_numbers(watched: list[str]) -> None:
    """As all do since 3.4.12; a cache watches all children."""
    past = Past().come(OLD_FIVE, OLD_THREE, OLD_SIX).seen({OLD_SIX[1]: watched})

    assert nodes(past.now.members_before(past.now.waiters[-1])) == [OLD_FIVE[0], OLD_THREE[0]]
    assert said(past.now) == said(past.afresh)


def test_a_write_lock_that_sorts_by_session_takes_the_lock_when_it_looks_again() -> None:
    """The first went, and what sorts before the third keeps it waiting."""
    past = Past().come(OLD_FIVE, OLD_THREE, OLD_SIX).seen({OLD_SIX[1]: [OLD_FIVE[0]]})
    past.go(OLD_FIVE[0])

    assert nodes(past.now.holders) == [OLD_THREE[0]]
    assert nodes(past.now.members_before(past.now.waiters[0])) == [OLD_THREE[0]]


def test_a_watch_proves_that_the_oldest_write_lock_counts_a_foreign_name() -> None:
    """As text it is before `x-`, though its number is higher."""
    past = Past().come(("a-0000000099", 0), OLD_THREE).seen({OLD_THREE[1]: ["a-0000000099"]})

    assert not past.now.holders
    assert nodes(past.now.obstacles) == ["a-0000000099"]


def test_a_layout_of_a_user_says_what_its_clients_count() -> None:
    """All children by the number at the end, and they fail at the others."""
    view = ClientView(counts="all", key=r"(\d+)$", compare="number", unread="fails")
    jobs = Layout(name="jobs", pattern="^job-{SEQ}$", sights=(view,))
    world = Past().come(CONFIG, ("job-0000000001", 7), ("job-0000000002", 8)).world

    lock = lock_at(ROOT, world, Settings(layouts=(jobs,)), 0)

    assert isinstance(lock, Lock)
    assert lock.stranded == {"job-0000000001", "job-0000000002"}


@pytest.mark.parametrize(("is_pool", "held"), [(True, 1), (False, 2)])
def test_in_a_pool_of_a_user_a_foreign_child_takes_a_lease(*, is_pool: bool, held: int) -> None:
    """Its clients count all children, so also those that sort behind the members."""
    view = ClientView(counts="all", pool=is_pool)
    jobs = Layout(name="jobs", pattern="^job-{SEQ}$", mode="lease", sights=(view,))
    pool = Settings(layouts=(jobs,), roots=(Root(ROOT, leases=2),))
    first, *others = [(f"job-{number:010}", number) for number in (1, 2, 3)]
    world = Past().come(("zz", 0), first, *others).world

    lock = lock_at(ROOT, world, pool, 0)

    assert isinstance(lock, Lock)
    assert nodes(lock.holders) == [first[0], others[0][0]][:held]
    assert nodes(lock.members_before(lock.waiters[0]))[-1] == lock.holders[-1].node
    assert nodes(lock.obstacles) == (["zz"] if is_pool else [])


STRANGERS = ["00-config", "config", "zz", "a-0", "lock-0000000000", "foo__lock__0000000000"]


@st.composite
def stories(draw: st.DrawFn) -> list[tuple[str, int] | str]:
    """Generate foreign children, then contenders that come and go."""
    strangers = draw(st.lists(st.sampled_from(STRANGERS), unique=True, max_size=3))
    kinds = draw(st.lists(st.sampled_from(sorted(HEADS)), min_size=1, max_size=2, unique=True))
    story: list[tuple[str, int] | str] = [(name, 0) for name in strangers]
    there: list[str] = []
    for number in range(1, draw(st.integers(2, 7))):
        one = contender(draw(st.sampled_from(kinds)), number)
        story.append(one)
        there.append(one[0])
        if draw(st.booleans()) and len(there) > 1:
            story.append(there.pop(draw(st.integers(0, len(there) - 1))))
    return story


@settings(max_examples=300, deadline=None)
@given(stories())
def test_one_look_after_another_says_what_the_first_look_says(
    story: list[tuple[str, int] | str],
) -> None:
    """Where nothing foreign comes late and no client failed, there is nothing to remember."""
    past = Past()
    for step in story:
        if isinstance(step, str):
            past.go(step)
        else:
            past.come(step)
        if past.lock is not None and not past.lock.layout.startswith("mixed"):
            assert said(past.now) == said(past.afresh), step
        if past.lock is not None and past.lock.stranded:
            return


@settings(max_examples=300, deadline=None)
@given(stories())
def test_every_member_holds_waits_or_is_stranded(
    story: list[tuple[str, int] | str],
) -> None:
    """And following `blocked_by` leads to all members that go first."""
    past = Past().come(*[step for step in story if not isinstance(step, str)])
    lock = past.lock
    for member in lock.members if lock else ():
        before = set(nodes(lock.members_before(member)))
        if lock.queue_of(member).holds(member) or member.node in lock.stranded:
            assert not before
        else:
            assert before
            assert before <= _closure(lock, member)


def _closure(lock: Lock, member: object) -> set[str]:
    found: set[str] = set()
    work = [member]
    while work:
        one = work.pop()
        for other in lock.blocked_by(one) if one.layout else ():
            if other.node not in found:
                found.add(other.node)
                work.append(other)
    return found
