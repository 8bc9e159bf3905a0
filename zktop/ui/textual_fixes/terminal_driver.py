"""A driver that survives a closed terminal, and input that is not UTF-8.

Textual writes in a thread with a queue of 30 entries. When the terminal is closed, the thread ends
and the next write blocks forever. A closed terminal also sends SIGCONT to its processes, and
Textual would then start a second thread.

A busy terminal, for example behind a slow ssh link, makes writers wait, unless a process that
shares it has made it non-blocking.

A process that does not belong to the terminal, as in a container or under nohup, gets no SIGHUP
when the terminal closes. Textual's thread for keys would then read end-of-file in a loop.

A paste of binary data, or an umlaut from a terminal in Latin-1, would end Textual's thread for
keys with an error, and the program with it. After an Esc in a paste, Textual would treat the rest
as keystrokes.
"""

import os
import re
import select
import selectors
import signal
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from functools import partial
from threading import Thread
from typing import IO, Any, cast

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

READ_BYTES = 4096
READ_WITHIN_S = 0.1  # how often to check for the end of input, and for a lone Esc
# The text between the markers around a paste, or up to the end if the paste has not ended.
_PASTED = re.compile(r"(?<=\x1b\[200~)(?!\x1b\[201~).+?(?=\x1b\[201~|\Z)", re.DOTALL)


class TerminalFile:
    """The terminal as a file. The first write error closes it; later writes are discarded.

    A busy terminal is not closed: each write waits for it.
    """

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, or discard the text."""
        if self._file is not None:
            self._do(self._file, partial(self._file.write, text))
        return len(text)

    def flush(self) -> None:
        if self._file is not None:
            self._do(self._file, self._file.flush)

    def _do(self, file: IO[str], write: Callable[[], object]) -> None:
        try:
            os.set_blocking(file.fileno(), True)
            write()
        except BlockingIOError:
            pass  # changed by another process just now: this text is lost
        except OSError:
            self._file = None


class TerminalDriver(LinuxDriver):
    """Textual's driver for Linux, for terminals that are closed, suspended or not in UTF-8."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file = cast("Any", TerminalFile(self._file))
        Thread(target=self._report_hangup, name="terminal-hangup", daemon=True).start()

    def _report_hangup(self) -> None:
        """Wait until the terminal is closed, then send SIGHUP to this process."""
        terminal = select.poll()
        terminal.register(self.fileno, 0)  # only hangups
        if any(event & select.POLLHUP for _, event in terminal.poll()):
            os.kill(os.getpid(), signal.SIGHUP)

    def _sigcont_application(self, *arguments: object) -> None:
        """Resume after a suspend. Without a suspend, only redraw."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self._loop.call_soon_threadsafe(self._app.post_message, self.SignalResume())
        else:
            super()._sigcont_application(*arguments)

    def run_input_thread(self) -> None:
        """Read keys as Textual does. Bytes that are not UTF-8 become U+FFFD."""
        decode = getincrementaldecoder("utf-8")("replace").decode
        without_escapes = PasteFilter().without_escapes
        parser = XTermParser(self._debug)
        with selectors.SelectSelector() as terminal:
            terminal.register(self.fileno, selectors.EVENT_READ)
            is_last = False
            while not is_last:
                is_last = self.exit_event.is_set()
                is_ready = terminal.select(READ_WITHIN_S)
                if (
                    is_ready
                    and (text := decode(os.read(self.fileno, READ_BYTES)))
                    and (keys := without_escapes(text))
                ):
                    self._process(parser.feed(keys))
                self._process(parser.tick())

    def _process(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


class PasteFilter:
    """Removes Esc from pasted text, which may arrive in pieces."""

    def __init__(self) -> None:
        self._context = ""  # already returned: the marker that starts a paste, or a tail of text
        self._held = ""  # not yet returned: the start of a marker that may end the paste

    def without_escapes(self, text: str) -> str:
        r"""Return the next piece of text, without any Esc that is inside a paste.

        A marker may be split between two pieces. So a tail of each piece is read again with the
        next one, but not returned twice.

        >>> pastes = PasteFilter()
        >>> pastes.without_escapes("\x1b[A\x1b[200~a\x1b[31mq\x1b")
        '\x1b[A\x1b[200~a[31mq'
        >>> pastes.without_escapes("[201~\x1b[B")
        '\x1b[201~\x1b[B'
        """
        text = self._context + self._held + text
        returned, self._held = len(self._context), ""
        if text.rfind(BRACKETED_PASTE_START) > text.rfind(BRACKETED_PASTE_END):
            last = text[text.rindex("\x1b") :]
            if BRACKETED_PASTE_END.startswith(last):
                self._held = last
            text = text.removesuffix(self._held)
            self._context = BRACKETED_PASTE_START
        else:
            self._context = text[1 - len(BRACKETED_PASTE_START) :]
        return _PASTED.sub(lambda pasted: pasted[0].replace("\x1b", ""), text)[returned:]
