"""Whose nodes a waiter of each library counts: the matrix, pair by pair."""

from collections.abc import Iterator

import pytest

from zktop.config.check_layouts import view_mistakes
from zktop.model.facts import Stat
from zktop.model.layouts.client_view import assumed_view, views_of
from zktop.model.layouts.layout import ClientView, Layout, sequence_text
from zktop.model.locks.client_order import ClientOrder, in_order
from zktop.model.locks.lock import FOREIGN, Member
from zktop.model.locks.shapes import LAYOUTS, layout_named
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Znode

HEX, UUID = "9f1c2d3e4b5a60718293a4b5c6d7e8f9", "d8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a01"
OTHER, OTHER_UUID = HEX[::-1], "50b2c3d4-2222-4c3b-8a55-0f6b1b8f7a02"

# Column of the matrix -> how such a name begins; the number comes behind it.
NODES = {
    "cM": f"_c_{UUID}-lock-", "cW": f"_c_{UUID}-__WRIT__", "cR": f"_c_{UUID}-__READ__",
    "cL": f"_c_{UUID}-latch-", "kL": f"{HEX}__lock__", "kR": f"{HEX}__rlock__",
    "kN": f"{HEX}-lock-", "go": f"_c_{HEX}-lock-", "xJ": "x-72057682084757505-",
    "xC": "x-0100001480000001-", "n_": "n_", "ex": "ex", "l-": "lock-", "l_": "lock_", "bare": "",
}  # fmt: skip
FIXED = {"00-x": "00-x", "config": "config", "a-0": "a-0", "zz": "zz"}
COLUMNS = [*NODES, *FIXED]

# The waiter: its layout, how its name begins, its mode, and which of its layout's views.
WAITERS = {
    "curator-mutex": ("curator-mutex", f"_c_{OTHER_UUID}-lock-", "exclusive", 0),
    "curator-rw writer": ("curator-rw", f"_c_{OTHER_UUID}-__WRIT__", "write", 0),
    "curator-rw reader": ("curator-rw", f"_c_{OTHER_UUID}-__READ__", "read", 0),
    "curator-latch": ("curator-latch", f"_c_{OTHER_UUID}-latch-", "exclusive", 0),
    "kazoo Lock": ("kazoo-lock", f"{OTHER}__lock__", "exclusive", 0),
    "kazoo WriteLock": ("kazoo-lock", f"{OTHER}__lock__", "write", 1),
    "kazoo extra": ("kazoo-lock", f"{OTHER}__lock__", "exclusive", 2),
    "kazoo named": ("guid-lock", f"{OTHER}-lock-", "exclusive", 0),
    "Go >= 1.0.3": ("go-lock", f"_c_{OTHER}-lock-", "exclusive", 0),
    "Go 1.0.2": ("go-lock", f"_c_{OTHER}-lock-", "exclusive", 1),
    "Go samuel": ("go-lock", f"_c_{OTHER}-lock-", "exclusive", 2),
    "WriteLock >= 3.7": ("zk-writelock-java", "x-72057682084757507-", "exclusive", 0),
    "WriteLock < 3.7": ("zk-writelock-java", "x-72057682084757507-", "exclusive", 1),
    "WriteLock <= 3.4.11": ("zk-writelock-java", "x-72057682084757507-", "exclusive", 2),
    "WriteLock of .NET": ("zk-writelock-java", "x-72057682084757507-", "exclusive", 3),
    "C zoo_lock": ("zk-writelock-c", "x-0100001480000003-", "exclusive", 0),
    "LeaderElectionSupport": ("zk-election", "n_", "exclusive", 0),
    "zk-ruby ex": ("zkruby-rw", "ex", "write", 0),
    "zktools async": ("guid-lock", f"{OTHER}-lock-", "exclusive", 1),
    ".NET lock-": ("plain-lock", "lock-", "exclusive", 0),
    "whole names": ("plain-lock", "lock-", "exclusive", 1),
}

