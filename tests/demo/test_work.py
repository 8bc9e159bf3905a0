"""What contenders do with their locks: work, oversleep, raise, die, keep them, queue up again."""

import signal
from unittest.mock import Mock

import pytest
from demo.contenders import Bench
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, NoAuthError
from kazoo.recipe.election import Election

from zktop.demo.client import LockClient
from zktop.demo.recipes.recipe import PlaceLostError, Recipe
from zktop.demo.recipes.sequential import WatchPredecessor
from zktop.demo.step_reporter import StepReporter
from zktop.demo.stoppable_wait import StoppableEvent, Timeout
from zktop.demo_types.contender_order import ClientSettings, LockClaim

MANY = 100  # requests; one is enough


def test_held_for_as_long_as_ordered(threads: Bench):
    """The lock is released after `hold_s`, without a command."""
    threads.start("a", hold_s=0.1)
    threads.ended("a")

    assert threads.log.count("a", "released") == 1
    assert threads.log.ended["a"].exit_code == 0


def test_an_early_release_counts(threads: Bench):
    """The command to release may arrive before the contender has the lock."""
    threads.queue_up("predecessor", "a", "b")
    threads.pool.release("b")
    threads.pool.release("a")
    threads.ended("a", "b")

    assert threads.log.count("b", "acquired") == 1


def test_an_oversleeper_believes_it_holds_until_it_checks(bench: Bench):
    """Its session expires while it sleeps: for a while, two contenders believe that they hold."""
    bench.start("a", work="oversleep", sleep_s=2.5, session_timeout_s=1.0)
    bench.wait_for_step("a", "working")
    bench.start("b")
    bench.wait_for_step("b", "acquired")
    bench.wait_for_step("a", "lost")
    bench.ended("a")

    assert bench.log.most_believers(bench.path) == {"a", "b"}
    assert bench.holders() == {"b"}
    assert "wakes up" in " ".join(step.says for step in bench.log.steps)


def test_work_that_raises_releases_the_locks(threads: Bench):
    """Its locks do not outlive the exception."""
    threads.queue_up("predecessor", "a", "b", work="raise")
    threads.pool.release("a")
    threads.wait_for_step("b", "acquired")
    threads.ended("a")

    assert threads.log.count("a", "failed") == 1


def test_a_contender_that_dies_holds_until_its_session_expires(bench: Bench):
    """A killed contender releases nothing: the next one waits until the session expires."""
    bench.start("a", work="die", hold_s=0, session_timeout_s=1.0)
    bench.ended("a")
    bench.start("b")
    bench.wait_for_step("b", "acquired")

    assert bench.log.ended["a"].exit_code == -signal.SIGKILL
    assert bench.log.count("a", "released") == 0


def test_a_contender_that_forgets_to_release_holds_for_ever(threads: Bench):
    """Its work is done, its session lives, and no other contender gets the lock."""
    threads.start("a", work="never", hold_s=0)
    threads.wait_for_step("a", "working", times=2)
    threads.start("b", timeout_s=0.3)
    threads.ended("b")

    assert threads.holders() == {"a"}


def test_locks_are_taken_in_the_given_order_and_released_in_reverse(threads: Bench):
    """Three locks are acquired as x, y, z and released as z, y, x."""
    locks = [f"{threads.path}/{name}" for name in "xyz"]
    threads.start("a", claims=tuple(LockClaim("predecessor", lock) for lock in locks), hold_s=0)
    threads.ended("a")
    steps = [s for s in threads.log.steps if s.what in {"acquired", "released"}]

    assert [step.lock for step in steps] == locks + locks[::-1]


def test_a_gate_stays_closed_until_go(threads: Bench):
    """It asks for the second lock after `go`, so that scenes can be set up step by step."""
    x, y = f"{threads.path}/x", f"{threads.path}/y"
    threads.start("a", claims=(LockClaim("rw", x), LockClaim("rw", y, gate=True)))
    threads.wait_for_step("a", "waiting")

    assert threads.nodes(y) == []

    threads.pool.go("a")
    threads.wait_for_step("a", "acquired", times=2)


