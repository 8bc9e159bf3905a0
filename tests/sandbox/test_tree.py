"""The tree and the plan of a write: which writes are allowed, and the Stat after them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.sandbox import protocol as paths
from zktop.sandbox.acl import OPEN
from zktop.sandbox.plan_write import WritePlan
from zktop.sandbox.protocol import ErrorCode, Refused
from zktop.sandbox.tree import SPECIAL, Lifetime, SandboxTree, WriteMoment, int32
from zktop.sandbox.write_requests import Store

NAMES = ["/a", "/a/b", "/a/b/c", "/a/d", "/e"]
LAST = 2**31 - 1


def store():
    """An empty store whose clock stands still."""
    return Store(lambda: 1_000)


def creation(plan, path, *, owner=0, sequential=False, data=b"x", container=False, ttl_ms=0):
    """Plan to create a znode."""
    return plan.create(path, data, OPEN, Lifetime(owner, container, ttl_ms), sequential=sequential)


def create(kept, path, **wishes):
    """Create one znode in its own transaction; return its path."""
    moment = kept.begin()
    return kept.apply(creation(WritePlan(kept.tree, ()), path, **wishes), moment).path


def delete(kept, path):
    """Delete one znode in its own transaction."""
    moment = kept.begin()
    kept.apply(WritePlan(kept.tree, ()).delete(path, -1), moment)


def test_a_new_server():
    """Every server has the same few znodes; those that cannot be deleted are among them."""
    tree = SandboxTree()

    assert all(path in tree for path in SPECIAL)
    assert (len(tree), tree.count_below("/"), tree.bytes) == (5, 3, 44)
    assert tree.node("/").stat().cversion == -1


def test_numbers_count_creates():
    """The next number is the number of creates so far; deletes do not lower it."""
    kept = store()
    create(kept, "/q")
    first = [create(kept, "/q/n-", sequential=True) for _ in range(3)]
    delete(kept, first[2])

    assert [path[-10:] for path in first] == ["0000000000", "0000000001", "0000000002"]
    assert create(kept, "/q/n-", sequential=True) == "/q/n-0000000003"
    assert kept.tree.node("/q").stat().cversion == 2 * 4 - 3


def test_numbers_stick_at_the_last():
    """At 2147483647 the counter stands still: that name is free once, then after each delete."""
    kept = store()
    create(kept, "/q")
    kept.tree.node("/q").cversion = LAST
    last = create(kept, "/q/n-", sequential=True)
    with pytest.raises(Refused) as refusal:
        create(kept, "/q/n-", sequential=True)
    delete(kept, last)

    assert last == "/q/n-2147483647"
    assert refusal.value.code is ErrorCode.NODE_EXISTS
    assert create(kept, "/q/n-", sequential=True) == last


def test_numbers_run_over_within_a_multi():
    """Only creates of one transaction see the counter run over to its negative end."""
    kept = store()
    create(kept, "/q")
    kept.tree.node("/q").cversion = LAST
    plan = WritePlan(kept.tree, ())
    changes = [creation(plan, "/q/n-", sequential=True) for _ in range(2)]

    assert [change.path for change in changes] == ["/q/n-2147483647", "/q/n--2147483648"]


def test_a_draft_changes_nothing():
    """A plan is visible to later decisions of its transaction only."""
    kept = store()
    plan = WritePlan(kept.tree, ())
    creation(plan, "/a")
    creation(plan, "/a/b")
    with pytest.raises(Refused) as refusal:
        plan.delete("/a", -1)

    assert refusal.value.code is ErrorCode.NOT_EMPTY
    assert "/a" not in kept.tree


def test_ephemerals_by_owner():
    """A session's znodes are listed until they are deleted."""
    kept = store()
    for path in ("/x", "/y"):
        create(kept, path, owner=7)
    delete(kept, "/x")
    owners = list(kept.tree.owners())
    delete(kept, "/y")

    assert owners == [(7, ["/y"])]
    assert list(kept.tree.owners()) == []
    assert kept.tree.ephemerals(7) == []


def test_znodes_that_outlive_their_sessions():
    """A used container is deleted when it is empty, a TTL znode when it is old enough."""
    kept = store()
    create(kept, "/fresh", container=True)
    create(kept, "/used", container=True)
    create(kept, "/used/child")
    create(kept, "/old", ttl_ms=500)
    create(kept, "/parent", ttl_ms=500)
    create(kept, "/parent/child")
    full = kept.tree.outlived(1_500)
    delete(kept, "/used/child")

    assert full == []
    assert kept.tree.outlived(1_500) == ["/used"]
    assert kept.tree.outlived(1_501) == ["/used", "/old"]
    assert {kept.tree.node(path).stat().ephemeral_owner for path in ("/used", "/old")} == {0}


