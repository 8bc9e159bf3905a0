"""A TLS proxy to a server without TLS."""

import contextlib
import select
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def secured(hosts: str, folder: Path) -> Iterator[str]:
    """Return the TLS address; the folder gets ca.pem, me.pem and me.key for the client."""
    make_certificates(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "me.pem", folder / "me.key")
    context.load_verify_locations(folder / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    host, _, port = hosts.rpartition(":")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        arguments = (listening, context, (host, int(port)))
        threading.Thread(target=_serve, args=arguments, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def make_certificates(folder: Path) -> None:
    """One self-signed certificate for both ends."""
    files = ["-keyout", folder / "me.key", "-out", folder / "me.pem"]
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    subprocess.run([*command, *files, *names], check=True, capture_output=True, timeout=60)
    (folder / "ca.pem").write_bytes((folder / "me.pem").read_bytes())


def _serve(listening: socket.socket, context: ssl.SSLContext, server: tuple[str, int]) -> None:
    with contextlib.suppress(OSError):  # the socket was closed
        while True:
            connection, _ = listening.accept()
            threading.Thread(
                target=_forward, args=(connection, context, server), daemon=True
            ).start()


def _forward(connection: socket.socket, context: ssl.SSLContext, server: tuple[str, int]) -> None:
    """Forward in both directions until one end closes."""
    with (
        contextlib.suppress(OSError),
        context.wrap_socket(connection, server_side=True) as secure,
        socket.create_connection(server) as plain,
    ):
        while True:
            ready = [secure] if secure.pending() else select.select([secure, plain], [], [])[0]
            for source in ready:
                data = source.recv(65536)
                if not data:
                    return
                (plain if source is secure else secure).sendall(data)