# '#': by its number; '!': always before; '.': never in the way; 'F': the client fails.
MATRIX = {
    "curator-mutex":         "#  .  .  .  .  .  #  #  .  .  .  .  #  .  #  !  .  .  .",
    "curator-rw writer":     ".  #  #  .  .  .  .  .  .  .  .  .  .  .  #  !  .  .  .",
    "curator-rw reader":     ".  #  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .",
    "curator-latch":         ".  .  .  #  .  .  .  .  .  .  .  .  .  .  #  !  .  .  .",
    "kazoo Lock":            ".  .  .  .  #  .  .  .  .  .  .  .  .  .  .  .  .  .  .",
    "kazoo WriteLock":       ".  .  .  .  #  #  .  .  .  .  .  .  .  .  .  .  .  .  .",
    "kazoo extra":           "#  .  .  .  #  .  #  #  .  .  .  .  .  .  .  .  .  .  .",
    "kazoo named":           "#  .  .  .  .  .  #  #  .  .  .  .  .  .  .  .  .  .  .",
    "Go >= 1.0.3":           "#  #  #  F  #  #  #  #  F  F  F  F  #  F  #  F  F  F  F",
    "Go 1.0.2":              "#  F  F  #  #  #  #  #  #  #  F  F  #  F  #  F  F  !  F",
    "Go samuel":             "#  F  F  #  F  F  #  #  #  #  F  F  #  F  #  F  F  !  F",
    "WriteLock >= 3.7":      "#  .  .  #  .  .  #  #  #  #  .  .  #  .  .  .  .  !  .",
    "WriteLock < 3.7":       "#  !  !  #  !  !  #  #  #  #  !  !  #  !  !  !  !  !  !",
    "WriteLock <= 3.4.11":   "!  !  !  !  !  !  !  !  !  !  !  !  !  !  !  !  !  !  .",
    "WriteLock of .NET":     "#  !  !  #  !  !  #  #  #  #  !  !  #  !  !  !  !  !  !",
    "C zoo_lock":            "#  .  .  #  F  F  #  #  #  #  F  F  #  F  F  .  F  !  F",
    "LeaderElectionSupport": "F  F  F  F  F  F  F  F  F  F  #  #  F  F  #  F  F  !  F",
    "zk-ruby ex":            "#  #  #  #  #  #  #  #  #  #  #  #  #  #  #  !  !  !  !",
    "zktools async":         "#  .  .  #  .  .  #  #  #  #  .  .  #  .  #  .  .  !  .",
    ".NET lock-":            ".  .  .  .  .  .  .  .  .  .  .  .  #  .  .  .  .  .  .",
    "whole names":           "!  !  !  !  !  !  !  !  .  .  .  !  #  .  !  !  !  !  .",
}  # fmt: skip
# Where a layout of ours stands for several clients, and counts more than the one of the row.
BROADER = {("kazoo extra", "kR"), (".NET lock-", "l_")}
EARLY, MINE, LATE = 3, 5, 7


def pairs() -> Iterator[tuple[str, str, str]]:
    """Yield each field of the matrix: the waiter, the node, and the effect."""
    for waiter, row in MATRIX.items():
        for column, field in zip(COLUMNS, row.split(), strict=True):
            if (waiter, column) not in BROADER:
                yield waiter, column, field


def place(
    name: str, sequence: int | None, layout: str = FOREIGN, mode: str = "exclusive"
) -> Member:
    """Make a child."""
    stat = Stat(1, 1, 0, owner=1)
    return Member(Text(name), mode, sequence, layout, None, None, Znode(Text(name), stat))


def seen(waiter: str, child: Member) -> str:
    """Return the effect of a child on a waiter with the number 5."""
    name, prefix, mode, number = WAITERS[waiter]
    layout = layout_named(name)
    assert layout is not None
    me = place(prefix + sequence_text(MINE), MINE, name, mode)
    view = layout.sights[number]
    ranking = ClientOrder(layout, view, [me, child], for_readers=mode == "read")
    return "F" if child in ranking.unreadable else "!" if ranking.is_before(child, me) else "."


