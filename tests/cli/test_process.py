"""What needs a process of its own: imports, closed pipes, full disks, signals."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from servers import kazoo_client, sandbox_server
from txnlog.log_writer import story

from zktop.cli.main import COMMANDS, module_of
from zktop.errors import ExitCode

Process = Callable[..., "subprocess.CompletedProcess[str]"]

DRAWS = {"demo", "replay"}  # the commands that open a screen


def loaded_by(process: Process, code: str) -> set[str]:
    """The modules that this code imports, and their top-level packages."""
    ran = process("-c", f"{code}\nimport sys; print(*sys.modules)")
    assert ran.returncode == 0, ran.stderr
    names = ran.stdout.splitlines()[-1].split()
    return {*names, *(name.partition(".")[0] for name in names)}


def test_help_imports_no_client_no_yaml_and_no_screen(process: Process) -> None:
    """`--help` stays fast."""
    code = "from zktop.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"

    assert not loaded_by(process, code) & {"kazoo", "textual", "rich", "yaml"}


def test_without_docstrings_it_refuses_to_run(process: Process) -> None:
    """Findings would have no meaning."""
    ran = process("-OO", "-m", "zktop", "check")

    assert ran.returncode == 2
    assert ran.stderr == (
        "zktop explains findings with docstrings, which python -OO drops: run it without -OO\n"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_no_headless_command_imports_textual(process: Process, name: str) -> None:
    """Not even when it is only looked up, as for its help."""
    if name not in DRAWS:
        assert not loaded_by(process, f"import {module_of(name)}") & {"textual", "rich"}


INCIDENT = Path(__file__).parents[2] / "docs" / "incident.zktop"
FROM_FILE = ("--from", str(INCIDENT))
HEADLESS = [
    ("check", *FROM_FILE, "--at", "+30s"),
    ("snapshot", *FROM_FILE, "--at", "+30s"),
    ("events", *FROM_FILE),
    ("metrics", *FROM_FILE),
    ("report", *FROM_FILE, "-o", "{tmp}/r.html"),
    ("import", "{tmp}", "-o", "{tmp}/r.zktop"),
    ("layouts", "lock-0000000007"),
    ("schema", "config"),
    ("scene", "--list"),
    ("contend", "--list"),
    ("record", "--hosts", "127.0.0.1:1", "-o", "{tmp}/r.zktop", "--connect-timeout", "1s"),
]
ENDS = {"check": ExitCode.FINDINGS, "record": ExitCode.NO_CONNECTION}


def loaded_by_command(process: Process, words: Sequence[str], ends: int) -> set[str]:
    """What a command loads that ends with this code: with another one, it did nothing."""
    code = "from zktop.cli.main import main\n"
    code += f"try: main({[*words]})\nexcept SystemExit as end: assert end.code == {ends}, end.code"
    return loaded_by(process, code)


@pytest.mark.parametrize("words", HEADLESS, ids=lambda words: words[0])
def test_no_headless_command_loads_textual(
    process: Process, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Nor when it runs; `info`, `config validate` and `--show-config` check the UI's settings."""
    (tmp_path / "log.1").write_bytes(story().bytes())
    line = [word.replace("{tmp}", str(tmp_path)) for word in words]
    ends = ENDS.get(words[0], ExitCode.FINE)

    assert not loaded_by_command(process, line, ends) & {"textual", "rich"}


