"""`zktop record --dir` in a process of its own: killed, restarted, and read as one recording."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.live_processes import Zktop as RunningZktop
from cli.live_processes import new_root, worker, zktop_process
from servers import sandbox_server
from waiting import eventually

Zktop = Callable[..., tuple[int, str, str]]


@contextmanager
def recording(hosts: str, folder: Path) -> Iterator[RunningZktop]:
    """A recorder that has read everything."""
    with zktop_process("record", "--hosts", hosts, "--dir", str(folder)) as running:
        assert running.process.stderr
        line = running.process.stderr.readline()
        assert line == f"recording to {folder}; ctrl-c ends it\n"
        yield running


def events(zktop: Zktop, folder: Path) -> list[tuple[str, str | None]]:
    """Each event, and its owner or the state of the connection."""
    _, out, _ = zktop("events", "--from", str(folder))
    seen = [json.loads(line) for line in out.splitlines()]
    return [(one["event"], one.get("owner") or one.get("state")) for one in seen]


def test_a_killed_recorder_continues_in_the_same_folder(zktop: Zktop, tmp_path: Path) -> None:
    """The ring has what happened before and after; check and snapshot judge its end."""
    folder, lock = tmp_path / "ring", f"{new_root()}/a"
    with sandbox_server() as server, worker(server.address, "alice") as alice:
        with recording(server.address, folder) as first:
            alice.acquire(lock)
            eventually(lambda: ("acquired", "alice") in events(zktop, folder))
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
        alice.release(lock)
        with worker(server.address, "bob") as bob, recording(server.address, folder) as second:
            bob.acquire(lock)
            eventually(lambda: ("acquired", "bob") in events(zktop, folder))
            code, _, err = zktop("record", "--hosts", server.address, "--dir", str(folder))
            second.process.send_signal(signal.SIGTERM)
            assert second.ended()[0] == 130

    assert (code, err) == (2, f"{folder} is in use by another `zktop record`.\n")
    code, out, err = zktop("snapshot", "--from", str(folder), "--format", "text")
    assert (code, err, "bob" in out) == (0, "", True)
    assert zktop("check", "--from", str(folder))[0] == 0
    assert zktop("report", "--from", str(folder), "--format", "json")[0] == 0
    states = [state for event, state in events(zktop, folder) if event == "connection"]
    assert states == ["connected", "lost", "connected"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("", "Give either -o FILE or --dir DIR."),
        ("-o a --dir b", "Give either -o FILE or --dir DIR."),
        ("-o a --keep 2h", "--keep and --max-size need --dir."),
        ("-o a --keep 0s", "--keep and --max-size need --dir."),
        ("--dir b --keep 1s", "--keep must be at least 1m."),
        ("--dir b --max-size 1K", "--max-size must be at least 1M."),
        ("--dir b --max-size big", 'expected a size like 500M or 2G, got "big".'),
    ],
)
def test_wrong_options_are_explained(
    zktop: Zktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, error: str
) -> None:
    """Before anything is written or read."""
    monkeypatch.chdir(tmp_path)
    code, out, err = zktop("record", *options.split())

    assert (code, out) == (2, "")
    assert error in err
    assert list(tmp_path.iterdir()) == []
