"""Locks are found in a shared tree without a watch on all of it."""

import re
from collections.abc import Iterator, Sequence

import pytest
from each_server import EITHER, server_of
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl
from servers import RunningServer, kazoo_client
from waiting import eventually
from zk.observed import names, observing
from zk.read.test_requests_in_flight import _reader

from zktop.zk import Access, Plan, Source, parse_hosts
from zktop.zk.read.batch import SiblingNames
from zktop.zk.read.requests_in_flight import ThenAll
from zktop.zk.watch import discovery
from zktop.zk.watch.discovery import Discovery
from zktop.zk.watch.lock_signs import might_be_a_lock
from zktop.zk.watch.root_pattern import RootPattern, looks_like_a_member
from zktop.zk.watch.root_watcher import RootWatcher

OFTEN = 200
EVENTS_BYTES = OFTEN * 50  # the least size of that many events


@pytest.fixture(scope="module", params=EITHER)
def busy(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """A server with two folders of locks, a lock at the top, and many other znodes."""
    with server_of(request.param) as server:
        client = KazooClient(server.address)
        client.start()
        for path in ("/app/locks/a", "/app/locks/b", "/app/deep/er/locks/c", "/top"):
            client.create(f"{path}/x__lock__0000000000", b"who", makepath=True)
        for number in range(50):
            client.create(f"/app/config/key-{number}", makepath=True)
        yield server
        client.stop()
        client.close()


@pytest.fixture
def writer(busy: RunningServer) -> Iterator[KazooClient]:
    """A client that changes that server."""
    with kazoo_client(busy.address) as client:
        yield client


@pytest.mark.parametrize("roots", [(), ("/**",)], ids=["no root", "everything"])
def test_locks_are_found_wherever_they_are(busy: RunningServer, roots: tuple[str, ...]) -> None:
    """All locks are found with their contenders, and nothing else is read."""
    with observing(busy.address, *roots, looks_like_a_lock=_has_places) as live:
        for path in ("/app/locks/a", "/app/locks/b", "/app/deep/er/locks/c", "/top"):
            (contender,) = live.world.family(path)
            assert contender.data == b"who"
        assert not live.world.family("/app/config").members
        assert not live.world.family("/zookeeper").members


def test_a_demo_lock_that_is_a_single_node_is_found(
    busy: RunningServer, writer: KazooClient
) -> None:
    """Neither its name nor that of its folder sounds like a lock."""
    writer.create("/zktop-demo/printer", b"who", ephemeral=True, makepath=True)
    try:
        with observing(busy.address) as live:
            eventually(lambda: live.world.node("/zktop-demo/printer"), 5)
    finally:
        writer.delete("/zktop-demo", recursive=True)


def test_the_semaphore_beside_its_queue_is_found(busy: RunningServer, writer: KazooClient) -> None:
    """Its only child is foreign and takes the permit, so that no client has a lease."""
    writer.create("/zktop-pools/deep/s/note", makepath=True)
    writer.create("/zktop-pools/deep/other/thing", makepath=True)
    queue = f"/zktop-pools/deep/s-__lock__/{'a' * 32}__lock__0000000000"
    writer.create(queue, ephemeral=True, makepath=True)
    try:
        with observing(busy.address) as live:
            live.until(lambda world: names(world, "/zktop-pools/deep/s") == {"note"})
    finally:
        writer.delete("/zktop-pools", recursive=True)


def test_folders_that_may_not_be_listed_are_named(
    busy: RunningServer, writer: KazooClient
) -> None:
    """A folder hidden by an ACL is named as not searched."""
    acl = [make_digest_acl("app", "secret", all=True)]
    writer.add_auth("digest", "app:secret")
    for path in ("/app/hidden-1", "/app/hidden-2"):
        writer.create(path, acl=acl)
    try:
        with observing(busy.address, looks_like_a_lock=_has_places) as live:
            (said,) = live.source.degraded()
    finally:
        for path in ("/app/hidden-1", "/app/hidden-2"):
            writer.delete(path)

    assert re.fullmatch(
        "the search for locks cannot list /app/hidden-[12] and 1 more: give --auth", said
    )


def test_a_folder_that_may_not_be_listed_is_named_as_long_as_it_is_hidden(
    busy: RunningServer, writer: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later walks do not list the watched folder of locks that contains it."""
    monkeypatch.setattr(discovery, "SMALL_WALK_EVERY_S", 0.1)
    writer.add_auth("digest", "app:secret")
    hidden = "/app/locks/hidden"
    writer.create(hidden, acl=[make_digest_acl("app", "secret", all=True)])
    try:
        with observing(busy.address, looks_like_a_lock=_has_places) as live:
            walks = live.source._discovery.walks
            eventually(lambda: live.source._discovery.walks > walks + 1)
            said = live.source.degraded()
    finally:
        writer.delete(hidden)

    assert f"the search for locks cannot list {hidden}: give --auth" in said


@pytest.mark.parametrize(("chroot", "is_noted"), [("/top", True), ("/app", False)])
def test_a_chroot_that_may_be_a_lock_is_noted(
    busy: RunningServer, chroot: str, *, is_noted: bool
) -> None:
    """Only locks below it are shown."""
    with observing(f"{busy.address}{chroot}", looks_like_a_lock=_has_places) as live:
        said = " ".join(live.source.degraded())

    assert ("the chroot /top has numbered children: if it is a lock" in said) == is_noted


def test_the_watches_are_on_the_narrowest_parents(
    busy: RunningServer, writer: KazooClient
) -> None:
    """Two folders and one lock are watched; events elsewhere are not received."""
    with observing(busy.address, looks_like_a_lock=_has_places) as live:
        assert live.source.cost().watches == 3
        before = live.source.cost().bytes_in
        _set_often(writer, "/app/config/key-1")
        writer.create("/app/locks/a/x__lock__0000000001", ephemeral=True)
        live.until(lambda world: len(names(world, "/app/locks/a")) == 2)
        assert live.source.cost().bytes_in - before < EVENTS_BYTES / 2
        writer.delete("/app/locks/a/x__lock__0000000001")


def test_new_places_are_found_later(
    busy: RunningServer, writer: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree is searched again from time to time."""
    monkeypatch.setattr(discovery, "WALK_EVERY_S", 0.2)
    with observing(busy.address, looks_like_a_lock=_has_places) as live:
        watches = live.source.cost().watches
        writer.create("/new/locks/d/x__lock__0000000000", b"who", makepath=True)
        live.until(lambda world: names(world, "/new/locks/d"))
        assert live.source.cost().watches == watches + 1
        writer.delete("/new", recursive=True)
        eventually(lambda: live.source.cost().watches == watches)


def test_a_flood_is_narrowed_to_where_the_locks_are(
    busy: RunningServer, writer: KazooClient
) -> None:
    """A root of open depth watches everything below it until the events are too many."""
    with observing(
        busy.address, "/app/**", flood_per_second=30, looks_like_a_lock=_has_places
    ) as live:
        assert live.source.cost().watches == 1
        _set_often(writer, "/app/config/key-1")
        eventually(lambda: live.source.cost().watches == 2)
        before = live.source.cost().bytes_in
        _set_often(writer, "/app/config/key-1")
        writer.create("/app/locks/a/x__lock__0000000001", ephemeral=True)
        live.until(lambda world: len(names(world, "/app/locks/a")) == 2)
        assert live.source.cost().bytes_in - before < EVENTS_BYTES / 2
        writer.delete("/app/locks/a/x__lock__0000000001")


def test_after_a_flood_a_root_far_from_the_top_is_searched(
    busy: RunningServer, writer: KazooClient
) -> None:
    """The search goes from the top to the base of the root."""
    writer.create("/app/deep/two/x__lock__0000000000", b"who", makepath=True)
    with observing(
        busy.address, "/app/deep/**", flood_per_second=30, looks_like_a_lock=_has_places
    ) as live:
        _set_often(writer, "/app/deep/er")
        eventually(lambda: live.source.cost().watches == 2)  # one for each folder of locks
    writer.delete("/app/deep/two", recursive=True)


def test_a_flood_of_one_root_leaves_the_others_that_share_its_watch(
    busy: RunningServer, writer: KazooClient
) -> None:
    """The narrow root is still watched while the other is searched."""
    roots = ("/app/**", "/app/conf*")
    with observing(
        busy.address, *roots, flood_per_second=30, looks_like_a_lock=_has_places
    ) as live:
        _set_often(writer, "/app/deep/er/locks/c")
        eventually(lambda: live.source.cost().watches == 3)  # and one for each folder of locks
        writer.create("/app/config/x__lock__0000000001", b"ann", ephemeral=True)
        live.until(lambda world: "x__lock__0000000001" in names(world, "/app/config"))
        writer.delete("/app/config/x__lock__0000000001")


@pytest.mark.parametrize("persistent", [True, False], ids=["persistent", "one-shot"])
def test_a_flood_of_one_root_leaves_a_root_below_it(
    busy: RunningServer, writer: KazooClient, *, persistent: bool
) -> None:
    """The tree of the wide root has the folders of the narrow one, too."""
    roots = ("/app/**", "/app/locks/a")
    with observing(
        busy.address,
        *roots,
        persistent=persistent,
        flood_per_second=5,
        looks_like_a_lock=lambda _path, _names: False,  # the search does not find it again
    ) as live:
        watches = live.source.cost().watches
        left = watches - 1 if persistent else watches // 2

        def is_flooded() -> bool:
            writer.create("/app/config/often-", sequence=True)
            return live.source.cost().watches <= left

        eventually(is_flooded)
        writer.create("/app/locks/a/x__lock__0000000001", ephemeral=True)
        live.until(lambda world: len(names(world, "/app/locks/a")) == 2)
        writer.delete("/app/locks/a/x__lock__0000000001")


def test_a_flood_of_locks_is_polled(busy: RunningServer, writer: KazooClient) -> None:
    """A lock with too many events is polled once a second, and reported as such."""
    with observing(busy.address, "/app/locks/*", flood_per_second=30) as live:
        _set_often(writer, "/app/locks/a/x__lock__0000000000")
        eventually(lambda: live.source.cost().watches == 0)
        writer.create("/app/locks/b/x__lock__0000000001", ephemeral=True)
        live.until(lambda world: len(names(world, "/app/locks/b")) == 2)
        assert "polled" in live.source.degraded()[0]
        writer.delete("/app/locks/b/x__lock__0000000001")


def test_a_pattern_from_the_top_needs_no_recognition(busy: RunningServer) -> None:
    """With `/*/locks` the pattern decides what is a lock."""
    with observing(
        busy.address, "/*/locks", looks_like_a_lock=lambda _path, _names: False
    ) as live:
        assert names(live.world, "/app/locks") == {"a", "b"}
        assert not live.world.family("/top").members


# Large trees


@pytest.fixture(scope="module", params=EITHER)
def large(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """A server with wide folders: rows, numbered items, and lock folders of which few are used."""
    with server_of(request.param) as server:
        client = KazooClient(server.address)
        client.start()
        _create(client, ["/table", "/items", "/orders"])
        _create(client, [f"/table/row-{number}" for number in range(11_000)], b"a row")
        _create(client, [f"/items/i-{number:010d}" for number in range(1_500)], b"an item")
        _create(client, [f"/orders/order-{number}" for number in range(1_500)])
        for path in ("/table/row-77", "/orders/order-8", "/orders/order-1400"):
            client.create(f"{path}/x__lock__0000000000", b"who", ephemeral=True)
        yield server
        client.stop()
        client.close()


@pytest.mark.parametrize("introspect", [True, False], ids=["ephemerals listed", "not listed"])
def test_no_folder_is_left_out_because_of_its_length(
    large: RunningServer, *, introspect: bool
) -> None:
    """Locks among rows and among empty folders are found; the rows and items are not read."""
    with observing(large.address, introspect=introspect) as live:
        for path in ("/table/row-77", "/orders/order-8", "/orders/order-1400"):
            assert names(live.world, path), path
        assert names(live.world, "/table") == {"row-77"}
        assert not live.world.family("/items").members


def test_empty_lock_folders_are_read_last_and_share_one_watch(
    large: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then a sentence says that they are not read."""
    monkeypatch.setattr(discovery, "MOSTLY_EMPTY_AFTER_S", 2.5)
    with observing(large.address) as live:
        (said,) = live.source.degraded()
        assert said == "most of 1,500 lock folders in /orders are empty: not read yet"
        live.until(lambda world: len(names(world, "/orders")) == 1_500)
        eventually(lambda: live.source.cost().watches == 2)
        assert not live.source.degraded()


def test_old_servers_are_not_asked_for_empty_lock_folders(
    large: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There each would take a watch of its own; a sentence says how to ask for them."""
    monkeypatch.setattr(discovery, "MOSTLY_EMPTY_AFTER_S", 0.0)
    with observing(large.address, persistent=False) as live:
        (said,) = live.source.degraded()
        assert said == "most of 1,500 lock folders in /orders are empty: not read: give --root"
        assert names(live.world, "/orders/order-8")


def test_places_without_a_session_are_read_up_to_a_limit(
    large: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that may be locks all the same are named, with a way to ask for them."""
    monkeypatch.setattr(discovery, "MAX_UNOWNED_ZNODES", 0)
    client = KazooClient(large.address)
    client.start()
    client.create("/hive/LOCK-SHARED-0000000001", makepath=True)
    try:
        with observing(large.address) as live:
            assert (
                "the search for locks skips 1 place where no session owns a znode, such as "
                "/hive: give --root"
            ) in live.source.degraded()
    finally:
        client.delete("/hive", recursive=True)
        client.stop()
        client.close()


@pytest.mark.parametrize("roots", [("/**",), ("/**", "/app/locks/*")], ids=["one root", "two"])
def test_places_without_a_session_are_counted_once(
    busy: RunningServer, roots: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often they are found, also if another root covers them."""
    monkeypatch.setattr(discovery, "MAX_UNOWNED_ZNODES", 5)
    monkeypatch.setattr(discovery, "WALK_EVERY_S", 0.05)
    with observing(busy.address, *roots, looks_like_a_lock=_has_places) as live:
        eventually(lambda: live.source._discovery.walks > 5)
        assert not live.source.degraded()


def test_places_without_a_session_count_while_they_exist(
    busy: RunningServer, writer: KazooClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place of the past takes nothing from those of today."""
    monkeypatch.setattr(discovery, "MAX_UNOWNED_ZNODES", 5)
    monkeypatch.setattr(discovery, "WALK_EVERY_S", 0.05)
    with observing(busy.address, looks_like_a_lock=_has_places) as live:
        watches = live.source.cost().watches
        for number in range(4):
            path = f"/day-{number}/x__lock__0000000000"
            writer.create(path, b"who", makepath=True)
            live.until(lambda world, path=path: world.node(path))
            writer.delete(f"/day-{number}", recursive=True)
            eventually(lambda: live.source.cost().watches == watches)


def test_the_progress_of_the_search_is_known(large: RunningServer) -> None:
    """It names the znodes searched, and about how many there are; a report made then says it."""
    source = Source(
        Access(parse_hosts(large.address)), Plan(introspect=False, requests_per_second=30)
    )
    source.start()
    try:
        eventually(lambda: not source.run_until_read(0.05) and source.progress())
        said = source.progress()
        assert source.degraded() == (f"the search for locks continues: {said}",)
        assert source.run_until_read(60)
    finally:
        source.close()

    found = re.fullmatch(r"([\d,]+) of about 14,\d\d\d znodes searched", said)
    assert found, said
    assert source.progress() == ""


def test_a_new_place_with_ephemerals_needs_no_walk(busy: RunningServer) -> None:
    """The servers' list of ephemerals names it long before the next walk."""
    client = KazooClient(busy.address)
    client.start()
    with observing(busy.address, introspect=True, sample_every=0.2) as live:
        live.source.post(lambda: setattr(live.source._discovery, "_walk", lambda _number: None))
        client.create("/late/locks/e/x__lock__0000000000", b"", ephemeral=True, makepath=True)
        live.until(lambda world: names(world, "/late/locks/e"))
    client.delete("/late", recursive=True)
    client.stop()
    client.close()


def test_places_that_come_before_a_walk_wait_for_it() -> None:
    """A walk on a new connection prefers them itself."""
    reader = _reader()
    watcher = RootWatcher(reader, [].append, watch_budget=1, flood_per_s=1)
    search = Discovery(reader, watcher, [RootPattern("/**")], _has_places, 1)
    search.prefer({"/a"})

    assert reader.idle
    search.start()
    assert not reader.idle


def test_a_second_flooded_root_is_searched_by_the_same_walk() -> None:
    """Although the walk has left out its base before: then no root covered it."""
    reader, asked = _reader(), []

    def read(_operation: int, siblings: Sequence[SiblingNames], then: ThenAll) -> None:
        asked.extend(one.path(name) for one in siblings for name in one.names)
        results = [() for one in siblings for _ in one.names]
        reader.loop.post(then, siblings, results, None)

    reader.read = lambda items, then: then(items, [("a", "b")], None)
    reader.read_siblings = read
    watcher = RootWatcher(reader, [].append, watch_budget=1, flood_per_s=1)
    search = Discovery(reader, watcher, [], _has_places, 1)
    search.take_over(RootPattern("/a/**"))
    search.take_over(RootPattern("/b/**"))
    reader.loop.run_until(lambda: search.done_once, 5.0)

    assert asked == ["/a", "/b"]


def _create(client: KazooClient, paths: Sequence[str], content: bytes = b"") -> None:
    for start in range(0, len(paths), 500):
        batch = client.transaction()
        for path in paths[start : start + 500]:
            batch.create(path, content)
        batch.commit()


def _set_often(writer: KazooClient, path: str) -> None:
    for last in [writer.set_async(path, b"who") for _ in range(OFTEN)]:
        last.get(timeout=10)


def _has_places(_path: str, found: object) -> bool:
    return any(map(looks_like_a_member, found))  # type: ignore[call-overload]  # names of children


def test_possible_locks_are_read() -> None:
    """A znode is a possible lock by its children or its own name."""
    assert might_be_a_lock("/x", ["a__lock__0000000000"])
    assert might_be_a_lock("/x/leader", [])
    assert not might_be_a_lock("/x/config", ["a"])