@pytest.mark.parametrize(("waiter", "column", "field"), list(pairs()))
def test_a_waiter_counts_a_node_as_its_library_does(waiter: str, column: str, field: str) -> None:
    """Nodes with a lower and with a higher number than its own, or with none."""
    prefix = NODES.get(column)
    children = (
        [place(FIXED[column], None)]
        if prefix is None
        else [place(prefix + sequence_text(number), number) for number in (EARLY, LATE)]
    )

    expected = ["!", "."] if field == "#" else [field] * len(children)
    assert [seen(waiter, child) for child in children] == expected


@pytest.mark.parametrize(("waiter", "column"), BROADER)
def test_one_layout_for_several_clients_counts_what_any_of_them_does(
    waiter: str, column: str
) -> None:
    """A WriteLock with extra patterns, and tutorials that write `lock_`."""
    assert seen(waiter, place(NODES[column] + sequence_text(EARLY), EARLY)) == "!"


@pytest.mark.parametrize(
    ("foreign", "number", "field"),
    [
        ("config", 0, "!"),  # without a dash: -1
        ("y-new", 0, "."),  # 0, too; the text before it is compared
        ("a-new", 0, "!"),
        ("y-new", 1, "!"),
    ],
)
def test_dotnet_reads_what_is_no_number_behind_a_dash_as_zero(
    foreign: str, number: int, field: str
) -> None:
    """Java before 3.7 reads it as -1, with and without a dash."""
    name, prefix, *_ = WAITERS["WriteLock of .NET"]
    layout = layout_named(name)
    assert layout is not None
    me, other = place(prefix + sequence_text(number), number, name), place(foreign, None)
    java, dotnet = (ClientOrder(layout, layout.sights[at], [me, other]) for at in (1, 3))

    assert ("!" if dotnet.is_before(other, me) else ".") == field
    assert java.is_before(other, me)


@pytest.mark.parametrize(
    "layout", [one for one in LAYOUTS if one.sights], ids=lambda layout: layout.name
)
def test_sights_agree_with_the_order_of_the_own_names(layout: Layout) -> None:
    """As long as the counter has not overflowed; every view that is for all modes."""
    heads = [head for head in OWN.get(layout.name, ()) if head is not None]
    members = [
        place(head + sequence_text(n), n, layout.name, mode) for n, (head, mode) in _own(heads)
    ]
    expected = [one.node for one in in_order(layout, members)]

    for view in layout.sights:
        if not view.pool and not view.modes and not sorts_by_id(layout, view):
            ranked = [child.node for child in ClientOrder(layout, view, members).first()]
            assert [node for node in expected if node in set(ranked)] == ranked


def sorts_by_id(layout: Layout, view: ClientView) -> bool:
    """Return whether an id or a mode goes before the number.

    WriteLock compared whole names until 3.4.11, and copies of a read/write lock still do.
    """
    names = ("zk-writelock-java", "rw-read-write", "rw-host")
    return layout.name in names and not view.key


def _own(heads: list[tuple[str, str]]) -> Iterator[tuple[int, tuple[str, str]]]:
    return ((number * 7 % 31, head) for number, head in enumerate(heads * 3, start=1))


