"""The man page says what --help says; `make man` writes it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from zktop.cli.main import zktop

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "man" / "zktop.1"


def test_the_page_is_that_of_this_version(tmp_path: Path) -> None:
    """If this fails, run `make man`."""
    written = tmp_path / "zktop.1"
    subprocess.run([sys.executable, ROOT / "docs" / "man_page.py", written], check=True)

    assert written.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def plain(text: str) -> str:
    """The words of a text, with one space between them."""
    return " ".join(text.split())


def commands(group: click.Group, context: click.Context) -> list[click.Context]:
    """The group, and all commands below it."""
    found = [context]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        found += commands(command, inner) if isinstance(command, click.Group) else [inner]
    return found


@pytest.mark.parametrize(
    "context",
    commands(zktop, click.Context(zktop, info_name="zktop", **zktop.context_settings)),
    ids=lambda c: c.command_path,
)
def test_the_page_has_all_of_the_help(context: click.Context) -> None:
    """Every option with its explanation, the description, and the examples."""
    roff = PAGE.read_text(encoding="utf-8")
    lines = (
        re.sub(r"\\(-|&|fB|fR)", lambda m: m[1].strip("&fBR"), line) for line in roff.split("\n")
    )
    page = plain("\n".join(line for line in lines if not re.match(r"\.[A-Z]{2} ?$", line)))
    page = re.sub(r" \.(PP|nf|fi|TP)(?= )", "", page).replace("\\e", "\\")

    command = context.command
    for text in (command.help, command.epilog):
        assert plain((text or "").replace("\b", "")) in page
    for each in command.get_params(context):
        names, about = each.get_help_record(context) or ("", "")
        assert not about or plain(f"{names} {about}") in page


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
def test_the_page_is_valid_roff() -> None:
    """Without a warning."""
    ran = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-K", "utf-8", PAGE],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stderr == ""
