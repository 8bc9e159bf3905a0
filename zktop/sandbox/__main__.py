"""Run the sandbox as a process: `python -m zktop.sandbox --port 2181`."""

import argparse
import asyncio
import os
import signal
import socket
import sys

from zktop.sandbox.flavours import FLAVOURS
from zktop.sandbox.server_core import ServerCore
from zktop.sandbox.server_sockets import SandboxServer
from zktop.sandbox.sessions import TICK_MS


def serve(host: str, port: int, core: ServerCore, *, until_stdin_closes: bool = False) -> int:
    """Serve until SIGINT or SIGTERM. Print the address once clients can connect.

    Raises OSError if the address cannot be printed.
    """
    return asyncio.run(_serve(host, port, core, until_stdin_closes=until_stdin_closes))


async def _serve(host: str, port: int, core: ServerCore, *, until_stdin_closes: bool) -> int:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    try:
        server = await SandboxServer.start(host, port, core)
    except (OSError, UnicodeError) as problem:
        sys.stderr.write(f"cannot listen on {_format_address(host, port)}: {_reason(problem)}\n")
        return 2
    sys.stdout.write(f"{_format_address(*server.address)}\n")
    sys.stdout.flush()
    if until_stdin_closes:
        await _watch_stdin(ended)
    else:
        sys.stderr.write("zktop sandbox: in memory, for demos and tests; it stores nothing\n")
    await ended.wait()
    await server.stop()
    return 0


def _format_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _reason(problem: OSError | UnicodeError) -> str:
    if isinstance(problem, UnicodeError):  # IDNA cannot encode it
        return "no such host name"
    if isinstance(problem, socket.gaierror) or not problem.errno:
        return str(problem.strerror or problem).lower()
    return os.strerror(problem.errno).lower()  # asyncio's own sentence differs between versions


async def _watch_stdin(ended: asyncio.Event) -> None:
    """Stop the server when stdin closes, because the parent process has ended."""

    class Stdin(asyncio.Protocol):
        def connection_lost(self, exc: Exception | None) -> None:
            ended.set()

    await asyncio.get_running_loop().connect_read_pipe(Stdin, sys.stdin)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m zktop.sandbox",
        description="An in-memory ZooKeeper server for demos and tests. It stores nothing.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=2181, help="0: any free port")
    parser.add_argument("--tick-ms", type=int, default=TICK_MS, help="default: %(default)s")
    parser.add_argument(
        "--flavour",
        choices=FLAVOURS,
        default="zookeeper",
        help="which server; default: %(default)s",
    )
    parser.add_argument(
        "--words", help="four-letter words that Keeper or RaftKeeper answers; default: all"
    )
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the parent")
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    words = options.words.split(",") if options.words is not None else None
    core = ServerCore(tick_ms=options.tick_ms, flavour=FLAVOURS[options.flavour], allowed=words)
    try:
        closes = options.until_stdin_closes
        sys.exit(serve(options.host, options.port, core, until_stdin_closes=closes))
    except OSError as problem:  # the parent may be gone
        sys.exit(f"cannot print the address: {problem.strerror}")
