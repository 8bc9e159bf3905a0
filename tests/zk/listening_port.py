"""A port of our own, at which clients may be met on their way to a server."""

import socket
import threading
from contextlib import suppress

HOST = "127.0.0.1"


class Door:
    """Lets callers in, one after another; whoever inherits attends to them."""

    def __init__(self) -> None:
        self._door = socket.create_server((HOST, 0))
        self.address = f"{HOST}:{self._door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def attend(self, near: socket.socket) -> None:
        """Do something about a caller, and soon: the next one waits."""
        raise NotImplementedError

    def close(self) -> None:
        """Let nobody in any more."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                self.attend(near)
