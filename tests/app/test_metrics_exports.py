"""Metrics over HTTP and in a file."""

import base64
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from output.stories import report
from readme.tls_proxy import make_certificates
from servers import free_port

from zktop.app.metrics_exports import HttpAccess, http_server, text_file
from zktop.errors import UsageError
from zktop.output.metrics.collector import ReportCollector


@pytest.fixture
def collector() -> ReportCollector:
    """The metrics of two locks."""
    collector = ReportCollector("0.1.0")
    collector.look(report("X x: A B ; Y x: C"))
    return collector


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and a login."""
    folder = tmp_path_factory.mktemp("access")
    make_certificates(folder)
    (folder / "login").write_text("prom:secret\n", encoding="utf-8")
    return folder


@pytest.fixture
def secured(collector: ReportCollector, folder: Path) -> Iterator[HttpAccess]:
    """A server that speaks TLS and asks for the login."""
    cert, key = folder / "me.pem", folder / "me.key"
    access = HttpAccess("127.0.0.1", free_port(), cert, key, login=folder / "login")
    with http_server(collector, access):
        yield access


def get(access: HttpAccess, login: str | None = None, ca: Path | None = None) -> str:
    """The body of an answer."""
    request = urllib.request.Request(access.url)
    if login:
        request.add_header("Authorization", "Basic " + base64.b64encode(login.encode()).decode())
    context = ssl.create_default_context(cafile=str(ca)) if ca else None
    with urllib.request.urlopen(request, timeout=10, context=context) as answer:
        return answer.read().decode()


def test_a_scrape_has_the_metrics(collector: ReportCollector) -> None:
    """Over plain HTTP; when the block ends, the port is free again."""
    access = HttpAccess("127.0.0.1", free_port())
    for _ in range(2):
        with http_server(collector, access):
            assert 'zktop_locks{root="/locks/**",state="contended"} 1.0' in get(access)


def test_only_the_login_may_read(secured: HttpAccess, folder: Path) -> None:
    """Over HTTPS, with the certificate."""
    assert "zktop_up 1.0" in get(secured, "prom:secret", folder / "ca.pem")
    for wrong in (None, "prom:secre", "prom:sécret"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(secured, wrong, folder / "ca.pem")


def test_a_client_without_a_certificate_is_refused(
    collector: ReportCollector, folder: Path
) -> None:
    """If an authority is given."""
    cert, key = folder / "me.pem", folder / "me.key"
    access = HttpAccess("127.0.0.1", free_port(), cert, key, ca=folder / "ca.pem")
    with (
        http_server(collector, access),
        pytest.raises(OSError, match=r"(?i)certificate|reset|eof"),
    ):
        get(access, ca=folder / "ca.pem")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"cert": Path("none.pem")}, "none.pem cannot be read: No such file"),
        ({"host": "no.such.host.invalid"}, "cannot be served: "),
        ({"login": Path("none")}, "none cannot be read: No such file"),
    ],
)
def test_an_address_that_cannot_be_served_is_one_sentence(
    collector: ReportCollector, change: dict[str, object], sentence: str
) -> None:
    """It names the address or the file."""
    access = HttpAccess(**({"host": "127.0.0.1", "port": free_port()} | change))
    with pytest.raises(UsageError, match=sentence), http_server(collector, access):
        pass


def test_a_port_in_use_is_one_sentence(collector: ReportCollector) -> None:
    """It names the address."""
    access = HttpAccess("127.0.0.1", free_port())
    with (
        http_server(collector, access),
        pytest.raises(
            UsageError, match=f"{access.port}/metrics cannot be served: Address already"
        ),
        http_server(collector, access),
    ):
        pass


def test_a_file_is_written_whole_and_deleted_at_the_end(
    collector: ReportCollector, tmp_path: Path
) -> None:
    """No other file is left beside it."""
    file = tmp_path / "zktop.prom"
    with text_file(collector, file) as write:
        write()
        first = file.stat().st_ino
        write()

        assert "zktop_up 1.0" in file.read_text(encoding="utf-8")
        assert file.stat().st_ino != first
        assert [*tmp_path.iterdir()] == [file]
    assert not file.exists()
