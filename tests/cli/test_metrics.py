"""`zktop metrics`: what it prints, and which options it refuses."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.live_processes import new_root, worker
from output.stories import LATER, facts, recorded, recorded_story
from servers import kazoo_client, sandbox_server

from zktop import recording

Zktop = Callable[..., tuple[int, str, str]]


def test_a_recording_gives_the_metrics_of_its_end(zktop: Zktop, tmp_path: Path) -> None:
    """On stdout, and nothing else."""
    file = recorded_story(tmp_path / "a.zktop", "X x: A B ; Y x: B A")

    code, out, err = zktop("metrics", "--from", str(file))

    assert (code, err) == (0, "")
    assert 'zktop_deadlocks{confidence="C2"} 1.0\n' in out
    assert out.endswith("\n")
    assert not out.endswith("\n\n")


def test_the_totals_of_a_long_recording_count_from_its_beginning(
    zktop: Zktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other commands begin a quarter of an hour before its end."""
    monkeypatch.setattr(recording, "MIN_SKIPPED_BYTES", 1)
    minutes = [(LATER + minute * 60_000, []) for minute in range(1, 41)]
    file = recorded(tmp_path / "a.zktop", (LATER, facts("X x: A B")), *minutes)

    _, out, _ = zktop("metrics", "--from", str(file))

    assert 'zktop_blocked_seconds_total{root="/**"} 2400.0\n' in out


def test_an_ensemble_is_read_once_and_then_into_a_file(zktop: Zktop, tmp_path: Path) -> None:
    """The file is gone when zktop has ended, so it is read by another command meanwhile."""
    root = new_root()
    with sandbox_server() as server, worker(server.address, "alice") as alice:
        alice.acquire(f"{root}/orders")
        (tmp_path / "soon.yaml").write_text("thresholds: { settle: 10ms }", encoding="utf-8")
        to = ("--hosts", server.address, "--root", f"{root}/*", "--config", "soon.yaml")

        code, out, err = zktop("metrics", *to)
        assert (code, err) == (0, "")
        assert f'zktop_locks{{root="{root}/*",state="held"}} 1.0\n' in out
        assert "zktop_requests_total" in out

        to_file = ("--textfile", str(tmp_path / "z.prom"), "--duration", "1s", "--every", "100ms")
        assert zktop("metrics", *to, *to_file) == (0, "", "")
        assert not (tmp_path / "z.prom").exists()


def test_a_single_look_counts_all_empty_lock_folders(zktop: Zktop, tmp_path: Path) -> None:
    """They are read last; a partial count would look like the total."""
    (tmp_path / "soon.yaml").write_text("thresholds: { settle: 10ms }", encoding="utf-8")
    with sandbox_server() as server, kazoo_client(server.address) as client:
        client.create("/orders/order-0/lock-", ephemeral=True, sequence=True, makepath=True)
        create = client.transaction()
        for number in range(1, 4_000):
            create.create(f"/orders/order-{number}")
        create.commit()

        _, out, _ = zktop("metrics", "--hosts", server.address, "--config", "soon.yaml")

    assert 'zktop_lock_folders{empty="true",root="/**"} 3999.0\n' in out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--listen 9141", "expected HOST:PORT, got '9141'."),
        ("--listen :70000", "expected HOST:PORT, got ':70000'."),
        ("--listen a..b:1", "http://a..b:1/metrics cannot be served: "),
        ("--listen :0", "expected HOST:PORT, got ':0'."),
        ("--listen :1 --textfile a.prom", "--listen, --textfile and --from exclude each other."),
        ("--textfile a.txt", "--textfile: node_exporter reads only files named *.prom."),
        ("--textfile none/a.prom", "--textfile: there is no folder none."),
        ("--duration 5s", "--duration needs --listen or --textfile."),
        ("--listen-login a", "--listen-login needs --listen."),
        ("--listen :1 --listen-key a", "--listen-key needs --listen-cert."),
    ],
)
def test_options_that_do_not_fit_are_refused(zktop: Zktop, options: str, sentence: str) -> None:
    """One sentence says which."""
    code, out, err = zktop("metrics", *options.split())

    assert (code, out) == (2, "")
    assert sentence in err


def test_a_missing_library_is_named(zktop: Zktop, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.delattr("zktop.app.metrics_exports", raising=False)
    monkeypatch.delitem(sys.modules, "zktop.app.metrics_exports", raising=False)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    assert zktop("metrics") == (
        2,
        "",
        (
            "zktop metrics needs the package prometheus-client: "
            "`pipx inject zktop prometheus-client`, or pip install it where zktop is.\n"
        ),
    )
