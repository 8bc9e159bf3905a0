"""`zktop free`: print the ways to free a lock, and with --yes do one of the two safe ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click
from msgspec.structs import replace

from zktop.app.connection_settings import demo_connection
from zktop.app.live_run import LiveRun
from zktop.app.node_writer import NodeWriter
from zktop.app.zkcli_settings import zkcli_of
from zktop.cli.common.options import TypedWords, connection_options, typed_words
from zktop.cli.common.output import put, put_json
from zktop.cli.common.sources import below_chroot, live_run_of, print_notes
from zktop.cli.snapshot import first_report
from zktop.config.join_sources import effective_config
from zktop.config.keys_and_defaults import Config
from zktop.config.overrides import Overrides
from zktop.errors import ExitCode, NotFreedError, NothingToLookAtError
from zktop.model.facts import Stat
from zktop.model.format import several
from zktop.model.freeing.deeds import Deed, deletion, request_to_release
from zktop.model.freeing.free_plan import FreePlan, free_plan
from zktop.model.lock_tracker import why_no_lock
from zktop.model.lock_view import LockView
from zktop.model.report import Report
from zktop.output.schema import FreedJson
from zktop.output.ways_to_free import (
    done_lines,
    free_json,
    free_lines,
    freed_json,
    not_done,
    not_freed,
)

PATIENCE_S: Final = 10.0  # how long to wait for the asked client, or for the deletion
_EXAMPLES = """\b
Examples:
  zktop free /locks/import --hosts zk1:2181
  zktop free /locks/import --node lock-0000000007
  zktop free /locks/import --node lock-0000000007 --yes
  zktop free /locks/orders --revoke --yes

Exit codes: 0 fine, 1 refused or not released, 2 wrong usage, 3 no connection,
4 no such lock.
"""


@click.command("free", epilog=_EXAMPLES)
@click.argument("lock", metavar="LOCK")
@click.option("--node", metavar="NAME", help="Delete this node, which no session owns.")
@click.option("--revoke", is_flag=True, help="Ask the holders to release: Curator only.")
@click.option("--yes", is_flag=True, help="Do it. Otherwise --node and --revoke change nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Output format.",
)
@connection_options
def command(
    *, overrides: Overrides, lock: str, node: str | None, revoke: bool, yes: bool, form: str
) -> int:
    """Print what blocks a LOCK and every way to free it, with commands to copy.

    Each way says what it costs and what the client that loses the lock will believe. zktop itself
    does only two, after a second look: --node deletes a node that no session owns, --revoke asks
    holders whose Curator locks are revocable. Then it reads the lock again.
    """
    if node and revoke:
        raise click.UsageError("--node and --revoke exclude each other.")
    config = effective_config(overrides).config
    path = _checked(lock, config, is_acting=bool(node or revoke), yes=yes)
    with _looking_at(config, path) as (run, report):
        print_notes(run)
        plan = free_plan(report, path, zkcli_of(config))
        view = report.view(path)
        if plan is None or view is None:
            sentences = f"There is no lock at {path}.", *below_chroot([path], run.chroot)
            raise NothingToLookAtError(" ".join(sentences))
        if view.lock.is_not_a_lock:
            why = why_no_lock(view.lock.layout, "name one of them")
            raise NothingToLookAtError(f"There is no lock at {path}: {why}.")
        deed = _deed(report, view, node, revoke=revoke)
        done = None
        if deed is not None:
            done = _perform(run, deed, config) if yes else not_done(deed)
    _print(plan, done, form, typed_words(overrides))
    return ExitCode.NOT_FREED if done and done.outcome == "asked" else ExitCode.FINE


def _checked(lock: str, config: Config, *, is_acting: bool, yes: bool) -> str:
    """Return the path without a trailing slash. Refuse invalid arguments."""
    if not lock.startswith("/") or "*" in lock:
        raise click.UsageError(f"LOCK is the path of one lock, like /locks/orders, not {lock!r}.")
    if yes and not is_acting:
        raise click.UsageError("--yes needs --node or --revoke.")
    if yes and config.demo.allow == "never":
        raise click.UsageError("--read-only, or `demo.allow: never` in the config, forbids --yes.")
    return lock.rstrip("/") or "/"


@contextmanager
def _looking_at(config: Config, path: str) -> Iterator[tuple[LiveRun, Report]]:
    """Read all locks, because deadlocks span several. If this one is not found, read it alone."""
    settings = config.settings()
    if settings.roots and settings.root_of(path) is None:
        config = replace(config, roots=(*config.roots, path))
    with live_run_of(config) as run:
        report = first_report(run)
        if config.roots or report.view(path) is not None:
            yield run, report
            return
    with live_run_of(replace(config, roots=(path,))) as run:
        yield run, first_report(run)


def _print(plan: FreePlan, done: FreedJson | None, form: str, typed: TypedWords) -> None:
    content = free_json(plan, done)
    if form == "json":
        put_json(content)
        return
    all_lines = free_lines(content, *typed, knows_waiters=plan.knows_waiters)
    for line in done_lines(done, content) if done else all_lines:
        put(line)


def _deed(report: Report, view: LockView, node: str | None, *, revoke: bool) -> Deed | None:
    """Return what to do, if anything. Raise NotFreedError if it is refused."""
    if node is None and not revoke:
        return None
    if node is None:
        deed_or_refusal = request_to_release(report, view)
    else:
        deed_or_refusal = deletion(report, view, node)
    if isinstance(deed_or_refusal, str):
        raise NotFreedError(deed_or_refusal)
    return deed_or_refusal


def _perform(run: LiveRun, deed: Deed, config: Config) -> FreedJson:
    """Do the deed, then wait until `run`, which only reads, has seen the effect."""
    with NodeWriter(demo_connection(config)) as writer:
        act = writer.delete if deed.kind == "delete-node" else writer.ask_to_release
        for done, (path, stat) in enumerate(deed.targets):
            try:
                act(path, stat)
            except NotFreedError as error:
                if not done:
                    raise
                before = several(deed.paths[:done])
                raise NotFreedError(f"{error} Before that, zktop wrote to {before}.") from error
    for report in run.reports(PATIENCE_S):
        run.raise_if_lost()
        if not any(_is_there(report, path, stat) for path, stat in deed.targets):
            return freed_json(deed, report)
    return not_freed(deed)


def _is_there(report: Report, path: str, stat: Stat) -> bool:
    """Return whether a node still exists. A newer node with the same name does not count."""
    node = report.world.node(path)
    return node is not None and (node.stat is None or node.stat.czxid == stat.czxid)
