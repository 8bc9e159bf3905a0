"""The order of a search: places with ephemeral znodes, folders named like locks, small folders."""

from hypothesis import given
from hypothesis import strategies as st

from zktop.zk.watch.search_order import CHUNK_ZNODES, SearchOrder

ROWS = tuple(f"row-{number}" for number in range(3 * CHUNK_ZNODES))


def parents(order: SearchOrder) -> list[str]:
    """The parents of all chunks, in the order of the search."""
    return [chunk.parent for chunks in iter(lambda: order.take(1), []) for chunk in chunks]


def test_small_folders_come_before_the_rest_of_large_ones() -> None:
    """A large folder gives a sample first; after all small folders it gives the rest."""
    order = SearchOrder()
    order.add("/table", ROWS)
    order.add("/app", ("a", "b"))

    assert parents(order) == ["/app", "/table", "/table", "/table"]


def test_a_folder_named_like_a_lock_comes_first() -> None:
    """Its size does not matter."""
    order = SearchOrder()
    order.add("/app", ("a",))
    order.add("/locks", ("a", "b", "c"))

    assert parents(order) == ["/locks", "/app"]


def test_the_way_to_an_ephemeral_znode_comes_before_all_others() -> None:
    """Also if its folder is already waiting, and if it is found later."""
    order = SearchOrder()
    order.add("/locks", ("a",))
    order.add("/", ("locks", "table"))
    order.prefer(["/table/row-1400/lock"])

    (first,) = order.take(1)
    order.add("/table", ROWS)
    (second,) = order.take(1)

    assert (first.parent, second.parent) == ("/", "/table")
    assert "row-1400" in second.names
    assert len(second.sample) == CHUNK_ZNODES


def test_a_chunk_that_was_visited_early_is_left_out() -> None:
    """A chunk without names would never be answered, and the search would wait for it."""
    order = SearchOrder()
    order.prefer(f"/services/{name}/lock" for name in ROWS)
    order.add("/services", ROWS)
    chunks = [chunk for chunks in iter(lambda: order.take(10_000), []) for chunk in chunks]

    assert [len(chunk.names) for chunk in chunks] == [len(ROWS)]


def test_a_folder_stays_until_its_unvisited_chunk() -> None:
    """The chunks before that were visited early are passed over."""
    order = SearchOrder()
    order.prefer(f"/services/{name}/lock" for name in ROWS if name != ROWS[2])
    order.add("/services", ROWS)
    chunks = [chunk.names for chunks in iter(lambda: order.take(1), []) for chunk in chunks]

    assert [*map(len, chunks)] == [len(ROWS) - 1, 1]


def test_a_closed_folder_is_left() -> None:
    """Closing tells how many znodes are left out."""
    order = SearchOrder()
    order.add("/table", ROWS)
    (chunk,) = order.take(1)

    assert chunk.siblings.close() == 2 * CHUNK_ZNODES
    assert parents(order) == []


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 1_300), min_size=1),
    st.lists(st.sampled_from(["/a/row-3", "/b/row-1200", "/c"])),
    st.integers(1, 2_000),
)
def test_every_znode_is_visited_once(
    sizes: dict[str, int], preferred: list[str], at_once: int
) -> None:
    """No chunk has a parent twice, and nothing is forgotten."""
    order = SearchOrder()
    order.prefer(preferred)
    for name, size in sizes.items():
        order.add(f"/{name}", [f"row-{number}" for number in range(size)])
    visited: list[str] = []
    while chunks := order.take(at_once):
        assert len({chunk.parent for chunk in chunks}) == len(chunks)
        visited += [f"{chunk.parent}/{name}" for chunk in chunks for name in chunk.names]

    assert len(visited) == len(set(visited))
    assert set(visited) - {*preferred} == {
        f"/{name}/row-{number}" for name, size in sizes.items() for number in range(size)
    } - {*preferred}
