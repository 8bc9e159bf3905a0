"""`zktop metrics`: locks, findings and servers as metrics for Prometheus."""

import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from zktop.app.alerts.webhooks import Webhooks
from zktop.app.live_run import LiveRun
from zktop.cli.common.options import (
    DURATION,
    FILE_PATH,
    SECONDS,
    ReplayTime,
    connection_options,
    file_options,
)
from zktop.cli.common.output import narrate, put_utf8
from zktop.cli.common.sources import (
    follow,
    follow_through_refusals,
    live_run,
    open_recording,
    print_notes,
    progress_of,
)
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides
from zktop.errors import UsageError
from zktop.model.facts import SECOND_MS
from zktop.model.report import Report

SUFFIX = ".prom"  # the textfile collector of node_exporter reads no other files
EMPTY_FOLDERS_S = 60.0  # the longest wait for empty lock folders
CONFIRM_S = 1.0  # how long to wait after `settle`, so that findings are confirmed
MAX_PORT = 65_535
_EXAMPLES = """\b
Examples:
  zktop metrics --hosts zk1:2181
  zktop metrics --root '/locks/**' --listen 127.0.0.1:9141
  zktop metrics --textfile /var/lib/node_exporter/zktop.prom --every 30s
  zktop metrics --from incident.zktop
"""

Address = tuple[str, int]
OnReport = Callable[[Report], None]


class AddressParam(click.ParamType[Address]):
    """An address to listen on: HOST:PORT, or :PORT (all IPv4 addresses), or [::]:PORT (all)."""

    name = "address"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Address:
        host, colon, port = str(value).rpartition(":")
        if not colon or not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
            return self.fail(f"expected HOST:PORT, got {value!r}.", param, ctx)
        return host.strip("[]"), int(port)


