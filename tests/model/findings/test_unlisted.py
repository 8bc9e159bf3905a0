"""What no table lists: watches on the children, slow polls, and what a client believes."""

import pytest
from model.findings.cases import (
    MINUTE,
    SECOND,
    At,
    all_rules,
    answers,
    connected,
    ctx,
    found,
    gone,
    history,
    k,
    only,
    plain,
    sessions,
    watching,
)
from model.make_facts import NOW, ZK1, figures, own

from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import LookAgainAt

ANN, BOB = plain("ann", 0), plain("bob", 1)


def sleeping(
    asked_ago: int,
    *,
    hidden: int | None = 0,
    queue: tuple[At, At] = (ANN, BOB),
) -> LockContext:
    """Bob waits and watches nothing that a table shows; it last asked so long ago."""
    tables = (
        own(),
        connected("bob", at=NOW - MINUTE, last_cxid=1),
        connected("bob", at=NOW - asked_ago, last_cxid=2),
        connected("bob", last_cxid=2),
        watching({}),
        *([] if hidden is None else [figures(ZK1, "3.9.5", watches=hidden)]),
    )
    return ctx(*queue, tables=tables, sessions=sessions(*tables[:4]))


def test_l1_fires_where_no_child_watch_can_wake_it() -> None:
    """Its server has none at all."""
    assert only("L1", sleeping(20 * SECOND)).confidence == "C3"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"hidden": 1}, id="the server has a child watch"),
        pytest.param({"hidden": None}, id="the server does not count its watches"),
        pytest.param({"asked_ago": 5 * SECOND}, id="it may ask every few seconds"),
    ],
)
def test_l1_is_quiet_for_common_names_when(case: dict[str, int | None]) -> None:
    """A herd on the children and a patient poller are no lost wake-ups."""
    assert not found("L1", sleeping(**({"asked_ago": 20 * SECOND} | case)))


def test_l1_looks_again_at_a_waiter_that_was_just_active() -> None:
    """Time alone will tell whether it polls."""
    assert [type(one) for one in answers("L1", sleeping(5 * SECOND))] == [LookAgainAt]


KAZOO = k("ann", 0), k("bob", 1)


@pytest.mark.parametrize("hidden", [0, None])
def test_l1_knows_by_heart_how_kazoo_watches(hidden: int | None) -> None:
    """A name that only one library writes leaves no doubt, even if its session is busy."""
    assert found("L1", sleeping(5 * SECOND, hidden=hidden, queue=KAZOO))


@pytest.mark.parametrize("queue", [KAZOO, (ANN, BOB)], ids=["kazoo", "anybody"])
def test_no_rule_says_that_nothing_wakes_a_waiter_of_a_server_with_child_watches(
    queue: tuple[At, At],
) -> None:
    """Their owner is unknown: the waiter is neither lost nor asleep."""
    assert not all_rules(sleeping(20 * SECOND, hidden=1, queue=queue))


def test_l6_is_quiet_for_a_waiter_that_is_woken() -> None:
    """A herd lists the queue at every change in it: one notification, one request."""
    fields = {"last_operation": "GETC", "sent": 0}
    tables = (
        connected("bob", at=NOW - 10 * SECOND, received=0, last_cxid=0, **fields),
        connected("bob", **(fields | {"received": 40, "sent": 80, "last_cxid": 40})),
        watching({}),
    )
    case = ctx(ANN, BOB, tables=tables, sessions=sessions(*tables[:2]))

    assert not found("L6", case)


def test_l6_is_quiet_for_pings() -> None:
    """A short session pings twice a second; that is no poll."""
    fields = {"last_operation": "GETC", "last_cxid": 7}
    tables = (
        connected("bob", at=NOW - 10 * SECOND, received=0, sent=0, **fields),
        connected("bob", received=20, sent=20, **fields),
        watching({}),
    )
    case = ctx(ANN, BOB, tables=tables, sessions=sessions(*tables[:2]))

    assert not found("L6", case)


READER = plain("rita", 1, "read-")


@pytest.mark.parametrize(("watched", "hints"), [((), ["C1"]), ((plain("will", 0, "write-"),), [])])
def test_s1_hints_at_a_reader_that_is_first_by_name(
    watched: tuple[At, ...], hints: list[str]
) -> None:
    """It waits by number and watches nothing, as a client would that believes to own."""
    writer = plain("will", 0, "write-")
    case = ctx(writer, READER, tables=[watching({"rita": watched})])

    assert [one.confidence for one in found("S1", case)] == hints


def test_a_reader_that_sorts_by_name_is_no_lost_wake_up_too() -> None:
    """Its name is before those of all writers: it reads, and waits for nothing."""
    case = sleeping(20 * SECOND, queue=(plain("ann", 0, "write-"), plain("bob", 1, "read-")))

    assert only("S1", case).confidence == "C2"
    assert not found("L1", case)


def test_a_lost_wake_up_is_no_hint_at_a_sort_by_name_too() -> None:
    """One cause, one alarm."""
    case = sleeping(20 * SECOND, queue=(k("ann", 0), k("bob", 1)))

    assert only("L1", case).confidence == "C3"
    assert not found("S1", case)


def test_p8_hints_at_readers_that_a_fair_queue_would_not_have_served() -> None:
    """They left without having been granted, or were served by a recipe that prefers readers."""
    writer = plain("will", 1, "write-", age_ms=MINUTE)
    left = tuple(gone(f"r{n}", 500 + n, "abandoned", mode="read") for n in range(10))
    case = ctx(plain("r", 0, "read-"), writer, past=history(former_members=left))

    finding = only("P8", case)

    assert (finding.confidence, finding.severity) == ("C1", "info")
    assert "10 readers that came later have come and gone" in finding.sentence


def test_p8_is_quiet_while_a_writer_holds() -> None:
    """Readers that gave up behind it were not served."""
    writer = plain("will", 1, "write-", age_ms=MINUTE)
    left = tuple(gone(f"r{n}", 500 + n, "abandoned", mode="read") for n in range(10))

    assert not found("P8", ctx(plain("w", 0, "write-"), writer, past=history(former_members=left)))


def test_s5_waits_for_a_second_table() -> None:
    """One may have been read just before the owner's own release."""
    tables = (
        connected("alice", at=NOW - MINUTE, last_cxid=1),
        connected("alice", last_cxid=1),
    )
    past = history(former_members=(gone("alice", 90, "released"),))
    finding = only("S5", ctx(k("bob", 1), tables=tables, past=past, sessions=sessions(*tables)))

    assert finding.patience_ms == 2 * SECOND
