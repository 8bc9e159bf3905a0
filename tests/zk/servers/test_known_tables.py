"""Tables and rows that repeat in each reading share one object."""

from hypothesis import given
from hypothesis import strategies as st

from zktop.model.facts import Connection, Connections, Expiry, ServerFact, Watches
from zktop.model.text import Text
from zktop.zk.servers.known_tables import KnownTables, share, shared
from zktop.zk.servers.table_formats import PathsBySession

ZK = Text("zk1:2181")
SESSIONS = st.integers(min_value=1, max_value=2**64 - 1) | st.integers(1, 5)
PATHS = st.lists(st.sampled_from(["/a", "/b", "/c"]).map(Text), max_size=3).map(tuple)
TABLES = st.none() | st.dictionaries(SESSIONS, PATHS, max_size=6)
TIMES = st.none() | st.dictionaries(SESSIONS, st.integers(0, 3), max_size=6)
ROWS = st.none() | st.lists(
    st.builds(Connection, SESSIONS, st.just(Text("10.0.0.1:1")), received=st.integers(0, 2)),
    max_size=4,
).map(tuple)


@st.composite
def readings(draw: st.DrawFn) -> list[ServerFact]:
    """One reading of a server."""
    return [
        Connections(server=ZK, rows=draw(ROWS), zxid=1, at=1),
        Watches(server=ZK, rows=draw(TABLES), children=draw(TABLES), zxid=1, at=1),
        Expiry(
            server=ZK,
            expires_in_ms=draw(TIMES),
            timeouts_ms=draw(TIMES),
            ephemerals=draw(TABLES),
            zxid=1,
            at=1,
        ),
    ]


@given(now=readings(), again=st.data(), before=readings())
def test_sharing_does_not_change_facts(
    now: list[ServerFact], again: st.DataObject, before: list[ServerFact]
) -> None:
    """With any earlier reading, or none, the facts stay equal."""
    said = repr(now)
    share(now, again.draw(st.sampled_from([before, []])))

    assert repr(now) == said


def test_unchanged_parts_are_the_same_object() -> None:
    """The whole table is shared, or else its unchanged rows and sessions."""
    alice, bob = 2**60, 2**60 + 1
    before = {alice: (Text("/a"),), bob: (Text("/b"),)}
    after = shared({2**60: (Text("/a"),), bob: ()}, before) or {}

    assert shared({2**60: (Text("/a"),), bob: (Text("/b"),)}, before) is before
    assert after == {alice: (Text("/a"),), bob: ()}
    assert after[alice] is before[alice]
    assert next(iter(after)) is next(iter(before))


def _fail() -> PathsBySession:
    raise AssertionError("this table is known")


def test_the_same_text_is_not_parsed_again() -> None:
    """At rest, a table of megabytes is the same text each time."""
    known = KnownTables()
    rows = known.rows("watches", b"0x1\n\t/a\n\n", lambda: {1: (Text("/a"),)})

    assert known.rows("watches", b"0x1\n\t/a\n\n", _fail) is rows


def test_another_text_is_parsed() -> None:
    """A watch is gone, for example."""
    known = KnownTables()
    known.rows("watches", b"0x1\n\t/a\n\n", lambda: {1: (Text("/a"),)})

    assert known.rows("watches", b"0x1\n\t/b\n\n", lambda: {1: (Text("/b"),)}) == {1: ("/b",)}


def test_the_same_text_is_parsed_when_other_rows_are_wanted() -> None:
    """Of the ephemerals, only those that are watched matter: the watches decide."""
    known = KnownTables()
    known.rows("ephemerals", b"0x1:\n\t/a\n", dict, basis={})

    assert known.rows("ephemerals", b"0x1:\n\t/a\n", lambda: {1: (Text("/a"),)}, basis={2: ()})
