"""A server that has left the ensemble: it is asked no more, and its tables count no more."""

import itertools
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from zktop.model.facts import Server, ServerFact
from zktop.model.world.world import World
from zktop.zk.connect.address import Access, Address, AdminAccess, parse_hosts
from zktop.zk.read.request_budget import RequestBudget
from zktop.zk.servers.introspect import GONE_AFTER_S, Introspection
from zktop.zk.servers.known_servers import KnownServers
from zktop.zk.servers.sample import Sample
from zktop.zk.servers.table_formats import EnsembleMember


class Names:
    """A name server; without an address, a look-up fails."""

    def __init__(self, **addresses: list[str]) -> None:
        self.addresses = addresses

    def resolve(self, address: Address) -> list[Address]:
        """Return what is behind a name, or an address itself."""
        if address.host[0].isdigit():
            return [address]
        return [Address(host, address.port) for host in self.addresses.get(address.host, [])]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """The name server of the tests."""
    found = Names()
    monkeypatch.setattr("zktop.zk.servers.known_servers._resolve", found.resolve)
    return found


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[ServerFact]:
    """The facts that were delivered; no server answers."""

    def refused(_: Introspection, due: dict[str, Address]) -> dict[str, SimpleNamespace]:
        return {
            name: SimpleNamespace(serves=False, why="refused", address=one)
            for name, one in due.items()
        }

    times = itertools.count(1)
    monkeypatch.setattr(Introspection, "_probe", refused)
    for module in ("introspect", "table_facts"):
        monkeypatch.setattr(f"zktop.zk.servers.{module}.now_ms", lambda: next(times))
    return []


@pytest.fixture
def wait_s(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let this time pass for the rounds."""
    passed_s = [time.monotonic()]
    monkeypatch.setattr("zktop.zk.servers.introspect.time.monotonic", lambda: sum(passed_s))
    return passed_s.append


def asking(hosts: str, told: list[ServerFact]) -> Introspection:
    """Ask these servers; the thread does not run."""
    access, pace = Access(parse_hosts(hosts)), RequestBudget(1_000)
    return Introspection(
        access, AdminAccess(), told.extend, lambda: 100, pace, every=5.0, large_tables=False
    )


def test_an_address_that_a_name_has_no_more_is_no_server(
    names: Names, told: list[ServerFact], wait_s: Callable[[float], None]
) -> None:
    """A pod that restarts with another address is not in the world twice for long."""
    introspection = asking("zk:2181", told)
    names.addresses["zk"] = ["10.0.0.1", "10.0.0.2"]
    introspection._round()
    names.addresses["zk"] = ["10.0.0.2", "10.0.0.3"]
    wait_s(GONE_AFTER_S + 1)
    introspection._round()

    assert World().after(*told).tables.keys() == {"10.0.0.2:2181", "10.0.0.3:2181"}


def test_a_departure_is_told_once(
    names: Names, told: list[ServerFact], wait_s: Callable[[float], None]
) -> None:
    """Later rounds have forgotten the server."""
    introspection = asking("zk:2181", told)
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.2"):
        names.addresses["zk"] = [address, "10.0.0.3"]
        introspection._round()
        wait_s(GONE_AFTER_S + 1)

    left = [fact.server for fact in told if isinstance(fact, Server) and fact.left]
    assert left == ["10.0.0.1:2181"]


def test_a_server_that_one_answer_leaves_out_stays(
    names: Names, told: list[ServerFact], wait_s: Callable[[float], None]
) -> None:
    """A name server may tell a part of the addresses at a time; tables of the others count on."""
    introspection = asking("zk:2181", told)
    for addresses in (["10.0.0.1", "10.0.0.2"], ["10.0.0.2", "10.0.0.3"]) * 3:
        names.addresses["zk"] = addresses
        introspection._round()
        wait_s(GONE_AFTER_S / 2)

    assert len(World().after(*told).tables) == 3
    assert not any(isinstance(fact, Server) and fact.left for fact in told)


def test_a_member_that_a_reconfiguration_removes_is_no_server_at_once(
    told: list[ServerFact],
) -> None:
    """It may have been the leader, and would be shown as a second one."""
    introspection = asking("10.0.0.1:2181", told)
    members = tuple(EnsembleMember(f"10.0.0.{number}", 2181) for number in (1, 2, 3))
    for known in (members, members[:2]):
        introspection.set_members(known)
        introspection._round()

    assert World().after(*told).tables.keys() == {"10.0.0.1:2181", "10.0.0.2:2181"}


def test_a_member_that_is_read_by_its_tls_port_is_one_server(
    told: list[ServerFact], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration has its plain port, which does not answer to TLS."""

    def probed(_: Introspection, due: dict[str, Address]) -> dict[str, SimpleNamespace]:
        return {
            name: SimpleNamespace(serves=one.port == 2281, why="refused", address=one)
            for name, one in due.items()
        }

    monkeypatch.setattr(Introspection, "_probe", probed)
    sample = Sample("4lw", server_id=1)
    monkeypatch.setattr(Introspection, "_request_sample", lambda *_: sample)
    introspection = asking("10.0.0.1:2281", told)
    introspection.set_members(
        (EnsembleMember("10.0.0.1", 2181, 1), EnsembleMember("10.0.0.2", 2181, 2))
    )
    introspection._round()

    assert World().after(*told).tables.keys() == {"10.0.0.1:2281", "10.0.0.2:2181"}


def test_a_member_without_a_port_that_leaves_is_no_server(told: list[ServerFact]) -> None:
    """It was reported as one that cannot be asked."""
    introspection = asking("10.0.0.1:2181", told)
    introspection.ensemble.members = (EnsembleMember("10.0.0.7", None),)
    introspection._report_unasked()
    introspection.ensemble.members = ()
    introspection._report_unasked()

    assert not World().after(*told).tables


def test_a_failed_look_up_changes_no_servers(names: Names) -> None:
    """The addresses of a name stay known while its name server does not answer."""
    known = KnownServers(parse_hosts("zk:2181"))
    names.addresses["zk"] = ["10.0.0.1", "10.0.0.2"]
    before = known.servers()
    names.addresses.clear()

    assert known.servers() == before


def test_an_alias_stands_for_one_server(names: Names) -> None:
    """Its name may have several addresses, like those of a load balancer."""
    names.addresses["outside"] = ["10.0.0.1", "10.0.0.2"]
    known = KnownServers(parse_hosts("zk:2181", {"zk:2181": "outside:2181"}))

    assert known.servers().keys() == {"zk:2181"}


def test_servers_are_told_apart_by_the_addresses_that_more_of_them_have(names: Names) -> None:
    """Only one of two servers has an IPv6 address, and a name server puts it first."""
    names.addresses["zk"] = ["fd00::1", "10.0.0.1", "10.0.0.2"]
    known = KnownServers(parse_hosts("zk:2181"))

    assert known.servers().keys() == {"10.0.0.1:2181", "10.0.0.2:2181"}
