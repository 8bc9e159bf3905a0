"""The servers of an ensemble, as the connection string and its own configuration list them."""

import ipaddress
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from zktop.zk.connect.address import Address, Hosts
from zktop.zk.connect.preflight import Probe
from zktop.zk.servers.table_formats import EnsembleMember


class KnownServers:
    """The known servers by display name: those of the connection string, and other members."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._host_names: set[str] = set()  # and numeric addresses, of all known servers
        self._last_resolved: dict[Address, list[Address]] = {}
        self.named: set[str] = set()  # servers of the connection string
        self.members: tuple[EnsembleMember, ...] = ()
        self.member_ids: dict[str, int] = {}  # of the servers that --hosts does not name

    def servers(self) -> dict[str, Address]:
        """Resolve all names. A name with several addresses stands for several servers."""
        servers: dict[str, Address] = {}
        resolved: set[Address] = set()
        self._host_names = {address.host for address in self._hosts.addresses}
        for address in self._hosts.addresses:
            servers |= self._servers_behind(address, resolved)
        self.named = set(servers)
        self.member_ids.clear()
        for member in self.members:
            if member.port:
                address = self._hosts.server(member.host, member.port)
                behind = self._servers_behind(address, resolved)
                self.member_ids |= dict.fromkeys(behind, member.id)
                servers |= behind
        return servers

    def _servers_behind(self, address: Address, resolved: set[Address]) -> dict[str, Address]:
        """The servers of one address, without those that are known by another name."""
        numeric = _resolve(address.reachable) or self._last_resolved.get(address, [])
        if not numeric:
            return {str(address): address}
        self._last_resolved[address] = numeric
        if not resolved.isdisjoint(numeric):
            return {}
        resolved.update(numeric)
        self._host_names.update(each.host for each in numeric)
        if _is_one_server(address, numeric):
            return {str(address): address}
        return {str(each): each for each in _larger_family(numeric)}

    def unasked(self) -> tuple[str, ...]:
        """Members that cannot be asked: the configuration does not include their port."""
        hosts = (member.host for member in self.members if member.port is None)
        return tuple(host for host in hosts if host not in self._host_names)


def names_of(probes: Iterable[Probe]) -> dict[str, str]:
    """Map the numeric address of each server to its name in `KnownServers`."""
    connected = [(probe.peer, probe.address) for probe in probes if probe.peer]
    with ThreadPoolExecutor(len(connected) or 1) as pool:  # a name server may be slow
        resolved = pool.map(_resolve, [address.reachable for _, address in connected])
        return {
            peer: str(address)
            for (peer, address), numeric in zip(connected, resolved, strict=True)
            if _is_one_server(address, numeric)
        }


def _resolve(address: Address) -> list[Address]:
    """Return the numeric addresses behind a name, or none if it cannot be resolved."""
    try:
        answers = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    places = (place for *_, place in answers)
    return list(dict.fromkeys(Address(str(host), int(port)) for host, port, *_ in places))


def _is_one_server(address: Address, numeric: list[Address]) -> bool:
    """True unless the name of a server stands for several servers."""
    return bool(address.via) or len(_larger_family(numeric)) <= 1 or _is_loopback(numeric)


def _larger_family(addresses: list[Address]) -> list[Address]:
    """Return the IPv4 or the IPv6 addresses, whichever are more, as a server may have both."""
    families: dict[bool, list[Address]] = {}  # by whether they are IPv6
    for address in addresses:
        families.setdefault(":" in address.host, []).append(address)
    return max(families.values(), key=len, default=[])


def _is_loopback(addresses: list[Address]) -> bool:
    return all(
        ipaddress.ip_address(address.host.partition("%")[0]).is_loopback for address in addresses
    )
