"""Where a command's reports come from: a live ensemble, or a recording of one."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from zktop.commands.connection import A_FILE, Wanted
from zktop.commands.garbage import uncollected
from zktop.commands.interrupts import Interrupts
from zktop.commands.output import narrate
from zktop.commands.times import MOMENT, At

if TYPE_CHECKING:
    from pathlib import Path

    from zktop.commands.replayed import Replay
    from zktop.commands.watch import Watch
    from zktop.model.facts import Millis

FROM = click.option(
    "--from",
    "file",
    metavar="FILE",
    type=A_FILE,
    help="Read a recording instead of an ensemble.",
)
AT = click.option(
    "--at",
    metavar="TIME",
    type=MOMENT,
    help="As it was then: 2026-01-31T12:00:00Z, or +90s from the beginning.",
)


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--from` and `--at`; the second makes no sense without the first."""

    @functools.wraps(command)
    def with_options(*, file: str | None, at: At | None, **values: Any) -> Any:
        if at is not None and file is None:
            raise click.UsageError("--at needs --from: only a recording knows what was.")
        return command(file=file, at=at, **values)

    return FROM(AT(with_options))


@contextmanager
def watching(wanted: Wanted, sample_every: float | None = None) -> "Iterator[Watch]":
    """Watch the ensemble that was asked for, until the block ends or somebody interrupts it."""
    with uncollected():
        from zktop.commands.access import access_of, plan_of  # noqa: PLC0415  a recording needs no kazoo
        from zktop.commands.watch import Watch  # noqa: PLC0415

        config = wanted.effective().config
        plan = plan_of(config, sample_every)
        watch = Watch(access_of(config), plan, config.settings())
    interrupts = Interrupts()
    watch.waiting = interrupts.waiting
    with interrupts.obeyed(), watch:
        yield watch


def replay(
    wanted: Wanted, file: "str | Path", at: At | None = None
) -> "tuple[Replay, Millis | None]":
    """Open a recording, and find the moment in it that was asked for.

    It is judged as the live run judged it, unless the command line says how to judge.
    """
    from pathlib import Path  # noqa: PLC0415  a live run needs none

    from zktop.commands.replayed import Replay  # noqa: PLC0415

    settings = wanted.effective().config.settings() if _says_how_to_judge(wanted) else None
    found = Replay(Path(file), settings)
    return found, at.since(found.begin) if at else None


def tell_notes(notes: tuple[str, ...]) -> None:
    """Say on stderr what is followed less closely than it should be."""
    for note in notes:
        narrate(f"note: {note}")


def _says_how_to_judge(wanted: Wanted) -> bool:
    asked = wanted.asked
    has_file = asked.file is not None and asked.file.is_typed
    has_roots = any(given.key == "roots" for given in asked.settings)
    return has_file or has_roots or asked.layouts is not None
