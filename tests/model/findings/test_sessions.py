"""P1 to P5, P17 and S3: sessions; with a near miss each."""

from collections.abc import Collection

import msgspec
import pytest
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    At,
    answers,
    connected,
    ctx,
    curator,
    ensemble_context,
    found,
    k,
    lacks,
    only,
    session_context,
    shared_context,
    watching,
)
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    connections,
    expiry,
    figures,
    no_connections,
    row,
    session,
    timeouts,
)

from zktop.model.facts import AnyFact, Expiry
from zktop.model.findings.apply import examine_ensemble
from zktop.model.findings.context import (
    EnsembleContext,
    SessionContext,
    SharedContext,
    places_in,
)
from zktop.model.findings.finding import LookAgainAt
from zktop.model.findings.sessions import is_suspicious, sessions_and_connections
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.thresholds import Thresholds

A, B = k("alice", 0), k("bob", 1)


def lonely(*tables: object) -> object:
    """Alice, who holds the lock while bob waits."""
    return session_context("alice", A, B, tables=tables)


def test_p1_fires_for_an_owner_without_a_connection() -> None:
    """It is still listed, so it will expire: a countdown."""
    listed = expiry(ZK1, {"alice": 9 * SECOND, "zktop": 9 * SECOND})
    finding = only("P1", lonely(connected("bob", "zktop"), listed))

    assert finding.sentence == (
        f"alice is connected to no server and still holds {PATH}; freed in at most 10s; "
        "1 client waits."
    )
    assert finding.confidence == "C3"


def test_p1_says_that_an_overdue_session_ends_at_any_moment() -> None:
    """There is nothing left to count down."""
    listed = expiry(ZK1, {"alice": -3 * SECOND, "zktop": 9 * SECOND})
    finding = only("P1", lonely(connected("bob", "zktop"), listed))

    assert "; freed at any moment; " in finding.sentence


def test_p1_fires_for_a_waiter_without_a_connection() -> None:
    """It blocks those behind it until it expires, though it holds nothing."""
    case = session_context("bob", A, B, k("carol", 2), tables=(connected("alice", "zktop"),))
    finding = only("P1", case)

    assert finding.sentence == (
        f"bob is connected to no server and still waits for {PATH}; its place is freed when it "
        "expires; 1 client waits behind it."
    )
    assert finding.nodes == (B.name,)


def test_p1_fires_for_a_client_without_a_connection_that_waits_twice() -> None:
    """Its places in both queues are freed."""
    tables = (connected("alice", "zktop"),)
    stock = k("alice", 0), k("bob", 1), k("carol", 2)
    locks = ctx(A, B, tables=tables).lock, ctx(*stock, tables=tables, path="/locks/stock").lock
    who = session("bob")
    case = SessionContext(who, places_in(locks, who), shared=shared_context(*tables))

    assert only("P1", case).sentence == (
        f"bob is connected to no server and still waits for {PATH} and /locks/stock; its places "
        "are freed when it expires; 1 client waits behind them."
    )


@pytest.mark.parametrize(
    ("queue", "waits"),
    [
        pytest.param(
            (curator("alice", 0, "WRIT"), curator("alice", 1, "READ"), curator("bob", 2, "READ")),
            "1 client waits.",
            id="a writer that reads",
        ),
        pytest.param(
            (curator("alice", 0, "latch"), curator("bob", 1, "latch")),
            "no client waits.",
            id="candidates stand by",
        ),
        pytest.param(
            (k("bob", 0), k("carol", 1), k("alice", 2), k("dave", 3)),
            "1 client waits behind it.",
            id="others wait before it",
        ),
        pytest.param(
            (k("bob", 0), k("alice", 1)),
            "no client waits behind it.",
            id="it is last",
        ),
    ],
)
def test_p1_counts_each_waiter_once(queue: tuple[At, ...], waits: str) -> None:
    """A session may have several nodes in one queue."""
    case = session_context("alice", *queue, tables=(connected("bob", "zktop"),))

    assert only("P1", case).sentence.endswith(f"; {waits}")


