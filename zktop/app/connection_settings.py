"""Turn the settings into what `zktop.zk` and the demo contenders need to connect."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from zktop.config.keys_and_defaults import Config, IntrospectSection
from zktop.demo_types.contender_order import ClientSettings
from zktop.model.facts import SECOND_MS
from zktop.model.layouts.layout import Layout, parse_name
from zktop.tls import Tls
from zktop.zk import Access, Plan, parse_hosts
from zktop.zk.connect.address import AdminAccess
from zktop.zk.watch.lock_signs import might_be_a_lock

SAMPLE_EVERY_S = 2.0  # servers' tables: verdicts depend on how long sessions have been quiet
SHORT_SESSION_S = 5.0  # just above the usual minimum, so that demos of expiry are short


def access_of(config: Config) -> Access:
    """Return the address of the ensemble and how to log in."""
    return Access(
        hosts=parse_hosts(config.hosts, config.aliases),
        auth=_logins(config),
        sasl=_sasl(config) or None,
        tls=config.tls,
        session_timeout=config.session_timeout / SECOND_MS,
        connect_timeout=config.connect_timeout / SECOND_MS,
        read_only=config.read_only_servers,
    )


def plan_of(config: Config, sample_every: float | None = None) -> Plan:
    """Return what to read, and the limits on watches and requests."""
    is_secure = config.admin.scheme == "https"
    introspect = config.introspect
    plan = Plan(
        roots=tuple(root.path for root in config.settings().roots),
        looks_like_a_lock=looks_like_a_lock(config.layouts),
        introspect=introspect != "off",
        large_tables=isinstance(introspect, IntrospectSection) and introspect.large_tables,
        admin=AdminAccess(config.admin.port, (config.tls or Tls()) if is_secure else None),
        watch_budget=config.budget.watches,
        requests_per_second=config.budget.requests_per_second,
    )
    return replace(plan, sample_every=sample_every) if sample_every else plan


def looks_like_a_lock(layouts: Sequence[Layout]) -> Callable[[str, Sequence[str]], bool]:
    """Return the test that discovery uses to find locks: known names, or a layout from the config.

    Discovery sees only names. The model decides later, so the test may accept too much, but it
    must accept every name that one of the user's layouts matches.
    """
    if not layouts:
        return might_be_a_lock
    return lambda path, names: (
        might_be_a_lock(path, names) or any(matches_any(layouts, name) for name in names)
    )


def matches_any(layouts: Sequence[Layout], name: str) -> bool:
    return any(parse_name(layout, name) is not None for layout in layouts)


def demo_connection(config: Config, sandbox: str | None = None) -> ClientSettings:
    """Return how contenders connect: like zktop, or to the sandbox server at this address."""
    if sandbox is not None:
        return ClientSettings(hosts=sandbox, session_timeout_s=SHORT_SESSION_S)
    return ClientSettings(
        hosts=parse_hosts(config.hosts, config.aliases).connection_string,
        session_timeout_s=config.session_timeout / SECOND_MS,
        connect_timeout_s=config.connect_timeout / SECOND_MS,
        auth=_logins(config),
        sasl=_sasl(config),
        tls=config.tls,
    )


def _logins(config: Config) -> tuple[tuple[str, str], ...]:
    logins = (text.partition(":") for text in config.auth)
    return tuple((scheme, credentials) for scheme, _, credentials in logins)


def _sasl(config: Config) -> dict[str, str]:
    sasl = config.sasl
    if sasl is None:
        return {}
    options = {
        "mechanism": sasl.mechanism,
        "service": sasl.service,
        "username": sasl.username,
        "password": sasl.password,
    }
    return {name: text for name, text in options.items() if text is not None}
