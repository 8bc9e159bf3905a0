"""Answers: another thing that is wrong is told soon, older words of thousands at leisure."""

from msgspec.structs import replace

from zktop.model.findings.confirm import CurrentFindings
from zktop.model.findings.finding import Finding
from zktop.model.findings.schedule import ORDERED_PER_MS, REWORDED_PER_MS, Answers
from zktop.model.text import Text

MANY = 10_000
FOUND = Finding(
    id="P6-1",
    rule="P6",
    name="long-hold",
    severity="info",
    confidence="C1",
    lock=Text("/held"),
    nodes=(),
    sessions=(),
    since=0,
    sentence=Text("alice has held /held for 1h00m."),
    evidence=(),
    advice=Text(""),
    signature="",
    as_of=0,
)
OLDER = replace(FOUND, sentence=Text("alice has held /held for 1h01m."))


def answered(count: int) -> Answers:
    """Give what was answered at the time 0: so many findings."""
    answers = Answers()
    answers.give(CurrentFindings((FOUND,) * count), 0)
    return answers


def due_after(answers: Answers) -> int:
    """Tell when another answer is due."""
    return next(now for now in range(MANY) if answers.is_due(now, at_once=False))


def test_an_answer_that_is_right_stays() -> None:
    """Nothing is put in order for nothing, however long ago the last was."""
    assert not answered(1).is_due(MANY, at_once=True)


def test_what_is_wrong_is_told_as_soon_as_all_can_be_put_in_order() -> None:
    """What is new or worse among ten thousand waits for a second."""
    for now in ((), (FOUND, replace(FOUND, id="P6-2")), (replace(FOUND, severity="critical"),)):
        answers = answered(MANY)
        answers.compare((FOUND,), now)

        assert due_after(answers) == MANY // ORDERED_PER_MS


def test_older_words_of_many_wait_longer() -> None:
    """Those of a few are told with the next report."""
    some, many = answered(1), answered(MANY)
    for answers in (some, many):
        answers.compare((FOUND,), (OLDER,))

    assert due_after(some) == 0
    assert due_after(many) == MANY // REWORDED_PER_MS


def test_who_wants_all_of_it_gets_it_at_once() -> None:
    """A snapshot has nobody who looks again."""
    answers = answered(MANY)
    answers.compare((FOUND,), (OLDER,))

    assert answers.is_due(0, at_once=True)
