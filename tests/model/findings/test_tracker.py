"""What a look leaves to the next one, so that it reports events without delay."""

from itertools import chain

import pytest
from model.findings.cases import ctx, k, only
from model.make_facts import NOW, ZK1, ZK2, connections, figures, kazoo_name, lock, row, session
from msgspec.structs import replace
from output.stories import facts

from zktop.model.examiner import Examiner
from zktop.model.facts import Gone, Node, Stat
from zktop.model.findings import tracker
from zktop.model.findings.apply import Examination, examine_lock, examine_session
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.findings.context import LockContext, SessionContext
from zktop.model.findings.listing.group_similar import MANY
from zktop.model.findings.schedule import (
    LONGEST_PAUSE_MS,
    LONGEST_SAME_MS,
    MAX_PER_LOOK,
    ROWS_PER_WORK,
    RestReasons,
    next_examination,
)
from zktop.model.history.lock_change import LockChange
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.thresholds import Thresholds
from zktop.model.world.world import World

LATER = NOW + 10_000
SETTLE = 2_000
SETTLED = replace(
    only("B1", ctx(k("import", 7, by="", age_ms=120_000), k("bob", 8))), at_once=True
)


def test_a_small_ensemble_has_its_root_blockers_ranked_at_every_look() -> None:
    """Also when the look reports an event."""
    examiner = Examiner()
    before = World().after(*lock("/orders", "alice", "bob", "carol"))
    examiner.look(before, LATER)
    after = before.after(_gone("/orders", "alice", 0, before))
    made = examiner.look(after, LATER + 10, thorough=False)

    assert _roots(made) == {hex(session("bob")): 1}


def test_many_locks_are_ranked_at_intervals_and_in_between_waits_grow() -> None:
    """Ranking a hundred thousand locks takes a fifth of a second."""
    examiner, before = _among_many()
    first = examiner.look(before, LATER)
    after = before.after(_gone("/orders", "carol", 2, before))
    soon, later = (examiner.look(after, LATER + late) for late in (1_000, 2_000))
    alice = hex(session("alice"))

    assert [_roots(look)[alice] for look in (first, soon, later)] == [2, 2, 1]
    blocked = [_blocked_ms(look, alice) for look in (first, soon)]
    assert blocked[1] == blocked[0] + 2 * 1_000


def test_an_actor_that_releases_is_no_root_blocker_from_then_on() -> None:
    """Its successor is listed when all are ranked again."""
    examiner, before = _among_many()
    examiner.look(before, LATER)
    after = before.after(_gone("/orders", "alice", 0, before))
    soon, later = (examiner.look(after, LATER + late) for late in (500, 2_000))
    alice, bob = hex(session("alice")), hex(session("bob"))

    assert [alice in _roots(look) for look in (soon, later)] == [False, False]
    assert _roots(later)[bob] == 1


def test_root_blockers_are_ranked_although_every_look_reports_an_event() -> None:
    """A busy ensemble has new ones after the same interval, at the second such look."""
    examiner, world = _among_many(4_500)
    examiner.look(world, LATER)
    blocked = []
    for number, owner, late in ((2, "carol", 2_000), (1, "bob", 2_050)):
        world = world.after(_gone("/orders", owner, number, world))
        made = examiner.look(world, LATER + late, thorough=False)
        blocked.append(_roots(made).get(hex(session("alice"))))

    assert blocked == [2, None]


def test_a_session_with_findings_is_examined_once_a_second() -> None:
    """One with hundreds of locks may change at every look, and its findings hardly."""
    examiner = Examiner(Settings(thresholds=Thresholds(blast_radius=3)))
    world = World().after(*(fact for name in "abcd" for fact in lock(f"/{name}", "alice")))
    for late in (0, SETTLE):
        examiner.look(world, LATER + late)
    fewer = world.after(_gone("/a", "alice", 0, world))
    looks = [
        examiner.look(fewer, LATER + SETTLE + late, thorough=False) for late in (50, 950, 1_050)
    ]
    owned = [finding.sentence.split()[2] for look in looks for finding in look.findings]

    assert owned == ["4", "4", "3"]


