"""Watch tables: who is told of what, and how often."""

from hypothesis import given
from hypothesis import strategies as st

from zktop.sandbox.protocol import EventType
from zktop.sandbox.watches import ServerWatches, WatchesByPath, WatchMode

PATHS = ["/", "/a", "/a/b", "/a/b/c", "/ab"]


def news(stream):
    """What is told to whom, without the news that nobody hears."""
    return [
        (event.name, path, sorted(one for one in heard if heard[one] == path))
        for event, heard in stream
        for path in sorted(set(heard.values()))
    ]


def test_once():
    """A plain watch tells one change and is gone."""
    watches = ServerWatches()
    watches.data.add("/a", "w")

    assert news(watches.changed("/a")) == [("CHANGED", "/a", ["w"])]
    assert news(watches.changed("/a")) == []


def test_one_delete_is_told_once():
    """Who watches data and children of a znode hears once that it is gone; both watches end."""
    watches = ServerWatches()
    for table in (watches.data, watches.child):
        table.add("/a", "w")
    watches.child.add("/a", "v")

    assert news(watches.deleted("/a")) == [("DELETED", "/a", ["w"]), ("DELETED", "/a", ["v"])]
    assert len(watches) == 0


def test_children_of_the_root():
    """The parent of a top-level znode is `/`."""
    watches = ServerWatches()
    watches.child.add("/", "w")

    assert news(watches.created("/a")) == [("CHILDREN", "/", ["w"])]


def test_persistent():
    """A persistent watch tells of the znode and its list of children, again and again."""
    watches = ServerWatches()
    watches.add("/a", "w", WatchMode.PERSISTENT)
    expected = [("CHILDREN", "/a", ["w"])]

    assert [news(watches.created("/a/b")), news(watches.deleted("/a/b"))] == [expected] * 2
    assert news(watches.changed("/a")) == [("CHANGED", "/a", ["w"])]


def test_recursive():
    """A recursive watch tells of everything below by full path, and of no list of children."""
    watches = ServerWatches()
    watches.add("/a", "w", WatchMode.RECURSIVE)

    assert news(watches.created("/a/b/c")) == [("CREATED", "/a/b/c", ["w"])]
    assert news(watches.deleted("/a")) == [("DELETED", "/a", ["w"])]
    assert news(watches.created("/ab")) == []


def test_a_plain_watch_replaces_a_persistent_one():
    """As in servers before 3.9: the entry's mode is overwritten, and the table goes silent."""
    watches = ServerWatches()
    watches.add("/a", "w", WatchMode.RECURSIVE)
    watches.data.add("/a", "w")

    assert news(watches.created("/a/b")) == []
    assert news(watches.changed("/a")) == [("CHANGED", "/a", ["w"])]
    assert news(watches.changed("/a")) == []


def test_who_was_told_stays_listed():
    """As in a real server a watcher without watches is still counted as a connection."""
    table = WatchesByPath()
    table.add("/a", "w")
    table.fire("/a", EventType.CHANGED)

    assert (len(table), list(table.by_watcher), list(table.by_path)) == (0, ["w"], [])


steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("add"),
            st.sampled_from(PATHS),
            st.sampled_from("vw"),
            st.sampled_from(WatchMode),
        ),
        st.tuples(st.just("remove"), st.sampled_from(PATHS), st.sampled_from("vw")),
        st.tuples(st.just("fire"), st.sampled_from(PATHS), st.sampled_from(EventType)),
        st.tuples(st.just("forget"), st.sampled_from("vw")),
    ),
    max_size=30,
)


@given(steps)
def test_both_sides_agree(taken):
    """By path and by watcher the same watches are listed, whatever happened before."""
    table = WatchesByPath()
    for name, *arguments in taken:
        getattr(table, name)(*arguments)
    by_path = {(path, one) for path, watchers in table.by_path.items() for one in watchers}
    by_watcher = {(path, one) for one, paths in table.by_watcher.items() for path in paths}
    recursive = sum(
        mode is WatchMode.RECURSIVE for modes in table.by_path.values() for mode in modes.values()
    )

    assert by_path == by_watcher
    assert len(table) == len(by_path)
    assert all(table.by_path.values())
    assert table._recursive == recursive


@given(steps, st.sampled_from(PATHS), st.sampled_from(EventType))
def test_fire_tells_all_that_watch(taken, path, event):
    """Firing tells exactly who has a watch here, or a recursive one here or above."""
    table = WatchesByPath()
    for name, *arguments in taken:
        getattr(table, name)(*arguments)
    here = table.by_path.get(path, {})
    expected = {one for one, mode in here.items() if mode is not WatchMode.RECURSIVE}
    if event is not EventType.CHILDREN:
        for above, modes in table.by_path.items():
            if path == above or path.startswith(above.rstrip("/") + "/"):
                expected |= {one for one, mode in modes.items() if mode is WatchMode.RECURSIVE}

    assert set(table.fire(path, event)) == expected
