"""The states of contenders, folded from their steps, and the tally of what they report."""

from concurrent.futures import Future
from functools import partial

import pytest
from demo.contenders import PATIENCE_S, Bench
from msgspec.structs import replace

from zktop.demo.contender_processes import ContenderChange
from zktop.demo.contender_tally import MAX_ENDED_CONTENDERS, MAX_ENDED_SESSIONS, ContenderTally
from zktop.demo_types.contender_order import ContenderOrder, LockClaim
from zktop.demo_types.contender_state import ContenderState, ContenderStep, StepKind
from zktop.errors import UsageError
from zktop.model.text import Text

X, Y = "/zktop-demo/x", "/zktop-demo/y"
ORDER = ContenderOrder("ann", (LockClaim("poll", X), LockClaim("rw", Y, "write", gate=True)))


def step(
    what: StepKind, lock: str | None = None, session: str | None = None, who: str = "ann"
) -> ContenderStep:
    """One step of a contender, ann if not given."""
    return ContenderStep(who, what, f"says {what}", "", lock=lock, session=session)


def after(*steps: ContenderStep) -> ContenderState:
    """The state of ann after these steps."""
    state = ContenderState(ORDER)
    for one in steps:
        state = state.after(one)
    return state


def tally_of(*steps: ContenderStep) -> ContenderTally:
    """A tally with these steps of ann."""
    tally, state = ContenderTally(), ContenderState(ORDER)
    tally.add(ContenderChange(state))
    for one in steps:
        state = state.after(one)
        tally.add(ContenderChange(state, one))
    return tally


def live_and_die(tally: ContenderTally, number: int, *, dies: bool = True) -> None:
    """A contender starts, connects and, mostly, ends."""
    name = f"n{number}"
    connected = step("connected", session=hex(number + 1), who=name)
    before = ContenderState(replace(ORDER, name=name))
    state = before.after(connected)
    tally.add(ContenderChange(before))
    tally.add(ContenderChange(state, connected))
    if dies:
        tally.add(ContenderChange(state.after_exit(0, Text(""))))


CONNECTED = step("connected", session="0xffff000000000001")
HAS_X = (CONNECTED, step("created", X), step("decided", X), step("acquired", X))


@pytest.mark.parametrize(
    ("steps", "state"),
    [
        ((), "starting"),
        ((CONNECTED,), "ready"),
        ((CONNECTED, step("created", X)), "waits"),
        ((CONNECTED, step("watching", X)), "waits"),
        (HAS_X, "holds"),
        ((*HAS_X, step("waiting", Y)), "at-gate"),
        ((*HAS_X, step("watching", Y)), "waits"),
        ((*HAS_X, step("suspended")), "suspended"),
        ((*HAS_X, step("suspended"), CONNECTED), "holds"),
        ((*HAS_X, step("lost")), "lost"),
        ((*HAS_X, step("lost"), CONNECTED), "ready"),
        ((*HAS_X, step("releasing", X)), "releases"),
        ((*HAS_X, step("releasing", X), step("released", X)), "ready"),
        ((*HAS_X, step("gave-up", Y)), "ready"),
        ((*HAS_X, step("ended")), "leaves"),
    ],
    ids=str,
)
def test_the_state_in_one_word(steps: tuple[ContenderStep, ...], state: str):
    """The last step decides, unless a more serious condition holds."""
    assert after(*steps).state == state


def test_the_session_is_the_one_of_the_reports():
    """Unsigned; a new one after the old one was lost."""
    assert after(CONNECTED).session == 0xFFFF000000000001


@pytest.mark.parametrize(
    ("steps", "holds"),
    [
        (HAS_X, (X,)),
        ((*HAS_X, step("acquired", Y)), (X, Y)),
        ((*HAS_X, step("acquired", X), step("releasing", X)), (X,)),
        ((*HAS_X, step("acquired", Y), step("releasing", Y)), (X,)),
        ((*HAS_X, step("lost")), ()),
    ],
    ids=str,
)
def test_the_locks_that_it_believes_to_hold(
    steps: tuple[ContenderStep, ...], holds: tuple[str, ...]
):
    """The same lock may be held twice, to read and to write."""
    assert after(*steps).holds == holds


def test_the_lock_that_it_requests_now():
    """The first claim until that is had, then the next one, and the last one stays."""
    claims = [after(*steps).claim.path for steps in ((), HAS_X, (*HAS_X, *HAS_X))]

    assert claims == [X, Y, Y]


