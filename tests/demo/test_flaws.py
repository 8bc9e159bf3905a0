"""Each flaw shows its mistake, and the recipe without it does not."""

import pytest
from demo.contenders import Stage
from servers import real_zookeeper, started_again

from zktop.demo.log import ContenderLog
from zktop.demo.processes import ProcessPool

CUT_S = 1.0  # many polls, and far from the end of a session
MANY = 100  # requests; a patient waiter needs five


def test_a_reader_gets_in_while_a_naive_writer_holds(rehearsal: Stage):
    """Sorted by whole names `read-` is before `write-`: two hold, and the server is witness."""
    witness = f"{rehearsal.path}-in"
    rehearsal.queue_up("rw-naive", "w", mode="write", exclusion_path=witness)
    rehearsal.start("r", "rw-naive", mode="read", exclusion_path=witness)
    rehearsal.told("r", "clash")

    assert rehearsal.holders() == {"w", "r"}


def test_the_correct_read_write_lock_keeps_that_reader_out(rehearsal: Stage):
    """The same two contenders, the same names, sorted by number."""
    rehearsal.queue_up("rw", "w", mode="write")
    rehearsal.start("r", "rw", mode="read")
    rehearsal.told("r", "watching")

    assert rehearsal.holders() == {"w"}


def test_a_failed_poll_taken_for_the_lock_makes_two_holders(rehearsal: Stage):
    """A waiter without a connection believes that nobody is smaller."""
    rehearsal.queue_up("poll", "a")
    rehearsal.start("b", "poll", flaw="failed-poll-holds", poll_s=0.05, session_timeout_s=4.0)
    rehearsal.told("b", "decided")
    rehearsal.pool.cut("b", CUT_S)
    rehearsal.holds("a", "b")


def test_a_failed_poll_is_no_answer(rehearsal: Stage):
    """The correct poller says so, and waits on."""
    rehearsal.queue_up("poll", "a")
    rehearsal.start("b", "poll", poll_s=0.05, session_timeout_s=4.0)
    rehearsal.told("b", "decided")
    rehearsal.pool.cut("b", CUT_S)
    rehearsal.until(lambda: any("no answer" in step.says for step in rehearsal.log.steps))
    rehearsal.told("b", "connected", times=2)

    assert rehearsal.holders() == {"a"}


@pytest.mark.zookeeper
def test_a_restart_of_the_server_is_enough_for_two_holders():
    """Sessions outlive the restart, so the first still holds when the flawed one walks in."""
    log = ContenderLog()
    with real_zookeeper(tickTime=2000) as server, ProcessPool(log.add) as pool:
        stage = Stage(server.address, pool, log, None)
        stage.queue_up("poll", "a", session_timeout_s=20.0)
        stage.start("b", "poll", flaw="failed-poll-holds", poll_s=0.1, session_timeout_s=20.0)
        stage.told("b", "decided")
        server.process.kill()
        server.process.wait()
        stage.told("b", "acquired")
        again = started_again(server)
        try:
            stage.told("a", "connected", times=2)

            assert stage.holders() == {"a", "b"}
        finally:
            pool.kill_all()
            again.process.kill()
            again.process.wait()


def requests_while_waiting(stage: Stage, recipe: str, **wanted: object) -> int:
    """What one waiter asks of the server until it gives up after half a second."""
    stage.start("w", recipe, timeout_s=0.5, **wanted)
    stage.ended("w")
    return stage.log.requests["w"]


def asks_without_end(stage: Stage, recipe: str, **wanted: object) -> None:
    """Hire one who waits, and see how its requests add up, however long that takes."""
    stage.start("w", recipe, **wanted)
    stage.until(lambda: stage.log.requests.get("w", 0) > MANY)


def test_a_time_out_in_microseconds_asks_all_the_time(rehearsal: Stage):
    """Dozens of requests where five do: create, list, watch, give up."""
    rehearsal.queue_up("predecessor", "a")
    patient = requests_while_waiting(rehearsal, "predecessor")
    asks_without_end(rehearsal, "predecessor", flaw="microseconds", timeout_s=10)

    assert patient <= 5


def test_a_spinning_writer_asks_as_fast_as_it_can(rehearsal: Stage):
    """As many requests as the machine manages, and no watch at all."""
    rehearsal.queue_up("rw-naive", "a", mode="read")
    patient = requests_while_waiting(rehearsal, "rw-naive", mode="write")
    asks_without_end(rehearsal, "rw-naive", mode="write", flaw="spin")

    assert patient <= 5
    assert rehearsal.log.count("w", "watching") == 0


def test_a_spinning_writer_does_not_drown_the_listener(rehearsal: Stage):
    """What it says again and again within a second is told once."""
    rehearsal.queue_up("rw-naive", "a", mode="read")
    asks_without_end(rehearsal, "rw-naive", mode="write", flaw="spin")

    assert rehearsal.log.count("w", "listed") < MANY / 10


def test_a_notification_that_rechecks_nothing_hangs_the_last_for_good(rehearsal: Stage):
    """The middle one goes, then the holder: the last stands alone in the queue and sleeps."""
    rehearsal.queue_up("predecessor", "a", "b")
    rehearsal.queue_up_behind("c", flaw="no-recheck")
    rehearsal.pool.cancel("b")
    rehearsal.until(lambda: any("without a watch" in s.says for s in rehearsal.log.steps))
    rehearsal.pool.release("a")
    rehearsal.ended("a", "b")

    assert len(rehearsal.nodes()) == 1
    assert not rehearsal.log.until(lambda: bool(rehearsal.holders()), within_s=0.5)


def test_a_flawed_waiter_looks_right_while_nobody_leaves(rehearsal: Stage):
    """Which is why it was not found: released in order, the lock arrives."""
    rehearsal.queue_up("predecessor", "a")
    rehearsal.queue_up_behind("b", flaw="no-recheck")
    rehearsal.pool.release("a")
    rehearsal.holds("b")


def test_a_watch_set_too_late_never_fires(rehearsal: Stage):
    """The node before went between listing and watching: first in the queue, and asleep."""
    rehearsal.queue_up("predecessor", "a")
    rehearsal.start("b", flaw="void-watch")
    rehearsal.told("b", "decided")
    rehearsal.pool.release("a")
    rehearsal.told("b", "watching")
    rehearsal.ended("a")

    assert len(rehearsal.nodes()) == 1
    assert not rehearsal.log.until(lambda: bool(rehearsal.holders()), within_s=0.5)


def test_a_blind_retry_queues_behind_its_own_ghost(rehearsal: Stage):
    """Two nodes of one session: the second waits for the first, which nobody will ever release."""
    rehearsal.start("a", flaw="blind-retry", session_timeout_s=10.0)
    rehearsal.told("a", "watching")
    owners = {
        rehearsal.zookeeper.exists(f"{rehearsal.path}/{n}").ephemeralOwner
        for n in rehearsal.nodes()
    }

    assert len(rehearsal.nodes()) == 2
    assert len(owners) == 1
    assert rehearsal.holders() == set()


@pytest.mark.parametrize("recipe", ["predecessor", "kazoo-lock"])
def test_a_persistent_node_outlives_its_client(stage: Stage, recipe: str):
    """Killed, it leaves a node without an owner, which blocks all who come later."""
    stage.queue_up(recipe, "a", flaw="persistent")
    stage.pool.kill("a")
    stage.ended("a")
    stage.start("b", recipe)
    stage.told("b", "watching")
    orphan = next(n for n in stage.nodes() if n.endswith("0000000000"))

    assert stage.zookeeper.exists(f"{stage.path}/{orphan}").ephemeralOwner == 0
