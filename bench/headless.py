"""Commands: the time to print a snapshot, and the time to print the help.

Each is a new process, as a script would start it. The floor of the snapshot is a script that reads
the same data with bare kazoo and bare sockets, one request after the other: the members, data and
children of the root and of each lock, every contender, and the tables.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from kazoo.client import KazooClient

from bench.figure import Figure
from bench.sizes import size

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import sandbox_server

LOCKS = 10
TIMES = size(15, 1)

BARE_SNAPSHOT = """
import socket, sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1]); client.start()
members = client.get("/zookeeper/config")
root = client.get("/bench")
for lock in client.get_children("/bench"):
    leases = client.get(f"/bench/{lock}")
    for name in client.get_children(f"/bench/{lock}"):
        data, stat = client.get(f"/bench/{lock}/{name}")
        print(lock, name, stat.ephemeralOwner, data)
host, _, port = sys.argv[1].rpartition(":")
for word in (b"srvr", b"mntr", b"cons", b"wchs", b"wchc", b"conf", b"dump"):
    with socket.create_connection((host, int(port))) as line:
        line.sendall(word)
        while line.recv(65536):
            pass
client.stop(); client.close()
"""
BARE_HELP = """
import click
@click.group()
def main(): pass
main(["--help"])
"""


def figures() -> Iterator[Figure]:
    """Start and fill a server; measure both in turns, so that both run under equal conditions."""
    with sandbox_server() as server, tempfile.TemporaryDirectory() as cache:
        client = KazooClient(server.address, timeout=30)
        client.start()
        _fill(client)
        floor, ours = _in_turns(
            [sys.executable, "-c", BARE_SNAPSHOT, server.address],
            [*_ZKTOP, "snapshot", "--hosts", server.address, "--root", "/bench/*"],
            cache,
        )
        client.stop()
        client.close()
        yield Figure(f"snapshot of {LOCKS} locks", ours, "ms", floor, "ms bare kazoo", 2.5 * floor)
        floor, ours = _in_turns([sys.executable, "-c", BARE_HELP], [*_ZKTOP, "--help"], cache)
        yield Figure("zktop --help", ours, "ms", floor, "ms interpreter and click", 4 * floor)


_ZKTOP = (sys.executable, "-m", "zktop")


def _in_turns(floor: list[str], ours: list[str], cache: str) -> tuple[float, float]:
    """Time two commands without compiling modules, which an installed program never does."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = cache
    taken: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(TIMES + 1):
        for is_ours, command in ((False, floor), (True, ours)):
            started = time.perf_counter()
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
            taken[is_ours].append((time.perf_counter() - started) * 1000)
    return median(taken[False][1:]), median(taken[True][1:])


def _fill(client: KazooClient) -> None:
    for number in range(LOCKS):
        client.Lock(f"/bench/lock-of-{number}", f"worker-{number}").acquire()
