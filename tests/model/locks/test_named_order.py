"""Locks with names of their own in one folder: each order is merged from two."""

import random
from collections.abc import Iterator

import pytest
from model.locks.lock_worlds import lock_in, world_of

from zktop.model.facts import Stat
from zktop.model.layouts import client_view
from zktop.model.layouts.client_view import NameRanker
from zktop.model.layouts.layout import ClientView
from zktop.model.layouts.main_libraries import CURATOR_CUSTOM
from zktop.model.locks import client_order
from zktop.model.locks import folder as folder_module
from zktop.model.locks.client_order import ClientOrder
from zktop.model.locks.folder import Folder
from zktop.model.locks.lock import FOREIGN, Member
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Znode

VIEW = CURATOR_CUSTOM.sights[0]
GROUPS = ("job-", "bigjob-", "b", "stock")


def child(name: str) -> Member:
    """A child of the folder."""
    znode = Znode(Text(name), Stat(5, 5, 0, owner=7))
    return Member(znode.name, "exclusive", None, FOREIGN, None, None, znode)


def names(random_: random.Random) -> Iterator[str]:
    """Nodes of several locks, of other libraries, and foreign ones."""
    for number in range(30):
        group = random_.choice((*GROUPS, "00-config-", "zz"))
        uuid = f"{random_.getrandbits(32):08x}-1111-4c3b-9a55-0f6b1b8f7a01"
        yield random_.choice((f"_c_{uuid}-{group}{number:010d}", f"{group}x{number}"))


@pytest.mark.parametrize("seed", range(20))
def test_a_merged_order_is_that_of_all_children(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whatever the names contain, for each lock of the folder."""
    monkeypatch.setattr(folder_module, "MIN_MERGED_LOCKS", 0)
    children = tuple(map(child, names(random.Random(seed))))
    folder = Folder(children)

    for group in GROUPS:
        merged = folder.order(CURATOR_CUSTOM, VIEW, group, for_readers=False)
        whole = ClientOrder(CURATOR_CUSTOM, VIEW, children, group=group)
        assert list(merged.first()) == list(whole.first())
        assert [merged.count_before(one) for one in children] == [
            whole.count_before(one) for one in children
        ]
        for one in children:
            assert [merged.is_before(two, one) for two in children] == [
                whole.is_before(two, one) for two in children
            ]
            assert merged.same_rank(one) == whole.same_rank(one)
        for end in range(len(children) + 1):
            assert list(merged.backwards(end)) == list(whole.backwards(end))


def test_each_lock_ranks_only_its_own_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a thousand locks in one folder, ranking all children for each took seconds a look."""
    ranked = 0

    def counting(view: ClientView, group: str = "") -> NameRanker:
        rank = client_view.ranker_of(view, group)

        def counted(name: str) -> client_view.Rank | None:
            nonlocal ranked
            ranked += 1
            return rank(name)

        return counted

    monkeypatch.setattr(client_order, "ranker_of", counting)
    children = [f"_c_d8e1f0a2-1111-4c3b-9a55-{n:012x}-order-{n}-{n:010d}" for n in range(200)]
    lock = lock_in(world_of(children, next_sequence=200))

    assert len(lock.holders) == len(children)
    assert ranked < 20 * len(children)
