"""Each flaw shows its mistake, and the recipe without it does not."""

import time

import pytest
from demo.contenders import Bench, kill_all
from demo.exclusion_check import NOT_ALONE, run_checked
from demo.steps_and_believers import FullLog
from servers import real_zookeeper, serving_again

from zktop.demo.contender_processes import ProcessPool
from zktop.demo.locked_work import LockedWork

CUT_S = 1.0  # many polls, and far from the end of a session
MANY = 100  # requests; a patient waiter needs five


def test_a_reader_gets_in_while_a_naive_writer_holds(
    threads: Bench, monkeypatch: pytest.MonkeyPatch
):
    """Sorted by whole names `read-` is before `write-`: two hold, and the server is witness."""
    monkeypatch.setattr(LockedWork, "run", run_checked)
    threads.queue_up("rw-naive", "w", mode="write")
    threads.wait_for_step("w", "working")
    threads.start("r", "rw-naive", mode="read")
    threads.until(lambda: any(NOT_ALONE in step.says for step in threads.log.steps))

    assert threads.holders() == {"w", "r"}


def test_the_correct_read_write_lock_keeps_that_reader_out(threads: Bench):
    """The same two contenders, the same names, sorted by number."""
    threads.queue_up("rw", "w", mode="write")
    threads.start("r", "rw", mode="read")
    threads.wait_for_step("r", "watching")

    assert threads.holders() == {"w"}


def test_a_failed_poll_taken_for_the_lock_makes_two_holders(threads: Bench):
    """A disconnected waiter believes that it is first."""
    threads.queue_up("poll", "a")
    threads.start("b", "poll", flaw="failed-poll-holds", poll_s=0.05, session_timeout_s=4.0)
    threads.wait_for_step("b", "decided")
    threads.pool.cut("b", CUT_S)
    threads.holds("a", "b")


def test_a_failed_poll_is_no_answer(threads: Bench):
    """The correct poller says so, and waits on."""
    threads.queue_up("poll", "a")
    threads.start("b", "poll", poll_s=0.05, session_timeout_s=4.0)
    threads.wait_for_step("b", "decided")
    threads.pool.cut("b", CUT_S)
    threads.until(lambda: any("no response" in step.says for step in threads.log.steps))
    threads.wait_for_step("b", "connected", times=2)

    assert threads.holders() == {"a"}


@pytest.mark.zookeeper
def test_a_restart_of_the_server_is_enough_for_two_holders():
    """Sessions outlive the restart, so the first still holds when the flawed one walks in."""
    log = FullLog()
    with real_zookeeper(tickTime=2000) as server, ProcessPool(log.add) as pool:
        bench = Bench(server.address, pool, log, None)
        bench.queue_up("poll", "a", session_timeout_s=20.0)
        bench.start("b", "poll", flaw="failed-poll-holds", poll_s=0.1, session_timeout_s=20.0)
        bench.wait_for_step("b", "decided")
        server.process.kill()
        server.process.wait()
        bench.wait_for_step("b", "acquired")
        pool.freeze("a")  # a server that starts may never answer an early connection
        pool.freeze("b")
        again = serving_again(server)
        pool.thaw("a")
        pool.thaw("b")
        try:
            bench.wait_for_step("a", "connected", times=2)

            assert bench.holders() == {"a", "b"}
        finally:
            kill_all(pool)
            again.process.kill()
            again.process.wait()


def requests_while_waiting(bench: Bench, recipe: str, **wanted: object) -> int:
    """What one waiter asks of the server until it gives up after half a second."""
    bench.start("w", recipe, timeout_s=0.5, **wanted)
    bench.ended("w")
    return bench.log.requests["w"]


def asks_without_end(bench: Bench, recipe: str, **wanted: object) -> None:
    """Start a waiter, and see how its requests add up."""
    bench.start("w", recipe, **wanted)
    bench.until(lambda: bench.log.requests.get("w", 0) > MANY)


def test_a_time_out_in_microseconds_asks_all_the_time(threads: Bench):
    """Dozens of requests where five do: create, list, watch, give up."""
    threads.queue_up("predecessor", "a")
    patient = requests_while_waiting(threads, "predecessor")
    asks_without_end(threads, "predecessor", flaw="microseconds", timeout_s=10)

    assert patient <= 5


def test_a_spinning_writer_asks_as_fast_as_it_can(threads: Bench):
    """As many requests as the machine manages, and no watch at all."""
    threads.queue_up("rw-naive", "a", mode="read")
    patient = requests_while_waiting(threads, "rw-naive", mode="write")
    asks_without_end(threads, "rw-naive", mode="write", flaw="spin")

    assert patient <= 5
    assert threads.log.count("w", "watching") == 0


def test_a_spinning_writer_does_not_drown_the_listener(threads: Bench):
    """A step that repeats within a second is reported once."""
    threads.queue_up("rw-naive", "a", mode="read")
    begin = time.monotonic()
    asks_without_end(threads, "rw-naive", mode="write", flaw="spin")

    assert threads.log.count("w", "listed") <= 1 + time.monotonic() - begin


def test_a_notification_that_rechecks_nothing_hangs_the_last_for_good(threads: Bench):
    """The middle one goes, then the holder: the last stands alone in the queue and sleeps."""
    threads.queue_up("predecessor", "a", "b")
    threads.queue_up_behind("c", flaw="no-recheck")
    threads.pool.cancel("b")
    threads.until(lambda: any("without a watch" in s.says for s in threads.log.steps))
    threads.pool.release("a")
    threads.ended("a", "b")

    assert len(threads.nodes()) == 1
    assert not threads.log.until(lambda: bool(threads.holders()), within_s=0.5)


def test_a_flawed_waiter_looks_right_until_another_client_leaves(threads: Bench):
    """Which is why it was not found: released in order, the lock arrives."""
    threads.queue_up("predecessor", "a")
    threads.queue_up_behind("b", flaw="no-recheck")
    threads.pool.release("a")
    threads.holds("b")


def test_a_watch_set_too_late_never_fires(threads: Bench):
    """The node before went between listing and watching: first in the queue, and asleep."""
    threads.queue_up("predecessor", "a")
    threads.start("b", flaw="void-watch")
    threads.wait_for_step("b", "decided")
    threads.pool.release("a")
    threads.wait_for_step("b", "watching")
    threads.ended("a")

    assert len(threads.nodes()) == 1
    assert not threads.log.until(lambda: bool(threads.holders()), within_s=0.5)


def test_a_blind_retry_queues_behind_its_own_ghost(threads: Bench):
    """Two nodes of one session: the second waits for the first, which is never released."""
    threads.start("a", flaw="blind-retry", session_timeout_s=10.0)
    threads.wait_for_step("a", "watching")
    owners = {
        threads.zookeeper.exists(f"{threads.path}/{n}").ephemeralOwner for n in threads.nodes()
    }

    assert len(threads.nodes()) == 2
    assert len(owners) == 1
    assert threads.holders() == set()


@pytest.mark.parametrize("recipe", ["predecessor", "kazoo-lock"])
def test_a_persistent_node_outlives_its_client(bench: Bench, recipe: str):
    """Killed, it leaves a node without an owner, which blocks all later contenders."""
    bench.queue_up(recipe, "a", flaw="persistent")
    bench.pool.kill("a")
    bench.ended("a")
    bench.start("b", recipe)
    bench.wait_for_step("b", "watching")
    orphan = next(n for n in bench.nodes() if n.endswith("0000000000"))

    assert bench.zookeeper.exists(f"{bench.path}/{orphan}").ephemeralOwner == 0
