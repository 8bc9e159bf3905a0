"""Addresses and credentials: hosts, chroot, login, TLS, timeouts. No repr shows a secret."""

import ssl
from collections.abc import Iterable, Mapping

import msgspec

from zktop.errors import UsageError
from zktop.tls import Tls

DEFAULT_PORT = 2181


class Address(msgspec.Struct, frozen=True, order=True):
    """A host name or IP address, and a port. `via` is an alias: the address to connect to."""

    host: str
    port: int
    via: "Address | None" = None

    @property
    def reachable(self) -> "Address":
        return self.via or self

    @property
    def route(self) -> str:
        """The address, and where zktop connects instead: for messages about connecting."""
        return f"{self} (at {self.via})" if self.via else str(self)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Hosts(msgspec.Struct, frozen=True, gc=False):
    """The addresses of an ensemble, and the chroot of its clients ("" for none)."""

    addresses: tuple[Address, ...]
    chroot: str = ""
    aliases: Mapping[Address, Address] = {}

    @property
    def connection_string(self) -> str:
        """The addresses to connect to, and the chroot, as client libraries expect them."""
        return connection_string(self.addresses) + self.chroot

    def server(self, host: str, port: int) -> Address:
        """The address with this host and port, with its alias if it has one."""
        return aliased(Address(host, port), self.aliases)

    def __str__(self) -> str:
        """The connection string, including default ports."""
        return ",".join(map(str, self.addresses)) + self.chroot

    def full(self, path: str) -> str:
        """The path with the chroot prepended."""
        if not self.chroot:
            return path
        return self.chroot if path == "/" else self.chroot + path

    def inside(self, full: str) -> str | None:
        """The path below the chroot, or None if it is outside."""
        if not self.chroot:
            return full
        if full == self.chroot:
            return "/"
        return full[len(self.chroot) :] if full.startswith(self.chroot + "/") else None


def parse_hosts(text: str, aliases: Mapping[str, str] | None = None) -> Hosts:
    """Parse a connection string and aliases that the config has checked.

    An address that is the target of an alias stands for the server that has this alias.

    >>> str(parse_hosts("zk1,[::1]:2182/app"))
    'zk1:2181,[::1]:2182/app'
    >>> hosts = parse_hosts("localhost:12181/app", {"zk-0.zk:2181": "localhost:12181"})
    >>> str(hosts), hosts.connection_string
    ('zk-0.zk:2181/app', 'localhost:12181/app')
    """
    servers, slash, chroot = text.partition("/")
    targets = {_address(name): _address(target) for name, target in (aliases or {}).items()}
    names = {target: name for name, target in reversed(targets.items())}
    typed = map(_address, servers.split(","))
    addresses = dict.fromkeys(aliased(names.get(address, address), targets) for address in typed)
    return Hosts(tuple(addresses), slash + chroot, targets)


def aliased(address: Address, aliases: Mapping[Address, Address]) -> Address:
    return Address(address.host, address.port, aliases.get(address))


def connection_string(addresses: Iterable[Address]) -> str:
    """Return where to connect, as client libraries expect it."""
    return ",".join(str(address.reachable) for address in addresses)


def _address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return Address(text.strip("[]"), DEFAULT_PORT)
    return Address(host.strip("[]"), int(port))


def tls_context(tls: Tls | None) -> ssl.SSLContext | None:
    """Return the client's TLS context, or None without TLS. An error names the files."""
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
    """Where the AdminServers listen. ZooKeeper itself does not publish their ports."""

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
