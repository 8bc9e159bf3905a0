"""Reads watch tables in a process of its own, because a slow reader blocks the server."""

import select
import subprocess
import sys
import threading
import time
from typing import IO, Any

import msgspec

from zktop.zk.connect.address import Address
from zktop.zk.connect.read_only_exchange import READ_ONLY_WORDS
from zktop.zk.servers import large_table_process
from zktop.zk.servers.four_letter import RefusedError, not_refused

MAX_ANSWER_BYTES = 256 << 20  # a longer answer is read to its end, but not kept
KEPT_S = 30.0  # if zktop has not taken an answer by then, the process exits
PATIENCE_S = 2.0  # added to the deadline of the process


class TableReader:
    """Runs the process that reads tables. Starts it on demand, and again if it has died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._in_use = threading.Lock()
        self._is_closed = False

    def ask(self, address: Address, word: str, seconds: float) -> bytes:
        """Return the whole answer to a four-letter word, or raise RefusedError with the reason."""
        if word not in READ_ONLY_WORDS:
            raise ValueError(f"{word!r} is not a read-only word")
        question = {
            "host": address.reachable.host,
            "port": address.reachable.port,
            "word": word,
            "seconds": seconds,
            "most": MAX_ANSWER_BYTES,
            "kept_s": KEPT_S,
        }
        with self._in_use:
            try:
                deadline = time.monotonic() + seconds + PATIENCE_S
                return not_refused(word, _exchange(self._running(), question, deadline))
            except OSError as problem:
                self._end()
                why = problem.strerror or problem
                raise RefusedError(f"{word}: the process that reads it: {why}") from None

    def close(self) -> None:
        """Kill the process, which closes its connection to the server."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()  # ends a pending read
        with self._in_use:
            self._end()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = _start_process()
        if self._is_closed:
            raise BrokenPipeError("zktop is closing")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def _start_process() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603  zktop's own file
        [sys.executable, "-I", "-S", large_table_process.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        start_new_session=True,  # no ctrl-z or ctrl-c
    )


def _exchange(
    process: "subprocess.Popen[bytes]", question: dict[str, Any], deadline: float
) -> bytes:
    assert process.stdin is not None  # noqa: S101  both are pipes
    assert process.stdout is not None  # noqa: S101  likewise
    process.stdin.write(msgspec.json.encode(question) + b"\n")
    head, newline, rest = b"", b"", b""
    while not newline:
        head, newline, rest = (head + _read_chunk(process.stdout, deadline)).partition(b"\n")
    header = msgspec.json.decode(head)
    if "error" in header:
        raise RefusedError(f"{question['word']}: {header['error']}")
    parts, missing = [rest] if rest else [], header["size"] - len(rest)
    while missing > 0:
        parts.append(_read_chunk(process.stdout, deadline))
        missing -= len(parts[-1])
    return b"".join(parts)


def _read_chunk(pipe: IO[bytes], deadline: float) -> bytes:
    """Read the next chunk. One that arrived while zktop was stopped counts as in time."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError("no answer in time")
    more = pipe.read(large_table_process.CHUNK_BYTES)
    if not more:
        raise BrokenPipeError("it has ended")
    return more
