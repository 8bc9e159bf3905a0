"""The units in docs/systemd start commands that exist."""

import re
import shlex
from pathlib import Path

import click
import pytest

from zktop.cli.main import zktop

UNITS = sorted((Path(__file__).parents[2] / "docs" / "systemd").glob("*.service"))
STARTS = re.compile(r"^Exec\w+=(.*)", re.MULTILINE)
COMMANDS = [
    pytest.param(shlex.split(line), id=f"{unit.stem}-{index}")
    for unit in UNITS
    for index, line in enumerate(STARTS.findall(unit.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_stopped_unit_has_not_failed(unit: Path) -> None:
    """The commands end with 130 when systemd stops them."""
    assert "SuccessExitStatus=130" in unit.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", COMMANDS)
def test_a_unit_starts_a_command_with_options_that_it_has(words: list[str]) -> None:
    """Each word is understood; nothing runs."""
    command: click.Command = zktop
    context = click.Context(zktop)
    assert words.pop(0).endswith("/bin/zktop")
    while isinstance(command, click.Group):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found

    with command.make_context(command.name, words, parent=context) as parsed:
        assert parsed.params
