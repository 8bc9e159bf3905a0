"""Which servers there are to ask: those in the connection string, and the other members."""

import ipaddress
import socket
from collections.abc import Iterable

from zktop.zk.hosts import Address
from zktop.zk.tables import Member


class Ensemble:
    """The known servers by the name they are shown under."""

    def __init__(self, given: Iterable[Address]) -> None:
        self._given = tuple(given)
        self._hosts: set[str] = set()
        self.named: set[str] = set()  # servers that the connection string names
        self.members: tuple[Member, ...] = ()

    def servers(self) -> dict[str, Address]:
        """Resolve all names; a name with several addresses stands for several servers."""
        servers: dict[str, Address] = {}
        met: set[Address] = set()
        self._hosts = {address.host for address in self._given}
        for address in self._given:
            servers |= self._behind(address, met)
        self.named = set(servers)
        for address in self._others():
            servers |= self._behind(address, met)
        return servers

    def _behind(self, address: Address, met: set[Address]) -> dict[str, Address]:
        """Give the servers of one address, without those that were met under another name."""
        found = _resolved(address)
        if not found:
            return {str(address): address}
        if met & set(found):
            return {}
        met.update(found)
        self._hosts.update(one.host for one in found)
        if len(found) == 1 or _is_loopback(found):
            return {str(address): address}
        return {str(one): one for one in found}

    def unasked(self) -> tuple[str, ...]:
        """Name the members that cannot be asked: the configuration does not tell their port."""
        hosts = (member.host for member in self.members if member.port is None)
        return tuple(host for host in hosts if host not in self._hosts)

    def _others(self) -> list[Address]:
        return [Address(member.host, member.port) for member in self.members if member.port]


def _resolved(address: Address) -> list[Address]:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(Address(str(one[4][0]), int(one[4][1])) for one in found))


def _is_loopback(addresses: list[Address]) -> bool:
    return all(ipaddress.ip_address(one.host.partition("%")[0]).is_loopback for one in addresses)
