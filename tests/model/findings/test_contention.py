"""P6 to P10: locks held too long or asked for too often; with a near miss each."""

import pytest
from model.builders import (
    NOW,
)
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    answers,
    ctx,
    found,
    gone,
    held,
    history,
    k,
    lacks,
    only,
    usual,
    verdicts,
)

from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import LookAgainAt
from zktop.model.history.attempts import Attempts
from zktop.model.text import Text

A, B = k("alice", 0), k("bob", 1)
QUEUE = [k(f"w{number}", number) for number in range(8)]


def holding(ms: int, p99: int | None = SECOND, **more: object) -> LockContext:
    """Alice has held for so long; bob waits."""
    durations = {"holds": usual(10, p99)} if p99 else {}
    return ctx(A, B, past=history(stays=held(A, ms), **durations), **more)


def test_p6_fires_beyond_ten_times_the_usual_longest() -> None:
    """Compared with the history of this very lock."""
    finding = only("P6", holding(64 * SECOND))

    assert finding.sentence == (
        f"alice has held {PATH} for 1m04s, 64 times the usual longest; 1 actor waits."
    )


@pytest.mark.parametrize(
    ("ms", "p99"),
    [pytest.param(29_999, 10, id="below 30 s"), pytest.param(64_000, 7_000, id="usual here")],
)
def test_p6_is_quiet_for_a_hold(ms: int, p99: int) -> None:
    """It asks to look again when the bound will be passed."""
    bound = max(30_000, 10 * p99)

    assert answers("P6", holding(ms, p99)) == [LookAgainAt(NOW - ms + bound + 1)]


def test_p6_is_quiet_for_a_member_of_a_deadlock() -> None:
    """The deadlock explains it."""
    assert not found("P6", holding(64_000, tangled={(Text(PATH), Text(A.name)): "D1-x"}))


def test_p6_is_a_hint_while_nothing_is_known_of_usual_holds() -> None:
    """And only for what is long by any measure; it says that it is half blind."""
    case = holding(601_000, None)

    assert (only("P6", case).confidence, lacks("P6", case)) == ("C1", ["history"])
    assert not verdicts("P6", holding(599_000, None))


def busy(share: float | None, before: int = 7, releases: float = 2.0) -> LockContext:
    """A queue of seven, a minute ago so long, whose lock was held for this part of it."""
    past = history(
        busy=share,
        queue=(before,) * 60,
        releases_per_s=releases,
        requests_per_s=2.5,
        holds=usual(400, 500),
        stays=held(QUEUE[0], 300),
    )
    return ctx(*QUEUE, past=past)


def test_p7_fires_for_a_lock_that_is_never_free() -> None:
    """With the rates and how long the queue would take to drain."""
    assert only("P7", busy(0.99)).sentence == (
        f"{PATH} is never free: 7 actors wait, 2.5 arrive and 2.0 leave per second; without "
        "new ones it would drain in 2s."
    )


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"share": 0.8}, id="it was free now and then"),
        pytest.param({"share": 0.99, "before": 9}, id="the queue shrinks"),
        pytest.param({"share": 0.99, "releases": 0.0}, id="it does not move at all"),
    ],
)
def test_p7_is_quiet_when(case: dict[str, float]) -> None:
    """A batch that ends is no convoy, and a standstill is something else."""
    assert not found("P7", busy(**case))


def test_p7_is_blind_in_the_first_minute() -> None:
    """There is no minute to look back on."""
    assert lacks("P7", busy(None)) == ["history"]


def overtaken(readers: int, czxid: int = 500) -> LockContext:
    """A writer waits; so many readers with this czxid came and went."""
    reader, writer = k("r", 0, "rlock"), k("w", 1, age_ms=MINUTE)
    left = tuple(gone(f"r{n}", czxid + n, "released", mode="read") for n in range(readers))
    return ctx(reader, writer, past=history(former_members=left))


def test_p8_fires_for_a_writer_overtaken_by_ten_readers() -> None:
    """In a fair queue that cannot happen."""
    assert "while 10 readers that came later were served" in only("P8", overtaken(10)).sentence


@pytest.mark.parametrize(
    ("readers", "czxid"),
    [pytest.param(9, 500, id="nine"), pytest.param(20, 10, id="they came before it")],
)
def test_p8_is_quiet_when(readers: int, czxid: int) -> None:
    """Readers before the writer are in their right."""
    assert not found("P8", overtaken(readers, czxid))


def retrying(given_up: int, overtaken: int) -> LockContext:
    """Bob gave up so often in a row, while so many later ones were served."""
    tried = Attempts(given_up, overtaken, 5, (10_000, 10_000, 10_000))
    return ctx(A, B, past=history(attempts={"bob": tried}))


def test_p9_fires_for_a_contender_that_gives_up_again_and_again() -> None:
    """With the time limit that its waits betray."""
    assert only("P9", retrying(3, 3)).sentence == (
        f"bob gave up {PATH} 3 times in a row, each time after about 10s, while 3 later ones "
        "got it."
    )


@pytest.mark.parametrize(("given_up", "later"), [(2, 9), (9, 2)])
def test_p9_is_quiet_for(given_up: int, later: int) -> None:
    """Once or twice is bad luck; and if none is served, waiting longer would not help."""
    assert not found("P9", retrying(given_up, later))


@pytest.mark.parametrize(("waiters", "severity"), [(1_001, "info"), (5_001, "warning")])
def test_p10_fires_for_long_queues(waiters: int, severity: str) -> None:
    """From a thousand on it is worth a line."""
    case = ctx(*(k(f"w{n}", n) for n in range(waiters + 1)))

    assert only("P10", case).severity == severity


def test_p10_is_quiet_for_a_thousand() -> None:
    """One less."""
    assert not found("P10", ctx(*(k(f"w{n}", n) for n in range(1_001))))
