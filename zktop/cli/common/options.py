"""The options that several commands share: connection, config file, recording, times.

Each connection option represents a key of the config file; together they become the
`Overrides` of a command.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import click
import msgspec
from click.core import ParameterSource
from msgspec.structs import replace

from zktop.app.flight_recorder.retention import MAX_PIECE_MS
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.parse_values import duration, size
from zktop.config.tree import ValueOrigin
from zktop.model.facts import DAY_MS, SECOND_MS, Millis
from zktop.model.parse_moment import full_time, moment_of

FILE_PATH = click.Path()  # so that shells complete file names


class ConfigOption(click.Option):
    """An option and its key in the config file. All commands share one instance."""

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
            type=FILE_PATH if metavar == "FILE" else None,
            metavar=metavar or None,
            is_flag=None if metavar else True,
            help=about,
            envvar=env,
            show_envvar=env is not None,
            multiple=many,
        )
        self.flag, self.key, self.env, self.many = flag, key, env, many
        self.flag_word = None if metavar else "true"  # the value that a flag gives to its key
        self.parameter = flag.removeprefix("--").replace("-", "_")  # click's name for it

    def click(self) -> Callable[..., Any]:
        """Return the decorator that adds this option to a command."""
        return click.option(cls=lambda *_: self)  # type: ignore[arg-type]  # an instance, not a class


class ConfigFlag(ConfigOption):
    """A flag that sets its key to a fixed word."""

    def __init__(self, flag: str, key: str, about: str, flag_word: str) -> None:
        super().__init__(flag, key, "", about)
        self.flag_word = flag_word


CONFIG = ConfigOption(
    "--config",
    "config",
    "FILE",
    "Config file; default: ~/.config/zktop/config.yaml.",
    "ZKTOP_CONFIG",
)
CLUSTER = ConfigOption("--cluster", "cluster", "NAME", "Name of a cluster in the config file.")
ROOT = ConfigOption(
    "--root",
    "roots",
    "PATH",
    "Lock path or pattern: * one level, ** any; repeatable.",
    many=True,
)
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
THEME = ConfigOption("--theme", "ui.theme", "NAME", "Theme of the UI; T shows all of them.")
READ_ONLY = ConfigFlag(
    "--read-only",
    "demo.allow",
    "Start no demo clients, and refuse `free --yes`: zktop cannot write.",
    "never",
)

INTROSPECT = ConfigOption(
    "--introspect", "introspect", "auto|off", "Ask the servers for sessions and watches."
)
LARGE_TABLES = ConfigFlag(
    "--large-tables", "introspect.large_tables", "Read watch tables of any size.", "true"
)


def _hosts_option(default: str) -> ConfigOption:
    about = f"Ensemble; default: {default}."
    return ConfigOption("--hosts", "hosts", "H:P,...[/CHROOT]", about, "ZKTOP_HOSTS")


_OTHERS = (
    CONFIG,
    CLUSTER,
    ROOT,
    LAYOUT,
    ConfigOption(
        "--auth", "auth", "SCHEME:CREDENTIALS", "Add credentials; repeatable.", many=True
    ),
    SASL,
    ConfigOption("--tls-ca", "tls.ca", "FILE", "Use TLS; trust this CA (PEM)."),
    ConfigOption("--tls-cert", "tls.cert", "FILE", "Use TLS with this client certificate (PEM)."),
    ConfigOption("--tls-key", "tls.key", "FILE", "The client certificate's key (PEM)."),
    ConfigFlag("--tls-no-verify", "tls.verify", "Accept any server certificate.", "false"),
    ConfigOption(
        "--session-timeout", "session_timeout", "TIME", "Session timeout, like 10s or 500ms."
    ),
    ConfigOption(
        "--connect-timeout",
        "connect_timeout",
        "TIME",
        "Stop connecting after this time, like 10s.",
    ),
    ConfigOption(
        "--read-only-servers", "read_only_servers", "", "Also use a server without quorum."
    ),
    INTROSPECT,
    LARGE_TABLES,
    ConfigOption("--admin-port", "admin.port", "PORT", "Port of the AdminServers."),
    ConfigOption("--watch-budget", "budget.watches", "N", "Limit of watches."),
    ConfigOption(
        "--request-budget",
        "budget.requests_per_second",
        "N",
        "Limit of requests per second; a batch counts as one.",
    ),
)

SECRETS = ("auth", "sasl.password")  # keys of options that are never printed
OPTIONS = (_hosts_option("127.0.0.1:2181"), *_OTHERS)


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the connection options. The command takes them as `overrides`."""
    return _add_options(OPTIONS, command)


