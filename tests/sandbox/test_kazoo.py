"""kazoo's recipes behave on the sandbox as on a real server."""

import threading

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, RolledBackError, RuntimeInconsistency
from sandbox.raw_client import RawClient, new

WITHIN_S = 30


@pytest.fixture
def client(either):
    """Makes started clients."""
    made = []

    def start(**options):
        made.append(KazooClient(either.address, **options))
        made[-1].start(WITHIN_S)
        return made[-1]

    yield start
    for one in made:
        one.stop()
        one.close()


def in_background(call, *arguments):
    """The call's result, later."""
    done = threading.Event()
    thread = threading.Thread(target=lambda: (call(*arguments), done.set()), daemon=True)
    thread.start()
    return done


def wait_for(client, path, count):
    """Wait until there are that many children."""
    reached = threading.Event()

    @client.ChildrenWatch(path)
    def _look(names):
        if len(names) >= count:
            reached.set()
            return False
        return True

    assert reached.wait(WITHIN_S), f"{path} has fewer than {count} children"


def test_lock_order(client):
    """Locks are granted in the order of requests, to one holder at a time."""
    clients = [client() for _ in range(3)]
    locks = [one.Lock("/lock", str(number)) for number, one in enumerate(clients)]
    locks[0].acquire()
    waiting = []
    for number in (1, 2):
        waiting.append(in_background(locks[number].acquire))
        wait_for(clients[0], "/lock", number + 1)

    assert locks[0].contenders() == ["0", "1", "2"]
    for number in (0, 1):
        assert [lock.is_acquired for lock in locks] == [number == n for n in range(3)]
        locks[number].release()
        assert waiting[number].wait(WITHIN_S)
    locks[2].release()


def test_a_holder_that_dies(client, either):
    """When a session ends its lock goes to the next."""
    with RawClient(either.port) as holder:
        holder.ask(1, new("/dead"))
        holder.ask(1, new("/dead/" + "0" * 32 + "__lock__", flags=3))
        heir = client()
        had = in_background(heir.Lock("/dead", "heir").acquire)
        wait_for(heir, "/dead", 2)
        early = had.is_set()
        holder.close_session()

        assert not early
        assert had.wait(WITHIN_S)


def test_transaction(client):
    """A failed transaction names the operation that failed, and changes nothing."""
    one = client()
    one.create("/t")
    failing = one.transaction()
    failing.create("/t/a")
    failing.check("/t", 7)
    failing.create("/t/b")
    results = failing.commit()

    assert [type(result) for result in results][::2] == [RolledBackError, RuntimeInconsistency]
    assert isinstance(results[1], KazooException)
    assert one.get_children("/t") == []
    one.delete("/t")


def test_one_delete_for_all_ephemerals(client, either):
    """The ephemerals of one session disappear for others at one moment."""
    watcher = client()
    watcher.create("/group")
    with RawClient(either.port) as member:
        for name in "abc":
            member.ask(1, new(f"/group/{name}", flags=1))
        before = watcher.exists("/group").pzxid
        member.close_session()
    after = watcher.exists("/group")

    assert (after.pzxid, after.numChildren) == (before + 1, 0)


def test_the_same_session_after_a_cut(client, either):
    """After a lost connection the same session and its ephemerals are there again."""
    one = client()
    one.create("/cut", ephemeral=True)
    session, back = one.client_id, threading.Event()
    one.add_listener(lambda state: back.set() if state == "CONNECTED" else None)
    RawClient(either.port, session=session[0], password=b"not the password").line.close()

    assert back.wait(WITHIN_S)
    assert one.client_id == session
    assert one.exists("/cut").ephemeralOwner == session[0]
