"""zktop in a real terminal: its output, and the state that it leaves behind."""

import contextlib
import os
import re
import signal
import sys
from pathlib import Path
from typing import IO, cast

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from ui.pty_terminal import ALTERNATE, BACK, NO_SERVER, Terminal, family

from zktop.ui.textual_fixes.terminal_driver import TerminalFile

COLOUR = re.compile(rb"\x1b\[[0-9;:]*m")
PROMPT = b"\x1b[?2004h$ "  # of bash
AT_NO_SERVER = ("--hosts", NO_SERVER)
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def colours(written: bytes) -> set[bytes]:
    """Find the colours that were set."""
    return {
        part
        for code in COLOUR.findall(written)
        for part in _parts(code[2:-1].replace(b":", b";").split(b";"))
    }


def _parts(numbers: list[bytes]) -> list[bytes]:
    return [one for one in numbers if one.isdigit() and _is_colour(int(one))]


def _is_colour(number: int) -> bool:
    return 30 <= number <= 39 or 40 <= number <= 49 or 90 <= number <= 97 or 100 <= number <= 107


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=["TERM", "HUP", "INT"],
)
def test_a_signal_leaves_the_terminal_as_it_was(number: int, code: int, tmp_path: Path) -> None:
    """No alternate screen, no mouse reports, no hidden cursor, no process stays behind."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.shown()
        terminal.process.send_signal(number)

        assert terminal.ended() == code
        assert terminal.is_as_before()
        assert b"Traceback" not in terminal.written
        assert family(terminal.process.pid) == []


def test_a_closed_terminal_ends_it(tmp_path: Path) -> None:
    """Nothing could be displayed any more."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.shown()
        terminal.close()

        assert terminal.ended() == 129
        assert family(terminal.process.pid) == []


def test_a_closed_terminal_ends_it_without_a_signal(tmp_path: Path) -> None:
    """A process in a container may get none; its thread for keys would take a whole core."""
    with Terminal(tmp_path, *AT_NO_SERVER, gets_signals=False) as terminal:
        terminal.shown()
        terminal.close()

        assert terminal.ended() == 129
        assert family(terminal.process.pid) == []


def test_sigcont_without_a_suspend_changes_nothing(tmp_path: Path) -> None:
    """A closed terminal sends SIGCONT to its processes; that must not start a second writer."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.shown()
        for _ in range(3):
            terminal.written = b""
            terminal.process.send_signal(signal.SIGCONT)
            terminal.until(b"zktop")  # all is drawn again

            assert ALTERNATE not in terminal.written


def test_output_to_a_closed_terminal_is_discarded() -> None:
    """Otherwise the queue would fill up, and the UI would block forever when it ends."""
    reader, writer = os.pipe()
    os.close(reader)
    with contextlib.suppress(OSError), os.fdopen(writer, "w") as file:
        output = WriterThread(cast("IO[str]", TerminalFile(file)))
        output.start()
        for _ in range(10 * MAX_QUEUED_WRITES):
            output.write("x" * 10_000)
        output.stop()

    assert not output.is_alive()


@pytest.mark.parametrize("key", [b"q", b"\x03", b"\x11"], ids=["q", "ctrl+c", "ctrl+q"])
def test_the_exit_code_says_if_there_was_no_connection(key: bytes, tmp_path: Path) -> None:
    """The terminal is as it was before."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.until(b"NO CONNECTION")
        terminal.press(key)

        assert terminal.ended() == 3
        assert terminal.is_as_before()


def test_input_that_is_not_utf8_does_not_end_it(tmp_path: Path) -> None:
    """It may be a paste of binary data, or an umlaut from a terminal in Latin-1."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.until(b"NO CONNECTION")
        terminal.press(b"/a\xff\xfcb")
        terminal.until("a\ufffd\ufffdb".encode())
        terminal.press(b"\r")
        terminal.press(b"q")

        assert terminal.ended() == 3


def test_a_paste_with_escapes_presses_no_keys(tmp_path: Path) -> None:
    """It may be a coloured log, in the buffer of a tmux."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.until(b"NO CONNECTION")
        terminal.press(b"\x1b[200~ab\x1b[31m" + b"q" * 40)
        terminal.press(b"\x1b[0mcd\x1b[201~")
        terminal.press(b"?")

        terminal.until(b"Help: Locks")


def test_the_first_frame_shows_the_address(tmp_path: Path) -> None:
    """It does not wait for the connection."""
    with Terminal(tmp_path, "--hosts", "192.0.2.1:2181") as terminal:  # no server there
        terminal.until(b"CONNECTING")
        terminal.until(b"192.0.2.1:2181")


