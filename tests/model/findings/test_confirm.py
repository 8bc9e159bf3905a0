"""A finding becomes an alarm only after a second look, at newer facts."""

from collections.abc import Iterable

import msgspec
import pytest
from model.findings.cases import SECOND, connected, ctx, k, only, watching
from model.make_facts import NOW

from zktop.model.findings.apply import examine_lock
from zktop.model.findings.confirm import SubjectFindings
from zktop.model.findings.finding import Finding
from zktop.model.findings.schedule import RestReasons, next_examination

SETTLE = 2 * SECOND
ORPHAN = only("B1", ctx(k("import", 7, by="", age_ms=120 * SECOND), k("bob", 8)))
NO_WATCH = only("L1", ctx(k("a", 0), k("b", 1), tables=[watching({"b": []})]))
GHOST = msgspec.structs.replace(ORPHAN, id="B2-1", rule="B2", at_once=True)


def seen(finding: Finding, *as_of: int) -> list[tuple[Finding, ...]]:
    """What is shown at each look. There is one a second; each sees facts of one of these times."""
    looks, shown = SubjectFindings(), []
    for number, moment in enumerate(as_of):
        again = msgspec.structs.replace(finding, as_of=NOW + moment)
        looks = looks.after([again], NOW + number * SECOND, SETTLE)
        shown.append(looks.shown)
    return shown


def severities(looks: Iterable[tuple[Finding, ...]]) -> list[str | None]:
    """The severity at each look, or None where nothing was shown."""
    return [shown[0].severity if shown else None for shown in looks]


def test_nothing_is_red_before_a_second_look() -> None:
    """It is shown at once, as a warning that says what it still assumes."""
    looks = seen(ORPHAN, 0, 1_999, 2_000)

    assert severities(looks) == ["warning", "warning", "critical"]
    assert looks[0][0].evidence[-1].text == "it is still there at a second look"


def test_a_finding_proven_by_its_structure_is_red_at_once() -> None:
    """Two nodes with one guid are no race."""
    assert severities(seen(GHOST, 0)) == ["critical"]


def test_ten_looks_at_one_table_are_one_look() -> None:
    """The table must have been read again, at least the settle time later."""
    assert severities(seen(NO_WATCH, *[0] * 10)) == [None] * 10
    assert severities(seen(NO_WATCH, 0, 10_000)) == [None, "critical"]


def test_a_finding_in_the_same_words_is_the_same_object() -> None:
    """So nothing is sorted, stored or drawn again because of a later look."""
    first, second, third = seen(ORPHAN, 2_000, 4_000, 6_000)

    assert third[0] is second[0]
    assert second[0] is not first[0]  # confirmed


def test_a_finding_that_was_absent_at_one_look_starts_again() -> None:
    """A watch that was seen in between proves that the client does set one."""
    looks = SubjectFindings().after([NO_WATCH], NOW, SETTLE)
    looks = looks.after([], NOW + SECOND, SETTLE)
    later = msgspec.structs.replace(NO_WATCH, as_of=NOW + 10 * SECOND)
    looks = looks.after([later], NOW + 10 * SECOND, SETTLE)

    assert not looks.shown


def test_since_is_when_it_was_first_seen_unless_the_facts_have_a_time() -> None:
    """The znode of an orphan has the time of its creation."""
    (_, _, (ghost,)) = seen(msgspec.structs.replace(GHOST, since=None), 0, 1_000, 2_000)
    (_, (orphan,)) = seen(ORPHAN, 0, 2_000)

    assert (ghost.since, orphan.since) == (NOW, NOW - 120 * SECOND)


def test_one_problem_that_two_locks_show_is_one_finding() -> None:
    """A wrong clock is not reported again for each lock."""
    cases = [
        ctx(k("a", 0, age_ms=10_000), k("b", 1, age_ms=15_000), path=f"/locks/{name}")
        for name in ("one", "two")
    ]
    both = [only("P11", case) for case in cases]
    shown = SubjectFindings().after(both, NOW, SETTLE).shown

    assert [finding.sentence for finding in shown] == [both[0].sentence]


def test_ids_are_equal_in_a_replay_and_different_for_another_subject() -> None:
    """They are made from what the finding is about, and from nothing else."""
    again = only("B1", ctx(k("import", 7, by="", age_ms=900 * SECOND), k("bob", 8)))
    other = only("B1", ctx(k("import", 9, by="", age_ms=900 * SECOND), k("bob", 10)))

    assert again.id == ORPHAN.id
    assert other.id != ORPHAN.id
    assert ORPHAN.id.startswith("B1-")


@pytest.mark.parametrize("as_of", [(0, 3_000), (3_000, 0)])
def test_an_older_table_does_not_take_anything_back(as_of: tuple[int, int]) -> None:
    """Tables of several servers come in any order."""
    assert len(seen(ORPHAN, *as_of)[-1]) == 1


def test_a_lock_in_trouble_is_examined_again_within_the_settle_time() -> None:
    """Otherwise nothing would become red while nothing changes."""
    results = examine_lock(
        ctx(k("import", 7, by="", age_ms=120 * SECOND), k("bob", 8), tables=[connected("bob")])
    )
    found = SubjectFindings().after(results.findings, NOW, SETTLE)

    due = next_examination(results.due_ms, found, NOW, SETTLE, RestReasons())
    assert NOW < (due or 0) <= NOW + SETTLE
