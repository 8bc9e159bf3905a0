"""A sandbox server as a child process, for as long as a command needs one."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from zktop.errors import NoConnectionError


@contextmanager
def sandbox() -> Iterator[str]:
    """Start one on a free port and give its address; it ends with us, whatever we die of."""
    command = [sys.executable, "-m", "zktop.sandbox", "--port", "0", "--until-stdin-closes"]
    server = subprocess.Popen(  # noqa: S603  our own program, our own arguments
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # ctrl-c is for us: contenders still have to say good-bye to it
    )
    with server:
        address = server.stdout.readline().strip() if server.stdout else ""
        if not address:
            raise NoConnectionError("The sandbox server did not start; its reason is above.")
        try:
            yield address
        finally:
            server.terminate()
