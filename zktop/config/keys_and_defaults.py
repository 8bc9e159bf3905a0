"""Every setting of the config file: its key, type and default.

Known keys, allowed values, secrets, the JSON Schema and the lines of `--show-config` are derived
from these types. All times are milliseconds. The `thresholds` are those of `model.thresholds`.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from zktop.model.layouts.layout import Layout
from zktop.model.owner_list import NAME
from zktop.model.root_entry import Root, RootPath
from zktop.model.settings import Settings
from zktop.model.thresholds import Positive, Thresholds
from zktop.tls import Tls

Timeout = Annotated[
    int, Meta(extra={"form": "timeout"}, extra_json_schema={"format": "zktop-duration"})
]
Hosts = Annotated[str, Meta(extra={"form": "hosts"})]
Server = Annotated[str, Meta(extra={"form": "server"})]
Login = Annotated[str, Meta(extra={"form": "login", "secret": True})]
Secret = Annotated[str, Meta(extra={"secret": True})]
Word = Annotated[str, Meta(extra={"form": "word"})]
Port = Annotated[int, Meta(ge=1, le=65535)]
OwnerMapping = Annotated[  # a name, and what else is known
    dict[str, Word], Meta(extra={"needs": NAME}, extra_json_schema={"required": [NAME]})
]
Owners = dict[str, Word | OwnerMapping]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A mapping of the config file with a fixed set of keys."""


class SaslSection(Section, frozen=True):
    """How to log in with SASL."""

    mechanism: Literal["DIGEST-MD5", "GSSAPI"] = "DIGEST-MD5"
    username: Word | None = None
    password: Secret | None = None
    service: Word = "zookeeper"


class AdminSection(Section, frozen=True):
    """Port and scheme of each member's AdminServer."""

    port: Port = 8080
    scheme: Literal["http", "https"] = "http"


class IntrospectSection(Section, frozen=True):
    """What to ask the servers for, in addition to `auto`."""

    large_tables: bool = False  # read watch tables of any size, even by four-letter words


class ConnectionSection(Section, frozen=True):
    """How to reach an ensemble."""

    hosts: Hosts = "127.0.0.1:2181"
    aliases: dict[Server, Server] = {}  # host:port of a member or its AdminServer -> reachable one
    auth: tuple[Login, ...] = ()
    sasl: SaslSection | None = None
    tls: Tls | None = None
    session_timeout: Timeout = 10_000
    connect_timeout: Timeout = 10_000
    read_only_servers: bool = False  # also use a server that has lost its quorum
    introspect: Literal["auto", "off"] | IntrospectSection = "auto"
    admin: AdminSection = AdminSection()


class ClusterSection(ConnectionSection, frozen=True):
    """A named ensemble. Missing keys are taken from the top level of the file."""

    hosts: Hosts


class ActorsSection(Section, frozen=True):
    """What counts as one actor: a session, or all sessions of one owner."""

    identity: Literal["session", "owner"] = "session"
    owner: Annotated[str, Meta(extra={"form": "expression"})] | None = None


class BudgetSection(Section, frozen=True):
    """What watching may cost the ensemble."""

    watches: Positive = 20_000
    requests_per_second: Positive = 20_000


class DemoSection(Section, frozen=True):
    """Where demo contenders may write, whether zktop asks first, and how many may run."""

    root: Annotated[str, Meta(extra={"form": "path"})] = "/zktop-demo"
    max_contenders: Annotated[int, Meta(ge=1, le=1000)] = 64
    allow: Literal["ask", "always", "never"] = "ask"


class UiSection(Section, frozen=True):
    """The terminal UI: theme, repaints, keys, bell, and the command for new findings."""

    theme: Annotated[str, Meta(extra={"form": "theme"})] = "zktop-night"
    refresh: Annotated[int, Meta(ge=1, le=60)] = 20  # repaints per second at most
    keys: dict[str, Word] = {}  # action -> keys, separated by commas
    bell: bool = False
    command: Word | None = None


class WebhookSection(Section, frozen=True):
    """An address to which `zktop record`, `zktop metrics` and the UI post findings."""

    url: Annotated[str, Meta(extra={"form": "webhook", "secret": True})]
    token: Secret | None = None  # sent as `Authorization: Bearer`
    severity: Literal["critical", "warning", "info"] = "critical"  # or worse


class CommandSection(Section, frozen=True):
    """One of the user's keys, which runs a program on the selected item."""

    key: Word
    title: Word
    run: Word  # split into words as by a shell, then {fields} are filled in, but without a shell
    on: Literal["session", "lock", "deadlock"] = "session"
    confirm: bool = True  # show the command line first


class Config(ConnectionSection, frozen=True):
    """The whole config file."""

    clusters: dict[str, ClusterSection] = {}
    roots: tuple[RootPath | Root, ...] = ()
    layouts: tuple[Layout, ...] = ()
    actors: ActorsSection = ActorsSection()
    owners: Owners = {}
    owners_file: str | None = None  # a file with more owners, read again when it changes
    thresholds: Thresholds = Thresholds()
    budget: BudgetSection = BudgetSection()
    demo: DemoSection = DemoSection()
    webhooks: tuple[WebhookSection, ...] = ()
    ui: UiSection = UiSection()
    commands: tuple[CommandSection, ...] = ()

    def settings(self) -> Settings:
        """Return the part of the settings that the model uses."""
        any_owner = ".+" if self.actors.identity == "owner" else None
        pattern = self.actors.owner or any_owner
        roots = tuple(Root(root) if isinstance(root, str) else root for root in self.roots)
        demo_pattern = f"{self.demo.root}/**"
        return Settings(
            roots=roots,
            layouts=self.layouts,
            identity="owner" if pattern else "session",
            identity_pattern=pattern,
            owners={**self.owners},
            thresholds=self.thresholds,
            own_roots=tuple(root.path for root in roots if root.path == demo_pattern),
        )
