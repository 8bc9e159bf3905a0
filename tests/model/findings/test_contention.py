"""P6 to P10: locks held too long or asked for too often; with a near miss each."""

import msgspec
import pytest
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    At,
    answers,
    ctx,
    curator,
    found,
    gone,
    held,
    history,
    k,
    lacks,
    only,
    plain,
    usual,
    verdicts,
)
from model.make_facts import NOW, session

from zktop.model.findings.context import LockContext
from zktop.model.findings.finding import LookAgainAt
from zktop.model.history.attempts import Attempts
from zktop.model.history.former_members import MAX_FORMER_MEMBERS
from zktop.model.history.lock_history import FirstLook
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.thresholds import Thresholds

A, B = k("alice", 0), k("bob", 1)
QUEUE = [k(f"w{number}", number) for number in range(8)]
OVERTAKEN = k("r", 0, "rlock"), k("w", 1, age_ms=MINUTE)
SEVERAL = (("alice", "a"), ("bob", "a"), ("carol", "c"))  # clients and their locks


def holding(ms: int, p99: int | None = SECOND, **more: object) -> LockContext:
    """Alice has held for so long; bob waits."""
    durations = {"holds": usual(10, p99)} if p99 else {}
    return ctx(A, B, past=history(stays=held(A, ms), **durations), **more)


