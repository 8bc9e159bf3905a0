"""Reads ZooKeeper: turns a live ensemble into facts, and cannot write."""

from zktop.zk.connect.address import Access, Address, AdminAccess, Hosts, TlsAccess, parse_hosts
from zktop.zk.source import Plan, Source, WatchingCost

__all__ = [
    "Access",
    "Address",
    "AdminAccess",
    "Hosts",
    "Plan",
    "Source",
    "TlsAccess",
    "WatchingCost",
    "parse_hosts",
]