def test_a_session_that_releases_most_of_many_locks_is_examined_within_a_second() -> None:
    """One with hundreds of locks rests for seconds, but not one that had them."""
    examiner, paths = Examiner(), [f"/app/{number}" for number in range(200)]
    world = World().after(*(fact for path in paths for fact in lock(path, "alice")))
    many = [examiner.look(world, LATER + late) for late in (0, SETTLE)][-1]
    fewer = world.after(*(_gone(path, "alice", 0, world) for path in paths[1:]))
    examiner.look(fewer, LATER + SETTLE + 50, thorough=False)
    one = examiner.look(fewer, LATER + SETTLE + 1_100, thorough=False)

    assert [_has(report, "P5") for report in (many, one)] == [True, False]


def test_a_crowd_that_leaves_takes_its_finding_with_it() -> None:
    """A crowded lock is examined at intervals, but not one that was crowded."""
    owners = [f"h{number}" for number in range(1_100)]
    examiner, world = Examiner(), World().after(*lock("/orders", *owners))
    crowded = [examiner.look(world, LATER + late) for late in (0, SETTLE)][-1]
    leaving = (_gone("/orders", owner, n, world) for n, owner in enumerate(owners) if n)
    alone = examiner.look(world.after(*leaving), LATER + SETTLE + 50, thorough=False)

    assert [_has(report, "P10") for report in (crowded, alone)] == [True, False]


def _among_many(number: int = 7_500) -> tuple[Examiner, World]:
    """A lock of three with the oldest waits, among so many that they are ranked every 1.5 s."""
    quiet = [fact for n in range(number) for fact in lock(f"/many/{n:04}", f"h{n}")]
    return Examiner(), World().after(*lock("/orders", "alice", "bob", "carol"), *quiet)


def _has(report: Report, rule: str) -> bool:
    return any(finding.rule == rule for finding in report.findings)


def _roots(report: Report) -> dict[str, int]:
    """The number of waiters behind each root blocker."""
    return {actor: root.blocked for root in report.blockers for actor in root.actors}


def _blocked_ms(report: Report, actor: str) -> int:
    return next(root.blocked_ms for root in report.blockers if actor in root.actors)


def test_a_thorough_look_leaves_nothing() -> None:
    """A snapshot has no next look."""
    examiner = Examiner()
    before = World().after(*lock("/orders", "alice", "bob", "carol"))
    examiner.look(before, LATER)
    made = examiner.look(before.after(_gone("/orders", "alice", 0, before)), LATER + 3_000)

    assert [root.blocked for root in made.blockers] == [1]


def test_a_member_known_by_name_alone_is_reported_when_its_node_is_read() -> None:
    """Then the place is one of the session's: it neither came nor went."""
    world = World().after(*lock("/orders", "alice", "bob"))
    path = Text(f"/orders/{kazoo_name('carol', 2)}")
    visible = world.after(Node(path=path, zxid=world.zxid + 1, at=NOW))
    stat = Stat(world.zxid + 1, world.zxid + 1, NOW, owner=session("carol"))
    read = visible.after(Node(path=path, stat=stat, data=b"", zxid=world.zxid + 2, at=NOW))
    change = LockChange.between("/orders", _lock(visible), _lock(read))

    assert (change.created, change.deleted) == ((), ())
    assert [member.owner for member in change.read] == [session("carol")]


def test_findings_that_have_lasted_are_examined_less_often() -> None:
    """Ten thousand locks in trouble for an hour would keep a core busy with rewording."""
    assert [_pause(lasted) for lasted in (0, 10_000, 40_000, 3_600_000)] == [
        SETTLE,
        SETTLE,
        4_000,
        LONGEST_PAUSE_MS,
    ]


def test_a_deadlock_is_confirmed_in_time_although_a_client_joins_behind_it() -> None:
    """The settle time runs from the first look that showed it, not from its last change."""
    examiner, world = Examiner(), World().after(*facts("X x: A B ; Y x: B A", NOW))
    examiner.look(world, NOW, thorough=False)
    world = world.after(*facts("X x: A B C ; Y x: B A", NOW))
    examiner.look(world, NOW + SETTLE - 500, thorough=False)

    severities = [
        examiner.look(world, NOW + moment, thorough=False).findings[0].severity
        for moment in (SETTLE - 1, SETTLE)
    ]
    assert severities == ["warning", "critical"]


