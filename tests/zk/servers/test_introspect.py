"""The servers' own tables become facts, and each refusal a named blind spot."""

import signal
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from kazoo.client import KazooClient
from kazoo.security import OPEN_ACL_UNSAFE, make_digest_acl
from servers import RunningServer, free_port, real_ensemble, real_zookeeper, started_again
from zk.bad_servers import listener, silent
from zk.observed import Observation, observing

from zktop.model.facts import Server
from zktop.model.session_ids import session_id
from zktop.model.world.newest_tables import TableFacts
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.tables_of_one_server import MARK
from zktop.model.world.world import World
from zktop.zk.connect.address import Address, AdminAccess

pytestmark = pytest.mark.zookeeper


@pytest.fixture(scope="module")
def ensemble() -> Iterator[list[RunningServer]]:
    """Three members."""
    with real_ensemble(3) as members:
        yield members


@pytest.fixture(scope="module")
def waiter(ensemble: list[RunningServer]) -> Iterator[KazooClient]:
    """A client of the second member that owns a znode and watches another one."""
    client = KazooClient(ensemble[1].address, timeout=8)
    client.start()
    client.create("/locks/l/m-0000000000", makepath=True)
    client.create("/locks/l/m-0000000001", ephemeral=True)
    for number in range(2):
        client.get(f"/locks/l/m-000000000{number}", watch=lambda _event: None)
    client.create("/locks/l/m-0000000002", ephemeral=True)
    yield client
    client.stop()
    client.close()


@pytest.fixture(params=["admin", "4lw"])
def channel(request: pytest.FixtureRequest) -> str:
    """The way in which the servers are asked."""
    return str(request.param)


def test_all_members_are_found_and_asked(
    ensemble: list[RunningServer], waiter: KazooClient, channel: str
) -> None:
    """From one given address, the others are found in the ensemble's configuration."""
    session = session_id(waiter.client_id[0])
    with _sampled(ensemble[0].address, _admin(ensemble, channel)) as live:
        live.until(lambda world: len(world.tables) == 3)
        tables = live.world.tables
        by_address = {str(server): tables[server] for server in tables}

    assert set(by_address) == {server.address for server in ensemble}
    theirs = by_address[ensemble[1].address]
    assert theirs.server
    assert theirs.server.channel == channel
    assert theirs.server.version == "3.8.0"
    assert theirs.connections
    assert [row.timeout_ms for row in theirs.connections.rows or () if row.session == session] == [
        8000
    ]
    assert theirs.watches
    assert {*(theirs.watches.rows or {})[session]} == {
        "/locks/l/m-0000000000",
        "/locks/l/m-0000000001",
    }
    assert {t.server.mode for t in by_address.values() if t.server} == {"leader", "follower"}


def test_the_connection_that_asks_is_no_client(
    ensemble: list[RunningServer], waiter: KazooClient, channel: str
) -> None:
    """A server counts it, too, while it answers a four-letter word."""
    address = ensemble[1].address
    assert waiter.connected
    with _sampled(ensemble[0].address, _admin(ensemble, channel)) as live:
        live.until(lambda world: _figures(world, address).connections == 1)

        assert _rows(live.world, address)


def test_the_leader_reports_session_expiry(
    ensemble: list[RunningServer], waiter: KazooClient, channel: str
) -> None:
    """Expiry lies within the timeout plus two ticks; owners of watched znodes are listed."""
    session = session_id(waiter.client_id[0])
    with _sampled(ensemble[0].address, _admin(ensemble, channel)) as live:
        world = live.until(
            lambda world: (
                [bool(t.expiry and t.expiry.ephemerals) for t in world.tables.values()]
                == 3 * [True]
            )
        )
        expiry = [t.expiry for t in world.tables.values() if t.expiry]
    left = [one.expires_in_ms[session] for one in expiry if one.expires_in_ms]

    assert len(left) == 1
    assert 0 <= left[0] <= 8000 + 2 * 2000
    assert {one.tick_ms for one in expiry} == {2000}
    assert all((one.ephemerals or {})[session] == ("/locks/l/m-0000000001",) for one in expiry)
    timeouts = [one.timeouts_ms[session] for one in expiry if one.timeouts_ms]
    assert timeouts == ([] if channel == "admin" else [8000, 8000])


