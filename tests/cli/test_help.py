"""The help is complete and has examples, and the examples work."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from zktop.cli.main import COMMANDS
from zktop.cli.main import zktop as program

LAYOUT = "layouts: [{ name: our-jobs, pattern: '^job-(?P<id>.+)-r-{SEQ}$' }]"


def command(name: str) -> click.Command:
    """The command of this name, or the program itself."""
    found = program.get_command(click.Context(program), name) if name else program
    assert found is not None
    return found


NAMES = ["", *COMMANDS]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_mentions_every_option(
    zktop: Callable[..., tuple[int, str, str]], name: str, flag: str
) -> None:
    """On stdout, in 80 columns, with an example."""
    code, out, err = zktop(*filter(None, [name]), flag)

    assert (code, err) == (0, "")
    assert all(
        option in out
        for param in command(name).params
        for option in param.opts[:1]
        if option[0] == "-"
    )
    assert "Examples:" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "server"), [("demo", "its own sandbox server"), ("scene", "127.0.0.1:2181")]
)
def test_help_says_which_server_it_is_without_hosts(
    zktop: Callable[..., tuple[int, str, str]], name: str, server: str
) -> None:
    """The demo starts its own."""
    out = " ".join(zktop(name, "--help")[1].split())

    assert f"Ensemble; default: {server}." in out
    assert out.count("[env var: ZKTOP_HOSTS]") == 1


EXAMPLES = dict.fromkeys(
    line.strip().split(" > ")[0].split(" | ")[0]
    for name in NAMES
    for line in (command(name).epilog or "").splitlines()
    if line.startswith("  zktop ") and "COMMAND" not in line
)
NEEDS_NO_SERVER = ("layouts", "schema", "info")


def works_anywhere(example: str) -> bool:
    """Whether it needs neither a server nor a file."""
    return shlex.split(example)[1] in NEEDS_NO_SERVER or "--show-config" in example


@pytest.mark.parametrize("example", [one for one in EXAMPLES if not works_anywhere(one)])
def test_the_examples_are_understood(example: str) -> None:
    """Examples that need a server are parsed only."""
    args = shlex.split(example)[1:]
    name = args.pop(0) if args[0] in NAMES else ""

    with command(name).make_context(name or "zktop", args) as context:
        assert context.params or isinstance(context.command, click.Group)


@pytest.mark.parametrize("example", [one for one in EXAMPLES if works_anywhere(one)])
def test_the_examples_work(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path, example: str
) -> None:
    """As they are in the help."""
    (tmp_path / "our-locks.yaml").write_text(LAYOUT, encoding="utf-8")

    code, out, err = zktop(*shlex.split(example)[1:])

    assert (code, err) == (0, "")
    assert out


def test_the_list_of_commands_is_the_table(zktop: Callable[..., tuple[int, str, str]]) -> None:
    """In its order, with its summaries, and each entry has a command."""
    _, out, _ = zktop("--help")

    listed = out.partition("Commands:\n")[2]
    places = [listed.index(f"  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert [command(name).name for name in COMMANDS] == [*COMMANDS]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("zktop lay", {"layouts"}),
        ("zktop scene phil", {"philosophers"}),
        ("zktop demo --scene ab", {"ab-ba"}),
        ("zktop contend kazoo-s", {"kazoo-semaphore"}),
        ("zktop contend poll /zktop-demo/a --work o", {"oversleep"}),
        ("zktop snapshot --format m", {"mermaid"}),
        ("zktop schema ev", {"events"}),
        ("zktop config v", {"validate"}),
    ],
)
def test_shells_complete(
    monkeypatch: pytest.MonkeyPatch,
    zktop: Callable[..., tuple[int, str, str]],
    shell: str,
    line: str,
    offered: set[str],
) -> None:
    """Commands, scenes, recipes and choices, as the shell requests them."""
    words = line.split()
    monkeypatch.setenv("_ZKTOP_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))

    _, out, _ = zktop()

    assert {word for word in re.split(r"[\s,]+", out) if word in offered} == offered
    assert "Traceback" not in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(
    monkeypatch: pytest.MonkeyPatch, zktop: Callable[..., tuple[int, str, str]], shell: str
) -> None:
    """With the command from the help."""
    _, found, _ = zktop("--help")
    monkeypatch.setenv("_ZKTOP_COMPLETE", f"{shell}_source")

    code, script, _ = zktop()

    assert f"{shell}_source" in found
    assert code == 0
    assert f"_ZKTOP_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize("option", ["--config", "--tls-ca", "--tls-cert", "--tls-key"])
def test_files_are_completed(option: str) -> None:
    """By the shell itself."""
    (parameter,) = (one for one in program.params if option in one.opts)
    context = click.Context(program)

    assert [item.type for item in parameter.shell_complete(context, "")] == ["file"]
