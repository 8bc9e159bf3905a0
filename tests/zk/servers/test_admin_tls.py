"""An AdminServer with TLS."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import RunningServer, ask, real_zookeeper
from zk.observed import observing

from zktop.tls import Tls
from zktop.zk.connect.address import AdminAccess

pytestmark = pytest.mark.zookeeper


@pytest.fixture(scope="module")
def unified(certificate: Path) -> Iterator[RunningServer]:
    """A server with HTTP and HTTPS on one port; it presents the certificate of its quorum."""
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
    """The tables are read over HTTPS with the given authority, or over HTTP."""
    trusted = Tls(ca=str(certificate)) if tls else None
    admin = AdminAccess(port=unified.admin_port or 0, tls=trusted)
    with observing(unified.address, "/locks/*", introspect=True, admin=admin) as live:
        live.until_sampled()
        (tables,) = live.world.tables.values()

    assert tables.server
    assert tables.server.channel == "admin"
    assert tables.connections
    assert len(tables.connections.rows or ()) == 1


def test_one_with_another_certificate_is_a_named_blind_spot(unified: RunningServer) -> None:
    """An untrusted certificate is a blind spot; HTTP is not tried, permitted words are."""
    admin = AdminAccess(port=unified.admin_port or 0, tls=Tls())
    with observing(unified.address, "/locks/*", introspect=True, admin=admin) as live:
        live.until_sampled()
        (tables,) = live.world.tables.values()

    assert "Mode:" in ask(unified.port, "srvr")
    assert tables.server
    assert tables.server.channel == "4lw"
    assert tables.connections
    assert tables.connections.rows is None
    assert "certificate" in (tables.connections.why or "")
