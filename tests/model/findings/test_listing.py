"""One alarm for one cause, and the order of the screen."""

from unittest.mock import Mock

import msgspec
import pytest
from model.findings.cases import (
    SECOND,
    connected,
    ctx,
    curator,
    folded,
    found,
    held,
    history,
    k,
    only,
    usual,
)
from model.make_facts import NOW, session
from model.plain_locks import lock_of, member

from zktop.model.findings.catalogue import RANK
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.findings.finding import Finding
from zktop.model.findings.listing.causes import CAUSES, DELAYS, ROOTS, WaitsAhead
from zktop.model.findings.listing.group_similar import MANY, STILL_MANY, Listing
from zktop.model.findings.listing.list_in_steps import FINDINGS_PER_STEP, FindingList, listings
from zktop.model.locks.lock import Lock
from zktop.model.text import Text

PATTERN = only("B1", ctx(k("import", 7, by="", age_ms=120 * SECOND), k("bob", 8)))


def one(rule: str, lock: str = "/x", node: str = "n", who: str = "", **more: object) -> Finding:
    """A finding of this rule about this."""
    fields = {
        "id": f"{rule}-{lock}-{node}",
        "rule": rule,
        "lock": Text(lock),
        "locks": (Text(lock),),
        "nodes": (Text(node),),
        "sessions": (session(who),) if who else (),
        **more,
    }
    return msgspec.structs.replace(PATTERN, **fields)


def causes(*findings: Finding, ahead: WaitsAhead | None = None) -> dict[str, str | None]:
    """Which rule each finding is folded under."""
    by_id = {finding.id: finding.rule for finding in findings}
    done = folded(findings, ahead or WaitsAhead({}, {}))
    return {finding.rule: by_id[finding.cause] if finding.cause else None for finding in done}


def test_a_long_hold_is_folded_under_the_orphan_that_causes_it() -> None:
    """One alarm, which counts what is behind it."""
    done = folded([one("P6"), one("B1"), one("P7")])

    assert [(f.rule, f.folded, f.cause) for f in done] == [
        ("B1", 2, None),
        ("P6", 0, "B1-/x-n"),
        ("P7", 0, "B1-/x-n"),
    ]


@pytest.mark.parametrize(
    ("effect", "cause", "about"),
    [
        ("D6", "B4", {}),
        ("P1", "B4", {"who": "old"}),
        ("L2", "D7", {}),
        ("L10", "L1", {}),
        ("L4", "S1", {"node": "other"}),
        ("S2", "S6", {"node": "other"}),
        ("B8", "S3", {"who": "old", "lock": "/y"}),
        ("P4", "S3", {"who": "old", "lock": "/y"}),
    ],
)
def test_effects_are_folded_under_their_cause(
    effect: str, cause: str, about: dict[str, str]
) -> None:
    """By the node, the session or the lock that both are about."""
    assert causes(one(cause, who="old"), one(effect, **{"who": "old", **about})) == {
        cause: None,
        effect: cause,
    }


@pytest.mark.parametrize(
    ("effect", "cause", "about"),
    [
        ("P6", "B1", {"lock": "/y"}),
        ("P6", "L5", {}),
        ("L2", "D7", {"node": "other"}),
        ("B1", "B2", {}),
    ],
)
def test_unrelated_findings_stay_apart(effect: str, cause: str, about: dict[str, str]) -> None:
    """Another lock, another node, or no known relation."""
    assert causes(one(cause), one(effect, **about))[effect] is None


def test_a_hint_is_not_a_cause() -> None:
    """It is a note that a deadlock is possible; a long hold is a warning."""
    hint = one("D7", confidence="C1", severity="info")

    assert causes(hint, one("P6"))["P6"] is None
    assert causes(one("D7"), one("P6"))["P6"] == "D7"


def test_effects_of_effects_are_folded_under_the_first_cause() -> None:
    """The old session explains that it is gone, which explains the long hold."""
    found_rules = causes(
        one("B4", node="new", who="old"), one("P1", node="m", who="old"), one("P6", who="old")
    )

    assert found_rules == {"B4": None, "P1": "B4", "P6": "B4"}


