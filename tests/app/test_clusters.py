"""The clusters of the UI, on two servers: each has its own config and its own session."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from servers import RunningServer, sandbox_server
from ui.fake_feed import settled, until

from zktop.app import run_ui
from zktop.app.clusters import Clusters, open_cluster
from zktop.cli.main import run as cli_run
from zktop.config.keys_and_defaults import Config, DemoSection, WebhookSection
from zktop.model.root_entry import Root
from zktop.ui.app import Zktop
from zktop.ui.settings import UiSettings


@pytest.fixture
def servers() -> Iterator[tuple[RunningServer, RunningServer]]:
    """Two sandboxes."""
    with sandbox_server() as first, sandbox_server() as second:
        yield first, second


async def test_switching_between_two_servers(
    servers: tuple[RunningServer, RunningServer],
) -> None:
    """Both are live at once, each with its own session, and all sessions end with the UI."""
    configs = {
        name: Config(hosts=server.address, roots=(Root("/locks/**"),))
        for name, server in zip(("us", "eu"), servers, strict=True)
    }
    hosts = {name: one.hosts for name, one in configs.items()}
    clusters = Clusters(hosts, lambda name: open_cluster(name, configs[name]))
    first = clusters.open("us")
    app = Zktop(first.feed, first.contenders, first.exports, UiSettings(), clusters)
    try:
        async with app.run_test(size=(120, 36)) as pilot:
            await until(pilot, lambda: app.visit.status.word == "live", "us to be live")
            app.turn_to_cluster("eu")
            await until(pilot, lambda: app.visit.status.word == "live", "eu to be live")
            lines = await settled(pilot)
            frames = [visit.tape.last for visit in app.visits.values()]

            assert "zktop  eu" in lines[0]
            assert {name: one.status.word for name, one in app.visits.items()} == {
                "us": "live",
                "eu": "live",
            }
            assert all(frames)
    finally:
        clusters.close()


def test_demo_clients_on_the_sandbox_raise_no_alert() -> None:
    """Their deadlock is no incident, although the user's config has a webhook."""
    config = Config(webhooks=(WebhookSection(url="http://127.0.0.1:9/"),))
    clusters = [open_cluster("demo", config, sandbox) for sandbox in (None, "127.0.0.1:1")]

    assert [bool(one.feed.webhooks) for one in clusters] == [True, False]
    for one in clusters:
        one.feed.stop()


def test_commands_name_the_cluster_or_its_hosts() -> None:
    """A cluster of the config file has a login there, too."""
    config = Config(hosts="zk1:2181/app", demo=DemoSection(allow="never"))
    found = [open_cluster(name, config).exports for name in ("prod", config.hosts)]

    options = [one.connection for one in found if one is not None]
    assert options == [("--cluster", "prod"), ("--hosts", "zk1:2181/app")]


TYPED = {
    ("--hosts", "zk1:1", "--tls-ca", "ca.pem"): ("--hosts", "zk1:1", "--tls-ca", "ca.pem"),
    ("--config", "c.yaml", "--cluster", "prod"): ("--config", "c.yaml", "--cluster", "prod"),
    ("--config", "c.yaml"): ("--hosts", "zk0:1", "--config", "c.yaml"),
}


@pytest.fixture
def opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Sequence[str]]]:
    """Returns the options in copied commands, by cluster, after this command line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_ui, "require_terminal", lambda _instead: None)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    (tmp_path / "ca.pem").write_text("")
    Path("c.yaml").write_text("hosts: zk0:1\nclusters: {prod: {hosts: 'zk1:1'}}\n")
    found: dict[str, Sequence[str]] = {}

    def look(clusters: Clusters, _settings: UiSettings) -> int:
        for name in clusters.hosts:
            exports = clusters.open(name).exports
            found[name] = exports.connection if exports is not None else ()
        clusters.close()
        return 0

    monkeypatch.setattr(run_ui, "_run", look)

    def run(*args: str) -> dict[str, Sequence[str]]:
        assert cli_run([*args]) == 0
        return found

    return run


@pytest.mark.parametrize(("typed", "options"), TYPED.items())
def test_copied_commands_reach_the_ensemble(
    opened: Callable[..., dict[str, Sequence[str]]],
    typed: tuple[str, ...],
    options: tuple[str, ...],
) -> None:
    """With what the user typed, and the hosts or the cluster."""
    assert next(iter(opened(*typed).values())) == options


def test_copied_commands_name_the_file_of_another_cluster(
    opened: Callable[..., dict[str, Sequence[str]]],
) -> None:
    """Its other options are for the first one alone."""
    found = opened("--config", "c.yaml", "--auth", "digest:a:b")

    assert found["prod"] == ("--cluster", "prod", "--config", "c.yaml")


def test_a_demo_on_a_cluster_has_its_name(
    opened: Callable[..., dict[str, Sequence[str]]],
) -> None:
    """With its login, in commands and in webhooks."""
    found = opened("demo", "--config", "c.yaml", "--cluster", "prod")

    assert found == {"prod": ("--config", "c.yaml", "--cluster", "prod")}


def test_the_demo_root_is_watched_only_if_demo_clients_may_write() -> None:
    """With --read-only, nothing happens there."""
    demos = DemoSection(allow="never")
    feeds = [
        open_cluster("a", Config(roots=(Root("/a/**"),), demo=demo)).feed
        for demo in (demos, DemoSection())
    ]
    for feed in feeds:
        feed.stop()

    assert [len(feed._plan.roots) for feed in feeds] == [1, 2]