@pytest.mark.parametrize(
    ("tables", "waits"),
    [
        (
            (watching({"bob": ["/app/leader/lock"], "carol": ["/app/leader/lock"]}),),
            "2 clients wait",
        ),
        ((watching({"bob": ["/other"]}),), "no client waits"),
        ((), "which clients wait is unknown"),
    ],
    ids=["watched", "not watched", "no watch table"],
)
def test_p1_counts_clients_that_only_watch(tables: tuple[AnyFact, ...], waits: str) -> None:
    """The waiters of a single node have no nodes."""
    known = (connected("bob", "carol", "zktop"), *tables)
    case = session_context("alice", At("lock", "alice"), tables=known, path="/app/leader")

    assert only("P1", case).sentence.endswith(f"; {waits}.")


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param((connected("alice", "bob"),), id="it is connected"),
        pytest.param((connected("bob"), no_connections(ZK2)), id="it may be on zk2"),
        pytest.param(
            (connected("bob", "zktop"), expiry(ZK1, {"bob": 1, "zktop": 1})), id="it has expired"
        ),
    ],
)
def test_p1_is_quiet_when(tables: tuple[object, ...]) -> None:
    """Only an absence that all tables prove counts."""
    assert not found("P1", lonely(*tables))


def test_p1_does_not_look_again_while_there_is_no_table_at_all() -> None:
    """The first table will; until then, sessions in hundreds of locks would cost much."""
    assert answers("P1", lonely(no_connections(ZK1), no_connections(ZK2))) == []


def moving(times: int) -> object:
    """Alice, who reconnected so many times, a minute apart."""
    tables = [
        connections(ZK1, row("alice", established=number), at=NOW - (times - number) * MINUTE)
        for number in range(times + 1)
    ]
    return lonely(*tables)


def test_p2_fires_for_three_moves_in_ten_minutes() -> None:
    """A new connection is a move, on the same server too."""
    assert only("P2", moving(3)).sentence == (
        "alice has changed its connection 3 times in ten minutes."
    )


def test_p2_says_that_older_moves_are_forgotten() -> None:
    """Only the newest are kept."""
    assert "changed its connection at least 16 times" in only("P2", moving_often(60)).sentence


def moving_often(times: int) -> object:
    """Alice, who reconnected so many times, a second apart."""
    return lonely(
        *(
            connections(ZK1, row("alice", established=number), at=NOW - (times - number) * SECOND)
            for number in range(times + 1)
        )
    )


def test_p2_is_quiet_for_two_moves() -> None:
    """That is a rolling restart."""
    assert not found("P2", moving(2))


def limited(context: SessionContext, **limits: int) -> SessionContext:
    """The same session with these limits."""
    settings = Settings(thresholds=Thresholds(**limits))
    shared = msgspec.structs.replace(context.shared, settings=settings)
    return SessionContext(context.session, context.places, shared=shared)


def test_p2_needs_a_move_even_with_a_limit_of_0() -> None:
    """The config accepts a limit of 0; the first move then counts."""
    assert not found("P2", limited(moving(0), moves=0))
    assert "its connection 1 time in" in only("P2", limited(moving(1), moves=0)).sentence


def timed_out(
    timeout_ms: int, tick_ms: int | None = 2000, names: tuple[str, ...] = ("alice",)
) -> EnsembleContext:
    """Sessions with this timeout, on servers of this tick."""
    tables = [connected(*names, timeout_ms=timeout_ms)]
    if tick_ms:
        tables.append(expiry(ZK1, dict.fromkeys(names, 1), tick_ms=tick_ms))
    return ensemble_context(*tables, owners=set(map(session, names)))


def test_p3_fires_for_the_least_that_servers_grant() -> None:
    """Seconds taken for milliseconds."""
    finding = only("P3", timed_out(4_000))

    assert "the shortest that the servers grant" in finding.sentence
    assert " holds or wants locks with" in finding.sentence
    assert finding.advice.startswith("Check whether it passes seconds")


def test_p3_names_several_sessions() -> None:
    """They may be of one service, and share a mistake."""
    finding = only("P3", timed_out(4_000, names=("alice", "bob")))

    assert " and 0x" in finding.sentence
    assert " hold or want locks with" in finding.sentence
    assert finding.advice.startswith("Check whether they pass seconds")


