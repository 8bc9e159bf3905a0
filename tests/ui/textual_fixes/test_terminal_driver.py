"""The terminal as a file, and keys and pastes as they arrive in pieces."""

import os
import threading
from queue import Queue

import pytest
from textual.events import Key, Paste
from textual.message import Message

from zktop.ui.textual_fixes.terminal_driver import PasteFilter, TerminalDriver, TerminalFile

MORE_THAN_A_PIPE_KEEPS = 1_000_000
WAIT_S = 30.0


class Keyboard(TerminalDriver):
    """The thread for keys, with a pipe as its terminal."""

    def __init__(self) -> None:
        self.fileno, self.writer = os.pipe()
        self._debug = False
        self.exit_event = threading.Event()
        self.messages: Queue[Message] = Queue()
        self.thread = threading.Thread(target=self.run_input_thread, daemon=True)
        self.thread.start()

    def process_message(self, message: Message) -> None:
        """Note what Textual would get."""
        self.messages.put(message)

    def end(self) -> None:
        """Close the terminal, and wait for the end of the thread."""
        os.close(self.writer)
        self.exit_event.set()
        self.thread.join(WAIT_S)
        assert not self.thread.is_alive()
        os.close(self.fileno)


def test_a_terminal_that_closes_in_a_paste_ends_the_thread() -> None:
    """There is no end of the paste to wait for."""
    keyboard = Keyboard()
    os.write(keyboard.writer, b"\x1b[200~abc")

    keyboard.end()


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        (b"k\x1b[200~abc", b"\x1b[31mq\x1bq\x1b[201~z"),
        (b"k\x1b[200~abc\x1b[31mq\x1b", b"q\x1b[201~z"),
        (b"k\x1b[200~abc\x1b[31mq\x1bq\x1b[20", b"1~z"),
    ],
)
def test_a_paste_in_two_parts_presses_no_keys(first: bytes, rest: bytes) -> None:
    """Over a slow link it may pause anywhere, also inside the mark of its end."""
    keyboard = Keyboard()
    os.write(keyboard.writer, first)
    before = keyboard.messages.get(timeout=WAIT_S)
    os.write(keyboard.writer, rest)
    pasted, after = (keyboard.messages.get(timeout=WAIT_S) for _ in range(2))
    keyboard.end()

    assert isinstance(before, Key)
    assert isinstance(pasted, Paste)
    assert isinstance(after, Key)
    assert (before.key, pasted.text, after.key) == ("k", "abc[31mqq", "z")


def test_the_begin_of_a_paste_may_be_in_two_parts() -> None:
    """A read ends after some number of bytes."""
    pastes = PasteFilter()

    assert pastes.without_escapes("k\x1b[20") == "k\x1b[20"
    assert pastes.without_escapes("0~a\x1bq\x1b[201~") == "0~aq\x1b[201~"


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
