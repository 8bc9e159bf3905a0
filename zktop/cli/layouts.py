"""`zktop layouts`: the known lock layouts, and which of them match given names."""

from collections.abc import Sequence
from textwrap import wrap

import click

from zktop.cli.common.options import config_options
from zktop.cli.common.output import WIDTH, narrate, put
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides
from zktop.config.suggest import quoted
from zktop.errors import NothingToLookAtError
from zktop.model.layouts.layout import Layout, parse_name
from zktop.model.locks.shapes import LAYOUTS

_INDENT = 4 * " "
_NO_LOCK_NAME = "no lock would be named like this"
_EXAMPLES = """\b
Examples:
  zktop layouts
  zktop layouts lock-0000000007 lock-0000000012
  zktop layouts --config our-locks.yaml job-7-r-0000000007

In patterns, {SEQ} is the number that ZooKeeper appends, {U36} a uuid with dashes
and {H32} one of 32 hexadecimal digits.
"""


@click.command("layouts", epilog=_EXAMPLES)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@config_options
def command(overrides: Overrides, names: tuple[str, ...]) -> None:
    """List the lock layouts that zktop knows, the config's own first.

    With names of znodes, list only the layouts that match them, best match first.
    The exit code is 4 if there is none.
    """
    layouts = effective_config(overrides).config.layouts + LAYOUTS
    chosen = matching(layouts, names) if names else layouts
    unknown = [name for name in names if not any(parse_name(layout, name) for layout in chosen)]
    if names and not chosen:
        raise NothingToLookAtError(
            f"No known layout matches {_join_quoted(unknown)}. "
            "Describe your own under `layouts` in the config file."
        )
    for layout in chosen:
        _show(layout)
    if unknown:
        narrate(f"No known layout matches {_join_quoted(unknown)}.")


def matching(layouts: Sequence[Layout], names: Sequence[str]) -> list[Layout]:
    """Return the layouts that match any of the names: by number of matches, guesses last.

    A layout that matches any name at all is left out: names do not identify it.

    >>> [layout.name for layout in matching(LAYOUTS, ["lock-0000000007", "lock-0000000012"])]
    ['plain-lock', 'named-sequence']
    """
    selective = [layout for layout in layouts if parse_name(layout, _NO_LOCK_NAME) is None]
    counted = [
        (sum(parse_name(layout, name) is not None for name in names), layout)
        for layout in selective
    ]
    matches = [pair for pair in counted if pair[0]]
    return [layout for _, layout in sorted(matches, key=lambda pair: (-pair[0], pair[1].guessed))]


def _show(layout: Layout) -> None:
    guess = "(a guess)" if layout.guessed else ""
    put(f"{layout.name:26} {layout.means:10}  watches {layout.watch:12} {guess}".rstrip())
    for text in (layout.about or "from the config file", layout.pattern):
        for line in wrap(text, WIDTH - len(_INDENT), break_on_hyphens=False):
            put(_INDENT + line)


def _join_quoted(names: Sequence[str]) -> str:
    return " or ".join(map(quoted, names))
