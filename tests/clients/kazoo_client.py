"""One kazoo client in a process of its own: kazoo's recipes, moved by lines on stdin.

`acquire RECIPE PATH [LEASES]` returns with the lock, `ask` as soon as the client waits for it;
`release`, `cancel` and `now RECIPE PATH` explain themselves. Each is answered by one line of JSON:
what this client made, what it watches and whether it has the lock, all by its own books.
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
    """Keeps a list of the znodes that it knows to have made."""

    made: list

    def create(self, path, *arguments, **keywords):
        """Create, and remember."""
        made = super().create(path, *arguments, **keywords)
        if keywords.get("ephemeral") or "lock" in path or "lease" in path:
            self.made.append(made)
        return made

    def delete(self, path, *arguments, **keywords):
        """Delete, and forget."""
        super().delete(path, *arguments, **keywords)
        with contextlib.suppress(ValueError):
            self.made.remove(path)


class Claim:
    """One object of the library, taken on a thread of its own."""

    def __init__(self, client, recipe, path, name, leases):
        self.client, self.path = client, path
        self.thing = RECIPES[recipe](client, path, name, leases)
        self.options = {"ephemeral": False} if recipe == "PersistentLock" else {}
        self.has_it, self.failed = False, None

    def start(self):
        """Take it, sooner or later."""
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        try:
            self.thing.acquire(**self.options)
            self.has_it = True
        except Exception as error:  # noqa: BLE001  it is told to whoever asks
            self.failed = repr(error)

    def now(self):
        """What this client knows of it."""
        return {
            "holds": self.has_it,
            "failed": self.failed,
            "nodes": [path for path in self.client.made if path.startswith(self.path)],
            "watches": watched(self.client._data_watchers, self.path),
            "listens": watched(self.client._child_watchers, self.path),
        }

    def has_settled(self, before):
        """Whether it has the lock, or watches something that it did not watch before."""
        now = self.now()
        return (
            self.has_it
            or self.failed
            or now["watches"] != before["watches"]
            or now["listens"] != before["listens"]
        )


def watched(watchers, prefix):
    """The paths below here that kazoo keeps a watcher for; servers keep as many."""
    return sorted(
        path for path, those in list(watchers.items()) if those and path.startswith(prefix)
    )


def until(condition, what):
    """Wait for something that nobody announces."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE_S:g} s until {what}")
        time.sleep(0.002)


class Person:
    """Whoever does what the lines say."""

    def __init__(self, hosts, name, timeout_s):
        self.name = name
        self.client = Client(hosts, timeout=float(timeout_s))
        self.client.made = []
        self.client.start()
        self.claims = {}

    def obey(self, verb, recipe, path, leases="1"):
        """Do one thing, and tell how things are."""
        claim = self.claims.get((recipe, path))
        if claim is None:
            claim = Claim(self.client, recipe, path, self.name, int(leases))
            self.claims[recipe, path] = claim
        getattr(self, verb)(claim)
        return claim.now()

    def acquire(self, claim):
        """Come back with it."""
        claim.start()
        until(lambda: claim.has_it or claim.failed, "the lock is acquired")

    def ask(self, claim):
        """Come back when it waits."""
        before = claim.now()
        claim.start()
        until(lambda: claim.has_settled(before), "the client holds or waits")

    def fail(self, claim):
        """Come back when it has given up."""
        claim.start()
        until(lambda: claim.failed, "the attempt fails")
        claim.failed = None

    def list(self, claim):
        """Come back when a dawdler has listed the queue and has not yet looked further."""
        claim.start()
        until(claim.thing.is_listed.is_set, "the queue is listed")

    def go_on(self, claim):
        """Let a dawdler look."""
        claim.thing.goes_on.set()
        until(claim.thing.has_looked.is_set, "the predecessor is watched")

    def release(self, claim):
        """Let it go."""
        claim.thing.release()
        claim.has_it = False

    def cancel(self, claim):
        """Stop waiting."""
        claim.thing.cancel()
        until(lambda: claim.failed, "the attempt fails")

    def now(self, claim):
        """Only tell."""


def main(hosts, name, timeout_s):
    """Obey until stdin ends."""
    person = Person(hosts, name, timeout_s)
    say({"session": person.client.client_id[0]})
    for line in sys.stdin:
        try:
            say(person.obey(*line.split()))
        except Exception as error:  # noqa: BLE001  it is told to whoever asks
            say({"failed": repr(error)})
    person.client.stop()


def say(answer):
    """One line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
