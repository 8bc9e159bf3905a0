"""A process that reads answers of servers to their end, and does nothing else.

A ZooKeeper server holds the lock of its watch table while it writes the table out, so a reader
that stalls freezes it. zktop can be stopped (ctrl-z) or be busy; this process cannot be busy, and
a session of its own keeps signals of the terminal away from it. It needs the standard library
alone: `table_reader` runs this file with questions on stdin, a JSON object a line, and gets for
each a line that says how large the answer is, and then the answer. The end of stdin is its end.
"""

import json
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

BUFFER = 4 << 20  # bytes to ask of the kernel, for what came and was not read yet
CHUNK = 1 << 18


def widened(line: socket.socket) -> int:
    """Have the kernel keep as much as it is allowed to; give how much data that is.

    The kernel counts its own books as well, so half of what it grants is data.
    """
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    return line.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


def connected(host: str, port: int, deadline: float) -> socket.socket:
    """Connect with a wide buffer, which must be there before the connection is."""
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
    """Give the seconds that are left; TimeoutError when there are none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("no answer in time")
    return seconds


def received(line: socket.socket, deadline: float) -> Iterator[bytes]:
    """Give what comes until the server closes."""
    while True:
        line.settimeout(left(deadline))
        chunk = line.recv(CHUNK)
        if not chunk:
            return
        yield chunk


def answer(question: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Ask, and read to the end; what is larger than it may be is read and not kept."""
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
    """Answer questions until there are no more."""
    for line in sys.stdin.buffer:
        question = json.loads(line)
        # Without a handler this ends the process, wherever it hangs.
        signal.setitimer(signal.ITIMER_REAL, question["seconds"] + question["kept_s"])
        head, chunks = answer(question)
        sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
