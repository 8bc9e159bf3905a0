"""The watches of one server, by session and folder."""

from zktop.model.text import Text
from zktop.model.world.tables_of_one_server import WatchIndex

PATHS = tuple(map(Text, ("/a", "/a/z", "/a/b/c", "/ab/x", "/a/b", "/", "/c")))
WATCHES = WatchIndex({1: PATHS})


def test_watches_below_a_znode_are_found_among_all_of_a_session() -> None:
    """A session may have tens of thousands of them, all over the tree."""
    assert list(WATCHES.in_folder(1, "/a")) == ["/a/b", "/a/b/c", "/a/z"]


def test_everything_is_below_the_root() -> None:
    """Its path ends with the slash that others lack."""
    assert set(WATCHES.in_folder(1, "/")) == set(PATHS)


def test_another_session_watches_nothing() -> None:
    """It has no row."""
    assert list(WATCHES.in_folder(2, "/a")) == []
