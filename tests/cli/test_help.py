"""The help is complete, has examples, and the examples work."""

import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from zktop import cli
from zktop.commands import COMMANDS

LAYOUT = "layouts: [{ name: our-jobs, pattern: '^job-(?P<id>.+)-r-{SEQ}$' }]"


def command(name: str) -> click.Command:
    """Give the command of this name, or the one at the top."""
    found = cli.zktop.get_command(click.Context(cli.zktop), name) if name else cli.zktop
    assert found is not None
    return found


NAMES = ["", *(entry.name for entry in COMMANDS)]


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


EXAMPLES = dict.fromkeys(
    line.strip().split(" > ")[0].split(" | ")[0]
    for name in NAMES
    for line in (command(name).epilog or "").splitlines()
    if line.startswith("  zktop ") and "COMMAND" not in line
)
NEEDS_NO_SERVER = ("layouts", "schema")


def works_anywhere(example: str) -> bool:
    """Whether it needs neither a server nor a file of the user's."""
    return shlex.split(example)[1] in NEEDS_NO_SERVER or "--show-config" in example


@pytest.mark.parametrize("example", [one for one in EXAMPLES if not works_anywhere(one)])
def test_the_examples_are_understood(example: str) -> None:
    """Those that need a server are parsed, every option of them."""
    name, *args = shlex.split(example)[1:]

    with command(name).make_context(name, args) as context:
        assert context.params


@pytest.mark.parametrize("example", [one for one in EXAMPLES if works_anywhere(one)])
def test_the_examples_work(
    zktop: Callable[..., tuple[int, str, str]], tmp_path: Path, example: str
) -> None:
    """As they stand in the help."""
    (tmp_path / "our-locks.yaml").write_text(LAYOUT, encoding="utf-8")

    code, out, err = zktop(*shlex.split(example)[1:])

    assert (code, err) == (0, "")
    assert out


def test_the_list_of_commands_is_the_table(zktop: Callable[..., tuple[int, str, str]]) -> None:
    """In its order, with its summaries, and each entry leads to its command."""
    _, out, _ = zktop("--help")

    listed = out.partition("Commands:\n")[2]
    places = [listed.index(f"  {entry.name} ") for entry in COMMANDS]
    assert places == sorted(places)
    assert [command(entry.name).name for entry in COMMANDS] == [entry.name for entry in COMMANDS]


def test_completion_is_told_and_works(
    monkeypatch: pytest.MonkeyPatch,
    zktop: Callable[..., tuple[int, str, str]],
) -> None:
    """The shell asks through the environment."""
    _, out, _ = zktop("--help")
    monkeypatch.setenv("_ZKTOP_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "zktop lay")
    monkeypatch.setenv("COMP_CWORD", "1")

    _, completions, _ = zktop()

    assert "_ZKTOP_COMPLETE=bash_source zktop" in out
    assert completions.split() == ["plain,layouts"]
