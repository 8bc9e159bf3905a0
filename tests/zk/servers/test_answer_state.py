"""The state of a server follows from its answers in each round."""

import pytest

from zktop.zk.connect.address import Address
from zktop.zk.connect.preflight import Outcome, Probe
from zktop.zk.servers.answer_state import AnswerState

WHERE = Address("zk1", 2181)


def after(*outcomes: Outcome, is_given: bool = True) -> AnswerState:
    """A server after rounds with these outcomes, one second apart."""
    answer_state = AnswerState(is_given=is_given)
    for number, outcome in enumerate(outcomes):
        answer_state.update(Probe(WHERE, outcome, ""), 1_000 * number)
    return answer_state


@pytest.mark.parametrize(
    ("outcomes", "state", "since"),
    [
        (["ok"], "up", None),
        (["ok", "unreachable"], "down", 1_000),
        (["ok", "unreachable", "unreachable"], "down", 1_000),
        (["unknown-host"], "down", 0),
        (["ok", "not-serving"], "no-quorum", 1_000),
        (["ok", "silent"], "up", None),
        (["ok", "silent", "silent"], "no-answer", 1_000),
        (["ok", "silent", "ok", "silent"], "up", None),
        (["ok", "silent", "unreachable"], "down", 1_000),
        (["unreachable", "ok"], "up", None),
        (["not-zookeeper"], None, None),
        (["silent"], None, None),
    ],
)
def test_the_state_after_these_rounds(
    outcomes: list[Outcome], state: str | None, since: int | None
) -> None:
    """A refusal counts at once, silence after two rounds in a row."""
    answer_state = after(*outcomes)

    assert (answer_state.state, answer_state.since) == (state, since)


def test_a_first_silence_is_unsure() -> None:
    """After a first silence the server is asked again soon."""
    assert after("ok", "silent").is_unsure
    assert not after("ok").is_unsure
    assert not after("ok", "silent", "silent").is_unsure


@pytest.mark.parametrize("outcome", ["unreachable", "silent", "unknown-host"])
def test_a_member_that_has_never_answered_may_be_fine(outcome: Outcome) -> None:
    """A member that never answered may be reachable only inside of containers."""
    assert after(outcome, outcome, is_given=False).state == "unreached"
    assert after("ok", outcome, outcome, is_given=False).state in ("down", "no-answer")


def test_a_member_without_quorum_has_answered() -> None:
    """Its sentence shows that the address is right."""
    assert after("not-serving", is_given=False).state == "no-quorum"
    assert after("not-serving", "unreachable", is_given=False).state == "down"
