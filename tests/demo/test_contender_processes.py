"""The pool: real processes that are started, commanded, frozen, killed, and never orphaned."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from demo.contenders import PATIENCE_S, Bench

from zktop.cli.sandbox import sandbox_process
from zktop.demo.contender_processes import ContenderChange, ProcessPool
from zktop.errors import UsageError

# What processes do does not depend on the kind of server.
pytestmark = pytest.mark.parametrize("hosts", ["sandbox"], indirect=True, scope="session")

SLEEP_S = 60.0
GONE_WITHIN_S = 10.0  # long before anybody wakes up
PARENT = """
import signal, sys, threading
import msgspec
from zktop.demo.contender_processes import ProcessPool
from zktop.demo_types.contender_order import ContenderOrder

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
orders = msgspec.json.decode(sys.stdin.readline(), type=list[ContenderOrder])
working = threading.Semaphore(0)
pool = ProcessPool(lambda c: c.step and c.step.what == "working" and working.release())
for order in orders:
    pool.start(order)
for _ in orders:
    working.acquire()
pool.freeze("frozen")
print("ready", flush=True)
threading.Event().wait()
"""


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def contender_pids(parent: int) -> list[int]:
    """The contenders that a process has started."""
    files = Path(f"/proc/{parent}/task").glob("*/children")
    children = [int(pid) for file in files for pid in file.read_text().split()]
    return [pid for pid in children if b"zktop.demo" in command_line(pid)]


def command_line(pid: int) -> bytes:
    """The command line of a process; every user of the machine can read it."""
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def gone_within(seconds: float, pids: list[int]) -> bool:
    """Whether all of them are gone in time."""
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def package_running(folder: Path, part: str, code: str) -> Path:
    """Write a package `zktop` with one part, which runs this code; return its folder."""
    module = folder / "zktop" / part / "__main__.py"
    module.parent.mkdir(parents=True)
    module.write_text(code)
    for package in (module.parent, module.parents[1]):
        (package / "__init__.py").touch()
    return folder


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_no_contender_outlives_its_parent(bench: Bench, number: signal.Signals):
    """Whatever the parent dies of: one that works, one that is frozen, one that oversleeps."""
    orders = [
        bench.order("works", path=f"{bench.path}/1"),
        bench.order("frozen", path=f"{bench.path}/2"),
        bench.order("oversleeps", path=f"{bench.path}/3", work="oversleep", sleep_s=SLEEP_S),
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", PARENT], **pipes) as parent:
        try:
            parent.stdin.write(msgspec.json.encode(orders) + b"\n")
            parent.stdin.flush()
            assert parent.stdout.readline() == b"ready\n"
            pids = contender_pids(parent.pid)

            assert [alive(pid) for pid in pids] == [True, True, True]

            parent.send_signal(number)
            parent.wait(PATIENCE_S)

            assert gone_within(GONE_WITHIN_S, pids)
        finally:
            parent.kill()


def test_closing_the_crew_releases_at_once(bench: Bench):
    """No node waits for the end of a session, not even a frozen contender's."""
    bench.queue_up("predecessor", "a", "b", session_timeout_s=20.0)
    bench.pool.freeze("b")
    bench.pool.close()

    assert bench.nodes() == []
    assert bench.log.ended["a"].exit_code == 130


def test_a_contender_that_does_not_react_is_killed(bench: Bench):
    """An oversleeper cannot release; the pool does not wait for it."""
    bench.start("a", work="oversleep", sleep_s=SLEEP_S)
    bench.wait_for_step("a", "working")
    began = time.monotonic()
    bench.pool.close()

    assert bench.log.ended["a"].exit_code == -signal.SIGKILL
    assert time.monotonic() - began < SLEEP_S / 2


def test_a_closed_pool_starts_no_process(bench: Bench):
    """It refuses instead of leaving a process behind."""
    bench.pool.close()

    with pytest.raises(UsageError, match="pool is closed"):
        bench.start("a")


def test_the_crew_is_capped(bench: Bench):
    """One more than the cap is refused in a sentence, and nothing is started."""
    with ProcessPool(lambda _: None, cap=1) as pool:
        pool.start(bench.order("a"))

        with pytest.raises(UsageError, match="at most 1 demo clients"):
            pool.start(bench.order("b"))
        assert [one.name for one in pool.states()] == ["a"]


def test_names_are_taken_once(bench: Bench):
    """Two living contenders of one name could not be distinguished."""
    bench.start("a")

    with pytest.raises(UsageError, match="there is already a demo client 'a'"):
        bench.start("a")


