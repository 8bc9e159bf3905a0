"""The terminal as a file."""

import os
import threading

from zktop.ui.textual_fixes.terminal_driver import TerminalFile

MORE_THAN_A_PIPE_KEEPS = 1_000_000
WAIT_S = 30.0


def test_a_busy_terminal_is_not_a_closed_one() -> None:
    """Another process with the same terminal, such as ssh, may make it refuse text while busy."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    seen: list[bytes] = []

    def read() -> None:
        with os.fdopen(reader, "rb") as end:
            seen.append(end.read())

    terminal = threading.Thread(target=read, daemon=True)
    with os.fdopen(writer, "w") as file:
        output = TerminalFile(file)
        terminal.start()
        for text in ("x" * MORE_THAN_A_PIPE_KEEPS, "the end"):
            output.write(text)
            output.flush()
    terminal.join(WAIT_S)

    assert len(seen[0]) == MORE_THAN_A_PIPE_KEEPS + len("the end")
    assert seen[0].endswith(b"the end")
