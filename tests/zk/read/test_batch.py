"""Batches of children: the requests on the wire and the decoded answers."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from zktop.model.facts import Stat
from zktop.zk.read.batch import ReadBatch, SiblingNames, batches, by_parent
from zktop.zk.read.requests import (
    GET_DATA,
    ITEM,
    MULTI_END,
    NO_AUTH,
    NO_NODE,
    STAT,
    MultiRead,
    decode_multi,
)
from zktop.zk.read.requests import encode_item as written

NAMES = ["a", "bb", "lock-0000000001", "lock-0000000002", "näme", "名"]
PARENTS = ["/", "/locks", "/locks/a", "/ö"]
MANY_BYTES = 1_000_000


@st.composite
def sibling_groups(draw: st.DrawFn) -> list[SiblingNames]:
    """Children of some znodes, with names of one length or of several."""
    names = st.lists(st.sampled_from(NAMES), unique=True)
    return [
        SiblingNames(parent, draw(names)) for parent in draw(st.lists(st.sampled_from(PARENTS)))
    ]


def paths(groups: list[SiblingNames]) -> list[str]:
    """The paths of all children of these groups."""
    return [group.path(name) for group in groups for name in group.names]


def requested(
    groups: list[SiblingNames], most: int = 100, most_bytes: int = MANY_BYTES
) -> list[ReadBatch]:
    """The requests for these groups, with a prefix before each path, like a chroot."""
    return list(
        batches(
            GET_DATA, groups, lambda path: f"/x{path}" if path != "/" else "/x", most, most_bytes
        )
    )


@given(sibling_groups(), st.integers(1, 7), st.integers(1, 300))
def test_all_are_asked_for_once_and_in_order(
    groups: list[SiblingNames], most: int, most_bytes: int
) -> None:
    """The requests equal those whose items are encoded one by one."""
    sent = requested(groups, most, most_bytes)

    assert [path for batch in sent for path in paths(batch.siblings)] == paths(groups)
    for batch in sent:
        items = [written(GET_DATA, f"/x{path}") for path in paths(batch.siblings)]
        assert batch.request.serialize() == MultiRead(items).serialize()
        assert 0 < batch.number == len(items) <= most
        assert len(items) == 1 or len(b"".join(items)) <= most_bytes


def test_siblings_stay_together_if_they_fit() -> None:
    """The children of one lock come in one answer when they fit into it."""
    groups = [
        SiblingNames("/a", NAMES[:3]),
        SiblingNames("/b", NAMES[:3]),
        SiblingNames("/c", NAMES),
    ]

    assert [[one.parent for one in batch.siblings] for batch in requested(groups, most=4)] == [
        ["/a"],
        ["/b"],
        ["/c"],
        ["/c"],
    ]


def test_the_root_of_a_chroot_is_asked_for_as_the_chroot() -> None:
    """A slash at its end would name no znode."""
    (batch,) = batches(GET_DATA, by_parent(["/"]), {"/": "/app"}.__getitem__, 10, 1_000)

    assert batch.request.serialize() == MultiRead([written(GET_DATA, "/app")]).serialize()


# Decoding of answers

ZXIDS = st.sampled_from([1, 2, 1 << 40])
READ = st.tuples(
    st.sampled_from(
        [
            None,
            b"",
            b"worker",
            b"x" * 5_000,
        ]
    ),
    st.builds(
        Stat,
        ZXIDS,
        ZXIDS,
        st.integers(0, 99),
        owner=st.sampled_from([0, 1, (1 << 64) - 1]),
        pzxid=ZXIDS,
    ),
)


def answer(results: list[Any], *, bare: bool = False) -> tuple[bytes, int]:
    """The body of an answer; ClickHouse Keeper sends errors without a body."""
    parts = [b"reply"]
    for result in results:
        if isinstance(result, int):
            error = ITEM.pack(GET_DATA if bare else -1, 0, result, result)
            parts.append(error[:9] if bare else error)
            continue
        data, s = result
        parts.append(ITEM.pack(GET_DATA, 0, 0, -1 if data is None else len(data)) + (data or b""))
        numbers = (s.version, s.cversion, s.aversion, s.owner, s.data_length, s.num_children)
        parts.append(STAT.pack(s.czxid, s.mzxid, s.ctime, *numbers, s.pzxid))
    return b"".join([*parts, MULTI_END]), len(b"reply")


@given(st.lists(st.one_of(READ, st.sampled_from([NO_NODE, NO_AUTH]))), st.booleans())
def test_an_answer_is_decoded(
    results: list[Any],
    bare: bool,  # noqa: FBT001  drawn
) -> None:
    """Data of any length, no data, and refusals of both kinds of server are decoded in order."""
    assert decode_multi(answer(results, bare=bare)) == results


def test_equal_zxids_are_the_same_object() -> None:
    """A znode that never changed keeps one object for its equal zxids."""
    ((_, stat),) = decode_multi(answer([(b"", Stat(1 << 40, 1 << 40, 0, pzxid=1 << 40))]))

    assert stat.czxid is stat.mzxid is stat.pzxid
