"""Lost answers, and batches that are too large for a server."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest
from kazoo.exceptions import ConnectionLoss, ThrottledOpError
from zk.connect.test_read_only_client import IgnoringListener

from zktop.zk import Access, parse_hosts
from zktop.zk.connect.read_only_client import ReadOnlyClient, RecentLog
from zktop.zk.event_loop import EventLoop
from zktop.zk.read import requests_in_flight
from zktop.zk.read.batch import SiblingNames
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.read.requests import GET_DATA, MULTI_END, NO_NODE, Exists, RemoveWatches
from zktop.zk.read.requests_in_flight import (
    MAX_BATCH_ITEMS,
    MAX_REQUEST_BYTES,
    MAX_UNDER_WAY,
    Answer,
    Reader,
)
from zktop.zk.read.zxid_clock import ZxidClock


def _reader() -> Reader:
    """A reader on a connection that answers nothing by itself."""
    log = RecentLog()
    access = Access(parse_hosts("127.0.0.1:1"))
    client = ReadOnlyClient(access, IgnoringListener(), log)
    pace = RequestBudget(1_000_000)
    loop = EventLoop(lambda: None, nullcontext, log)
    reader = Reader(client, access.hosts, loop, ZxidClock(), pace)
    reader.next_connection(connected=True)
    return reader


def test_a_lost_answer_is_still_waited_for() -> None:
    """A request that fails with the connection stays pending, because kazoo reports it first."""
    reader = _reader()
    reader.ask(Exists("/"), lambda _answer: None)
    reader.arrived(
        Answer(None, ConnectionLoss(), 0, 0), lambda _answer: None, reader.connection_number
    )

    assert not reader.idle


NAMES = [f"{number:0>100}" for number in range(500)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda reader: reader.read([(GET_DATA, f"/{name}") for name in NAMES], lambda *_: None),
        lambda reader: reader.read_siblings(GET_DATA, [SiblingNames("/", NAMES)], lambda *_: None),
    ],
    ids=["items", "siblings"],
)
def test_batches_become_smaller_when_a_large_one_cost_the_connection(
    ask: Callable[[Reader], None],
) -> None:
    """Batches shrink after a lost connection, unless one of that size was answered before."""
    reader, sizes = _reader(), []
    for taken in (0, MAX_REQUEST_BYTES, MAX_REQUEST_BYTES):
        ask(reader)
        sizes.append(max(reader._unanswered))
        reader._largest_accepted = taken
        reader.next_connection(connected=False)
        reader.next_connection(connected=True)
    whole, smaller, still = sizes

    assert smaller < whole
    assert still == smaller


def test_batches_of_wide_folders_make_the_next_ones_small_only_for_a_while() -> None:
    """Small answers show that more items fit again, however few were in the batch."""
    reader = _reader()
    batches: list[int] = []
    for size in (1_000_000, *([10] * 20)):
        most = reader._max_items(10)
        batches.append(most)
        reader._unanswered.append(most)
        answer = Answer((bytes(size * most) + MULTI_END, size * most), None, 0, 0)
        reader._on_batch([], most, lambda *_: None, answer)

    assert min(batches) == 2
    assert batches[-1] == MAX_BATCH_ITEMS


def test_urgent_requests_overtake_waiting_ones() -> None:
    """Urgent requests go first; each kind keeps its order."""
    reader, sent = _reader(), []
    reader.client._call = lambda request, _reply: sent.append(request.path)
    for number in range(MAX_UNDER_WAY):
        reader.ask(Exists(f"/{number}"), lambda _answer: None)
    for path, first in (("/a", False), ("/b", True), ("/c", False), ("/d", True)):
        reader.ask(Exists(path), lambda _answer: None, first=first)
    for _ in range(4):
        reader.arrived(Answer(None, None, 0, 0), lambda _answer: None, reader.connection_number)

    assert sent[MAX_UNDER_WAY:] == ["/b", "/d", "/a", "/c"]
    assert not reader.is_full


def test_a_missing_znode_is_an_error_of_every_request() -> None:
    """A missing znode is an error for every request, although kazoo's `exists` returns None."""
    reader, found = _reader(), []
    reader.client._call = lambda _request, reply: reply.set(None)
    reader.loop.post = lambda job, *arguments: job(*arguments)
    reader.ask(Exists("/"), found.append)

    assert [answer.code for answer in found] == [NO_NODE]


def test_a_read_that_a_busy_server_refuses_is_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the same receiver, and under way until then."""
    monkeypatch.setattr(requests_in_flight, "THROTTLE_PAUSE_S", 0.0)
    reader, sent, answers = _reader(), [], []
    monkeypatch.setattr(reader.client, "_call", lambda _request, reply: sent.append(reply))
    reader.ask(Exists("/"), answers.append)
    sent[0].set_exception(ThrottledOpError())
    reader.loop.run_until(lambda: len(sent) > 1, 5.0)
    was_idle = reader.idle
    sent[1].set(b"a stat")
    reader.loop.run_until(lambda: answers, 5.0)

    assert not was_idle
    assert [answer.value for answer in answers] == [b"a stat"]
    assert reader.idle


def test_the_end_of_a_watch_is_not_sent_again() -> None:
    """Meanwhile there may be another watch of the same path."""
    reader, answers = _reader(), []
    reader.client._call = lambda _request, reply: reply.set_exception(ThrottledOpError())
    reader.ask(RemoveWatches("/"), answers.append)
    reader.loop.run_until(lambda: answers, 5.0)

    assert [answer.code for answer in answers] == [-127]
