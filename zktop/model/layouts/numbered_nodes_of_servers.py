"""Layouts of well-known servers whose locks and elections are numbered nodes.

Servers that use fixed names, as Patroni does, are in `locks/shapes/hadoop_hbase_patroni.py`.
"""

from typing import Final

from zktop.model.layouts.layout import ClientView, Layout

_WHOLE: Final = ClientView(counts="all")  # every child, by its whole name

ACCUMULO: Final = (
    Layout(
        name="accumulo-zlock",
        pattern=r"^zlock#(?P<id>{U36})#(?P<seq>[012]\d{9})$",
        watch="run",
        how="exists",
        ties="name",
        id_is="token",
        about="Accumulo 2.1 and newer: ServiceLock",
    ),
    Layout(
        name="accumulo-zlock-old",
        pattern="^zlock-{SEQ}$",
        how="exists",
        order="text",
        sights=(_WHOLE,),
        about="Accumulo 1.10 and older: ZooLock",
    ),
    Layout(
        name="accumulo-fate-lock",
        pattern=r"^flock#(?:(?P<mode>READ|WRITE)~(?P<id>FATE:(?:META|USER):{U36})"
        r"~(?:N|P[A-Za-z0-9_=-]*)~(?:N|P[A-Za-z0-9_=-]*)#)?(?P<seq>\d{10})$",
        modes={"READ": "read", "WRITE": "write", "": "write"},
        watch="none",
        order="number",
        sights=(ClientView(counts="all", key="(.{10})$", compare="number", unread="fails"),),
        persistent=True,
        about="Accumulo FATE: table locks; they outlive a crash, and row ranges decide",
    ),
)

SERVERS: Final = (
    Layout(
        name="hive-lock",
        pattern="^LOCK-(?P<mode>EXCLUSIVE|SEMI_SHARED|SHARED)-{SEQ}$",
        modes={"EXCLUSIVE": "exclusive", "SEMI_SHARED": "read", "SHARED": "read"},
        watch="none",
        sights=(
            ClientView(
                counts="^LOCK-(?:EXCLUSIVE|SHARED)-",
                key="^LOCK-(?:EXCLUSIVE|SHARED)-(.*)$",
                compare="number",
                bars="^LOCK-EXCLUSIVE-",
            ),
        ),
        persistent=True,
        about="Hive: ZooKeeperHiveLockManager; a client deletes its node after a conflict",
    ),
    Layout(
        name="solr-election",
        pattern=r"^-?\d{1,19}-(?P<id>.+?)-n_(?P<seq>\d{10})$",
        sights=(ClientView(counts="all", key=r"-n_(\d+)$", compare="number", unread="fails"),),
        kind="election",
        ties="name",
        about="Solr: overseer and shard leader election",
    ),
    Layout(
        name="bookkeeper-auditor",
        pattern="^V_{SEQ}$",
        sights=(ClientView(counts="all", key="^.*?V_(.*)$", compare="number", unread="fails"),),
        how="exists",
        kind="election",
        about="BookKeeper: election of the auditor",
    ),
    Layout(
        name="member-group",
        pattern="^member_{SEQ}$",
        how="exists",
        order="text",
        sights=(_WHOLE,),
        unlisted=("children",),
        about="Twitter commons: DistributedLockImpl, Group, Candidate (Java)",
    ),
    Layout(
        name="spark-master-old",
        pattern="^master_{SEQ}$",
        watch="holder",
        how="exists",
        order="text",
        sights=(_WHOLE,),
        kind="election",
        about="Spark before it used Curator: election of the master",
    ),
    Layout(
        name="clickhouse-leader-election",
        pattern="^leader_election-(?:0|{SEQ})$",
        how="exists",
        order="text",
        sights=(_WHOLE,),
        kind="election",
        about="ClickHouse before 21.12; the marker `-0` means that there may be many leaders",
    ),
)

MESOS: Final = Layout(
    name="mesos-group",
    pattern=r"^(?:(?P<name>(?:json\.)?info)_)?{SEQ}$",
    watch="children",
    sights=(ClientView(counts="all", key="([^_]*)$", compare="number"),),
    kind="election",
    about="Mesos: masters' group; the smallest number leads",
)
