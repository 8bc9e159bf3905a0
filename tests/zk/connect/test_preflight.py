"""Each host is probed before connecting, and each kind of failure has its own message."""

import socket
import ssl
import threading
import time
from pathlib import Path

import pytest
from servers import RunningServer, free_port
from waiting import eventually
from zk.bad_servers import (
    Behaviour,
    answers,
    dead_port,
    greets,
    hangs_up,
    listener,
    never_finishes,
    silent,
)
from zk.observed import PATIENCE_S

from zktop.errors import NoConnectionError, UsageError
from zktop.tls import Tls
from zktop.zk import Access, Plan, Source, parse_hosts
from zktop.zk.connect.address import Address, tls_context
from zktop.zk.connect.preflight import preflight, probe

SRVR = (
    b"Zookeeper version: 3.5.9-abc, built on today\nLatency min/avg/max: 0/0.1/2\nMode: leader\n"
)
ERROR = b"This ZooKeeper instance is not currently serving requests\n"
BARRED = b"srvr is not executed because it is not in the whitelist.\n"
HTTP = b"HTTP/1.1 400 Illegal character CNTL=0xa\r\n\r\n"


@pytest.mark.parametrize(
    ("behaviour", "outcome", "said"),
    [
        (answers(SRVR), "ok", "is ZooKeeper 3.5.9"),
        (answers(BARRED), "ok", "is ZooKeeper."),
        (answers(ERROR), "not-serving", "no quorum, or is still starting"),
        (answers(HTTP), "not-zookeeper", "HTTP, not ZooKeeper"),
        (answers(b"220 smtp ready\r\n"), "not-zookeeper", "not like ZooKeeper"),
        (greets, "not-zookeeper", "not like ZooKeeper"),
        (hangs_up, "tls", "if it is a TLS port"),
        (silent, "silent", "no answer within 0.3 s"),
        (never_finishes, "silent", "no answer within 0.3 s"),
    ],
    ids=["server", "barred", "no-quorum", "http", "smtp", "ssh", "tls", "silent", "endless"],
)
def test_the_answer_classifies_the_host(behaviour: Behaviour, outcome: str, said: str) -> None:
    """The answer to one four-letter word says what listens on the port."""
    patience_s = 0.3 if outcome == "silent" or behaviour is greets else PATIENCE_S
    with listener(behaviour) as address:
        found = probe(address, seconds=patience_s)

    assert found.outcome == outcome
    assert said in found.sentence
    assert str(address.port) in found.sentence


def test_the_answer_has_the_version() -> None:
    """The version is read; it decides how the ensemble is watched."""
    with listener(answers(SRVR)) as address:
        found = probe(address)

    assert found.kind.version == (3, 5, 9)


def test_a_closed_port_refuses() -> None:
    """A closed port is reported at once."""
    found = probe(Address("127.0.0.1", free_port()))

    assert found.outcome == "unreachable"
    assert "refuses connections" in found.sentence


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a" * 70 + ".invalid"])
def test_an_unresolvable_name_is_unknown(name: str) -> None:
    """A host name that does not resolve, or is no valid name, is unknown."""
    found = probe(Address(name, 2181))

    assert found.outcome in ("unknown-host", "unreachable")
    assert name in found.sentence


def test_a_dead_address_of_a_name_leaves_time_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For example an IPv6 address in a network that drops its packets."""
    with dead_port() as dead, listener(answers(SRVR)) as address:
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
            for port in (dead, address.port)
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_named: found)
        outcome = probe(Address("zk1", 2181), seconds=2.0).outcome

    assert outcome == "ok"


def test_all_are_asked_at_the_same_time() -> None:
    """Ten silent hosts take no longer than one."""
    with listener(silent) as address:
        begun = time.monotonic()
        found = preflight([address, Address("127.0.0.1", free_port())] + [address] * 8, None, 1.0)

    assert time.monotonic() - begun < 5.0
    assert [one.outcome for one in found] == ["silent", "unreachable"]


def test_a_server_that_speaks_no_tls_is_named(certificate: Path) -> None:
    """A plain port is reported when TLS was requested."""
    with listener(answers(b"plain text, no TLS\n")) as address:
        found = probe(address, tls_context(Tls(ca=str(certificate))))

    assert found.outcome == "tls"
    assert "does not speak TLS" in found.sentence


def test_a_certificate_that_is_not_trusted_is_named(certificate: Path) -> None:
    """An untrusted certificate is reported; with the right authority the server answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def behave(line: object) -> None:
        answers(SRVR)(context.wrap_socket(line, server_side=True))  # type: ignore[arg-type]  # it is a socket

    with listener(behave) as address:
        distrusted = probe(address, tls_context(Tls()))
        trusted = probe(address, tls_context(Tls(ca=str(certificate))))
        unverified = probe(address, tls_context(Tls(verify=False)))

    assert "not trusted" in distrusted.sentence
    assert [trusted.outcome, unverified.outcome] == ["ok", "ok"]


def test_a_missing_certificate_file_is_a_usage_error() -> None:
    """The message names the missing file."""
    with pytest.raises(UsageError, match=r"/no/such\.pem"):
        tls_context(Tls(ca="/no/such.pem"))


def test_a_source_without_any_server_says_why() -> None:
    """Each of the first hosts has a message, and no thread remains."""
    with listener(answers(HTTP)) as address:
        source = Source(Access(parse_hosts(f"{address},127.0.0.1:{free_port()}")), Plan())
        with pytest.raises(NoConnectionError, match=r"HTTP.*refuses"):
            source.start()


def test_a_server_that_never_makes_a_session_is_given_up_in_time() -> None:
    """A server that answers the probe but opens no session is given up in time."""

    def behave(line: object) -> None:
        answers(SRVR)(line) if line.recv(4, 2) == b"srvr" else None  # type: ignore[attr-defined]  # 2: peek

    with listener(behave) as address:
        access = Access(parse_hosts(str(address)), connect_timeout=1.0, session_timeout=40.0)
        begun = time.monotonic()
        with pytest.raises(NoConnectionError, match=r"No session .* within 1 s"):
            Source(access, Plan(introspect=False)).start()

    assert time.monotonic() - begun < 10.0
    eventually(lambda: "zktop-connection" not in {one.name for one in threading.enumerate()})


@pytest.mark.zookeeper
def test_credentials_of_an_unknown_kind_are_refused(zookeeper: RunningServer) -> None:
    """An unknown authentication scheme is reported, instead of a time-out."""
    access = Access(parse_hosts(zookeeper.address), auth=(("no-such-scheme", "x"),))
    with pytest.raises(NoConnectionError, match="credentials were refused"):
        Source(access, Plan()).start()
