"""Periods to write: the shipped incident, and one in which every name is hostile."""

from functools import cache
from pathlib import Path

from model.make_facts import NOW
from msgspec.structs import replace
from output.metrics.scrapes import INCIDENT
from output.stories import facts, settings

from zktop.app.replay import Replay
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Node
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.output.period.period import Origin, Period, PeriodSummary

HOSTILE = "</script><img src=x onerror=document.title='owned'>|*_`[a](javascript:b)&lt;\u2028<!--"
HOSTILE_LOCK = "/locks/" + HOSTILE.replace("/", "")
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
    """Ten seconds of a deadlock whose clients, lock and host have a hostile name."""
    found = [_hostile(fact) for fact in facts(STORY)]
    examiner, period, world = Examiner(settings(STORY)), Period(), World().after(*found)
    for at in (0, 5_000, 10_000):
        period.look(examiner.look(world, NOW + at))
    summary = period.summary(Origin(HOSTILE, f"/{HOSTILE}", [HOSTILE]))
    assert summary is not None
    return summary


def _hostile(fact: AnyFact) -> AnyFact:
    """The same fact about a lock and a client with a hostile name."""
    if not isinstance(fact, Node | Children):
        return fact
    made = replace(fact, path=Text(fact.path.replace("/locks/x", HOSTILE_LOCK)))
    if isinstance(made, Node) and made.data:
        return replace(made, data=HOSTILE.encode() + made.data[:1])
    return made