@pytest.mark.parametrize("timeout_ms", [10_000, 40_000])
def test_p3_is_quiet_for_more_than_that(timeout_ms: int) -> None:
    """Ten seconds were requested; Curator asks for sixty and gets the most."""
    assert not found("P3", timed_out(timeout_ms))


def test_p3_is_blind_without_a_tick_time() -> None:
    """Then the limits of timeouts are unknown."""
    assert lacks("P3", timed_out(4_000, tick_ms=None)) == ["expiry"]


def test_p4_fires_for_a_silence_of_more_than_half_of_the_timeout() -> None:
    """Six of ten seconds."""
    finding = only("P4", lonely(connected("alice", quiet_ms=6 * SECOND)))

    assert finding.sentence == (
        "alice was silent for 6s of its 10s: one longer pause away from losing 1 lock."
    )


def test_p4_counts_locks_not_nodes() -> None:
    """A writer also reads."""
    own = curator("alice", 0, "WRIT"), curator("alice", 1, "READ")
    case = session_context("alice", *own, tables=(connected("alice", quiet_ms=6 * SECOND),))

    assert only("P4", case).sentence.endswith("from losing 1 lock.")


def test_p4_leaves_a_session_that_outlived_its_timeout_to_s3() -> None:
    """Then the next longer pause is not what it is away from."""
    assert not found("P4", lonely(connected("alice", quiet_ms=13 * SECOND)))


def test_p4_is_quiet_about_a_silence_under_a_longer_timeout() -> None:
    """The session has connected anew, with a shorter one: 25 s are no part of 20 s."""
    tables = (
        connected("alice", quiet_ms=25 * SECOND, timeout_ms=30_000, at=NOW - MINUTE),
        connected("alice", quiet_ms=0, timeout_ms=20_000, established=NOW - SECOND),
    )

    assert not found("P4", lonely(*tables))


def test_p4_is_quiet_for_pings_in_time() -> None:
    """A third of the timeout is how often clients ping."""
    assert not found("P4", lonely(connected("alice", quiet_ms=4 * SECOND)))


def suspicious(shared: SharedContext, owners: Collection[int] = ()) -> set[int]:
    """The sessions that new tables have examined."""
    rows = sessions_and_connections(shared.ensemble, owners)
    return {one for one, row in rows if is_suspicious(one, row, shared)}


@pytest.mark.parametrize("quiet_ms", [None, 41 * MINUTE])
def test_p4_is_quiet_for_a_session_that_has_moved(quiet_ms: int | None) -> None:
    """Its new server has not answered it yet; the uptime of a host is no silence."""
    tables = connected("alice", at=NOW - SECOND), connected("alice", quiet_ms=quiet_ms)

    assert not found("P4", lonely(*tables))
    assert not suspicious(shared_context(*tables))


def test_p4_remembers_a_silence_that_is_over() -> None:
    """The longest of the hour counts, not the present one."""
    tables = (
        connected("alice", quiet_ms=6 * SECOND, at=NOW - MINUTE, received=1),
        connected("alice", quiet_ms=0, received=2),
    )

    assert "was silent for" in only("P4", lonely(*tables)).sentence


@pytest.mark.parametrize("paused", [0, 1, 2])
def test_p4_remembers_a_silence_also_if_the_server_paused(paused: int) -> None:
    """Thirteen seconds of ten are no silence of a session that is still there."""
    silences = [6 * SECOND, 0]
    silences.insert(paused, 13 * SECOND)
    tables = (
        connected("alice", quiet_ms=quiet_ms, at=NOW + number * MINUTE, received=number)
        for number, quiet_ms in enumerate(silences, -2)
    )

    assert "was silent for 6s" in only("P4", lonely(*tables)).sentence


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(lonely(), id="no table"),
        pytest.param(lonely(connected("alice", quiet_ms=6_000, timeout_ms=None)), id="no timeout"),
        pytest.param(
            session_context("bob", A, B, tables=(connected("bob", quiet_ms=6_000),)),
            id="it holds nothing",
        ),
    ],
)
def test_p4_is_quiet_when_nothing_is_at_stake_or_known(case: SessionContext) -> None:
    """Unknown is not short."""
    assert not found("P4", case)


