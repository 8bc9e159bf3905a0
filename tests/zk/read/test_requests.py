"""Requests that kazoo does not encode: their bytes, and the decoded answers."""

from itertools import starmap

from hypothesis import given
from hypothesis import strategies as st
from kazoo.client import KazooClient
from kazoo.protocol.serialization import write_string

from zktop.zk.read import requests
from zktop.zk.read.requests import GET_CHILDREN, GET_DATA, NO_NODE, MultiRead, encode_item


def _ask(client: KazooClient, request: object) -> tuple[bytes, int]:
    result = client.handler.async_result()
    client._call(request, result)
    answer: tuple[bytes, int] = result.get(timeout=5)
    return answer


def test_many_reads_in_one(client: KazooClient, root: str) -> None:
    """Each read has its own result: data with Stat, names, or an error."""
    client.create(f"{root}/ä", b"x")
    client.create(f"{root}/empty", b"")
    items = [
        (GET_DATA, f"{root}/ä"),
        (GET_DATA, f"{root}/nobody"),
        (GET_CHILDREN, root),
        (GET_CHILDREN, f"{root}/ä"),
        (GET_DATA, f"{root}/empty"),
    ]

    data, missing, names, none, empty = requests.decode_multi(
        _ask(client, MultiRead(starmap(encode_item, items)))
    )

    content, stat = client.get(f"{root}/ä")
    assert isinstance(data, tuple)
    assert isinstance(names, tuple)
    assert isinstance(empty, tuple)
    assert data[0] == content == b"x"
    assert (data[1].czxid, data[1].ctime, data[1].pzxid) == (stat.czxid, stat.ctime, stat.pzxid)
    assert missing == NO_NODE
    assert set(names) == {"ä", "empty"}
    assert none == ()
    assert empty[0] == b""


def test_single_reads_equal_those_of_kazoo(client: KazooClient, root: str) -> None:
    """Stat and names equal those that kazoo decodes."""
    client.create(f"{root}/x", b"abc", ephemeral=True)
    client.set(root, b"data")
    names, listed = requests.decode_children(_ask(client, requests.ListChildren(root)))
    content, read = requests.decode_data(_ask(client, requests.GetData(root)))
    looked = requests.decode_stat(_ask(client, requests.Exists(root)))
    stat = client.exists(root)

    assert names == ("x",)
    assert content == b"data"
    assert listed == read == looked
    assert read.cversion == stat.cversion
    assert (read.version, read.aversion, read.num_children) == (1, 0, 1)
    ephemeral = requests.decode_stat(_ask(client, requests.Exists(f"{root}/x")))
    assert ephemeral.owner == client.client_id[0]
    client.delete(f"{root}/x")


def test_an_event_carries_type_path_and_transaction() -> None:
    """Type, path and zxid are decoded; servers before 3.9 write -1 as the zxid."""
    header = (-1).to_bytes(4, "big", signed=True) + (77).to_bytes(8, "big") + bytes(4)
    body = (3).to_bytes(4, "big") + (3).to_bytes(4, "big") + write_string("/ä")

    assert requests.decode_event(header + body, 16) == (3, "/ä", 77)


@given(
    st.lists(st.one_of(st.text(min_size=1, max_size=4), st.from_regex("[ab]{3}", fullmatch=True)))
)
def test_names_are_decoded(names: list[str]) -> None:
    """Names of any length are decoded, up to the Stat of the parent."""
    stat = bytes(range(68))
    written = b"".join(write_string(name) for name in names)
    answer = b"head" + len(names).to_bytes(4, "big") + written + stat

    found, read = requests.decode_children((answer, 4))

    assert found == tuple(names)
    assert read == requests.decode_stat((stat, 0))


def test_a_container_has_no_owner() -> None:
    """ClickHouse Keeper writes a number that is no session; its container is a folder."""
    stat = requests.STAT.pack(1, 1, 0, 0, 0, 0, 1 << 63, 0, 0, 1)

    assert requests.decode_stat((stat, 0)).owner == 0