def test_a_delay_is_folded_under_what_its_holder_waits_for_far_away() -> None:
    """Alice holds /a and waits in /b for bob, who waits in /c."""
    ahead = waits_ahead({"/a": ["alice"], "/b": ["bob", "alice"], "/c": ["", "bob"]})
    far = one("P6", lock="/a", who="alice")

    assert causes(far, one("B1", lock="/c"), ahead=ahead)["P6"] == "B1"
    assert causes(far, one("B1", lock="/d"), ahead=ahead)["P6"] is None
    assert causes(far, one("B1", lock="/d"), one("L5", lock="/c"), ahead=ahead)["P6"] is None


def waits_ahead(queues: dict[str, list[str]]) -> WaitsAhead:
    """Locks with these clients in their queues, the holder first."""
    locks: dict[Text, Lock] = {}
    locks_of: dict[int, list[Text]] = {}
    for path, owners in queues.items():
        members = [member(owner, number, number + 1) for number, owner in enumerate(owners)]
        locks[Text(path)] = lock_of(path, members)
        for owner in filter(None, owners):
            locks_of.setdefault(session(owner), []).append(Text(path))
    return WaitsAhead(locks, locks_of)


def waits(lock: Lock) -> list[Text]:
    """The locks that alice waits in, of one in which she has a node."""
    ahead = WaitsAhead({lock.path: lock}, {session("alice"): [lock.path]})
    return [*ahead.waits_in(session("alice"))]


def test_candidates_of_an_election_wait_for_nobody() -> None:
    """Unless they block: so no delay of theirs follows from a silent leader."""
    members = [curator("leader", 0, mode="latch"), curator("alice", 1, mode="latch")]
    election = ctx(*members).lock
    blocking = msgspec.structs.replace(election, blocking=True)

    assert election.kind == "election"
    assert waits(election) == []
    assert waits(blocking) == [election.path]


def test_each_session_is_asked_once_what_it_waits_for() -> None:
    """A session that holds thousands of locks has thousands of findings."""
    locks_of = Mock(get=Mock(return_value=()))
    ahead = WaitsAhead({}, locks_of)
    folded([one("B1", lock="/c"), *many("P6", 9, who="alice")], ahead)

    locks_of.get.assert_called_once_with(session("alice"), ())


def test_a_ring_of_waits_ends_the_search() -> None:
    """All wait for each other, and nothing explains it."""
    ahead = waits_ahead({"/a": ["x", "y"], "/b": ["y", "x"]})

    assert causes(one("P6", lock="/a", who="x"), ahead=ahead) == {"P6": None}


def test_a_deadlock_explains_delays_in_all_its_locks() -> None:
    """Its finding names them all."""
    ring = one("D1", lock="/x", locks=(Text("/x"), Text("/y")))

    assert causes(ring, one("P6", lock="/y")) == {"D1": None, "P6": "D1"}


def test_the_gravest_come_first() -> None:
    """Red before yellow, then by rule, then the oldest."""
    rules = ["R1", "S3", "L1", "L2", "B1", "S1", "D1"]
    done = folded(one(rule, node=rule) for rule in rules)
    calm = folded([one("D1", severity="info"), one("R1", severity="warning")])

    assert [finding.rule for finding in done] == ["D1", "S1", "B1", "L2", "L1", "S3", "R1"]
    assert [finding.rule for finding in calm] == ["R1", "D1"]


def test_the_older_of_two_comes_first() -> None:
    """The longest trouble of a kind is the first to read."""
    done = folded([one("B1", node="young", since=NOW), one("B1", node="old", since=NOW - SECOND)])

    assert [finding.nodes for finding in done] == [("old",), ("young",)]


def test_the_tables_of_causes_name_rules_that_exist() -> None:
    """A misspelt id would silently fold nothing."""
    named = {rule for ways in CAUSES.values() for rules, _ in ways for rule in rules}

    assert named | CAUSES.keys() | ROOTS | DELAYS <= RANK.keys()


def test_one_session_with_twenty_places_is_no_finding() -> None:
    """Twenty threads that share a client, and nothing else (T26)."""
    members = [k(f"thread-{number}", number, by="pool") for number in range(20)]
    tables = (connected("pool"),)
    past = history(holds=usual(10, 20), stays=held(members[0], SECOND))
    case = ctx(*members, tables=tables, past=past)

    assert not [rule for rule in ("B2", "B3", "B4", "D7", "P6") if found(rule, case)]


