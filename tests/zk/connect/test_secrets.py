"""Credentials appear in no log or traceback."""

import pytest

from zktop.zk import Access, parse_hosts

WAYS_IN = [
    Access(parse_hosts("zk1"), auth=(("digest", "us:hidden"),)),
    Access(parse_hosts("zk1"), sasl={"username": "us", "password": "hidden"}),
]


@pytest.mark.parametrize("way", WAYS_IN)
def test_no_secret_is_printed(way: Access) -> None:
    """The text of an object with credentials does not show them."""
    shown = repr(way)

    assert "hidden" not in shown
    assert "zk1" in shown
