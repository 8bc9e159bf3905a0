"""Logging in with SASL: what it takes here, and what Kerberos had against it.

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


def kerberos_words(cause: BaseException | None) -> str | None:
    """Give what Kerberos said last, if it was Kerberos that ended a login.

    >>> class GSSError(Exception):
    ...     __module__ = "kerberos"
    >>> kerberos_words(GSSError(("Unspecified GSS failure", 851968), ("Ticket expired", 39756032)))
    'Ticket expired'
    >>> kerberos_words(OSError("gone"))
    """
    if cause is None or type(cause).__module__ not in _KERBEROS:
        return None
    pairs = (one if isinstance(one, tuple) else (one,) for one in cause.args)
    words = [one for pair in pairs for one in pair if isinstance(one, str)]
    return words[-1] if words else None


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
