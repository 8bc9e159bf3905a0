"""Addresses and credentials: hosts, chroot, login, TLS, timeouts. No repr shows a secret."""

import ssl

import msgspec

from zktop.errors import UsageError
from zktop.tls import Tls

DEFAULT_PORT = 2181


class Address(msgspec.Struct, frozen=True, order=True):
    """A host name or IP address, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Hosts(msgspec.Struct, frozen=True, gc=False):
    """The addresses of an ensemble, and the chroot of its clients ("" for none)."""

    addresses: tuple[Address, ...]
    chroot: str = ""

    def __str__(self) -> str:
        """The connection string, with every port."""
        return ",".join(map(str, self.addresses)) + self.chroot

    def full(self, path: str) -> str:
        """The path with the chroot in front."""
        if not self.chroot:
            return path
        return self.chroot if path == "/" else self.chroot + path

    def inside(self, full: str) -> str | None:
        """The path below the chroot; None if it is outside."""
        if not self.chroot:
            return full
        if full == self.chroot:
            return "/"
        return full[len(self.chroot) :] if full.startswith(self.chroot + "/") else None


def parse_hosts(text: str) -> Hosts:
    """Parse a connection string that the config has checked.

    >>> str(parse_hosts("zk1,[::1]:2182/app"))
    'zk1:2181,[::1]:2182/app'
    """
    listed, slash, chroot = text.partition("/")
    addresses = dict.fromkeys(map(_address, listed.split(",")))
    return Hosts(tuple(addresses), slash + chroot)


def _address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return Address(text.strip("[]"), DEFAULT_PORT)
    return Address(host.strip("[]"), int(port))


def tls_context(tls: Tls | None) -> ssl.SSLContext | None:
    """Make the client context, or None without TLS; an error names the files."""
    if tls is None:
        return None
    context = ssl.create_default_context()
    context.check_hostname = False  # like ZooKeeper's own clients: certificates name ensembles
    context.verify_mode = ssl.CERT_REQUIRED if tls.verify else ssl.CERT_NONE
    try:
        if tls.ca:
            context.load_verify_locations(tls.ca)
        if tls.cert:
            context.load_cert_chain(tls.cert, tls.key, "")  # never ask for a password
    except (OSError, ssl.SSLError) as problem:
        files = ", ".join(filter(None, (tls.ca, tls.cert, tls.key)))
        why = problem.strerror or problem
        raise UsageError(f"TLS: cannot use {files}: {why}.") from problem
    return context


class AdminAccess(msgspec.Struct, frozen=True):
    """Where the AdminServers listen; ZooKeeper itself does not publish their ports."""

    port: int = 8080
    tls: Tls | None = None
    ports: dict[Address, int] = {}  # exceptions, by client address

    def port_of(self, address: Address) -> int:
        """The admin port of the server with this client port."""
        return self.ports.get(address, self.port)


class Access(msgspec.Struct, frozen=True):
    """Everything that a connection needs. Times are in seconds."""

    hosts: Hosts
    auth: tuple[tuple[str, str], ...] = ()  # scheme, credentials
    sasl: dict[str, str] | None = None  # options of pure-sasl
    tls: Tls | None = None
    read_only: bool = False
    session_timeout: float = 10.0
    connect_timeout: float = 10.0

    def __repr__(self) -> str:
        """Leave out the credentials."""
        return f"Access(hosts={self.hosts!r}, tls={self.tls!r})"
