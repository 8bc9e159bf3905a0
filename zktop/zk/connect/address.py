"""Addresses and credentials: hosts, chroot, login, TLS, timeouts. No repr shows a secret.

kazoo parses connection strings too, but turns `h:1/c,h2:2` into one host with a strange chroot and
answers the rest with "bad hostname". Here every mistake gets a sentence before anything connects.
"""

import re
import ssl

import msgspec

from zktop.errors import UsageError

DEFAULT_PORT = 2181
_LAST_PORT = 65535

_HOST = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+(?:%\w+)?)\]|(?P<name>[^\s:/\[\]]+))(?::(?P<port>\d*))?"
)


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
        """The path as the server knows it."""
        if not self.chroot:
            return path
        return self.chroot if path == "/" else self.chroot + path

    def inside(self, full: str) -> str | None:
        """The path below the chroot; None when it is outside."""
        if not self.chroot:
            return full
        if full == self.chroot:
            return "/"
        return full[len(self.chroot) :] if full.startswith(self.chroot + "/") else None


def parse_hosts(text: str) -> Hosts:
    """Parse a connection string such as `zk1:2181,[::1]:2182/chroot`.

    >>> str(parse_hosts("zk1, [::1]:2182/app"))
    'zk1:2181,[::1]:2182/app'
    """
    listed, slash, rest = text.strip().partition("/")
    if "://" in text:
        raise UsageError(f"{text!r}: leave the scheme out, as in {text.partition('://')[2]!r}.")
    if "," in rest:
        raise UsageError(
            f"{text!r}: the chroot stands once, after the last host: 'zk1:2181,zk2:2181/app'."
        )
    addresses = tuple(_address(part.strip(), text) for part in listed.split(","))
    return Hosts(tuple(dict.fromkeys(addresses)), _chroot(slash + rest, text))


def _address(part: str, text: str) -> Address:
    if not part:
        raise UsageError(f"{text!r}: there is a host missing before or after a comma.")
    if part.count(":") > 1 and not part.startswith("["):
        raise UsageError(f"{part!r}: write an IPv6 address in brackets, as in '[{part}]:2181'.")
    found = _HOST.fullmatch(part)
    if found is None:
        raise UsageError(f"{part!r} is not a host and a port, as in 'zk1:2181'.")
    port = int(found["port"] or DEFAULT_PORT)
    if not 0 < port <= _LAST_PORT:
        raise UsageError(f"{part!r}: a port is a number from 1 to {_LAST_PORT}.")
    return Address(found["six"] or found["name"], port)


def _chroot(path: str, text: str) -> str:
    trimmed = path.rstrip("/")
    if "//" in trimmed or "/./" in f"{trimmed}/" or "/../" in f"{trimmed}/":
        raise UsageError(f"{text!r}: {path!r} is no path of a znode.")
    return trimmed


class TlsAccess(msgspec.Struct, frozen=True):
    """TLS settings of the client connection, the four-letter words and the AdminServer."""

    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    key_password: str | None = None
    verify: bool = True

    def __repr__(self) -> str:
        """Leave out the key's password."""
        return _masked_repr(self, "key_password")

    def context(self) -> ssl.SSLContext:
        """Make the client context; the error names a file that cannot be used."""
        context = ssl.create_default_context()
        context.check_hostname = False  # as ZooKeeper's own clients: certificates name ensembles
        context.verify_mode = ssl.CERT_REQUIRED if self.verify else ssl.CERT_NONE
        try:
            if self.ca:
                context.load_verify_locations(self.ca)
            if self.cert:
                context.load_cert_chain(self.cert, self.key, self.key_password or "")
        except (OSError, ssl.SSLError) as problem:
            files = ", ".join(filter(None, (self.ca, self.cert, self.key)))
            why = problem.strerror or problem
            raise UsageError(f"TLS: cannot use {files}: {why}.") from problem
        return context


class AdminAccess(msgspec.Struct, frozen=True):
    """Where the AdminServers listen; ZooKeeper itself does not publish their ports."""

    port: int = 8080
    tls: TlsAccess | None = None
    command_url: str = "/commands"
    ports: dict[Address, int] = {}  # exceptions, by client address

    def port_of(self, address: Address) -> int:
        """The admin port of the server with this client port."""
        return self.ports.get(address, self.port)


class Access(msgspec.Struct, frozen=True):
    """Everything that a connection needs. Times are in seconds."""

    hosts: Hosts
    auth: tuple[tuple[str, str], ...] = ()  # scheme, credentials
    sasl: dict[str, str] | None = None  # options of pure-sasl
    tls: TlsAccess | None = None
    read_only: bool = False
    session_timeout: float = 10.0
    connect_timeout: float = 10.0

    def __repr__(self) -> str:
        """Leave out the credentials."""
        return _masked_repr(self, "auth", "sasl")


def _masked_repr(value: msgspec.Struct, *secrets: str) -> str:
    names = [name for name in value.__struct_fields__ if name not in secrets]
    fields = ", ".join(f"{name}={getattr(value, name)!r}" for name in names)
    return f"{type(value).__name__}({fields})"
