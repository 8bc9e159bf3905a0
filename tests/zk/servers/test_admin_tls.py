"""An AdminServer that speaks TLS."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import RunningServer, ask, real_zookeeper
from zk.observed import looking

from zktop.zk import TlsAccess
from zktop.zk.connect.address import AdminAccess

pytestmark = pytest.mark.zookeeper


@pytest.fixture(scope="module")
def unified(certificate: Path) -> Iterator[RunningServer]:
    """A server that has HTTP and HTTPS on one port, and shows the certificate of its quorum."""
    settings = {
        "admin.portUnification": "true",
        "ssl.quorum.keyStore.location": certificate,
        "ssl.quorum.trustStore.location": certificate,
        "4lw.commands.whitelist": "srvr",
    }
    with real_zookeeper(admin=True, **settings) as server:
        yield server


@pytest.mark.parametrize("tls", [True, False], ids=["https", "http"])
def test_its_tables_are_read(unified: RunningServer, certificate: Path, *, tls: bool) -> None:
    """With the authority that the user named, or plainly."""
    trusted = TlsAccess(ca=str(certificate)) if tls else None
    admin = AdminAccess(port=unified.admin_port or 0, tls=trusted)
    with looking(unified.address, "/locks/*", introspect=True, admin=admin) as eye:
        assert eye.source.wait_until_sampled(20)
        (tables,) = eye.world.tables.values()

    assert tables.server
    assert tables.server.channel == "admin"
    assert tables.connections
    assert len(tables.connections.rows or ()) == 1


def test_one_with_another_certificate_is_a_named_blind_spot(unified: RunningServer) -> None:
    """It is not asked plainly instead; the words that the server allows are."""
    admin = AdminAccess(port=unified.admin_port or 0, tls=TlsAccess())
    with looking(unified.address, "/locks/*", introspect=True, admin=admin) as eye:
        assert eye.source.wait_until_sampled(20)
        (tables,) = eye.world.tables.values()

    assert "Mode:" in ask(unified.port, "srvr")
    assert tables.server
    assert tables.server.channel == "4lw"
    assert tables.connections
    assert tables.connections.rows is None
    assert "certificate" in (tables.connections.why or "")
