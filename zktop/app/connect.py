"""From the settings that hold to what the source of facts is told.

What demo contenders are told about the ensemble, from the same settings as everything else.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from zktop.config.types import Config, IntrospectSection
from zktop.demo_types import ClientSettings
from zktop.model.layouts.layout import Layout, read
from zktop.model.settings import SECOND
from zktop.zk import Access, Plan, parse_hosts
from zktop.zk.connect.address import AdminAccess, TlsAccess
from zktop.zk.watch.discovery import might_be_a_lock


def access_of(config: Config) -> Access:
    """Tell how to get in."""
    return Access(
        hosts=parse_hosts(config.hosts),
        auth=tuple(_login(text) for text in config.auth),
        sasl=_sasl(config),
        tls=_tls(config),
        session_timeout=config.session_timeout / SECOND,
        connect_timeout=config.connect_timeout / SECOND,
        read_only=config.read_only_servers,
    )


def plan_of(config: Config, sample_every: float | None = None) -> Plan:
    """Tell what to look at, and what that may cost."""
    is_secure = config.admin.scheme == "https"
    plan = Plan(
        roots=tuple(root.path for root in config.settings().roots),
        looks_like_a_lock=looks_like_a_lock(config.layouts),
        introspect=config.introspect != "off",
        large_tables=isinstance(config.introspect, IntrospectSection)
        and config.introspect.large_tables,
        admin=AdminAccess(config.admin.port, (_tls(config) or TlsAccess()) if is_secure else None),
        watch_budget=config.budget.watches,
        requests_per_second=config.budget.requests_per_second,
    )
    return replace(plan, sample_every=sample_every) if sample_every else plan


def looks_like_a_lock(own: Sequence[Layout]) -> Callable[[str, Sequence[str]], bool]:
    """Give the test of the search for locks: names that any lock has, or a layout of the config.

    It sees names alone, and what it lets pass the model recognises; so it may be generous, and
    must not miss what only the user's own layouts write.
    """
    if not own:
        return might_be_a_lock
    return lambda path, names: (
        might_be_a_lock(path, names)
        or any(read(layout, name) is not None for name in names for layout in own)
    )


def _login(text: str) -> tuple[str, str]:
    scheme, _, credentials = text.partition(":")
    return scheme, credentials


def _sasl(config: Config) -> dict[str, str] | None:
    if config.sasl is None:
        return None
    given = {
        "mechanism": config.sasl.mechanism,
        "service": config.sasl.service,
        "username": config.sasl.username,
        "password": config.sasl.password,
    }
    return {name: text for name, text in given.items() if text is not None}


def _tls(config: Config) -> TlsAccess | None:
    tls = config.tls
    return TlsAccess(tls.ca, tls.cert, tls.key, verify=tls.verify) if tls else None


SHORTEST_SESSION_S = 5.0  # just above what the usual tick grants: expiry is part of the show


def demo_connection(config: Config, hosts: str | None = None) -> ClientSettings:
    """Give the connection of a contender; `hosts` when it is not that of the settings."""
    if hosts is not None:  # a sandbox: it asks nobody who he is
        return ClientSettings(hosts=hosts, session_timeout_s=SHORTEST_SESSION_S)
    tls, sasl = config.tls, config.sasl
    logins = (text.partition(":") for text in config.auth)
    return ClientSettings(
        hosts=config.hosts,
        session_timeout_s=config.session_timeout / SECOND,
        connect_timeout_s=config.connect_timeout / SECOND,
        auth=tuple((scheme, credentials) for scheme, _, credentials in logins),
        sasl=_client_sasl(config) if sasl else {},
        tls=tls is not None,
        tls_ca=tls.ca if tls else None,
        tls_cert=tls.cert if tls else None,
        tls_key=tls.key if tls else None,
        tls_verify=tls.verify if tls else True,
    )


def _client_sasl(config: Config) -> dict[str, str]:
    sasl = config.sasl
    if sasl is None:
        return {}
    given = {
        "mechanism": sasl.mechanism,
        "service": sasl.service,
        "username": sasl.username,
        "password": sasl.password,
    }
    return {name: text for name, text in given.items() if text is not None}
