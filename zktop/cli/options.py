"""The options that say where the ensemble is and what to look at; the same for every command.

What was asked for by the options of a command, as the config takes it.

Options that are times: how long, and when.

Where a command's reports come from: a live ensemble, or a recording of one.
"""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource
from msgspec.structs import replace

from zktop.cli.output import narrate
from zktop.cli.process import Interrupts, uncollected
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.tree import ValueOrigin
from zktop.config.values import duration
from zktop.model.facts import Millis

if TYPE_CHECKING:
    from pathlib import Path

    from zktop.app.live_run import LiveRun
    from zktop.app.replay import Replay
    from zktop.config.load import EffectiveConfig
    from zktop.model.facts import Millis

A_FILE = click.Path()  # the shell lists files


class ConfigOption(click.Option):
    """An option and the place in the config file where its value would stand.

    One for all commands: to make these takes a while, and nothing in them is a command's own.
    """

    def __init__(
        self,
        flag: str,
        key: str,
        metavar: str,
        about: str,
        env: str | None = None,
        *,
        many: bool = False,
    ) -> None:
        super().__init__(
            (flag,),
            type=A_FILE if metavar == "FILE" else None,
            metavar=metavar or None,
            is_flag=None if metavar else True,
            help=about,
            envvar=env,
            show_envvar=env is not None,
            multiple=many,
        )
        self.flag, self.key, self.env, self.many = flag, key, env, many
        self.means = None if metavar else "true"  # what a flag sets the key to
        self.parameter = flag.removeprefix("--").replace("-", "_")  # the name that click gives it

    def click(self) -> Callable[..., Any]:
        """Give a command this option."""
        return click.option(cls=lambda *_: self)  # type: ignore[arg-type]  # made already


class ConfigFlag(ConfigOption):
    """An option without a value; it sets its key to this word."""

    def __init__(self, flag: str, key: str, about: str, means: str) -> None:
        super().__init__(flag, key, "", about)
        self.means = means


CONFIG = ConfigOption(
    "--config",
    "config",
    "FILE",
    "Config file; ~/.config/zktop/config.yaml if any.",
    "ZKTOP_CONFIG",
)
CLUSTER = ConfigOption("--cluster", "cluster", "NAME", "A cluster that the config file names.")
LAYOUT = ConfigOption(
    "--layout",
    "layout",
    "ROOT=NAME",
    "Read the locks of ROOT by this layout; repeatable.",
    many=True,
)
SASL = ConfigOption(
    "--sasl", "sasl", "MECHANISM[:USER:PASSWORD]", "DIGEST-MD5 with both, or GSSAPI."
)
READ_ONLY = ConfigFlag(
    "--read-only", "demo.allow", "Start no contenders: the UI cannot write.", "never"
)

INTROSPECT = ConfigOption(
    "--introspect", "introspect", "auto|off", "Ask the servers for sessions and watches."
)
LARGE_TABLES = ConfigFlag(
    "--large-tables", "introspect.large_tables", "Read watch tables of any size.", "true"
)


def _hosts(otherwise: str) -> ConfigOption:
    about = f"Ensemble; {otherwise} if not given."
    return ConfigOption("--hosts", "hosts", "H:P,...[/CHROOT]", about, "ZKTOP_HOSTS")


_OTHERS = (
    CONFIG,
    CLUSTER,
    ConfigOption(
        "--root",
        "roots",
        "PATH",
        "Lock path or pattern: * one level, ** any; repeatable.",
        many=True,
    ),
    LAYOUT,
    ConfigOption(
        "--auth", "auth", "SCHEME:CREDENTIALS", "Add credentials; repeatable.", many=True
    ),
    SASL,
    ConfigOption("--tls-ca", "tls.ca", "FILE", "Speak TLS; trust this CA (PEM)."),
    ConfigOption(
        "--tls-cert", "tls.cert", "FILE", "Speak TLS with this client certificate (PEM)."
    ),
    ConfigOption("--tls-key", "tls.key", "FILE", "The client certificate's key (PEM)."),
    ConfigFlag("--tls-no-verify", "tls.verify", "Accept any server certificate.", "false"),
    ConfigOption(
        "--session-timeout", "session_timeout", "TIME", "Session timeout, like 10s or 500ms."
    ),
    ConfigOption(
        "--connect-timeout", "connect_timeout", "TIME", "Give up connecting after this, like 10s."
    ),
    ConfigOption(
        "--read-only-servers", "read_only_servers", "", "Use a server that is cut off, too."
    ),
    INTROSPECT,
    LARGE_TABLES,
    ConfigOption("--watch-budget", "budget.watches", "N", "Most watches to set."),
    ConfigOption(
        "--request-budget",
        "budget.requests_per_second",
        "N",
        "Most requests a second; a batch is one.",
    ),
)

OPTIONS = (_hosts("127.0.0.1:2181"), *_OTHERS)


class Wanted:
    """What a command was asked to connect to."""

    def __init__(self, asked: "Overrides") -> None:
        """Take what was asked."""
        self.asked = asked

    def effective(self) -> "EffectiveConfig":
        """Join it with the environment and the config file."""
        from zktop.config.load import effective_config  # noqa: PLC0415  --help needs no config

        return effective_config(self.asked, os.environ)


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all these options; it takes what comes of them as `wanted`."""
    return _options(OPTIONS, command)


def ui_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options, and the one that keeps the UI from writing."""
    return _options((*OPTIONS, READ_ONLY), command)


