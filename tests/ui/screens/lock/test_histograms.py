"""The line below a histogram: what goes on now, compared with the past."""

from array import array

import pytest
from model.findings.cases import At, curator, facts
from model.make_facts import NOW
from msgspec.structs import replace
from ui.example_queues import ORDERS, lock_detail, looked
from ui.fake_feed import frames

from zktop.model.facts import AnyFact, Denied
from zktop.model.history.duration_samples import Durations
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.screens.lock.heading import lock_head
from zktop.ui.screens.lock.histograms import histograms, times_usual
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.styled_text import text_of


def usual(ms: int) -> Durations:
    """A hundred holds of the same duration."""
    return Durations(array("I", [ms] * 100), 100)


def ongoing(report: Report) -> str:
    """The line about the ongoing hold and wait of the lock."""
    detail = LockDetail.of(report, ORDERS)
    assert detail is not None
    return text_of(histograms(detail, 60)[-1])


def test_a_lock_that_cannot_be_read_is_not_called_free() -> None:
    """Neither are its waiters known."""
    denied: list[AnyFact] = [Denied(path=Text(ORDERS), what="list", zxid=5, at=NOW)]
    settings = Settings(roots=(Root(Text(ORDERS)),))
    report = frames((NOW, denied), settings=settings)[-1].report

    assert ongoing(report).split() == ["now", "?", "now", "?"]


def test_a_lock_whose_waiters_are_blocked_is_not_called_free() -> None:
    """A child that is not a lock request is first in its queue."""
    children = (At("00-config", "", czxid=50), curator("alice", 1))

    assert ongoing(looked(facts(*children))[-1].report).startswith("now    no holder")


@pytest.mark.parametrize(
    ("ms", "past", "words"),
    [
        (3_000, usual(1_000), "= 3 x p99"),
        (1_500, usual(1_000), "> p99"),
        (1_000, usual(1_000), ""),
        (3_000, usual(0), "= 3 000 x p99"),
        (3_000, Durations(), ""),
    ],
)
def test_a_duration_is_compared_with_the_usual_one(ms: int, past: Durations, words: str) -> None:
    """Holds below a millisecond are usual, too; without holds nothing is."""
    assert times_usual(ms, past) == words


@pytest.mark.parametrize(("ms", "words"), [(40_000, "held ≥1m10s > p99"), (5_000, "= 14 x p99")])
def test_a_hold_that_is_longer_than_usual_is_marked(ms: int, words: str) -> None:
    """It joins the words that fit."""
    detail = lock_detail("X")
    history = replace(detail.view.history, holds=usual(ms))
    longer = replace(detail, view=replace(detail.view, history=history))

    assert words in "\n".join(map(text_of, lock_head(longer, 100)))
