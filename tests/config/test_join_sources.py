"""Precedence of command line, cluster, environment and file, and the origin of every value."""

from pathlib import Path

import pytest

from zktop.app.ui_settings import state_folder
from zktop.config.files import default_file, theme_names
from zktop.config.join_sources import EffectiveConfig, cluster_configs, effective_config
from zktop.config.keys_and_defaults import Config, SaslSection
from zktop.config.mistakes import ConfigError
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.show import rows
from zktop.config.tree import ValueOrigin
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.thresholds import Thresholds
from zktop.tls import Tls

pytestmark = pytest.mark.usefixtures("in_folder")

FILE = """
hosts: file:1
tls: { ca: file.pem, verify: false }
roots: [/file, { path: /pool, leases: 4 }]
budget: { watches: 7 }
auth: ["digest:me:s3cret"]
sasl: { username: me, password: s3cret }
clusters:
  prod: { hosts: "prod:1/app", tls: { ca: prod.pem } }
"""


def typed(key: str, *texts: str, is_list: bool = False) -> Override:
    """A setting on the command line."""
    return Override(key, texts, ValueOrigin(COMMAND_LINE, option=f"--{key}"), is_list)


def environ(key: str, text: str) -> Override:
    """A setting in the environment."""
    return Override(key, (text,), ValueOrigin("environment ZKTOP_HOSTS", option="ZKTOP_HOSTS"))


def joined(
    *settings: Override,
    file: str | None = FILE,
    cluster: str | None = None,
    layouts: tuple[str, ...] = (),
) -> EffectiveConfig:
    """The effective config of a file and these settings."""
    if file is not None:
        Path("config.yaml").write_text(file, encoding="utf-8")
    asked = Overrides(
        file=None if file is None else typed("config", "config.yaml"),
        cluster=None if cluster is None else typed("cluster", cluster),
        layouts=typed("layout", *layouts) if layouts else None,
        settings=settings,
    )
    return effective_config(asked, {"XDG_CONFIG_HOME": "nowhere"})


@pytest.mark.parametrize(
    ("settings", "file", "cluster", "hosts", "origin"),
    [
        ((), None, None, "127.0.0.1:2181", "default"),
        ((), FILE, None, "file:1", "config.yaml:2"),
        ((environ("hosts", "env:1"),), FILE, None, "env:1", "environment ZKTOP_HOSTS"),
        ((typed("hosts", "typed:1"),), FILE, None, "typed:1", "command line"),
        (
            (typed("hosts", "typed:1"), environ("hosts", "env:1")),
            FILE,
            None,
            "typed:1",
            "command line",
        ),
        ((), FILE, "prod", "prod:1/app", "config.yaml:9"),
        ((environ("hosts", "env:1"),), FILE, "prod", "prod:1/app", "config.yaml:9"),
        ((typed("hosts", "typed:1"),), FILE, "prod", "typed:1", "command line"),
    ],
)
def test_the_source_with_precedence_wins(
    settings: tuple[Override, ...],
    file: str | None,
    cluster: str | None,
    hosts: str,
    origin: str,
) -> None:
    """A cluster is named on the command line, so it takes precedence over the environment."""
    found = joined(*settings, file=file, cluster=cluster)

    assert (found.config.hosts, str(found.origin("hosts"))) == (hosts, origin)


def test_sections_are_merged_key_by_key() -> None:
    """A cluster's CA does not undo what the file says about verifying."""
    found = joined(typed("tls.cert", "me.pem"), cluster="prod")

    tls = found.config.tls
    assert tls is not None
    assert (tls.ca, tls.verify, tls.cert) == ("prod.pem", False, "me.pem")
    assert [str(found.origin(f"tls.{key}")) for key in ("ca", "verify", "cert", "key")] == [
        "config.yaml:9",
        "config.yaml:3",
        "command line",
        "default",
    ]


def test_a_cluster_has_the_certificate_and_the_login_of_the_file() -> None:
    """So its own section needs only what differs."""
    file = """
tls: { cert: file.pem }
sasl: { username: me, password: s3cret }
clusters: { prod: { hosts: "prod:1", tls: { key: prod.key }, sasl: { username: you } } }
"""
    found = joined(file=file, cluster="prod").config

    assert found.tls == Tls(cert="file.pem", key="prod.key")
    assert found.sasl == SaslSection(username="you", password="s3cret")


@pytest.mark.parametrize("cluster", [None, "prod"])
def test_an_option_completes_a_section_of_the_file(cluster: str | None) -> None:
    """A key needs a certificate, and a user name needs a password, but not in the same place."""
    sections = "tls: { key: a.key }, sasl: { username: me }"
    file = f"clusters: {{ prod: {{ hosts: 'prod:1', {sections} }} }}" if cluster else sections
    found = joined(
        typed("tls.cert", "a.pem"),
        typed("sasl.password", "s3cret"),
        file=file if cluster else f"{{ {sections} }}",
        cluster=cluster,
    ).config

    assert found.tls == Tls(cert="a.pem", key="a.key")
    assert found.sasl == SaslSection(username="me", password="s3cret")


