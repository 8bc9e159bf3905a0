"""Clients of kazoo's NonBlockingLease wait for each other, never for the lease itself."""

import json

import pytest
from model.make_facts import NOW, kazoo_name, session
from model.semaphores import created, folder

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Node, Stat, join
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.world.world import World

LEASE = "/lease"
CLIENTS = ("hal", "ann", "bob")
ENDED, VALID = "1970-01-01T00:00:00", "2099-01-01T00:00:00"


def looked(end: str, *clients: str) -> Report:
    """A look at clients in the queue of a lease that another one has until a date."""
    names = [kazoo_name(client, number) for number, client in enumerate(clients)]
    data = json.dumps({"version": 1, "holder": "cem", "end": end}).encode()
    lease = Node(
        path=join(LEASE, "lease_holder"),
        stat=Stat(40, 40, NOW, owner=0),
        data=data,
        zxid=60,
        at=NOW,
    )
    queue: list[AnyFact] = [
        created(join(LEASE, name), client, 61 + number)
        for number, (name, client) in enumerate(zip(names, clients, strict=True))
    ]
    known = World().after(*folder(LEASE, "lease_holder", *names), lease, *queue)
    return Examiner(Settings()).look(known, NOW + 60_000)


@pytest.mark.parametrize("end", [ENDED, VALID])
def test_the_first_in_the_queue_of_a_lease_blocks_the_others(end: str) -> None:
    """Nobody waits for the lease, whether it has ended or not."""
    report = looked(end, *CLIENTS)

    assert [(one.actors, one.blocked) for one in report.blockers] == [
        ((session_text(session("hal")),), 2)
    ]
