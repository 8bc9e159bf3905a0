"""Elections with fixed node names: those of zk-ruby, Hadoop, HBase and Patroni."""

from typing import Final

import msgspec

from zktop.model.layouts.layout import Layout
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.main_libraries import RUBY_ELECTION
from zktop.model.locks.client_order import in_order
from zktop.model.locks.mixed_queue import MixedQueue
from zktop.model.locks.queue import LayoutMembers
from zktop.model.locks.queues_by_name import Queues, queue_in
from zktop.model.locks.shapes.shape import LockShape, ShapeContext
from zktop.model.locks.shapes.single_node import SingleNodeQueue
from zktop.model.text import Text
from zktop.model.world.children_of_znode import NO_FAMILY


def _ruby_election(context: ShapeContext) -> Queues:
    listed, rest = context.sorted_children(context.layout, context.site.family)
    members = in_order(context.layout, listed)
    folder = context.folders.of(context.site.family, (context.layout,))(members)
    queue = queue_in(folder, LayoutMembers(context.layout, "first", members))
    foreign = tuple(znode.name for znode in rest if znode.name != "leader_ack")
    return Queues((queue,), foreign=foreign, asks_watches=isinstance(queue, MixedQueue))


RUBY: Final = LockShape(
    layout=RUBY_ELECTION,
    fits=lambda site: "leader_ack" in site.family.members,
    make=_ruby_election,
)


def _queue_of_node(context: ShapeContext, node: str, standbys: str = "") -> Queues:
    """Make the queue of one holder. Standbys may have nodes below a child named `standbys`."""
    znode = context.site.family.members.get(Text(node))
    holders = []
    if znode is not None and (znode.stat is None or znode.stat.owner):
        holders.append(context.single(node, znode))
    below = context.site.below(standbys) if standbys else NO_FAMILY
    waiting = [context.single(f"{standbys}/{znode.name}", znode) for znode in below]
    return Queues((SingleNodeQueue(holders, waiting, how=context.layout.how),))


_HADOOP_NAMES: Final = frozenset(("ActiveStandbyElectorLock", "ActiveBreadCrumb"))


def _hadoop(context: ShapeContext) -> Queues:
    queues = _queue_of_node(context, "ActiveStandbyElectorLock")
    names = context.site.family.members
    is_stale = "ActiveBreadCrumb" in names and "ActiveStandbyElectorLock" not in names
    return msgspec.structs.replace(queues, warnings=("stale-breadcrumb",) if is_stale else ())


HADOOP: Final = LockShape(
    layout=Layout(
        name="hadoop-elector",
        pattern="^ActiveStandbyElectorLock$",
        order="arrival",
        how="exists",
        watch="holder",
        kind="election",
        about="Hadoop HDFS and YARN: ActiveStandbyElector",
    ),
    fits=lambda site: not _HADOOP_NAMES.isdisjoint(site.family.members),
    make=_hadoop,
)


def _is_hbase(site: LockSite) -> bool:
    """Return whether masters stand by. While they elect one, there is no `master`."""
    return "backup-masters" in site.family.members and site.is_empty("master")


HBASE: Final = LockShape(
    layout=Layout(
        name="hbase-master",
        pattern="^master$",
        order="arrival",
        how="exists",
        watch="holder",
        kind="election",
        about="HBase: the active master; the others are in backup-masters",
    ),
    fits=_is_hbase,
    make=lambda context: _queue_of_node(context, "master", standbys="backup-masters"),
    leaf="master",
    parts=("backup-masters",),
)


_PATRONI_NAMES: Final = frozenset(
    ("initialize", "config", "history", "status", "sync", "failover")
)


def _is_patroni(site: LockSite) -> bool:
    """Return whether these are the keys of a cluster. Its `leader` is a node, not a folder."""
    names = site.family.members.keys()
    is_cluster = "members" in names and ("leader" in names or len(names & _PATRONI_NAMES) > 1)
    return is_cluster and site.is_empty("leader")


PATRONI: Final = LockShape(
    layout=Layout(
        name="patroni",
        pattern="^leader$",
        order="arrival",
        watch="holder",
        kind="election",
        about="Patroni: the leader key of a PostgreSQL cluster",
    ),
    fits=_is_patroni,
    make=lambda context: _queue_of_node(context, "leader"),
    leaf="leader",
)
