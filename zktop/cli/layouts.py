"""`zktop layouts`: the known lock layouts, and which of them write such names."""

from collections.abc import Sequence

import click

from zktop.cli.options import Wanted, config_options
from zktop.cli.output import narrate, put, put_folded
from zktop.config.suggest import quoted
from zktop.errors import NothingToLookAtError
from zktop.model.layouts.catalogue import LAYOUTS
from zktop.model.layouts.layout import Layout, read

_ANY_NAME = "no lock would be named like this"
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
def command(wanted: Wanted, names: tuple[str, ...]) -> None:
    """List the lock layouts that zktop knows, the config's own first.

    With the names of znodes: only the layouts whose clients write such names, best first.
    The exit code is 4 when there is none.
    """
    layouts = wanted.effective().config.layouts + LAYOUTS
    chosen = matching(layouts, names) if names else layouts
    strangers = [name for name in names if not any(read(layout, name) for layout in chosen)]
    if names and not chosen:
        raise NothingToLookAtError(
            f"No known layout writes {_listed(strangers)}. "
            "Describe one of your own under `layouts` in the config file."
        )
    for layout in chosen:
        _show(layout)
    if strangers:
        narrate(f"No known layout writes {_listed(strangers)}.")


def matching(layouts: Sequence[Layout], names: Sequence[str]) -> list[Layout]:
    """Give the layouts that read most of these names, then more; sure ones before guesses.

    Layouts that are known by more than names, and would take any, are left out.

    >>> [layout.name for layout in matching(LAYOUTS, ["lock-0000000007", "lock-0000000012"])]
    ['plain-lock', 'named-sequence']
    """
    telling = [layout for layout in layouts if read(layout, _ANY_NAME) is None]
    counted = [(sum(read(each, name) is not None for name in names), each) for each in telling]
    fitting = [pair for pair in counted if pair[0]]
    return [each for _, each in sorted(fitting, key=lambda pair: (-pair[0], pair[1].guessed))]


def _show(layout: Layout) -> None:
    guess = "(a guess)" if layout.guessed else ""
    put(f"{layout.name:26} {layout.means:10}  watches {layout.watch:12} {guess}".rstrip())
    put_folded(layout.about or "from the config file", indent=4)
    put_folded(layout.pattern, indent=4)


def _listed(names: Sequence[str]) -> str:
    return " or ".join(map(quoted, names))
