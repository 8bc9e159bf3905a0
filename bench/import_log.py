"""`zktop import` of a 64 MB transaction log, and `zktop check` of the result.

The floor reads the file and checks every checksum, in a few lines. ZooKeeper's own tool prints the
same file, if it is installed.
"""

import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct

from bench.churn_log import write_log
from bench.figure import Figure
from bench.sizes import size

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import java_command

TRANSACTIONS = size(420_000, 2_000)
TURNS = size(2, 1)
RATIO = 6
MOST_MB = 300.0
JUDGED_WITHIN_S = 10.0
TOOLKIT = "org.apache.zookeeper.server.persistence.TxnLogToolkit"
_FRAME = Struct(">QI")


def figures() -> Iterator[Figure]:
    """Write the log, import it, and judge it."""
    with tempfile.TemporaryDirectory(prefix="zktop-bench-") as folder:
        log, recording = Path(folder, "log.1"), Path(folder, "a.zktop")
        write_log(log, TRANSACTIONS)
        zktop = [sys.executable, "-m", "zktop"]
        to_import = [*zktop, "import", str(log), "-o", str(recording)]
        floor, imported, memory = _fastest(log, to_import)
        what = f"import of {log.stat().st_size / 1e6:.0f} MB"
        yield Figure(what, imported, "s", floor, "s every checksum", RATIO * floor)
        yield Figure("import memory", memory, "MB", MOST_MB, "MB allowed", MOST_MB)
        if toolkit := java_command(TOOLKIT, str(log)):
            peer, _ = _run(toolkit)
            yield Figure("import beside TxnLogToolkit", imported, "s", peer, "s it prints the log")
        judged, _ = _run([*zktop, "check", "--from", str(recording)])
        name = "import and check"
        yield Figure(name, imported + judged, "s", floor, "s every checksum", JUDGED_WITHIN_S)


def _fastest(log: Path, command: Sequence[str]) -> tuple[float, float, float]:
    """Seconds of the floor and of the command, in turns, and the command's memory in MB."""
    floors, times, memories = [], [], []
    for _ in range(TURNS):
        started = time.perf_counter()
        _check_all(log)
        floors.append(time.perf_counter() - started)
        seconds, memory = _run(command)
        times.append(seconds)
        memories.append(memory)
    return min(floors), min(times), max(memories)


def _check_all(log: Path) -> None:
    """Read the log and check the checksum of every record."""
    data = log.read_bytes()
    at, read_frame, adler32 = 16, _FRAME.unpack_from, zlib.adler32
    while True:
        checksum, length = read_frame(data, at)
        if not length:
            break
        start = at + _FRAME.size
        end = start + length
        assert adler32(data[start:end]) == checksum
        at = end + 1


def _run(command: Sequence[str]) -> tuple[float, float]:
    """Seconds that a command takes, and its largest resident memory in MB."""
    started = time.perf_counter()
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - started, usage.ru_maxrss / 1024
