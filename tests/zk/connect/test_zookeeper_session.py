"""The session with the ensemble: which servers it may move to."""

import pytest

from zktop.zk import Access, Source, parse_hosts
from zktop.zk.connect.address import Address
from zktop.zk.connect.read_only_client import ReadOnlyClient


def test_a_new_client_knows_the_other_members_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that gave up is replaced, and members that were found once are not found again."""
    monkeypatch.setattr(ReadOnlyClient, "start_async", lambda _: None)
    session = Source(Access(parse_hosts("10.0.0.1:2181")))._connection
    session._ever_ready = True
    session.extend([Address("10.0.0.2", 2181)])
    first = session._client
    session._revive()

    assert session._client is not first
    assert session._client.hosts == first.hosts == [("10.0.0.1", 2181), ("10.0.0.2", 2181)]


def test_members_that_left_are_not_tried_any_more() -> None:
    """The addresses that were found last replace those found before."""
    session = Source(Access(parse_hosts("10.0.0.1:2181")))._connection
    session.extend([Address("10.0.0.2", 2181)])
    session.extend([Address("10.0.0.3", 2181)])

    assert session._client.hosts == [("10.0.0.1", 2181), ("10.0.0.3", 2181)]
