"""The clusters that one run of the UI shows. All are closed together."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from zktop.app.connection_settings import SAMPLE_EVERY_S, access_of, plan_of
from zktop.app.contenders import Contenders
from zktop.app.export_formats import ReportExports
from zktop.app.feeds import LiveFeed
from zktop.config.keys_and_defaults import Config
from zktop.model.root_entry import Root
from zktop.ui.interfaces import OpenCluster


class Clusters:
    """Opens clusters by name. Implements `ClusterList`."""

    def __init__(self, hosts: Mapping[str, str], open_one: Callable[[str], OpenCluster]) -> None:
        """Open nothing yet. `hosts` are the hosts of each cluster, by name."""
        self.hosts, self._open_one = hosts, open_one
        self._opened: list[OpenCluster] = []

    def open(self, name: str) -> OpenCluster:
        cluster = self._open_one(name)
        self._opened.append(cluster)
        return cluster

    def close(self) -> None:
        """Disconnect from all clusters at once, then end their contenders."""
        if self._opened:
            with ThreadPoolExecutor(len(self._opened)) as threads:
                list(threads.map(_close, self._opened))


def _close(cluster: OpenCluster) -> None:
    cluster.feed.stop()
    if cluster.contenders is not None:
        cluster.contenders.close()


def open_cluster(
    name: str, config: Config, sandbox: str | None = None, typed: Sequence[str] = ()
) -> OpenCluster:
    """Open a live cluster. `sandbox` is a server that zktop started for it.

    `typed` are the options that the user typed, for commands to copy. The sandbox has no webhooks,
    because what happens there is not an incident.
    """
    if sandbox is not None:
        config = replace(config, webhooks=())
    can_write = sandbox is not None or config.demo.allow != "never"
    contenders = Contenders(config, sandbox) if can_write else None
    feed = live_feed(name, config, contenders)
    this_cluster = ("--hosts", name) if name == config.hosts else ("--cluster", name)
    options = typed if this_cluster[0] in typed else (*this_cluster, *typed)
    return OpenCluster(feed, contenders, exports_of(config.hosts, options))


def live_feed(name: str, config: Config, contenders: Contenders | None = None) -> LiveFeed:
    """Return the feed of a live cluster, which knows the sessions of zktop's own contenders.

    If roots are configured, the demo root is watched too when contenders may write there.
    """
    if config.roots and contenders is not None:
        config = replace(config, roots=(*config.roots, Root(f"{config.demo.root}/**")))
    plan = plan_of(config, SAMPLE_EVERY_S)
    ours = (lambda: contenders.sessions) if contenders is not None else frozenset
    feed = LiveFeed(name, access_of(config), plan, config.settings(), ours)
    feed.owners_file = config.owners_file
    if config.webhooks:
        from zktop.app.alerts.webhooks import Webhooks  # noqa: PLC0415  loads an HTTP client

        feed.webhooks = Webhooks(config.webhooks, name, feed.complain)
    return feed


def exports_of(address: str, options: Sequence[str]) -> ReportExports:
    """Return the exports of an ensemble's reports. `options` are those to connect to it."""
    hosts, slash, chroot = address.partition("/")
    return ReportExports(hosts, slash + chroot, options)


def recorded_options(address: str) -> Sequence[str]:
    """Return the command-line options to connect to the ensemble of a recording.

    >>> recorded_options("zk1:2181,zk2:2181/app")
    ('--hosts', 'zk1:2181,zk2:2181/app')
    >>> recorded_options("zk1,zk2")  # an import knows folders, not addresses
    ()
    """
    hosts = address.partition("/")[0].split(",")
    return ("--hosts", address) if all(":" in host for host in hosts) else ()