writes = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.sampled_from(NAMES), st.sampled_from([0, 0, 5])),
        st.tuples(st.just("delete"), st.sampled_from(NAMES)),
        st.tuples(st.just("write"), st.sampled_from(NAMES), st.binary(max_size=5)),
        st.tuples(st.just("number"), st.sampled_from(NAMES)),
    ),
    max_size=40,
)


@given(writes)
def test_stats_agree_with_the_tree(taken):
    """After any writes, counts, sizes, owners and zxids of every Stat are right."""
    kept = store()
    model = {}
    for name, path, *rest in taken:
        moment = kept.begin()
        try:
            change = decide(WritePlan(kept.tree, ()), name, path, *rest)
        except Refused:
            continue
        kept.apply(change, moment)
        apply_to_model(model, name, change, moment)

    for path, expected in model.items():
        stat = kept.tree.node(path).stat()
        children = sum(paths.split(other)[0] == path for other in model)
        assert (stat.num_children, stat.data_length) == (children, len(expected["data"]))
        assert (stat.czxid, stat.mzxid, stat.pzxid) == tuple(expected["zxids"])
        assert stat.version == expected["version"]
        assert stat.cversion == 2 * expected["creates"] - children
    assert len(kept.tree) == len(model) + 5
    assert sorted(kept.tree.ephemerals(5)) == sorted(p for p in model if model[p]["owner"])


def decide(plan, name, path, value=None):
    """The change of this step."""
    if name == "delete":
        return plan.delete(path, -1)
    if name == "write":
        return plan.write(path, value, -1)
    if name == "number":
        return creation(plan, f"{path}/n-", sequential=True)
    return creation(plan, path, owner=value)


def apply_to_model(model, name, change, moment):
    """Apply the change to the simple model."""
    parent = model.get(paths.split(change.path)[0])
    if name in ("create", "number"):
        owner = change.lifetime.owner
        model[change.path] = {
            "data": b"x",
            "zxids": [moment.zxid] * 3,
            "version": 0,
            "creates": 0,
            "owner": owner,
        }
    elif name == "delete":
        del model[change.path]
    else:
        node = model[change.path]
        node["data"], node["version"] = change.data, node["version"] + 1
        node["zxids"][1] = moment.zxid
    if parent and name != "write":
        parent["zxids"][2] = moment.zxid
        parent["creates"] += name != "delete"


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6))
def test_a_refused_multi_leaves_no_trace(names):
    """Deciding a multi up to its refusal leaves every Stat as it was."""
    kept = store()
    for path in NAMES[:3]:
        create(kept, path)
    before = {path: kept.tree.node(path).stat() for path in NAMES[:3]}
    plan = WritePlan(kept.tree, ())
    for path in names:
        for name, value in (("number", None), ("delete", None), ("write", b"")):
            with contextlib.suppress(Refused):
                decide(plan, name, path, value)

    assert {path: kept.tree.node(path).stat() for path in NAMES[:3]} == before
    assert len(kept.tree) == 5 + 3


@pytest.mark.parametrize(
    ("value", "shown"), [(0, 0), (LAST, LAST), (LAST + 1, -(2**31)), (-1, -1)]
)
def test_counters_run_over(value, shown):
    """Counters are 32 bits wide and signed."""
    assert int32(value) == shown


def test_versions_run_over():
    """The version after the largest is the smallest, as in Java."""
    kept = store()
    create(kept, "/a")
    kept.tree.write("/a", b"", LAST, WriteMoment(9, 9))

    assert WritePlan(kept.tree, ()).write("/a", b"", LAST).version == -(2**31)


@given(st.text(max_size=5))
def test_paths_of_real_servers(name):
    """A name is valid exactly when Java's rules, applied to UTF-16 units, say so."""
    path = f"/{name}"
    units = path.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[i : i + 2]) for i in range(0, len(units), 2)]
    banned = ((0, 0x1F), (0x7F, 0x9F), (0xD800, 0xF8FF), (0xFFF0, 0xFFFF))
    fit = not any(low <= code <= high for code in codes for low, high in banned)
    parts = path.split("/")[1:]
    fit = fit and (path == "/" or not any(part in ("", ".", "..") for part in parts))

    assert paths.is_valid(path) is fit
