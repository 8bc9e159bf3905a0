"""Answers that do not come, and batches that a server does not take."""

from kazoo.exceptions import ConnectionLoss
from zk.test_client import Deaf

from zktop.zk import Access, parse_hosts
from zktop.zk.client import ReadOnlyClient, ring_log
from zktop.zk.clock import Clock
from zktop.zk.ordered import Stream
from zktop.zk.reader import LARGEST_REQUEST, WINDOW, Answer, Reader
from zktop.zk.requests import GET_DATA, Exists


def _reader() -> Reader:
    """A reader on a connection that answers nothing by itself."""
    log, _ = ring_log()
    access = Access(parse_hosts("127.0.0.1:1"))
    client = ReadOnlyClient(access, Deaf(), log)
    reader = Reader(client, access.hosts, Stream(lambda: None, log), Clock())
    reader.next_turn(connected=True)
    return reader


def test_a_lost_answer_is_still_waited_for() -> None:
    """The client fails what is under way before it says that the connection is lost."""
    reader = _reader()
    reader.ask(Exists("/"), lambda _answer: None)
    reader.arrived(Answer(None, ConnectionLoss(), 0, 0), lambda _answer: None, reader.turn)

    assert not reader.idle


def test_batches_become_smaller_when_a_large_one_cost_the_connection() -> None:
    """Only as long as none of that size was ever answered."""
    reader = _reader()
    many = [(GET_DATA, f"/{number:0>100}") for number in range(500)]
    reader.read(many, lambda *_: None)
    reader.next_turn(connected=False)
    reader.next_turn(connected=True)

    smaller = max(map(len, reader._batches(many)))
    reader._largest_taken = LARGEST_REQUEST
    reader.read(many, lambda *_: None)
    reader.next_turn(connected=False)
    assert smaller < len(_reader()._batches(many)[0])
    assert max(map(len, reader._batches(many))) == smaller


def test_what_goes_first_overtakes_what_waits() -> None:
    """Each kind keeps its own order."""
    reader, sent = _reader(), []
    reader.client._call = lambda request, _reply: sent.append(request.path)
    for number in range(WINDOW):
        reader.ask(Exists(f"/{number}"), lambda _answer: None)
    for path, first in (("/a", False), ("/b", True), ("/c", False), ("/d", True)):
        reader.ask(Exists(path), lambda _answer: None, first=first)
    for _ in range(4):
        reader.arrived(Answer(None, None, 0, 0), lambda _answer: None, reader.turn)

    assert sent[WINDOW:] == ["/b", "/d", "/a", "/c"]
    assert not reader.is_full
