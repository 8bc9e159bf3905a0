"""How to get in: hosts, credentials, TLS and patience. Secrets stay out of every repr."""

import ssl

import msgspec

from zktop.errors import UsageError
from zktop.zk.hosts import Address, Hosts


class Tls(msgspec.Struct, frozen=True):
    """TLS, as the client connection, the four-letter words and the AdminServer use it."""

    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    key_password: str | None = None
    verify: bool = True

    def __repr__(self) -> str:
        """Show how to log in without saying the password."""
        return _told(self, "key_password")

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
            why = problem.strerror or problem
            raise UsageError(f"TLS: cannot use {files}: {why}.") from problem
        return context


class Admin(msgspec.Struct, frozen=True):
    """Where the AdminServers listen; their ports are told nowhere in ZooKeeper."""

    port: int = 8080
    tls: Tls | None = None
    command_url: str = "/commands"
    ports: dict[Address, int] = {}  # where one server differs

    def port_of(self, address: Address) -> int:
        """Give the admin port of the server whose client port this is."""
        return self.ports.get(address, self.port)


class Access(msgspec.Struct, frozen=True):
    """Everything that a connection needs; times in seconds."""

    hosts: Hosts
    auth: tuple[tuple[str, str], ...] = ()  # scheme, credentials
    sasl: dict[str, str] | None = None  # options of pure-sasl
    tls: Tls | None = None
    read_only: bool = False
    session_timeout: float = 10.0
    connect_timeout: float = 10.0

    def __repr__(self) -> str:
        """Show the way in without the credentials."""
        return _told(self, "auth", "sasl")


def _told(value: msgspec.Struct, *secrets: str) -> str:
    names = [name for name in value.__struct_fields__ if name not in secrets]
    told = ", ".join(f"{name}={getattr(value, name)!r}" for name in names)
    return f"{type(value).__name__}({told})"
