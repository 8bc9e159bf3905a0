"""Sends reads and passes the answers on, in the event loop, in wire order.

At most `MAX_UNDER_WAY` requests are under way and the rest wait here: kazoo prefers sending to
receiving, and would send all requests of a large read before it receives the first answer.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from kazoo.exceptions import NoNodeError, UnimplementedError
from msgspec.structs import replace

from zktop.zk.connect.address import Hosts
from zktop.zk.connect.read_only_client import ReadOnlyClient
from zktop.zk.event_loop import EventLoop
from zktop.zk.read import requests
from zktop.zk.read.batch import SiblingNames, batches
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.read.requests import GET_CHILDREN, GET_DATA, NO_AUTH, NO_NODE
from zktop.zk.read.zxid_clock import ZxidClock
from zktop.zk.wall_clock import now_ms

THROTTLED = -127  # error code of an overloaded server (3.6 and later)
THROTTLE_PAUSE_S = 1.0  # until the request is sent again
MAX_UNDER_WAY = 1_000
MAX_BATCH_ITEMS = 500  # items of a MultiRead
MAX_BATCHES = 8  # under way at a time, because undecoded answers wait in memory
MAX_ANSWER_BYTES = 2_000_000  # a server builds the whole answer before it sends any of it
MIN_ITEMS_TO_LEARN = 10  # fewer items never raise the estimate: one large listing is not typical
FIRST_GUESS_ITEM_BYTES = 4_000.0  # until the first answer
MAX_REQUEST_BYTES = 500_000  # a server accepts 1 MB by default
MAX_CHARACTER_BYTES = 4  # in UTF-8
ITEM_HEADER_BYTES = 14
MIN_REQUEST_BYTES = 1_000  # every server accepts this much

Item = tuple[int, str]  # GET_DATA or GET_CHILDREN, and a path
Result = Any  # data with Stat, names, or an error code: see `requests.decode_multi`
Asked = TypeVar("Asked", Item, SiblingNames)


class Answer(msgspec.Struct, frozen=True, gc=False):
    """An answer, the zxid at which it was read, and its time of arrival."""

    value: Any
    error: Exception | None
    zxid: int
    at: int

    @property
    def code(self) -> int:
        """The server's error code, or 0 for success."""
        return getattr(self.error, "code", -1) if self.error is not None else 0


Then = Callable[[Answer], None]
ThenAll = Callable[[Sequence[Asked], list[Result], Answer], None]


class _Reply:
    """Replaces kazoo's AsyncResult. It may be set twice, but only the first time counts."""

    __slots__ = ("_connection_number", "_reader", "_request", "_then")

    def __init__(self, reader: "Reader", request: object, then: Then) -> None:
        self._reader, self._request = reader, request
        self._connection_number = reader.connection_number
        self._then: Then | None = then

    def set(self, value: object = None) -> None:
        """Receive an answer on kazoo's thread. None means that the znode does not exist."""
        self._pass_on(value, None if value is not None else NoNodeError())

    def set_exception(self, error: Exception) -> None:
        """Receive a failure, on any thread."""
        self._pass_on(None, error)

    def _pass_on(self, value: object, error: Exception | None) -> None:
        then, self._then = self._then, None
        if then is None:
            return
        reader = self._reader
        if getattr(error, "code", 0) == THROTTLED and isinstance(self._request, _REPEATED):
            reader.loop.post(reader.throttled, self._request, then, self._connection_number)
        else:
            answer = Answer(value, error, reader.client.last_zxid, now_ms())
            reader.loop.post(reader.arrived, answer, then, self._connection_number)


