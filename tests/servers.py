"""Servers for tests: a real ZooKeeper where the machine has one, and the sandbox."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kazoo.client import KazooClient

DEBIAN_JARS = Path("/usr/share/java")
NEEDED = (
    "zookeeper",
    "servlet-api",
    "slf4j-simple",
    "netty-codec",
)  # their manifests name the others
READY_WITHIN_S = 60.0
PORTS = range(20_000, 32_000)  # outside of the range from which the kernel picks ports
AUDITS = "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.audit=info"  # with audit.enable
JVM = ["-Xms16m", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", AUDITS]
SASL_ONLY = {
    "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    "enforce.auth.enabled": "true",
    "enforce.auth.schemes": "sasl",
}
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
HOST = "127.0.0.1"
EVERY_HOST = "0.0.0.0"
_taken_ports: list[socket.socket] = []


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that serves, and its process."""

    address: str
    process: subprocess.Popen[str]
    admin_port: int | None = None

    @property
    def port(self) -> int:
        """The client port."""
        return int(self.address.rpartition(":")[2])

    @property
    def log(self) -> Path:
        """Its log; the last argument of the process is its config file, in the server's folder."""
        config = self.process.args[-1]  # type: ignore[index]  # it is a list
        return Path(str(config)).parent / "log"


@contextmanager
def real_zookeeper(
    *, admin: bool = False, memory_mb: int = 64, **settings: object
) -> Iterator[RunningServer]:
    """Run a standalone server on a free port, in its own folder.

    The jars come from $ZOOKEEPER_HOME/lib or from Debian's packages; without them, tests marked
    `zookeeper` are left out. `settings` go into zoo.cfg.
    """
    classpath = _needed_classpath()
    folder = Path(tempfile.mkdtemp(prefix="zktop-zookeeper-"))
    port, admin_port = free_port(), free_port() if admin else None
    config = _config(folder, port, admin_port, settings)
    memory = f"-Xmx{memory_mb}m"
    command = ["java", *JVM, memory, QUIET, "-cp", classpath, MAIN, str(config)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, text=True)
    try:
        _wait_until_serving(process, port, folder / "log")
        yield RunningServer(f"{HOST}:{port}", process, admin_port)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


@contextmanager
def real_ensemble(
    size: int = 3, *, own_hosts: bool = False, **settings: object
) -> Iterator[list[RunningServer]]:
    """Run an ensemble whose members all serve, each with an AdminServer.

    With `own_hosts` they know each other as 127.0.0.2, 127.0.0.3 ..., as on machines of their own.
    The members' processes may be killed; `started_again` restarts one with its data.
    """
    classpath = _needed_classpath()
    with tempfile.TemporaryDirectory(prefix="zktop-ensemble-") as folder:
        members = [_member(Path(folder), number) for number in range(1, size + 1)]
        peers = {f"server.{m.number}": _peer(m, own_hosts=own_hosts) for m in members}
        if own_hosts:
            settings = {"clientPortAddress": EVERY_HOST} | settings
        running = [_started(m, classpath, peers | settings) for m in members]
        try:
            for server, member in zip(running, members, strict=True):
                _wait_until_serving(server.process, server.port, member.folder / "log")
            yield running
        finally:
            for server in running:
                server.process.kill()
                server.process.wait()


def started_again(server: RunningServer) -> RunningServer:
    """Start the server again on its old port with its old data; it does not serve yet."""
    command, folder = server.process.args, server.log.parent
    with server.log.open("a") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, text=True)
    return RunningServer(server.address, process, server.admin_port)


def serving_again(server: RunningServer) -> RunningServer:
    """Start the server again on its old port with its old data, and wait until it serves."""
    again = started_again(server)
    _wait_until_serving(again.process, again.port, again.log)
    return again


@dataclass(frozen=True, slots=True)
class _Member:
    number: int
    folder: Path
    port: int
    admin: int
    quorum: int
    election: int


def _peer(member: _Member, *, own_hosts: bool) -> str:
    host, own = (f"127.0.0.{member.number + 1}", EVERY_HOST) if own_hosts else (HOST, HOST)
    return f"{host}:{member.quorum}:{member.election};{own}:{member.port}"


