"""Less common ways to connect: SASL, IPv6, one name for several servers, read-only mode."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from faults.conftest import Ensemble
from kazoo.client import KazooClient
from servers import SASL_ONLY, RunningServer, ask, real_ensemble, real_zookeeper
from waiting import eventually
from zk.observed import names, observing

from zktop.errors import NoConnectionError
from zktop.zk import Access, Plan, Source, parse_hosts
from zktop.zk.connect.address import Address
from zktop.zk.connect.preflight import Probe
from zktop.zk.servers.known_servers import KnownServers, names_of

pytestmark = pytest.mark.zookeeper

DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule"
LOCK = "/locks/l/m-0000000000"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that requires SASL."""
    pytest.importorskip("puresasl")
    jaas = tmp_path_factory.mktemp("sasl") / "jaas.conf"
    jaas.write_text(f'Server {{ {DIGEST} required user_monitor="secret"; }};')
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # of this server alone
            patch.setenv("JDK_JAVA_OPTIONS", f"-Djava.security.auth.login.config={jaas}")
            server = stack.enter_context(real_zookeeper(**SASL_ONLY))
        client = KazooClient(server.address, sasl_options=_sasl("secret"))
        client.start()
        _write(client)
        yield server


def _sasl(password: str) -> dict[str, str]:
    return {"mechanism": "DIGEST-MD5", "username": "monitor", "password": password}


def _write(client: KazooClient) -> None:
    client.create(LOCK, makepath=True)
    client.stop()
    client.close()


def test_sasl_gives_access(strict: RunningServer) -> None:
    """A digest login passes the server's own login module."""
    with observing(strict.address, "/locks/*", access={"sasl": _sasl("secret")}) as eye:
        assert names(eye.world, "/locks/l") == {"m-0000000000"}


@pytest.mark.parametrize(
    ("sasl", "said"),
    [(_sasl("wrong"), "credentials were refused"), (None, "requires SASL.*--sasl")],
    ids=["wrong password", "no login"],
)
def test_a_refused_login_is_reported(
    strict: RunningServer, sasl: dict[str, str] | None, said: str
) -> None:
    """The reason is reported at once, before any time-out."""
    access = Access(parse_hosts(strict.address), sasl=sasl, connect_timeout=60)
    with pytest.raises(NoConnectionError, match=said):
        Source(access, Plan()).start()


def test_a_login_without_sasl_on_the_server_ends(zookeeper: RunningServer) -> None:
    """Kazoo alone would retry for ever, as fast as it can."""
    pytest.importorskip("puresasl")
    access = Access(parse_hosts(zookeeper.address), sasl=_sasl("secret"), connect_timeout=60)
    before = _received(zookeeper)
    with pytest.raises(NoConnectionError, match="credentials were refused"):
        Source(access, Plan()).start()

    assert _received(zookeeper) - before < 50


def _received(server: RunningServer) -> int:
    """The number of packets that the server has received."""
    figures = dict(
        line.split("\t", 1) for line in ask(server.port, "mntr").splitlines() if "\t" in line
    )
    return int(figures["zk_packets_received"])


@pytest.fixture(scope="module")
def dual_stack() -> Iterator[RunningServer]:
    """A server that listens on IPv4 and IPv6."""
    with real_zookeeper(clientPortAddress="::") as server:
        client = KazooClient(server.address)
        client.start()
        _write(client)
        yield server


def test_an_ipv6_address_works(dual_stack: RunningServer) -> None:
    """Client and tables connect to it; it is shown as it was typed."""
    address = f"[::1]:{dual_stack.port}"
    with observing(address, "/locks/*", introspect=True) as eye:
        assert names(eye.world, "/locks/l") == {"m-0000000000"}
        eye.until_sampled()
        tables = eye.until(lambda world: world.tables).tables
        link = eye.source.link

    assert [str(server) for server in tables] == [address]
    assert link
    assert link.server == address


