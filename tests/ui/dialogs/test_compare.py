"""The differences between two moments."""

import pytest
from model.make_facts import NOW, lock
from msgspec.structs import replace
from ui.example_ensemble import texts
from ui.fake_feed import frames

from zktop.model.facts import Children, Node, Stat
from zktop.model.text import Text
from zktop.ui.dialogs.compare import compared


def differences(before: str, after: str) -> list[str]:
    """The dialog for two queues of one lock; each letter is a client, the first one holds it."""
    (then,), (now,) = (frames((NOW, lock("/l", *queue))) for queue in (before, after))
    return [one.strip() for one in texts(compared(then.report, now.report, 80))]


def test_a_queue_that_did_not_change_has_no_difference() -> None:
    """A lock that was read again is no difference."""
    assert differences("habc", "habc") == ["No differences: same holders, queues and findings."]


@pytest.mark.parametrize("after", ["habcxyz", "habcfed"])
def test_names_that_are_only_counted_are_compared(after: str) -> None:
    """The sentence of the queue is the same: three names, and the number of others."""
    begin = "held by h; waiting: a, b, c and 3 more"

    assert differences("habcdef", after)[:3] == [
        "/l",
        f"- {begin}",
        f"+ {begin}; other nodes, or another order",
    ]


def test_a_client_with_the_name_of_another_is_a_difference() -> None:
    """Sentences have equal names only once."""
    assert differences("hab", "habb")[-2:] == [
        "- held by h; waiting: a and b",
        "+ held by h; waiting: a and b; other nodes, or another order",
    ]


def test_another_holder_by_name_is_a_difference() -> None:
    """The node stays, and no session owns it: its data names the holder."""
    path = Text("/shedlock")
    stat = Stat(100, 100, 0, cversion=1, num_children=1, pzxid=101)
    root = Children(path=path, names=("job-a",), stat=stat, zxid=200, at=NOW)
    node = Node(path=Text(f"{path}/job-a"), stat=Stat(101, 101, NOW), data=b"", zxid=200, at=NOW)
    then, now = (
        frames((NOW, [root, replace(node, data=host.encode())]))[0]
        for host in ("host-a", "host-b")
    )

    assert [one.strip() for one in texts(compared(then.report, now.report, 80))] == [
        "/shedlock",
        "- held by host-a; no waiters",
        "+ held by host-b; no waiters",
    ]
