"""The session with the ensemble: which servers it may move to, and when it last heard of one."""

import pytest
from servers import RunningServer
from zk.cut_proxy import CutProxy
from zk.observed import observing

from zktop.zk import Access, Source, parse_hosts
from zktop.zk.connect.address import Address
from zktop.zk.connect.read_only_client import ReadOnlyClient
from zktop.zk.wall_clock import now_ms


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


def test_a_silent_network_was_last_heard_before_the_loss_is_noticed(
    zookeeper: RunningServer, root: str
) -> None:
    """The client waits for two thirds of its session timeout before it gives up."""
    proxy = CutProxy(zookeeper.port)
    access: dict[str, object] = {"session_timeout": 4.0}
    try:
        with observing(proxy.address, f"{root}/*", access=access) as live:
            proxy.silence()
            silent_at = now_ms()
            world = live.until(lambda world: world.link and world.link.state == "suspended")
            assert world.link is not None
            assert live.source.silent_from
            assert live.source.silent_from <= silent_at + 500
            assert world.link.at - live.source.silent_from >= 1_000
    finally:
        proxy.close()


def test_a_closed_connection_did_not_fall_silent_before(
    zookeeper: RunningServer, root: str
) -> None:
    """The loss is noticed at once, however long nothing had to be said."""
    proxy = CutProxy(zookeeper.port)
    try:
        with observing(proxy.address, f"{root}/*") as live:
            proxy.cut()
            live.until(lambda world: world.link and world.link.state == "suspended")

            assert live.source.silent_from is None
    finally:
        proxy.close()
