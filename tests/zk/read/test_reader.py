"""Answers that do not come, and batches that a server does not take."""

from collections.abc import Callable

import pytest
from kazoo.exceptions import ConnectionLoss
from zk.connect.test_client import Deaf

from zktop.zk import Access, parse_hosts
from zktop.zk.connect.client import ReadOnlyClient, ring_log
from zktop.zk.event_loop import EventLoop
from zktop.zk.read.batch import SiblingNames
from zktop.zk.read.reader import LARGEST_REQUEST, WINDOW, Answer, Reader, ZxidClock
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.read.requests import GET_DATA, NO_NODE, Exists


def _reader() -> Reader:
    """A reader on a connection that answers nothing by itself."""
    log, _ = ring_log()
    access = Access(parse_hosts("127.0.0.1:1"))
    client = ReadOnlyClient(access, Deaf(), log)
    pace = RequestBudget(1_000_000)
    reader = Reader(client, access.hosts, EventLoop(lambda: None, log), ZxidClock(), pace)
    reader.next_turn(connected=True)
    return reader


def test_a_lost_answer_is_still_waited_for() -> None:
    """The client fails what is under way before it says that the connection is lost."""
    reader = _reader()
    reader.ask(Exists("/"), lambda _answer: None)
    reader.arrived(Answer(None, ConnectionLoss(), 0, 0), lambda _answer: None, reader.turn)

    assert not reader.idle


NAMES = [f"{number:0>100}" for number in range(500)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda reader: reader.read([(GET_DATA, f"/{name}") for name in NAMES], lambda *_: None),
        lambda reader: reader.read_kin([SiblingNames("/", NAMES)], lambda *_: None),
    ],
    ids=["items", "kin"],
)
def test_batches_become_smaller_when_a_large_one_cost_the_connection(
    ask: Callable[[Reader], None],
) -> None:
    """Only as long as none of that size was ever answered."""
    reader, sizes = _reader(), []
    for taken in (0, LARGEST_REQUEST, LARGEST_REQUEST):
        ask(reader)
        sizes.append(max(reader._unanswered))
        reader._largest_taken = taken
        reader.next_turn(connected=False)
        reader.next_turn(connected=True)
    whole, smaller, still = sizes

    assert smaller < whole
    assert still == smaller


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


def test_what_is_not_there_is_an_error_of_every_question() -> None:
    """To kazoo it is none when only existence was asked for."""
    reader, told = _reader(), []
    reader.client._call = lambda _request, reply: reply.set(None)
    reader.stream.post = lambda job, *arguments: job(*arguments)
    reader.ask(Exists("/"), told.append)

    assert [answer.code for answer in told] == [NO_NODE]
