"""Scrape a run of zktop at chosen moments: the text that Prometheus would read, as series."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import generate_latest

from zktop.app.replay import Replay
from zktop.config.parse_values import duration
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Cost
from zktop.model.settings import Settings
from zktop.model.world.world import World
from zktop.output.metrics.collector import ReportCollector

Scrape = dict[str, float]  # `name{label="value"}` -> value
INCIDENT = Path(__file__).parents[3] / "docs/incident.zktop"
COST = Cost(watches=1, requests=30, bytes_in=4_000)


def scrapes(
    *moments: tuple[int, Iterable[AnyFact]], judged_by: Settings | None = None, top: int = 10
) -> Iterator[Scrape]:
    """A scrape after a look at each of these moments, with what was read until then."""
    examiner, world = Examiner(judged_by or Settings()), World()
    collector = ReportCollector("0.1.0", top)
    for at, facts in moments:
        world = world.after(*facts)
        collector.look(examiner.look(world, at, cost=COST))
        yield series(generate_latest(collector.registry).decode())


def last(*moments: tuple[int, Iterable[AnyFact]], judged_by: Settings | None = None) -> Scrape:
    """The scrape after the last moment."""
    return list(scrapes(*moments, judged_by=judged_by))[-1]


def series(text: str) -> Scrape:
    """The samples of an exposition."""
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def of_recording(at: str) -> Scrape:
    """The scrape of docs/incident.zktop at this time, like `+30s`."""
    recording = Replay(INCIDENT)
    collector = ReportCollector("0.1.0")
    recording.last(recording.begin + duration(at[1:]), collector.look)
    return series(generate_latest(collector.registry).decode())
