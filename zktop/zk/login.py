"""Logging in with SASL: what it takes here, said before anything is tried.

ZooKeeper's servers know two mechanisms: DIGEST-MD5, and GSSAPI where they use Kerberos. kazoo
leaves both to packages that not everybody has, and without them dies on a thread of its own.
"""

import importlib.util
from collections.abc import Mapping

from zktop.errors import UsageError

_KERBEROS = ("kerberos", "winkerberos")


def check_login(sasl: Mapping[str, str]) -> None:
    """Raise a UsageError that names the package which is not there."""
    if not _is_there("puresasl"):
        raise UsageError("SASL needs the package pure-sasl: pip install pure-sasl.")
    if sasl.get("mechanism") == "GSSAPI" and not any(map(_is_there, _KERBEROS)):
        raise UsageError(
            "SASL with GSSAPI needs a ticket (kinit), and the package kerberos: "
            "pip install kerberos."
        )


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