def test_an_option_may_leave_a_section_incomplete() -> None:
    """That is a mistake in the file."""
    with pytest.raises(ConfigError, match=r"config.yaml:1: tls.key: needs a certificate"):
        joined(typed("tls.ca", "ca.pem"), file="tls: { key: a.key }")


def test_an_option_completes_its_own_cluster() -> None:
    """Another one has to be complete in the file."""
    file = (
        "clusters: { prod: { hosts: 'prod:1', tls: { key: a.key } }, test: { hosts: 'test:1' } }"
    )
    found = clusters_of(file, typed("tls.cert", "a.pem"), cluster="prod")

    assert {name: one.tls for name, one in found.items()} == {
        "prod": Tls(cert="a.pem", key="a.key"),
        "test": None,
    }


def test_the_inner_of_two_files_wins() -> None:
    """As with the other options."""
    inner, outer = (Overrides(file=typed("config", name)) for name in ("inner", "outer"))

    assert inner.over(outer).file == inner.file


def test_a_file_of_the_environment_yields_to_the_outer_command() -> None:
    """It is the same environment for both."""
    inner = Overrides(file=environ("config", "inner"))
    outer = Overrides(file=typed("config", "outer"))

    assert inner.over(outer).file == outer.file


def test_lists_are_replaced() -> None:
    """Roots on the command line replace those of the file."""
    found = joined(typed("roots", "/a", "/b/**", is_list=True))

    assert found.config.roots == ("/a", "/b/**")
    assert str(found.origin("roots[1]")) == "command line"


def test_layout_option_changes_a_root_or_adds_one() -> None:
    """The other settings of the root stay."""
    found = joined(layouts=("/file=kazoo-lock", "/pool=zktools", "/new=go-lock"))

    assert found.config.settings().roots == (
        Root("/file", layout="kazoo-lock"),
        Root("/pool", layout="zktools", leases=4),
        Root("/new", layout="go-lock"),
    )


def test_numbers_of_the_command_line_are_numbers() -> None:
    """And texts that look like numbers are texts."""
    found = joined(typed("budget.watches", "12"), typed("sasl.password", "0123"))

    assert found.config.budget.watches == 12
    assert found.config.sasl is not None
    assert found.config.sasl.password == "0123"


def test_mistakes_of_every_source_come_together() -> None:
    """Options are named, lines have numbers."""
    with pytest.raises(ConfigError) as error:
        joined(
            typed("roots", "/fine", "locks", is_list=True),
            environ("hosts", "a:b"),
            file="ui: { refresh: 0 }",
            cluster="prod",
            layouts=("/a", "/b=go-lok"),
        )

    assert str(error.value).splitlines() == [
        '--layout: expected ROOT=NAME, like /locks/**=kazoo-lock, got "/a"',
        '--cluster: there is no cluster "prod"; a config file must define it',
        '--layout: there is no layout "go-lok" (did you mean go-lock?)',
        'ZKTOP_HOSTS: the port of "a:b" must be a number from 1 to 65535',
        '--roots: the root must start with /, got "locks"',
        "config.yaml:1: ui.refresh: must be at least 1, got 0",
    ]


def test_an_unknown_cluster_names_the_nearest() -> None:
    """Among the clusters of the file."""
    with pytest.raises(ConfigError, match=r'there is no cluster "prd" \(did you mean prod\?\)'):
        joined(cluster="prd")


@pytest.mark.parametrize("file", ["clusters: {}", "hosts: a:1"])
def test_a_file_without_clusters_has_none_to_name(file: str) -> None:
    """An empty mapping is none either."""
    with pytest.raises(ConfigError, match='no cluster "prd"; a config file must define it'):
        joined(cluster="prd", file=file)


