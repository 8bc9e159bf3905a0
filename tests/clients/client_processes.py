"""Clients in processes of their own, and what they say of themselves.

Nothing here comes from zktop: the truth that its snapshots are compared with is what the clients
made, have and watch by their own books.
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
LONG_S = 30.0  # the session timeout of clients that nobody harms
JARS = (
    *("curator-recipes", "curator-framework", "curator-client", "guava", "zookeeper"),
    *("zookeeper-recipes-lock", "zookeeper-recipes-election"),
)
JVM = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms16m", "-Xmx64m"]
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"


class Program:
    """A process that answers each line by one line of JSON."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def ask(self, *words: object) -> dict[str, Any]:
        """Say something and wait for the answer."""
        self.tell(*words)
        return self.answer()

    def tell(self, *words: object) -> None:
        """Say something."""
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
    """Where a client stands, by its own words; nodes are named as from the lock."""

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
        """The same, with the nodes whose names begin like this."""
        return self._replace(nodes=[node for node in self.nodes if node.startswith(prefix)])


class Person:
    """One session of one library."""

    def __init__(self, program: Program, name: str, answer: dict[str, Any], *who: str) -> None:
        self.program, self.name, self._who = program, name, who
        self.session = f"{answer['session'] % 2**64:#x}"

    def acquire(self, recipe: str, path: str, leases: int = 1) -> Place:
        """Come back with the lock."""
        place = self._place(path, "acquire", recipe, path, leases)
        assert place.holds
        return place

    def ask(self, recipe: str, path: str, leases: int = 1) -> Place:
        """Come back as soon as it waits."""
        place = self._place(path, "ask", recipe, path, leases)
        assert not place.holds
        return place

    def fails(self, recipe: str, path: str) -> Place:
        """Try, and come back when it has failed."""
        return self._place(path, "fail", recipe, path)

    def now(self, recipe: str, path: str) -> Place:
        """Only look."""
        return self._place(path, "now", recipe, path)

    def release(self, recipe: str, path: str) -> None:
        """Let it go."""
        self.program.ask(*self._who, "release", recipe, path)

    def does(self, verb: str, recipe: str, path: str) -> Place:
        """Do what only some can."""
        return self._place(path, verb, recipe, path)

    def cancel(self, recipe: str, path: str) -> None:
        """Stop waiting."""
        self.program.tell(*self._who, "cancel", recipe, path)
        assert self.program.process.stdout
        self.program.process.stdout.readline()

    def kill(self) -> None:
        """Without a word to the server."""
        self.program.process.kill()
        self.program.process.wait()

    def freeze(self) -> None:
        """Stop the whole process."""
        self.program.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it run again."""
        self.program.process.send_signal(signal.SIGCONT)

    def _place(self, path: str, *words: object) -> Place:
        told = self.program.ask(*self._who, *words)
        nodes = sorted((_relative(path, node) for node in told["nodes"]), key=_number)
        watches, listens = sorted(told["watches"]), sorted(told["listens"])
        return Place(self.name, self.session, path, told["holds"], nodes, watches, listens)


def _number(node: str) -> str:
    return node[-10:]


def _relative(path: str, node: str) -> str:
    if node.startswith(f"{path}/"):
        return node.removeprefix(f"{path}/")
    return f"../{node.removeprefix(path.rpartition('/')[0] + '/')}"


Hire = Callable[..., list[Person]]


class Stage(NamedTuple):
    """Where it happens, and who can be hired; whoever is to die needs a process of its own."""

    server: RunningServer
    root: str
    kazoo: Hire
    curator: Hire
    mortal_curator: Hire


@contextmanager
def kazoo_people(server: RunningServer) -> Iterator[Hire]:
    """Hire kazoo clients, each in a process of its own: they all start at once."""
    with ExitStack() as stack:

        def hire(
            *names: str, hosts: str = server.address, timeout_s: float = LONG_S
        ) -> list[Person]:
            commands = (
                [sys.executable, "-m", KAZOO, hosts, name, str(timeout_s)] for name in names
            )
            programs = [stack.enter_context(_running(command)) for command in commands]
            return [
                Person(program, name, program.answer())
                for program, name in zip(programs, names, strict=True)
            ]

        yield hire


@contextmanager
def go_people(server: RunningServer, program: Path) -> Iterator[Hire]:
    """Hire Go clients, each in a process of its own."""
    with ExitStack() as stack:

        def hire(*names: str) -> list[Person]:
            command = [str(program), server.address]
            programs = [stack.enter_context(_running(command)) for _ in names]
            return [
                Person(program, name, program.answer())
                for program, name in zip(programs, names, strict=True)
            ]

        yield hire


class Virtual:
    """A Java process with any number of Curator clients in it."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def hire(self, *names: str, timeout_s: float = LONG_S, begin: str = "begin") -> list[Person]:
        """Give clients with a session and a thread each; `begin-pool`: with many threads."""
        milliseconds = int(timeout_s * 1000)
        return [
            Person(self.program, name, self.program.ask(name, begin, milliseconds), name)
            for name in names
        ]

    def dismiss(self, person: Person) -> None:
        """Close a session."""
        self.program.ask(person.name, "end")


def compiled(folder: Path) -> str:
    """The class path of the Java program."""
    jars = ":".join(str(DEBIAN_JARS / f"{name}.jar") for name in (*JARS, "slf4j-simple"))
    command = ["javac", "-cp", jars, "-d", str(folder), str(CURATOR)]
    subprocess.run(command, check=True, timeout=60)
    return f"{folder}:{jars}"


def built(folder: Path) -> Path:
    """The Go program; its library is the one of Debian."""
    program = folder / "contender"
    settings = {"GO111MODULE": "off", "GOPATH": str(DEBIAN_GO), "GOCACHE": str(folder / "cache")}
    command = ["go", "build", "-o", str(program), str(GO)]
    subprocess.run(command, check=True, timeout=120, env=os.environ | settings)
    return program


@contextmanager
def virtual(server: RunningServer, classpath: str) -> Iterator[Virtual]:
    """A Java process."""
    command = [*JVM, QUIET, "-cp", classpath, CURATOR.stem, server.address]
    with _running(command) as program:
        yield Virtual(program)


@contextmanager
def _running(command: list[str]) -> Iterator[Program]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=HERE.parent, **pipes) as process:  # type: ignore[call-overload]  # keywords in a dict
        try:
            yield Program(process)
        finally:
            process.kill()
