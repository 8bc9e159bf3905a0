"""Waiters by name that own the lock all the same, as only their watches show."""

from model.findings.cases import PATH, At, all_rules, ctx, curator, k, only, watching

from zktop.model.findings.context import LockContext

X, R = curator("bob", 2, "WRIT"), curator("alice", 3, "READ")


def behind_a_writer(*watched: At) -> LockContext:
    """Alice's read stands behind bob's write, and she watches these."""
    return ctx(X, R, tables=[watching({"alice": watched})])


def test_s4_fires_for_a_reader_behind_a_writer_that_watches_nothing() -> None:
    """It has no need to: it has been reading since before the writer got in."""
    finding = only("S4", behind_a_writer())

    assert finding.sentence == (
        f"alice may still read {PATH} although bob may write: bob was granted when alice stopped "
        "writing."
    )
    assert finding.confidence == "C2"


def test_no_rule_says_that_this_reader_sleeps() -> None:
    """Either may be true, and one alarm is enough."""
    assert "L1" not in all_rules(behind_a_writer())


def test_s4_is_quiet_for_a_reader_that_waits() -> None:
    """It watches the writer."""
    assert "S4" not in all_rules(behind_a_writer(X))


def test_l1_still_fires_for_waiters_further_back() -> None:
    """There is a writer in between that was not let in."""
    Y, Z = curator("cem", 3, "WRIT"), curator("dee", 4, "READ")  # noqa: N806  znodes

    case = ctx(X, Y, Z, tables=[watching({"cem": [X], "dee": []})])

    assert only("L1", case).sentence.startswith("dee waits")


ANN, BOB = k("ann", 0, "rlock"), k("bob", 1)


def test_s2_fires_for_a_lock_behind_readers_that_watches_nothing() -> None:
    """It may be a plain Lock of kazoo, which sees no readers."""
    case = ctx(ANN, BOB, tables=[watching({"bob": []})])

    assert only("S2", case).sentence == (
        f"bob may own {PATH} together with 1 reader: a plain Lock of kazoo does not see readers."
    )
    assert "L1" not in all_rules(case)


def test_s2_is_quiet_for_a_writer_that_waits_for_readers() -> None:
    """It watches the last of them."""
    assert "S2" not in all_rules(ctx(ANN, BOB, tables=[watching({"bob": [ANN]})]))
