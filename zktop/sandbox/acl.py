"""Access lists, with the schemes world, auth, digest and ip."""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import NamedTuple

from zktop.sandbox.protocol import Acl, ErrorCode, Perm, Refused

ANYONE = Acl(31, "world", "anyone")
OPEN = (ANYONE,)
READ_ONLY = (Acl(Perm.READ, "world", "anyone"),)


class Identity(NamedTuple):
    """One identity that a connection has proved."""

    scheme: str
    id: str


def authenticate(scheme: str | None, credentials: bytes, address: str) -> Identity | None:
    """The identity that an auth packet proves, or None if its scheme is unknown.

    >>> authenticate("digest", b"super:test", "127.0.0.1")
    Identity(scheme='digest', id='super:D/InIHSb7yEEbrWz8b9l71RjZJU=')
    """
    if scheme == "ip":
        return Identity("ip", address)
    if scheme != "digest":
        return None
    user = credentials.partition(b":")[0].decode("utf-8", "replace")
    # The protocol requires this hash: here it names users and protects nothing.
    digest = hashlib.sha1(credentials, usedforsecurity=False).digest()
    return Identity("digest", f"{user}:{b64encode(digest).decode()}")


def check(acl: Sequence[Acl], perm: Perm, identities: Iterable[Identity]) -> None:
    """Refuse with NO_AUTH unless the list allows it."""
    if not allows(acl, perm, identities):
        raise Refused(ErrorCode.NO_AUTH)


def allows(acl: Sequence[Acl], perm: Perm, identities: Iterable[Identity]) -> bool:
    """True if the list gives one of these identities the permission."""
    for line in acl:
        if line.perms & perm and (
            _is_world(line) or any(_matches(line, identity) for identity in identities)
        ):
            return True
    return not acl


def expand(acl: Iterable[Acl], identities: Sequence[Identity]) -> tuple[Acl, ...]:
    """The list as it is stored: no duplicates, `auth` replaced by the client's identities."""
    lines: list[Acl] = []
    for line in dict.fromkeys(acl):
        lines.extend(_expand_line(line, identities))
    if not lines:
        raise Refused(ErrorCode.INVALID_ACL)
    return tuple(lines)


def _expand_line(line: Acl, identities: Sequence[Identity]) -> list[Acl]:
    if _is_world(line):
        return [line]
    if line.scheme == "auth":
        proved = [identity for identity in identities if identity.scheme == "digest"]
        lines = [Acl(line.perms, *identity) for identity in proved]
    else:
        lines = [line] if _is_valid(line) else []
    if not lines:
        raise Refused(ErrorCode.INVALID_ACL)
    return lines


def masked(acl: Iterable[Acl]) -> list[Acl]:
    """The list without hashes, for clients that may read but not administer."""
    return [
        line._replace(id=f"{(line.id or '').partition(':')[0]}:x")
        if line.scheme == "digest"
        else line
        for line in acl
    ]


def _is_world(line: Acl) -> bool:
    return line.scheme == "world" and line.id == "anyone"


def _is_valid(line: Acl) -> bool:
    if line.scheme == "digest":
        return len((line.id or "").rstrip(":").split(":")) == 2  # noqa: PLR2004 - user:hash
    return line.scheme == "ip" and _network(line.id or "") is not None


def _matches(line: Acl, identity: Identity) -> bool:
    if line.scheme != identity.scheme:
        return False
    if line.scheme == "ip":
        network = _network(line.id or "")
        return network is not None and _is_inside(identity.id, network)
    return line.id == identity.id


def _is_inside(address: str, network: IPv4Network) -> bool:
    try:
        return IPv4Address(address) in network
    except AddressValueError:  # an IPv6 client: the protocol's ip scheme covers only IPv4
        return False


def _network(text: str) -> IPv4Network | None:
    address, slash, bits = text.partition("/")
    if slash and not bits.isdecimal():
        return None
    try:
        return IPv4Network((address, int(bits or 32)), strict=False)
    except ValueError:
        return None
