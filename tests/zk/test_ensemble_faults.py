"""When a member dies, the session moves to another one and nothing is lost."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from kazoo.client import KazooClient
from servers import RunningServer, ask, real_ensemble, real_zookeeper, started_again
from waiting import eventually
from zk.cut_proxy import CutProxy
from zk.observed import Observation, names, observing, picture

from zktop.model.facts import Link

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def ensemble() -> Iterator[list[RunningServer]]:
    """Three members for this module, because they are killed."""
    with real_ensemble(3) as members:
        yield members


def test_members_may_die_one_after_the_other_and_all_at_once(
    ensemble: list[RunningServer],
) -> None:
    """After each failure the world equals a fresh one, and the link's history is complete."""
    hosts = ",".join(member.address for member in ensemble)
    client = KazooClient(hosts, timeout=20)
    client.start()
    client.create("/locks/l/m-0000000000", b"0", makepath=True)
    with observing(hosts, "/locks/*", access={"session_timeout": 20.0}) as live:
        mine = next(member for member in ensemble if member.address == _server(live))
        _kill([mine])
        eventually(lambda: _server(live) not in (None, mine.address))
        client.retry(client.create, "/locks/l/m-0000000001", b"1")
        live.until(lambda world: len(names(world, "/locks/l")) == 2)

        _kill([member for member in ensemble if member is not mine])
        eventually(lambda: live.source.link and live.source.link.state == "suspended")
        again = [started_again(member) for member in ensemble]
        try:
            client.retry(client.create, "/locks/l/m-0000000002", b"2")
            live.until(lambda world: len(names(world, "/locks/l")) == 3)
            _equals_a_fresh_look(live, hosts)
        finally:
            client.stop()
            client.close()
            _kill(again)

    links = [fact for fact in live.facts if isinstance(fact, Link) and fact.state == "connected"]
    assert len({link.session for link in links}) == 1


def test_a_loss_is_dated_by_its_beginning() -> None:
    """Later attempts do not move the date of the loss; expiry has an event of its own."""
    with (
        real_zookeeper(tickTime=500) as server,
        closing(CutProxy(server.port)) as line,
        observing(line.address, "/locks/*", access={"session_timeout": 2.0}) as live,
    ):
        ours = live.source.link.session if live.source.link else None
        line.cut()
        live.until(lambda world: world.link and world.link.state == "suspended")
        eventually(lambda: f"{ours:#x}" not in ask(server.port, "dump"))
        line.mend()
        live.until(lambda world: world.link and world.link.state == "connected")

    links = [fact for fact in live.facts if isinstance(fact, Link)]
    lost = [link for link in links if link.state in ("suspended", "lost")]
    assert [link.state for link in lost] == ["suspended", "lost"]
    assert {link.lost_at for link in lost} == {lost[0].at}
    assert links[-1].lost_at is None


def _equals_a_fresh_look(live: Observation, hosts: str) -> None:
    with observing(hosts, "/locks/*") as fresh:
        eventually(lambda: picture(live.world, "/") == picture(fresh.world, "/"))


def _kill(members: list[RunningServer]) -> None:
    for member in members:
        member.process.kill()
    for member in members:
        member.process.wait()


def _server(live: Observation) -> str | None:
    link = live.source.link
    return str(link.server) if link and link.server else None
