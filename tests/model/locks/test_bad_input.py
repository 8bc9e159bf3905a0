"""Whatever other clients write into ZooKeeper, the model answers without an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Node, Stat, join
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text, clean
from zktop.model.world.world import World
from zktop.output.snapshot_json import snapshot

PATH = Text("/locks/one")
NOW = 1_800_000_000_000
ROOTED = Settings(roots=(Root(PATH),))

PARTS = (
    *("lock-", "__lock__", "_c_", "read-", "write-", "x-", "n_", "flock#", "zlock#"),
    *("LOCK-SHARED-", "leases", "locks", "lease_holder", "leader", "ready", "members"),
    *("0000000001", "2147483647", "-2147483648", "-000000001", "9999999999"),
    *("\x1b[2J", "\n"),
)
NAME_PARTS = st.one_of(
    st.text(st.characters(exclude_characters="/"), min_size=1, max_size=12),
    st.sampled_from(PARTS),
)
NAMES = st.lists(NAME_PARTS, min_size=1, max_size=4).map("".join)
NODES = st.tuples(
    NAMES,
    st.one_of(st.none(), st.binary(max_size=40), st.sampled_from([b"{", b'{"end": 1}', b"3"])),
    st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]),
    st.integers(0, 2**63 - 1),
)


def facts(nodes: list[tuple[str, bytes | None, int, int]]) -> list[AnyFact]:
    """What a source would read of such a root."""
    names = tuple(dict.fromkeys(clean(name) for name, *_ in nodes))
    facts: list[AnyFact] = [
        Node(
            path=join(PATH, clean(name)),
            stat=Stat(czxid, czxid, NOW, owner=owner),
            data=data,
            zxid=2**63,
            at=NOW,
        )
        for name, data, owner, czxid in nodes
    ]
    return [Children(path=PATH, names=names, stat=Stat(1, 1, 0), zxid=2**63, at=NOW), *facts]


def looked_at(facts: list[AnyFact], settings: Settings) -> Report:
    """The report, with all of its text made."""
    report = Examiner(settings).look(World().after(*facts), NOW + 60_000)
    snapshot(report)
    return report


@given(st.lists(NODES, max_size=8))
def test_any_names_and_data_have_an_answer(
    nodes: list[tuple[str, bytes | None, int, int]],
) -> None:
    """Never an exception, whether the root was named by the user or found."""
    known = facts(nodes)
    named = looked_at(known, ROOTED)
    looked_at(known, Settings())

    assert named.view(PATH) is not None
    for view in named.views:
        shown = [contender.node for contender in (*view.holders, *view.waiters)]

        assert len(shown) == len(set(shown))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (f"lock-{'x' * 1_000_000}-0000000001", b""),
        ("lock-0000000001", b"x" * 1_000_000),
        ("lock-0000000001", b"{" * 100_000),
        ("lock-0000000001", b"\xff\xfe\x00"),
        ("\x1b]0;owned\x07lock-0000000001", b"\x1b[31m"),
        ("lock-\n0000000001", b"a\nb"),
    ],
    ids=["long name", "much data", "deep JSON", "no UTF-8", "escapes", "newlines"],
)
def test_extremes_have_an_answer(name: str, data: bytes) -> None:
    """A megabyte, a hundred thousand brackets, and text that looks like a command."""
    report = looked_at(facts([(name, data, 7, 5)]), ROOTED)

    assert "\x1b" not in repr(report.sessions)


def test_twenty_thousand_members_are_one_lock() -> None:
    """The longest queue that a listing can hold."""
    nodes = [(f"lock-{n:010d}", b"", n + 1, n + 1) for n in range(20_000)]
    report = Examiner(ROOTED).look(World().after(*facts(nodes)), NOW, thorough=False)
    view = report.view(PATH)

    assert view is not None
    assert len(view.lock.holders) == 1
    assert len(view.lock.waiters) == 19_999
    assert view.lock.blocked_by(view.lock.waiters[-1])[0].node == "lock-0000019998"
