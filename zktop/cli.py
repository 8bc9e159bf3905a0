"""The program: how it begins and how it ends; what it does is in `zktop.commands`."""

import os
import sys
from typing import TYPE_CHECKING

from zktop.commands.garbage import uncollected

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_COMPLETE = "_ZKTOP_COMPLETE"
_TOOLS = range(6)  # that `sys.monitoring` has a number for


def main(args: "Sequence[str] | None" = None) -> "NoReturn":
    """Run the command line, the program's own unless another is given; never returns."""
    with uncollected():
        from zktop.commands import line  # noqa: PLC0415  click makes much that stays

    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="backslashreplace")  # a terminal may know less than UTF-8
    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415  rarely needed

        sys.exit(shell_complete(line.zktop, {}, "zktop", _COMPLETE, instruction))
    code = line.run(sys.argv[1:] if args is None else list(args))
    if args is None and not _is_measured():
        _end(code)
    sys.exit(code)


def _is_measured() -> bool:
    """Tell whether somebody follows this program who has something to tell in the end."""
    monitoring = getattr(sys, "monitoring", None)  # since 3.12
    tools = [monitoring.get_tool(number) for number in _TOOLS] if monitoring else []
    return any((sys.gettrace(), sys.getprofile(), *tools))


def _end(code: int) -> "NoReturn":
    """End at once: everything is closed, and what is left the system takes back faster.

    The interpreter would look through all memory, and free it piece by piece, beside threads of
    the client that may still be at work.
    """
    from contextlib import suppress  # noqa: PLC0415  as `typing`

    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):  # nobody listens any more, and that was told while there was one
            stream.flush()
    os._exit(code)