def many(
    rule: str, number: int = MANY + 1, parent: str = "/jobs", **more: object
) -> list[Finding]:
    """Findings of this rule in so many locks below one parent."""
    return [one(rule, lock=f"{parent}/{place:04d}", **more) for place in range(number)]


def listed(findings: list[Finding], before: Listing | None = None) -> Listing:
    """The listing of these findings, after another one."""
    *_, made = listings(findings, WaitsAhead({}, {}), before or Listing())
    assert made
    return made


def test_many_findings_alike_are_shown_as_one() -> None:
    """It names their number, the first locks, and how to list all; a mark finds each lock."""
    (shown,) = folded(many("L1", sentence=Text("It sleeps."), advice=Text("Wake it.")))

    assert shown.sentence == (
        f"It sleeps. The same goes for {MANY} more in {MANY + 1} locks of /jobs: "
        f"/jobs/0000, /jobs/0001, /jobs/0002 and {MANY - 2} more."
    )
    assert shown.advice.endswith(f"filter the list of locks by {PATTERN.name}.")
    assert (shown.rule, shown.lock, shown.nodes, len(shown.locks)) == ("L1", None, (), MANY + 1)


def test_many_findings_alike_keep_the_nodes_of_each_lock() -> None:
    """Nodes of several locks may have one name."""
    alike = [*many("L1", node="n1"), one("L1", lock="/jobs/other", node="n2")]
    (shown,) = folded(alike)

    assert [*shown.nodes_in("/jobs/0007")] == ["n1"]
    assert [*shown.nodes_in("/jobs/other")] == ["n2"]
    assert not [*shown.nodes_in("/jobs")]


@pytest.mark.parametrize("path", ["/jobs/more", "/jobs/0000"])
def test_a_note_among_many_alarms_alike_marks_no_node(path: str) -> None:
    """Neither in a group of several locks nor in one of a single lock."""
    paths = [f"/jobs/{place:04d}" for place in range(MANY + 1)]
    alarms = [
        one("B1", lock="/jobs/0000" if path == "/jobs/0000" else lock, node=f"n{place}")
        for place, lock in enumerate(paths)
    ]
    (shown,) = folded([*alarms, one("B1", lock=path, node="note", severity="info")])

    assert "note" not in shown.nodes_in(path)
    assert "n0" in shown.nodes_in("/jobs/0000")


def test_findings_alike_that_fit_on_two_screens_stay_apart() -> None:
    """Each of them can be read."""
    assert len(folded(many("L1", MANY))) == MANY


def test_many_findings_about_one_session_name_it() -> None:
    """One client is the cause, so its process is what to look at."""
    (shown,) = folded(many("L1", who="alice"))

    assert shown.sessions == (session("alice"),)
    assert "all of one session" in shown.sentence


def test_many_findings_in_one_lock_keep_their_lock_and_nodes() -> None:
    """All waiters of a lock may have the same bug."""
    (shown,) = folded(one("L1", node=f"n{place}") for place in range(MANY + 1))

    assert (shown.lock, len(shown.nodes)) == ("/x", MANY + 1)
    assert f"{MANY} more in this lock." in shown.sentence


