"""The observer turns a live server into a true world, with both kinds of watches."""

import threading
from collections.abc import Callable

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl, make_digest_acl
from servers import RunningServer, ask
from waiting import eventually
from zk.observed import Observation, names, observing, picture

from zktop.model.facts import Denied, Gone, Link, Node
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_id
from zktop.model.settings import Settings
from zktop.model.world.missing_roots import missing_roots
from zktop.model.world.tables_of_one_server import MARK
from zktop.zk.connect import zookeeper_session

Way = dict[str, object]  # the part of a plan that selects the kind of watches

pytestmark = pytest.mark.parametrize(
    "way", [{"persistent": True}, {"persistent": False}], ids=["persistent", "one-shot"]
)


def test_a_queue_of_kazoo_locks_is_read(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Each contender has its owner and its data."""
    lock = client.Lock(f"{root}/orders", "worker-a")
    lock.acquire()

    with observing(zookeeper.address, f"{root}/*", **way) as live:
        (contender,) = live.world.family(f"{root}/orders")

    assert contender.name.endswith("__lock__0000000000")
    assert contender.data == b"worker-a"
    assert contender.stat is not None
    assert contender.stat.owner == session_id(client.client_id[0])
    lock.release()


def test_arrivals_and_departures_are_followed(
    zookeeper: RunningServer,
    client: KazooClient,
    clients: Callable[[], KazooClient],
    root: str,
    way: Way,
) -> None:
    """A waiter appears behind the holder, and remains alone when the holder leaves."""
    holder, waiter = client.Lock(f"{root}/l", "holder"), clients().Lock(f"{root}/l", "waiter")
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        holder.acquire()
        waiting = threading.Thread(target=waiter.acquire)
        waiting.start()
        live.until(lambda _world: _labels(live, f"{root}/l") == [b"holder", b"waiter"])
        holder.release()
        live.until(lambda _world: _labels(live, f"{root}/l") == [b"waiter"])
        waiting.join()

    waiter.release()


def test_one_recursive_watch_suffices_where_supported(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """A pattern needs one recursive watch, else one watch per folder and none per contender."""
    for number in range(3):
        client.create(f"{root}/l{number}/x-0000000000", makepath=True)

    with observing(zookeeper.address, f"{root}/*", **way) as live:
        watches = live.source.cost().watches

    assert watches == (1 if way["persistent"] else 1 + 1 + 3)  # the base has two kinds of watches


def test_a_root_may_appear_vanish_and_return(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """A root is Gone until it exists, and watched all the time."""
    path = f"{root}/a/later"
    with observing(zookeeper.address, path, **way) as live:
        assert any(isinstance(fact, Gone) and fact.path == path for fact in live.facts)
        for number in range(2):
            client.create(f"{path}/m-{number:010d}", makepath=True)
            live.until(lambda world, n=number: names(world, path) == {f"m-{n:010d}"})
            client.delete(path, recursive=True)
            live.until(lambda world: world.node(path) is None and not names(world, path))


def test_a_missing_root_is_reported_until_it_appears(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """The report has a similar name beside it, listed once per connection."""
    client.create(f"{root}/locks", makepath=True)
    settings = Settings(roots=(Root(f"{root}/lock/*"),))
    with observing(zookeeper.address, f"{root}/lock/*", **way) as live:
        world = live.until(lambda world: list(missing_roots(world, settings)))
        (missing,) = missing_roots(world, settings)
        client.create(f"{root}/lock")
        live.until(lambda world: not list(missing_roots(world, settings)))

    assert (missing.base, missing.meant) == (f"{root}/lock", f"{root}/locks/*")


def test_subfolders_of_a_lock_are_opened(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Curator's semaphore has queue and leases one level deeper; both may be empty."""
    client.create(f"{root}/sem/leases", makepath=True)
    client.create(f"{root}/sem/locks")
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        client.create(f"{root}/sem/leases/_c_1-lease-0000000000", b"x", ephemeral=True)
        world = live.until(lambda world: names(world, f"{root}/sem/leases"))

        assert names(world, f"{root}/sem") == {"leases", "locks"}
    client.delete(f"{root}/sem/leases/_c_1-lease-0000000000")


def test_the_queue_beside_a_kazoo_semaphore_belongs_to_an_exact_root(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Its waiters queue in a lock beside the znode of its leases."""
    with observing(zookeeper.address, f"{root}/sem", **way) as live:
        client.create(f"{root}/sem-__lock__/a__lock__0000000000", makepath=True)
        live.until(lambda world: names(world, f"{root}/sem-__lock__"))


def test_a_znode_that_is_the_lock_itself_is_noticed_when_created_again(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """A recreated znode is read again, with its owner and data."""
    path = f"{root}/leader"
    client.create(path, b"first", ephemeral=True)
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        batch = client.transaction()
        batch.delete(path)
        batch.create(path, b"second", ephemeral=True)
        batch.commit()
        live.until(lambda world: (node := world.node(path)) and node.data == b"second", 15)
    client.delete(path)


def test_data_that_changes_is_read_again(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """The data of a root has the number of leases of a semaphore."""
    path = f"{root}/sem"
    client.create(path, b"3")
    with observing(zookeeper.address, path, **way) as live:
        client.set(path, b"4")
        live.until(lambda world: (node := world.node(path)) and node.data == b"4")


def test_the_listing_of_a_lock_has_its_newest_version(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Though a change of its data adds no child."""
    path = f"{root}/sem"
    client.create(path, b"3")
    with observing(zookeeper.address, path, audit_every=600.0, **way) as live:
        newest = client.set(path, b"4").mzxid
        live.until(lambda world: (stat := world.family(path).stat) and stat.mzxid == newest, 15)


def test_a_deleted_lock_is_not_listed_again(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Nothing is left of it, however many locks come and go."""
    path = f"{root}/lock"
    client.create(path)
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        batch = client.transaction()
        batch.create(f"{path}/m-0000000000")
        batch.delete(f"{path}/m-0000000000")
        batch.delete(path)
        batch.commit()
        live.until(lambda world: not names(world, root))

        assert path not in live.source._watcher.unconfirmed


def test_ten_thousand_children_are_read(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """All children are read with data, and the next change is followed."""
    _create(client, [f"{root}/m-{number:010d}" for number in range(10_000)])
    with observing(zookeeper.address, root, **way) as live:
        assert len(live.world.family(root).members) == 10_000
        assert all(one.data == b"worker" for one in live.world.family(root))
        client.delete(f"{root}/m-0000000500")
        live.until(lambda world: world.node(f"{root}/m-0000000500") is None)


def test_after_a_burst_both_kinds_of_watches_agree(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Worlds of both kinds of watches are equal, with the parents' counters."""
    client.create(f"{root}/l")
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        alive = [client.create(f"{root}/l/n-", b"x", sequence=True) for _ in range(50)]
        going = []
        for number in range(300):
            alive.append(client.create_async(f"{root}/l/n-", b"x", sequence=True).get())
            going.append(client.delete_async(alive.pop(number % 50)))
        for one in going:
            one.get(10)
        live.until(
            lambda world: names(world, f"{root}/l") == {p.rpartition("/")[2] for p in alive}
        )
        stat = client.exists(f"{root}/l")
        live.until(lambda world: (s := world.family(f"{root}/l").stat) and s.pzxid == stat.pzxid)
        live.until(lambda world: all(one.stat for one in world.family(f"{root}/l")))
        with observing(zookeeper.address, f"{root}/*", persistent=not way["persistent"]) as fresh:
            eventually(lambda: picture(live.world, root) == picture(fresh.world, root))

        assert not live.world.family(f"{root}/l").absent


def test_short_lived_znodes_are_not_read(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """In a fast churn, znodes are read only after they have lived for a while."""
    client.create(f"{root}/l")
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        before = live.source.cost().requests
        for number in range(300):
            client.create_async(f"{root}/l/n-{number:010d}")
            client.delete_async(f"{root}/l/n-{number:010d}")
        client.create(f"{root}/l/last-0000000000", b"seen")
        live.until(lambda world: (node := world.node(f"{root}/l/last-0000000000")) and node.data)

        assert live.source.cost().requests - before < 100
        assert not way["persistent"] or sum(isinstance(f, Gone) for f in live.facts) >= 300


def test_an_unreadable_member_is_known_without_its_data(
    zookeeper: RunningServer,
    client: KazooClient,
    root: str,
    way: Way,
) -> None:
    """It is known by its name and the visible Stat, also when it arrives later."""
    secret = [make_digest_acl("somebody", "else", all=True)]
    client.create(f"{root}/l")
    client.create(f"{root}/l/m-0000000000", b"secret", acl=secret)
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        world = live.until(lambda world: (n := world.node(f"{root}/l/m-0000000000")) and n.stat)
        hidden = world.node(f"{root}/l/m-0000000000")
        assert hidden is not None
        assert hidden.data is None
        client.create(f"{root}/l/m-0000000001", b"secret", acl=secret)
        live.until(lambda world: world.node(f"{root}/l/m-0000000001"))
        client.delete(f"{root}/l/m-0000000000")
        live.until(lambda world: world.node(f"{root}/l/m-0000000000") is None)


@pytest.mark.parametrize("pattern", ["*", "**"])
def test_an_unlistable_lock_is_denied_until_the_acl_opens(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way, pattern: str
) -> None:
    """A change of an ACL sends no event, so the listing is tried again."""
    opened = make_acl("world", "anyone", all=True)
    admin = make_acl("world", "anyone", admin=True, create=True)
    client.create(f"{root}/l/m-0000000000", makepath=True)
    client.set_acls(f"{root}/l", [admin])
    with observing(zookeeper.address, f"{root}/{pattern}", **way) as live:
        assert live.world.family(f"{root}/l").denied
        assert any(isinstance(f, Denied) and f.what == "list" for f in live.facts)
        client.set_acls(f"{root}/l", [opened])
        live.until(lambda world: names(world, f"{root}/l") == {"m-0000000000"})


def test_a_lock_that_is_named_is_read_though_its_folder_may_not_be_listed(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Another root would have listed it in vain; a named lock may also be created later."""
    folder = f"{root}/locks"
    client.create(f"{folder}/a/m-0000000000", makepath=True)
    client.set_acls(folder, [make_acl("world", "anyone", admin=True, create=True, delete=True)])
    roots = [f"{folder}/{name}" for name in ("*", "a", "b")]
    with observing(zookeeper.address, *roots, **way) as live:
        live.until(lambda world: names(world, f"{folder}/a") == {"m-0000000000"})
        client.create(f"{folder}/a/m-0000000001")
        live.until(lambda world: len(names(world, f"{folder}/a")) == 2)
        client.create(f"{folder}/b")
        client.create(f"{folder}/b/m-0000000000")
        live.until(lambda world: names(world, f"{folder}/b") == {"m-0000000000"})
    client.set_acls(folder, [make_acl("world", "anyone", all=True)])


def test_an_acl_that_closes_under_way_is_noticed(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """The audit finds that the listing is refused now."""
    client.create(f"{root}/l/m-0000000000", makepath=True)
    plan: dict[str, object] = way | {"audit_every": 1.0}
    with observing(zookeeper.address, f"{root}/*", **plan) as live:
        client.set_acls(f"{root}/l", [make_acl("world", "anyone", admin=True)])
        live.until(lambda world: world.family(f"{root}/l").denied)
    client.set_acls(f"{root}/l", [make_acl("world", "anyone", all=True)])


def test_over_the_watch_budget_changes_are_polled(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Polling uses fewer watches and more time, and is reported."""
    for number in range(6):
        client.create(f"{root}/l{number}/m-0000000000", makepath=True)
    plan: dict[str, object] = way | {"watch_budget": 3}
    with observing(zookeeper.address, f"{root}/*", **plan) as live:
        for number in range(6):
            client.create(f"{root}/l{number}/m-0000000001")
        live.until(lambda world: all(len(names(world, f"{root}/l{n}")) == 2 for n in range(6)))

        assert live.source.cost().watches <= 4
        assert way["persistent"] == (not live.source.degraded())


def test_inside_a_chroot_paths_are_the_client_s(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """The root of the facts is the chroot."""
    client.create(f"{root}/locks/a/m-0000000000", makepath=True)
    with observing(zookeeper.address + root, "/locks/*", **way) as live:
        assert names(live.world, "/locks/a") == {"m-0000000000"}
        client.create(f"{root}/locks/a/m-0000000001", ephemeral=True)
        live.until(lambda world: names(world, "/locks/a") == {"m-0000000000", "m-0000000001"})
    client.delete(f"{root}/locks/a/m-0000000001")


def test_a_missing_chroot_is_said_until_it_exists(
    zookeeper: RunningServer,
    client: KazooClient,
    root: str,
    way: Way,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The connection may last for days."""
    monkeypatch.setattr(zookeeper_session, "CHROOT_CHECK_S", 0.05)
    with observing(f"{zookeeper.address}{root}/later", "/locks/*", **way) as live:
        said = f"the chroot {root}/later does not exist"
        assert said in live.source.degraded()
        client.create(f"{root}/later")
        eventually(lambda: said not in live.source.degraded())


@pytest.mark.parametrize("chroot", ["", "/app"])
def test_other_zktops_know_a_zktop_even_after_the_node_of_the_mark_was_created(
    zookeeper: RunningServer, client: KazooClient, chroot: str, way: Way
) -> None:
    """Its watch has fired then."""
    port = int(zookeeper.address.rpartition(":")[2])
    with observing(zookeeper.address + chroot, "/nothing", **way):
        eventually(lambda: MARK in ask(port, "wchc"))
        client.create(MARK)
        try:
            eventually(lambda: MARK in ask(port, "wchc"))
        finally:
            client.delete(MARK)


def test_names_with_control_characters_are_asked_for_as_they_are(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Facts have clean text; requests have the name as the server knows it."""
    client.create(f"{root}/a\u202eb/m-0000000000", b"x", makepath=True)

    with observing(zookeeper.address, f"{root}/*", **way) as live:
        assert names(live.world, root) == {"a\ufffdb"}
        assert names(live.world, f"{root}/a\ufffdb") == {"m-0000000000"}


def test_the_connection_is_a_fact(zookeeper: RunningServer, root: str, way: Way) -> None:
    """The link is connecting, then connected, with session and server."""
    with observing(zookeeper.address, root, **way) as live:
        pass

    links = [fact for fact in live.facts if isinstance(fact, Link)]
    assert [link.state for link in links] == ["connecting", "connected"]
    assert links[1].session
    assert links[1].server == zookeeper.address


def test_facts_of_one_lock_come_in_order(
    zookeeper: RunningServer, client: KazooClient, root: str, way: Way
) -> None:
    """Events before 3.9 carry no zxid; the computed one keeps the order."""
    client.create(f"{root}/l")
    with observing(zookeeper.address, f"{root}/*", **way) as live:
        for number in range(50):
            client.create(f"{root}/l/m-{number:010d}")
            client.delete(f"{root}/l/m-{number:010d}")
        client.create(f"{root}/l/end-0000000000")
        live.until(lambda world: world.node(f"{root}/l/end-0000000000"))

    zxids = [fact.zxid for fact in live.facts if isinstance(fact, Node | Gone)]
    assert zxids == sorted(zxids)


def _labels(live: Observation, path: str) -> list[bytes | None]:
    return [one.data for one in sorted(live.world.family(path), key=lambda one: one.name[-10:])]


def _create(client: KazooClient, paths: list[str]) -> None:
    for start in range(0, len(paths), 500):
        batch = client.transaction()
        for path in paths[start : start + 500]:
            batch.create(path, b"worker")
        batch.commit()
