"""One contender process: its words, its exit codes, ctrl-c, and where it refuses to write."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import msgspec
import pytest
from demo.contenders import PATIENCE_S, Bench
from servers import sandbox_server

from zktop.demo.__main__ import EXIT_AFTER_S
from zktop.demo_types.contender_order import ClientSettings, ContenderOrder

# What processes do does not depend on the kind of server.
pytestmark = pytest.mark.parametrize("hosts", ["sandbox"], indirect=True, scope="session")

SESSION_S = 20.0  # much longer than anybody waits for here


@contextmanager
def contender(order: ContenderOrder):
    """A contender that this process starts."""
    process = subprocess.Popen(
        [sys.executable, "-m", "zktop.demo", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        process.stdin.write(f"{msgspec.json.encode(order).decode()}\n")
        process.stdin.flush()
        yield process
        process.kill()


def wait_for(process: subprocess.Popen, words: str) -> None:
    """Read until a line has these words."""
    assert process.stdout
    assert any(words in line for line in process.stdout), words


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_releases_cleanly(bench: Bench, number: signal.Signals):
    """The node goes at once, long before the session would have expired."""
    with contender(bench.order("a", session_timeout_s=SESSION_S)) as process:
        wait_for(process, "works until it is released")
        process.send_signal(number)
        wait_for(process, f"released {bench.path}")

        assert process.wait(PATIENCE_S) == 130
    assert bench.nodes() == []


@pytest.mark.parametrize("recipe", ["poll", "predecessor", "kazoo-lock", "kazoo-semaphore"])
def test_ctrl_c_leaves_the_queue(bench: Bench, recipe: str):
    """A waiter that is interrupted leaves no node for others to wait for."""
    bench.queue_up(recipe, "a")
    queue = bench.path + ("-__lock__" if recipe == "kazoo-semaphore" else "")
    before = bench.nodes(queue)
    with contender(bench.order("b", recipe, session_timeout_s=SESSION_S)) as process:
        wait_for(process, "is smaller" if recipe == "poll" else "watches")
        process.send_signal(signal.SIGINT)

        assert process.wait(PATIENCE_S) == 130
    assert bench.nodes(queue) == before


def test_it_ends_though_the_server_does_not_answer(bench: Bench):
    """Two seconds after ctrl-c it is gone, released or not; a busy machine may add some."""
    with sandbox_server() as server:
        connection = ClientSettings(server.address, session_timeout_s=SESSION_S)
        order = msgspec.structs.replace(bench.order("a"), connection=connection)
        with contender(order) as process:
            wait_for(process, "works until it is released")
            server.process.send_signal(signal.SIGSTOP)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()

            assert process.wait(PATIENCE_S) == 130
            assert time.monotonic() - began < SESSION_S / 2
        server.process.send_signal(signal.SIGCONT)
    assert EXIT_AFTER_S < 2


def test_it_ends_when_its_stdin_closes(bench: Bench):
    """Its parent has ended."""
    with contender(bench.order("a")) as process:
        process.stdin.close()

        assert process.wait(PATIENCE_S) == 130


def test_each_step_is_an_object(bench: Bench):
    """It has the contender, the kind, a sentence, the time and the node."""
    with contender(bench.order("a", hold_s=0)) as process:
        steps = [json.loads(line) for line in process.stdout]
    created = next(step for step in steps if step["what"] == "created")

    assert process.returncode == 0
    assert created.pop("at").endswith("Z")
    assert created == {
        "who": "a",
        "what": "created",
        "says": "created lock-0000000000",
        "lock": bench.path,
        "node": f"{bench.path}/lock-0000000000",
        "requests": 1,
    }


def test_elsewhere_only_when_told_explicitly(threads: Bench):
    """With `anywhere` the demo root is no limit."""
    path = threads.path.replace("/zktop-demo", "/zktop-elsewhere-")
    threads.start("a", path=path, anywhere=True)
    threads.wait_for_step("a", "acquired")

    assert threads.nodes(path) == ["lock-0000000000"]

    threads.pool.cancel("a")
    threads.ended("a")
    threads.zookeeper.delete(path, recursive=True)
