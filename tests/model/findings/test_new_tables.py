"""What new tables have examined again: what they may change, and of much not all each time."""

from itertools import pairwise

import pytest
from model.make_facts import NOW, connections, expiry, folder, lock, own, row, watches

from zktop.model.examiner import Examiner
from zktop.model.facts import SECOND_MS
from zktop.model.findings import tracker
from zktop.model.findings.apply import Examination, examine_session
from zktop.model.findings.context import SessionContext
from zktop.model.findings.finding import Finding
from zktop.model.findings.schedule import PAUSE_PER_FINDING_MS
from zktop.model.findings.tracker import FRESH_FINDINGS, MARKED_SUBJECTS_PER_LOOK
from zktop.model.text import Text
from zktop.model.world.world import World

MINUTE = 60 * SECOND_MS
ZK = Text("zk1:2181")
EVERY = 2 * SECOND_MS  # between two tables
SEVERAL = 3 * EVERY // PAUSE_PER_FINDING_MS  # so many that they rest for three tables


class Rounds:
    """An ensemble whose tables are read every two seconds."""

    def __init__(self, owners: int, since: int = NOW) -> None:
        self.gone = {f"owner-{number}" for number in range(owners)}
        paths = {name: f"{folder(number)}/l" for number, name in enumerate(sorted(self.gone))}
        self.connected = {"zktop", "alice", "bob"}
        self.now = NOW
        facts = [fact for name, path in paths.items() for fact in lock(path, name)]
        self.world = World().after(own(), *lock("/held", "alice", "bob", at=since), *facts)
        self.examiner = Examiner()

    def next(self) -> dict[str, Finding]:
        """Read the tables again; give what is found about sessions and locks, by its id."""
        self.now += EVERY
        left = dict.fromkeys(self.gone | self.connected, NOW + 10 * MINUTE - self.now)
        self.world = self.world.after(
            connections(ZK, *(row(n, received=self.now) for n in self.connected), at=self.now),
            expiry(ZK, left, at=self.now),
        )
        return {
            finding.id: finding for finding in self.examiner.look(self.world, self.now).findings
        }

    def settled(self) -> "Rounds":
        """Go on until everything that is wrong has been found."""
        while len(self.next()) < len(self.gone):
            assert self.now < NOW + MINUTE
        return self

    def renewed(self, rule: str) -> int:
        """How many findings of a rule change in the next round."""
        before = self.next()
        after = self.next()
        return sum(one.rule == rule and one is not before.get(key) for key, one in after.items())


def test_few_findings_are_examined_again_with_each_table() -> None:
    """Their countdowns follow the tables."""
    assert Rounds(5).settled().renewed("P1") == 5


def test_many_findings_are_examined_less_often() -> None:
    """Hundreds of lost sessions must not take a core; the head of the list stays fresh."""
    rounds = Rounds(SEVERAL).settled()
    renewed = [rounds.renewed("P1") for _ in range(4)]

    assert FRESH_FINDINGS in renewed
    assert SEVERAL in renewed


def test_those_at_the_head_of_many_are_as_new_as_those_of_few() -> None:
    """Their countdowns are on screen."""
    rounds = Rounds(SEVERAL).settled()
    shown = [list(rounds.next().values())[:FRESH_FINDINGS] for _ in range(4)]

    for before, after in pairwise(shown):
        assert [one.id for one in before] == [one.id for one in after]
        assert not any(
            one.sentence == other.sentence for one, other in zip(before, after, strict=True)
        )


def test_a_thorough_look_confirms_what_a_table_of_just_now_shows_again() -> None:
    """`check` ends with such a look, milliseconds after the second tables."""
    examiner, connected = Examiner(), [row(name) for name in ("zktop", "alice", "bob")]
    world = World().after(own(), *lock("/held", "alice", "bob"))

    def rules(late: int, read: int, *, thorough: bool) -> set[str]:
        tables = (connections(ZK, *connected, at=NOW + read), watches(ZK, {}, at=NOW + read))
        report = examiner.look(world.after(*tables), NOW + late, thorough=thorough)
        return {one.rule for one in report.findings}

    early = [rules(late, 0, thorough=False) for late in (1, EVERY + 1)]
    early.append(rules(EVERY + 11, EVERY + 10, thorough=False))

    assert not any("L1" in found for found in early)
    assert "L1" in rules(EVERY + 15, EVERY + 10, thorough=True)


def test_a_thorough_look_examines_nothing_again_without_newer_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Thousands of sessions may be unconfirmed until the next table."""
    examined: list[int] = []

    def counted(context: SessionContext) -> Examination:
        examined.append(context.session)
        return examine_session(context)

    rounds = Rounds(5)
    rounds.next()
    monkeypatch.setattr(tracker, "examine_session", counted)
    rounds.examiner.look(rounds.world, rounds.now + 1)

    assert not examined
    assert len(rounds.next()) == len(set(examined)) == 5


def test_a_session_that_goes_beside_many_others_is_found_in_time() -> None:
    """To wait for its turn among those that are known would hide it."""
    rounds = Rounds(SEVERAL).settled()
    rounds.connected.remove("alice")
    rounds.gone.add("alice")
    found = [rounds.next() for _ in range(3)][-1]

    assert [one for one in found.values() if "alice is connected to no server" in one.sentence]


def test_many_findings_that_only_grow_older_are_examined_less_often() -> None:
    """Rewording ten thousand long holds must not take a core."""
    few, many = (_examined_in_a_minute(count) for count in (1, 1_000))

    assert 0 < 2 * many <= few


def _examined_in_a_minute(count: int) -> int:
    """Count how often one lock of several, each held for half an hour, is reworded."""
    paths = [f"{folder(number)}/held" for number in range(count)]
    since = NOW - 30 * MINUTE
    facts = [one for path in paths for one in lock(path, "alice", "bob", at=since)]
    examiner, world = Examiner(), World().after(own(), *facts)
    said = [
        {
            finding.sentence
            for finding in examiner.look(world, NOW + at).findings
            if finding.lock == paths[-1]
        }
        for at in range(0, 2 * MINUTE, SECOND_MS)
    ]
    return sum(before != after for before, after in pairwise(said[MINUTE // SECOND_MS :]))


def test_tables_of_thousands_of_sessions_are_compared_in_steps() -> None:
    """A live run examines the last of them one look later, and a thorough look at once."""
    calm = [row(f"calm-{number}") for number in range(MARKED_SUBJECTS_PER_LOOK)]
    world = World().after(own(), *lock("/held", "alice", "bob"))
    world = world.after(connections(ZK, *calm, row("alice")))
    late = row("alice", quiet_ms=9 * SECOND_MS)
    silent = world.after(connections(ZK, *calm, late, at=NOW + EVERY))

    assert _silent_in_looks(world, silent, thorough=False) == [False, True]
    assert _silent_in_looks(world, silent, thorough=True) == [True, True]


def _silent_in_looks(before: World, after: World, *, thorough: bool) -> list[bool]:
    """Whether each of two looks finds that a holder is silent."""
    examiner = Examiner()
    examiner.look(before, NOW)
    looks = [examiner.look(after, NOW + EVERY + late, thorough=thorough) for late in (1, 2)]
    return [any(one.rule == "S3" for one in look.findings) for look in looks]
