"""The UI when the connection is lost, comes back, or never existed."""

import contextlib
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from each_server import EITHER, server_of
from servers import RunningServer, free_port, started_again
from tmux import ZKTOP, Terminal, shows_page, terminal

BACK_WITHIN_S = 40.0  # a real server needs seconds to serve again
EVERY_SCREEN = "123456"


@contextlib.contextmanager
def back_again(kind: str, server: RunningServer) -> Iterator[None]:
    """The same server again, on its old port."""
    if kind == "real":
        process = started_again(server).process
    else:
        command = [sys.executable, "-m", "zktop.sandbox", "--port", str(server.port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind", EITHER)
def test_says_that_the_connection_is_lost_and_goes_on_when_it_is_back(kind: str) -> None:
    """Every screen shows the loss, and updates again without a key."""
    with server_of(kind) as server, terminal(*ZKTOP, "--hosts", server.address) as screen:
        screen.until("LIVE")
        server.process.kill()
        server.process.wait()
        screen.until("LOST")
        for number in EVERY_SCREEN:
            screen.press(number)
            screen.until(shows_page(number))
            screen.until(lambda text: "Retrying within 1 s." in " ".join(text.split()))
            assert "LOST" in screen.text()
            assert "✓" not in screen.text()

        with back_again(kind, server):
            screen.until(lambda text: "LIVE" in text.splitlines()[0], BACK_WITHIN_S)
            leave(screen, exit_code=0)


@pytest.mark.parametrize("kind", EITHER)
def test_time_stands_still_while_the_connection_is_lost(kind: str) -> None:
    """The clock in the header stops; the time since the loss is shown and counts on."""
    with server_of(kind) as server, terminal(*ZKTOP, "--hosts", server.address) as screen:
        screen.until("LIVE")
        server.process.kill()
        server.process.wait()
        screen.until(f"connection refused by {server.address}")
        screen.until(lambda text: _lost_for(text) >= 1)  # the header may be drawn a moment later
        stopped_at = _clock(screen.text())
        screen.until(lambda text: _lost_for(text) >= 4)
        later = screen.text()

        assert _clock(later) == stopped_at
        assert f"as it was at {stopped_at}" in " ".join(later.split())
        leave(screen, exit_code=0)


def _clock(text: str) -> str:
    return text.splitlines()[0].split()[-1]


def _lost_for(text: str) -> float:
    found = re.search(r"Connection lost ([0-9.]+)s ago", " ".join(text.split()))
    return float(found[1]) if found else 0.0


class NonsenseServer:
    """Listens on a port and answers everything with the same nonsense."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._babble, daemon=True).start()

    def _babble(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._socket.accept()
                with line:
                    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(range(256)))

    def close(self) -> None:
        """Stop."""
        self._socket.close()


@pytest.fixture(params=["refuses", "babbles"])
def nowhere(request: pytest.FixtureRequest) -> Iterator[str]:
    """An address without a ZooKeeper server."""
    if request.param == "refuses":
        yield f"127.0.0.1:{free_port()}"
        return
    babbler = NonsenseServer()
    yield babbler.address
    babbler.close()


def test_says_that_there_is_no_connection_and_goes_on_trying(nowhere: str) -> None:
    """Every screen says so, and the exit code does when the UI quits."""
    options = ("--hosts", nowhere, "--connect-timeout", "1s")
    with terminal(*ZKTOP, *options) as screen:
        screen.until("NO CONNECTION")
        for number in EVERY_SCREEN:
            screen.press(number)
            screen.until(shows_page(number))
            screen.until("Retrying in 2 s.")
        screen.until("CONNECTING")
        screen.until("NO CONNECTION")
        assert nowhere in screen.text()
        leave(screen, exit_code=3)


def leave(screen: Terminal, *, exit_code: int) -> None:
    """Quit, and check how it ended."""
    screen.press("q")
    screen.until(lambda _text: screen.exit_code is not None)

    assert screen.exit_code == exit_code, screen.text()
    assert screen.logged() == ""
    assert screen.family() == []