@pytest.mark.parametrize("root", ["/hidden/*", "/hidden/**"])
@pytest.mark.parametrize("chroot", ["", "/app"])
def test_the_dump_shows_what_an_acl_hides(
    ensemble: list[RunningServer], channel: str, root: str, chroot: str
) -> None:
    """Every ephemeral below a root that may not be listed, already in the first tables."""
    owner = KazooClient(ensemble[1].address, auth_data=[("digest", "a:b")])
    owner.start()
    base, session = f"{chroot}/hidden", session_id(owner.client_id[0])
    owner.create(f"{base}/l/m-0000000001", ephemeral=True, makepath=True)
    owner.create(f"{base}-not/m-0000000001", ephemeral=True, makepath=True)
    owner.set_acls(base, [make_digest_acl("a", "b", all=True)])
    try:
        with observing(
            ensemble[0].address + chroot,
            root,
            introspect=True,
            admin=_admin(ensemble, channel),
            sample_every=60.0,
        ) as live:
            live.until_sampled()
            dumps = [table.expiry for table in live.world.tables.values() if table.expiry]
    finally:
        owner.set_acls(base, OPEN_ACL_UNSAFE)
        owner.delete(base, recursive=True)
        owner.stop()
        owner.close()

    shown = [(one.ephemerals or {}).get(session) for one in dumps]
    assert shown == [("/hidden/l/m-0000000001",)] * 3


def test_another_members_admin_server_is_ignored(
    ensemble: list[RunningServer],
) -> None:
    """On one machine, port 8080 belongs to only one of the members."""
    admin = AdminAccess(port=ensemble[1].admin_port or 0)
    with _sampled(ensemble[0].address, admin) as live:
        world = live.until(lambda world: len(world.tables) == 3)
        channels = {s: t.server.channel for s, t in world.tables.items() if t.server}

    assert {str(s): c for s, c in channels.items()} == {
        ensemble[0].address: "4lw",
        ensemble[1].address: "admin",
        ensemble[2].address: "4lw",
    }


def test_a_member_is_one_server_under_a_local_address_and_its_own() -> None:
    """As on the machine of a member: 127.0.0.1 is the default of --hosts."""
    with real_ensemble(3, own_hosts=True) as members:
        first, *others = (member.port for member in members)
        for admin_port in (free_port(), members[0].admin_port or 0):
            with _sampled(f"127.0.0.1:{first}", AdminAccess(port=admin_port)) as live:
                live.until(lambda world: len(world.tables) >= 3)
                names = set(map(str, live.world.tables))

            own = {f"127.0.0.{number}:{port}" for number, port in enumerate(others, start=3)}
            assert names == {f"127.0.0.1:{first}", *own}


def test_a_member_with_two_addresses_is_down_once() -> None:
    """Its other address is probed again, and does not answer either."""
    with real_ensemble(3, own_hosts=True) as members:
        local = f"127.0.0.1:{members[0].port}"
        with _sampled(local, AdminAccess(port=free_port())) as live:
            live.until(lambda world: len(world.tables) == 3)
            members[0].process.kill()
            live.until(lambda world: _state(world, local) == "down")
            rounds = live.source._introspection.requests_sent
            live.until(lambda _: live.source._introspection.requests_sent > rounds + 20)

            assert len(live.world.tables) == 3


def test_two_addresses_of_a_member_in_the_hosts_are_two_servers() -> None:
    """The connection is named by the one that it uses, which may be either."""
    with real_ensemble(3, own_hosts=True) as members:
        port = members[0].port
        both = (f"127.0.0.1:{port}", f"127.0.0.2:{port}")
        with _sampled(",".join(both), AdminAccess(port=free_port())) as live:
            live.until(lambda world: len(world.tables) == 4)

            assert set(both) < set(map(str, live.world.tables))


def test_a_locked_down_server_is_a_named_blind_spot() -> None:
    """A server without permitted words has figures and named blind spots."""
    with (
        real_zookeeper(**{"4lw.commands.whitelist": "srvr"}) as server,
        _sampled(server.address, AdminAccess(port=free_port())) as live,
    ):
        (tables,) = live.world.tables.values()

    assert tables.server
    assert (tables.server.mode, tables.server.version) == ("standalone", "3.8.0")
    for table in (tables.connections, tables.watches, tables.expiry):
        assert table
        assert table.why
        assert "whitelist" in table.why
        assert "AdminServer on port" in table.why
    assert tables.connections
    assert tables.connections.rows is None


