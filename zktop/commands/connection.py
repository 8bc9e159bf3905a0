"""The options that say where the ensemble is and what to look at; the same for every command."""

import functools
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from zktop.config.asked import Asked
    from zktop.config.effective import Effective


A_FILE = click.Path()  # the shell lists files


class Option(click.Option):
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


class Flag(Option):
    """An option without a value; it sets its key to this word."""

    def __init__(self, flag: str, key: str, about: str, means: str) -> None:
        super().__init__(flag, key, "", about)
        self.means = means


CONFIG = Option(
    "--config",
    "config",
    "FILE",
    "Config file; ~/.config/zktop/config.yaml if any.",
    "ZKTOP_CONFIG",
)
CLUSTER = Option("--cluster", "cluster", "NAME", "A cluster that the config file names.")
LAYOUT = Option(
    "--layout",
    "layout",
    "ROOT=NAME",
    "Read the locks of ROOT by this layout; repeatable.",
    many=True,
)
SASL = Option("--sasl", "sasl", "MECHANISM[:USER:PASSWORD]", "DIGEST-MD5 with both, or GSSAPI.")
READ_ONLY = Flag("--read-only", "demo.allow", "Start no contenders: the UI cannot write.", "never")

INTROSPECT = Option(
    "--introspect", "introspect", "auto|off", "Ask the servers for sessions and watches."
)
LARGE_TABLES = Flag(
    "--large-tables", "introspect.large_tables", "Read watch tables of any size.", "true"
)


def _hosts(otherwise: str) -> Option:
    about = f"Ensemble; {otherwise} if not given."
    return Option("--hosts", "hosts", "H:P,...[/CHROOT]", about, "ZKTOP_HOSTS")


_OTHERS = (
    CONFIG,
    CLUSTER,
    Option(
        "--root",
        "roots",
        "PATH",
        "Lock path or pattern: * one level, ** any; repeatable.",
        many=True,
    ),
    LAYOUT,
    Option("--auth", "auth", "SCHEME:CREDENTIALS", "Add credentials; repeatable.", many=True),
    SASL,
    Option("--tls-ca", "tls.ca", "FILE", "Speak TLS; trust this CA (PEM)."),
    Option("--tls-cert", "tls.cert", "FILE", "Speak TLS with this client certificate (PEM)."),
    Option("--tls-key", "tls.key", "FILE", "The client certificate's key (PEM)."),
    Flag("--tls-no-verify", "tls.verify", "Accept any server certificate.", "false"),
    Option("--session-timeout", "session_timeout", "TIME", "Session timeout, like 10s or 500ms."),
    Option(
        "--connect-timeout", "connect_timeout", "TIME", "Give up connecting after this, like 10s."
    ),
    Option("--read-only-servers", "read_only_servers", "", "Use a server that is cut off, too."),
    INTROSPECT,
    LARGE_TABLES,
    Option("--watch-budget", "budget.watches", "N", "Most watches to set."),
    Option(
        "--request-budget",
        "budget.requests_per_second",
        "N",
        "Most requests a second; a batch is one.",
    ),
)

OPTIONS = (_hosts("127.0.0.1:2181"), *_OTHERS)


class Wanted:
    """What a command was asked to connect to."""

    def __init__(self, asked: "Asked") -> None:
        """Take what was asked."""
        self.asked = asked

    def effective(self) -> "Effective":
        """Join it with the environment and the config file."""
        from zktop.config.effective import effective  # noqa: PLC0415  --help needs no config

        return effective(self.asked, os.environ)


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


def _options(options: tuple[Option, ...], command: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(command)
    def with_options(**values: Any) -> Any:
        from zktop.commands.asked import asked  # noqa: PLC0415  --help needs no config

        context = click.get_current_context()
        own = asked(context, [(option, values.pop(option.parameter)) for option in options])
        if isinstance(context.obj, Wanted):
            own = own.over(context.obj.asked)
        context.obj = Wanted(own)
        return command(wanted=context.obj, **values)

    for option in reversed(options):
        with_options = option.click()(with_options)
    return with_options
