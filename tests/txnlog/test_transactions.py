"""What a record says: each type, refused ones, and bodies that make no sense."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from txnlog.log_writer import ANN, T0, acl, create, delete, multi, paths, set_data, text

from zktop.txnlog.transactions import (
    CloseSession,
    Create,
    Delete,
    SetData,
    TransactionError,
    decode,
)


def body(kind: int, rest: bytes = b"", digest: int | None = None, cxid: int = 7) -> bytes:
    """The bytes of one record."""
    tail = b"" if digest is None else struct.pack(">iQ", 2, digest)
    return struct.pack(">QiQqi", ANN, cxid, 9, T0, kind) + rest + tail


def test_the_worked_example() -> None:
    """The second record of the example in the format's description."""
    one = decode(body(1, create("/l/k-0000000004", 5, b"A"), 0x2222))

    (made,) = one.operations
    assert made == Create("/l/k-0000000004", b"A", True, 5)  # noqa: FBT003
    assert (one.session, one.cxid, one.at, one.digest) == (ANN, 7, T0, 0x2222)


def test_a_create_of_an_old_server_has_no_counter() -> None:
    """Before 3.4 the counter of the parent is missing: then it counts one up."""
    (made,) = decode(body(1, text("/a") + text(b"") + acl() + b"\1")).operations

    assert isinstance(made, Create)
    assert made.cversion == -1


@pytest.mark.parametrize("digest", [None, 0, 1 << 33, 0x2F00_0000_012F])
def test_a_closed_session_lists_what_it_removed(digest: int | None) -> None:
    """Since 3.6; before, and if that is switched off, there is nothing or only a digest."""
    (with_list,) = decode(body(-11, paths("/a", "/b"), digest)).operations
    (without,) = decode(body(-11, b"", digest)).operations

    assert with_list == CloseSession(("/a", "/b"))
    assert without == CloseSession(None)
    assert decode(body(-11, b"", digest)).digest == digest


def test_a_multi_with_an_error_did_nothing() -> None:
    """Although its other operations look like real ones."""
    done = decode(body(14, multi((1, create("/a", 1)), (2, delete("/b")))))
    failed = decode(body(14, multi((5, set_data("/a", b"x", 1)), (-1, struct.pack(">i", -101)))))

    assert [type(one) for one in done.operations] == [Create, Delete]
    assert failed.operations == ()


def test_names_and_data_may_be_any_bytes() -> None:
    """A name that is no UTF-8 is kept byte by byte."""
    (made,) = decode(body(5, set_data("/a", b"\0\xff", 3))).operations
    (named,) = decode(body(2, text(b"/\xff\xfe"))).operations

    assert made == SetData("/a", b"\0\xff", 3)
    assert isinstance(named, Delete)
    assert named.path.encode("utf-8", "surrogateescape") == b"/\xff\xfe"


def test_an_unknown_type_has_no_effect() -> None:
    """It is decoded as unknown."""
    one = decode(body(99, b"whatever"))

    assert (one.unknown, one.operations) == (99, ())


@given(st.sampled_from([1, 2, 5, 7, 14, 15, 19, 21, -10, -11, -1]), st.binary(max_size=120))
def test_any_body_is_decoded_or_refused(kind: int, rest: bytes) -> None:
    """A right checksum does not make a right body."""
    with contextlib.suppress(TransactionError):
        assert decode(body(kind, rest)).zxid == 9


def test_an_absurd_number_of_operations_takes_no_memory() -> None:
    """The bytes end long before."""
    with pytest.raises(TransactionError):
        decode(body(14, struct.pack(">i", 2**31 - 1)))