def test_a_huge_watch_table_is_not_requested_by_word(
    zookeeper: RunningServer,
    clients: Callable[[], KazooClient],
    root: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow reader would block the server; only the AdminServer or a setting permits it."""
    monkeypatch.setattr("zktop.zk.servers.table_size_limits.kernel_buffer_bytes", lambda: 20_000)
    monkeypatch.setattr("zktop.zk.servers.table_size_limits.READ_AT_ONCE_BYTES", 30_000)
    client = clients()
    watched = [client.get_async("/", watch=lambda _event: None)]
    watched += [client.exists_async(f"{root}/{n}", watch=lambda _e: None) for n in range(900)]
    for one in watched:
        one.get(timeout=10)
    no_admin = AdminAccess(port=free_port())
    with _sampled(zookeeper.address, no_admin) as live:
        (careful,) = live.world.tables.values()
    with _sampled(zookeeper.address, no_admin, large_tables=True) as live:
        (told_to,) = live.world.tables.values()
    with _sampled(zookeeper.address, AdminAccess(port=zookeeper.admin_port or 0)) as live:
        (admin,) = live.world.tables.values()

    session = session_id(client.client_id[0])
    assert _watched(careful, session) is None
    assert careful.watches
    why = careful.watches.why or ""
    assert "the server blocks while a client is slow to read a larger answer" in why
    assert "--large-tables, or introspect: { large_tables: true } in the config" in why
    assert _watched(told_to, session) == _watched(admin, session) == 901


def test_watched_paths_are_those_inside_the_chroot(
    zookeeper: RunningServer, clients: Callable[[], KazooClient], root: str
) -> None:
    """Tables have full paths; paths outside the chroot are dropped."""
    client = clients()
    client.exists(f"{root}/inside", watch=lambda _event: None)
    client.exists(f"{root}x", watch=lambda _event: None)
    with _sampled(zookeeper.address + root, AdminAccess(port=zookeeper.admin_port or 0)) as live:
        (tables,) = live.world.tables.values()

    assert tables.watches
    assert (tables.watches.rows or {})[session_id(client.client_id[0])] == ("/inside",)


@pytest.mark.parametrize("chroot", ["", "/app"])
def test_another_zktop_that_watches_a_node_does_not_wait_for_it(
    ensemble: list[RunningServer], channel: str, chroot: str
) -> None:
    """A client that watches the node as it would wait for it does."""
    client = KazooClient(ensemble[1].address)
    client.start()
    client.create(f"{chroot}/single/leader", ephemeral=True, makepath=True)
    client.exists(f"{chroot}/single/leader", watch=lambda _event: None)
    watching = {session_id(client.client_id[0])}
    looking = partial(
        observing,
        ensemble[0].address + chroot,
        "/single/leader",
        introspect=True,
        admin=_admin(ensemble, channel),
        sample_every=0.2,
    )

    def lists_both(world: World) -> bool:
        tables = [tables.watches.rows for tables in world.tables.values() if tables.watches]
        paths = [paths for rows in tables for paths in (rows or {}).values()]
        marked = [MARK in one for one in paths if "/single/leader" in one]
        return sorted(marked) == [False, True, True]

    try:
        with looking(), looking() as live:
            world = live.until(lists_both)

        assert Ensemble.of(world, 0).watchers("/single/leader") == watching
    finally:
        client.stop()
        client.close()


def test_tables_come_after_the_events_before_them(
    zookeeper: RunningServer, client: KazooClient, root: str
) -> None:
    """A table is delivered after every event that precedes its reading."""
    client.create(f"{root}/before")
    with _sampled(zookeeper.address, AdminAccess(port=zookeeper.admin_port or 0)) as live:
        (tables,) = live.world.tables.values()

    assert tables.watches
    assert tables.watches.zxid <= live.world.zxid
    assert tables.server
    assert tables.watches.zxid <= (tables.server.server_zxid or 0)


def test_a_server_that_never_answers_does_not_hold_up_the_others(
    zookeeper: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A silent server is given up after two deadlines, and named."""
    monkeypatch.setattr("zktop.zk.servers.introspect.PROBE_TIMEOUT_S", 0.3)
    with listener(silent) as mute:
        hosts = f"{mute},{zookeeper.address}"
        with _sampled(hosts, AdminAccess(port=free_port())) as live:
            live.until(lambda world: _rows(world, zookeeper.address))
            live.until(lambda world: _state(world, str(mute)) == "no-answer")
            fields = {str(server): tables for server, tables in live.world.tables.items()}

    silence = fields[str(mute)]
    assert silence.server
    assert silence.server.channel == "none"
    assert silence.server.why == "no answer within 0.3 s"
    assert silence.server.since is not None
    assert silence.server.since < silence.server.at
    assert fields.keys() == {str(mute), zookeeper.address}


def test_a_single_reading_asks_a_silent_server_once(
    zookeeper: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reading does not wait twice for a silent server, and has the others' tables."""
    monkeypatch.setattr("zktop.zk.servers.introspect.PROBE_TIMEOUT_S", 60.0)
    with listener(silent) as mute:
        given = {"introspect": True, "admin": AdminAccess(port=free_port())}
        with observing(f"{mute},{zookeeper.address}", "/nothing", **given) as live:
            live.until_sampled()
            world = live.world

    assert _rows(world, zookeeper.address)
    assert _state(world, str(mute)) is None


def test_a_member_that_is_killed_is_down_until_it_is_back(
    ensemble: list[RunningServer],
) -> None:
    """A killed member refuses connections; the other two stay up."""
    dying, *others = ensemble
    hosts = ",".join(one.address for one in ensemble)
    with _sampled(hosts, _admin(ensemble, "4lw")) as live:
        live.until(lambda world: _states(world) == ["up"] * 3)
        killed_at = time.time_ns() // 1_000_000
        dying.process.kill()
        dying.process.wait()
        try:
            down = live.until(lambda world: _state(world, dying.address) == "down")
            figures = _figures(down, dying.address)
            states = [_state(down, one.address) for one in others]
        finally:
            ensemble[0] = started_again(dying)
        live.until(lambda world: _states(world) == ["up"] * 3)
        again = _figures(live.world, dying.address)

    assert states == ["up", "up"]
    assert figures.why == "connection refused"
    assert figures.since is not None
    assert killed_at <= figures.since <= figures.at
    assert again.since is None


def test_a_paused_server_gives_no_answer_until_it_goes_on(zookeeper: RunningServer) -> None:
    """A paused server still accepts connections; its tables stand until the second silence.

    The requests of the rounds do not postpone the client's pings, so it notices the pause too.
    """
    with _sampled(zookeeper.address, AdminAccess(port=free_port()), session_timeout=6.0) as live:
        live.until(lambda world: _rows(world, zookeeper.address))
        zookeeper.process.send_signal(signal.SIGSTOP)
        try:
            mute = live.until(lambda world: _state(world, zookeeper.address) == "no-answer")
            figures, rows = _figures(mute, zookeeper.address), _rows(mute, zookeeper.address)
            live.until(lambda world: world.link and world.link.state == "suspended")
        finally:
            zookeeper.process.send_signal(signal.SIGCONT)
        live.until(lambda world: _state(world, zookeeper.address) == "up")

    assert figures.why == "no answer within 1.5 s"
    assert not rows


def test_a_locked_down_server_is_up() -> None:
    """A refusal of a word is an answer, so the server is up."""
    with (
        real_zookeeper(**{"4lw.commands.whitelist": "srvr"}) as server,
        _sampled(server.address, AdminAccess(port=free_port())) as live,
    ):
        assert _state(live.world, server.address) == "up"


def _figures(world: World, address: str) -> Server:
    """The newest figures of a server."""
    found = next(tables for server, tables in world.tables.items() if str(server) == address)
    assert found.server
    return found.server


def _state(world: World, address: str) -> str | None:
    """The state of a server."""
    return _figures(world, address).state if address in map(str, world.tables) else None


def _states(world: World) -> list[str | None]:
    return [_state(world, str(server)) for server in world.tables]


def _rows(world: World, address: str) -> object:
    """The connections in a server's table."""
    found = next(tables for server, tables in world.tables.items() if str(server) == address)
    return found.connections and found.connections.rows


def _watched(tables: TableFacts, session: int) -> int | None:
    rows = tables.watches.rows if tables.watches else None
    return None if rows is None else len(rows[session])


def _admin(ensemble: list[RunningServer], channel: str) -> AdminAccess:
    if channel == "4lw":
        return AdminAccess(port=free_port())
    ports = {Address("127.0.0.1", one.port): one.admin_port or 0 for one in ensemble}
    return AdminAccess(ports=ports)


class _sampled:  # noqa: N801  used like a function
    """Observe servers; their tables have been read once."""

    def __init__(
        self, hosts: str, admin: AdminAccess, session_timeout: float = 10.0, **plan: object
    ) -> None:
        access: dict[str, object] = {"session_timeout": session_timeout}
        plan |= {"introspect": True, "admin": admin, "sample_every": 0.2}
        self._looking = observing(hosts, "/nothing", access=access, **plan)  # type: ignore[arg-type]  # a test's keywords

    def __enter__(self) -> Observation:
        live = self._looking.__enter__()
        live.until_sampled()
        return live

    def __exit__(self, *problem: object) -> None:
        self._looking.__exit__(*problem)  # type: ignore[arg-type]  # handed on as it is
