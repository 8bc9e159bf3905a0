"""Probe each host before connecting, because a ZooKeeper client only ever says "time-out".

All addresses get `srvr` at the same time. It ends with a newline because a TLS port waits for five
bytes before it notices that this is not TLS.

Servers of other makes close the connection if `srvr` is disabled, but another word may still
identify them. zetcd reads every word but `ruok` as the length of a message and waits for that
message. So a server that is silent after `srvr` and answers `ruok` is zetcd.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from zktop.tls import Tls
from zktop.zk.connect.address import Address, tls_context
from zktop.zk.connect.read_only_exchange import connect, exchange, read_to_end, send
from zktop.zk.servers.flavours import ZOOKEEPER_OF_ANY_VERSION, ServerKind, kind_of
from zktop.zk.servers.large_table_process import seconds_left
from zktop.zk.servers.table_formats import node_count

TIMEOUT_S = 2.0
REFUSED = "connection refused"
FIRST_WORD = b"srvr\n"
OTHER_WORDS = ("stat", "mntr", "ruok")  # sent if `srvr` gets no answer
PEEK_BYTES = 4096
SILENT_AFTER_SHARE = 0.75  # the share of the timeout after which `ruok` is sent

Outcome = Literal[
    "ok", "not-serving", "silent", "unreachable", "unknown-host", "tls", "not-zookeeper"
]


class Probe(msgspec.Struct, frozen=True, gc=False):
    """What a probe found at one address."""

    address: Address
    outcome: Outcome
    sentence: str
    kind: ServerKind | None = None  # None: no server was recognised
    peer: str | None = None  # numeric address
    why: str = ""  # why no server serves here. Empty for a TLS error or another protocol.
    znodes: int | None = None  # as the server counts them

    @property
    def usable(self) -> bool:
        """True if a client may find a server here, now or once it has a quorum."""
        return self.outcome in ("ok", "not-serving")

    @property
    def serves(self) -> bool:
        """True unless the server is down or has no quorum.

        A server with another protocol or other TLS settings may serve its own clients.
        """
        return not self.why


def preflight(
    addresses: Sequence[Address], tls: Tls | None = None, seconds: float = TIMEOUT_S
) -> list[Probe]:
    """Probe all addresses at once, for as long as the slowest takes but at most `seconds`."""
    return probes(addresses, tls_context(tls), seconds)


def probes(
    addresses: Sequence[Address],
    context: ssl.SSLContext | None,
    seconds: float,
    known_kinds: Mapping[Address, ServerKind | None] | None = None,
) -> list[Probe]:
    """Probe like `preflight`, with an existing TLS context and the kinds that are known."""
    done: queue.SimpleQueue[Probe] = queue.SimpleQueue()
    for address in addresses:
        # A DNS query has no deadline: threads that still wait are abandoned.
        threading.Thread(
            target=lambda where=address: done.put(
                probe(where, context, seconds, (known_kinds or {}).get(where))
            ),
            name=f"zktop-preflight-{address}",
            daemon=True,
        ).start()
    results = {address: _unresolved(address, seconds) for address in addresses}
    deadline = time.monotonic() + seconds + 0.2
    try:
        for _ in addresses:
            result = done.get(timeout=seconds_left(deadline))
            results[result.address] = result
    except (queue.Empty, TimeoutError):
        pass
    return list(results.values())


def probe(
    address: Address,
    context: ssl.SSLContext | None = None,
    seconds: float = TIMEOUT_S,
    known_kind: ServerKind | None = None,
) -> Probe:
    """Probe one address. Every outcome is a Probe, never an exception."""
    deadline = time.monotonic() + seconds
    try:
        with connect(address, context, deadline) as connection:
            peer = Address(*connection.getpeername()[:2])
            if known_kind is not None and not known_kind.traits.answers_words:
                result = _probe_known_zetcd(address, known_kind, connection, deadline)
                return replace(result, peer=str(peer))
            send(connection, FIRST_WORD)
            if known_kind is None and context is None:
                result = _recognise(address, connection, deadline)
            else:
                answer = read_to_end(connection, deadline)
                result = _read_answer(address, answer, context, deadline)
            return replace(result, peer=str(peer))
    except socket.gaierror as problem:
        sentence = f"{address.reachable.host}: no such host name ({problem.strerror or problem})."
        return Probe(address, "unknown-host", sentence, why="no such host name")
    except ssl.SSLError as problem:
        return Probe(address, "tls", _tls_sentence(address, problem))
    except (ConnectionResetError, BrokenPipeError):
        return _ask_other_words(address, context, deadline)
    except (OSError, ValueError) as problem:  # ValueError: IDNA cannot encode the name
        return _unreachable(address, problem, seconds)


def _read_answer(
    address: Address, answer: bytes, context: ssl.SSLContext | None, deadline: float
) -> Probe:
    text = answer.decode("utf-8", "replace")
    if not text:
        return _ask_other_words(address, context, deadline)
    kind = kind_of(text)
    if "not currently serving requests" in text:
        why = "it has no quorum, or is still starting"
        sentence = f"{address.route} serves no clients at the moment: {why}."
        return Probe(address, "not-serving", sentence, kind, why=why)
    if kind is not None:
        return replace(_ok(address, kind), znodes=node_count(text))
    if "not in the whitelist" in text:
        return _ok(address, ZOOKEEPER_OF_ANY_VERSION)
    if text.startswith("HTTP/"):
        sentence = f"{address.route} speaks HTTP, not ZooKeeper: is this the AdminServer's port?"
        return Probe(address, "not-zookeeper", sentence)
    return Probe(address, "not-zookeeper", f"{address.route} answers, but not like ZooKeeper.")


def _ok(address: Address, kind: ServerKind) -> Probe:
    return Probe(address, "ok", f"{address.route} is {kind}.", kind)


def _recognise(address: Address, connection: socket.socket, deadline: float) -> Probe:
    """Recognise any kind of server, even one that answers and keeps the connection open."""
    connection.settimeout(seconds_left(deadline) * SILENT_AFTER_SHARE)
    try:
        beginning = connection.recv(PEEK_BYTES, socket.MSG_PEEK)
    except TimeoutError:
        return _recognise_zetcd(address, connection, deadline)
    try:
        return _read_answer(address, read_to_end(connection, deadline), None, deadline)
    except TimeoutError:
        if kind_of(beginning.decode("utf-8", "replace")) is not None:
            raise
        return _read_answer(address, beginning, None, deadline)


def _recognise_zetcd(address: Address, connection: socket.socket, deadline: float) -> Probe:
    """Recognise zetcd: silent to `srvr`, `imok` to `ruok`.

    A server that was paused answers both once it resumes, so half of the time is left for `srvr`.
    """
    if exchange(address, b"ruok\n", seconds=seconds_left(deadline) / 2) != b"imok":
        raise TimeoutError("no answer in time")
    try:
        return _read_answer(address, read_to_end(connection, deadline), None, deadline)
    except TimeoutError:
        return _ok(address, ServerKind("zetcd"))


def _probe_known_zetcd(
    address: Address, zetcd: ServerKind, connection: socket.socket, deadline: float
) -> Probe:
    """Send zetcd the only word that it understands."""
    send(connection, b"ruok")
    if read_to_end(connection, deadline) != b"imok":
        raise TimeoutError("no answer in time")
    return _ok(address, zetcd)


def _ask_other_words(address: Address, context: ssl.SSLContext | None, deadline: float) -> Probe:
    """Use other words to identify a server that closed the connection after `srvr`."""
    if context is not None:
        return _closed_connection(address, context)
    for word in OTHER_WORDS:
        try:
            answer = exchange(address, f"{word}\n".encode(), seconds=seconds_left(deadline))
        except OSError:
            continue
        text = answer.decode("utf-8", "replace")
        kind = ServerKind() if text == "imok" else kind_of(text)
        if kind is not None:
            return _ok(address, kind)
    return _closed_connection(address, context)


def _closed_connection(address: Address, context: ssl.SSLContext | None) -> Probe:
    if context is None:
        sentence = f"{address.route} closes the connection: if it is a TLS port, give --tls-ca."
    else:
        sentence = (
            f"{address.route} closes the connection: "
            "it expects another client certificate, or is not ZooKeeper."
        )
    return Probe(address, "tls", sentence)


def _unreachable(address: Address, problem: Exception, seconds: float) -> Probe:
    if isinstance(problem, ConnectionRefusedError):
        sentence = (
            f"{address.route} refuses connections: is ZooKeeper running there, on this port?"
        )
        return Probe(address, "unreachable", sentence, why=REFUSED)
    if isinstance(problem, TimeoutError):
        why = f"no answer within {seconds:g} s"
        reasons = "a firewall, a wrong port, or a server that hangs"
        return Probe(address, "silent", f"{address.route}: {why} ({reasons}).", why=why)
    why = str(getattr(problem, "strerror", None) or problem)
    return Probe(address, "unreachable", f"{address.route} cannot be reached: {why}.", why=why)


def _unresolved(address: Address, seconds: float) -> Probe:
    why = f"no answer, or its name was not resolved, within {seconds:g} s"
    return Probe(address, "silent", f"{address.reachable.host}: {why}.", why=why)


def _tls_sentence(address: Address, problem: ssl.SSLError) -> str:
    reason = problem.reason or str(problem)
    if isinstance(problem, ssl.SSLCertVerificationError):
        why = f"has a certificate that is not trusted ({problem.verify_message}): see --tls-ca."
    elif "WRONG_VERSION" in reason or "RECORD_LAYER" in reason:
        why = "does not speak TLS: leave out the --tls options, or use its secure port."
    elif "CERTIFICATE" in reason or "HANDSHAKE_FAILURE" in reason:
        why = f"refuses our certificate ({reason}): see --tls-cert and --tls-key."
    elif "EOF" in reason:
        why = "closes the connection when TLS begins: is this its secure port?"
    else:
        why = f"does not accept zktop's TLS settings ({reason})."
    return f"{address.route} {why}"
