"""A socket read in large pieces gives what a socket gives."""

import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.zk.connect.client import ring_log
from zktop.zk.event_loop import READ_BYTES, BufferedSocket, KazooHandler

EVENT = struct.pack("!i", -1)


@pytest.fixture(name="ends")
def _ends() -> Iterator[tuple[BufferedSocket, socket.socket]]:
    here, there = socket.socketpair()
    here.settimeout(0.0)
    with here, there:
        yield BufferedSocket(here), there


def message(xid: int, body: bytes) -> bytes:
    """Give a message as a server sends it."""
    return struct.pack("!ii", len(body) + 4, xid) + body


@given(
    st.lists(st.integers(1, 3 * READ_BYTES), max_size=5),
    st.lists(st.integers(1, 2 * READ_BYTES), min_size=1),
)
def test_nothing_is_lost_or_moved(sent: list[int], asked: list[int]) -> None:
    """However it comes, and in whichever parts it is asked for."""
    here, there = socket.socketpair()
    here.settimeout(0.0)
    said = bytes(number % 251 for number in range(sum(sent)))
    with here, there:
        there.settimeout(0.0)
        pieces, heard, left = BufferedSocket(here), b"", said
        for size in [*sent, *sent]:
            left = left[there.send(left[:size]) :] if left else left
            for wanted in asked:
                heard += _taken(pieces, wanted)
        while left or len(heard) < len(said):
            left = left[there.send(left[:READ_BYTES]) :] if left else left
            heard += _taken(pieces, asked[0])

        assert heard == said
        assert not pieces.pending()


def _taken(pieces: BufferedSocket, size: int) -> bytes:
    try:
        return pieces.recv(size)
    except BlockingIOError:
        return b""


def test_what_was_read_is_not_waited_for(ends: tuple[BufferedSocket, socket.socket]) -> None:
    """The system has nothing more to tell of it; that it has been read is enough."""
    pieces, there = ends
    handler = KazooHandler(ring_log()[0])
    there.send(b"abcdef")
    first = pieces.recv(2)

    assert (first, pieces.pending(), pieces.is_drained) == (b"ab", 4, False)
    assert handler.select([pieces, there], [], [], 10.0) == ([pieces], [], [])
    assert pieces.recv(9) == b"cdef"
    assert handler.select([pieces], [], [], 0.0) == ([], [], [])


def test_the_end_is_told_after_all_else(ends: tuple[BufferedSocket, socket.socket]) -> None:
    """Nothing is what a closed connection gives."""
    pieces, there = ends
    there.send(b"abc")
    there.close()

    assert [pieces.recv(2), pieces.recv(2), pieces.recv(2)] == [b"ab", b"c", b""]


def test_events_behind_an_event_can_be_taken_at_once(
    ends: tuple[BufferedSocket, socket.socket],
) -> None:
    """Up to the first answer, for which somebody else waits."""
    pieces, there = ends
    one = message(-1, b"one")
    there.send(one + message(-1, b"two") + message(-1, b"three") + message(7, b"!"))
    pieces.recv(len(one))

    assert pieces.message(EVENT) == EVENT + b"two"
    assert pieces.message(EVENT) == EVENT + b"three"
    assert pieces.message(EVENT) is None
    assert pieces.recv(READ_BYTES) == message(7, b"!")


def test_half_an_event_is_left_alone(ends: tuple[BufferedSocket, socket.socket]) -> None:
    """However much of it is there: whoever wants it waits for the rest."""
    pieces, there = ends
    one, two = message(-1, b"one"), message(-1, b"two")
    for size in range(len(two)):
        there.send(one + two[:size])
        pieces.recv(len(one))

        assert pieces.message(EVENT) is None
        there.send(two[size:])
        assert b"".join(_all(pieces)) == two


def _all(pieces: BufferedSocket) -> Iterator[bytes]:
    while taken := _taken(pieces, READ_BYTES):
        yield taken
