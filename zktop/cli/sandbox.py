"""`zktop sandbox`: the embedded server, for the user's own clients and for `zktop demo`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from zktop.errors import ExitCode, NoConnectionError
from zktop.sandbox import flavours
from zktop.sandbox.__main__ import serve
from zktop.sandbox.server_core import ServerCore

_EXAMPLES = """\b
Examples:
  zktop sandbox
  zktop sandbox --port 0 --host 0.0.0.0
  zktop sandbox --flavour keeper
"""


@click.command("sandbox", epilog=_EXAMPLES)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=2181,
    show_default=True,
    help="Client port; 0: any free port.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--flavour",
    type=click.Choice([*flavours.FLAVOURS]),
    default="zookeeper",
    show_default=True,
    help="The server to imitate: ZooKeeper, ClickHouse Keeper, RaftKeeper or zetcd.",
)
def command(port: int, host: str, flavour: str) -> int:
    """Run a ZooKeeper server in memory until ctrl-c. Nothing is saved.

    It is for demos and tests only: one server, no disk, no quotas, no SASL, no TLS, no
    AdminServer, no reconfiguration. Every client that reaches its port may do whatever the ACLs
    allow. It prints its address once it accepts clients.
    """
    core = ServerCore(flavour=flavours.FLAVOURS[flavour])
    return serve(host, port, core) or ExitCode.INTERRUPTED  # only a signal ends it


@contextmanager
def sandbox_process() -> Iterator[str]:
    """Run a sandbox server on a free port as a child process, and yield its address."""
    # -P: import nothing from the current folder. PYTHONPATH: run this same zktop.
    command = [sys.executable, "-P", "-m", "zktop.sandbox", "--port", "0", "--until-stdin-closes"]
    server = subprocess.Popen(  # noqa: S603  zktop itself, with fixed arguments
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,  # ctrl-c must not end it: contenders still close their sessions
    )
    with server:
        address = server.stdout.readline().strip() if server.stdout else ""
        if not address:
            raise NoConnectionError("The sandbox server did not start; see the reason above.")
        try:
            yield address
        finally:
            server.terminate()
