"""A contender in a process of its own: kazoo's own locks, moved by lines on stdin.

`acquire PATH` takes a lock, `ask PATH` queues for one and goes on, `release PATH` lets it go. Each
is answered by one line once the ensemble has done it.
"""

import sys
import threading
import time

from kazoo.client import KazooClient

PATIENCE_S = 40.0


def main(hosts: str, name: str) -> None:
    """Obey until stdin ends; then the session is closed."""
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
    """A place in the queue is there once kazoo knows its name and has looked who is before it."""
    deadline = time.monotonic() + PATIENCE_S
    while name_of_me(lock) not in lock.contenders():  # type: ignore[attr-defined]  # kazoo has no types
        assert time.monotonic() < deadline, "the client did not queue"
        time.sleep(0.01)


def name_of_me(lock: object) -> str:
    """What the contenders of a lock call it."""
    return lock.data.decode()  # type: ignore[attr-defined,no-any-return]  # kazoo has no types


if __name__ == "__main__":
    main(*sys.argv[1:])