def test_a_contender_that_gave_up_queues_up_again(threads: Bench):
    """It tries for two rounds, and joins the end of the queue in each."""
    threads.queue_up("get-watch", "a")
    threads.start("b", "get-watch", timeout_s=0.1, rounds=2, pause_s=0.05)
    threads.ended("b")
    created = [s.says for s in threads.log.steps if s.contender == "b" and s.what == "created"]

    assert created == ["created lock_0000000001", "created lock_0000000002"]
    assert threads.log.count("b", "gave-up") == 2


def test_a_lost_place_is_taken_again(threads: Bench):
    """If its node is deleted, the recipe of the Java article queues up once more."""
    threads.queue_up("predecessor", "a", "b")
    threads.zookeeper.delete(f"{threads.path}/lock-0000000001")
    threads.pool.release("a")
    threads.holds("b")

    assert threads.nodes() == ["lock-0000000002"]


def test_the_wrong_node_is_never_deleted(bench: Bench):
    """A holder wakes after its session has expired: the node belongs to another by then."""
    bench.queue_up("single-node", "a", "b", session_timeout_s=1.0)
    bench.pool.freeze("a")
    bench.wait_for_step("b", "acquired")
    bench.pool.release("a")
    bench.pool.thaw("a")
    bench.ended("a")

    assert bench.zookeeper.get(bench.path)[0] == b"b"


def test_another_contenders_node_is_never_deleted(threads: Bench):
    """If the node of a holder was replaced, its release leaves the new node alone."""
    threads.queue_up("single-node", "a")
    threads.zookeeper.delete(threads.path)
    threads.zookeeper.create(threads.path, b"somebody else")
    threads.pool.release("a")
    threads.ended("a")

    assert threads.zookeeper.get(threads.path)[0] == b"somebody else"


def test_a_contender_that_never_had_the_lock_exits_with_1(threads: Bench):
    """The exit code is 1 after a time-out, as with `flock`."""
    threads.queue_up("predecessor", "a")
    threads.start("b", timeout_s=0.1)
    threads.ended("b")

    assert threads.log.ended["b"].exit_code == 1


@pytest.mark.parametrize("recipe", ["poll", "get-watch", "rw", "single-node", "kazoo-lock"])
def test_a_short_disconnection_costs_no_place(threads: Bench, recipe: str):
    """The session continues on a new connection, and the watch is set again."""
    wanted = {"mode": "write"} if recipe == "rw" else {}
    threads.queue_up(recipe, "a", "b", poll_s=0.05, session_timeout_s=8.0, **wanted)
    before = threads.nodes()
    for name in "ab":
        threads.pool.cut(name, 0.05)
    for name in "ab":
        threads.wait_for_step(name, "connected", times=2)
    threads.pool.release("a")
    threads.holds("b")

    assert set(threads.nodes()) <= set(before)
    assert len(threads.log.most_believers(threads.path)) == 1


def sentences(bench: Bench, name: str) -> list[str]:
    """All that a contender has said so far."""
    return [step.says for step in bench.log.steps if step.contender == name]


def test_an_empty_queue_is_not_the_lock(threads: Bench):
    """All nodes were deleted: the poller has lost its place, and says why."""
    threads.queue_up("poll", "a", "b", poll_s=0.05)
    for node in reversed(threads.nodes()):
        threads.zookeeper.delete(f"{threads.path}/{node}")
    threads.ended("b")

    assert threads.log.count("b", "acquired") == 0
    assert "its node was deleted: the place in the queue is lost" in sentences(threads, "b")


def test_the_tenth_attempt_is_the_last(threads: Bench, monkeypatch: pytest.MonkeyPatch):
    """No eleventh one is announced."""
    monkeypatch.setattr(WatchPredecessor, "_wait_in_line", _lose_the_place)
    threads.start("a", "predecessor")
    threads.ended("a")
    said = sentences(threads, "a")

    assert "its node is gone: attempt 10" in said
    assert "its node is gone: attempt 11" not in said


def _lose_the_place(_recipe: WatchPredecessor, _deadline: Timeout) -> bool:
    raise PlaceLostError