def test_a_rule_that_asks_for_a_look_gets_it_in_time() -> None:
    """However long its lock has been in trouble."""
    assert _pause(3_600_000, asked=LATER + 3_000) == 3_000


def test_among_thousands_a_finding_rests_no_longer_than_it_has_lasted() -> None:
    """Fifty a second are examined again; the young ones have the first turn."""
    assert _pause(30_000, crowding=200_000) == 30_000
    assert _pause(3_600_000, crowding=200_000) == 200_000


def test_a_finding_rests_for_as_long_as_its_words_stayed_the_same() -> None:
    """The locks that a session owns, for example, change only with the session."""
    found = SubjectFindings().after([SETTLED], LATER - 60_000, SETTLE)
    found = found.after([replace(SETTLED, as_of=LATER)], LATER, SETTLE)

    assert next_examination(None, found, LATER, SETTLE, RestReasons()) == LATER + 60_000


def test_a_finding_with_new_words_is_looked_at_as_often_as_before() -> None:
    """It has an age, or a number that changes."""
    found = SubjectFindings().after([SETTLED], LATER - 60_000, SETTLE)
    found = found.after([replace(SETTLED, sentence=Text("once more"))], LATER, SETTLE)

    assert next_examination(None, found, LATER, SETTLE, RestReasons()) == LATER + 6_000


def test_a_finding_that_nobody_sees_is_not_worded_again_for_its_age() -> None:
    """Another one speaks for it and for hundreds of others; what its rule asks for remains."""
    assert _pause(30_000, is_unseen=True) == LONGEST_SAME_MS
    assert _pause(30_000, crowding=2_000_000, is_unseen=True) == 2_000_000
    assert _pause(30_000, asked=LATER + 3_000, is_unseen=True) == 3_000


