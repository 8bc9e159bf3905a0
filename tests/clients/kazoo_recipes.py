"""kazoo's recipes by name, and variants with bugs that libraries have had."""

import contextlib
import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import kazoo.exceptions
import kazoo.recipe.lock
from kazoo.recipe.cache import TreeCache, TreeEvent

INITIALIZED = TreeEvent.INITIALIZED


class OldReadLock(kazoo.recipe.lock.ReadLock):
    """kazoo 2.8.0 (issue 649): a reader takes a writer behind it for its predecessor."""

    def _get_predecessor(self, node):
        predecessor = None
        found = map(self._contenders_re.search, self.client.get_children(self.path))
        for match in sorted((one for one in found if one), key=lambda one: one.groups()):
            if match.string == node:
                break
            predecessor = match.string
        return predecessor


class ForgetfulLock(kazoo.recipe.lock.Lock):
    """After a lost answer it looks for its node on a server that lags, and finds none."""

    def _find_node(self):
        return None


class DashedLock(kazoo.recipe.lock.Lock):
    """Names its nodes like Curator, and counts only such names."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES: ClassVar = ["-lock-"]


class ImpatientLock:
    """Counts Curator's names, and gives up soon."""

    def __init__(self, client, path, name):
        self.lock = client.Lock(path, name, ("-lock-",))

    def acquire(self):
        """Try to acquire the lock."""
        self.lock.acquire(timeout=0.3)


class Cache:
    """kazoo's cache of a tree, which watches every node in it."""

    def __init__(self, client, path):
        self.client, self.cache, self.path = client, TreeCache(client, path), path

    def acquire(self):
        """Read and watch everything."""
        is_read = threading.Event()
        self.cache.listen(lambda event: event.event_type == INITIALIZED and is_read.set())
        self.cache.start()
        is_read.wait()


class CarelessLock:
    """A lock with two bugs that libraries have had.

    It does not search for the node of a lost create, and does not check that its predecessor still
    existed when the watch was set.
    """

    prefix = "lock-"
    stops_before_watching = False

    def __init__(self, client, path, name):
        self.client, self.path, self.name = client, path, name
        self.wake, self.goes_on = threading.Event(), threading.Event()
        self.is_listed, self.has_looked = threading.Event(), threading.Event()
        self.node = None

    def acquire(self):
        """Queue until it is first."""
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


class PausingLock(CarelessLock):
    """Pauses between its listing and its watch; its names are kazoo's."""

    prefix = f"{uuid.uuid4().hex}__lock__"
    stops_before_watching = True


class PausingReader(PausingLock):
    """Pauses too, and watches by reading, which sets no watch on a missing znode."""

    def _watch(self, path):
        self.client.get(path, watch=lambda _event: self.wake.set())


class PausingCurator(PausingReader):
    """Pauses too; its names are Curator's."""

    prefix = f"_c_{uuid.uuid4()}-lock-"


class Lease:
    """A kazoo lease that does not wait."""

    def __init__(self, client, path, name):
        self.client, self.path, self.name = client, path, name

    def acquire(self):
        """Try to obtain it."""
        lasts = timedelta(minutes=5)
        utcnow = lambda: datetime.now(UTC).replace(tzinfo=None)  # noqa: E731
        self.got = self.client.NonBlockingLease(self.path, lasts, self.name, utcnow=utcnow)
        if not self.got:
            raise LookupError("another client has the lease")


class Leader:
    """A candidate that leads until `release` is called."""

    def __init__(self, client, path, name):
        self.election = client.Election(path, name)
        self.leads, self.ends = threading.Event(), threading.Event()

    def acquire(self):
        """Run for leadership in the background; return as leader."""
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
    "DashedLock": lambda client, path, name, _n: DashedLock(client, path, name),
    "ImpatientLock": lambda client, path, name, _n: ImpatientLock(client, path, name),
    "Cache": lambda client, path, _name, _n: Cache(client, path),
    "CarelessLock": lambda client, path, name, _n: CarelessLock(client, path, name),
    "PausingLock": lambda client, path, name, _n: PausingLock(client, path, name),
    "PausingReader": lambda client, path, name, _n: PausingReader(client, path, name),
    "PausingCurator": lambda client, path, name, _n: PausingCurator(client, path, name),
}
