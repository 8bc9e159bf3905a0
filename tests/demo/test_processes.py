"""The crew: real processes that are started, told, frozen, killed, and never orphaned."""

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

from zktop.demo.processes import ProcessPool, StepReported
from zktop.errors import UsageError

# What processes do does not depend on the kind of server.
pytestmark = pytest.mark.parametrize("hosts", ["sandbox"], indirect=True, scope="session")

SLEEP_S = 60.0
GONE_WITHIN_S = 10.0  # long before anybody wakes up
PARENT = """
import signal, sys, threading
import msgspec
from zktop.demo.crew import Crew
from zktop.demo.hand import Told
from zktop.demo.order import Order

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
orders = msgspec.json.decode(sys.stdin.readline(), type=list[Order])
working = threading.Semaphore(0)
crew = Crew(lambda e: isinstance(e, Told) and e.step.what == "working" and working.release())
hands = [crew.hire(order) for order in orders]
for _ in hands:
    working.acquire()
crew.freeze("frozen")
print(*[hand.pid for hand in hands], flush=True)
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
    stage.crew.freeze("b")
    stage.crew.close()

    assert stage.nodes() == []
    assert stage.chronicle.ended["a"].code == 130


def test_who_does_not_hear_is_killed(stage: Stage):
    """An oversleeper cannot release; the crew does not wait for it."""
    stage.hire("a", work="oversleep", sleep_s=SLEEP_S)
    stage.told("a", "working")
    began = time.monotonic()
    stage.crew.close()

    assert stage.chronicle.ended["a"].code == -signal.SIGKILL
    assert time.monotonic() - began < SLEEP_S / 2


def test_a_crew_that_has_gone_home_hires_nobody(stage: Stage):
    """It says so instead of leaving somebody behind."""
    stage.crew.close()

    with pytest.raises(UsageError, match="gone home"):
        stage.hire("a")


def test_the_crew_is_capped(stage: Stage):
    """One more than the cap is refused in a sentence, and nothing is started."""
    with ProcessPool(lambda _: None, cap=1) as crew:
        crew.hire(stage.order("a"))

        with pytest.raises(UsageError, match="the crew is full: it has 1 hands"):
            crew.hire(stage.order("b"))
        assert [hand.name for hand in crew.hands()] == ["a"]


def test_names_are_taken_once(stage: Stage):
    """Two living hands of one name could not be told apart."""
    stage.hire("a")

    with pytest.raises(UsageError, match="called 'a' already"):
        stage.hire("a")


def test_a_name_is_free_again_after_its_hand_has_ended(stage: Stage):
    """And its earlier life is forgotten."""
    stage.queue_up("predecessor", "a")
    stage.crew.kill("a")
    stage.ended("a")
    stage.hire("a")

    assert "a" not in stage.chronicle.ended


def test_nobody_is_no_hand(stage: Stage):
    """A command to somebody who is not there is refused."""
    with pytest.raises(UsageError, match="nobody in the crew is called 'x'"):
        stage.crew.kill("x")


def test_a_killed_hand_is_reported_with_its_signal(stage: Stage):
    """Minus nine, and no last words."""
    stage.queue_up("predecessor", "a")
    stage.crew.kill("a")
    stage.ended("a")

    assert stage.chronicle.ended["a"].code == -signal.SIGKILL
    assert stage.crew.hands() == ()


def test_last_words_say_why_a_hand_could_not_start(stage: Stage):
    """No server, no contender: one sentence on stderr, exit code 3."""
    order = stage.order("a")
    nowhere = msgspec.structs.replace(order.connection, hosts="127.0.0.1:1", connect_timeout_s=0.2)
    stage.crew.hire(msgspec.structs.replace(order, connection=nowhere))
    stage.ended("a")

    assert stage.chronicle.ended["a"].code == 3
    assert stage.chronicle.ended["a"].last_words == "no connection to 127.0.0.1:1 within 0.2 s"


def test_frozen_and_thawed(stage: Stage):
    """A frozen holder loses its session; thawed, it finds out before it does anything else."""
    stage.queue_up("predecessor", "a", "b", session_timeout_s=2.0)
    stage.crew.freeze("a")

    assert [hand.frozen for hand in stage.crew.hands()] == [True, False]

    stage.told("b", "acquired")
    stage.crew.thaw("a")
    stage.told("a", "lost")
    stage.holds("b")

    assert stage.chronicle.most_believers(stage.path) == {"a", "b"}


def test_a_callback_may_use_the_crew(stage: Stage):
    """It runs in the crew's own thread and does not wait for itself."""
    seen, heard = [], threading.Event()

    def tell(event: object) -> None:
        if isinstance(event, StepReported) and not heard.is_set():
            seen.extend(crew.hands())
            heard.set()

    with ProcessPool(tell) as crew:
        crew.hire(stage.order("a"))

        assert heard.wait(PATIENCE_S)
    assert [hand.name for hand in seen] == ["a"]


def test_orders_are_on_no_command_line(stage: Stage):
    """They may hold secrets, and every user of a machine can read command lines."""
    order = stage.order("a")
    secret = msgspec.structs.replace(order.connection, auth=(("digest", "me:sesame"),))
    hand = stage.crew.hire(msgspec.structs.replace(order, connection=secret))

    assert b"sesame" not in Path(f"/proc/{hand.pid}/cmdline").read_bytes()
    assert "sesame" not in os.environ.values()
