"""What demo contenders are told about the ensemble, from the same settings as everything else."""

from zktop.config.shape import Config
from zktop.demo.order import Connection
from zktop.model.settings import SECOND

SHORTEST_SESSION_S = 5.0  # just above what the usual tick grants: expiry is part of the show


def demo_connection(config: Config, hosts: str | None = None) -> Connection:
    """Give the connection of a contender; `hosts` when it is not that of the settings."""
    if hosts is not None:  # a sandbox: it asks nobody who he is
        return Connection(hosts=hosts, session_timeout_s=SHORTEST_SESSION_S)
    tls, sasl = config.tls, config.sasl
    logins = (text.partition(":") for text in config.auth)
    return Connection(
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
