"""A kazoo client in its own process, driven by lines on stdin.

`acquire PATH` takes a lock, `ask PATH` queues for one and goes on, `release PATH` releases it.
Each is answered by one line once the ensemble has done it.
"""

import sys
import threading
import time

from kazoo.client import KazooClient

PATIENCE_S = 40.0


def main(hosts: str, name: str) -> None:
    """Run commands until stdin ends; then close the session."""
    client = KazooClient(hosts, timeout=10)
    client.start()
    locks = {}
    sys.stdout.write(f"{client.client_id[0]}\n")
    sys.stdout.flush()
    for line in sys.stdin:
        word, path = line.split()
        lock = locks.setdefault(path, client.Lock(path, name))
        if word == "acquire":
            lock.acquire(timeout=PATIENCE_S)
        elif word == "release":
            lock.release()
        else:
            threading.Thread(target=lock.acquire, daemon=True).start()
            _until_queued(lock)
        sys.stdout.write("done\n")
        sys.stdout.flush()
    client.stop()


def _until_queued(lock: object) -> None:
    """Wait until kazoo knows its node and has looked up its predecessor."""
    deadline = time.monotonic() + PATIENCE_S
    while own_name(lock) not in lock.contenders():  # type: ignore[attr-defined]  # kazoo has no types
        assert time.monotonic() < deadline, "the client did not queue"
        time.sleep(0.01)


def own_name(lock: object) -> str:
    """The label of this process in a lock."""
    return lock.data.decode()  # type: ignore[attr-defined,no-any-return]  # kazoo has no types


if __name__ == "__main__":
    main(*sys.argv[1:])