def test_it_can_be_suspended(tmp_path: Path) -> None:
    """Ctrl+z gives the terminal back to the shell, and going on takes it again."""
    shell = ("bash", "--norc", "--noprofile", "-i")
    with Terminal(tmp_path, program=shell, PS1="$ ") as terminal:
        terminal.until(b"$ ")
        terminal.press(f"{sys.executable} -m zktop --hosts {NO_SERVER}\n".encode())
        terminal.shown()
        terminal.press(b"\x1a")
        terminal.until(b"Stopped")
        terminal.until(PROMPT, after=b"Stopped")
        assert terminal.is_left()
        terminal.written = b""
        terminal.press(b"fg\n")
        terminal.until(ALTERNATE)
        terminal.shown()
        terminal.press(b"\x03")
        terminal.until(PROMPT, after=BACK)
        assert terminal.is_left()
        terminal.press(b"exit 7\n")

        assert terminal.ended() == 7


def test_no_color_means_no_colours_at_all(tmp_path: Path) -> None:
    """There is not even grey; the line under the cursor is reversed."""
    with Terminal(tmp_path, *AT_NO_SERVER, NO_COLOR="1") as terminal:
        terminal.shown()
        terminal.press(b"?")
        terminal.until(b"ype to search")

        assert colours(terminal.written) == set()
        assert b";7" in terminal.written or b"[7" in terminal.written


def test_colours_are_written_otherwise(tmp_path: Path) -> None:
    """The test above can fail."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.shown()

        assert b"38" in colours(terminal.written)


@pytest.mark.parametrize("term", ["xterm", "linux", "screen"])
def test_sixteen_colours_are_the_terminals_own(term: str, tmp_path: Path) -> None:
    """RGB colours would look wrong there, so the plain theme is used."""
    with Terminal(tmp_path, *AT_NO_SERVER, TERM=term, COLORTERM=None) as terminal:
        terminal.shown()
        found = colours(terminal.written)

    assert found
    assert found.isdisjoint({b"38", b"48"})


def test_256_colours_are_enough(tmp_path: Path) -> None:
    """That is usual over ssh, which does not forward COLORTERM."""
    with Terminal(tmp_path, *AT_NO_SERVER, COLORTERM=None) as terminal:
        terminal.shown()

        assert b"38;5;" in terminal.written
        assert b"38;2;" not in terminal.written


ASCII = [
    {"ZKTOP_ASCII": "1"},
    {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
]


@pytest.mark.parametrize("more", ASCII, ids=str)
def test_terminals_without_unicode_get_none(more: dict[str, str], tmp_path: Path) -> None:
    """The encoding decides, or a setting."""
    with Terminal(tmp_path, *AT_NO_SERVER, **more) as terminal:
        terminal.shown()
        terminal.press(b"?")
        terminal.until(b"ype to search")

        assert terminal.written.isascii()
        assert b"\\u" not in terminal.written


def test_a_resized_terminal_is_filled_again(tmp_path: Path) -> None:
    """The foot is on the last line, wherever that is."""
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        terminal.until(b"\x1b[30;")
        terminal.resize(140, 50)
        terminal.until(b"\x1b[50;")


def test_without_a_terminal_it_says_what_to_do(tmp_path: Path) -> None:
    """It prints one sentence without escape sequences."""
    with Terminal(tmp_path, *AT_NO_SERVER, TERM="dumb") as terminal:
        assert terminal.ended() == 2
        assert terminal.written == (
            b"The terminal UI needs a terminal; `zktop snapshot` writes text or JSON.\r\n"
        )


def test_wrong_settings_are_reported_before_the_ui_starts(tmp_path: Path) -> None:
    """All of them, in plain lines."""
    file = tmp_path / "config.yaml"
    file.write_text("ui:\n  keys:\n    qiut: Q\n    copy: n\n")
    with Terminal(tmp_path, "--hosts", NO_SERVER, "--config", str(file)) as terminal:
        assert terminal.ended() == 2
        assert ALTERNATE not in terminal.written
        assert BACK not in terminal.written
        assert b"config.yaml:3: ui.keys.qiut: there is no such action (did you mean quit?)" in (
            terminal.written
        )
        assert b"config.yaml:4: ui.keys.copy: n is also the key of next_alert" in terminal.written


def test_a_broken_theme_is_reported_before_the_ui_starts(tmp_path: Path) -> None:
    """With its file, line and key."""
    folder = tmp_path / "config" / "zktop"
    (folder / "themes").mkdir(parents=True)
    (folder / "config.yaml").write_text("ui: { theme: mine }")
    (folder / "themes" / "mine.yaml").write_text('name: mine\nprimry: "#fff"\nprimary: "#fff"\n')
    with Terminal(tmp_path, *AT_NO_SERVER) as terminal:
        assert terminal.ended() == 2
        assert b"themes/mine.yaml:2: primry: unknown key (did you mean primary?)" in (
            terminal.written
        )
        assert ALTERNATE not in terminal.written
