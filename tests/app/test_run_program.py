"""Running a command of the user's own: its output, its ending, and what is left of it."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from time import monotonic, sleep

from zktop.app.run_program import MAX_REST_CHARS, run_program

PYTHON = (sys.executable, "-c")


async def ran(*words: str) -> tuple[list[str], str]:
    """The lines of its output, and how it ended."""
    lines: list[str] = []
    ending = await run_program(words, lines.append)
    return lines, ending


async def test_output_and_errors_come_line_by_line() -> None:
    """As a terminal would show them."""
    code = "import sys; print('out', flush=True); print('wrong', file=sys.stderr); sys.exit(3)"

    lines, ending = await ran(*PYTHON, code)

    assert lines == ["out", "wrong"]
    assert ending == f"{sys.executable} ended with exit code 3."


async def test_the_output_of_a_program_cannot_reach_the_terminal() -> None:
    """Escape sequences are text."""
    lines, _ = await ran(*PYTHON, r"print('\x1b[2Jclear')")

    assert "\x1b" not in lines[0]
    assert lines[0].endswith("clear")


async def test_an_endless_line_is_cut() -> None:
    """It would take all memory else."""
    lines, _ = await ran(*PYTHON, f"print('a' * {3 * MAX_REST_CHARS}, end='')")

    assert sum(map(len, lines)) == 3 * MAX_REST_CHARS
    assert len(lines) > 1


async def test_a_program_that_is_not_there_is_named() -> None:
    """In a sentence."""
    _, ending = await ran("no-such-program")

    assert ending == "no-such-program could not be started: No such file or directory."


async def test_closing_kills_the_program_and_its_children(tmp_path: Path) -> None:
    """`kubectl logs -f` must not stay behind."""
    file = tmp_path / "pid"
    code = f"sleep 60 & echo $! > {file}; echo started; wait"
    started = asyncio.Event()
    task = asyncio.create_task(run_program(("sh", "-c", code), lambda _line: started.set()))
    await started.wait()

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    child = int(file.read_text())
    await asyncio.to_thread(_wait_for_its_end, child)


def _wait_for_its_end(pid: int) -> None:
    end = monotonic() + 10
    while _lives(pid):
        assert monotonic() < end, f"waited 10 s for the end of {pid}"
        sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_a_program_that_dies_says_by_which_signal() -> None:
    """A negative exit code is the number of the signal."""
    _, ending = await ran(*PYTHON, "import os; os.kill(os.getpid(), 9)")

    assert ending.endswith(f"exit code -{int(signal.SIGKILL)}.")
