"""SASL logins: required packages, Kerberos errors, and a guard against endless logins.

ZooKeeper servers support two SASL mechanisms: DIGEST-MD5, and GSSAPI with Kerberos. kazoo needs
optional packages for both; without them its connection thread dies.
"""

import importlib.util
from collections.abc import Mapping

from kazoo.exceptions import AuthFailedError
from kazoo.protocol import serialization as kazoo

from zktop.errors import UsageError

MAX_LOGIN_STEPS = 10  # a SASL login takes two or three
_KERBEROS = ("kerberos", "winkerberos")


def check_login(sasl: Mapping[str, str]) -> None:
    """Raise a UsageError that names the package if one is missing."""
    if not _is_installed("puresasl"):
        raise UsageError(f"SASL needs the package pure-sasl: {_how_to_install('pure-sasl')}.")
    if sasl.get("mechanism") == "GSSAPI" and not any(map(_is_installed, _KERBEROS)):
        raise UsageError(
            "SASL with GSSAPI needs a ticket (kinit), and the package kerberos: "
            f"{_how_to_install('kerberos')}."
        )


def kerberos_message(cause: BaseException | None) -> str | None:
    """The last message from Kerberos, if Kerberos ended the login.

    >>> class GSSError(Exception):
    ...     __module__ = "kerberos"
    >>> kerberos_message(GSSError(("Unspecified failure", 851968), ("Ticket expired", 39756032)))
    'Ticket expired'
    >>> kerberos_message(OSError("gone"))
    """
    if cause is None or type(cause).__module__ not in _KERBEROS:
        return None
    pairs = (part if isinstance(part, tuple) else (part,) for part in cause.args)
    texts = [part for pair in pairs for part in pair if isinstance(part, str)]
    return texts[-1] if texts else None


def _how_to_install(package: str) -> str:
    return f"`pipx inject zktop {package}`, or pip install it where zktop is"


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


class LoginGuard:
    """Ends an endless login: with a server that does not support SASL, kazoo loops forever."""

    def __init__(self) -> None:
        self._steps = 0

    def step(self, request: object) -> None:
        """Count a login request. Raise AuthFailedError after too many."""
        if type(request) is kazoo.Connect:
            self._steps = 0
        elif type(request) is kazoo.SASL:
            self._steps += 1
            if self._steps > MAX_LOGIN_STEPS:
                raise AuthFailedError
