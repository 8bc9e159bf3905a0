"""The pool: real processes that are started, told, frozen, killed, and never orphaned."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from demo.contenders import PATIENCE_S, Stage

from zktop.demo.processes import ContenderChange, ProcessPool
from zktop.errors import UsageError

# What processes do does not depend on the kind of server.
pytestmark = pytest.mark.parametrize("hosts", ["sandbox"], indirect=True, scope="session")

SLEEP_S = 60.0
GONE_WITHIN_S = 10.0  # long before anybody wakes up
PARENT = """
import signal, sys, threading
import msgspec
from zktop.demo.processes import ProcessPool
from zktop.demo_types import ContenderOrder

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
orders = msgspec.json.decode(sys.stdin.readline(), type=list[ContenderOrder])
working = threading.Semaphore(0)
pool = ProcessPool(lambda c: c.step and c.step.what == "working" and working.release())
states = [pool.start(order) for order in orders]
for _ in states:
    working.acquire()
pool.freeze("frozen")
print(*[state.pid for state in states], flush=True)
threading.Event().wait()
"""


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has buried yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone_within(seconds: float, pids: list[int]) -> bool:
    """Whether all of them are gone in time."""
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_no_hand_outlives_its_parent(stage: Stage, number: signal.Signals):
    """Whatever the parent dies of: one that works, one that is frozen, one that oversleeps."""
    orders = [
        stage.order("works", path=f"{stage.path}/1"),
        stage.order("frozen", path=f"{stage.path}/2"),
        stage.order("oversleeps", path=f"{stage.path}/3", work="oversleep", sleep_s=SLEEP_S),
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", PARENT], **pipes) as parent:
        try:
            parent.stdin.write(msgspec.json.encode(orders) + b"\n")
            parent.stdin.flush()
            pids = [int(word) for word in parent.stdout.readline().split()]

            assert [alive(pid) for pid in pids] == [True, True, True]

            parent.send_signal(number)
            parent.wait(PATIENCE_S)

            assert gone_within(GONE_WITHIN_S, pids)
        finally:
            parent.kill()


def test_closing_the_crew_releases_at_once(stage: Stage):
    """No node waits for the end of a session, not even a frozen contender's."""
    stage.queue_up("predecessor", "a", "b", session_timeout_s=20.0)
    stage.pool.freeze("b")
    stage.pool.close()

    assert stage.nodes() == []
    assert stage.log.ended["a"].exit_code == 130


def test_who_does_not_hear_is_killed(stage: Stage):
    """An oversleeper cannot release; the pool does not wait for it."""
    stage.start("a", work="oversleep", sleep_s=SLEEP_S)
    stage.told("a", "working")
    began = time.monotonic()
    stage.pool.close()

    assert stage.log.ended["a"].exit_code == -signal.SIGKILL
    assert time.monotonic() - began < SLEEP_S / 2


def test_a_crew_that_has_gone_home_hires_nobody(stage: Stage):
    """It says so instead of leaving somebody behind."""
    stage.pool.close()

    with pytest.raises(UsageError, match="pool is closed"):
        stage.start("a")


def test_the_crew_is_capped(stage: Stage):
    """One more than the cap is refused in a sentence, and nothing is started."""
    with ProcessPool(lambda _: None, cap=1) as pool:
        pool.start(stage.order("a"))

        with pytest.raises(UsageError, match="no more than 1 contenders"):
            pool.start(stage.order("b"))
        assert [hand.name for hand in pool.states()] == ["a"]


def test_names_are_taken_once(stage: Stage):
    """Two living hands of one name could not be told apart."""
    stage.start("a")

    with pytest.raises(UsageError, match="there is a contender 'a' already"):
        stage.start("a")


def test_a_name_is_free_again_after_its_hand_has_ended(stage: Stage):
    """And its earlier life is forgotten."""
    stage.queue_up("predecessor", "a")
    stage.pool.kill("a")
    stage.ended("a")
    stage.start("a")

    assert "a" not in stage.log.ended


def test_nobody_is_no_hand(stage: Stage):
    """A command to somebody who is not there is refused."""
    with pytest.raises(UsageError, match="there is no contender 'x'"):
        stage.pool.kill("x")


def test_a_killed_hand_is_reported_with_its_signal(stage: Stage):
    """Minus nine, and no last words."""
    stage.queue_up("predecessor", "a")
    stage.pool.kill("a")
    stage.ended("a")

    assert stage.log.ended["a"].exit_code == -signal.SIGKILL
    assert stage.pool.states() == ()


def test_last_words_say_why_a_hand_could_not_start(stage: Stage):
    """No server, no contender: one sentence on stderr, exit code 3."""
    order = stage.order("a")
    nowhere = msgspec.structs.replace(order.connection, hosts="127.0.0.1:1", connect_timeout_s=0.2)
    stage.pool.start(msgspec.structs.replace(order, connection=nowhere))
    stage.ended("a")

    assert stage.log.ended["a"].exit_code == 3
    assert stage.log.ended["a"].last_words == "no connection to 127.0.0.1:1 within 0.2 s"


def test_frozen_and_thawed(stage: Stage):
    """A frozen holder loses its session; thawed, it finds out before it does anything else."""
    stage.queue_up("predecessor", "a", "b", session_timeout_s=2.0)
    stage.pool.freeze("a")

    assert [hand.frozen for hand in stage.pool.states()] == [True, False]

    stage.told("b", "acquired")
    stage.pool.thaw("a")
    stage.told("a", "lost")
    stage.holds("b")

    assert stage.log.most_believers(stage.path) == {"a", "b"}


def test_a_callback_may_use_the_pool(stage: Stage):
    """It runs in the pool's own thread and does not wait for itself."""
    seen, heard = [], threading.Event()

    def on_change(change: ContenderChange) -> None:
        if change.step and not heard.is_set():
            seen.extend(pool.states())
            heard.set()

    with ProcessPool(on_change) as pool:
        pool.start(stage.order("a"))

        assert heard.wait(PATIENCE_S)
    assert [hand.name for hand in seen] == ["a"]


def test_orders_are_on_no_command_line(stage: Stage):
    """They may hold secrets, and every user of a machine can read command lines."""
    order = stage.order("a")
    secret = msgspec.structs.replace(order.connection, auth=(("digest", "me:sesame"),))
    hand = stage.pool.start(msgspec.structs.replace(order, connection=secret))

    assert b"sesame" not in Path(f"/proc/{hand.pid}/cmdline").read_bytes()
    assert "sesame" not in os.environ.values()
