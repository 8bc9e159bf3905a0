"""Polling: rounds over the folders that no watch covers."""

from types import SimpleNamespace
from typing import cast

import pytest

from zktop.zk.read.requests import GET_DATA
from zktop.zk.read.requests_in_flight import Item, Reader
from zktop.zk.watch.polling import Polling
from zktop.zk.watch.root_watcher import RootWatcher

WATCHER = SimpleNamespace(
    tree=SimpleNamespace(polled={"/locks/a"}, denied={}, folders={}), roots=[], unconfirmed=()
)


@pytest.mark.parametrize(("is_full", "asked"), [(False, [(GET_DATA, "/locks/a")]), (True, [])])
def test_a_busy_tree_is_polled_all_the_same(*, is_full: bool, asked: list[Item]) -> None:
    """Requests that are under way are no reason to wait; requests that wait for room are."""
    sent: list[Item] = []
    loop = SimpleNamespace(after=lambda *_: None)
    reader = SimpleNamespace(
        idle=False,
        is_full=is_full,
        batches=True,
        loop=loop,
        read=lambda items, _: sent.extend(items),
    )
    polling = Polling(cast("Reader", reader), cast("RootWatcher", WATCHER), 100, audit_every=60.0)
    polling._round()

    assert sent == asked