def demo_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the demo these options; without --hosts it starts a server."""
    return _options((_hosts("a sandbox server of its own"), *_OTHERS), command)


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that connects to nothing the config file, as `wanted`."""
    return _options((CONFIG,), command)


def _options(options: tuple[ConfigOption, ...], command: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(command)
    def with_options(**values: Any) -> Any:

        context = click.get_current_context()
        own = asked(context, [(option, values.pop(option.parameter)) for option in options])
        if isinstance(context.obj, Wanted):
            own = own.over(context.obj.asked)
        context.obj = Wanted(own)
        return command(wanted=context.obj, **values)

    for option in reversed(options):
        with_options = option.click()(with_options)
    return with_options


def asked(context: click.Context, values: list[tuple[ConfigOption, Any]]) -> Overrides:
    """Give what these options of a command say, with the values that click read."""
    given = {
        option: Override(option.key, _texts(option, value), _origin(context, option), option.many)
        for option, value in values
        if value not in (None, (), False)
    }
    file, cluster, layouts = (given.pop(option, None) for option in (CONFIG, CLUSTER, LAYOUT))
    sasl = given.pop(SASL, None)
    if INTROSPECT in given and LARGE_TABLES in given:  # auto and more is more; off stays off
        given.pop(INTROSPECT if given[INTROSPECT].texts == ("auto",) else LARGE_TABLES)
    parts = _sasl(sasl) if sasl else ()
    return Overrides(file, cluster, layouts, (*given.values(), *parts)).over(Overrides())


def _texts(option: ConfigOption, value: Any) -> tuple[str, ...]:
    if option.means is not None:
        return (option.means,)
    return value if option.many else (value,)


def _origin(context: click.Context, option: ConfigOption) -> ValueOrigin:
    if context.get_parameter_source(option.parameter) is ParameterSource.ENVIRONMENT:
        return ValueOrigin(f"environment {option.env}", option=option.env)
    return ValueOrigin(COMMAND_LINE, option=option.flag)


def _sasl(given: Override) -> Iterator[Override]:
    names = ("mechanism", "username", "password")
    for name, text in zip(names, given.texts[-1].split(":", 2), strict=False):
        yield replace(given, key=f"sasl.{name}", texts=(text,))


class ReplayTime(msgspec.Struct, frozen=True):
    """A moment, or how long after the beginning of a recording it is."""

    moment: Millis | None = None
    after: Millis = 0

    def since(self, begin: Millis) -> Millis:
        """Give the moment in a recording that begins then."""
        return begin + self.after if self.moment is None else self.moment


class DurationParam(click.ParamType[Millis]):
    """A length of time, like 30, 500ms or 5m, as milliseconds."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Millis:
        """Read it."""
        try:
            return duration(str(value))
        except ValueError as error:
            return self.fail(f"{error}.", param, ctx)


class ReplayTimeParam(click.ParamType[ReplayTime]):
    """A moment as we print it, or +30s from the beginning; in UTC where no zone is given."""

    name = "moment"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> ReplayTime:
        """Read it."""
        text = str(value)
        try:
            if text.startswith("+"):
                return ReplayTime(after=duration(text[1:]))
            when = datetime.fromisoformat(text)
        except ValueError:
            what = f"expected a time like 2026-01-31T12:00:00Z or +90s, got {text!r}."
            return self.fail(what, param, ctx)
        zoned = when if when.tzinfo else when.replace(tzinfo=UTC)
        return ReplayTime(moment=round(zoned.timestamp() * 1000))


DURATION = DurationParam()
MOMENT = ReplayTimeParam()


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
    def with_options(*, file: str | None, at: ReplayTime | None, **values: Any) -> Any:
        if at is not None and file is None:
            raise click.UsageError("--at needs --from: only a recording knows what was.")
        return command(file=file, at=at, **values)

    return FROM(AT(with_options))


@contextmanager
def watching(wanted: Wanted, sample_every: float | None = None) -> "Iterator[LiveRun]":
    """Watch the ensemble that was asked for, until the block ends or somebody interrupts it."""
    with uncollected():
        from zktop.app.connect import access_of, plan_of  # noqa: PLC0415  a recording needs no kazoo
        from zktop.app.live_run import LiveRun  # noqa: PLC0415

        config = wanted.effective().config
        plan = plan_of(config, sample_every)
        watch = LiveRun(access_of(config), plan, config.settings())
    interrupts = Interrupts()
    watch.waiting = interrupts.waiting
    with interrupts.obeyed(), watch:
        yield watch


def replay(
    wanted: Wanted, file: "str | Path", at: ReplayTime | None = None
) -> "tuple[Replay, Millis | None]":
    """Open a recording, and find the moment in it that was asked for.

    It is judged as the live run judged it, unless the command line says how to judge.
    """
    from pathlib import Path  # noqa: PLC0415  a live run needs none

    from zktop.app.replay import Replay  # noqa: PLC0415

    settings = wanted.effective().config.settings() if _says_how_to_judge(wanted) else None
    found = Replay(Path(file), settings)
    return found, at.since(found.begin) if at else None


def print_notes(notes: tuple[str, ...]) -> None:
    """Say on stderr what is followed less closely than it should be."""
    for note in notes:
        narrate(f"note: {note}")


def _says_how_to_judge(wanted: Wanted) -> bool:
    asked = wanted.asked
    has_file = asked.file is not None and asked.file.is_typed
    has_roots = any(given.key == "roots" for given in asked.settings)
    return has_file or has_roots or asked.layouts is not None
