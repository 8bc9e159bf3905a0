"""How contenders stand, by what they told: what a UI lists beside the locks."""

from concurrent.futures import Future
from functools import partial

import pytest
from demo.contenders import PATIENCE_S, Stage

from zktop.demo.log import MAX_ENDED, MAX_ENDED_SESSIONS, ContenderLog, ContenderState
from zktop.demo.messages import ContenderOrder, ContenderStep, LockClaim, StepKind
from zktop.demo.processes import (
    ContenderEnded,
    ContenderFroze,
    ContenderStarted,
    PoolEvent,
    StepReported,
)
from zktop.errors import UsageError
from zktop.model.text import Text

X, Y = "/zktop-demo/x", "/zktop-demo/y"
ORDER = ContenderOrder("ann", (LockClaim("poll", X), LockClaim("rw", Y, "write", gate=True)))


def told(what: StepKind, lock: str | None = None, session: str | None = None) -> StepReported:
    """One step of ann's."""
    return StepReported(
        "ann", ContenderStep("ann", what, f"says {what}", "", lock=lock, session=session)
    )


def standing(*events: PoolEvent) -> ContenderState:
    """How ann stands after that."""
    chronicle = ContenderLog()
    for event in (ContenderStarted("ann", 7, ORDER), *events):
        chronicle.hear(event)
    return chronicle.standings()[0]


CONNECTED = told("connected", session="0xffff000000000001")
HAS_X = (CONNECTED, told("created", X), told("decided", X), told("acquired", X))


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ((), "starting"),
        ((CONNECTED,), "ready"),
        ((CONNECTED, told("created", X)), "waits"),
        ((CONNECTED, told("watching", X)), "waits"),
        (HAS_X, "holds"),
        ((*HAS_X, told("waiting", Y)), "at-gate"),
        ((*HAS_X, told("watching", Y)), "waits"),
        ((*HAS_X, told("suspended")), "suspended"),
        ((*HAS_X, told("suspended"), CONNECTED), "holds"),
        ((*HAS_X, told("lost")), "lost"),
        ((*HAS_X, told("lost"), CONNECTED), "ready"),
        ((*HAS_X, told("releasing", X)), "releases"),
        ((*HAS_X, told("releasing", X), told("released", X)), "ready"),
        ((*HAS_X, told("gave-up", Y)), "ready"),
        ((*HAS_X, ContenderFroze("ann", frozen=True)), "frozen"),
        (
            (*HAS_X, ContenderFroze("ann", frozen=True), ContenderFroze("ann", frozen=False)),
            "holds",
        ),
        ((*HAS_X, told("ended")), "leaves"),
    ],
    ids=str,
)
def test_the_state_in_one_word(events: tuple[PoolEvent, ...], state: str):
    """What it told last, unless something graver is the matter."""
    assert standing(*events).state == state


def test_the_session_is_the_one_of_the_reports():
    """Unsigned; a new one after the old one was lost."""
    assert standing(CONNECTED).session == 0xFFFF000000000001


@pytest.mark.parametrize(
    ("events", "holds"),
    [
        (HAS_X, (X,)),
        ((*HAS_X, told("acquired", Y)), (X, Y)),
        ((*HAS_X, told("acquired", X), told("releasing", X)), (X,)),
        ((*HAS_X, told("acquired", Y), told("releasing", Y)), (X,)),
        ((*HAS_X, told("lost")), ()),
    ],
    ids=str,
)
def test_what_it_believes_to_hold(events: tuple[PoolEvent, ...], holds: tuple[str, ...]):
    """The same lock may be held twice, to read and to write."""
    assert standing(*events).holds == holds


def test_what_it_asks_for_now():
    """The first claim until that is had, then the next one, and the last one stays."""
    claims = [standing(*events).claim.path for events in ((), HAS_X, (*HAS_X, *HAS_X))]

    assert claims == [X, Y, Y]


def test_its_last_words():
    """In its own words."""
    assert [standing().says, standing(*HAS_X).says] == ["starting", "says acquired"]


def ended(name: str) -> ContenderEnded:
    """Somebody is gone."""
    return ContenderEnded(name, 7, 0, Text(""))


def test_who_has_ended_stands_nowhere_but_the_session_is_known():
    """It may live on until it expires, and a report still shows it."""
    chronicle = ContenderLog()
    for event in (ContenderStarted("ann", 7, ORDER), *HAS_X, ended("ann")):
        chronicle.hear(event)

    assert chronicle.standings() == ()
    assert chronicle.sessions() == {0xFFFF000000000001: "ann"}
    assert chronicle.believers(X) == set()


