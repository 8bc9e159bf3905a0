"""Write the man page, docs/man/zktop.1, from the help of the program and of every command.

`python docs/man_page.py [FILE]`. An option that means the same as in `zktop --help` is explained
once, in OPTIONS; the sections of the commands only name it.
"""

import inspect
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click

from zktop.cli.common.options import OPTIONS
from zktop.cli.main import zktop
from zktop.model.findings.catalogue import RULES

PAGE = Path(__file__).parent / "man" / "zktop.1"
NO_PARAGRAPH = "\b"  # click: the next lines keep their line breaks
CONNECTION = [each.flag for each in OPTIONS]  # in the order of `--help`
EXIT_CODES = {
    "0": "no problem",
    "1": "check: findings that count (--fail-on, --min-confidence); free: refused, or asked but "
    "not released in 10 s; contend: not acquired, or the work failed",
    "2": "invalid usage or config",
    "3": "no connection, or connection lost and not restored in time; check --from: nothing is "
    "known of that time",
    "4": "nothing to look at: no lock (check, snapshot, free) or none that can be read (check), "
    "no layout with this name (layouts), nothing seen in this time (report, --at)",
    "130": "interrupted",
}
VARIABLES = {
    "ZKTOP_HOSTS, ZKTOP_CONFIG": "Like --hosts and --config, which override them.",
    "XDG_CONFIG_HOME, XDG_STATE_HOME": "The folders that FILES has as ~/.config, ~/.local/state.",
    "NO_COLOR, ZKTOP_ASCII": "If set, the terminal UI has no colours, or draws with ASCII only.",
}
FILES = {
    "~/.config/zktop/config.yaml": "The settings; `zktop config init` writes it.",
    "~/.config/zktop/themes/": "Themes of your own.",
    "~/.local/state/zktop/ui.log": "Errors of the terminal UI.",
}


def page() -> str:
    """Return the man page of the program and all its commands, in roff."""
    context = click.Context(zktop, info_name="zktop", **zktop.context_settings)
    return "\n".join(_lines(context)) + "\n"


def _lines(context: click.Context) -> Iterator[str]:
    yield f'.TH ZKTOP 1 "" "zktop {version("zktop")}" "User Commands"'
    yield from (".nh", ".ad l")  # hyphens in option names must not break
    yield ".SH NAME"
    yield _roff(f"zktop - {_paragraphs(zktop.help)[0].rstrip('.')}")
    yield from (".SH SYNOPSIS", ".nf", *map(_roff, _usages(context)), ".fi")
    yield ".SH DESCRIPTION"
    yield from _text(zktop.help)
    yield from _text(zktop.epilog)
    yield ".SH OPTIONS"
    yield from _list(_records(context))
    yield ".SH COMMANDS"
    shared = set(_records(context))
    for command in _subcommands(context):
        yield from _command(command, shared)
    yield ".SH FINDINGS"
    yield _roff("What --fail-on takes, and what check, JSON and metrics name:")
    yield from _list([(f"{rule.id}, {rule.name}", rule.means) for rule in RULES])
    for title, entries in (
        ("EXIT STATUS", EXIT_CODES),
        ("ENVIRONMENT", VARIABLES),
        ("FILES", FILES),
    ):
        yield f".SH {title}"
        yield from _list([*entries.items()])


def _usages(context: click.Context) -> Iterator[str]:
    yield "zktop [OPTIONS]"
    for each in _subcommands(context):
        yield " ".join((each.command_path, *each.command.collect_usage_pieces(each)))


def _subcommands(context: click.Context) -> Iterator[click.Context]:
    """Yield a context for each command that does something, those of groups included."""
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield inner
        if isinstance(command, click.Group):
            yield from _subcommands(inner)


def _command(context: click.Context, shared: set[tuple[str, str]]) -> Iterator[str]:
    command, records = context.command, _records(context)
    yield f'.SS "{_roff(context.command_path)}"'
    yield from _text(command.help)
    yield from _list([record for record in records if record not in shared])
    yield from _text(
        _also([names.split()[0] for names, about in records if (names, about) in shared])
    )
    yield from _text(command.epilog)


def _also(flags: list[str]) -> str:
    """Return the sentence about options that OPTIONS explains."""
    others = [flag for flag in flags if flag != "-h,"]
    if set(others) >= set(CONNECTION):
        others = [flag for flag in others if flag not in CONNECTION]
        others.insert(0, f"{CONNECTION[0]} to {CONNECTION[-1]}")
    return f"Options explained in OPTIONS: {', '.join(others)}." if others else ""


def _records(context: click.Context) -> list[tuple[str, str]]:
    """Return the options as `--help` prints them: names, and what they do."""
    params = context.command.get_params(context)
    records = [each.get_help_record(context) for each in params]
    return [record for record in records if record and record[1]]


def _list(entries: list[tuple[str, str]]) -> Iterator[str]:
    for names, about in entries:
        yield from (".TP", rf"\fB{_roff(names)}\fR", _roff(about))


def _text(text: str | None) -> Iterator[str]:
    for paragraph in _paragraphs(text):
        if paragraph.startswith(NO_PARAGRAPH):
            lines = paragraph.removeprefix(NO_PARAGRAPH).strip("\n").splitlines()
            yield from (".PP", ".nf", *map(_roff, lines), ".fi")
        else:
            yield from (".PP", _roff(" ".join(paragraph.split())))


def _paragraphs(text: str | None) -> list[str]:
    return [part for part in inspect.cleandoc(text or "").split("\n\n") if part.strip()]


def _roff(text: str) -> str:
    r"""Escape a line: `\`, `-`, and a control character at its beginning.

    >>> print(_roff(".x --y"))
    \&.x \-\-y
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.parent.mkdir(exist_ok=True)
    target.write_text(page(), encoding="utf-8")
