"""TLS settings for the config file, for zktop's own connections, and for its contenders."""

from typing import Annotated

from msgspec import Meta, Struct

PemFile = Annotated[str, Meta(extra={"form": "word"})]


class Tls(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How to connect with TLS. The paths are PEM files."""

    ca: PemFile | None = None
    cert: PemFile | None = None
    key: PemFile | None = None
    verify: bool = True

    @property
    def kazoo_options(self) -> dict[str, object]:
        """The arguments for kazoo's client."""
        return {
            "use_ssl": True,
            "ca": self.ca,
            "certfile": self.cert,
            "keyfile": self.key or self.cert,
            "verify_certs": self.verify,
        }
