"""TLS for the client and the four-letter words, and connections to a plain port."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from servers import READY_WITHIN_S, RunningServer, free_port, real_zookeeper
from zk.observed import names, observing

from zktop.errors import NoConnectionError
from zktop.tls import Tls
from zktop.zk import Access, Plan, Source, parse_hosts
from zktop.zk.connect.address import Address, AdminAccess, tls_context
from zktop.zk.connect.preflight import probe

pytestmark = pytest.mark.zookeeper


@pytest.fixture(scope="module")
def secure(certificate: Path) -> Iterator[tuple[RunningServer, str]]:
    """A server with a plain port, and the address of its TLS port."""
    port = free_port()
    settings = {
        "secureClientPort": port,
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location": certificate,
        "ssl.trustStore.location": certificate,
        "ssl.hostnameVerification": "false",
    }
    with real_zookeeper(**settings) as server:
        client = KazooClient(server.address)
        client.start()
        client.create("/locks/l/m-0000000000", makepath=True)
        client.stop()
        client.close()
        first = probe(
            Address("127.0.0.1", port), tls_context(_trusted(certificate)), READY_WITHIN_S
        )
        assert first.outcome == "ok"  # Java initialises TLS now, which takes long
        yield server, f"127.0.0.1:{port}"


def _trusted(certificate: Path) -> Tls:
    path = str(certificate)
    return Tls(ca=path, cert=path, key=path)


def test_a_secure_port_is_read_and_its_tables_too(
    secure: tuple[RunningServer, str], certificate: Path
) -> None:
    """The locks and the servers' tables are read over TLS."""
    tls = _trusted(certificate)
    admin = AdminAccess(port=free_port())
    with observing(
        secure[1], "/locks/*", introspect=True, admin=admin, access={"tls": tls}
    ) as live:
        assert names(live.world, "/locks/l") == {"m-0000000000"}
        live.until_sampled()
        (tables,) = live.world.tables.values()

    assert tables.server
    assert tables.server.channel == "4lw"
    assert tables.connections
    assert len(tables.connections.rows or ()) == 1


@pytest.mark.parametrize(
    ("tls", "said"),
    [
        (None, "TLS"),
        (Tls(), "not trusted"),
        (Tls(verify=False), "client certificate|certificate"),
    ],
    ids=["plain", "distrusted", "without our certificate"],
)
def test_a_mismatch_is_named(
    secure: tuple[RunningServer, str], tls: Tls | None, said: str
) -> None:
    """A TLS mismatch is reported before the client tries to connect."""
    with pytest.raises(NoConnectionError, match=said):
        Source(Access(parse_hosts(secure[1]), tls=tls), Plan()).start()


def test_a_plain_port_speaks_no_tls(secure: tuple[RunningServer, str], certificate: Path) -> None:
    """A plain port is reported, also if the server has a TLS port too."""
    access = Access(parse_hosts(secure[0].address), tls=Tls(ca=str(certificate)))
    with pytest.raises(NoConnectionError, match="when TLS begins"):
        Source(access, Plan()).start()