def test_locks_in_a_group_of_findings_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the lock whose finding is shown for all of them is examined for its age."""
    examined: list[Text] = []

    def counted(context: LockContext) -> Examination:
        examined.append(context.path)
        return examine_lock(context)

    monkeypatch.setattr(tracker, "examine_lock", counted)
    names = [f"/jobs/{number:03}" for number in range(MANY + 1)]
    world = World().after(*(fact for name in names for fact in lock(name, f"a{name}", f"b{name}")))
    examiner, begin = Examiner(), LATER + 1_400_000
    for late in (0, 70_000):  # the group is known after the first
        (shown,) = examiner.look(world, begin + late).findings
    examined.clear()
    examiner.look(world, begin + 140_000)

    assert shown.rule == "P6"
    assert set(examined) == {shown.locks[0]}


def test_a_lock_with_the_blind_spots_of_others_leaves_the_list_of_findings() -> None:
    """Each of 100,000 new locks has the same ones; listing all findings each time takes long."""
    examiner, world = Examiner(), World().after(*lock("/a", "alice", "bob"))
    before = examiner.look(world, LATER + 700_000)
    more = world.after(*lock("/b", "carol", "dave", at=LATER + 700_000, czxid=300))
    after = examiner.look(more, LATER + 700_010)

    assert before.findings
    assert after.findings is before.findings
    assert after.blind == before.blind != ()


def test_a_blind_spot_ends_with_the_last_subject_that_has_it() -> None:
    """A look at the same world by a new examiner agrees."""
    examiner = Examiner()
    world = World().after(*lock("/orders", "alice", "bob"))
    before = examiner.look(world, LATER)
    gone = world.after(_gone("/orders", "alice", 0, world), _gone("/orders", "bob", 1, world))
    after = examiner.look(gone, LATER + 10)

    assert set(after.blind) < set(before.blind)
    assert after.blind == Examiner().look(gone, LATER + 10).blind


def test_a_look_examines_few_sessions_with_hundreds_of_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would take as long as thousands of locks; the others follow at the next looks."""
    examined: list[int] = []

    def counted(context: SessionContext) -> Examination:
        examined.append(context.session)
        return examine_session(context)

    monkeypatch.setattr(tracker, "examine_session", counted)
    owners = [f"client-{number}" for number in range(10)]
    members = (lock(f"/jobs/{number}", *owners) for number in range(300))
    world, examiner = World().after(*chain.from_iterable(members)), Examiner()
    examiner.look(world, LATER, thorough=False)

    assert 0 < len(examined) < len(owners)
    assert examiner.is_behind


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the locks that are examined, in this order."""
    paths: list[str] = []

    def noted(context: LockContext) -> Examination:
        paths.append(context.lock.path)
        return examine_lock(context)

    monkeypatch.setattr(tracker, "examine_lock", noted)
    return paths


@pytest.mark.parametrize("server", [ZK1, ZK2], ids=["read again", "of another server"])
def test_a_look_with_large_new_tables_leaves_locks_to_the_next_one(
    server: Text, examined: list[str]
) -> None:
    """Reading many thousands of connections takes as long as examining 150 locks."""
    rows = [row(f"client-{number}") for number in range(MAX_PER_LOOK * ROWS_PER_WORK)]
    world, examiner = World().after(connections(ZK1, *rows)), Examiner()
    examiner.look(world, LATER, thorough=False)
    newer = connections(server, *rows, at=LATER)
    world = world.after(*lock("/orders", "alice", "bob"), newer)

    examiner.look(world, LATER, thorough=False)
    assert not examined
    examiner.look(world, LATER + 50, thorough=False)
    assert examined == ["/orders"]


def test_new_figures_of_a_server_keep_no_lock_for_the_next_look(examined: list[str]) -> None:
    """Its many connections are known already."""
    rows = [row(f"client-{number}") for number in range(MAX_PER_LOOK * ROWS_PER_WORK)]
    world, examiner = World().after(connections(ZK1, *rows)), Examiner()
    examiner.look(world, LATER, thorough=False)
    world = world.after(*lock("/orders", "alice", "bob"), figures(ZK1))
    examiner.look(world, LATER, thorough=False)

    assert examined == ["/orders"]


def test_the_first_look_examines_locks_in_spite_of_large_tables(examined: list[str]) -> None:
    """What the first screen shows does not wait."""
    rows = [row(f"client-{number}") for number in range(MAX_PER_LOOK * ROWS_PER_WORK)]
    world = World().after(connections(ZK1, *rows), *lock("/orders", "alice", "bob"))
    Examiner().look(world, LATER, thorough=False)

    assert examined == ["/orders"]


def _pause(
    lasted: int, asked: int | None = None, crowding: int = 0, *, is_unseen: bool = False
) -> int:
    found = SubjectFindings().after([SETTLED], LATER - lasted, SETTLE)
    found = found.after([replace(SETTLED, sentence=Text("once more"), as_of=LATER)], LATER, SETTLE)
    due = next_examination(asked, found, LATER, SETTLE, RestReasons(crowding, is_unseen=is_unseen))
    return (due or 0) - LATER


def _gone(path: str, owner: str, sequence: int, world: World) -> Gone:
    return Gone(path=Text(f"{path}/{kazoo_name(owner, sequence)}"), zxid=world.zxid + 1, at=LATER)


def _lock(world: World) -> Lock:
    found = lock_at("/orders", world, Settings(), LATER)
    assert isinstance(found, Lock)
    return found


def test_findings_that_only_grow_older_are_worded_again_in_their_places() -> None:
    """A list of thousands is not sorted again for them."""
    waiting = [fact for name in "abc" for fact in lock(f"/{name}", "alice", "bob", "carol")]
    examiner, world = Examiner(), World().after(*waiting)
    before, after = (examiner.look(world, LATER + late).findings for late in (700_000, 1_400_000))

    assert [one.id for one in before] == [one.id for one in after]
    assert [one.sentence for one in before] != [one.sentence for one in after]
    assert after == Examiner().look(world, LATER + 1_400_000).findings
