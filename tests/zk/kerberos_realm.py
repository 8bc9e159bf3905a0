"""A Kerberos realm on this machine, with a ticket for one user and a key for one server."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers import free_port
from waiting import eventually

NAME, HOST, USER = "ZKTOP.TEST", "localhost", "alice"
SERVICE = f"zookeeper/{HOST}"
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
CLIENT = """
[libdefaults]
    default_realm = %(name)s
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1

[realms]
    %(name)s = {
        kdc = %(host)s:%(port)s
    }

[domain_realm]
    %(host)s = %(name)s
"""
CENTRE = """
[kdcdefaults]
    kdc_ports = %(port)s
    kdc_tcp_ports = %(port)s

[realms]
    %(name)s = {
        database_name = %(folder)s/principal
        key_stash_file = %(folder)s/stash
        acl_file = %(folder)s/acl
    }
"""
LOGIN = """
Server {
    com.sun.security.auth.module.Krb5LoginModule required
    useKeyTab=true storeKey=true useTicketCache=false
    keyTab="%(folder)s/server.keytab" principal="%(service)s@%(name)s";
};
"""


@dataclass(frozen=True, slots=True)
class Realm:
    """The files of the realm."""

    folder: Path

    @property
    def java(self) -> str:
        """The system properties that a Java server needs."""
        login = f"-Djava.security.auth.login.config={self.folder}/login.conf"
        return f"{login} -Djava.security.krb5.conf={self.folder}/client.conf"

    def client(self, tickets: str = "tickets") -> dict[str, str]:
        """The environment of a client with these tickets."""
        return {
            **os.environ,
            "KRB5_CONFIG": f"{self.folder}/client.conf",
            "KRB5CCNAME": f"{self.folder}/{tickets}",
        }


def is_available() -> bool:
    """True if this machine has a Kerberos server and clients that can log in."""
    tools = ("krb5kdc", "kadmin.local", "kinit")
    has_package = importlib.util.find_spec("kerberos") is not None
    return has_package and all(shutil.which(one, path=PATH) for one in tools)


@contextmanager
def realm(folder: Path) -> Iterator[Realm]:
    """Run a realm whose user has a ticket."""
    names = {
        "name": NAME,
        "host": HOST,
        "port": free_port(),
        "folder": folder,
        "service": SERVICE,
    }
    for name, text in (("client.conf", CLIENT), ("centre.conf", CENTRE), ("login.conf", LOGIN)):
        (folder / name).write_text(text % names)
    made = Realm(folder)
    environment = made.client() | {"PATH": PATH, "KRB5_KDC_PROFILE": f"{folder}/centre.conf"}
    _run(environment, "kdb5_util", "create", "-s", "-r", NAME, "-P", "master")
    for principal, keys in ((SERVICE, "server.keytab"), (USER, "user.keytab")):
        _run(environment, "kadmin.local", "-q", f"addprinc -randkey {principal}")
        _run(environment, "kadmin.local", "-q", f"ktadd -k {folder}/{keys} {principal}")
    with subprocess.Popen(
        [_tool("krb5kdc"), "-n"], env=environment, stdout=subprocess.DEVNULL
    ) as centre:
        try:
            eventually(lambda: _has_ticket(folder, environment))
            yield made
        finally:
            centre.terminate()


def _tool(name: str) -> str:
    return shutil.which(name, path=PATH) or name


def _run(environment: dict[str, str], name: str, *arguments: str) -> None:
    command = [_tool(name), *arguments]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)


def _has_ticket(folder: Path, environment: dict[str, str]) -> bool:
    command = [_tool("kinit"), "-k", "-t", f"{folder}/user.keytab", USER]
    return not subprocess.run(
        command, env=environment, capture_output=True, check=False
    ).returncode
