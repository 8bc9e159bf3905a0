"""`zktop sandbox`: the embedded server, for one's own clients."""

import click

from zktop.errors import ExitCode

LAST_PORT = 65535
FLAVOURS = ("zookeeper", "keeper", "raftkeeper", "zetcd")
_EXAMPLES = """\b
Examples:
  zktop sandbox
  zktop sandbox --port 0 --host 0.0.0.0
  zktop sandbox --flavour keeper
"""


@click.command("sandbox", epilog=_EXAMPLES)
@click.option(
    "--port",
    type=click.IntRange(0, LAST_PORT),
    default=2181,
    show_default=True,
    help="Client port; 0 takes a free one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--flavour",
    type=click.Choice(FLAVOURS),
    default="zookeeper",
    show_default=True,
    help="The server to play: ZooKeeper, ClickHouse Keeper, RaftKeeper or zetcd.",
)
def command(port: int, host: str, flavour: str) -> int:
    """Run a ZooKeeper server in memory until ctrl-c; nothing is kept.

    It is for demos and tests, and not for anything that matters: one server, no disk, no quotas,
    no SASL, no TLS, no AdminServer, no reconfiguration. Whoever reaches its port may do anything
    that ACLs do not forbid. Its address is printed once clients may come.
    """
    from zktop.sandbox import flavours  # noqa: PLC0415  looked up without need for them
    from zktop.sandbox.__main__ import serve  # noqa: PLC0415
    from zktop.sandbox.core import ServerCore  # noqa: PLC0415

    core = ServerCore(flavour=flavours.FLAVOURS[flavour])
    return serve(host, port, core=core) or ExitCode.INTERRUPTED  # nothing else ends it