def owner_of(locks: int) -> object:
    """Alice, who holds so many locks."""
    talks = [session_context("alice", A, path=f"/locks/{number}") for number in range(locks)]
    whole = talks[0]
    return type(whole)(whole.session, tuple(t.places[0] for t in talks), shared=whole.shared)


def test_p5_fires_for_one_session_with_five_locks() -> None:
    """One expiry frees all of them."""
    assert "alice owns 5 locks through one session" in only("P5", owner_of(5)).sentence


def test_p5_is_quiet_for_four() -> None:
    """The threshold is a setting."""
    assert not found("P5", owner_of(4))


def test_p5_needs_a_lock_even_with_a_limit_of_0() -> None:
    """The config accepts a limit of 0; the first lock then counts."""
    waiting = session_context("bob", A, B)

    assert not found("P5", limited(waiting, blast_radius=0))
    assert "alice owns 1 lock through" in only("P5", limited(owner_of(1), blast_radius=0)).sentence


def owner_of_nodes(number: int, *tables: AnyFact) -> object:
    """Alice, who has so many nodes with long names."""
    one = session_context("alice", A, tables=tables)
    (place,) = one.places
    long_name = msgspec.structs.replace(place.member, node=Text("n" * 80))
    places = (msgspec.structs.replace(place, member=long_name),) * number
    return type(one)(one.session, places, shared=one.shared)


def test_p17_fires_if_the_end_of_a_session_is_too_large_to_read() -> None:
    """With 97 bytes for each node; from half of that on it is a warning."""
    huge, large = only("P17", owner_of_nodes(22_000)), only("P17", owner_of_nodes(11_000))

    assert huge.sentence == (
        "alice owns 22,000 nodes: its end is one record of 2.2 MB in the transaction log. Servers "
        "read at most 2.1 MB by default: a server that reads it does not start again."
    )
    assert (huge.severity, large.severity) == ("critical", "warning")
    assert large.sentence.endswith("by default: this is close to it.")


def test_p17_counts_nodes_outside_of_locks_that_a_dump_lists() -> None:
    """A session may have one lock, and thousands of other nodes."""
    names = tuple(Text(f"/services/{number:090d}") for number in range(22_000))
    dump = Expiry(server=ZK1, at=NOW, zxid=1, ephemerals={session("alice"): names})

    assert "owns 22,000 nodes" in only("P17", owner_of_nodes(1, dump)).sentence


@pytest.mark.parametrize(
    ("nodes", "version"), [(10_000, "3.8.0"), (22_000, "3.5.9"), (22_000, "3.4.14")]
)
def test_p17_is_quiet_for_less_and_for_servers_that_do_not_list_paths(
    nodes: int, version: str
) -> None:
    """Before 3.6 the record of a session's end is empty."""
    assert not found("P17", owner_of_nodes(nodes, figures(ZK1, version)))


def test_every_rule_that_lacks_a_table_is_a_blind_spot() -> None:
    """Once for each server, with its reason."""
    blind = examine_ensemble(ensemble_context(no_connections(ZK1))).blinds
    whys = {one.rule: one.why for one in blind if one.need == "connections"}

    assert {"P1", "P2", "P3", "P4", "S3"} <= whys.keys()
    assert whys["P1"] == "zk1:2181 gives no connection table: not in the whitelist"


def test_only_odd_sessions_are_examined() -> None:
    """Silent ones, and those that no server lists."""
    rows = (
        row("calm", quiet_ms=5 * SECOND),
        row("silent", quiet_ms=6 * SECOND),
        row("no timeout", quiet_ms=6 * SECOND, timeout_ms=None),
    )
    case = lonely(connections(ZK1, *rows, zxid=1_000_000))
    owners = {session(name) for name in ("calm", "silent", "no timeout", "away")}

    assert suspicious(case.shared, owners) == {session("silent"), session("away")}


def test_a_session_in_no_list_may_be_known_by_a_followers_list() -> None:
    """Followers list all sessions of the ensemble."""
    listed = timeouts(ZK1, {"alice": 10_000, "zktop": 10_000})

    assert only("P1", lonely(connected("bob", "zktop"), listed)).confidence == "C3"


