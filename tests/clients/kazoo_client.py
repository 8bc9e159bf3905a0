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
import uuid
from datetime import UTC, datetime, timedelta

import kazoo.exceptions
import kazoo.recipe.lock
from kazoo.client import KazooClient

PATIENCE_S = 20.0


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


class OldReadLock(kazoo.recipe.lock.ReadLock):
    """As in kazoo 2.8.0 (issue 649): a reader takes a writer behind it for its predecessor."""

    def _get_predecessor(self, node):
        predecessor = None
        found = map(self._contenders_re.search, self.client.get_children(self.path))
        for match in sorted((one for one in found if one), key=lambda one: one.groups()):
            if match.string == node:
                break
            predecessor = match.string
        return predecessor


class ForgetfulLock(kazoo.recipe.lock.Lock):
    """After a lost answer it looks for its node on a server that lags, and sees none."""

    def _find_node(self):
        return None


class CarelessLock:
    """Mistakes that libraries were cured of.

    It does not look what a lost create has left behind, nor whether its predecessor was still
    there when it was watched.
    """

    prefix = "lock-"
    stops_before_watching = False

    def __init__(self, client, path, name):
        self.client, self.path, self.name = client, path, name
        self.wake, self.goes_on = threading.Event(), threading.Event()
        self.is_listed, self.has_looked = threading.Event(), threading.Event()
        self.node = None

    def acquire(self):
        """Queue until nobody is in front."""
        self.client.ensure_path(self.path)
        self.node = self._created().rpartition("/")[2]
        while True:
            queue = sorted(self.client.get_children(self.path), key=lambda name: name[-10:])
            place = queue.index(self.node)
            if place == 0:
                return
            self.is_listed.set()
            if self.stops_before_watching:
                self.goes_on.wait()
            with contextlib.suppress(kazoo.exceptions.NoNodeError):
                self._watch(f"{self.path}/{queue[place - 1]}")
            self.has_looked.set()
            self.wake.wait()
            self.wake.clear()

    def release(self):
        """Leave the queue."""
        self.client.delete(f"{self.path}/{self.node}")

    def _watch(self, path):
        self.client.exists(path, watch=lambda _event: self.wake.set())

    def _created(self):
        while True:
            with contextlib.suppress(kazoo.exceptions.ConnectionLoss):
                return self.client.create(
                    f"{self.path}/{self.prefix}", self.name.encode(), ephemeral=True, sequence=True
                )
            self.client.handler.sleep_func(0.01)


class Dawdler(CarelessLock):
    """Stops between its listing and its watch until it is told to go on; by name it is kazoo's."""

    prefix = f"{uuid.uuid4().hex}__lock__"
    stops_before_watching = True


class DawdlingReader(Dawdler):
    """The same, and it watches by reading: of a znode that is gone there is no watch at all."""

    def _watch(self, path):
        self.client.get(path, watch=lambda _event: self.wake.set())


class Lease:
    """kazoo's lease that nobody waits for: it is obtained, or it is not."""

    def __init__(self, client, path, name):
        self.client, self.path, self.name = client, path, name

    def acquire(self):
        """Try."""
        lasts = timedelta(minutes=5)
        utcnow = lambda: datetime.now(UTC).replace(tzinfo=None)  # noqa: E731
        self.got = self.client.NonBlockingLease(self.path, lasts, self.name, utcnow=utcnow)
        if not self.got:
            raise LookupError("somebody else has the lease")


class Leader:
    """A candidate that leads until it is told to stop."""

    def __init__(self, client, path, name):
        self.election = client.Election(path, name)
        self.leads, self.ends = threading.Event(), threading.Event()

    def acquire(self):
        """Run for leadership in the background; come back as leader."""
        threading.Thread(target=self.election.run, args=(self._lead,), daemon=True).start()
        self.leads.wait()

    def release(self):
        """Step down."""
        self.ends.set()

    def _lead(self):
        self.leads.set()
        self.ends.wait()


RECIPES = {
    "Lock": lambda client, path, name, _n: client.Lock(path, name),
    "ReadLock": lambda client, path, name, _n: client.ReadLock(path, name),
    "WriteLock": lambda client, path, name, _n: client.WriteLock(path, name),
    "Semaphore": lambda client, path, name, n: client.Semaphore(path, name, max_leases=n),
    "Election": lambda client, path, name, _n: Leader(client, path, name),
    "NonBlockingLease": lambda client, path, name, _n: Lease(client, path, name),
    "OldReadLock": lambda client, path, name, _n: OldReadLock(client, path, name),
    "ForgetfulLock": lambda client, path, name, _n: ForgetfulLock(client, path, name),
    "TolerantLock": lambda client, path, name, _n: client.Lock(path, name, ("-lock-",)),
    "PersistentLock": lambda client, path, name, _n: client.Lock(path, name),
    "CarelessLock": lambda client, path, name, _n: CarelessLock(client, path, name),
    "Dawdler": lambda client, path, name, _n: Dawdler(client, path, name),
    "DawdlingReader": lambda client, path, name, _n: DawdlingReader(client, path, name),
}


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


def until(condition):
    """Wait for something that nobody announces."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
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
        until(lambda: claim.has_it or claim.failed)

    def ask(self, claim):
        """Come back when it waits."""
        before = claim.now()
        claim.start()
        until(lambda: claim.has_settled(before))

    def list(self, claim):
        """Come back when a dawdler has listed the queue and has not yet looked further."""
        claim.start()
        until(claim.thing.is_listed.is_set)

    def go_on(self, claim):
        """Let a dawdler look."""
        claim.thing.goes_on.set()
        until(claim.thing.has_looked.is_set)

    def release(self, claim):
        """Let it go."""
        claim.thing.release()
        claim.has_it = False

    def cancel(self, claim):
        """Stop waiting."""
        claim.thing.cancel()
        until(lambda: claim.failed)

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
