"""A recording as the feed of the UI: its frames, its end, and how it stops."""

import threading
from pathlib import Path

from output.stories import recorded
from ui.example_past import BEGIN, moments

from zktop.app.feeds import ReplayFeed
from zktop.app.replay import Replay
from zktop.ui.ports import Frame, News, Status

PATIENCE_S = 40.0


def read(file: Path) -> list[News]:
    """Read a file to its end with a feed."""
    news: list[News] = []
    is_over = threading.Event()

    def tell(one: News) -> None:
        news.append(one)
        if isinstance(one, Status) and one.is_end:
            is_over.set()

    feed = ReplayFeed(Replay(file))
    feed.start(tell)
    assert is_over.wait(PATIENCE_S)
    feed.stop()
    return news


def test_the_verdicts_are_those_of_the_live_run(tmp_path: Path) -> None:
    """Frame by frame, the same as with `--from`."""
    file = recorded(tmp_path / "a.zktop", *moments())

    frames = [one for one in read(file) if isinstance(one, Frame)]

    told = [(one.now, [d.id for d in one.deadlocks]) for one in Replay(file).reports()]
    assert [(f.at, [d.id for d in f.report.deadlocks]) for f in frames] == told
    assert any(ids for _, ids in told)


def test_a_truncated_file_is_reported(tmp_path: Path) -> None:
    """The frames up to its last whole line are shown."""
    file = recorded(tmp_path / "a.zktop", *moments())
    file.write_bytes(file.read_bytes()[:-150])

    news = read(file)

    last = news[-1]
    assert isinstance(last, Status)
    assert last.says == "The end of this file is missing: it was read up to its last whole line."
    assert any(isinstance(one, Frame) and one.at == BEGIN for one in news)


def test_stop_ends_the_reading(tmp_path: Path) -> None:
    """So that quitting does not wait for the end of the file."""
    file = recorded(tmp_path / "a.zktop", *((BEGIN + n, []) for n in range(5_000)))
    news: list[News] = []
    has_begun, may_go_on = threading.Event(), threading.Event()

    def tell(one: News) -> None:
        news.append(one)
        if isinstance(one, Frame):
            has_begun.set()
            may_go_on.wait(PATIENCE_S)

    feed = ReplayFeed(Replay(file))
    feed.start(tell)
    assert has_begun.wait(PATIENCE_S)
    threading.Timer(0.05, may_go_on.set).start()
    feed.stop()

    assert sum(isinstance(one, Frame) for one in news) < 5_000
