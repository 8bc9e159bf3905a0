"""Credentials appear in no log or traceback."""

import pytest

from zktop.zk import Access, TlsAccess, parse_hosts

WAYS_IN = [
    TlsAccess(cert="us.pem", key_password="hidden"),
    Access(parse_hosts("zk1"), auth=(("digest", "us:hidden"),)),
    Access(parse_hosts("zk1"), sasl={"username": "us", "password": "hidden"}),
    Access(parse_hosts("zk1"), tls=TlsAccess(key_password="hidden")),
]


@pytest.mark.parametrize("way", WAYS_IN)
def test_no_secret_is_printed(way: TlsAccess | Access) -> None:
    """The text of an object with credentials does not show them."""
    told = repr(way)

    assert "hidden" not in told
    assert "us.pem" in told or "zk1" in told
