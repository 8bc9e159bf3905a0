"""Clients with the same label have different names in every output."""

import json
import re

import msgspec
import pytest
from model.make_facts import NOW, ZK1, connections, row, session
from output.stories import LATER, SETTLE, facts, settings

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Node
from zktop.model.session_ids import session_text
from zktop.model.world.world import World
from zktop.output.dot_and_mermaid import dot, mermaid
from zktop.output.schema import SnapshotJson
from zktop.output.snapshot_json import snapshot
from zktop.output.snapshot_text import lines

RING = "X x: A B C ; Y x: B A"


def equals(*tables: AnyFact, label: bytes = b"127.0.0.1") -> SnapshotJson:
    """The facts of a story in which all contenders have the same label."""
    found = [
        msgspec.structs.replace(one, data=label) if isinstance(one, Node) and one.data else one
        for one in facts(RING)
    ]
    examiner, world = Examiner(settings(RING)), World().after(*found, *tables)
    examiner.look(world, LATER)
    return snapshot(examiner.look(world, LATER + SETTLE))


def address(who: str) -> str:
    """The address of a contender's client."""
    return str(row(who).client)


def connected() -> AnyFact:
    """The table of connections, with all sessions."""
    return connections(ZK1, *map(row, "ABC"), at=NOW)


def test_a_deadlock_of_two_clients_with_one_label() -> None:
    """The sentence and the steps name each by its address."""
    (deadlock,) = equals(connected()).deadlocks

    assert address("A") in deadlock.sentence
    assert address("B") in deadlock.sentence
    assert not re.search(r"127\.0\.0\.1(?!:)", deadlock.sentence)
    assert {step.name for step in deadlock.steps} == {address("A"), address("B")}
    assert {step.owner for step in deadlock.steps} == {"127.0.0.1"}


def test_without_tables_their_session_ids_differ() -> None:
    """Names end with the last digits of the session."""
    (deadlock,) = equals().deadlocks
    ends = [f"127.0.0.1 …{session(who) & 0xFFFF:04x}" for who in "AB"]

    assert all(end in deadlock.sentence for end in ends)


def test_every_way_out_says_which_process() -> None:
    """By name, by its address, and by its session."""
    taken = equals(connected())
    ways = taken.deadlocks[0].ways_out

    assert {way.actor: way.client for way in ways} == {
        session_text(session(who)): address(who) for who in "AB"
    }
    assert {way.server for way in ways} == {ZK1}
    page = " ".join(" ".join(lines(taken)).split())
    for who in "AB":
        assert f"kill {address(who)} (session {session_text(session(who))})" in page


def test_the_advice_says_which_process() -> None:
    """The finding names the cheapest way out, with its address and session."""
    taken = equals(connected())
    (finding,) = [one for one in taken.findings if one.rule == "D1"]
    way = taken.deadlocks[0].ways_out[0]

    assert f"kill {way.name} (session {way.actor})" in finding.advice


def test_a_named_process_has_its_address() -> None:
    """An SRE on call needs to know where the process runs."""
    found = [*facts(RING), connected()]
    examiner, world = Examiner(settings(RING)), World().after(*found)
    examiner.look(world, LATER)
    page = " ".join(" ".join(lines(snapshot(examiner.look(world, LATER + SETTLE)))).split())

    assert f"kill A ({address('A')}, session {session_text(session('A'))})" in page


@pytest.mark.parametrize("with_tables", [True, False])
def test_rows_and_graphs_distinguish_equal_labels(with_tables: bool) -> None:  # noqa: FBT001  a parameter
    """Three in one lock are three different names."""
    taken = equals(*([connected()] if with_tables else []))
    names = {one.name for lock in taken.locks for one in (*lock.holders, *lock.waiters)}
    text = "\n".join(lines(taken))

    assert len(names) == 3
    assert all(name in text for name in names)
    for drawn in ("\n".join(dot(taken)), "\n".join(mermaid(taken)).replace("#8230;", "…")):
        assert all(name in drawn for name in names)


def test_the_label_stays_the_owner_in_json() -> None:
    """Scripts compare it."""
    shape = json.loads(msgspec.json.encode(equals(connected())))

    assert {one["owner"] for one in shape["sessions"].values()} == {"127.0.0.1"}
    assert {one["owner"] for lock in shape["locks"] for one in lock["holders"]} == {"127.0.0.1"}
