"""A replay examines the same moments with the same settings as the live run."""

from collections.abc import Callable
from pathlib import Path

import pytest
from model.findings.cases import facts as queue
from model.findings.cases import k
from output.stories import LATER, facts, recorded

from zktop.app.replay import Replay
from zktop.errors import UsageError
from zktop.model.facts import AnyFact
from zktop.model.layouts.layout import ClientView, Layout
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.thresholds import Thresholds
from zktop.recording import Header, Recorder, clip

Zktop = Callable[..., tuple[int, str, str]]
ORPHAN = k("A", 0, by="")
MANY: list[AnyFact] = [
    fact for n in range(450) for fact in queue(ORPHAN, k(f"B{n}", 1), path=f"/l{n:03d}")
]


@pytest.mark.parametrize("thorough", [True, False])
def test_a_replay_is_as_thorough_as_the_live_run(tmp_path: Path, *, thorough: bool) -> None:
    """A look that is not thorough leaves some findings to later looks, live and in the replay."""
    file = tmp_path / "a.zktop"
    with file.open("wb") as out:
        recorder = Recorder(out, Header(tool="zktop", hosts="zk1:2181", roots=[]))
        recorder.facts(MANY)
        for at in (LATER + 100_000, LATER + 100_050, LATER + 100_100):
            recorder.look(at, thorough=thorough)
        recorder.close()

    first, *_, last = [len(report.findings) for report in Replay(file).reports()]

    assert (first == last) is thorough


def test_root_blockers_are_ranked_only_on_request(tmp_path: Path) -> None:
    """A command that does not show them gets the same reports without them."""
    file = recorded(tmp_path / "a.zktop", (LATER, queue(k("A", 0), k("B", 1), path="/l")))

    (ranked,) = Replay(file).reports()
    (unranked,) = Replay(file, ranks_blockers=False).reports()

    assert (len(ranked.blockers), unranked.blockers) == (1, ())
    assert (unranked.findings, unranked.events) == (ranked.findings, ranked.events)


def test_a_replay_uses_the_settings_of_the_recording(tmp_path: Path) -> None:
    """Thresholds, layouts and roots are those of the live run."""
    judged_by = Settings(roots=(Root("/locks/x"),), thresholds=Thresholds(settle=1))
    file = recorded(tmp_path / "a.zktop", (LATER, facts("X x: A ; Y x: B")), judged_by=judged_by)

    (report,) = Replay(file).reports()

    assert report.paths == ("/locks/x",)
    assert report.settings == judged_by


@pytest.mark.parametrize(
    "settings",
    [
        Settings(layouts=(Layout(name="mine", pattern="("),)),
        Settings(layouts=(Layout(name="mine", pattern="x", unseen="("),)),
        Settings(layouts=(Layout(name="mine", pattern="x", sights=(ClientView(key="("),)),)),
        Settings(identity="owner", identity_pattern="("),
        Settings(identity="owner", identity_pattern="x{99999999999}"),
        Settings(identity="owner", identity_pattern="(" * 9_999 + ")" * 9_999),
    ],
    ids=["layout", "unseen", "view", "owner", "too many", "too deep"],
)
def test_a_pattern_that_this_python_cannot_read_is_a_sentence(
    tmp_path: Path, settings: Settings
) -> None:
    """A newer one may have recorded the file."""
    file = tmp_path / "a.zktop"
    with file.open("wb") as out:
        recorder = Recorder(out, Header(tool="zktop", hosts="x", roots=[], settings=settings))
        recorder.look(LATER)
        recorder.close()

    with pytest.raises(UsageError, match=r"a\.zktop was recorded with a pattern that this Python"):
        Replay(file)


def test_a_clip_across_a_gap_forgets_what_was_before_it(tmp_path: Path) -> None:
    """A lock that was deleted while the recorder was down has no holder afterwards."""
    whole, part = tmp_path / "whole.zktop", tmp_path / "part.zktop"
    before = recorded(tmp_path / "a.zktop", (LATER, facts("X x: A")))
    after = recorded(tmp_path / "b.zktop", (2 * LATER, facts("Y x: B", at=2 * LATER, zxid=900)))
    whole.write_bytes(before.read_bytes() + after.read_bytes())
    reports = list(Replay(whole).reports())
    with part.open("wb") as out:
        looks = ((report.world, report.now) for report in reports)
        clip(looks, out, Header(tool="zktop", hosts="zk1:2181", roots=[]))

    assert [report.paths for report in reports] == [("/locks/x",), ("/locks/x",), ("/locks/y",)]
    assert list(Replay(part).reports())[-1].paths == ("/locks/y",)