def test_p6_fires_beyond_ten_times_the_usual_longest() -> None:
    """Compared with the history of this very lock."""
    finding = only("P6", holding(64 * SECOND))

    assert finding.sentence == (
        f"alice has held {PATH} for 1m04s, 64 times the usual longest hold; 1 client waits."
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


def test_p6_is_quiet_for_a_hold_of_which_nobody_waits_for_the_end() -> None:
    """Of several locks below one parent, each has its own waiters."""
    a, b, c = (plain(who, n, f"{name}-") for n, (who, name) in enumerate(SEVERAL))
    stays = held(a, 64 * SECOND).with_changes(dict(held(c, 64 * SECOND).items()))
    case = ctx(a, b, c, past=history(stays=stays, holds=usual(10, SECOND)))

    assert only("P6", case).nodes == (a.name,)
    assert only("P6", case).sentence.endswith("1 client waits.")


def test_p6_says_how_short_holds_usually_are() -> None:
    """Thirty milliseconds are not nothing."""
    evidence = only("P6", holding(64 * SECOND, 30)).evidence

    assert evidence[0].text == "99 of 100 holds of this lock last 30ms at most"


def busy(
    share: float | None, before: int = 7, releases: float = 2.0, **more: object
) -> LockContext:
    """A queue of seven, a minute ago so long, whose lock was held for this part of it."""
    past = history(
        busy=share,
        queue=(before,) * 60,
        releases_per_s=releases,
        requests_per_s=2.5,
        holds=usual(400, 500),
        stays=held(QUEUE[0], 300),
        **more,
    )
    return ctx(*QUEUE, past=past)


def test_p7_fires_for_a_lock_that_is_never_free() -> None:
    """With the rates and how long the queue would take to drain."""
    assert only("P7", busy(0.99)).sentence == (
        f"{PATH} is never free: 7 clients wait, 2.5 arrive and 2.0 leave per second; without "
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
    since = NOW - 20 * SECOND
    case = busy(None, first_look=FirstLook(since, since))

    assert lacks("P7", case) == ["history"]
    assert LookAgainAt(since + MINUTE) in answers("P7", case)


def test_p7_is_quiet_for_a_lock_that_never_changed() -> None:
    """What is known of it is as old as its last change; it does not move."""
    assert not answers("P7", busy(None))


def test_p7_adds_up_no_holds_of_readers() -> None:
    """Readers hold at the same time, so their holds do not add up."""
    case = busy(0.99)
    shared = msgspec.structs.replace(case.lock, kind="read-write")

    assert "drain" not in only("P7", msgspec.structs.replace(case, lock=shared)).sentence


def test_p7_is_quiet_for_several_locks_below_one_parent() -> None:
    """Each of them may be free now and then."""
    case = busy(0.99)
    names = [plain(f"w{n}", n, f"job{n % 2}-") for n in range(10)]

    assert not found("P7", ctx(*names, past=case.past))


def overtaken(
    readers: int, czxid: int = 500, ending: str = "released", **limits: int
) -> LockContext:
    """A writer waits; so many readers with this czxid came and went."""
    left = tuple(gone(f"r{n}", czxid + n, ending, mode="read") for n in range(readers))
    settings = Settings(thresholds=Thresholds(**limits))
    return ctx(*OVERTAKEN, past=history(former_members=left), settings=settings)


def test_p8_counts_those_that_were_served() -> None:
    """Others may have given up."""
    case = overtaken(12)
    left = [*case.past.former_members, *overtaken(5, 900, "abandoned").past.former_members]
    more = ctx(*OVERTAKEN, past=history(former_members=tuple(left)))

    assert "while 12 readers that came later were served" in only("P8", more).sentence
    assert [one.supports for one in only("P8", more).evidence] == [True]


def test_p8_is_a_hint_if_readers_merely_left() -> None:
    """They may have cancelled."""
    finding = only("P8", overtaken(10, ending="abandoned"))

    assert "while 10 readers that came later have come and gone" in finding.sentence
    assert [one.supports for one in finding.evidence] == [True, None]


def test_p8_fires_for_any_limit() -> None:
    """No more readers are remembered than these: there may have been more."""
    case = overtaken(MAX_FORMER_MEMBERS, starved_readers=100)

    assert f"at least {MAX_FORMER_MEMBERS} readers" in only("P8", case).sentence


def test_p8_is_quiet_for_the_reads_of_the_present_holder() -> None:
    """They may have been re-entrant: taken while it had the lock anyhow."""
    left = tuple(gone("r", 500 + n, "released", mode="read") for n in range(20))

    assert not found("P8", ctx(*OVERTAKEN, past=history(former_members=left)))


def test_p8_is_quiet_for_locks_on_ranges_of_rows() -> None:
    """Readers of other rows are no rivals of a writer."""
    rows = [
        At("flock#READ~FATE:USER:6f9e2c1a-0001-4a4a-8a8a-000000000001~N~PbQ==#0000000007", "r"),
        At("flock#WRITE~FATE:USER:6f9e2c1a-0002-4a4a-8a8a-000000000002~N~PbQ==#0000000008", "w"),
    ]
    case = ctx(*rows, past=overtaken(20).past)

    assert [member.mode for member in case.waiters] == ["write"]
    assert not found("P8", case)


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
        f"bob gave up waiting for {PATH} 3 times in a row, each time after about 10s, while 3 "
        "later requests were granted."
    )
    evidence = only("P9", retrying(3, 3)).evidence
    assert evidence[-1].text == "the label names one client, not several"


def test_p9_fires_for_a_client_without_a_label_between_two_attempts() -> None:
    """Its session is the same; it is about to try again."""
    left = (gone("bob", 500, "abandoned"),)
    nameless = tuple(msgspec.structs.replace(one, label=None) for one in left)
    tried = {session_text(session("bob")): Attempts(3, 3, 5)}

    finding = only("P9", ctx(A, past=history(attempts=tried, former_members=nameless)))
    assert not any("label" in one.text for one in finding.evidence)


def test_p9_is_quiet_for_several_locks_below_one_parent() -> None:
    """Those that were served may have wanted another lock."""
    children = [plain(who, n, f"{name}-") for n, (who, name) in enumerate(SEVERAL)]
    tried = {"bob": Attempts(3, 3, 5)}

    assert not found("P9", ctx(*children, past=history(attempts=tried)))


@pytest.mark.parametrize(("given_up", "later"), [(2, 9), (9, 2)])
def test_p9_is_quiet_for(given_up: int, later: int) -> None:
    """Once or twice is bad luck; and if none is served, waiting longer would not help."""
    assert not found("P9", retrying(given_up, later))


@pytest.mark.parametrize(("waiters", "severity"), [(1_001, "info"), (5_001, "warning")])
def test_p10_fires_for_long_queues(waiters: int, severity: str) -> None:
    """From a thousand on it is worth a line."""
    case = ctx(*(k(f"w{n}", n) for n in range(waiters + 1)))

    assert only("P10", case).severity == severity


def test_p10_says_what_a_listing_takes() -> None:
    """Four bytes and the name, which may have characters of several bytes."""
    case = ctx(*(plain(f"w{n}", n, "zuß-") for n in range(1_100)))

    assert ": one listing takes 20 KiB of the 1024 KiB that" in only("P10", case).sentence


def test_p10_counts_candidates() -> None:
    """They wait for no other client, unless the election blocks."""
    case = ctx(*(curator(f"w{n}", n, mode="latch") for n in range(1_002)))

    assert only("P10", case).sentence.startswith("1001 candidates are in line in ")


def test_p10_is_quiet_for_a_thousand() -> None:
    """One less."""
    assert not found("P10", ctx(*(k(f"w{n}", n) for n in range(1_001))))
