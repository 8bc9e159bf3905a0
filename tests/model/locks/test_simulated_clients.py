"""Locks in a folder where simulated clients of several libraries contended."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model.locks.simulated_clients import LIBRARIES, Folder, Library, TieError, steps

from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, Watches, join
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

ROOT = Text("/locks/played")
SERVER = Text("zk1:2181")
MIXES = [[one] for one in LIBRARIES] + [list(pair) for pair in combinations(LIBRARIES[:6], 2)]


def listing(folder: Folder, at: int) -> Children:
    """List the folder as the server does."""
    names = tuple(map(Text, folder.children))
    cversion = 2 * folder.counter - len(names)
    stat = Stat(1, 1, 0, cversion=cversion, num_children=len(names), pzxid=folder.zxid)
    return Children(zxid=folder.zxid, at=at, path=ROOT, names=names, stat=stat)


def children(folder: Folder, names: Sequence[str], at: int) -> list[AnyFact]:
    """Read some children."""
    owners = {node: client.session for node, client in folder.clients.items()}
    return [
        Node(
            zxid=folder.zxid,
            at=at,
            path=join(ROOT, name),
            stat=Stat(folder.children[name], folder.children[name], 0, owner=owners.get(name, 0)),
            data=b"",
        )
        for name in names
    ]


def table(folder: Folder, at: int) -> Watches:
    """Read the watch table of the one server."""
    rows = {
        client.session: (join(ROOT, client.target),) if client.target else ()
        for client in folder.clients.values()
    }
    return Watches(
        zxid=folder.zxid, at=at, server=SERVER, rows={s: r for s, r in rows.items() if r}
    )


def said(lock: Lock | NotALock) -> dict[str, str | None]:
    """Return each member's watch target as zktop expects it; `holds` for holders."""
    if not isinstance(lock, Lock):
        return {}
    found: dict[str, str | None] = {str(holder.node): "holds" for holder in lock.holders}
    for one in lock.waiters:
        targets = lock.expected(one)
        found[str(one.node)] = str(targets[0].path) if targets else None
    return found


def truth(folder: Folder) -> dict[str, str | None]:
    """Return the same of the clients that played."""
    return {
        node: "holds" if client.state == "holds" else client.target
        for node, client in folder.clients.items()
    }


@pytest.mark.parametrize("libraries", MIXES, ids=lambda mix: "+".join(one.name for one in mix))
@settings(max_examples=20, deadline=None)
@given(choices=st.lists(st.integers(0, 1 << 16), min_size=40, max_size=40))
def test_says_of_a_folder_seen_from_the_start_what_its_clients_did(
    libraries: list[Library], choices: list[int]
):
    """Holders, waiters, what each watches, and stranded clients, at every step."""
    folder = Folder()
    world, lock = World(), None
    played = steps(folder, iter(choices), libraries, 12)
    for at in range(1, 13):
        try:
            step = next(played)
        except TieError:
            return
        name = step[1:]
        facts: list[AnyFact] = [listing(folder, at)]
        if step[0] == "+" and name in folder.children:
            facts += children(folder, [name], at)
        elif step[0] == "-":
            facts = [Gone(zxid=folder.zxid, at=at, path=join(ROOT, name)), *facts]
        world = world.after(*facts, table(folder, at))
        lock = lock_at(ROOT, world, Settings(), at, lock)
        if isinstance(lock, Lock):
            assert said(lock) == truth(folder), step


@pytest.mark.parametrize("libraries", MIXES, ids=lambda mix: "+".join(one.name for one in mix))
@settings(max_examples=20, deadline=None)
@given(choices=st.lists(st.integers(0, 1 << 16), min_size=40, max_size=40))
def test_says_the_same_of_a_folder_seen_once(libraries: list[Library], choices: list[int]):
    """From one reading of a folder that nothing has left: no client has looked twice."""
    folder = Folder()
    try:
        for _ in steps(folder, iter(choices), libraries, 12, removals=False):
            pass
    except TieError:
        return
    names = list(folder.children)
    world = World().after(listing(folder, 1), *children(folder, names, 1), table(folder, 1))
    lock = lock_at(ROOT, world, Settings(), 1, None)
    if isinstance(lock, Lock):
        assert said(lock) == truth(folder)
