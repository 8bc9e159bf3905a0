"""The clusters of the UI, on two servers: each has its own config and its own session."""

from collections.abc import Iterator

import pytest
from servers import RunningServer, sandbox_server
from ui.fake_feed import settled, until

from zktop.app.clusters import Clusters, open_cluster
from zktop.config.keys_and_defaults import Config, DemoSection, WebhookSection
from zktop.model.settings import Root
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