def test_a_lost_response_is_no_deleted_node(threads: Bench, monkeypatch: pytest.MonkeyPatch):
    """Reading the node ahead fails once: the recipe only knows that there was no response."""
    get, failures = LockClient.get, [ConnectionLoss]

    def get_later(client: LockClient, path: str, watch: object = None) -> object:
        if failures:
            raise failures.pop()
        return get(client, path, watch)

    monkeypatch.setattr(LockClient, "get", get_later)
    threads.queue_up("get-watch", "a", "b")
    said = sentences(threads, "b")

    assert "no response: list again" in said
    assert not any("was deleted" in says for says in said)


def test_a_client_whose_work_failed_had_the_lock(threads: Bench):
    """Its last sentence says what failed."""
    threads.start("a", work="raise", hold_s=0)
    threads.ended("a")

    assert sentences(threads, "a")[-1] == "ended after its work failed"


def test_a_release_that_fails_keeps_no_other_lock(threads: Bench, monkeypatch: pytest.MonkeyPatch):
    """The second lock cannot be released; the first one is, all the same."""
    release = Recipe.release

    def fail_on_y(recipe: Recipe) -> None:
        if recipe.path.endswith("/y"):
            raise NoAuthError
        release(recipe)

    monkeypatch.setattr(Recipe, "release", fail_on_y)
    locks = [f"{threads.path}/{name}" for name in "xy"]
    threads.start("a", claims=tuple(LockClaim("predecessor", lock) for lock in locks), hold_s=0)
    threads.ended("a")

    assert [step.lock for step in threads.log.steps if step.what == "released"] == locks[:1]


def test_an_election_at_the_end_of_the_time_ends(threads: Bench, monkeypatch: pytest.MonkeyPatch):
    """The candidate is elected just when it gives up: it stops leading at once."""
    cancel = Election.cancel

    def cancel_when_elected(election: Election) -> None:
        threads.pool.release("a")
        threads.wait_for_step("b", "notified")
        threads.until(lambda: election.lock.is_acquired)
        cancel(election)

    threads.queue_up("kazoo-election", "a")
    monkeypatch.setattr(Election, "cancel", cancel_when_elected)
    threads.start("b", "kazoo-election", timeout_s=0.2)
    threads.wait_for_step("b", "gave-up")

    assert threads.nodes() == []


def test_a_closed_session_ends_the_release(threads: Bench, monkeypatch: pytest.MonkeyPatch):
    """A client that does not react is hung up: its node is gone, and it asks no more."""
    asked = []

    def exists(_client: LockClient, path: str, *_watch: object) -> None:
        asked.append(path)
        raise ConnectionClosedError if len(asked) < MANY else KeyError

    threads.queue_up("single-node", "a")
    monkeypatch.setattr(LockClient, "exists", exists)
    threads.pool.release("a")
    threads.ended("a")

    assert asked == [threads.path]


def test_rounds_without_end_take_no_memory(threads: Bench, monkeypatch: pytest.MonkeyPatch):
    """Kazoo's recipes delete their nodes themselves; the client forgets them, too."""
    clients = []
    end = LockClient.end
    monkeypatch.setattr(LockClient, "end", lambda client: (clients.append(client), end(client)))
    threads.start("a", "kazoo-lock", hold_s=0, rounds=3)
    threads.ended("a")

    assert [client.created for client in clients] == [set()]


def test_a_second_cut_ends_like_the_first(monkeypatch: pytest.MonkeyPatch):
    """The hosts come back, though they were already unreachable when it began."""
    endings = []
    monkeypatch.setattr(
        "zktop.demo.client.threading.Timer",
        lambda _seconds, act, arguments: Mock(start=lambda: endings.append((act, arguments))),
    )
    reporter = StepReporter("a", lambda _step: None)
    client = LockClient(ClientSettings("zk1:2181"), reporter, StoppableEvent())
    client.cut(1)
    client.cut(1)
    for act, arguments in endings:
        act(*arguments)

    assert client.hosts == [("zk1", 2181)]


@pytest.mark.parametrize("recipe", ["rw-host", "rw-herd-host"])
def test_a_writer_after_the_overflow_is_a_writer(threads: Bench, recipe: str):
    """The numbers go on at -2147483648, which has eleven characters."""
    threads.zookeeper.create(f"{threads.path}/h-W--2147483648", makepath=True)
    threads.start("r", recipe, mode="read")
    threads.wait_for_step("r", "watching")

    assert threads.holders() == set()
    threads.zookeeper.delete(f"{threads.path}/h-W--2147483648")
