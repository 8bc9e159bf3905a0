"""An answer in an unknown form makes its table unknown, with a reason."""

import pytest
from zk.bad_servers import listener, speaks

from zktop.model.facts import Connections, Expiry, Server, Watches
from zktop.zk import parse_hosts
from zktop.zk.connect.address import AdminAccess
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.sample import Sample, SampleSettings, by_words
from zktop.zk.servers.server_clock import ServerClock
from zktop.zk.servers.table_facts import facts

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


def facts_from(words: dict[str, str]) -> Sample:
    """The facts about a server that gives these answers to words."""
    with listener(speaks(words)) as address:
        hosts = parse_hosts(str(address))
        way = SampleSettings(
            address,
            hosts,
            None,
            AdminAccess(),
            None,
            large_tables=False,
            count_bytes=lambda _: None,
        )
        return by_words(way, ServerClock())


def test_readable_answers_give_every_table() -> None:
    """The other tests change one of these answers."""
    facts = facts_from(WHOLE)

    assert facts.why == {}
    assert (facts.connections, facts.watches, facts.ephemerals) == ((), {1: ("/a",)}, {1: ("/a",)})


@pytest.mark.parametrize(
    ("word", "table"),
    [("cons", "connections"), ("wchs", "watches"), ("wchc", "watches"), ("dump", "expiry")],
)
def test_a_table_that_cannot_be_read_is_unknown(word: str, table: str) -> None:
    """It is not empty: that would mean no connections, watches or ephemerals."""
    known = facts_from(WHOLE | {word: ODD})
    server, connections, watches, expiry = facts(known, "zk1:2181", 7, parse_hosts("zk1:2181"))

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
    """The figures from `srvr` stay."""
    facts = facts_from(WHOLE | {"mntr": ODD})

    assert "watch_count" not in facts.figures
    assert facts.figures["server_state"] == "standalone"
    assert "mntr: this answer cannot be read" in facts.why["server"]


def test_an_unidentified_server_gives_no_tables() -> None:
    """Without a known flavour there are no rules to read the other answers."""
    with pytest.raises(RefusedError, match="srvr: this answer cannot be read"):
        facts_from(WHOLE | {"srvr": ODD})
