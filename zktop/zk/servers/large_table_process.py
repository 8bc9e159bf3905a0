"""A separate process that does nothing but read large answers to their end.

A ZooKeeper server locks its watch table while it writes the table to a client, so a client that
stalls freezes the server. zktop may be busy, or suspended by ctrl-z. This process is never busy,
and runs in its own process session, out of reach of terminal signals.

`large_table_reader` runs this file as a script, so it imports only the standard library. Each line
of stdin is a request, a JSON object. For each, the process writes a line of JSON with the size of
the answer to stdout, then the answer itself. It exits at the end of stdin. `read_only_exchange`
uses `dial`, too.
"""

import json
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

BUFFER_BYTES = 4 << 20  # requested size of the receive buffer
CHUNK_BYTES = 1 << 18


def enlarge_buffer(connection: socket.socket) -> int:
    """Enlarge the receive buffer as far as allowed. Return how many bytes it can hold."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


def dial(
    host: str, port: int, deadline: float, prepare: Callable[[socket.socket], object]
) -> socket.socket:
    """Connect to a host. `prepare` sets what a socket needs before it connects.

    Each address of the host has an equal share of the remaining time, as some may be dead.
    """
    untried = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    while untried:
        seconds = seconds_left(deadline) / len(untried)
        family, kind, protocol, _, address = untried.pop(0)
        connection = socket.socket(family, kind, protocol)
        try:
            prepare(connection)
            connection.settimeout(seconds)
            connection.connect(address)
        except OSError:
            connection.close()
            if not untried:
                raise
        else:
            return connection
    raise socket.gaierror(socket.EAI_NONAME, "it has no address")


def seconds_left(deadline: float) -> float:
    """Return the seconds left until the deadline, or raise TimeoutError if there are none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("no answer in time")
    return seconds


def receive(connection: socket.socket, deadline: float) -> Iterator[bytes]:
    """Yield chunks until the server closes the connection."""
    while True:
        connection.settimeout(seconds_left(deadline))
        chunk = connection.recv(CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


def answer(question: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Send a four-letter word and read the whole answer. Discard one above the limit."""
    deadline = time.monotonic() + question["seconds"]
    chunks: list[bytes] = []
    size = 0
    try:
        with dial(question["host"], question["port"], deadline, enlarge_buffer) as server:
            server.sendall(question["word"].encode("ascii"))
            for chunk in receive(server, deadline):
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
        # SIGALRM has no handler, so it ends the process wherever it hangs.
        signal.setitimer(signal.ITIMER_REAL, question["seconds"] + question["kept_s"])
        head, chunks = answer(question)
        sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
