"""ACLs: permission checks, and what is stored."""

import pytest

from zktop.sandbox import acl
from zktop.sandbox.acl import Identity, allows, expand, masked
from zktop.sandbox.protocol import Acl, ErrorCode, Perm, Refused

HOST = Identity("ip", "10.1.2.3")
ANN = Identity("digest", "ann:hash")
CLIENTS = (HOST, ANN)

ALLOWED = [
    (("world", "anyone"), True),
    (("world", "nobody"), False),
    (("digest", "ann:hash"), True),
    (("digest", "ann:other"), False),
    (("ip", "10.1.2.3"), True),
    (("ip", "10.0.0.0/8"), True),
    (("ip", "10.1.2.0/24"), True),
    (("ip", "10.1.3.0/24"), False),
    (("ip", "0.0.0.0/0"), True),
    (("ip", "ann:hash"), False),
]


@pytest.mark.parametrize(("line", "may"), ALLOWED)
def test_one_line(line, may):
    """A line grants its permission to clients that match, and no other permission."""
    lines = [Acl(Perm.READ | Perm.WRITE, *line)]

    assert allows(lines, Perm.READ, CLIENTS) is may
    assert not allows(lines, Perm.DELETE, CLIENTS)


def test_no_lines_are_no_bounds():
    """A znode without an ACL is open, as in the real server."""
    assert allows([], Perm.ADMIN, CLIENTS)


def test_an_ipv6_client():
    """An IPv6 client matches no ip line, and causes no error."""
    assert not allows([Acl(31, "ip", "10.0.0.0/8")], Perm.READ, [Identity("ip", "::1")])


def test_auth_is_every_digest_of_the_client():
    """`auth` stands for each digest of the client, not for its address."""
    assert expand([Acl(3, "auth", "")], CLIENTS) == (Acl(3, *ANN),)


REFUSED = [
    [],
    [Acl(31, "auth", "")],
    [Acl(31, "world", "x")],
    [Acl(31, None, None)],
    [Acl(31, "digest", None)],
    [Acl(31, "digest", "ann")],
    [Acl(31, "sasl", "ann")],
    [Acl(31, "ip", "10.1.2.3/33")],
    [Acl(31, "ip", "10.1.2.3/255.0.0.0")],
    [acl.ANYONE, Acl(31, "nix", "x")],
]


@pytest.mark.parametrize("lines", REFUSED)
def test_refused_lists(lines):
    """A list with one line that can never match is refused as a whole."""
    with pytest.raises(Refused) as refusal:
        expand(lines, [HOST])

    assert refusal.value.code is ErrorCode.INVALID_ACL


def test_doubles():
    """A duplicate line is stored once."""
    assert expand([acl.ANYONE, acl.ANYONE], ()) == (acl.ANYONE,)


def test_masked():
    """Password hashes are hidden without ADMIN."""
    assert masked([Acl(31, *ANN), acl.ANYONE]) == [Acl(31, "digest", "ann:x"), acl.ANYONE]
