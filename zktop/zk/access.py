"""How to get in: hosts, credentials, TLS and patience. Secrets stay out of every repr."""

import ssl
from dataclasses import dataclass, field

from zktop.errors import UsageError
from zktop.zk.hosts import Address, Hosts


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS, as the client connection, the four-letter words and the AdminServer use it."""

    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    key_password: str | None = field(default=None, repr=False)
    verify: bool = True

    def context(self) -> ssl.SSLContext:
        """Make the client context; a file that cannot be used is named."""
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
            raise UsageError(f"TLS: cannot use {files}: {problem}.") from problem
        return context


@dataclass(frozen=True, slots=True)
class Admin:
    """Where the AdminServers listen; their ports are told nowhere in ZooKeeper."""

    port: int = 8080
    tls: Tls | None = None
    command_url: str = "/commands"
    ports: dict[Address, int] = field(default_factory=dict)  # where one server differs

    def port_of(self, address: Address) -> int:
        """Give the admin port of the server whose client port this is."""
        return self.ports.get(address, self.port)


@dataclass(frozen=True, slots=True)
class Access:
    """Everything that a connection needs; times in seconds."""

    hosts: Hosts
    auth: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # scheme, credentials
    sasl: dict[str, str] | None = field(default=None, repr=False)  # options of pure-sasl
    tls: Tls | None = None
    read_only: bool = False
    session_timeout: float = 10.0
    connect_timeout: float = 10.0
