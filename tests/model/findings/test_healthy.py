"""Healthy locks of every library in the catalogue: no rule finds anything.

Each is a vector of the atlas without a problem, with the tables of a healthy server around it:
every client is connected and quiet, and each waiter watches what its library watches.
"""

from collections.abc import Iterator

import pytest
from model.layouts.vectors import AT, ZXID, Vector, all_vectors, facts_of, now_of, settings_of

from zktop.model.examiner import Examiner
from zktop.model.facts import (
    AnyFact,
    Connection,
    Connections,
    Expiry,
    Link,
    Server,
    Session,
    Watches,
)
from zktop.model.locks.lock import absolute_path
from zktop.model.locks.shapes import LAYOUTS
from zktop.model.text import Text
from zktop.model.world.world import World

ZK = Text("zk1:2181")
LOOKS = (1_000, 6_000, 11_000, 21_000)  # ms after it was read
TOLD_BY_VECTORS = {"low-confidence", "stale-breadcrumb"}  # no warning of a fault
USUAL_MS, TICK_MS, MOST_TICKS = 30_000, 2_000, 20


def is_healthy(vector: Vector) -> bool:
    """Whether a vector is a healthy lock in which each session has one node."""
    expect = vector["expect"]
    members = [*expect["holders"], *expect["waiters"]]
    faults = set(expect.get("warnings", ())) - TOLD_BY_VECTORS
    known = dict(children_of(vector))
    owners = [owner for member in members if (owner := known.get(member["name"]))]
    is_alone = len(owners) == len(set(owners)) or "semaphore" in expect["kind"]
    is_one = is_alone and not expect["kind"].startswith(("mixed:", "not-a-lock:"))
    return bool(is_one and members and not faults and not expect.get("foreign"))


def children_of(vector: Vector) -> Iterator[tuple[str, int]]:
    """Every child by its name as seen from the lock, with its owner."""
    groups = {"": vector["children"]}
    groups |= {f"{name}/": below for name, below in vector.get("subnodes", {}).items()}
    groups |= {f"../{name}/": beside for name, beside in vector.get("siblings", {}).items()}
    for prefix, children in groups.items():
        for child in children:
            yield f"{prefix}{child['name']}", int(child["owner"], 16)
    yield ".", int(vector.get("options", {}).get("root_owner", "0x0"), 16)


HEALTHY = [vector for vector in all_vectors() if is_healthy(vector)]


def watched_in(vector: Vector, choice: int = 0) -> dict[Session, tuple[Text, ...]]:
    """What the waiters watch by the atlas, as far as tables show it.

    Of two nodes with one number, a client watches the one that the server lists last.
    """
    owners = dict(children_of(vector))
    rows: dict[Session, tuple[Text, ...]] = {}
    for waiter in vector["expect"]["waiters"]:
        owner = owners[waiter["name"]]
        for watch in waiter["watches"]:
            if watch["how"] != "children" and owner:
                either = [watch["path"]] if isinstance(watch["path"], str) else watch["path"]
                path = either[choice % len(either)]
                rows[owner] = (*rows.get(owner, ()), absolute_path(vector["root"], path))
    return rows


def tables(vector: Vector, at: int, after: int, timeout_ms: int, choice: int) -> Iterator[AnyFact]:
    """What a healthy server returns at this time."""
    sessions = sorted({owner for _, owner in children_of(vector) if owner})
    watched = watched_in(vector, choice)
    rows = tuple(
        Connection(
            one,
            Text(f"10.0.0.{number}:40000"),
            timeout_ms,
            quiet_ms=400,
            received=3 + after // 500,  # it pings
            sent=3 + after // 500,
            last_operation=Text("PING"),
            last_cxid=2,
            established=AT - 60_000,
        )
        for number, one in enumerate(sessions)
    )
    yield Connections(server=ZK, rows=rows, at=at, zxid=ZXID)
    yield Watches(server=ZK, rows=watched, at=at, zxid=ZXID)
    dates = dict.fromkeys(sessions, timeout_ms)
    yield Expiry(server=ZK, expires_in_ms=dates, tick_ms=TICK_MS, at=at, zxid=ZXID)
    yield Server(
        server=ZK,
        version=Text("3.8.0"),
        mode=Text("standalone"),
        connections=len(sessions),
        watches=sum(map(len, watched.values())) + len(vector["expect"]["waiters"]),
        at=at,
        zxid=ZXID,
    )


def found_in(vector: Vector, timeout_ms: int, choice: int = 0) -> list[str]:
    """The findings of several looks."""
    begin = now_of(vector)
    examiner, known = Examiner(settings_of(vector)), World().after(*facts_of(vector))
    known = known.after(Link(state="connected", session=0xFEED, at=begin, zxid=ZXID))
    said = {}
    for after in LOOKS:
        known = known.after(*tables(vector, begin + after, after, timeout_ms, choice))
        report = examiner.look(known, begin + after)
        said |= {finding.id: f"{finding.rule} {finding.sentence}" for finding in report.findings}
    return list(said.values())


@pytest.mark.parametrize("vector", HEALTHY, ids=lambda vector: vector["id"])
@pytest.mark.parametrize("timeout_ms", [USUAL_MS, MOST_TICKS * TICK_MS])
def test_a_healthy_lock_has_no_finding(vector: Vector, timeout_ms: int) -> None:
    """In any library; the longest timeout that servers grant is no fault either."""
    assert found_in(vector, timeout_ms) == []


REENTRANT = [
    vector for vector in all_vectors() if vector["id"] in ("rw-05", "m-curator-reentry-new")
]


@pytest.mark.parametrize("vector", REENTRANT, ids=lambda vector: vector["id"])
@pytest.mark.parametrize("choice", [0, 1])
def test_a_writer_that_also_reads_is_only_a_note(vector: Vector, choice: int) -> None:
    """Its two nodes have one number: the next writer may watch either."""
    assert [said[:3] for said in found_in(vector, USUAL_MS, choice)] == ["R6 "]


def test_every_layout_is_tried() -> None:
    """By a healthy vector."""
    tried = {vector["expect"]["kind"] for vector in HEALTHY}

    assert {layout.name for layout in LAYOUTS} <= tried
