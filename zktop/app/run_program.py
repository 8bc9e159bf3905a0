"""Run a program and pass on its output, line by line, until it ends or the user closes it."""

import asyncio
import codecs
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

from zktop.model.text import clean

CHUNK_BYTES = 16_384
MAX_REST_CHARS = 10_000  # of an incomplete line. A longer one is passed on in parts.


async def run_program(words: Sequence[str], on_line: Callable[[str], None]) -> str:
    """Run a program without a shell and return a sentence about its end. Cancelling kills it."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,  # so that its children can be killed with it
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        return f"{words[0]} could not be started: {why}."
    try:
        assert process.stdout is not None  # noqa: S101  it is a pipe
        await _pass_on_lines(process.stdout, on_line)
        code = await process.wait()
    finally:
        if process.returncode is None:
            kill_group(process.pid)
            await process.wait()
    return f"{words[0]} ended with exit code {code}."


async def _pass_on_lines(output: asyncio.StreamReader, on_line: Callable[[str], None]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    rest = ""
    while chunk := await output.read(CHUNK_BYTES):
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in lines:
            on_line(clean(line.rstrip("\r")))
        if len(rest) > MAX_REST_CHARS:
            on_line(clean(rest))
            rest = ""
    if rest:
        on_line(clean(rest))


def kill_group(leader: int) -> None:
    """Kill a program that leads a process group, with its children, if it still runs."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
