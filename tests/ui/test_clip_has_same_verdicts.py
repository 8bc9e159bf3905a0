"""A clip: a recording of a time range, made from stored frames."""

import io
import random
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from model.world.test_world import ROOT, TOP, heard
from ui.example_states import STEP, busy_frames, deadlock_frames

from zktop.app.replay import Replay
from zktop.model.facts import Connections, Link, Server
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World, facts_between, facts_of
from zktop.recording import Header, Recording, clip
from zktop.ui.interfaces import Frame

HEADER = Header(tool="zktop 0.1.0", hosts="zk1:2181", roots=[], settings=Settings())
FAMILIES = (ROOT, TOP)


def knowledge(world: World) -> list[object]:
    """The facts below each path, without the times at which nodes were deleted."""
    families = [world.family(path) for path in FAMILIES]
    listings = [(family.stat, family.listed_at, family.at, family.denied) for family in families]
    return [*listings, *(family.members for family in families), dict(world.tables), world.link]


@given(st.integers(0, 100_000), st.lists(st.integers(1, 60), min_size=1, max_size=6, unique=True))
@example(502, [1, 2, 3, 4, 41, 55])  # gone, and there again: what was listed below is history
def test_differences_add_up_to_the_same_world(seed: int, cuts: list[int]) -> None:
    """In whatever order the facts came."""
    facts = heard(random.Random(seed), 60)
    found, rebuilt = World(), World()
    for begin, end in zip([0, *sorted(cuts)], sorted(cuts), strict=False):
        told_before, found = found, found.after(*facts[begin:end])
        rebuilt = rebuilt.after(*facts_between(told_before, found))

        assert knowledge(rebuilt) == knowledge(found)
        assert knowledge(World().after(*facts_of(found))) == knowledge(found)


def test_tables_and_the_connection_are_written_when_they_are_new() -> None:
    """Each table by itself, because they are large."""
    server = Text("zk1:2181")
    first = World().after(
        Connections(server=server, rows=(), zxid=1, at=1), Link(state="connected", zxid=0, at=1)
    )
    figures = Server(server=server, znodes=7, zxid=2, at=2)
    lost = Link(state="lost", zxid=0, at=2)

    assert list(facts_between(first, first.after(figures, lost))) == [figures, lost]
    assert list(facts_between(first, first)) == []


def cut(frames: list[Frame], file: Path) -> list[Report]:
    """Write these frames as a clip, and return the reports of its replay."""
    with file.open("wb") as out:
        clip(((frame.report.world, frame.at) for frame in frames), out, HEADER)
    return list(Replay(file).reports())


def verdicts(report: Report) -> object:
    """The sentences of a report."""
    found = [
        (finding.rule, finding.lock, finding.severity, finding.confidence)
        for finding in report.findings
    ]
    return [
        (deadlock.id, deadlock.sentence, deadlock.confidence) for deadlock in report.deadlocks
    ], sorted(found, key=repr)


def test_a_clip_of_everything_gives_the_same_verdicts(tmp_path: Path) -> None:
    """A deadlock with two clients behind it and an orphan, at every moment."""
    frames = deadlock_frames()

    replayed = cut(frames, tmp_path / "a.zktop")

    assert [one.now for one in replayed] == [frame.at for frame in frames]
    assert [verdicts(one) for one in replayed] == [verdicts(frame.report) for frame in frames]


def test_a_clip_from_the_middle_has_the_verdicts_of_its_end(tmp_path: Path) -> None:
    """Verdicts that need time are reached within the minute before the time range."""
    frames = deadlock_frames()[4:]

    replayed = cut(frames, tmp_path / "a.zktop")

    assert verdicts(replayed[-1]) == verdicts(frames[-1].report)
    assert replayed[0].deadlocks


def test_events_of_a_clip_are_those_that_happened(tmp_path: Path) -> None:
    """Each handover of a lock happens again."""
    frames = busy_frames()[3:]

    replayed = cut(frames, tmp_path / "a.zktop")
    found = [
        [(event.event, event.lock, event.owner) for event in report.events] for report in replayed
    ]

    assert found[1:] == [
        [(event.event, event.lock, event.owner) for event in f.events] for f in frames[1:]
    ]


def test_a_clip_begins_when_it_was_and_not_when_its_facts_were_read(tmp_path: Path) -> None:
    """A lock that does not change was listed long before."""
    frames = busy_frames()[3:]
    cut(frames, tmp_path / "a.zktop")
    ((begin, _),) = Recording(tmp_path / "a.zktop").starts()

    assert frames[0].at - STEP <= begin <= frames[0].at


def test_no_frames_make_an_empty_file() -> None:
    """There is nothing to write."""
    file = io.BytesIO()
    clip([], file, HEADER)

    assert not file.getvalue()
