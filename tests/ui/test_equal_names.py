"""Clients with the same name on one host: no two of them look alike on screen."""

from collections.abc import Iterator

import msgspec
import pytest
from model.findings.cases import At, facts, k
from model.make_facts import NOW, ZK1, connections, own, session, watches
from ui.fake_feed import app_of, frames, settled

from zktop.model.facts import AnyFact, Connection
from zktop.model.text import Text
from zktop.ui.view_state import Selection

PATH = "/locks/orders"
SIX = [f"one{number}" for number in range(6)]
PORTS = {who: 59112 + number for number, who in enumerate(SIX)}


def equal(who: str, number: int) -> At:
    """One of them."""
    return msgspec.structs.replace(k(who, number), label="127.0.0.1")


def equals() -> Iterator[AnyFact]:
    """Six clients in a queue, all with Curator's label for this host."""
    yield own()
    yield from facts(*(equal(who, n) for n, who in enumerate(SIX)), path=PATH)
    rows = [Connection(session(who), Text(f"127.0.0.1:{PORTS[who]}"), 10_000) for who in SIX]
    yield connections(ZK1, *rows, at=NOW)
    yield watches(ZK1, {}, at=NOW)


@pytest.mark.parametrize("width", [80, 120])
async def test_six_rows_of_a_queue_differ(width: int) -> None:
    """Each shows the port of its client, whole."""
    app = app_of(*frames((NOW, list(equals())), (NOW + 5_000, [])))
    async with app.run_test(size=(width, 36)) as pilot:
        await settled(pilot)
        app.turn_to("lock", Selection(path=PATH))
        lines = await settled(pilot)

    assert {who for who in SIX if any(f":{PORTS[who]}" in line for line in lines)} == set(SIX)
