"""Which part of large data is kept: all that layouts read, and no payload."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.layouts.vectors import Vector, all_vectors, facts_of, now_of, settings_of

from zktop.model.facts import AnyFact, Node
from zktop.model.layouts.owner_labels import label_of
from zktop.model.layouts.redact_payload import owner_part
from zktop.model.layouts.timed_leases import lease_end
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.world.world import World


def padded(data: bytes) -> bytes:
    """Make data large, as by a payload that a service also keeps there."""
    try:
        document = json.loads(data)
    except ValueError:
        document = None
    if isinstance(document, dict):
        return json.dumps({"password": "hunter2", **document, "rows": ["x" * 300]}).encode()
    return data + b" " + b"hunter2" * 50


def judged(vector: Vector, *, is_redacted: bool) -> tuple[object, ...]:
    """What a vector's lock shows if all data is large."""

    def stored(fact: AnyFact) -> AnyFact:
        if not isinstance(fact, Node) or not fact.data:
            return fact
        data = padded(fact.data)
        return type(fact)(
            path=fact.path,
            stat=fact.stat,
            data=owner_part(data) if is_redacted else data,
            zxid=fact.zxid,
            at=fact.at,
        )

    world = World().after(*map(stored, facts_of(vector)))
    lock = lock_at(vector["root"], world, settings_of(vector), now_of(vector))
    members = [(one.node, one.mode, one.label) for one in getattr(lock, "members", ())]
    return type(lock), getattr(lock, "until", None), members


@pytest.mark.parametrize("vector", list(all_vectors()), ids=lambda vector: vector["id"])
def test_a_lock_is_the_same_without_the_payload(vector: Vector) -> None:
    """Its kind, its members with their labels and modes, and the end of its lease."""
    assert judged(vector, is_redacted=True) == judged(vector, is_redacted=False)


SERVER_LOCK = {
    "descriptors": [
        {"uuid": str(number), "service": service, "address": "h7:9997", "group": "default"}
        for number, service in enumerate(("CLIENT", "TABLET_INGEST", "TABLET_SCAN"))
    ]
}
HELIX = {
    "id": "controller-lock",
    "simpleFields": {"OWNER": "participant-7_12000", "TIMEOUT": "1800000000000", "note": "secret"},
    "mapFields": {"x": {"y": "secret" * 50}},
}


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(SERVER_LOCK).encode(),
        json.dumps(HELIX).encode(),
        json.dumps([{"uuid": "x"}, {"owner": "ann", "token": "secret" * 50}]).encode(),
        b'bookieId: "b-1"\n'.rjust(400),
        b"epoch: 7 " + b"x" * 100 + b'\nbookieId: "b-1"\n',
        json.dumps({"owner": "ann" * 200, "note": "x" * 300}).encode(),
        b"[worker-3] of team a\n" + b"secret" * 50,
        b"x=" + b"y" * 300 + b",application_id=app-7,b=c",
        b"b'worker-3" + b"!" * 300 + b"'",
        b"\xffPBUF\n\x05rs1.x\x10\x80}\x18" + b"\x01secret" * 60,
        b"\x01\x02worker-17 of team a\x03" + bytes(range(1, 9)) * 50,
    ],
    ids=[
        "accumulo",
        "helix",
        "list",
        "bookie",
        "bookie below",
        "long owner",
        "no JSON",
        "hudi",
        "repr",
        "hbase",
        "phrase",
    ],
)
def test_labels_of_large_data_are_the_same(data: bytes) -> None:
    """Also the end of a lease; other values are gone."""
    kept = owner_part(data)
    layouts = ("kazoo-lock", "bookkeeper-auditor", "plain-lock")

    assert [label_of(kept, one) for one in layouts] == [label_of(data, one) for one in layouts]
    assert lease_end(kept) == lease_end(data)
    assert len(kept) < len(data)
    assert len(kept) < 300
    assert b"secret" not in kept


@given(st.binary(min_size=257, max_size=4096))
def test_the_label_of_any_data_is_the_same(data: bytes) -> None:
    """For layouts without a reader of their own."""
    assert label_of(owner_part(data), "kazoo-lock") == label_of(data, "kazoo-lock")


@pytest.mark.parametrize(
    "data",
    [
        b'{"owner": "a", "password": "hunter2", "end": {"token": "hunter2"}}',
        b"hive_7:1700000000000:EXPLICIT:select 'hunter2'",
        b"orders-api\ndb.user=orders\ndb.password=hunter2\n",
        b'{"password": "hunter2", "text": "' + b"x" * 4096,
        b'[{"owner": "a"}, {"owner": "hunter2"}]',
    ],
)
def test_other_short_values_are_left_out(data: bytes) -> None:
    """A recording is attached to tickets."""
    assert b"hunter2" not in owner_part(data)
