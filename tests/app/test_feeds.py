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
    """Have a feed read a file to its end."""
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
    """Frame by frame, what `--from` says too."""
    file = recorded(tmp_path / "a.zktop", *moments())

    frames = [one for one in read(file) if isinstance(one, Frame)]

    told = [(one.now, [d.id for d in one.deadlocks]) for one in Replay(file).reports()]
    assert [(f.at, [d.id for d in f.report.deadlocks]) for f in frames] == told
    assert any(ids for _, ids in told)


def test_a_file_that_was_cut_off_says_so(tmp_path: Path) -> None:
    """After its last whole line, and the screens show what there is."""
    file = recorded(tmp_path / "a.zktop", *moments())
    file.write_bytes(file.read_bytes()[:-150])

    news = read(file)

    last = news[-1]
    assert isinstance(last, Status)
    assert last.says == "The end of this file is missing: it was read up to its last whole line."
    assert any(isinstance(one, Frame) and one.at == BEGIN for one in news)


def test_a_feed_that_is_stopped_reads_no_further(tmp_path: Path) -> None:
    """Whoever quits need not wait for the end of the file."""
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
