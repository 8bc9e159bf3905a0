"""Connection strings, and paths in a chroot."""

import pytest

from zktop.config.parse_values import hosts
from zktop.zk.connect.address import Address, Hosts, parse_hosts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zk1", Hosts((Address("zk1", 2181),))),
        ("zk1:2182", Hosts((Address("zk1", 2182),))),
        ("zk1,zk2:5", Hosts((Address("zk1", 2181), Address("zk2", 5)))),
        ("zk1:2181,zk2:2181/a/b", Hosts((Address("zk1", 2181), Address("zk2", 2181)), "/a/b")),
        ("[::1]:2182", Hosts((Address("::1", 2182),))),
        ("[fe80::1%eth0]/x", Hosts((Address("fe80::1%eth0", 2181),), "/x")),
        ("zk1,zk1:2181", Hosts((Address("zk1", 2181),))),
    ],
)
def test_hosts_are_read(text: str, expected: Hosts) -> None:
    """Host names, IPv4, IPv6 in brackets, the default port, and the chroot are read."""
    assert parse_hosts(hosts(text)) == expected  # the config checks it first
    assert parse_hosts(str(expected)) == expected


@pytest.mark.parametrize(
    ("chroot", "inside", "full"),
    [("", "/", "/"), ("", "/a", "/a"), ("/app", "/", "/app"), ("/app", "/a", "/app/a")],
)
def test_paths_go_in_and_out_of_a_chroot(chroot: str, inside: str, full: str) -> None:
    """`/app/a` on the server is `/a` for clients with the chroot `/app`."""
    hosts = Hosts((), chroot)

    assert hosts.full(inside) == full
    assert hosts.inside(full) == inside


def test_a_path_outside_the_chroot_has_no_name_inside() -> None:
    """A path outside the chroot has no client path, even if it begins with the same letters."""
    assert Hosts((), "/app").inside("/apple") is None
