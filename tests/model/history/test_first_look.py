"""The short way to meet a lock that was there before us ends where the long way ends."""

from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import NOW, session
from model.plain_locks import lock_of
from msgspec.structs import replace

from zktop.model.facts import Stat
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.lock_change import LockChange
from zktop.model.locks.lock import Lock, Member
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Znode
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE

PATHS = ("/a", "/b", "/c")
ZXIDS = st.sampled_from([10, 20, 30, 110, 120])  # some after the first look, which sees 100


class LongWay(LockHistories):
    """Adds every lock as if it might be new."""

    def _add_if_older(self, change: LockChange) -> bool:
        return False


@st.composite
def locks(draw: st.DrawFn, path: str) -> Lock | None:
    """A lock of few members, one of whom may be unread or hidden, or one that shows nothing."""
    kind = draw(st.sampled_from(["lock", "lock", "lock", "error", "gone"]))
    if kind == "gone":
        return None
    members = [_member(draw, number) for number in range(draw(st.integers(0, 3)))]
    born = draw(ZXIDS)
    stat = Stat(born, born, NOW - 5, pzxid=max([born, *(member.czxid for member in members)]))
    lock = lock_of(path, members, stat)
    if kind == "error":
        return replace(lock, queues=(), error="no list")
    return replace(lock, seen_zxid=100)


def _member(draw: st.DrawFn, number: int) -> Member:
    name, zxid = Text(f"lock-{number:010d}"), draw(ZXIDS)
    stat = Stat(zxid, zxid, NOW - number, owner=session("alice"))
    znode = draw(st.sampled_from([Znode(name, stat), Znode(name), Znode(name, hidden=True)]))
    return Member(name, "exclusive", number, "plain-lock", None, None, znode)


@given(st.data())
def test_events_and_histories_are_the_same(data: st.DataObject) -> None:
    """Whatever comes, goes, hides and comes back, from look to look."""
    short, long = LockHistories(), LongWay()
    known: dict[str, Lock | None] = dict.fromkeys(PATHS)
    for step in range(data.draw(st.integers(1, 4))):
        now = NOW + 1000 * step
        changes = []
        for path in PATHS:
            after = data.draw(locks(path))
            changes.append(LockChange.between(path, known[path], after))
            known[path] = after

        assert short.after(changes, NO_ENSEMBLE, now) == long.after(changes, NO_ENSEMBLE, now)
        for path in PATHS:
            ours, theirs = short.of(path, now), long.of(path, now)
            assert (ours.first_look, ours.changed_at) == (theirs.first_look, theirs.changed_at)
