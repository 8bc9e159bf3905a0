"""A listening port that accepts connections for the proxies of the tests."""

import socket
import threading
from contextlib import suppress

HOST = "127.0.0.1"


class ListeningPort:
    """Accepts connections one after another; subclasses handle them."""

    def __init__(self) -> None:
        self._listening = socket.create_server((HOST, 0))
        self.address = f"{HOST}:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def attend(self, near: socket.socket) -> None:
        """Handle a connection without blocking: the next one waits."""
        raise NotImplementedError

    def close(self) -> None:
        """Accept no more connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self.attend(near)