@pytest.mark.parametrize(
    "words",
    [
        ("record", "-o", "{tmp}/r.zktop", "--duration", "1s"),
        ("snapshot",),
        ("free", "/locks/a"),
    ],
    ids=lambda words: words[0],
)
def test_no_headless_command_loads_textual_while_it_reads_a_server(
    process: Process, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """There is a lock that is held, so that there is something to say."""
    with sandbox_server() as server, kazoo_client(server.address) as client:
        client.create("/locks/a/lock-", ephemeral=True, sequence=True, makepath=True)
        line = [
            word.replace("{tmp}", str(tmp_path)) for word in (*words, "--hosts", server.address)
        ]
        loaded = loaded_by_command(process, line, ExitCode.FINE)

    assert "kazoo" in loaded
    assert not loaded & {"textual", "rich"}


def test_the_model_imports_no_io(process: Process) -> None:
    """None of its modules imports more than msgspec does."""
    everything = (
        "import importlib, pkgutil, zktop.model\n"
        "for module in pkgutil.walk_packages(zktop.model.__path__, 'zktop.model.'):\n"
        "    importlib.import_module(module.name)"
    )

    doors = {"kazoo", "textual", "rich", "click", "yaml", "asyncio", "threading", "socket"}
    doors |= {"subprocess", "select", "ssl", "selectors"}
    base = loaded_by(process, "import msgspec, re, collections, functools, heapq, hashlib, bisect")
    loaded = loaded_by(process, everything)
    assert "zktop.model.world.world" in loaded
    assert not (loaded - base) & doors
    assert not {name for name in loaded if name.startswith("zktop.")} & {
        "zktop.cli.main",
        "zktop.config",
        "zktop.zk",
        "zktop.output",
        "zktop.demo",
        "zktop.sandbox",
    }


def test_python_m_zktop_is_zktop(process: Process) -> None:
    """Its usage line names it `zktop`."""
    ran = process("-m", "zktop", "--help")

    assert ran.returncode == 0
    assert ran.stdout.startswith("Usage: zktop [OPTIONS]")


@pytest.mark.parametrize("args", [["layouts"], ["schema", "config"], ["--help"]])
def test_a_closed_pipe_is_no_error(process: Process, args: list[str]) -> None:
    """As in `zktop layouts | head -1`."""
    reader, writer = os.pipe()
    os.close(reader)

    ran = process("-m", "zktop", *args, stdout=writer)

    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("args", [["layouts"], ["--help"]])
def test_a_full_disk_is_a_sentence(process: Process, args: list[str]) -> None:
    """The failed write is reported."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ran = process("-m", "zktop", *args, stdout=full)

    assert (ran.returncode, ran.stderr) == (
        2,
        "Reading or writing failed: No space left on device.\n",
    )


@pytest.mark.parametrize(
    ("args", "code"),
    [(["check", "--hosts", "127.0.0.1:1", "--connect-timeout", "1s"], 3), (["x"], 2)],
)
def test_an_error_that_cannot_be_printed_keeps_its_exit_code(
    process: Process, args: list[str], code: int
) -> None:
    """Or a full disk would be the verdict of `zktop check`."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ran = process("-m", "zktop", *args, stderr=full)

    assert (ran.returncode, ran.stdout) == (code, "")


def test_errors_never_go_to_stdout(process: Process) -> None:
    """Not even if stderr was closed when zktop started."""
    ran = process(
        "-c",
        "import os, sys; os.close(2)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'zktop', 'x'])",
    )

    assert (ran.returncode, ran.stdout) == (2, "")


def test_a_terminal_without_utf_8_gets_escapes(process: Process) -> None:
    """A locale without UTF-8 is no error."""
    ran = process(
        "-c",
        "import sys; sys.stderr.reconfigure(encoding='ascii')\n"
        "from zktop.cli.main import main; main(['\\x1b'])",
    )

    assert (ran.returncode, ran.stderr) == (
        2,
        'There is no command "\\u241b". See `zktop --help`.\n',
    )


def test_an_argument_that_is_not_utf_8_is_cleaned(process: Process) -> None:
    """An argument may be any bytes."""
    ran = process("-m", "zktop", os.fsdecode(b"\xff"))

    assert ran.returncode == 2
    assert ran.stderr == 'There is no command "\ufffd". See `zktop --help`.\n'


def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    """It prints nothing."""
    pipe = tmp_path / "config.yaml"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "zktop", "--config", str(pipe), "--show-config"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with running:
        with pipe.open("wb"):  # opens when the other side reads
            running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)  # the closed pipe ends a read that missed it

    assert (running.returncode, out, err) == (130, b"", b"")
