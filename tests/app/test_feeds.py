"""The feeds of the UI: the threads of a live one; a recording's frames, its end, how it stops."""

import queue
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from msgspec.structs import replace
from output.stories import recorded
from servers import sandbox_server
from ui.example_past import BEGIN, moments
from ui.fake_feed import frames

from zktop.app import feeds
from zktop.app.feeds import LiveFeed, ReplayFeed
from zktop.app.live_run import LiveRun
from zktop.app.record_file import FailsafeFile
from zktop.app.replay import Replay
from zktop.model.examiner import Examiner
from zktop.model.facts import Link
from zktop.model.format import clock
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.tls import Tls
from zktop.ui.interfaces import FeedState, Frame, News, Status
from zktop.zk import Access, Plan, parse_hosts
from zktop.zk.connect.address import Address
from zktop.zk.connect.preflight import Probe
from zktop.zk.connect.refusal import Refusal

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

    found = [(one.now, [d.id for d in one.deadlocks]) for one in Replay(file).reports()]
    assert [(f.at, [d.id for d in f.report.deadlocks]) for f in frames] == found
    assert any(ids for _, ids in found)


def test_a_truncated_file_is_reported(tmp_path: Path) -> None:
    """The frames up to its last whole line are shown."""
    file = recorded(tmp_path / "a.zktop", *moments())
    file.write_bytes(file.read_bytes()[:-150])

    news = read(file)

    last = news[-1]
    assert isinstance(last, Status)
    assert last.says == (
        "This file is truncated, damaged or from a newer zktop: "
        "it was read up to its last valid line."
    )
    assert any(isinstance(one, Frame) and one.at == BEGIN for one in news)


def test_an_error_in_the_reading_is_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the screen would always say that the recording is read."""
    file = recorded(tmp_path / "a.zktop", (BEGIN, []))
    monkeypatch.setattr(Replay, "reports", lambda _self: {}["a"])

    assert read(file)[-1] == Status("replay", "Reading has failed: KeyError('a').", is_end=True)


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


def until_state(news: "queue.SimpleQueue[News]", state: FeedState) -> Status:
    """Wait until a feed says that it is in this state; return how it says it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        one = news.get(timeout=PATIENCE_S)
        if isinstance(one, Status) and one.word == state:
            return one
    raise AssertionError(f"not {state} within {PATIENCE_S:g} s")


def test_the_first_locks_are_shown_while_the_search_goes_on() -> None:
    """A slow search says how far it is, next to the locks that it has found."""
    with sandbox_server() as server:
        client = KazooClient(server.address)
        client.start()
        client.create("/locks/a/x__lock__0000000000", ephemeral=True, makepath=True)
        client.create("/table")
        for row in [client.create_async(f"/table/row-{number}") for number in range(6_000)]:
            row.get(PATIENCE_S)
        news: queue.SimpleQueue[News] = queue.SimpleQueue()
        plan = Plan(introspect=False, requests_per_second=20)
        feed = LiveFeed("sandbox", Access(parse_hosts(server.address)), plan, Settings())
        feed.start(news.put)
        searching, shown = until_state(news, "live"), news.get(timeout=PATIENCE_S)
        feed.stop()
        client.stop()
        client.close()

    assert isinstance(shown, Frame)
    assert list(shown.report.paths) == ["/locks/a"]
    assert re.fullmatch(
        r"Connected\. [\d,]+ of about 6,\d{3} znodes searched\.", searching.says
    ), searching.says


class SlowReading:
    """As much of a run as the first reading needs: each look takes a second by its clock."""

    def __init__(self, empty_looks: int) -> None:
        self.now, self.looks, self._empty = 0.0, list[float](), empty_looks

    def reading(self) -> Iterator[str]:
        """Read for ten seconds."""
        while self.now < 10:
            yield "reading"
            self.now += 0.1

    def look(self, *, thorough: bool) -> Report:
        """Find a lock from some look on."""
        assert not thorough
        self.looks.append(self.now)
        self.now += 1.0
        first = frames(*moments())[0].report
        return first if len(self.looks) > self._empty else replace(first, paths=())


@pytest.mark.parametrize(("empty", "looks"), [(0, 1), (2, 3)])
def test_looks_without_locks_do_not_delay_the_first_locks(
    monkeypatch: pytest.MonkeyPatch, empty: int, looks: int
) -> None:
    """A list of 100,000 names takes a second to examine, before any lock is known."""
    run, news = SlowReading(empty), list[News]()
    monkeypatch.setattr(feeds, "monotonic", lambda: run.now)
    feed = LiveFeed("x", Access(parse_hosts("x:1")), Plan(), Settings())
    feed._send = news.append

    assert feed._read_once(run)  # type: ignore[arg-type]  # all that it needs
    assert len(run.looks) == looks
    assert sum(isinstance(one, Frame) for one in news) == 1


