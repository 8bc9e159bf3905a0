"""A separate process that reads large answers to their end, and does nothing else.

A ZooKeeper server holds the lock of its watch table while it writes the table, so a reader that
stalls freezes it. zktop can be stopped (ctrl-z) or busy; this process is never busy, and a process
session of its own keeps terminal signals away. It needs the standard library alone:
`large_table_reader` runs this file with a JSON object per line on stdin, and reads for each a line
with the size of the answer and then the answer. It exits at the end of stdin.
"""

import json
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

BUFFER_BYTES = 4 << 20  # requested size of the receive buffer
CHUNK_BYTES = 1 << 18


def widened(line: socket.socket) -> int:
    """Enlarge the receive buffer as far as allowed; return how much data it holds."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    return line.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


def connected(host: str, port: int, deadline: float) -> socket.socket:
    """Connect with a large receive buffer, which must be set before connecting."""
    problem: OSError | None = None
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        line = socket.socket(family, kind, protocol)
        try:
            widened(line)
            line.settimeout(left(deadline))
            line.connect(address)
        except OSError as refusal:
            line.close()
            problem = refusal
        else:
            return line
    raise problem or OSError(f"{host} has no address")


def left(deadline: float) -> float:
    """The seconds left; raises TimeoutError when there are none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("no answer in time")
    return seconds


def received(line: socket.socket, deadline: float) -> Iterator[bytes]:
    """Yield chunks until the server closes."""
    while True:
        line.settimeout(left(deadline))
        chunk = line.recv(CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


def answer(question: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Send a word and read to the end; an answer above the limit is read and dropped."""
    deadline = time.monotonic() + question["seconds"]
    chunks: list[bytes] = []
    size = 0
    try:
        with connected(question["host"], question["port"], deadline) as line:
            line.sendall(question["word"].encode("ascii"))
            for chunk in received(line, deadline):
                size += len(chunk)
                if size <= question["most"]:
                    chunks.append(chunk)
    except TimeoutError:
        return {"error": "no answer in time"}, []
    except OSError as problem:
        return {"error": problem.strerror or str(problem)}, []
    if size > question["most"]:
        return {"size": size, "error": f"an answer of {size >> 20} MB is too large"}, []
    return {"size": size}, chunks


def main() -> None:
    """Answer requests from stdin until it ends."""
    for line in sys.stdin.buffer:
        question = json.loads(line)
        # Without a handler SIGALRM ends the process wherever it hangs.
        signal.setitimer(signal.ITIMER_REAL, question["seconds"] + question["kept_s"])
        head, chunks = answer(question)
        sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