def test_a_user_without_a_home_has_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs with any user id."""

    def homeless(_path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)

    assert default_file({}) is None
    assert theme_names({})
    assert state_folder({}) == Path("/.local/state/zktop")


def test_a_folder_that_may_not_be_searched_has_no_file() -> None:
    """Nor has one with too long a name."""
    nowhere = {"XDG_CONFIG_HOME": "x" * 5_000}

    assert default_file(nowhere) is None
    assert theme_names(nowhere)


def test_the_users_own_file_is_found(in_folder: Path) -> None:
    """In $XDG_CONFIG_HOME/zktop, when no other is named."""
    home = in_folder / "zktop"
    home.mkdir()
    (home / "config.yaml").write_text("hosts: mine:1", encoding="utf-8")

    found = effective_config(Overrides(), {"XDG_CONFIG_HOME": str(in_folder)})

    assert found.config.hosts == "mine:1"
    assert str(found.origin("hosts")) == f"{home}/config.yaml:1"


def test_the_users_own_themes_are_known(in_folder: Path) -> None:
    """They are beside the config file."""
    themes = in_folder / "zktop" / "themes"
    themes.mkdir(parents=True)
    (themes / "mine.yaml").touch()
    Path("config.yaml").write_text("ui: { theme: mine }", encoding="utf-8")

    found = effective_config(
        Overrides(file=typed("config", "config.yaml")), {"XDG_CONFIG_HOME": str(in_folder)}
    )

    assert found.config.ui.theme == "mine"


def test_no_secret_is_shown() -> None:
    """Neither of the settings in effect nor of another cluster."""
    file = FILE.replace("prod: {", 'prod: { auth: ["digest:me:s3cret"],')

    shown = rows(joined(file=file))

    table = {row.key: row.value for row in shown}
    assert not any("s3cret" in value for value in table.values())
    assert table["auth[0]"] == "digest:****"
    assert table["sasl.password"] == "****"
    assert table["clusters.prod.auth[0]"] == "digest:****"


def test_every_setting_is_shown_with_its_origin() -> None:
    """Values are formatted as in the file."""
    table = {row.key: (row.value, row.origin) for row in rows(joined())}

    assert table["config"] == ("config.yaml", "command line")
    assert table["tls.verify"] == ("false", "config.yaml:3")
    assert table["thresholds.settle"] == ("2s", "default")
    assert table["roots[1].leases"] == ("4", "config.yaml:4")


def test_what_is_known_of_an_owner_is_shown_line_by_line() -> None:
    """Like any other mapping of the file."""
    file = """
owners:
  10.0.0.1:
    name: billing
    team: payments
  10.0.0.2: search
"""
    shown = [row for row in rows(joined(file=file)) if row.key.startswith("owners.")]

    assert shown == [
        ("owners.10.0.0.1.name", "billing", "config.yaml:4"),
        ("owners.10.0.0.1.team", "payments", "config.yaml:5"),
        ("owners.10.0.0.2", "search", "config.yaml:6"),
    ]


@pytest.mark.parametrize(
    ("actors", "identity", "pattern"),
    [
        ("{}", "session", None),
        ("{ identity: session }", "session", None),
        ("{ identity: owner }", "owner", ".+"),
        ("{ owner: '^([^:]+)' }", "owner", "^([^:]+)"),
    ],
)
def test_the_settings_say_what_an_actor_is(
    actors: str, identity: str, pattern: str | None
) -> None:
    """A pattern over labels, or the whole label, or the session."""
    settings = joined(file=f"actors: {actors}").config.settings()

    assert (settings.identity, settings.identity_pattern) == (identity, pattern)


def test_an_empty_config_gives_default_settings() -> None:
    """They are the defaults of the model."""
    assert Config().settings() == Settings()
    assert joined(file="thresholds: { settle: 500ms }").config.settings() == Settings(
        thresholds=Thresholds(settle=500)
    )


def test_keys_of_free_mappings_are_texts() -> None:
    """A session id is not a number, and `on` is not a truth value."""
    found = joined(file="owners: { 0x10: a, 10.0.1.11: b, on: c }")

    assert found.config.owners == {"0x10": "a", "10.0.1.11": "b", "on": "c"}


def test_a_yaml_alias_is_expanded() -> None:
    """Two clusters may share a section."""
    file = "tls: &tls { ca: a.pem }\nclusters: { a: { hosts: a, tls: *tls } }"

    tls = joined(file=file, cluster="a").config.tls

    assert tls is not None
    assert tls.ca == "a.pem"


def test_each_cluster_has_a_config_of_its_own() -> None:
    """What a cluster leaves out is taken from the top level of the file."""
    found = clusters_of(FILE + "  test: { hosts: 'test:1' }\n")

    assert {name: one.hosts for name, one in found.items()} == {
        "prod": "prod:1/app",
        "test": "test:1",
    }
    assert [one.auth for one in found.values()] == [("digest:me:s3cret",)] * 2


def test_credentials_typed_for_one_ensemble_are_not_sent_to_another() -> None:
    """Connection options are for the ensemble that zktop starts with; others are for all."""
    typed_ones = (
        typed("hosts", "typed:1"),
        typed("auth", "digest:you:secret", is_list=True),
        typed("tls.ca", "typed.pem"),
        typed("budget.watches", "9"),
    )
    prod = clusters_of(FILE, *typed_ones)["prod"]

    assert (prod.hosts, prod.auth) == ("prod:1/app", ("digest:me:s3cret",))
    assert prod.tls is not None
    assert prod.tls.ca == "prod.pem"
    assert prod.budget.watches == 9


def test_without_clusters_there_is_nothing_to_switch_to() -> None:
    """In a file without them, and without a file."""
    assert clusters_of("hosts: a:1\n") == {}


def clusters_of(file: str, *settings: Override, cluster: str | None = None) -> dict[str, Config]:
    """The configs of the clusters that a file names."""
    Path("config.yaml").write_text(file, encoding="utf-8")
    asked = Overrides(
        file=typed("config", "config.yaml"),
        cluster=None if cluster is None else typed("cluster", cluster),
        settings=settings,
    )
    return cluster_configs(asked, {"XDG_CONFIG_HOME": "nowhere"})