class Reader:
    """Sends the reads of one client."""

    def __init__(
        self,
        client: ReadOnlyClient,
        hosts: Hosts,
        loop: EventLoop,
        clock: ZxidClock,
        pace: RequestBudget,
    ) -> None:
        self.client, self.hosts, self.loop, self.clock = client, hosts, loop, clock
        self._pace = pace
        self._pausing = False  # until the request budget allows more
        self.log = client.logger
        self.batches = True  # whether the servers support MultiRead
        self.connection_number = 0  # answers to requests on earlier connections are dropped
        self.requests_sent = 0
        self.connected = False  # if not, requests are dropped: a new connection reads everything
        self._bytes_each = FIRST_GUESS_ITEM_BYTES
        self._largest_request = MAX_REQUEST_BYTES
        self._unanswered: deque[int] = deque()  # sizes of the batches under way
        self._largest_accepted = 0  # bytes of the largest batch that a server has answered
        self._under_way = 0
        self._waiting: deque[tuple[Any, Then, float]] = deque()  # with the time each was queued
        self._waiting_first: deque[tuple[Any, Then, float]] = deque()

    @property
    def idle(self) -> bool:
        """True when nothing is under way or waiting."""
        return self._under_way == 0 and not self.is_full

    @property
    def behind_s(self) -> float:
        """How long the oldest request has waited for the request budget, or 0 if none does."""
        oldest = [waiting[0][2] for waiting in (self._waiting, self._waiting_first) if waiting]
        return time.monotonic() - min(oldest) if self._pausing and oldest else 0.0

    @property
    def is_full(self) -> bool:
        """True when requests wait for room. Callers that can wait should collect more."""
        return bool(self._waiting or self._waiting_first)

    def next_connection(self, *, connected: bool) -> None:
        """Drop everything that was sent on an earlier connection."""
        largest = max(self._unanswered, default=0)
        if largest > self._largest_accepted:  # the server may have closed because of the size
            self._largest_request = max(MIN_REQUEST_BYTES, largest // 4)
        self._unanswered.clear()
        self.connection_number += 1
        self.connected = connected
        self._under_way = 0
        self._waiting.clear()
        self._waiting_first.clear()

    def ask(self, request: object, then: Then, *, first: bool = False) -> None:
        """Send a request as soon as there is room. With `first`, waiting requests come later."""
        if not self.connected:
            return
        waiting = self._waiting_first if first else self._waiting
        waiting.append((request, then, time.monotonic()))
        self._send_on()

    def _send_on(self) -> None:
        """Send waiting requests, in order, while there is room."""
        while (
            self._under_way < MAX_UNDER_WAY
            and len(self._unanswered) < MAX_BATCHES
            and self.is_full
        ):
            if self._pausing or self._must_pause():
                return
            request, then, _ = (self._waiting_first or self._waiting).popleft()
            self._send(request, then)

    def _must_pause(self) -> bool:
        """Take a request from the budget. If it is used up, set a timer and return True."""
        wait_s = self._pace.wait_s()
        if wait_s > 0.0:
            self._pausing = True
            self.loop.after(wait_s, self._resume)
        return self._pausing

    def _resume(self) -> None:
        self._pausing = False
        self._send_on()

    def _send(self, request: object, then: Then) -> None:
        if isinstance(request, requests.MultiRead):
            self._unanswered.append(len(request))
        self._under_way += 1
        self.requests_sent += 1
        self._call(request, then)

    def _call(self, request: object, then: Then) -> None:
        self.client._call(request, _Reply(self, request, then))  # noqa: SLF001  see requests.py

    def throttled(self, request: object, then: Then, connection_number: int) -> None:
        """Later repeat a request that the server throttled. Until then it counts as under way."""
        self.loop.after(THROTTLE_PAUSE_S, self._call_again, request, then, connection_number)

    def _call_again(self, request: object, then: Then, connection_number: int) -> None:
        if connection_number == self.connection_number:
            self._call(request, then)

    def arrived(self, answer: Answer, then: Then, connection_number: int) -> None:
        """Pass an answer on. Called by the event loop."""
        if connection_number != self.connection_number:
            return
        if answer.code in _NO_CONNECTION:
            return  # the connection was lost, and a new one reads everything again
        self._under_way -= 1
        zxid = self.clock.answered(answer.zxid)
        then(answer if zxid == answer.zxid else replace(answer, zxid=zxid))
        self._send_on()

    def read(self, items: Sequence[Item], then: ThenAll[Item]) -> None:
        """Read many znodes. `then` receives them in batches, in order."""
        if not self.batches:
            for item in items:
                self._read_one(*item, [item], then)
            return
        longest = max([len(path) for _, path in items], default=0)
        size = self._max_items(longest)
        full = self.hosts.full
        for start in range(0, len(items), size):
            batch = items[start : start + size]
            request = requests.MultiRead(
                [requests.encode_item(operation, full(path)) for operation, path in batch]
            )
            self.ask(request, partial(self._on_batch, batch, len(batch), then))

    def read_siblings(
        self,
        operation: int,
        siblings: Sequence[SiblingNames],
        then: ThenAll[SiblingNames],
        *,
        first: bool = False,
    ) -> None:
        """Read many children of a few znodes. With `first`, waiting requests come later.

        `then` receives them in batches, in order.
        """
        if not self.batches:
            for group in siblings:
                for name in group.names:
                    alone = [SiblingNames(group.parent, (name,))]
                    self._read_one(operation, group.path(name), alone, then, first=first)
            return
        max_reads = max(1, min(MAX_BATCH_ITEMS, int(MAX_ANSWER_BYTES / self._bytes_each)))
        full, max_bytes = self.hosts.full, self._largest_request
        for batch in batches(operation, siblings, full, max_reads, max_bytes):
            on_answer = partial(self._on_batch, batch.siblings, batch.number, then)
            self.ask(batch.request, on_answer, first=first)

    def _on_batch(
        self, batch: Sequence[Asked], number: int, then: ThenAll[Asked], answer: Answer
    ) -> None:
        sent = self._unanswered.popleft()
        if isinstance(answer.error, UnimplementedError):
            self.batches = False  # an old server, which also closes the connection
            return
        if answer.error is not None:
            self.log.warning("%d reads failed: %r", number, answer.error)
            return
        self._largest_accepted = max(self._largest_accepted, sent)
        size = len(answer.value[0]) / number
        if number >= MIN_ITEMS_TO_LEARN or size < self._bytes_each:
            self._bytes_each = max(1.0, size, (self._bytes_each + size) / 2)
        then(batch, requests.decode_multi(answer.value), answer)

    def _read_one(
        self,
        operation: int,
        path: str,
        batch: Sequence[Asked],
        then: ThenAll[Asked],
        *,
        first: bool = False,
    ) -> None:
        """Read one znode from a server without MultiRead. A refusal becomes its error code."""
        request, decode = _SINGLE[operation]

        def on_answer(answer: Answer) -> None:
            if answer.error is None:
                then(batch, [decode(answer.value)], answer)
            elif answer.code in (NO_NODE, NO_AUTH):
                then(batch, [answer.code], answer)

        self.ask(request(self.hosts.full(path)), on_answer, first=first)

    def _max_items(self, longest: int) -> int:
        """The largest number of items for one request, given the longest path."""
        longest += len(self.hosts.chroot)
        fit_request = self._largest_request // (longest * MAX_CHARACTER_BYTES + ITEM_HEADER_BYTES)
        fit_answer = int(MAX_ANSWER_BYTES / self._bytes_each)
        max_items = max(2, min(MAX_BATCH_ITEMS, fit_request, fit_answer))
        return max_items // 2 * 2  # even, because folders take two items


# Requests about watches are not repeated: a watch that is added late misses changes, and one that
# is removed late may be that of another root.
_REPEATED = (
    requests.MultiRead,
    requests.GetData,
    requests.ListChildren,
    requests.Exists,
    requests.Sync,
)
_NO_CONNECTION = {-4, -112, -115}  # lost, expired or closed, not authenticated
_SINGLE: dict[int, tuple[Callable[[str], object], Callable[[requests.Payload], Result]]] = {
    GET_DATA: (requests.GetData, requests.decode_data),
    GET_CHILDREN: (requests.ListChildren, lambda answer: requests.decode_children(answer)[0]),
}
