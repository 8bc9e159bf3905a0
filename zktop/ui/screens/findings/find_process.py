"""The command line that finds the process of a client on its host."""

import re
import shlex
from typing import Final

_ADDRESS: Final = re.compile(r"\[?([0-9A-Za-z_][\w.-]*|[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]?:(\d{1,5})")


def find_command(client: str | None) -> str | None:
    """A command that lists the process behind a client's address; None for other texts.

    >>> find_command("10.0.4.31:38110")
    "ssh 10.0.4.31 'ss -tnp sport = :38110'"
    >>> find_command("[fe80::1]:38110"), find_command("-oProxyCommand=x:1"), find_command(None)
    ("ssh fe80::1 'ss -tnp sport = :38110'", None, None)
    """
    found = _ADDRESS.fullmatch(client or "")
    if found is None:
        return None
    host, port = found.groups()
    return shlex.join(["ssh", host, shlex.join(["ss", "-tnp", "sport", "=", f":{port}"])])
