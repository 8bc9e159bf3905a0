"""One kazoo client in its own process, driven by lines on stdin.

`acquire RECIPE PATH [LEASES]` returns with the lock, `ask` as soon as the client waits for it; the
other commands are `release`, `cancel` and `now RECIPE PATH`. Each is answered by one line of JSON:
the nodes that this client created, its watches, and whether it has the lock.
"""

import contextlib
import json
import sys
import threading
import time

from clients.kazoo_recipes import RECIPES
from kazoo.client import KazooClient

PATIENCE_S = 40.0


class Client(KazooClient):
    """A kazoo client that lists the znodes that it created."""

    made: list

    def create(self, path, *arguments, **keywords):
        """Create a znode and add it to the list."""
        made = super().create(path, *arguments, **keywords)
        if keywords.get("ephemeral") or "lock" in path or "lease" in path:
            self.made.append(made)
        return made

    def delete(self, path, *arguments, **keywords):
        """Delete a znode and remove it from the list."""
        super().delete(path, *arguments, **keywords)
        with contextlib.suppress(ValueError):
            self.made.remove(path)


class Claim:
    """One lock object of the library, acquired on its own thread."""

    def __init__(self, client, recipe, path, name, leases):
        self.client, self.path = client, path
        self.thing = RECIPES[recipe](client, path, name, leases)
        self.options = {"ephemeral": False} if recipe == "PersistentLock" else {}
        self.has_it, self.failed = False, None

    def start(self):
        """Begin to acquire it."""
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        try:
            self.thing.acquire(**self.options)
            self.has_it = True
        except Exception as error:  # noqa: BLE001  it becomes the answer
            self.failed = repr(error)

    def now(self):
        """The nodes, the watches and the state of this claim."""
        return {
            "holds": self.has_it,
            "failed": self.failed,
            "nodes": [path for path in self.client.made if path.startswith(self.path)],
            "watches": watched(self.client._data_watchers, self.path),
            "listens": watched(self.client._child_watchers, self.path),
        }

    def has_settled(self, before):
        """True if it has the lock, or watches more than before."""
        now = self.now()
        return (
            self.has_it
            or self.failed
            or now["watches"] != before["watches"]
            or now["listens"] != before["listens"]
        )


def watched(watchers, prefix):
    """The paths below this prefix for which kazoo keeps a watcher, as the server does."""
    return sorted(
        path for path, those in list(watchers.items()) if those and path.startswith(prefix)
    )


def until(condition, what):
    """Wait for a condition by asking every 2 ms."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE_S:g} s until {what}")
        time.sleep(0.002)


class CommandLoop:
    """Runs the commands that come on stdin."""

    def __init__(self, hosts, name, timeout_s):
        self.name = name
        self.client = Client(hosts, timeout=float(timeout_s))
        self.client.made = []
        self.client.start()
        self.claims = {}

    def run(self, verb, recipe, path, leases="1"):
        """Run one command and return the claim's state."""
        claim = self.claims.get((recipe, path))
        if claim is None:
            claim = Claim(self.client, recipe, path, self.name, int(leases))
            self.claims[recipe, path] = claim
        getattr(self, verb)(claim)
        return claim.now()

    def acquire(self, claim):
        """Return with the lock."""
        claim.start()
        until(lambda: claim.has_it or claim.failed, "the lock is acquired")

    def ask(self, claim):
        """Return when the client waits."""
        before = claim.now()
        claim.start()
        until(lambda: claim.has_settled(before), "the client holds or waits")

    def fail(self, claim):
        """Return when the attempt has failed."""
        claim.start()
        until(lambda: claim.failed, "the attempt fails")
        claim.failed = None

    def list(self, claim):
        """Return when a pausing recipe has listed the queue but set no watch."""
        claim.start()
        until(claim.thing.is_listed.is_set, "the queue is listed")

    def go_on(self, claim):
        """Let a pausing recipe set its watch."""
        claim.thing.goes_on.set()
        until(claim.thing.has_looked.is_set, "the predecessor is watched")

    def release(self, claim):
        """Release the lock."""
        claim.thing.release()
        claim.has_it = False

    def cancel(self, claim):
        """Stop waiting."""
        claim.thing.cancel()
        until(lambda: claim.failed, "the attempt fails")

    def now(self, claim):
        """Change nothing."""


def main(hosts, name, timeout_s):
    """Run commands until stdin ends."""
    loop = CommandLoop(hosts, name, timeout_s)
    print_answer({"session": loop.client.client_id[0]})
    for line in sys.stdin:
        try:
            print_answer(loop.run(*line.split()))
        except Exception as error:  # noqa: BLE001  it becomes the answer
            print_answer({"failed": repr(error)})
    loop.client.stop()


def print_answer(answer):
    """Print one line of JSON."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