@pytest.mark.parametrize("names", [MAX_ENDED, 5])
def test_what_is_remembered_of_the_dead_is_bounded(names):
    """A UI may run for weeks."""
    chronicle = ContenderLog(names=names)
    for number in range(MAX_ENDED + 10):
        name = f"n{number}"
        step = ContenderStep(name, "connected", "", "", session=hex(number + 1))
        for event in (ContenderStarted(name, 7, ORDER), StepReported(name, step), ended(name)):
            chronicle.hear(event)

    assert len(chronicle.ended) == len(chronicle.told) == names
    assert len(chronicle.sessions()) == 1 + MAX_ENDED_SESSIONS  # one lived when it connected
    assert chronicle.ended.keys() == chronicle.latest.keys()


def test_a_living_contender_is_ours_however_many_came_after_it():
    """Its session is the one that must not be taken for a stranger's."""
    chronicle = ContenderLog()
    for number in range(2 * MAX_ENDED_SESSIONS):
        name = f"n{number}"
        step = ContenderStep(name, "connected", "", "", session=hex(number + 1))
        events = [ContenderStarted(name, 7, ORDER), StepReported(name, step), ended(name)]
        for event in events if number else events[:2]:
            chronicle.hear(event)

    assert chronicle.sessions()[1] == "n0"
    assert {*chronicle.ours} == chronicle.sessions().keys()


def test_who_is_ours_is_the_same_object_until_somebody_connects():
    """Every report of a long run keeps it; a set each would be most of the memory."""
    chronicle = ContenderLog()
    for event in (ContenderStarted("ann", 7, ORDER), *HAS_X):
        chronicle.hear(event)
    known = chronicle.ours
    chronicle.hear(ended("ann"))

    assert chronicle.ours is known


def test_the_newest_steps():
    """In the order in which they were told."""
    chronicle = ContenderLog()
    for event in (ContenderStarted("ann", 7, ORDER), *HAS_X):
        chronicle.hear(event)

    assert [step.what for step in chronicle.last(2)] == ["decided", "acquired"]
    assert chronicle.last(0) == ()


@pytest.mark.parametrize("hosts", ["sandbox"], indirect=True)
class TestLive:
    """With processes."""

    def test_a_hand_stands_as_it_told(self, stage: Stage):
        """Its session is that of its node."""
        stage.queue_up("predecessor", "a", "b")
        a, b = stage.chronicle.standings()
        owner = stage.zookeeper.exists(f"{stage.path}/{stage.nodes()[1]}").ephemeralOwner

        assert (a.state, a.holds, b.state) == ("holds", (stage.path,), "waits")
        assert b.session == owner

    def test_a_caller_need_not_wait(self, stage: Stage):
        """What is asked soon is done in the crew's thread, in the order of asking."""
        order = stage.order("a")
        hired = stage.crew.soon(partial(stage.crew.hire, order))
        frozen = stage.crew.soon(partial(stage.crew.freeze, "a"))
        killed = stage.crew.soon(partial(stage.crew.kill, "a"))

        assert hired.result(PATIENCE_S).order == order
        assert [frozen.result(PATIENCE_S), killed.result(PATIENCE_S)] == [None, None]
        stage.ended("a")

    @pytest.mark.parametrize("prepare", ["hands", "close"])
    def test_a_refusal_comes_with_the_answer(self, stage: Stage, prepare: str):
        """Also of a crew that has gone home."""
        getattr(stage.crew, prepare)()
        answer = stage.crew.soon(partial(stage.crew.kill, "nobody"))

        with pytest.raises(UsageError):
            answer.result(PATIENCE_S)

    def test_asking_a_busy_crew_does_not_wait(self, stage: Stage):
        """Thousands of wishes fit in, though the crew looks at none of them yet."""
        answers: list[Future[int]] = []

        def busy() -> int:
            answers.extend(stage.crew.soon(lambda: 1) for _ in range(5_000))
            return 0

        assert stage.crew.soon(busy).result(PATIENCE_S) == 0
        assert sum(answer.result(PATIENCE_S) for answer in answers) == 5_000

    def test_frozen_hands_are_known_to_be(self, stage: Stage):
        """The crew says so, because they cannot."""
        stage.queue_up("predecessor", "a")
        stage.crew.freeze("a")

        assert stage.chronicle.standings()[0].state == "frozen"

        stage.crew.thaw("a")

        assert stage.chronicle.standings()[0].state == "holds"