@click.command("metrics", epilog=_EXAMPLES)
@click.option(
    "--listen",
    type=AddressParam(),
    metavar="HOST:PORT",
    help="Serve the metrics over HTTP until ctrl-c.",
)
@click.option(
    "--listen-cert",
    type=FILE_PATH,
    metavar="FILE",
    help="Serve HTTPS with this certificate (PEM).",
)
@click.option(
    "--listen-key", type=FILE_PATH, metavar="FILE", help="The key of the certificate (PEM)."
)
@click.option(
    "--listen-ca",
    type=FILE_PATH,
    metavar="FILE",
    help="Accept only clients with a certificate of this CA.",
)
@click.option(
    "--listen-login",
    type=FILE_PATH,
    metavar="FILE",
    help="Require the USER:PASSWORD in this file.",
)
@click.option(
    "--textfile",
    type=click.Path(path_type=Path),
    metavar="FILE.prom",
    help="Write the metrics to a file for node_exporter until ctrl-c, then delete it.",
)
@click.option(
    "--every",
    type=SECONDS,
    metavar="TIME",
    default="15s",
    show_default=True,
    help="Write the file this often.",
)
@DURATION
@click.option(
    "--top",
    type=click.IntRange(0, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of locks that get their own series: the N worst.",
)
@file_options
@connection_options
def command(
    *, overrides: Overrides, file: str | None, at: ReplayTime | None, **options: Any
) -> None:
    """Print locks, waits, findings and servers as metrics for Prometheus.

    With --listen or --textfile it runs until ctrl-c, and posts findings to the webhooks of the
    config. Otherwise it prints them once. It needs the package prometheus-client. docs/monitoring
    has alert rules and a Grafana dashboard.
    """
    _check(options, has_file=file is not None)
    exports = _exports()
    collector = exports.ReportCollector(version("zktop"), options["top"])
    if file is not None:
        recording, until = open_recording(overrides, file, at)
        with progress_of(recording):  # from the beginning, since totals count from there
            recording.last(until, collector.look, is_whole=True)
        print_notes(recording)
        put_utf8(exports.exposition(collector).rstrip())
    elif options["listen"]:
        access = _access(exports, options)
        with exports.http_server(collector, access), _webhooks(overrides) as hooks:
            narrate(f"serving {access.url}; ctrl-c ends it")
            on_report = _both(collector.look, hooks.look)
            _look_at_reports(overrides, options["duration_s"], on_report)
    elif options["textfile"]:
        textfile = exports.text_file(collector, options["textfile"])
        with textfile as write, _webhooks(overrides) as hooks:
            on_report = _both(_writing(collector.look, write, options["every"]), hooks.look)
            _look_at_reports(overrides, options["duration_s"], on_report)
    else:
        settle_s = effective_config(overrides).config.thresholds.settle / SECOND_MS
        _look_once(overrides, settle_s + CONFIRM_S, collector.look)
        put_utf8(exports.exposition(collector).rstrip())


def _webhooks(overrides: Overrides) -> Webhooks:
    return Webhooks.of(effective_config(overrides), narrate)


def _look_at_reports(overrides: Overrides, duration_s: float | None, on_report: OnReport) -> None:
    """Pass every report to `on_report`. A lost connection shows in the metrics."""
    for report in follow_through_refusals(overrides, duration_s, must_end_connected=False):
        on_report(report)


def _look_once(overrides: Overrides, duration_s: float, on_report: OnReport) -> None:
    """Pass the reports of a few seconds to `on_report`. A lost connection is an error.

    The first report waits until everything has been read: a partial count would look like the
    total. If that takes too long, a note says so.
    """
    with live_run(overrides) as run:
        run.read()
        _wait_for_empty_folders(run)
        for report in follow(run, duration_s):
            on_report(report)
        run.raise_if_lost(patience_s=0.0)


def _wait_for_empty_folders(run: LiveRun) -> None:
    """Wait until empty lock folders are read. There may be thousands, and they are read last."""
    if run.reads_more:
        for _report in run.reports(EMPTY_FOLDERS_S):
            run.raise_if_lost(patience_s=0.0)
            if not run.reads_more:
                return


def _both(first: OnReport, second: OnReport) -> OnReport:
    def call_both(report: Report) -> None:
        first(report)
        second(report)

    return call_both


def _writing(on_report: OnReport, write: Callable[[], None], every_s: float) -> OnReport:
    """Return a function that calls `on_report`, and writes the file when it is due."""
    due = 0.0

    def look_and_write(report: Report) -> None:
        nonlocal due
        on_report(report)
        if time.monotonic() >= due:
            write()
            due = time.monotonic() + every_s

    return look_and_write


def _check(options: dict[str, Any], *, has_file: bool) -> None:
    """Refuse options that exclude each other, or that would have no effect."""
    textfile = options["textfile"]
    if sum(map(bool, (options["listen"], textfile, has_file))) > 1:
        raise click.UsageError("--listen, --textfile and --from exclude each other.")
    if textfile and textfile.suffix != SUFFIX:
        raise click.UsageError(f"--textfile: node_exporter reads only files named *{SUFFIX}.")
    if textfile and not textfile.parent.is_dir():
        raise click.UsageError(f"--textfile: there is no folder {textfile.parent}.")
    if options["duration_s"] and not (options["listen"] or textfile):
        raise click.UsageError("--duration needs --listen or --textfile.")
    for name in ("listen_cert", "listen_key", "listen_ca", "listen_login"):
        needs = "listen_cert" if name in ("listen_key", "listen_ca") else "listen"
        if options[name] and not options[needs]:
            raise click.UsageError(f"--{_flag(name)} needs --{_flag(needs)}.")


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _access(exports: ModuleType, options: dict[str, Any]) -> Any:
    host, port = options["listen"]
    files = {
        name: Path(path)
        for name in ("cert", "key", "ca", "login")
        if (path := options[f"listen_{name}"])
    }
    return exports.HttpAccess(host, port, **files)


def _exports() -> ModuleType:
    """Import the module that needs prometheus-client, an optional package."""
    try:
        from zktop.app import metrics_exports  # noqa: PLC0415  see above
    except ImportError as error:
        raise UsageError(
            "zktop metrics needs the package prometheus-client: "
            "`pipx inject zktop prometheus-client`, or pip install it where zktop is."
        ) from error
    return metrics_exports
