"""The only place that reads ZooKeeper: it turns a live ensemble into facts and cannot write."""

from zktop.zk.connect.address import Access, Address, Admin, Hosts, Tls, parse_hosts
from zktop.zk.source import Cost, Plan, Source

__all__ = ["Access", "Address", "Admin", "Cost", "Hosts", "Plan", "Source", "Tls", "parse_hosts"]
