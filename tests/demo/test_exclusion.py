"""Mutual exclusion under crashes, freezes and broken lines, proved by the server itself."""

import contextlib
from collections.abc import Iterator

import pytest
from demo.contenders import Bench, kill_all
from demo.exclusion_check import NOT_ALONE
from demo.steps_and_believers import FullLog
from hypothesis import given, settings
from hypothesis import strategies as st
from kazoo.client import KazooClient

from zktop.demo.contender_processes import ProcessPool
from zktop.errors import UsageError

pytestmark = pytest.mark.usefixtures("checked")
CORRECT = (
    "poll",
    "parent-watch",
    "predecessor",
    "get-watch",
    "single-node",
    "rw",
    "rw-herd-host",
    "kazoo-lock",
    "kazoo-rw",
)
NAMES = ("ann", "bob", "cid", "dot")
DISTURBANCES = ("kill", "freeze", "thaw", "cut", "cancel")
EXAMPLES = max(3, settings().max_examples // 20)  # each takes seconds: they are real processes

troubles = st.lists(
    st.tuples(st.sampled_from(DISTURBANCES), st.sampled_from(NAMES)), min_size=3, max_size=8
)


@pytest.fixture(scope="module")
def checked() -> Iterator[None]:
    """Every contender checks that it is alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("zktop.demo.contender_processes.CONTENDER_MODULE", "demo.exclusion_check")
        yield


def acquisitions(bench: Bench) -> int:
    """How often the lock was acquired."""
    return sum(found["acquired"] for found in bench.log.all_counts().values())


def wait_for_acquisitions(bench: Bench, times: int = 2) -> None:
    """Wait until the lock has changed contenders again: nothing is stuck."""
    before = acquisitions(bench)
    bench.until(lambda: acquisitions(bench) >= before + times)


def enter(bench: Bench, name: str, recipe: str) -> None:
    """One that comes again and again, for moments; of a read/write lock every other one reads."""
    mode = ("read", "write")[NAMES.index(name) % 2] if "rw" in recipe else None
    bench.start(
        name,
        recipe,
        mode=mode,
        hold_s=0.01,
        rounds=0,
        pause_s=0.01,
        poll_s=0.02,
        session_timeout_s=1.0,
    )


def disturb(bench: Bench, trouble: str, name: str, recipe: str) -> None:
    """Disturb a contender; one that has ended is replaced."""
    deaf = frozen(bench, name) and trouble != "kill"
    with contextlib.suppress(UsageError):  # it may have ended by itself
        if trouble == "cut":
            bench.pool.cut(name, 0.2)
        else:
            getattr(bench.pool, trouble)(name)
    if trouble in {"kill", "cancel"} and not deaf:
        bench.ended(name)
        enter(bench, name, recipe)


def frozen(bench: Bench, name: str) -> bool:
    """Whether it is frozen, so that it reads no command."""
    return any(one.name == name and one.frozen for one in bench.pool.states())


@settings(max_examples=EXAMPLES, deadline=None)
@given(recipe=st.sampled_from(CORRECT), troubles=troubles)
def test_no_trouble_makes_two_holders(
    hosts: str, zookeeper: KazooClient, recipe: str, troubles: list[tuple[str, str]]
):
    """Whatever fails, two live sessions are never in the critical section together."""
    log = FullLog()
    with ProcessPool(log.add) as pool:
        bench = Bench(hosts, pool, log, zookeeper)
        for name in NAMES:
            enter(bench, name, recipe)
        for trouble, name in troubles:
            disturb(bench, trouble, name, recipe)
            if not all(frozen(bench, name) for name in NAMES):
                wait_for_acquisitions(bench)
        for name in NAMES:
            disturb(bench, "thaw", name, recipe)
        wait_for_acquisitions(bench)
        clashes = [step.line() for step in tuple(log.steps) if NOT_ALONE in step.says]
        kill_all(pool)

    assert clashes == []


def test_the_naive_one_is_caught_by_the_same_witness(bench: Bench):
    """Left alone, without any trouble, reader and writer meet inside sooner or later."""
    for name in NAMES:
        enter(bench, name, "rw-naive")
    bench.until(lambda: any(NOT_ALONE in step.says for step in tuple(bench.log.steps)))