def test_a_name_is_free_again_after_its_contender_has_ended(bench: Bench):
    """And its earlier life is forgotten."""
    bench.queue_up("predecessor", "a")
    bench.pool.kill("a")
    bench.ended("a")
    bench.start("a")

    assert "a" not in bench.log.ended


def test_a_command_to_an_unknown_contender_is_refused(bench: Bench):
    """In a sentence that names it."""
    with pytest.raises(UsageError, match="there is no demo client 'x'"):
        bench.pool.kill("x")


def test_a_killed_contender_is_reported_with_its_signal(bench: Bench):
    """Minus nine, and no last words."""
    bench.queue_up("predecessor", "a")
    bench.pool.kill("a")
    bench.ended("a")

    assert bench.log.ended["a"].exit_code == -signal.SIGKILL
    assert bench.pool.states() == ()


def test_last_words_say_why_a_contender_could_not_start(bench: Bench):
    """No server, no contender: one sentence on stderr, exit code 3."""
    order = bench.order("a")
    nowhere = msgspec.structs.replace(order.connection, hosts="127.0.0.1:1", connect_timeout_s=0.2)
    bench.pool.start(msgspec.structs.replace(order, connection=nowhere))
    bench.ended("a")

    assert bench.log.ended["a"].exit_code == 3
    assert bench.log.ended["a"].last_words == "no connection to 127.0.0.1:1 within 0.2 s"


def test_frozen_and_thawed(bench: Bench):
    """A frozen holder loses its session; thawed, it finds out before it does anything else."""
    bench.queue_up("predecessor", "a", "b", session_timeout_s=2.0)
    bench.pool.freeze("a")

    assert [one.frozen for one in bench.pool.states()] == [True, False]

    bench.wait_for_step("b", "acquired")
    bench.pool.thaw("a")
    bench.wait_for_step("a", "lost")
    bench.holds("b")

    assert bench.log.most_believers(bench.path) == {"a", "b"}


def test_a_callback_may_use_the_pool(bench: Bench):
    """It runs in the pool's own thread and does not wait for itself."""
    seen, heard = [], threading.Event()

    def on_change(change: ContenderChange) -> None:
        if change.step and not heard.is_set():
            seen.extend(pool.states())
            heard.set()

    with ProcessPool(on_change) as pool:
        pool.start(bench.order("a"))

        assert heard.wait(PATIENCE_S)
    assert [one.name for one in seen] == ["a"]


def test_orders_are_on_no_command_line(bench: Bench):
    """They may hold secrets, and every user of a machine can read command lines."""
    order = bench.order("a")
    secret = msgspec.structs.replace(order.connection, auth=(("digest", "me:sesame"),))
    bench.pool.start(msgspec.structs.replace(order, connection=secret))
    bench.until(lambda: bool(contender_pids(os.getpid())))  # a new process has no command line yet
    (pid,) = contender_pids(os.getpid())

    assert b"sesame" not in command_line(pid)
    assert "sesame" not in os.environ.values()


def test_names_arrive_unchanged_in_any_locale(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    """The znode is the one that the user approved, also where the locale is not UTF-8."""
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")  # as in the locale de_DE.ISO-8859-1
    path = f"{bench.path}/schlüssel"
    bench.start("a", path=path)
    bench.wait_for_step("a", "acquired")

    assert len(bench.nodes(path)) == 1


def test_a_contender_runs_nothing_from_the_current_folder(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A file there may have the name of a module that zktop needs."""
    (tmp_path / "queue.py").write_text("raise SystemExit('a file of the user')")
    monkeypatch.chdir(tmp_path)
    bench.start("a", hold_s=0)
    bench.ended("a")

    assert bench.log.ended["a"].exit_code == 0


@pytest.mark.usefixtures("hosts")
def test_a_sandbox_runs_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The same for the server of demos."""
    (tmp_path / "selectors.py").write_text("raise SystemExit('a file of the user')")
    monkeypatch.chdir(tmp_path)

    with sandbox_process() as address:
        assert ":" in address


def test_a_contender_is_of_the_zktop_that_starts_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Another one may be installed, as beside a checkout."""
    monkeypatch.syspath_prepend(package_running(tmp_path, "demo", "raise SystemExit(77)"))
    bench.start("a")
    bench.ended("a")

    assert bench.log.ended["a"].exit_code == 77


@pytest.mark.usefixtures("hosts")
def test_a_sandbox_is_of_the_zktop_that_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same for the server of demos."""
    monkeypatch.syspath_prepend(package_running(tmp_path, "sandbox", "print('here')"))

    with sandbox_process() as address:
        assert address == "here"
