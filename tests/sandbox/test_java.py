"""Java clients work on the sandbox as on a real server: Curator's recipes and the command line."""

import re
import subprocess
from pathlib import Path

import pytest
from sandbox.raw_client import RawClient
from servers import DEBIAN_JARS, real_zookeeper, sandbox_server

SCRIPT = Path(__file__).with_name("CuratorScript.java")
CURATOR = ("curator-recipes", "curator-framework", "curator-client", "guava")
ZOOKEEPER = ("zookeeper", "slf4j-simple", "commons-cli")
JVM = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"]
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"
EVENTS = (
    "NodeCreated=/tree/leaf",
    "NodeDataChanged=/tree/leaf",
    "NodeDeleted=/tree/leaf",
    "NodeDataChanged=/tree",
)
COMMANDS = """\
create /cli data
create -s /cli/s- one
create -e /cli/e two
create -c /cli/box
create -t 60000 /cli/ttl three
ls -s /cli
ls -R /cli
get -s /cli
stat -w /cli/e
set -s -v 0 /cli changed
set -v 0 /cli late
getAcl -s /cli
addauth digest ann:secret
setAcl /cli auth::cdrwa
getAcl /cli
getEphemerals
getAllChildrenNumber /cli
addWatch -m PERSISTENT /cli/box
create /cli/box/one
removewatches /cli/box
sync /cli
delete /cli/s-0000000000
delete /cli
deleteall /cli
get /cli
config
version
quit
"""

pytestmark = [
    pytest.mark.zookeeper,
    pytest.mark.skipif(not (DEBIAN_JARS / "zookeeper.jar").exists(), reason="no Java client here"),
]


def classpath(*names):
    """The jars of these names."""
    return ":".join(str(DEBIAN_JARS / f"{name}.jar") for name in names)


@pytest.fixture(scope="module")
def curator_script(tmp_path_factory):
    """The compiled script's class path."""
    classes, jars = tmp_path_factory.mktemp("classes"), classpath(*CURATOR, *ZOOKEEPER)
    subprocess.run(["javac", "-cp", jars, "-d", str(classes), str(SCRIPT)], check=True, timeout=60)
    return f"{classes}:{jars}"


def test_curator_recipes(either, curator_script):
    """Locks, leases, elections, transactions, caches, watches that survive a reconnect."""
    command = [*JVM, QUIET, "-cp", curator_script, SCRIPT.stem, either.address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    said = []
    with subprocess.Popen(command, **pipes) as script:
        for line in script.stdout:
            said.append(line.strip())
            if line.startswith("session "):
                said.pop()
                drop_connection(either.port, int(line.split()[1]))
                script.stdin.write("\n")
                script.stdin.flush()

    assert said == [
        "mutex false 1 true",
        "read-write true true false true",
        "semaphore true false true",
        "latch false true",
        "transaction [two] NoNodeException false",
        "modes 13 21 false",
        f"persistent [{', '.join(EVENTS)}]",
        "cache true true",
        "reconnect true true true",
    ]


def drop_connection(port, session):
    """A server closes a session's connection when another one asks for the session."""
    with RawClient(port, session=session, password=b"not the password") as stranger:
        assert stranger.session == 0


def test_the_command_line_client():
    """Every command of zkCli prints on the sandbox what it prints on a real server."""
    with sandbox_server() as ours, real_zookeeper() as theirs:
        printed = [command_line(server.address) for server in (ours, theirs)]

    assert printed[0] == printed[1]
    assert "[/cli/e]" in printed[0]


def command_line(address):
    """What zkCli prints, without times, versions and its own log lines.

    A watch event may come at any time, between empty lines.
    """
    main = "org.apache.zookeeper.ZooKeeperMain"
    command = [*JVM, QUIET, "-cp", classpath(*ZOOKEEPER), main, "-server", address]
    done = subprocess.run(
        command, input=COMMANDS, capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout.partition("JLine support is disabled")[2]
    said = re.sub(r"\w{3} \w{3} \d\d [\d:]{8} \w+ \d{4}", "TIME", said)
    said = re.sub(r"ephemeralOwner = 0x\w{2,}", "ephemeralOwner = SESSION", said)
    lines = [
        line
        for line in said.splitlines()
        if line and not line.startswith(("WATCHER", "WatchedEvent"))
    ]
    return [*lines, *done.stderr.splitlines()]
