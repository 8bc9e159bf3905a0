"""Clients of kazoo, Curator and Go in processes of their own, and their reports.

Nothing here comes from zktop: its snapshots are compared with the nodes, locks and watches that
the clients themselves report.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from servers import DEBIAN_JARS, RunningServer

HERE = Path(__file__).parent
KAZOO, CURATOR = "clients.kazoo_client", HERE / "CuratorClients.java"
GO, DEBIAN_GO = HERE / "GoClients.go", Path("/usr/share/gocode")
LONG_S = 30.0  # the session timeout of clients that are not killed
JARS = (
    *("curator-recipes", "curator-framework", "curator-client", "guava", "zookeeper"),
    *("zookeeper-recipes-lock", "zookeeper-recipes-election"),
)
JVM = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms16m", "-Xmx64m"]
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"


class Program:
    """A process that answers each line with one line of JSON."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def ask(self, *words: object) -> dict[str, Any]:
        """Send a command and wait for the answer."""
        self.send(*words)
        return self.answer()

    def send(self, *words: object) -> None:
        """Send a command."""
        assert self.process.stdin
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for the next answer."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"it ended with {self.process.wait()}"
        answer: dict[str, Any] = json.loads(line)
        assert not answer.get("failed"), answer
        return answer


class Place(NamedTuple):
    """A client's report on its place in a lock; node names are relative to the lock."""

    name: str
    session: str
    path: str
    holds: bool
    nodes: list[str]
    watches: list[str]  # znodes
    listens: list[str]  # znodes whose children are watched

    @property
    def node(self) -> str:
        """The only node that it has there."""
        (node,) = self.nodes
        return node

    def below(self, prefix: str) -> "Place":
        """The same place, with only the nodes that have this prefix."""
        return self._replace(nodes=[node for node in self.nodes if node.startswith(prefix)])


class ClientProcess:
    """One session of one library."""

    def __init__(self, program: Program, name: str, answer: dict[str, Any], *who: str) -> None:
        self.program, self.name, self._who = program, name, who
        self.session = f"{answer['session'] % 2**64:#x}"

    def acquire(self, recipe: str, path: str, leases: int = 1) -> Place:
        """Acquire a lock and return."""
        place = self._place(path, "acquire", recipe, path, leases)
        assert place.holds
        return place

    def ask(self, recipe: str, path: str, leases: int = 1) -> Place:
        """Ask for a lock, and return as soon as the client waits."""
        place = self._place(path, "ask", recipe, path, leases)
        assert not place.holds
        return place

    def fails(self, recipe: str, path: str) -> Place:
        """Ask for a lock, and return when the attempt has failed."""
        return self._place(path, "fail", recipe, path)

    def now(self, recipe: str, path: str) -> Place:
        """Return the client's place without a change."""
        return self._place(path, "now", recipe, path)

    def release(self, recipe: str, path: str) -> None:
        """Release the lock."""
        self.program.ask(*self._who, "release", recipe, path)

    def does(self, verb: str, recipe: str, path: str) -> Place:
        """Run a command that only some programs have."""
        return self._place(path, verb, recipe, path)

    def cancel(self, recipe: str, path: str) -> None:
        """Stop waiting."""
        self.program.send(*self._who, "cancel", recipe, path)
        assert self.program.process.stdout
        self.program.process.stdout.readline()

    def kill(self) -> None:
        """End the process without closing the session."""
        self.program.process.kill()
        self.program.process.wait()

    def freeze(self) -> None:
        """Stop the process with SIGSTOP."""
        self.program.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Continue the process."""
        self.program.process.send_signal(signal.SIGCONT)

    def _place(self, path: str, *words: object) -> Place:
        answer = self.program.ask(*self._who, *words)
        nodes = sorted((_relative(path, node) for node in answer["nodes"]), key=_number)
        watches, listens = sorted(answer["watches"]), sorted(answer["listens"])
        return Place(self.name, self.session, path, answer["holds"], nodes, watches, listens)


def _number(node: str) -> str:
    return node[-10:]


def _relative(path: str, node: str) -> str:
    if node.startswith(f"{path}/"):
        return node.removeprefix(f"{path}/")
    return f"../{node.removeprefix(path.rpartition('/')[0] + '/')}"


StartClients = Callable[..., list[ClientProcess]]


class Stage(NamedTuple):
    """A server, a root, and functions that start clients (`mortal`: to be killed)."""

    server: RunningServer
    root: str
    kazoo: StartClients
    curator: StartClients
    mortal_curator: StartClients


@contextmanager
def kazoo_clients(server: RunningServer) -> Iterator[StartClients]:
    """Start kazoo clients, each in its own process, all at once."""
    with ExitStack() as stack:

        def start_clients(
            *names: str, hosts: str = server.address, timeout_s: float = LONG_S
        ) -> list[ClientProcess]:
            commands = (
                [sys.executable, "-m", KAZOO, hosts, name, str(timeout_s)] for name in names
            )
            programs = [stack.enter_context(_running(command)) for command in commands]
            return [
                ClientProcess(program, name, program.answer())
                for program, name in zip(programs, names, strict=True)
            ]

        yield start_clients


@contextmanager
def go_clients(server: RunningServer, program: Path) -> Iterator[StartClients]:
    """Start Go clients, each in its own process."""
    with ExitStack() as stack:

        def start_clients(*names: str) -> list[ClientProcess]:
            command = [str(program), server.address]
            programs = [stack.enter_context(_running(command)) for _ in names]
            return [
                ClientProcess(program, name, program.answer())
                for program, name in zip(programs, names, strict=True)
            ]

        yield start_clients


class CuratorProcess:
    """A Java process with any number of Curator clients in it."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def start_clients(
        self, *names: str, timeout_s: float = LONG_S, begin: str = "begin"
    ) -> list[ClientProcess]:
        """Start clients with a session and a thread each; `begin-pool`: with many threads."""
        milliseconds = int(timeout_s * 1000)
        return [
            ClientProcess(self.program, name, self.program.ask(name, begin, milliseconds), name)
            for name in names
        ]

    def dismiss(self, person: ClientProcess) -> None:
        """Close a session."""
        self.program.ask(person.name, "end")


def compiled(folder: Path) -> str:
    """Compile the Java program; return its class path."""
    jars = ":".join(str(DEBIAN_JARS / f"{name}.jar") for name in (*JARS, "slf4j-simple"))
    command = ["javac", "-cp", jars, "-d", str(folder), str(CURATOR)]
    subprocess.run(command, check=True, timeout=60)
    return f"{folder}:{jars}"


def built(folder: Path) -> Path:
    """Build the Go program with Debian's library."""
    program = folder / "contender"
    settings = {"GO111MODULE": "off", "GOPATH": str(DEBIAN_GO), "GOCACHE": str(folder / "cache")}
    command = ["go", "build", "-o", str(program), str(GO)]
    subprocess.run(command, check=True, timeout=120, env=os.environ | settings)
    return program


@contextmanager
def curator_process(server: RunningServer, classpath: str) -> Iterator[CuratorProcess]:
    """Run a Java process."""
    command = [*JVM, QUIET, "-cp", classpath, CURATOR.stem, server.address]
    with _running(command) as program:
        yield CuratorProcess(program)


@contextmanager
def _running(command: list[str]) -> Iterator[Program]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=HERE.parent, **pipes) as process:  # type: ignore[call-overload]  # keywords in a dict
        try:
            yield Program(process)
        finally:
            process.kill()