@pytest.mark.parametrize("is_down", [False, True], ids=["up", "down"])
def test_watching_takes_two_threads_beside_the_one_of_the_ui(*, is_down: bool) -> None:
    """The feed's and kazoo's; they end at once, even if the server is down."""
    before = {*threading.enumerate()}
    with sandbox_server() as server:
        news: queue.SimpleQueue[News] = queue.SimpleQueue()
        access = Access(parse_hosts(server.address))
        feed = LiveFeed("sandbox", access, Plan(introspect=False), Settings())
        feed.start(news.put)
        until_state(news, "live")
        running = {*threading.enumerate()} - before
        if is_down:
            server.process.kill()
            until_state(news, "lost")
        begin = time.monotonic()
        feed.stop()

    assert {thread.name for thread in running} == {"feed", "zktop-connection"}
    assert time.monotonic() - begin < 2
    assert not {*threading.enumerate()} - before


@pytest.fixture
def lost_run(monkeypatch: pytest.MonkeyPatch) -> LiveRun:
    """A run that lost its connection twenty seconds ago."""
    run = LiveRun(Access(parse_hosts("zk1:1")), Plan(), Settings())
    monkeypatch.setattr(run, "lost_s", lambda: 20.0)
    return run


def test_hosts_that_are_down_explain_a_loss_only_if_none_is_up(lost_run: LiveRun) -> None:
    """Else the reason is the client's own."""

    def lost(why: str, *probes: Probe) -> str:
        feed = LiveFeed("zk1", lost_run.access, Plan(), Settings())
        feed._refusal.probes = probes
        world = World().after(Link(state="lost", why=Text(why), lost_at=BEGIN, zxid=1, at=BEGIN))
        return feed._status_of(Examiner().look(world, BEGIN), lost_run).says

    down = Probe(Address("zk3", 1), "unreachable", "", why="connection refused")
    up = Probe(Address("zk1", 1), "ok", "")

    assert "the client gave up" in lost("the client gave up", up, down)
    assert "connection refused by zk3:1" in lost("the client gave up", down)


def test_a_loss_names_the_last_time_at_which_the_server_was_heard(lost_run: LiveRun) -> None:
    """The loss itself is noticed later: what happened in between is unknown."""
    lost_run._source._connection.silent_from = BEGIN - 9_000
    feed = LiveFeed("zk1", lost_run.access, Plan(), Settings())
    world = World().after(Link(state="suspended", zxid=1, at=BEGIN))
    report = Examiner().look(world, BEGIN)
    says = feed._status_of(report, lost_run).says

    assert says.endswith(f"Everything below is as it was at {clock(BEGIN - 9_000)}.")


def test_tls_files_that_are_being_replaced_are_no_refusal() -> None:
    """They are read again with each report while the connection is lost."""
    access = Access(parse_hosts("zk1:1"), tls=Tls(ca="/nowhere"))

    assert not Refusal(access).lasts(20.0)


def test_after_a_loss_a_missing_tls_file_is_waited_for() -> None:
    """It may be there at the next try; only before the first connection it ends the feed."""
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    access = Access(parse_hosts("zk1:1"), tls=Tls(ca="/nowhere"))
    feed = LiveFeed("zk1", access, Plan(), Settings())
    feed._is_first_run = False
    feed.start(news.put)
    failed = until_state(news, "failed")
    feed.stop()

    assert failed.says == f"TLS: cannot use /nowhere: No such file or directory. {feeds.RETRY}"


def test_a_recording_that_has_failed_has_ended(lost_run: LiveRun) -> None:
    """It was said already; the end of the connection is not the end of it."""
    feed = LiveFeed("zk1", Access(parse_hosts("zk1:1")), Plan(), Settings())
    feed._file = FailsafeFile(Path("/dev/full").open("wb"), lambda *_: None)  # noqa: SIM115  the feed closes it
    feed._file.write(b"line")
    feed._file.flush()
    feed._start_or_end_recording(lost_run)

    assert feed._file is None


def test_the_name_of_a_recording_is_plain_text(tmp_path: Path) -> None:
    """A file may be named by any bytes."""
    feed = ReplayFeed(Replay(recorded(tmp_path / "b\udcff\x1bad.zktop", *moments())))

    assert feed.name == "b\ufffd␛ad.zktop"
