"""Reads ZooKeeper: turns a live ensemble into facts, and cannot write."""

from zktop.zk.connect.address import Access, AdminAccess, parse_hosts
from zktop.zk.source import Plan, Source

__all__ = ["Access", "AdminAccess", "Plan", "Source", "parse_hosts"]