def test_an_owner_that_no_table_shows_is_asked_about_again() -> None:
    """The table of its server may come later, and change nothing else."""
    incomplete = lonely(connected("bob"), no_connections(ZK2))

    assert answers("P1", incomplete) == [LookAgainAt(NOW + 30 * SECOND)]


def silent(quiet_ms: int | None, who: str = "report-3") -> object:
    """A holder whose last packet came so long before its server was asked."""
    tables = (connected("report-3", quiet_ms=quiet_ms, timeout_ms=30 * SECOND),)
    return session_context(who, k("report-3", 0), k("bob", 1), tables=tables)


@pytest.mark.parametrize(
    ("quiet_ms", "severity"),
    [(16 * SECOND, "info"), (21 * SECOND, "warning"), (28 * SECOND, "critical")],
)
def test_s3_fires_louder_the_nearer_the_expiry(quiet_ms: int, severity: str) -> None:
    """Half of the timeout, two thirds (its client has given up), nine tenths."""
    assert only("S3", silent(quiet_ms)).severity == severity


def test_s3_counts_down() -> None:
    """The template: what it holds, how long it was silent, when the lock is freed."""
    assert only("S3", silent(21 * SECOND)).sentence == (
        f"report-3 holds {PATH}, silent for 21s of 30s; if dead, freed in 9..12s; 1 client waits."
    )


def with_two_locks(second_waiter: str = "carol") -> SessionContext:
    """Alice is silent; she holds two locks. Bob waits for the first one."""
    tables = (connected("alice", quiet_ms=21 * SECOND, timeout_ms=30 * SECOND),)
    stock = k("alice", 0), k(second_waiter, 1)
    locks = ctx(A, B, tables=tables).lock, ctx(*stock, tables=tables, path="/locks/stock").lock
    who = session("alice")
    return SessionContext(who, places_in(locks, who), shared=shared_context(*tables))


def test_s3_names_all_locks_whose_waiters_it_counts() -> None:
    """With one lock named, the number of those who wait for two would look wrong."""
    assert only("S3", with_two_locks()).sentence == (
        f"alice holds {PATH} and /locks/stock, silent for 21s of 30s; if dead, freed in 9..12s; "
        "2 clients wait."
    )


def test_s3_counts_a_client_that_waits_for_two_locks_once() -> None:
    """Its two threads wait for one silent holder; the list of root blockers says 1, too."""
    assert only("S3", with_two_locks("bob")).sentence.endswith("; 1 client waits.")


def test_a_session_that_is_silent_or_gone_concerns_each_of_its_locks() -> None:
    """Else the list of locks says `ok` of all but the first one."""
    silent, place = with_two_locks(), (PATH, "/locks/stock")
    gone = SessionContext(
        silent.session, silent.places, shared=shared_context(connected("bob", "zktop"))
    )

    for made in (only("S3", silent), only("P1", gone)):
        assert (made.lock, made.locks) == (PATH, place)


def test_a_note_about_a_session_does_not_concern_each_of_its_locks() -> None:
    """They are healthy, and may be thousands; the sentence has their number."""
    made = only("P4", with_two_locks())

    assert "2 locks" in made.sentence
    assert made.locks == (PATH,)


def test_s3_says_that_an_overdue_session_ends_at_any_moment() -> None:
    """There is nothing left to count down."""
    tables = connected("alice", quiet_ms=13 * SECOND), expiry(ZK1, {"alice": -3 * SECOND})

    assert "; if dead, freed at any moment; " in only("S3", lonely(*tables)).sentence


@pytest.mark.parametrize(
    "case",
    [
        pytest.param((10 * SECOND, "report-3"), id="a third is the interval of pings"),
        pytest.param((28 * SECOND, "bob"), id="it holds nothing"),
    ],
)
def test_s3_is_quiet_when(case: tuple[int, str]) -> None:
    """Idle but healthy clients ping."""
    assert not found("S3", silent(*case))


@pytest.mark.parametrize("quiet_ms", [None, 41 * MINUTE])
def test_s3_is_quiet_for_a_session_that_has_moved(quiet_ms: int | None) -> None:
    """Its new server has not answered it yet; the uptime of a host is no silence."""
    assert not found("S3", silent(quiet_ms))
