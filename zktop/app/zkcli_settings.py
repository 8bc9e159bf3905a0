"""Settings with which ZooKeeper's own client connects like zktop, for commands to copy."""

import shlex
from collections.abc import Iterator
from typing import Final

from zktop.config.keys_and_defaults import Config
from zktop.model.freeing.commands_to_copy import ZkCli
from zktop.tls import Tls
from zktop.zk import parse_hosts

_CLIENT_PEM: Final = "zkcli.pem"  # Java takes a certificate and its key from one file
_TLS_FLAGS: Final = (
    "-Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty",
    "-Dzookeeper.client.secure=true",
    "-Dzookeeper.ssl.hostnameVerification=false",  # like zktop: certificates name ensembles
)


def zkcli_of(config: Config) -> ZkCli:
    """Return the servers, the TLS settings, and which secrets the user must add."""
    return ZkCli(
        servers=parse_hosts(config.hosts, config.aliases).connection_string,
        prepare=_joined_pem(config.tls),
        jvm_flags=tuple(_tls_flags(config.tls)),
        needs="; ".join(_needs(config)) or None,
    )


def _joined_pem(tls: Tls | None) -> str | None:
    if tls is None or tls.cert is None or tls.key in (None, tls.cert):
        return None
    return f"(umask 077; cat {shlex.join((tls.cert, tls.key))} > {_CLIENT_PEM})"


def _tls_flags(tls: Tls | None) -> Iterator[str]:
    if tls is None:
        return
    yield from _TLS_FLAGS
    client_pem = _CLIENT_PEM if _joined_pem(tls) else tls.cert
    for store, file in (("trustStore", tls.ca), ("keyStore", client_pem)):
        if file is not None:
            yield f"-Dzookeeper.ssl.{store}.location={file}"
            yield f"-Dzookeeper.ssl.{store}.type=PEM"


def _needs(config: Config) -> Iterator[str]:
    """Yield what is left out, because it is secret or because Java has no such setting."""
    for scheme in dict.fromkeys(text.partition(":")[0] for text in config.auth):
        yield (
            f"a login: start zkCli.sh without `delete` and what follows, type `addauth {scheme} "
            "...`, then the rest"
        )
    if config.sasl is not None:
        yield (
            "a login: name a JAAS file with a section Client in CLIENT_JVMFLAGS "
            "(-Djava.security.auth.login.config=FILE)"
        )
    if config.tls is not None and not config.tls.verify and config.tls.ca is None:
        yield "the CA of the servers: zkCli.sh always checks their certificates"