def test_its_last_words():
    """In its own words."""
    assert [after().says, after(*HAS_X).says] == ["starting", "says acquired"]


def test_a_frozen_contender_is_frozen_whatever_it_did():
    """It cannot say so itself: the pool does."""
    assert replace(after(*HAS_X), frozen=True).state == "frozen"


def test_a_contender_that_ended_holds_nothing():
    """Its exit code says how it ended, and the last line of stderr why."""
    gone = after(*HAS_X).after_exit(-9, Text("no memory"))

    assert (gone.state, gone.holds, gone.says) == ("killed by signal 9", (), "no memory")


def test_the_session_of_an_ended_contender_is_known():
    """It may live on until it expires, and a report still shows it."""
    tally = tally_of(*HAS_X)
    tally.add(ContenderChange(after(*HAS_X).after_exit(0, Text(""))))

    assert tally.our_sessions == (0xFFFF000000000001,)


def test_the_number_of_ended_contenders_is_bounded():
    """A UI may run for weeks."""
    tally = ContenderTally()
    for number in range(MAX_ENDED_CONTENDERS + 10):
        live_and_die(tally, number)

    assert len(tally.ended) == len(tally.counts) == MAX_ENDED_CONTENDERS
    assert len(tally.our_sessions) == 1 + MAX_ENDED_SESSIONS  # one lived when it connected


def test_a_living_contender_is_ours_however_many_came_after_it():
    """Its session must not be taken for another client's."""
    tally = ContenderTally()
    for number in range(2 * MAX_ENDED_SESSIONS):
        live_and_die(tally, number, dies=number > 0)

    assert 1 in tally.our_sessions


def test_our_sessions_are_the_same_object_until_a_contender_connects():
    """Every report of a long run keeps it; a set each would be most of the memory."""
    tally = tally_of(*HAS_X)
    known = tally.our_sessions
    tally.add(ContenderChange(after(*HAS_X).after_exit(0, Text(""))))

    assert tally.our_sessions is known


@pytest.mark.parametrize("hosts", ["sandbox"], indirect=True)
class TestLive:
    """With processes."""

    def test_the_state_of_a_contender_follows_its_steps(self, bench: Bench):
        """Its session is that of its node."""
        bench.queue_up("predecessor", "a", "b")
        a, b = bench.pool.states()
        owner = bench.zookeeper.exists(f"{bench.path}/{bench.nodes()[1]}").ephemeralOwner

        assert (a.state, a.holds, b.state) == ("holds", (bench.path,), "waits")
        assert b.session == owner

    def test_a_caller_need_not_wait(self, bench: Bench):
        """The pool's thread runs what is queued, in order."""
        order = bench.order("a")
        hired = bench.pool.soon(partial(bench.pool.start, order))
        frozen = bench.pool.soon(partial(bench.pool.freeze, "a"))
        killed = bench.pool.soon(partial(bench.pool.kill, "a"))

        assert hired.result(PATIENCE_S).name == order.name
        assert [frozen.result(PATIENCE_S), killed.result(PATIENCE_S)] == [None, None]
        bench.ended("a")

    @pytest.mark.parametrize("prepare", ["states", "close"])
    def test_a_refusal_comes_with_the_answer(self, bench: Bench, prepare: str):
        """Also from a pool that is closed."""
        getattr(bench.pool, prepare)()
        answer = bench.pool.soon(partial(bench.pool.kill, "nobody"))

        with pytest.raises(UsageError):
            answer.result(PATIENCE_S)

    def test_a_busy_pool_makes_no_caller_wait(self, bench: Bench):
        """Thousands of tasks are queued before the pool runs any of them."""
        answers: list[Future[int]] = []

        def busy() -> int:
            answers.extend(bench.pool.soon(lambda: 1) for _ in range(5_000))
            return 0

        assert bench.pool.soon(busy).result(PATIENCE_S) == 0
        assert sum(answer.result(PATIENCE_S) for answer in answers) == 5_000

    def test_a_frozen_contender_is_known_to_be(self, bench: Bench):
        """The pool says so, because they cannot."""
        bench.queue_up("predecessor", "a")
        bench.pool.freeze("a")

        assert bench.pool.states()[0].state == "frozen"

        bench.pool.thaw("a")

        assert bench.pool.states()[0].state == "holds"
