"""Which watch tables are too large to ask a server for, unless the user allows it.

With an AdminServer, the number of watches decides. With four-letter words, a slow reader blocks
the server, so a table may be no larger than what the kernel buffers for a stalled reader, plus
what a dedicated process reads at once; without such a process, only what is safe to leave unread.
"""

import socket

from zktop.zk.servers import large_table_process
from zktop.zk.servers.four_letter import RefusedError

MAX_ADMIN_WATCHES = 200_000  # the AdminServer holds no lock, but builds the answer in memory
READ_AT_ONCE_BYTES = 1 << 20  # 10 ms at 1 Gbit/s
SAFE_UNREAD_BYTES = 64_000  # bytes that fit into any socket buffer, for reading in this process
FIRST_GUESS_WATCH_BYTES = 100.0  # until the first measurement
SESSION_LINE_BYTES = 21  # counted for each watch: each may belong to a different session
SHORTEST_LINE_BYTES = 3  # of a watched path: a tab, a slash and a line break
SIZE_MARGIN = 1.25

ALLOW_IT = "use --large-tables, or introspect: { large_tables: true } in the config, to read them"


def check_admin_server(count: int) -> None:
    """Raise RefusedError if the AdminServer has too many watches to list."""
    if count > MAX_ADMIN_WATCHES:
        raise RefusedError(
            f"the AdminServer would need a lot of memory for {count} watches; {ALLOW_IT} anyway"
        )


def check_four_letter(count: int, expected: int, *, in_this_process: bool) -> None:
    """Raise RefusedError if a table of about `expected` bytes is too large for its reader."""
    safe = SAFE_UNREAD_BYTES if in_this_process else kernel_buffer_bytes() + READ_AT_ONCE_BYTES
    if expected > safe:
        raise RefusedError(
            f"{count} watches take about {expected >> 10} kB, and without an AdminServer only "
            f"{safe >> 10} kB are safe: the server blocks while a client is slow to read a "
            f"larger answer; {ALLOW_IT} anyway"
        )


def kernel_buffer_bytes() -> int:
    """The number of bytes that the kernel buffers for a stalled reader."""
    with socket.socket() as unconnected:
        return large_table_process.enlarge_buffer(unconnected)


class TableSizeEstimate:
    """Estimates the size of a server's watch table from the average size of a watch so far."""

    def __init__(self) -> None:
        self._bytes_per_watch = FIRST_GUESS_WATCH_BYTES
        self._is_measured = False

    def expected(self, watches: int) -> int:
        """The expected size of a table with this many watches, in bytes."""
        return round(watches * self._bytes_per_watch * SIZE_MARGIN)

    def read_dump(self, dump: bytes) -> None:
        """Measure the paths of ephemeral znodes: watched paths are usually about as long.

        A watch table that has been read is a better measure.
        """
        if self._is_measured:
            return
        if paths := dump.count(b"\n\t/"):
            other_lines = dump.count(b"\n") - paths
            path_bytes = max(paths, len(dump) - other_lines * SESSION_LINE_BYTES)
            self._bytes_per_watch = path_bytes / paths + SESSION_LINE_BYTES

    def read_table(self, size: int, watches: int) -> None:
        """Measure a table of this many bytes, whose watches were counted just before it was read.

        A table that is too small for so many paths has changed since then, and is ignored.
        """
        if watches and size >= watches * SHORTEST_LINE_BYTES:
            self._bytes_per_watch, self._is_measured = size / watches, True
