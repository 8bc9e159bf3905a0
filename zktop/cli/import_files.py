"""`zktop import`: make a recording from ZooKeeper's own files, after an incident."""

from os.path import realpath
from pathlib import Path
from typing import IO

import click

from zktop.app.import_files import ImportPlan, import_files
from zktop.cli.common.options import REDACT, import_options, window_options
from zktop.cli.common.output import ProgressLine, narrate
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides
from zktop.errors import cannot_write
from zktop.model.facts import Millis
from zktop.model.format import count, iso
from zktop.recording import ImportSummary
from zktop.txnlog.data_files import is_data_name

_EXAMPLES = """\b
Examples:
  zktop import /var/lib/zookeeper/version-2 -o incident.zktop
  zktop import zk1.tar.gz zk2.tar.gz zk3.tar.gz -o incident.zktop
  zktop import version-2 -o incident.zktop --since 2026-01-31T11:50:00Z
  zktop replay incident.zktop
"""


@click.command("import", epilog=_EXAMPLES)
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="File to write; an existing one is replaced.",
)
@window_options
@click.option(
    "--chroot", default="", metavar="PATH", help="Import only the znodes below this path."
)
@REDACT
@import_options
def command(
    overrides: Overrides,
    paths: tuple[Path, ...],
    output: Path,
    window: tuple[Millis | None, Millis | None],
    chroot: str,
    *,
    redact: bool,
) -> None:
    """Make a recording from transaction logs and snapshots, as if zktop had run at that time.

    PATH is a log, a snapshot, the folder version-2 of a server, or a tar of it. Give the files of
    several members to fill the gaps of one. An audit log, if there is one, adds the address and
    the user of each session. Watches, connections and reads are not in these files, so the rules
    that need them are listed as rules without data.
    """
    _refuse_input(output, paths)
    plan = ImportPlan(
        paths=paths,
        settings=effective_config(overrides).config.settings(),
        since=window[0],
        until=window[1],
        chroot=_chroot(chroot),
        redact=redact,
    )
    progress = ProgressLine()

    def show(transactions: int, at: Millis) -> None:
        progress.show(f"{transactions:,} transactions, up to {iso(at)}")

    try:
        summary = import_files(plan, lambda: _opened(output), show)
    except OSError as error:
        raise cannot_write(output, error) from error
    finally:
        progress.end()
    for note in summary.notes:
        narrate(f"note: {note}")
    narrate(f"{output}: {_summary(summary)}")


def _refuse_input(output: Path, paths: tuple[Path, ...]) -> None:
    """Refuse to overwrite a file of ZooKeeper, which may be the only evidence."""
    is_input = is_data_name(output.name) or realpath(output) in map(realpath, paths)
    if is_input and output.exists():
        problem = "is a ZooKeeper file, or named like one: write to another file."
        raise click.UsageError(f"{output} {problem}")


def _opened(output: Path) -> IO[bytes]:
    try:
        return output.open("wb")
    except OSError as error:
        raise cannot_write(output, error) from error


def _chroot(path: str) -> str:
    chroot = path.rstrip("/")
    if chroot and not chroot.startswith("/"):
        raise click.UsageError(f"--chroot takes a path that begins with /, not {path!r}.")
    return chroot


def _summary(summary: ImportSummary) -> str:
    """Return what was imported, and how much of it the servers' digests prove."""
    number = count(summary.transactions, "transaction")
    members = count(len(summary.members), "member")
    if not summary.transactions:
        when = iso(summary.at) if summary.at else "an unknown time"
        return f"no transaction of this time was found; the state of {members} at {when}"
    read = f"{number} of {members} from {iso(summary.first_at)} to {iso(summary.at)}"
    if summary.with_digest:
        return f"{read}; the servers' digests prove {summary.proven} of {summary.with_digest}"
    return f"{read}; the servers wrote no digests that could prove them"