def test_a_name_for_several_servers_is_tried_until_one_answers(
    zookeeper: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first address is dead, the second one serves."""
    _resolve(monkeypatch, "zk-all", ["127.0.0.9", "127.0.0.1"])
    client = KazooClient(zookeeper.address)
    client.start()
    client.ensure_path(LOCK)
    client.stop()
    client.close()
    with observing(f"zk-all:{zookeeper.port}", "/locks/*", introspect=True) as eye:
        assert names(eye.world, "/locks/l") == {"m-0000000000"}


def test_a_name_for_several_servers_stands_for_each_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is asked for its tables; one with a name of its own is not asked twice."""
    _resolve(monkeypatch, "zk-all", ["10.1.1.1", "10.1.1.2"])
    found = KnownServers(parse_hosts("zk-all:2181,10.1.1.2:2181")).servers()

    assert sorted(found) == ["10.1.1.1:2181", "10.1.1.2:2181"]


@pytest.mark.parametrize(
    ("addresses", "servers"),
    [
        (["10.1.1.1", "fd00::1"], ["zk-all:2181"]),
        (["fd00::1", "fd00::2", "10.1.1.1", "10.1.1.2"], ["[fd00::1]:2181", "[fd00::2]:2181"]),
    ],
)
def test_an_ipv4_and_an_ipv6_address_are_those_of_one_server(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str], servers: list[str]
) -> None:
    """Its tables are read once; by its name, unless the name stands for several."""
    _resolve(monkeypatch, "zk-all", addresses)

    assert sorted(KnownServers(parse_hosts("zk-all:2181")).servers()) == servers


def test_the_connection_is_named_like_the_tables_of_its_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that stands for several servers is not the name of the one that was probed."""
    _resolve(monkeypatch, "zk-all", ["10.1.1.1", "10.1.1.2"])
    probes = [
        Probe(Address("zk-all", 2181), "ok", "", peer="10.1.1.1:2181"),
        Probe(Address("10.1.1.3", 2181), "ok", "", peer="10.1.1.3:2181"),
    ]

    assert names_of(probes) == {"10.1.1.3:2181": "10.1.1.3:2181"}


def test_all_names_are_looked_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow name server delays the connection once, not once for each host."""
    all_asked = threading.Barrier(3)

    def look_up(host: str, port: int, **_: object) -> list[object]:
        with contextlib.suppress(threading.BrokenBarrierError):
            all_asked.wait(5.0)
        return [(0, 0, 0, "", (host, port))]

    monkeypatch.setattr("zktop.zk.servers.known_servers.socket.getaddrinfo", look_up)
    names_of([Probe(Address(f"10.1.1.{n}", 1), "ok", "", peer=f"10.1.1.{n}:1") for n in range(3)])

    assert not all_asked.broken


def _resolve(monkeypatch: pytest.MonkeyPatch, name: str, addresses: list[str]) -> None:
    """Let the resolver return these addresses."""
    known = socket.getaddrinfo

    def answer(host: str, *args: Any, **kwargs: Any) -> Any:
        hosts = addresses if host == name else [host]
        return [found for one in hosts for found in known(one, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


def test_members_that_were_not_given_are_tried_when_one_is_needed(ensemble: Ensemble) -> None:
    """One address is given; when that server dies, the session moves to another member."""
    given = ensemble.hosts.split(",")[0]
    with observing(given, "/locks/*", introspect=True, access={"session_timeout": 10.0}) as eye:
        link = eye.source.link
        client = eye.source._connection._client
        eventually(lambda: len(client.hosts) == 3)
        ensemble.kill(given)
        try:
            eventually(lambda: eye.source.link and eye.source.link.server not in (None, given))
            eventually(lambda: eye.source.link and eye.source.link.state == "connected")
            again = eye.source.link
        finally:
            ensemble.start(given)

    assert link
    assert again
    assert again.session == link.session


def test_a_server_without_a_quorum_is_read_when_it_allows_that(
    jvm: Callable[[str], None],
) -> None:
    """In read-only mode the locks are those from before the loss, and the state is reported."""
    jvm("-Dreadonlymode.enabled=true")
    with real_ensemble(3, tickTime=500, localSessionsEnabled="true") as members:
        client = KazooClient(members[0].address)
        client.start()
        _write(client)
        for member in members[1:]:
            member.process.kill()
            member.process.wait()
        last = members[0]
        eventually(lambda: "read-only" in ask(last.port, "srvr"))
        with observing(last.address, "/locks/*", access={"read_only": True}) as eye:
            assert names(eye.world, "/locks/l") == {"m-0000000000"}
            link = eye.source.link

    assert link
    assert link.state == "read-only"
