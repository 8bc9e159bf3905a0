"""News that wait for the UI: the newest report, all events, and a bounded number of entries."""

import threading

from msgspec.structs import replace
from ui.example_ensemble import trouble

from zktop.ui.inbox import MAX_EVENTS, MAX_NEWS, Inbox
from zktop.ui.interfaces import Complaint, Frame, Status

FRAME = replace(trouble()[0], events=())
EVENT = next(event for frame in trouble() for event in frame.events)
WAIT_S = 30.0


def full(*, waits: bool = False) -> Inbox:
    """An inbox with as many frames as it keeps."""
    inbox = Inbox(lambda: None, waits=waits)
    for _ in range(MAX_NEWS):
        inbox.put(FRAME)
    return inbox


def test_a_full_inbox_keeps_the_newest_report_and_all_events() -> None:
    """The frames in between are left out."""
    inbox, newest = full(), replace(FRAME, events=(EVENT,))
    for _ in range(3):
        inbox.put(newest)
    news = inbox.take()

    assert len(news) == MAX_NEWS
    assert isinstance(news[-1], Frame)
    assert news[-1].report is newest.report
    assert news[-1].events == (EVENT,) * 3


def test_a_full_inbox_keeps_the_newest_events_only() -> None:
    """A terminal may be blocked for a night."""
    inbox = full()
    for _ in range(5):
        inbox.put(replace(FRAME, events=(EVENT,) * (MAX_EVENTS // 2)))
    (*_, last) = inbox.take()

    assert isinstance(last, Frame)
    assert len(last.events) == MAX_EVENTS


def test_news_of_all_kinds_are_bounded() -> None:
    """Even if the connection comes and goes, with a complaint each time."""
    inbox = full()
    for number in range(100):
        for one in (Status("lost"), Complaint(f"no {number}"), Status("live"), FRAME):
            inbox.put(one)
    news = inbox.take()

    assert len(news) <= MAX_NEWS + 2
    assert [one for one in news if not isinstance(one, Frame)] == [
        Complaint("no 99"),
        Status("live"),
    ]


def test_the_end_of_a_recording_is_never_left_out() -> None:
    """A newer complaint takes the place of the one that said so."""
    inbox = full()
    inbox.put(Complaint("disk full", ends_recording=True))
    inbox.put(Complaint("command failed"))
    (*_, last) = inbox.take()

    assert last == Complaint("command failed", ends_recording=True)


def test_an_early_frame_stays_early() -> None:
    """The past begins after it."""
    inbox = full()
    inbox.put(replace(FRAME, is_early=True))
    (*_, last) = inbox.take()

    assert isinstance(last, Frame)
    assert last.is_early


def test_a_replay_waits_until_the_ui_has_time() -> None:
    """No moment of a recording is left out."""
    inbox, is_put = full(waits=True), threading.Event()

    def put() -> None:
        inbox.put(FRAME)
        is_put.set()

    threading.Thread(target=put, daemon=True).start()
    assert not is_put.wait(1.2)
    before = len(inbox.take())
    assert is_put.wait(WAIT_S)

    assert (before, len(inbox.take())) == (MAX_NEWS, 1)


def test_a_complaint_does_not_wait_for_the_frames_of_a_replay() -> None:
    """Any thread may complain."""
    inbox = full(waits=True)
    sender = threading.Thread(target=inbox.put, args=(Complaint("command failed"),), daemon=True)
    sender.start()
    sender.join(WAIT_S)

    assert not sender.is_alive()


def test_a_closed_inbox_keeps_no_replay_waiting() -> None:
    """The UI has ended."""
    inbox = full(waits=True)
    sender = threading.Thread(target=inbox.put, args=(FRAME,), daemon=True)
    sender.start()
    inbox.close()
    sender.join(WAIT_S)

    assert not sender.is_alive()