def test_findings_below_other_parents_are_no_part_of_a_group() -> None:
    """Another service has another cause; names that differ by a number are one service."""
    shards = [many("L1", MANY // 2 + 1, parent=f"/shard-{number}/locks") for number in (1, 2)]

    assert len(folded([*many("L1"), *many("L1", 2, parent="/other")])) == 3
    assert len(folded([*shards[0], *shards[1]])) == 1


def test_independent_deadlocks_are_no_group() -> None:
    """Each has its own way out."""
    assert len(folded(many("D1"))) == MANY + 1


def test_many_effects_of_one_cause_are_one_effect() -> None:
    """And one more of the same rule, which does not follow from it, stays apart."""
    ring = one("D1", locks=tuple(f.lock for f in many("P6")))
    done = folded([ring, *many("P6"), one("P6", lock="/jobs/other")])

    assert [(f.rule, f.folded, f.cause) for f in done] == [
        ("D1", MANY + 1, None),
        ("P6", 0, None),
        ("P6", 0, ring.id),
    ]


def test_effects_of_findings_in_a_group_follow_from_the_group() -> None:
    """The finding that caused each of them is not on screen."""
    group, *effects = folded([*many("B1"), *many("P8", 3)])

    assert (group.rule, group.folded) == ("B1", 3)
    assert [effect.cause for effect in effects] == [group.id] * 3


def test_a_group_stays_until_it_is_small() -> None:
    """One finding more or less must not raise a hundred alarms."""
    shown = listed(many("L1"))

    assert len(listed(many("L1", STILL_MANY + 1), shown).findings) == 1
    assert len(listed(many("L1", STILL_MANY), shown).findings) == STILL_MANY


def test_nobody_sees_the_findings_for_which_another_one_speaks() -> None:
    """How old they are need not be known; findings that are no group are all seen."""
    *others, last = many("L1", severity="warning", since=NOW)
    oldest = msgspec.structs.replace(last, since=NOW - SECOND)

    assert listed([*others, oldest]).unseen == {one.id for one in others}
    assert not listed(others).unseen


def test_the_worst_of_a_group_speaks_for_it() -> None:
    """A group is as severe as its most severe finding."""
    *others, last = many("L1", severity="warning", who="alice")
    worst = msgspec.structs.replace(
        last, severity="critical", sentence=Text("It is worse."), sessions=(session("zoe"),)
    )
    (shown,) = folded([*others, worst])

    assert (shown.severity, shown.locks[0]) == ("critical", worst.lock)
    assert shown.sessions[0] == worst.sessions[0]
    assert shown.sentence.startswith("It is worse.")


def test_a_long_list_is_made_in_steps() -> None:
    """No look takes longer than a screen may stand still."""
    first, *_ = listings(many("L1", FINDINGS_PER_STEP + 1), WaitsAhead({}, {}))

    assert first is None


class Ages:
    """A list of many long holds, one for each lock."""

    def __init__(self) -> None:
        self.list = FindingList()
        self.subjects: dict[Text | int, SubjectFindings] = {}
        for finding in many("P6"):
            self.say(finding)
        self.advance()

    def say(self, finding: Finding) -> None:
        """Find this about its lock."""
        assert finding.lock
        before = self.subjects.get(finding.lock, SubjectFindings())
        self.subjects[finding.lock] = SubjectFindings({}, (finding,))
        self.list.note(before.shown, (finding,))

    def advance(self) -> bool:
        """Make the next list; return whether it is another one."""
        return self.list.advance(self.subjects, WaitsAhead({}, {}), NOW, thorough=True)


def test_ages_inside_a_group_change_no_list() -> None:
    """So ten thousand long holds that only grow older draw nothing."""
    ages = Ages()
    before = ages.list.findings
    *_, last = many("P6", sentence=Text("It got older."))
    ages.say(last)

    assert not ages.advance()
    assert ages.list.findings is before


def test_the_age_of_the_finding_that_speaks_for_a_group_is_shown() -> None:
    """Its words are on screen."""
    ages = Ages()
    ages.say(many("P6", sentence=Text("It got older."))[0])

    assert ages.advance()
    assert ages.list.findings[0].sentence.startswith("It got older. The same goes for")


def test_a_group_has_the_confidence_and_the_advice_of_the_finding_that_speaks_for_it() -> None:
    """Both may change with what is known, and no line may contradict the evidence."""
    ages = Ages()
    ages.say(many("P6", confidence="C1", advice=Text("Ask."))[0])
    ages.advance()
    (shown,) = ages.list.findings

    assert shown.confidence == "C1"
    assert shown.advice == f"Ask. To list all, filter the list of locks by {shown.name}."


def test_a_thorough_look_lists_what_is_known_now() -> None:
    """A list that is under way has the findings of an earlier look."""
    ages = Ages()
    for number in range(2 * FINDINGS_PER_STEP):
        ages.say(one("P6", lock=f"/more/{number}"))
    assert not ages.list.advance(ages.subjects, WaitsAhead({}, {}), 2 * NOW, thorough=False)
    assert ages.list.is_behind
    ages.say(one("B1", lock="/new"))

    assert ages.advance()
    assert ages.list.findings[0].rule == "B1"
