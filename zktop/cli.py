"""The program: how it begins and how it ends; what it does is in `zktop.commands`."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from zktop.commands.garbage import uncollected

_COMPLETE = "_ZKTOP_COMPLETE"


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; never returns."""
    with uncollected():
        from zktop.commands import line  # noqa: PLC0415  click makes much that stays

    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="backslashreplace")  # a terminal may know less than UTF-8
    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415  rarely needed

        sys.exit(shell_complete(line.zktop, {}, "zktop", _COMPLETE, instruction))
    code = line.run(sys.argv[1:] if args is None else list(args))
    gc.freeze()  # the interpreter would look through everything once more before it ends
    sys.exit(code)
