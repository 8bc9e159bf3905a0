"""Export metrics through an HTTP server or to a file, with the library prometheus-client."""

import hmac
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client import (
    CollectorRegistry,
    generate_latest,
    make_wsgi_app,
    start_http_server,
    write_to_textfile,
)

from zktop.errors import UsageError, cannot_read
from zktop.output.metrics.collector import ReportCollector

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104  the user left out the host, as in `:9141`

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class HttpAccess(msgspec.Struct, frozen=True):
    """Where to listen, and the files with the certificates and the login."""

    host: str
    port: int
    cert: Path | None = None  # a PEM file, with which the server uses TLS
    key: Path | None = None
    ca: Path | None = None  # clients need a certificate of this authority
    login: Path | None = None  # clients need the USER:PASSWORD in it

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.cert else ''}://{host or _ANY_ADDRESS}:{self.port}/metrics"


def exposition(collector: ReportCollector) -> bytes:
    """Return all metrics in the text format of Prometheus."""
    return generate_latest(collector.registry)


@contextmanager
def text_file(collector: ReportCollector, path: Path) -> Iterator[Callable[[], None]]:
    """Yield a function that replaces the file, and delete the file after the block.

    If it stayed, Prometheus would read the last values long after zktop has ended.
    """
    try:
        yield lambda: write_to_textfile(str(path), collector.registry)
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def http_server(collector: ReportCollector, access: HttpAccess) -> Iterator[None]:
    """Serve the metrics of a collector while the block runs."""
    registry = CollectorRegistry(support_collectors_without_names=True)
    credentials = None if access.login is None else _credentials(access.login)
    for file in filter(None, (access.cert, access.key, access.ca)):
        _read(file)  # only as a check: if the file is missing, the library leaves its port open
    try:
        server, thread = start_http_server(
            access.port,
            access.host or _ANY_ADDRESS,
            registry,
            certfile=str(access.cert) if access.cert else None,
            keyfile=str(access.key or access.cert) if access.cert else None,
            client_cafile=str(access.ca) if access.ca else None,
            client_auth_required=access.ca is not None,
        )
    except (OSError, UnicodeError) as error:  # the latter for a name like a..b
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{access.url} cannot be served: {why}.") from error
    if credentials is not None:
        server.set_app(_with_basic_auth(make_wsgi_app(registry), credentials))
    registry.register(collector.registry)  # not earlier: without the login it serves every client
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _with_basic_auth(app: WsgiApp, credentials: str) -> WsgiApp:
    """Answer only requests with this USER:PASSWORD."""
    expected = b"Basic " + b64encode(credentials.encode())

    def guarded(request: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        given = str(request.get("HTTP_AUTHORIZATION", "")).encode("utf-8", "replace")
        if hmac.compare_digest(given, expected):
            return app(request, start)
        start("401 Unauthorized", [("WWW-Authenticate", 'Basic realm="zktop"')])
        return [b"This needs a login.\n"]

    return guarded


def _credentials(file: Path) -> str:
    text = _read(file).decode("utf-8", "replace").strip()
    if ":" not in text or "\n" in text:
        raise UsageError(f"{file} must have one line: USER:PASSWORD.")
    return text


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise cannot_read(file, error) from error
