"""One read-only request over one TCP or TLS connection, whose answer is read to the end.

A ZooKeeper server holds internal locks while it writes some answers. A client that stops reading
can freeze the server for all its clients. So zktop reads until the server closes the connection,
and closes it itself at the deadline.
"""

import socket
import ssl
import time

from zktop.zk.connect.address import Address
from zktop.zk.servers.large_table_process import dial, seconds_left

# Other words change the server: csnp writes a snapshot, rqld and ydld move the leader, rcvr and
# clrs recover and clean up, crst, srst and rclc reset counters, jmep and pfev switch profiling.
READ_ONLY_WORDS = frozenset(
    {"conf", "cons", "dump", "isro", "mntr", "ruok", "srvr", "stat", "wchc", "wchp", "wchs"}
)
ANSWER_TIMEOUT_S = 5.0
CHUNK_BYTES = 1 << 18
MAX_ANSWER_BYTES = 256 << 20


def exchange(
    address: Address,
    question: bytes,
    *,
    context: ssl.SSLContext | None = None,
    seconds: float = ANSWER_TIMEOUT_S,
) -> bytes:
    """Send a request and return everything until the other side closes."""
    deadline = time.monotonic() + seconds
    with connect(address, context, deadline) as connection:
        connection.settimeout(seconds_left(deadline))
        send(connection, question)
        return read_to_end(connection, deadline)


def send(connection: socket.socket, question: bytes) -> None:
    """Send a read-only word or a GET. Anything else raises ValueError."""
    word = question.decode("utf-8").removesuffix("\n")
    if word not in READ_ONLY_WORDS and not word.startswith("GET /"):
        raise ValueError(f"{word!r} is not a read-only word")
    connection.sendall(question)


def connect(address: Address, context: ssl.SSLContext | None, deadline: float) -> socket.socket:
    """Open a connection, with TLS if there is a context. `deadline` is a monotonic time."""
    host, port = address.reachable.host, address.reachable.port
    connection = dial(host, port, deadline, lambda _connection: None)
    if context is None:
        return connection
    try:
        connection.settimeout(seconds_left(deadline))
        return context.wrap_socket(connection, server_hostname=address.host)
    except BaseException:
        connection.close()
        raise


def read_to_end(connection: socket.socket, deadline: float) -> bytes:
    """Read until the other side closes. Bytes before a reset count as the answer."""
    chunks: list[bytes] = []
    size = 0
    while size < MAX_ANSWER_BYTES:
        connection.settimeout(seconds_left(deadline))
        try:
            chunk = connection.recv(CHUNK_BYTES)
        except ConnectionResetError:
            if chunks:
                break
            raise
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)