def ui_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the connection options, --theme and --read-only."""
    return _add_options((*OPTIONS, THEME, READ_ONLY), command)


def replay_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the connection options and --theme."""
    return _add_options((*OPTIONS, THEME), command)


def demo_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the connection options. Without --hosts the demo starts its own server."""
    hosts = _hosts_option("its own sandbox server")
    return _add_options((hosts, *_OTHERS, THEME), command)


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add only --config, for a command that does not connect."""
    return _add_options((CONFIG,), command)


def import_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about locks, for a command that does not connect."""
    return _add_options((CONFIG, ROOT, LAYOUT), command)


def _add_options(
    options: tuple[ConfigOption, ...], command: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(command)
    def with_options(**values: Any) -> Any:
        context = click.get_current_context()
        own = overrides_of(context, [(option, values.pop(option.parameter)) for option in options])
        if isinstance(context.obj, Overrides):
            own = own.over(context.obj)
        context.obj = own
        return command(overrides=own, **values)

    for option in reversed(options):
        with_options = option.click()(with_options)
    return with_options


def overrides_of(context: click.Context, values: list[tuple[ConfigOption, Any]]) -> Overrides:
    """Turn the values parsed by click into overrides."""
    overrides = {
        option: Override(option.key, _texts(option, value), _origin(context, option), option.many)
        for option, value in values
        if value not in (None, (), False)
    }
    file, cluster, layouts = (overrides.pop(option, None) for option in (CONFIG, CLUSTER, LAYOUT))
    sasl = overrides.pop(SASL, None)
    # Both set `introspect`: --large-tables overrides auto, but not off.
    if INTROSPECT in overrides and LARGE_TABLES in overrides:
        overrides.pop(INTROSPECT if overrides[INTROSPECT].texts == ("auto",) else LARGE_TABLES)
    parts = _sasl_parts(sasl) if sasl else ()
    return Overrides(file, cluster, layouts, (*overrides.values(), *parts)).over(Overrides())


class TypedWords(NamedTuple):
    """The connection options that the user typed, for commands to copy."""

    words: tuple[str, ...]
    left_out: tuple[str, ...]  # options with secrets


def typed_words(overrides: Overrides) -> TypedWords:
    """Return the typed connection options as words of a command line, without secrets."""
    settings = (overrides.file, overrides.cluster, *overrides.settings, overrides.layouts)
    typed = [setting for setting in settings if setting is not None and setting.is_typed]
    left_out = dict.fromkeys(
        setting.origin.option or "" for setting in typed if setting.key in SECRETS
    )
    is_flag = {option.flag: option.flag_word is not None for option in OPTIONS}
    words: dict[str, tuple[str, ...]] = {}
    by_key = {setting.key: setting for setting in typed}  # the last setting of a key wins
    for setting in by_key.values():
        option, texts = setting.origin.option, setting.texts
        if option not in is_flag or option in left_out:
            continue
        if option == SASL.flag and option in words:  # its parts are separate settings
            texts = (":".join((*words[option][1:], *texts)),)
        with_values = chain.from_iterable((option, text) for text in texts)
        words[option] = (option,) if is_flag[option] else tuple(with_values)
    return TypedWords(tuple(chain.from_iterable(words.values())), tuple(left_out))


def _texts(option: ConfigOption, value: Any) -> tuple[str, ...]:
    if option.flag_word is not None:
        return (option.flag_word,)
    return value if option.many else (value,)


def _origin(context: click.Context, option: ConfigOption) -> ValueOrigin:
    if context.get_parameter_source(option.parameter) is ParameterSource.ENVIRONMENT:
        return ValueOrigin(f"environment {option.env}", option=option.env)
    return ValueOrigin(COMMAND_LINE, option=option.flag)


def _sasl_parts(override: Override) -> Iterator[Override]:
    names = ("mechanism", "username", "password")
    for name, text in zip(names, override.texts[-1].split(":", 2), strict=False):
        yield replace(override, key=f"sasl.{name}", texts=(text,))


class ReplayTime(msgspec.Struct, frozen=True):
    """A moment of a recording as the user typed it. It has been validated."""

    text: str

    @property
    def full(self) -> Millis | None:
        """The moment, or None if the text has no date."""
        return full_time(self.text)

    def resolve(self, begin: Millis, last_known: Millis, after: Millis | None = None) -> Millis:
        """Return this moment of a recording.

        A time of day means the last such time, unless that is before the beginning or `after`.
        The recording may go on after `last_known`, for at most one piece of a ring folder.
        """
        first = begin if after is None else after
        at = moment_of(self.text, begin, first)
        if self.full is not None or ":" not in self.text:
            return at
        latest = moment_of(self.text, last_known, last_known)
        if latest > last_known + MAX_PIECE_MS:
            latest -= DAY_MS
        return latest if latest >= first else at


class QuantityParam(click.ParamType[float]):
    """A number with a unit, written as in the config file."""

    def __init__(self, name: str, parse: Callable[[str], float]) -> None:
        self.name = name
        self._parse = parse

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            return self._parse(str(value))
        except ValueError as error:
            return self.fail(f"{error}.", param, ctx)


class ReplayTimeParam(click.ParamType[ReplayTime]):
    """A full time as zktop prints it, a time of day, or an offset like +30s."""

    name = "moment"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> ReplayTime:
        at = ReplayTime(str(value))
        with suppress(ValueError):
            at.resolve(0, 0)  # only to check it: raises ValueError
            if not at.text.startswith("-"):
                return at
        what = f"expected a time like 2026-01-31T12:00:00Z or +90s, got {at.text!r}."
        return self.fail(what, param, ctx)


MILLIS = QuantityParam("time", duration)  # like 30, 500ms or 5m
SECONDS = QuantityParam("time", lambda text: duration(text) / SECOND_MS)  # written the same
SIZE = QuantityParam("size", size)  # like 500M or 2G, returned in bytes
REPLAY_TIME = ReplayTimeParam()
_time_option = functools.partial(click.option, type=REPLAY_TIME, metavar="TIME")
_FORMS = "2026-01-31T12:00:00Z, 12:00:30 or, from the beginning, +90s"


def window_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--since` and `--until`, which need a date. The command takes both as `window`."""

    @functools.wraps(command)
    def with_window(*, since: ReplayTime | None, until: ReplayTime | None, **values: Any) -> Any:
        for option, at in (("--since", since), ("--until", until)):
            if at is not None and at.full is None:
                raise click.UsageError(f"{option} takes a time like 2026-01-31T12:00:00Z.")
        window = since.full if since else None, until.full if until else None
        refuse_reversed(*window)
        return command(window=window, **values)

    since = _time_option("--since", help="Begin at this time, like 2026-01-31T12:00:00Z.")
    until = _time_option("--until", help="End at this time, like 2026-01-31T12:00:00Z.")
    return since(until(with_window))


def refuse_reversed(since: Millis | None, until: Millis | None) -> None:
    """Refuse a period that ends before it begins."""
    if since is not None and until is not None and until < since:
        raise click.UsageError("--until is before --since.")


SINCE = _time_option("--since", help=f"Begin at this time: {_FORMS}.")
UNTIL = _time_option("--until", help="End at this time, given as for --since.")
AT = _time_option("--at", help=f"Read it up to this time: {_FORMS}.")
FROM = click.option(
    "--from",
    "file",
    metavar="FILE",
    type=FILE_PATH,
    help="Read a recording, or the folder of `record --dir`, instead of an ensemble.",
)
DURATION = click.option(
    "--duration", "duration_s", type=SECONDS, metavar="TIME", help="End after this: 60, 5m."
)
REDACT = click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Of znode data over 256 bytes, keep only the owner's name and what lock layouts read.",
)


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--from` and `--at`."""

    @functools.wraps(command)
    def with_options(*, file: str | None, at: ReplayTime | None, **values: Any) -> Any:
        if at is not None and file is None:
            raise click.UsageError("--at needs --from: only a recording has a past.")
        return command(file=file, at=at, **values)

    return FROM(AT(with_options))
