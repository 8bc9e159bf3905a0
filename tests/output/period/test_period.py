"""What a period counts: what was there when it began, what ended, and how much was seen."""

import pytest
from model.make_facts import NOW
from msgspec.structs import replace
from output.stories import facts, settings

from zktop.model.accounting.accounts import NO_HOLDER
from zktop.model.deadlock_log import MAX_ENDED
from zktop.model.examiner import Examiner
from zktop.model.facts import Gone, Link, Node
from zktop.model.format import iso
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.output.period import timeline
from zktop.output.period.period import Origin, Period
from zktop.output.period.period_schema import PeriodJson
from zktop.output.period.words import document, summary

HOUR_MS = 3_600_000
RING = "X x: A B ; Y x: B A"


def summed_up(period: Period, until: int | None = None) -> PeriodJson:
    """The summary of a period."""
    summary = period.summary(Origin(None), until)
    assert summary is not None
    return summary.period


def test_a_deadlock_from_before_the_period_is_counted() -> None:
    """Also if no report falls into the period, because nothing changed."""
    period, examiner = Period(NOW + HOUR_MS), Examiner(settings(RING))
    period.look(examiner.look(World().after(*facts(RING)), NOW))
    found = summed_up(period, NOW + 2 * HOUR_MS)

    (case,) = found.deadlocks
    assert case.first_seen == found.since
    assert case.ended is None


def test_a_finding_that_is_gone_when_the_period_begins_is_over() -> None:
    """The first report is of that very moment."""
    period = Period(NOW + 1_000)
    ring = Examiner(settings(RING)).look(World().after(*facts(RING)), NOW)
    note = replace(ring.findings[0], id="note")
    for now, findings in ((NOW, (note,)), (NOW + 1_000, ())):
        period.look(replace(ring, findings=findings, now=now))

    assert [one.is_over for one in summed_up(period).findings] == [True]


def test_a_finding_lasts_until_the_first_look_without_it() -> None:
    """Looks of an import are rare while nothing changes; without a connection none is known."""
    ring = Examiner(settings(RING)).look(World().after(*facts(RING)), NOW)
    note = replace(ring.findings[0], id="note")
    found = []
    for link in ("connected", "suspended"):
        period = Period()
        cut = replace(ring, ensemble=replace(ring.ensemble, link=link))
        for second, report, findings in ((0, ring, (note,)), (10, cut, (note,)), (25, ring, ())):
            period.look(replace(report, findings=findings, now=NOW + 1_000 * second))
        found += [one.last_seen for one in summed_up(period).findings]

    assert found == [iso(NOW + 25_000), iso(NOW + 10_000)]


@pytest.mark.parametrize(
    ("sentences", "last"),
    [
        (("1 waits", "2 waits", ""), "2 waits"),
        (("down", "down", "starting", ""), "down"),
        (("down", "up", "up", "up", ""), "up"),
        (("down", "down", "up"), "up"),
    ],
    ids=["only its numbers changed", "a short end", "a long end", "not over"],
)
def test_a_finding_that_is_over_has_the_sentence_that_lasted(
    sentences: tuple[str, ...], last: str
) -> None:
    """While it went away, it said something else for a moment; each look is 4 s long."""
    period = Period()
    ring = Examiner(settings(RING)).look(World().after(*facts(RING)), NOW)
    for number, sentence in enumerate(sentences):
        note = replace(ring.findings[0], id="note", sentence=sentence)
        now, found = NOW + 4_000 * number, (note,) if sentence else ()
        period.look(replace(ring, findings=found, now=now))

    assert [one.finding.sentence for one in summed_up(period).findings] == [last]


def test_a_finding_that_comes_back_came_twice() -> None:
    """While it lasts it is counted once."""
    period = Period()
    ring = Examiner(settings(RING)).look(World().after(*facts(RING)), NOW)
    note = replace(ring.findings[0], id="note")
    for number, findings in enumerate(((note,), (note,), (), (note,))):
        period.look(replace(ring, findings=findings, now=NOW + 1_000 * number))

    assert [one.times for one in summed_up(period).findings] == [2]


