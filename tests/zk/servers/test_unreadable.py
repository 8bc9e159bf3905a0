"""An answer in an unknown form makes its table unknown, with a reason."""

import pytest
from zk.bad_servers import answers, listener
from zk.canned_answers import WHOLE, facts_from

from zktop.model.facts import Connections, Expiry, Server, Watches
from zktop.zk import parse_hosts
from zktop.zk.connect.address import Address, AdminAccess
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.sample import SampleSettings, by_admin
from zktop.zk.servers.server_clock import ServerClock
from zktop.zk.servers.table_facts import facts

ODD = " 10.0.0.7:4711 (something new)\n"


def test_readable_answers_give_every_table() -> None:
    """The other tests change one of these answers."""
    facts = facts_from(WHOLE)

    assert facts.why == {}
    assert (facts.connections, facts.watches, facts.ephemerals) == ((), {1: ("/a",)}, {1: ("/a",)})


def test_an_admin_server_of_another_port_may_be_behind_a_mapping() -> None:
    """Its tables are not taken for those of this server, and the reason says what would help."""
    configuration = b'{"client_port": 2181, "error": null}'
    with listener(answers(b"HTTP/1.0 200 OK\r\n\r\n" + configuration)) as place:
        way = SampleSettings(
            Address(place.host, 12181),
            parse_hosts(f"{place.host}:12181"),
            None,
            AdminAccess(port=place.port),
            None,
            large_tables=False,
            count_bytes=lambda _: None,
        )
        with pytest.raises(RefusedError, match=r"names another client port: if .* set aliases"):
            by_admin(way, ServerClock())


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
