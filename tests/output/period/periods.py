"""Periods to write: the shipped incident, and one in which every name is hostile."""

from functools import cache
from pathlib import Path

from model.builders import NOW
from msgspec.structs import replace
from output.metrics.scrapes import INCIDENT
from output.stories import facts, settings

from zktop.app.replay import Replay
from zktop.model.examiner import Examiner
from zktop.model.facts import Node
from zktop.model.world.world import World
from zktop.output.period.period import Origin, Period, PeriodSummary

HOSTILE = "</script><img src=x onerror=document.title='owned'>|*_`[a](javascript:b)&lt;\u2028<!--"
STORY = "X x: A B C ; Y x: B A"


@cache
def incident_period(path: Path = INCIDENT) -> PeriodSummary:
    """The shipped incident, whole."""
    recording, period = Replay(path), Period()
    for report in recording.reports():
        period.look(report)
    summary = period.summary(Origin(recording.hosts, recording.chroot))
    assert summary is not None
    return summary


@cache
def hostile_period() -> PeriodSummary:
    """Ten seconds of a deadlock whose clients and host have a hostile name."""
    told = [
        replace(fact, data=HOSTILE.encode() + fact.data[:1]) if isinstance(fact, Node) else fact
        for fact in facts(STORY)
    ]
    examiner, period, world = Examiner(settings(STORY)), Period(), World().after(*told)
    for at in (0, 5_000, 10_000):
        period.look(examiner.look(world, NOW + at))
    summary = period.summary(Origin(HOSTILE, f"/{HOSTILE}", [HOSTILE]))
    assert summary is not None
    return summary
