"""Watch tables by four-letter words: how large one may be, and the process that reads it.

The reply must go into what the kernel keeps for a reader that stalls, and into what a process
that does nothing else takes in no time.
"""

import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, Any

import msgspec

from zktop.zk.connect.address import Address
from zktop.zk.connect.ask_once import READ_ONLY_WORDS
from zktop.zk.servers import table_process
from zktop.zk.servers.four_letter import RefusedError, answered

READER_TAKES = 1 << 20  # bytes: 10 ms at a gigabit a second
UNREAD = 64_000  # bytes that go into any socket's buffer, for a reader in our own process
FIRST_GUESS = 100.0  # bytes of one watch, before anything was measured
SESSION_LINE = 21  # bytes; each watch may be one of another session
MARGIN = 1.25
LARGEST = 256 << 20  # bytes that are kept of one answer
KEPT_S = 30.0  # an answer that we do not take, because we were stopped, ends the process then
PATIENCE_S = 2.0  # beyond the deadline that the process keeps by itself


def held_by_the_kernel() -> int:
    """Give the bytes that the kernel keeps here for a reader that does not read."""
    with socket.socket() as line:
        return table_process.widened(line)


class Sizes:
    """How large the entries of a server's watch table are, by what was read of it."""

    def __init__(self) -> None:
        self._each = FIRST_GUESS
        self._is_of_table = False

    def expected(self, watches: int) -> int:
        """Give the bytes that so many watches will be."""
        return round(watches * self._each * MARGIN)

    def read_dump(self, parts: Sequence[bytes]) -> None:
        """Learn from `dump` how long paths are, until a table has been read."""
        paths = sum(part.count(b"\n\t/") for part in parts)
        if paths and not self._is_of_table:
            others = sum(part.count(b"\n") for part in parts) - paths
            named = max(paths, sum(map(len, parts)) - others * SESSION_LINE)
            self._each = named / paths + SESSION_LINE

    def read_table(self, size: int, watches: int) -> None:
        """Learn from a table of so many watches."""
        if watches:
            self._each, self._is_of_table = size / watches, True


class TableReader:
    """Has a process of its own read answers; started when it is needed, and again if it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._in_use = threading.Lock()
        self._over = False

    def parts(self, address: Address, word: str, seconds: float) -> list[bytes]:
        """Give the whole answer to a word; RefusedError says why there is none."""
        if word not in READ_ONLY_WORDS:
            raise ValueError(f"{word!r} is not among the words that only read")
        question = {
            "host": address.host,
            "port": address.port,
            "word": word,
            "seconds": seconds,
            "most": LARGEST,
            "kept_s": KEPT_S,
        }
        with self._in_use:
            try:
                deadline = time.monotonic() + seconds + PATIENCE_S
                return answered(word, _asked(self._running(), question, deadline))
            except OSError as problem:
                self._end()
                why = problem.strerror or problem
                raise RefusedError(f"{word}: the process that reads it: {why}") from None
            except _FailedError as failure:
                raise RefusedError(f"{word}: {failure}") from None

    def close(self) -> None:
        """End the process for good; a server that is writing to it notices at once."""
        self._over = True
        process = self._process
        if process is not None:
            process.kill()  # who waits for its answer waits no longer
        with self._in_use:
            self._end()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = _started()
        if self._over:
            raise BrokenPipeError("zktop is ending")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


class _FailedError(Exception):
    """The process could not read an answer."""


def _started() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603  our own file
        [sys.executable, "-I", "-S", table_process.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        start_new_session=True,  # ctrl-z and ctrl-c are for zktop alone
    )


def _asked(
    process: "subprocess.Popen[bytes]", question: dict[str, Any], deadline: float
) -> list[bytes]:
    assert process.stdin is not None  # noqa: S101  both are pipes
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(msgspec.json.encode(question) + b"\n")
    head, newline, rest = b"", b"", b""
    while not newline:
        head, newline, rest = (head + _more(process.stdout, deadline)).partition(b"\n")
    told = msgspec.json.decode(head)
    if "error" in told:
        raise _FailedError(told["error"])
    parts, missing = [rest] if rest else [], told["size"] - len(rest)
    while missing > 0:
        parts.append(_more(process.stdout, deadline))
        missing -= len(parts[-1])
    return parts


def _more(pipe: IO[bytes], deadline: float) -> bytes:
    """Give what is there next. After we were stopped for long, that is not judged by the clock."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError("no answer in time")
    more = pipe.read(table_process.CHUNK)
    if not more:
        raise BrokenPipeError("it has ended")
    return more
