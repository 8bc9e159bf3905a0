"""Aliases lead to members that have other addresses here: port-forwards, tunnels."""

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from kazoo.client import KazooClient
from servers import RunningServer, free_port, real_ensemble
from zk.cut_proxy import CutProxy
from zk.observed import Observation, observing

from zktop.zk import parse_hosts
from zktop.zk.connect.preflight import preflight
from zktop.zk.servers.known_servers import KnownServers
from zktop.zk.servers.table_formats import EnsembleMember

NAME = "zk-0.zk.invalid"  # no resolver knows it
ADMIN = f"{NAME}:8080"


@pytest.fixture
def forwarded(real: RunningServer) -> Iterator[CutProxy]:
    """A TCP proxy to the client port, on another address."""
    with closing(CutProxy(real.port)) as proxy:
        yield proxy


@pytest.fixture
def admin(real: RunningServer) -> Iterator[CutProxy]:
    """A TCP proxy to the AdminServer, on another address."""
    with closing(CutProxy(real.admin_port or 0)) as proxy:
        yield proxy


def channel(live: Observation) -> dict[str, str | None]:
    """How each server was asked."""
    live.until_sampled()
    tables = live.world.tables
    return {str(name): one.server.channel if one.server else None for name, one in tables.items()}


@pytest.mark.zookeeper
@pytest.mark.parametrize("given", ["the name", "the forwarded port"])
def test_locks_and_tables_are_read_through_port_forwards(
    real: RunningServer, forwarded: CutProxy, admin: CutProxy, client: KazooClient, given: str
) -> None:
    """The AdminServer's as well. zktop shows the server's own name, whichever address is given."""
    own = f"{NAME}:{real.port}"
    aliases = {own: forwarded.address, ADMIN: admin.address}
    client.ensure_path("/aliases/lock")
    hosts = own if given == "the name" else forwarded.address

    with observing(hosts, "/aliases/*", introspect=True, aliases=aliases) as live:
        assert channel(live) == {own: "admin"}
        assert live.world.link
        assert live.world.link.server == own
        assert "/aliases/lock" in live.world.families
        forwarded.cut()
        live.until(lambda world: world.link.state == "suspended")
        forwarded.mend()
        live.until(lambda world: world.link.state == "connected")


@pytest.mark.zookeeper
def test_words_are_asked_through_the_port_forward(
    real: RunningServer, forwarded: CutProxy
) -> None:
    """If only the client port is forwarded, the AdminServer cannot be reached."""
    own = f"{NAME}:{real.port}"
    with observing(own, "/x", introspect=True, aliases={own: forwarded.address}) as live:
        assert channel(live) == {own: "4lw"}
        connections = live.world.tables[next(iter(live.world.tables))].connections

    assert connections
    assert connections.rows


@pytest.mark.zookeeper
def test_all_members_are_found_and_asked_through_port_forwards() -> None:
    """From the alias of one of them; the AdminServers are reachable by their aliases alone."""
    with real_ensemble(3, own_hosts=True) as members, ExitStack() as stack:
        aliases = {}
        for number, member in enumerate(members, start=2):
            ports = {member.port: member.port, 8080: member.admin_port or 0}
            for port, behind in ports.items():
                proxy = stack.enter_context(closing(CutProxy(behind)))
                aliases[f"127.0.0.{number}:{port}"] = proxy.address
        first = next(iter(aliases.values()))
        with observing(first, "/x", introspect=True, aliases=aliases) as live:
            live.until(lambda world: len(world.tables) == 3)
            found = live.until(lambda _: set(channel(live).values()) == {"admin"})

    names = {f"127.0.0.{number}:{member.port}" for number, member in enumerate(members, start=2)}
    assert {str(name) for name in found.tables} == names


def test_a_member_is_one_server_under_its_name_and_its_alias() -> None:
    """The members that the ensemble's configuration names have aliases, too."""
    aliases = {"zk-0.invalid:2181": "127.0.0.1:12181", "zk-1.invalid:2181": "127.0.0.1:12182"}
    servers = KnownServers(parse_hosts("127.0.0.1:12181,zk-1.invalid:2181", aliases))
    servers.members = (EnsembleMember("zk-0.invalid", 2181), EnsembleMember("zk-1.invalid", 2181))

    assert [*servers.servers()] == [*aliases]
    assert [str(one.via) for one in servers.servers().values()] == [*aliases.values()]


def test_a_failure_names_both_addresses() -> None:
    """The port-forward may have ended."""
    here = f"127.0.0.1:{free_port()}"
    hosts = parse_hosts("zk-0.invalid:2181", {"zk-0.invalid:2181": here})

    (probe,) = preflight(hosts.addresses)

    assert probe.sentence.startswith(f"zk-0.invalid:2181 (at {here}) refuses connections")
