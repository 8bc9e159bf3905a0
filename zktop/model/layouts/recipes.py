"""ZooKeeper's own recipes, in Java and C, and the one of its documentation."""

from typing import Final

from zktop.model.layouts.layout import ANY_WAY, ClientSight, Layout

JAVA_WRITELOCK: Final = Layout(
    name="zk-writelock-java",
    pattern=r"^x-(?P<id>-?\d{1,19})-{SEQ}$",
    how="exists",
    sights=(
        ClientSight(
            counts="all", key="-(-?[^-]*)$", compare="number", unread="last", about=">= 3.7.0"
        ),
        ClientSight(
            counts="all",
            key="-([^-]*)$",
            compare="number",
            unread="first",
            about="3.4.12, 3.5.4 to 3.6",
        ),
    ),
    ties="name",
    id_is="token",
    about="ZooKeeper: WriteLock, the id is the session in decimal (Java); ZooKeeperNetEx (.NET)",
)

C_WRITELOCK: Final = Layout(
    name="zk-writelock-c",
    pattern="^x-(?P<id>[0-9a-f]{16})-{SEQ}$",
    how="exists",
    order="digits",
    sights=(ClientSight(counts="all", key="-([^-]*)$", unread="fails"),),
    id_is="token",
    about="ZooKeeper: zoo_lock, the id is the session in hexadecimal (C)",
)

ELECTION: Final = Layout(
    name="zk-election",
    pattern="^n_{SEQ}$",
    sights=(ClientSight(counts="all", key="^..(.*)$", compare="number", unread="fails"),),
    how="exists",
    kind="election",
    unlisted=ANY_WAY,
    about="ZooKeeper: LeaderElectionSupport (Java); ZooKeeperNetEx (.NET)",
)

GUID_LOCK: Final = Layout(
    name="guid-lock",
    pattern="^(?P<id>.+?)-lock-{SEQ}$",
    sights=(
        ClientSight(
            counts=r"-lock-(-?\d{10})$", key=r"-lock-(-?\d{10})$", about="kazoo, a named subclass"
        ),
        ClientSight(counts="all", key="^(?:.*-)?(.*)$", about="zktools: ZkAsyncLock"),
    ),
    how="exists",
    unlisted=ANY_WAY,
    about="The recipe of ZooKeeper's documentation; zktools: ZkAsyncLock (Python)",
)
