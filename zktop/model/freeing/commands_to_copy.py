"""Commands to copy: find a client's process, end its session, delete a node."""

import re
import shlex
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Final

from msgspec import Struct

from zktop.model.facts import Session
from zktop.model.session_ids import session_text
from zktop.model.text import Text

_ADDRESS: Final = re.compile(r"\[?([0-9A-Za-z_][\w.-]*|[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]?:(\d{1,5})")
_POD: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")  # the names that Kubernetes allows
NOTHING_KNOWN: Final[Mapping[Text, Text]] = {}
# Characters that `clean` writes in place of others: the true name of such a node is unknown.
_REPLACED: Final = re.compile("[\u2400-\u241f\u2421\ufffd]")
_JMX: Final = (
    "jmx() { java -jar jmxterm.jar -n -v silent -l \"$(pgrep -f '[Q]uorumPeerMain')\"; }",
    "echo \"run -b $(echo beans | jmx | grep '={session}$') terminateSession\" | jmx",
)


def free_command(lock: str, connection: Sequence[str] = ()) -> str:
    """The command that prints all ways to free a lock; `connection` has the options to connect.

    >>> free_command("/locks/import"), free_command("/locks/a b", ("--cluster", "prod"))
    ('zktop free /locks/import', "zktop free '/locks/a b' --cluster prod")
    """
    return shlex.join(["zktop", "free", lock, *connection])


def find_command(client: str | None) -> str | None:
    """A command that lists the process behind a client's address, or None if it is no address.

    >>> find_command("10.0.4.31:38110")
    "ssh 10.0.4.31 'ss -tnp sport = :38110'"
    >>> find_command("[fe80::1]:38110"), find_command("-oProxyCommand=x:1"), find_command(None)
    ("ssh fe80::1 'ss -tnp sport = :38110'", None, None)
    """
    match = _ADDRESS.fullmatch(client or "")
    if match is None:
        return None
    host, port = match.groups()
    return shlex.join(["ssh", host, shlex.join(["ss", "-tnp", "sport", "=", f":{port}"])])


def pod_command(client: str | None, known: Mapping[Text, Text] = NOTHING_KNOWN) -> str | None:
    """A command that deletes a client's pod, if its owner entry names it, or that lists the pod.

    Without an entry it only lists: pods on the network of their host share an address.

    >>> pod_command("10.0.4.31:38110", {"name": "api-7d4-x1", "namespace": "shop"})
    'kubectl delete pod -n shop api-7d4-x1'
    >>> pod_command("10.0.4.31:38110")
    'kubectl get pods -A -o wide --field-selector status.podIP=10.0.4.31'
    >>> pod_command("100.64.0.7:38110")
    'kubectl get pods -A -o wide --field-selector status.podIP=100.64.0.7'
    >>> pod_command("127.0.0.1:38110"), pod_command("8.8.8.8:38110"), pod_command("db-1:38110")
    (None, None, None)
    >>> pod_command("[fe80::1%eth0]:38110")
    """
    name, namespace = (known.get(Text(field), "") for field in ("name", "namespace"))
    if all(map(_POD.fullmatch, (name, namespace))):
        return shlex.join(["kubectl", "delete", "pod", "-n", namespace, name])
    match = _ADDRESS.fullmatch(client or "")
    try:
        address = ip_address(match[1]) if match else None
    except ValueError:
        return None
    if address is None or address.is_global or address.is_loopback or address.is_link_local:
        return None
    selector = f"status.podIP={address}"
    return shlex.join(["kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", selector])


def end_session_commands(session: Session) -> tuple[str, ...]:
    """Commands for the server's host: find the JMX bean of a session, and end the session."""
    return tuple(line.replace("{session}", session_text(session)) for line in _JMX)


class ZkCli(Struct, frozen=True):
    """How ZooKeeper's own client reaches the ensemble."""

    servers: str
    prepare: str | None = None  # a command to run before it
    jvm_flags: tuple[str, ...] = ()
    needs: str | None = None  # what the user must add, because zktop does not print secrets


def delete_commands(cli: ZkCli, path: str, version: int) -> tuple[str, ...]:
    """Commands that delete a node if its data has this version, or () if the path is not exact.

    >>> delete_commands(ZkCli("zk1:2181/app"), "/locks/import/lock-7", 0)
    ('zkCli.sh -server zk1:2181/app delete -v 0 /locks/import/lock-7',)
    >>> delete_commands(ZkCli("zk1:2281", jvm_flags=("-Da=b", "-Dc=d e")), "/l/7", 0)
    ("CLIENT_JVMFLAGS='-Da=b -Dc=d e' zkCli.sh -server zk1:2281 delete -v 0 /l/7",)
    >>> delete_commands(ZkCli("zk1:2181"), "/locks/a\u241bb", 0)
    ()
    """
    if not is_exact(path):
        return ()
    flags = f"CLIENT_JVMFLAGS={shlex.quote(' '.join(cli.jvm_flags))} " if cli.jvm_flags else ""
    delete = shlex.join(["zkCli.sh", "-server", cli.servers, "delete", "-v", str(version), path])
    return tuple(filter(None, (cli.prepare, flags + delete)))


def is_exact(path: str) -> bool:
    """Whether a path is written as ZooKeeper has it: no character was replaced for display."""
    return _REPLACED.search(path) is None