OWN = {
    "curator-mutex": [(NODES["cM"], "exclusive"), (f"_c_{OTHER_UUID}-lock-", "exclusive")],
    "curator-rw": [(NODES["cW"], "write"), (NODES["cR"], "read")],
    "curator-latch": [(NODES["cL"], "exclusive")],
    "kazoo-lock": [(NODES["kL"], "write"), (NODES["kR"], "read")],
    "go-lock": [(NODES["go"], "exclusive"), (f"_c_{OTHER}-lock-", "exclusive")],
    "zk-writelock-java": [(NODES["xJ"], "exclusive"), ("x--72057682084757507-", "exclusive")],
    "zk-writelock-c": [(NODES["xC"], "exclusive"), ("x-0100001480000003-", "exclusive")],
    "zk-election": [("n_", "exclusive")],
    "guid-lock": [(NODES["kN"], "exclusive"), ("host-lock-", "exclusive")],
    "zktools": [(f"{HEX}-write--", "write"), (f"{OTHER}-read--", "read")],
    "accumulo-zlock-old": [("zlock-", "exclusive")],
    "accumulo-fate-lock": [("flock#", "write")],
    "hive-lock": [("LOCK-EXCLUSIVE-", "exclusive"), ("LOCK-SHARED-", "read")],
    "solr-election": [("-72057682084757505-node1-n_", "exclusive"), ("720-b-n_", "exclusive")],
    "bookkeeper-auditor": [("V_", "exclusive")],
    "member-group": [("member_", "exclusive")],
    "spark-master-old": [("master_", "exclusive")],
    "clickhouse-leader-election": [("leader_election-", "exclusive")],
    "mesos-group": [("json.info_", "exclusive"), ("info_", "exclusive"), ("", "exclusive")],
    "zkruby-rw": [("ex", "write"), ("sh", "read")],
    "zkruby-semaphore": [("sem", "lease")],
    "zkruby-election": [("ballot", "exclusive")],
    "permit-semaphore": [("permit-", "lease")],
    "medallion-semaphore": [("semaphore-", "lease")],
    "rw-menagerie": [("readLock-", "read"), ("writeLock-", "write")],
    "rw-read-write": [("read-", "read"), ("write-", "write")],
    "rw-R-W": [("R-", "read"), ("W-", "write")],
    "rw-r-w-lock": [("r-lock-", "read"), (f"_c_{UUID}-w-lock-", "write")],
    "rust-latch": [("latch-a-", "exclusive"), ("latch-b-c-", "exclusive")],
    "zooit": [("host.PID.12-", "exclusive"), ("other.PID.3-", "exclusive")],
    "rw-host": [("host-R-", "read"), ("host-W-", "write")],
    "plain-lock-id": [("lock_a_", "exclusive"), ("lock_b_c_", "exclusive")],
    "plain-lock": [("lock-", "exclusive")],
    "plain-lock-dashless": [("lock", "exclusive")],
    "zplock": [("1", "exclusive")],
    "bare-sequence": [("", "exclusive")],
    "named-sequence": [("job-", "exclusive")],
}


def test_every_sight_of_the_catalogue_is_sound() -> None:
    """Its patterns compile, and a key has a group; all layouts with names are tried above."""
    found = [
        fault for layout in LAYOUTS for view in layout.sights for fault in view_mistakes(view)
    ]

    assert not found
    named = {one.name for one in LAYOUTS if any(not view.pool for view in one.sights)}
    assert named - OWN.keys() == {"curator-custom"}


@pytest.mark.parametrize(
    ("name", "is_counted"),
    [("job-0000000001", True), ("lock-0000000001", True), ("tmp-job-0000000001", False),
     ("other-0000000001", False)],
)  # fmt: skip
def test_older_keys_of_a_layout_still_say_a_sight(name: str, *, is_counted: bool) -> None:
    """`sees` and `unseen`, as config files before this version have them."""
    layout = Layout(
        name="jobs", pattern="^(?:tmp-)?job-{SEQ}$", sees=("plain-lock",), unseen="^tmp-"
    )
    (view,) = views_of(layout)
    me = place("job-0000000005", 5, "jobs")

    assert (
        ClientOrder(layout, view, [me, place(name, 1)]).is_before(place(name, 1), me) == is_counted
    )


def test_a_sight_may_be_for_some_modes_alone() -> None:
    """A plain Lock of kazoo counts no readers, a WriteLock does."""
    lock, both = ClientView(counts="a", modes=("exclusive",)), ClientView(counts="b")

    assert [assumed_view((lock, both), mode) for mode in ("exclusive", "write")] == [lock, both]
