"""What a server answers in a form that nobody knows: that table is unknown, and it says why."""

import pytest
from zk.bad_servers import listener, speaks

from zktop.model.facts import Connections, Expiry, Server, Watches
from zktop.zk import parse_hosts
from zktop.zk.connect.address import AdminAccess
from zktop.zk.servers.expiry import ServerClock
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.sample import Sample, SampleSettings, by_words
from zktop.zk.servers.table_facts import Stamp, facts

WHOLE = {
    "srvr": "Zookeeper version: 3.8.0-x, built on today\nMode: standalone\n",
    "mntr": "zk_version\t3.8.0\nzk_watch_count\t1\n",
    "cons": " /127.0.0.1:5[0](queued=0,recved=1,sent=0)\n\n",
    "wchs": "1 connections watching 1 paths\nTotal watches:1\n",
    "wchc": "0x1\n\t/a\n\n",
    "conf": "tickTime=2000\n",
    "dump": "SessionTracker dump:\nSession Sets (0)/(0):\nephemeral nodes dump:\n"
    "Sessions with Ephemerals (1):\n0x1:\n\t/a\nConnections dump:\n",
}
ODD = " 10.0.0.7:4711 (something new)\n"


def told_by(words: dict[str, str]) -> Sample:
    """What is learned of a server that answers these words so."""
    with listener(speaks(words)) as address:
        hosts = parse_hosts(str(address))
        way = SampleSettings(
            address, hosts, None, AdminAccess(), None, large_tables=False, tally=lambda _: None
        )
        return by_words(way, ServerClock())


def test_a_server_in_good_order_tells_everything() -> None:
    """The others below differ from it in one answer."""
    told = told_by(WHOLE)

    assert told.why == {}
    assert (told.connections, told.watches, told.ephemerals) == ((), {1: ("/a",)}, {1: ("/a",)})


@pytest.mark.parametrize(
    ("word", "table"),
    [("cons", "connections"), ("wchs", "watches"), ("wchc", "watches"), ("dump", "expiry")],
)
def test_a_table_that_cannot_be_read_is_unknown(word: str, table: str) -> None:
    """Not empty: that would say that nobody is connected, watches or owns anything."""
    told = told_by(WHOLE | {word: ODD})
    stamp = Stamp("zk1:2181", zxid=7, at=7)  # type: ignore[arg-type]  # a clean text it is
    server, connections, watches, expiry = facts(told, stamp, parse_hosts("zk1:2181"))

    assert isinstance(server, Server)
    assert isinstance(connections, Connections)
    assert isinstance(watches, Watches)
    assert isinstance(expiry, Expiry)
    rows = {
        "connections": (connections.rows, connections.why),
        "watches": (watches.rows, watches.why),
        "expiry": (expiry.ephemerals, expiry.why),
    }
    value, why = rows.pop(table)
    assert value is None
    assert f"{word}: this answer cannot be read" in (why or "")
    assert "something new" in (why or "")
    assert all(why is None for _, why in rows.values())


def test_figures_that_cannot_be_read_are_unknown() -> None:
    """What `srvr` said of them stays."""
    told = told_by(WHOLE | {"mntr": ODD})

    assert "watch_count" not in told.figures
    assert told.figures["server_state"] == "standalone"
    assert "mntr: this answer cannot be read" in told.why["server"]


def test_who_does_not_say_what_it_is_tells_nothing() -> None:
    """Its other answers would be read by rules of somebody else."""
    with pytest.raises(RefusedError, match="srvr: this answer cannot be read"):
        told_by(WHOLE | {"srvr": ODD})
