"""Watch tables: which client receives which event, and how often."""

from hypothesis import given
from hypothesis import strategies as st

from zktop.sandbox.protocol import EventType
from zktop.sandbox.watches import ServerWatches, WatchesByPath, WatchMode

PATHS = ["/", "/a", "/a/b", "/a/b/c", "/ab"]


def events_by_client(stream):
    """The events by client, without those that have no receiver."""
    return [
        (event.name, path, sorted(one for one in heard if heard[one] == path))
        for event, heard in stream
        for path in sorted(set(heard.values()))
    ]


def test_once():
    """A plain watch fires once and is removed."""
    watches = ServerWatches()
    watches.data.add("/a", "w")

    assert events_by_client(watches.changed("/a")) == [("CHANGED", "/a", ["w"])]
    assert events_by_client(watches.changed("/a")) == []


def test_one_delete_is_one_event():
    """A client that watches data and children receives one event; both watches end."""
    watches = ServerWatches()
    for table in (watches.data, watches.child):
        table.add("/a", "w")
    watches.child.add("/a", "v")

    assert events_by_client(watches.deleted("/a")) == [
        ("DELETED", "/a", ["w"]),
        ("DELETED", "/a", ["v"]),
    ]
    assert len(watches) == 0


def test_children_of_the_root():
    """The parent of a top-level znode is `/`."""
    watches = ServerWatches()
    watches.child.add("/", "w")

    assert events_by_client(watches.created("/a")) == [("CHILDREN", "/", ["w"])]


def test_persistent():
    """A persistent watch fires again and again, for the znode and its children."""
    watches = ServerWatches()
    watches.add("/a", "w", WatchMode.PERSISTENT)
    expected = [("CHILDREN", "/a", ["w"])]

    assert [
        events_by_client(watches.created("/a/b")),
        events_by_client(watches.deleted("/a/b")),
    ] == [expected] * 2
    assert events_by_client(watches.changed("/a")) == [("CHANGED", "/a", ["w"])]


def test_recursive():
    """A recursive watch reports the full path of each change below, but no change of children."""
    watches = ServerWatches()
    watches.add("/a", "w", WatchMode.RECURSIVE)

    assert events_by_client(watches.created("/a/b/c")) == [("CREATED", "/a/b/c", ["w"])]
    assert events_by_client(watches.deleted("/a")) == [("DELETED", "/a", ["w"])]
    assert events_by_client(watches.created("/ab")) == []


def test_a_plain_watch_replaces_a_persistent_one():
    """As in servers before 3.9: the entry's mode is overwritten, and the table goes silent."""
    watches = ServerWatches()
    watches.add("/a", "w", WatchMode.RECURSIVE)
    watches.data.add("/a", "w")

    assert events_by_client(watches.created("/a/b")) == []
    assert events_by_client(watches.changed("/a")) == [("CHANGED", "/a", ["w"])]
    assert events_by_client(watches.changed("/a")) == []


def test_a_client_without_watches_stays_listed():
    """As in a real server, a client whose watches fired still counts as a connection."""
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
def test_fire_reaches_every_watch(taken, path, event):
    """An event reaches every watch on its path, and recursive ones here or above."""
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