def test_a_finding_from_before_the_period_has_its_own_beginning() -> None:
    """Like a deadlock; the period begins an hour later."""
    period = Period(NOW + HOUR_MS)
    ring = Examiner(settings(RING)).look(World().after(*facts(RING)), NOW)
    note = replace(ring.findings[0], id="note", since=NOW)
    period.look(replace(ring, findings=(note,), now=NOW + HOUR_MS))
    summary = period.summary(Origin(None))
    assert summary is not None

    assert document(summary.period).findings[0].begin == iso(NOW)


def test_all_deadlocks_that_end_at_once_are_over() -> None:
    """More than a report names; it is not known how the others ended."""
    number = MAX_ENDED + 10
    story = " ; ".join(f"A{n} x: c{n} d{n} ; B{n} x: d{n} c{n}" for n in range(number))
    period, examiner, world = Period(), Examiner(settings(story)), World().after(*facts(story))
    period.look(examiner.look(world, NOW))
    contenders = [fact.path for fact in facts(story) if isinstance(fact, Node)]
    world = world.after(*(Gone(zxid=1_000, at=NOW, path=path) for path in contenders))
    period.look(examiner.look(world, NOW + 1_000))
    found = summed_up(period)

    assert len(found.deadlocks) == number
    assert all(one.ended for one in found.deadlocks)
    assert not any("To resolve it" in one.way_out for one in document(found).deadlocks)


def test_a_short_gap_in_a_long_period_is_never_rounded_away() -> None:
    """One second in eight hours: not all was seen."""
    period, examiner, world = Period(), Examiner(settings(RING)), World().after(*facts(RING))
    for at, state in ((0, "connected"), (1_000, "lost"), (2_000, "connected"), (8 * HOUR_MS, "")):
        link = [Link(zxid=900, at=NOW + at, state=state)] if state else []
        world = world.after(*link)
        period.look(examiner.look(world, NOW + at))
    found = summed_up(period)

    assert found.accounting.blocked_is == "at-least"
    assert 0.9998 < found.seen.share < 1


def test_a_period_of_which_nothing_was_seen_has_no_summary() -> None:
    """It would say that there was no deadlock."""
    period, examiner, world = Period(NOW + 5_000), Examiner(settings(RING)), World()
    for at, state in ((0, "connected"), (1_000, "lost")):
        link = Link(zxid=900, at=NOW + at, state=state)
        world = world.after(*facts(RING), link)
        period.look(examiner.look(world, NOW + at))

    assert period.summary(Origin(None), NOW + 60_000) is None


def test_the_summary_says_that_no_client_held_the_lock() -> None:
    """A foreign child is in the way."""
    story = "X x: A B"
    period, examiner, world = Period(), Examiner(settings(story)), World().after(*facts(story))
    period.look(examiner.look(world, NOW))
    period.look(examiner.look(world, NOW + 5_000))
    found = summed_up(period)
    (ann, *rest) = found.accounting.clients
    accounting = replace(found.accounting, clients=[replace(ann, actor=NO_HOLDER), *rest])

    assert summary(replace(found, accounting=accounting)) == (
        "0 deadlocks, 0 other findings. Clients waited 5.0s in all; 5.0s of it for locks that no "
        "client held."
    )


def test_more_contended_locks_than_states_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lock keeps its first state; time is not stretched for ever."""
    monkeypatch.setattr(timeline, "MAX_STATES", 1)
    period, examiner = Period(), Examiner(settings(RING))
    period.look(examiner.look(World().after(*facts(RING)), NOW))

    summary = period.summary(Origin(None))
    assert summary is not None
    assert [lock.path for lock in summary.timeline.locks] == [Text("/locks/x"), Text("/locks/y")]
