"""ZooKeeper's own recipes, in Java and C, and the one of its documentation."""

from typing import Final

from zktop.model.layouts.layout import ANY_WAY, Layout

JAVA_WRITELOCK: Final = Layout(
    name="zk-writelock-java",
    pattern=r"^x-(?P<id>-?\d{1,19})-{SEQ}$",
    how="exists",
    ties="name",
    id_is="token",
    about="ZooKeeper: WriteLock, the id is the session in decimal (Java); ZooKeeperNetEx (.NET)",
)

C_WRITELOCK: Final = Layout(
    name="zk-writelock-c",
    pattern="^x-(?P<id>[0-9a-f]{16})-{SEQ}$",
    how="exists",
    order="digits",
    id_is="token",
    about="ZooKeeper: zoo_lock, the id is the session in hexadecimal (C)",
)

ELECTION: Final = Layout(
    name="zk-election",
    pattern="^n_{SEQ}$",
    how="exists",
    kind="election",
    unlisted=ANY_WAY,
    about="ZooKeeper: LeaderElectionSupport (Java); ZooKeeperNetEx (.NET)",
)

GUID_LOCK: Final = Layout(
    name="guid-lock",
    pattern="^(?P<id>.+?)-lock-{SEQ}$",
    how="exists",
    unlisted=ANY_WAY,
    about="The recipe of ZooKeeper's documentation; zktools: ZkAsyncLock (Python)",
)
