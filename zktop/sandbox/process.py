"""The sandbox as a process of its own: says when it is ready, ends when told to."""

import asyncio
import os
import signal
import sys

from zktop.sandbox.keeper import Keeper
from zktop.sandbox.server import Server


def serve(
    host: str = "127.0.0.1",
    port: int = 2181,
    *,
    until_stdin_closes: bool = False,
    keeper: Keeper | None = None,
) -> int:
    """Serve until told to end; print one line with the address once clients may come."""
    keeper = keeper or Keeper()
    try:
        asyncio.run(_serve(host, port, keeper, until_stdin_closes=until_stdin_closes))
    except OSError as problem:
        # Asyncio puts a sentence of its own around it, not the same one in every version.
        why = os.strerror(problem.errno).lower() if problem.errno else problem
        sys.stderr.write(f"cannot listen on {host}:{port}: {why}\n")
        return 2
    return 0


async def _serve(host: str, port: int, keeper: Keeper, *, until_stdin_closes: bool) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    server = await Server.start(host, port, keeper)
    shown, taken = server.address
    sys.stdout.write(f"{f'[{shown}]' if ':' in shown else shown}:{taken}\n")
    sys.stdout.flush()
    if until_stdin_closes:
        await _watch_stdin(ended)
    else:
        sys.stderr.write("zktop sandbox: in memory, for demos and tests; nothing is kept\n")
    await ended.wait()
    await server.stop()


async def _watch_stdin(ended: asyncio.Event) -> None:
    """End with the parent: its death closes the pipe, whatever it died of."""

    class Stdin(asyncio.Protocol):
        def connection_lost(self, exc: Exception | None) -> None:
            ended.set()

    await asyncio.get_running_loop().connect_read_pipe(Stdin, sys.stdin)