def _member(base: Path, number: int) -> _Member:
    folder = base / str(number)
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "myid").write_text(f"{number}\n")
    return _Member(number, folder, *(free_port() for _ in range(4)))


def _started(member: _Member, classpath: str, settings: dict[str, object]) -> RunningServer:
    settings = {"initLimit": 10, "syncLimit": 5} | settings
    config = _config(member.folder, member.port, member.admin, settings)
    command = ["java", *JVM, QUIET, "-cp", classpath, MAIN, str(config)]
    with (member.folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=member.folder, stdout=log, stderr=log, text=True)
    return RunningServer(f"{HOST}:{member.port}", process, member.admin)


@contextmanager
def sandbox_server(*arguments: str, errors: IO[str] | None = None) -> Iterator[RunningServer]:
    """Run the sandbox as a process on a free port; its stderr goes to `errors`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "zktop.sandbox", "--port", "0", "--until-stdin-closes", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        address = process.stdout.readline().strip()
        assert address, f"the sandbox ended with {process.wait()} instead of starting"
        yield RunningServer(address, process)
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(READY_WITHIN_S)
        process.stdout.close()


@contextmanager
def kazoo_client(address: str) -> Iterator[KazooClient]:
    """A client that is connected."""
    client = KazooClient(address)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


def has_real_zookeeper() -> bool:
    """True if this machine can start a real server."""
    return _classpath() is not None


def free_port() -> int:
    """A free port that no other call returns while this process lives.

    A port from the kernel's own range may be another test's a moment later, and a client that
    retries such a port may connect to itself. Other test processes look for ports, too: the UDP
    port of the same number, which no server needs, tells them that this one is taken.
    """
    while True:
        port = secrets.choice(PORTS)
        taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket() as probe, suppress(OSError):
            taken.bind((HOST, port))
            probe.bind((HOST, port))
            _taken_ports.append(taken)
            return port
        taken.close()


def ask(port: int, word: str, timeout: float = 5.0) -> str:
    """The whole answer to a four-letter word."""
    with socket.create_connection((HOST, port), timeout) as connection:
        connection.sendall(word.encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def java_command(main: str, *arguments: str) -> list[str] | None:
    """The command that runs one of ZooKeeper's own programs; None without ZooKeeper."""
    classpath = _classpath()
    return None if classpath is None else ["java", *JVM, QUIET, "-cp", classpath, main, *arguments]


def _classpath() -> str | None:
    if shutil.which("java") is None:
        return None
    if home := os.environ.get("ZOOKEEPER_HOME"):
        lib = Path(home) / "lib"
        return str(lib / "*") if any(lib.glob("zookeeper*.jar")) else None
    jars = [DEBIAN_JARS / f"{n}.jar" for n in NEEDED]
    return ":".join(map(str, jars)) if jars[0].exists() else None


def _needed_classpath() -> str:
    if (found := _classpath()) is None:
        raise LookupError("no ZooKeeper on this machine: is this test marked `zookeeper`?")
    return found


def _config(folder: Path, port: int, admin_port: int | None, settings: dict[str, object]) -> Path:
    lines = {
        "tickTime": 2000,
        "dataDir": folder / "data",
        "clientPort": port,
        "clientPortAddress": HOST,
        "4lw.commands.whitelist": "*",
        "admin.enableServer": str(admin_port is not None).lower(),
        "admin.serverAddress": HOST,
        "admin.serverPort": admin_port or 0,
        "extendedTypesEnabled": "true",
        "maxClientCnxns": 0,
    }
    path = folder / "zoo.cfg"
    path.write_text("".join(f"{name}={value}\n" for name, value in (lines | settings).items()))
    return path


def _wait_until_serving(process: subprocess.Popen[str], port: int, log: Path) -> None:
    """Wait until it serves; `ruok` would not do, because it is answered earlier."""
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            if "Mode:" in ask(port, "srvr"):
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"ZooKeeper does not serve on port {port}:\n{log.read_text()[-2000:]}")
