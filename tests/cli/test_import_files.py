"""`zktop import`: from files to a recording that the other commands read."""

import gzip
import io
import json
import re
import tarfile
import tempfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from txnlog.log_writer import (
    ANN,
    BOB,
    T0,
    LogWriter,
    create,
    delete,
    multi,
    paths,
    set_data,
    snapshot,
    story,
)

from zktop import recording
from zktop.app import import_files as import_module
from zktop.app import look_pace
from zktop.app.feeds import ReplayFeed
from zktop.app.import_files import ImportPlan, import_files
from zktop.app.replay import Replay
from zktop.model.findings import sessions
from zktop.model.settings import Settings
from zktop.recording import Recording
from zktop.txnlog.lock_facts import LockFacts
from zktop.txnlog.log_records import LogRecords
from zktop.txnlog.transactions import decode
from zktop.txnlog.znode_tree import ZnodeTree
from zktop.ui.interfaces import Frame

Zktop = Callable[..., tuple[int, str, str]]
LOCK = "/locks/a"


@pytest.fixture
def version_2(tmp_path: Path) -> Path:
    """The files of a server with one short story."""
    folder = tmp_path / "zk1" / "version-2"
    folder.mkdir(parents=True)
    (folder / "log.1").write_bytes(story().bytes())
    return folder


@pytest.fixture
def starts_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording is examined from a repeated state on, however small it is."""
    monkeypatch.setattr(recording, "MIN_SKIPPED_BYTES", 1)


def events_of(out: str) -> list[tuple[str, str | None, str | None]]:
    """Event, time and node of each line."""
    events = [json.loads(line) for line in out.splitlines()]
    return [
        (event["event"], event["at"][17:23], event.get("node", "")[-1:])
        for event in events
        if event.get("lock") == LOCK
    ]


def test_events_have_the_times_of_their_transactions(zktop: Zktop, version_2: Path) -> None:
    """Each to the millisecond, however looks are placed; the file says who ended a session."""
    code, _, err = zktop("import", str(version_2), "-o", "a.zktop")
    events = zktop("events", "--from", "a.zktop").out  # type: ignore[attr-defined]

    assert code == 0
    assert err == (
        "a.zktop: 8 transactions of 1 member from 2026-01-31T12:00:00.000Z "
        "to 2026-01-31T12:00:00.070Z; the servers wrote no digests that could prove them\n"
    )
    assert events_of(events)[1:] == [
        ("queued", "00.040", "0"),
        ("acquired", "00.040", "0"),
        ("queued", "00.050", "1"),
        ("released", "00.060", "0"),
        ("acquired", "00.060", "1"),
        ("expired", "00.070", "1"),
    ]
    assert "an administrator ended its session, which was active" in events
    period = json.loads(zktop("report", "--from", "a.zktop", "--format", "json")[1])
    assert (period["expiries"], period["accounting"]["expired_sessions"]) == ([], 0)


def test_a_snapshot_of_an_import_names_its_source(zktop: Zktop, version_2: Path) -> None:
    """It had no connection that could be unknown, and asked no server."""
    zktop("import", str(version_2), "-o", "a.zktop")
    shot = zktop("snapshot", "--from", "a.zktop", "--format", "text")[1]

    assert shot.startswith("zktop  zk1  transaction logs\n")


def test_a_time_after_the_last_transaction_is_an_assumption(zktop: Zktop, version_2: Path) -> None:
    """The holder may have released the lock a moment later."""
    zktop("import", str(version_2), "-o", "a.zktop")
    assumed, known = (
        zktop("snapshot", "--from", "a.zktop", "--at", at)[2] for at in ("12:00:30", "+0.07s")
    )

    assert assumed == (
        "note: The files end at 2026-01-31T12:00:00.070Z: this is the state 29s later if nothing "
        "happened since.\n"
    )
    assert known == ""


def test_nothing_is_assumed_of_a_time_of_which_nothing_is_known(
    zktop: Zktop, version_2: Path
) -> None:
    """Hours after the end of the files there is only that note."""
    zktop("import", str(version_2), "-o", "a.zktop")
    notes = zktop("snapshot", "--from", "a.zktop", "--at", "+5h")[2]

    assert "nothing is known of this time" in notes
    assert "if nothing happened since" not in notes


def test_a_lock_deleted_with_its_holder_was_not_released(zktop: Zktop, tmp_path: Path) -> None:
    """An administrator's transaction removes both."""
    node = f"/app/job/{1:032x}__lock__0000000000"
    log = LogWriter().opened(ANN).opened(BOB).add(ANN, 1, create("/app", 1, ephemeral=False))
    log.add(ANN, 1, create("/app/job", 1, ephemeral=False)).add(ANN, 1, create(node, 1, b"ann"))
    log.add(BOB, 14, multi((2, delete(node)), (2, delete("/app/job"))))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    events = [json.loads(line) for line in zktop("events", "--from", "a.zktop")[1].splitlines()]

    (left,) = [one for one in events if one["event"] == "released"]
    assert left["sentence"] == "it was deleted together with the lock"


def test_a_quiet_moment_is_judged_at_its_own_time(zktop: Zktop, tmp_path: Path) -> None:
    """By then the looks of an import are an hour apart, but no transaction is missing."""
    log = story().later(9 * 3_600_000).opened(ANN)
    (tmp_path / "log.1").write_bytes(log.bytes())
    zktop("import", "log.1", "-o", "a.zktop")

    shot = json.loads(zktop("snapshot", "--from", "a.zktop", "--at", "20:45")[1])

    assert shot["taken_at"] == "2026-01-31T20:45:00.000Z"


def test_a_moment_between_two_looks_is_judged_at_its_own_time(
    zktop: Zktop, tmp_path: Path
) -> None:
    """An import looks 5 s and 10 s after a change; 9 s after it, Ann has held for 9 s."""
    log = LogWriter().opened(ANN).add(ANN, 1, create("/locks", 1, ephemeral=False))
    log.add(ANN, 1, create("/locks/a", 1, ephemeral=False))
    log.add(ANN, 1, create("/locks/a/lock-0000000000", 1, b"ann"))
    log.later(60_000).opened(BOB)
    (tmp_path / "log.1").write_bytes(log.bytes())
    zktop("import", "log.1", "-o", "a.zktop")

    shot = json.loads(zktop("snapshot", "--from", "a.zktop", "--at", "12:00:09")[1])
    (holder,) = shot["locks"][0]["holders"]

    assert shot["taken_at"] == "2026-01-31T12:00:09.000Z"
    assert holder["since"] == "2026-01-31T12:00:00.030Z"


def test_a_quiet_moment_before_the_end_of_an_import_is_known(zktop: Zktop, tmp_path: Path) -> None:
    """The last look is long before `--until`, but the log shows that nothing happened."""
    log = story().later(9 * 3_600_000).opened(ANN)
    (tmp_path / "log.1").write_bytes(log.bytes())
    zktop("import", "log.1", "-o", "a.zktop", "--until", "2026-01-31T20:45:00Z")

    known, *_ = zktop("check", "--from", "a.zktop", "--at", "20:10")
    unknown, *_ = zktop("check", "--from", "a.zktop", "--at", "20:50")

    assert (known, unknown) == (0, 3)


def test_the_next_number_of_a_free_lock_is_above_those_that_left(
    zktop: Zktop, version_2: Path
) -> None:
    """No listing shows them after their deletion."""
    zktop("import", str(version_2), "-o", "a.zktop")

    (lock,) = json.loads(zktop("snapshot", "--from", "a.zktop")[1])["locks"]

    assert (lock["holders"], lock["next_sequence"]) == ([], 2)


def test_a_cut_off_tar_is_read_up_to_its_end(zktop: Zktop, version_2: Path) -> None:
    """A copy that was interrupted has the older transactions."""
    log, path = story(), Path("zk1.tar")
    for number in range(1_000):
        log.add(ANN, 5, set_data("/locks", b"x" * 100, number))
    (version_2 / "log.1").write_bytes(log.bytes())
    with tarfile.open(path, "w") as tar:
        tar.add(version_2)
    path.write_bytes(path.read_bytes()[:100_000])

    code, _, err = zktop("import", str(path), "-o", "a.zktop")

    found = re.search(r"a\.zktop: (\d+) transactions of 1 member", err)
    assert code == 0
    assert "note: zk1.tar is damaged (unexpected end of data): it was read up to there.\n" in err
    assert found
    assert 500 < int(found[1]) < 1_000


def test_the_first_lock_of_a_new_server_is_acquired(zktop: Zktop, tmp_path: Path) -> None:
    """The log begins with an empty tree, so nothing in it is older."""
    log = LogWriter().opened(ANN).add(ANN, 1, create("/app", 1, ephemeral=False))
    log.add(ANN, 1, create("/app/job", 1, ephemeral=False))
    log.add(ANN, 1, create(f"/app/job/{1:032x}__lock__0000000000", 1, b"ann"))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    events = [json.loads(line) for line in zktop("events", "--from", "a.zktop")[1].splitlines()]

    assert [one["event"] for one in events] == ["lock-appeared", "queued", "acquired"]
    assert (events[2]["waited_s"], events[2]["waited_is"]) == (0, "exact")


def test_a_snapshot_at_a_time_in_the_past(zktop: Zktop, version_2: Path) -> None:
    """The holders and waiters between two transactions."""
    zktop("import", str(version_2), "-o", "a.zktop")
    at = ("--at", "2026-01-31T12:00:00.055Z")
    shot = json.loads(zktop("snapshot", "--from", "a.zktop", *at)[1])

    (lock,) = shot["locks"]
    assert [one["owner"] for one in lock["holders"]] == ["ann"]
    assert [one["owner"] for one in lock["waiters"]] == ["bob"]
    assert {one["rule"] for one in shot["blind"]} >= {"L1", "P1", "B3"}


def test_the_holder_of_a_single_node_has_held_it_since_its_creation(
    zktop: Zktop, tmp_path: Path
) -> None:
    """Its lock has no listing that could give another time."""
    log = story().add(ANN, 1, create("/app", 2, ephemeral=False))
    (tmp_path / "log.1").write_bytes(log.add(ANN, 1, create("/app/app-lock", 1, b"ann")).bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    shot = json.loads(zktop("snapshot", "--from", "a.zktop")[1])

    (holder,) = [one for lock in shot["locks"] for one in lock["holders"]]
    assert (holder["since"], holder["since_is"]) == (holder["created"], "seen")


def until(ms: int) -> bytes:
    """The data of a lock of ShedLock that ends so long after the beginning."""
    ends = datetime.fromtimestamp((T0 + ms) / 1000, UTC)
    return f"{ends:%Y-%m-%dT%H:%M:%S}.000Z".encode()


def test_a_lease_that_ends_by_its_date_is_released_then(zktop: Zktop, tmp_path: Path) -> None:
    """No transaction marks its end, so no fact has its time."""
    log = LogWriter().opened(ANN).add(ANN, 1, create("/shedlock", 1, ephemeral=False))
    log.add(ANN, 1, create("/shedlock/job", 1, until(90_000), ephemeral=False)).later(180_000)
    log.add(ANN, 1, create("/other", 2, ephemeral=False))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    events = [json.loads(line) for line in zktop("events", "--from", "a.zktop")[1].splitlines()]

    (released,) = [one for one in events if one["event"] == "released"]
    assert (released["at"], released["held_s"]) == ("2026-01-31T12:01:30.000Z", 89.98)


def test_a_lease_that_is_taken_by_its_data_is_acquired_then(zktop: Zktop, tmp_path: Path) -> None:
    """The newest listing of its znode is older: it has no children."""

    def lease(owner: str, ms: int) -> bytes:
        fields = {"OWNER": owner, "TIMEOUT": str(T0 + ms)}
        return json.dumps({"id": "lock", "simpleFields": fields}).encode()

    log = LogWriter().opened(ANN).add(ANN, 1, create("/app", 1, ephemeral=False))
    log.add(ANN, 1, create("/app/job-lock", 1, lease("ann", 3_600_000), ephemeral=False))
    log.later(60_000).add(ANN, 5, set_data("/app/job-lock", lease("", 0), 1))
    log.later(60_000).add(BOB, 5, set_data("/app/job-lock", lease("bob", 7_200_000), 2))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    events = [json.loads(line) for line in zktop("events", "--from", "a.zktop")[1].splitlines()]

    assert [one["at"] for one in events if one["event"] == "acquired"] == [
        "2026-01-31T12:00:00.020Z",
        "2026-01-31T12:02:00.040Z",
    ]


def semaphore() -> LogWriter:
    """Ann has a lease of Curator's semaphore, Bob asks for one, and Ann's next thread queues."""
    uuid, pool = "_c_00000000-0000-0000-0000-{:012d}", "/app/pool"
    gates, leases = (
        [
            f"{pool}/{part}/{uuid.format(place + 10 * number)}-{kind}-{number:010d}"
            for number in (0, 1, 2)
        ]
        for place, (part, kind) in enumerate((("locks", "lock"), ("leases", "lease")))
    )
    log = LogWriter().opened(ANN).opened(BOB)
    for path in ("/app", pool, f"{pool}/locks"):
        log.add(ANN, 1, create(path, 1, ephemeral=False))
    log.add(ANN, 1, create(gates[0], 1, b"ann")).add(
        ANN, 1, create(f"{pool}/leases", 2, ephemeral=False)
    )
    log.add(ANN, 1, create(leases[0], 1, b"ann")).add(ANN, 2, delete(gates[0]))
    log.add(BOB, 1, create(gates[1], 2, b"bob")).add(BOB, 1, create(leases[1], 2, b"bob"))
    return log.add(ANN, 1, create(gates[2], 3, b"ann"))


def test_a_semaphore_is_one_lock(zktop: Zktop, tmp_path: Path) -> None:
    """Its leases and the queue for them are folders of their own, neither of which is a lock."""
    (tmp_path / "log.1").write_bytes(semaphore().bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    (lock,) = json.loads(zktop("snapshot", "--from", "a.zktop")[1])["locks"]

    assert (lock["path"], lock["kind"]) == ("/app/pool", "semaphore")
    assert [one["owner"] for one in lock["holders"]] == ["ann"]
    assert [one["owner"] for one in lock["waiters"]] == ["bob", "ann"]


def test_events_say_which_session_removed_a_node(zktop: Zktop, tmp_path: Path) -> None:
    """A node deleted by another session, and one that went with a closed session."""
    log = LogWriter(7).add(BOB, 2, delete(f"{LOCK}/lock-0000000000"), 5)
    log.add(BOB, -11, paths(f"{LOCK}/lock-0000000001"), 6)
    log.records[:0] = story().records[:6]
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    events = [json.loads(line) for line in zktop("events", "--from", "a.zktop")[1].splitlines()]

    assert [
        (event["event"], event["sentence"]) for event in events if event["event"] == "released"
    ] == [
        ("released", f"session {BOB:#x} deleted it"),
        ("released", "its client closed the session"),
    ]


def test_a_node_deleted_under_its_holder_is_a_finding(zktop: Zktop, tmp_path: Path) -> None:
    """Only a transaction log proves it; so the rule is not among those without data."""
    log = LogWriter(7).add(BOB, 2, delete(f"{LOCK}/lock-0000000000"), 5)
    log.records[:0] = story().records[:6]
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    shot = json.loads(zktop("snapshot", "--from", "a.zktop")[1])

    (finding,) = [one for one in shot["findings"] if one["rule"] == "S5"]
    assert (finding["confidence"], finding["sessions"]) == ("C4", [f"{ANN:#x}"])
    assert finding["sentence"].startswith(f"bob deleted the node of ann, which held {LOCK}")
    assert "S5" not in {one["rule"] for one in shot["blind"]}


def test_after_the_end_of_all_sessions_none_lives_on(zktop: Zktop, tmp_path: Path) -> None:
    """An empty list of sessions is right in a log, which no session reads."""
    log = LogWriter(7).add(BOB, 2, delete(f"{LOCK}/lock-0000000000"), 5).later(8_000)
    log.add(ANN, -11, paths(), cxid=0).add(BOB, -11, paths(f"{LOCK}/lock-0000000001"), cxid=0)
    log.records[:0] = story().records[:6]
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    shot = json.loads(zktop("snapshot", "--from", "a.zktop")[1])

    (finding,) = [one for one in shot["findings"] if one["rule"] == "S5"]
    assert "The session of ann lived on for a while" in finding["sentence"]


@pytest.fixture
def with_hole(tmp_path: Path) -> Path:
    """Ann holds, Bob waits; 492 transactions are missing; then Bob has a new node."""
    log, later = LogWriter(7), LogWriter(500, T0 + 600_000)
    log.records[:0] = story().records[:6]
    for one in (log.later(5_000), later):
        one.add(BOB, 5, set_data("/locks", b"", 1))
    nodes = {"": 0, "/locks": 3, LOCK: 4, f"{LOCK}/lock-0000000007": 400}
    shot = snapshot(
        {path: (zxid, b"bob") for path, zxid in nodes.items()},
        [(BOB, 4_000)],
        owners={f"{LOCK}/lock-0000000007": BOB},
    )
    folder = tmp_path / "version-2"
    folder.mkdir()
    for name, data in (("log.1", log.bytes()), ("log.1f4", later.bytes()), ("snapshot.1f3", shot)):
        (folder / name).write_bytes(data)
    return folder


def test_a_node_that_left_where_transactions_are_missing_did_not_expire(
    zktop: Zktop, with_hole: Path
) -> None:
    """Nothing is known of it, and a new node is older than the end of the hole."""
    zktop("import", str(with_hole), "-o", "a.zktop")
    events = [json.loads(line) for line in zktop("events", "--from", "a.zktop")[1].splitlines()]
    period = json.loads(zktop("report", "--from", "a.zktop", "--format", "json")[1])
    after = {one["event"]: one for one in events if one["at"] > "2026-01-31T12:01"}

    left = "transactions are missing: how and when it left is unknown"
    assert after["released"]["sentence"] == left
    assert after["queued"]["sentence"].startswith("it was created at 2026-01-31T12:00:00.000Z")
    assert period["expiries"] == []


def test_nothing_is_known_of_a_time_whose_transactions_are_missing(
    zktop: Zktop, with_hole: Path
) -> None:
    """`check` has the exit code of a lost connection; `snapshot` has a note."""
    zktop("import", str(with_hole), "-o", "a.zktop")
    at = ("--from", "a.zktop", "--at", "2026-01-31T12:05:00Z")
    why = "nothing is known of this time: 492 transactions are missing between 0x7 and 0x1f4"

    code, out, _ = zktop("check", *at)

    first, then = out.splitlines()[:2]
    assert (code, then) == (3, "before that: 1 lock, 0 deadlocks")
    assert first.startswith(f"UNKNOWN: {why}")
    assert f"note: {why}" in zktop("snapshot", *at)[2]
    assert zktop("check", "--format", "nagios", *at)[0] == 3


def test_nodes_that_were_created_where_transactions_are_missing_are_counted(
    zktop: Zktop, tmp_path: Path
) -> None:
    """Without a snapshot, the number of the next node shows how many there were."""
    log, later = story(), LogWriter(500, T0 + 600_000)
    later.add(ANN, 1, create("/locks/a/lock-0000000010", 11, b"ann"))
    for name, part in (("log.1", log), ("log.1f4", later)):
        (tmp_path / name).write_bytes(part.bytes())

    zktop("import", "log.1", "log.1f4", "-o", "a.zktop")
    seen = json.loads(zktop("report", "--from", "a.zktop", "--format", "json")[1])["seen"]

    assert seen["contenders"] == 0.2727  # 3 of 11


def test_every_reader_of_an_import_has_its_notes(zktop: Zktop, with_hole: Path) -> None:
    """Also one that does not read to its end."""
    note = "492 transactions are missing between 0x7 and 0x1f4"
    zktop("import", str(with_hole), "-o", "a.zktop")
    at = ("--from", "a.zktop", "--at", "2026-01-31T12:00:00.055Z")
    feed, is_read = ReplayFeed(Replay(Path("a.zktop"))), threading.Event()
    feed.start(lambda news: is_read.set() if isinstance(news, Frame) else None)

    assert note in zktop("snapshot", *at)[2]
    assert is_read.wait(30)
    assumed, hole = feed.notes
    assert assumed.endswith(": later states are assumed")
    assert hole.startswith(note)
    feed.stop()


def with_digests() -> LogWriter:
    """The story, as servers from 3.6 on write it."""
    tree, log = ZnodeTree(), LogWriter()
    for _, body in LogRecords(io.BytesIO(story().bytes()), "log"):
        one = decode(body)
        tree.apply(one)
        log.add(one.session, one.kind, body[32:], one.cxid, tree.digest)
    return log


def test_only_digests_of_the_imported_time_are_counted(zktop: Zktop, tmp_path: Path) -> None:
    """Not those of the transactions before it, which lead to its first state."""
    (tmp_path / "log.1").write_bytes(with_digests().bytes())

    since = ("--since", "2026-01-31T12:00:00.050Z")
    *_, last = zktop("import", "log.1", "-o", "a.zktop", *since)[2].splitlines()

    assert last.startswith("a.zktop: 3 transactions of 1 member ")
    assert last.endswith("; the servers' digests prove 3 of 3")


def test_a_report_says_how_much_the_digests_prove(zktop: Zktop, tmp_path: Path) -> None:
    """As the import did."""
    (tmp_path / "log.1").write_bytes(with_digests().bytes())
    zktop("import", "log.1", "-o", "a.zktop")

    period = json.loads(zktop("report", "--from", "a.zktop", "--format", "json")[1])

    assert period["seen"]["notes"] == ["The servers' digests prove 8 of 8 transactions."]


def deadlock() -> LogWriter:
    """Ann and Bob hold a lock each, and wait for the other's."""
    log = LogWriter().opened(ANN).opened(BOB)
    log.add(ANN, 1, create("/locks", 1, ephemeral=False))
    for number, lock in enumerate(("a", "b")):
        log.add(ANN, 1, create(f"/locks/{lock}", number + 1, ephemeral=False))
    for session, lock, number in ((ANN, "a", 0), (BOB, "b", 0), (ANN, "b", 1), (BOB, "a", 1)):
        log.add(session, 1, create(f"/locks/{lock}/lock-{number:010d}", number + 1))
    return log


def test_a_deadlock_needs_no_second_listing(zktop: Zktop, tmp_path: Path) -> None:
    """Nothing is missing up to the last transaction, so the ring is proven to exist."""
    (tmp_path / "log.1").write_bytes(deadlock().bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    code, out, _ = zktop("check", "--from", "a.zktop")
    shot = json.loads(zktop("snapshot", "--from", "a.zktop")[1])

    assert (code, "D1" in out) == (1, True)
    assert [one["coexistence_proven"] for one in shot["deadlocks"]] == [True]


@pytest.mark.usefixtures("starts_near")
def test_a_node_that_was_listed_and_deleted_stays_deleted(zktop: Zktop, tmp_path: Path) -> None:
    """It does not come back where the recording repeats its state."""
    log = LogWriter().opened(ANN).opened(BOB)
    log.add(ANN, 1, create("/locks", 1, ephemeral=False))
    for number, lock in enumerate(("a", "b")):
        log.add(ANN, 1, create(f"/locks/{lock}", number + 1, ephemeral=False))
    for number, session in enumerate((ANN, BOB)):
        log.add(session, 1, create(f"/locks/a/lock-{number:010d}", number + 1))
    log.later(1_000).add(ANN, 2, delete("/locks/a/lock-0000000000"))
    busy(log, seconds=3_000)
    (tmp_path / "log.1").write_bytes(log.bytes())
    zktop("import", "log.1", "-o", "a.zktop", "--since", "2026-01-31T12:00:00.500Z")
    report = Replay(tmp_path / "a.zktop").last(T0 + 2_900_000)

    assert len(Recording(tmp_path / "a.zktop").starts()) > 1
    assert [(one.node, one.owner) for one in report.view(LOCK).lock.members] == [
        ("lock-0000000001", BOB)
    ]


def busy(log: LogWriter, seconds: int) -> None:
    """Let Ann lock and release /locks/b 1,200 times."""
    for number in range(1_200):
        node = f"/locks/b/lock-{number:010d}"
        log.add(ANN, 1, create(node, number + 1)).add(ANN, 2, delete(node))
        log.later(seconds * 1_000 // 1_200)


def quiet_night(*rest: tuple[int, bytes]) -> LogWriter:
    """Ann holds a lock and is busy for a minute; Bob comes; four hours later is the rest."""
    log = LogWriter().opened(ANN)
    log.add(ANN, 1, create("/locks", 1, ephemeral=False))
    log.add(ANN, 1, create("/locks/a", 1, ephemeral=False))
    log.add(ANN, 1, create("/locks/b", 2, ephemeral=False))
    log.add(ANN, 1, create("/locks/a/lock-0000000000", 1))
    busy(log, seconds=10)
    log.later(5_000).opened(BOB).add(BOB, 1, create("/locks/a/lock-0000000001", 2))
    log.later(4 * 3_600_000)
    for kind, body in rest:
        log.add(ANN, kind, body)
    return log


@pytest.mark.usefixtures("starts_near")
def test_a_quiet_time_is_shown_as_it_was_before_the_next_change(
    zktop: Zktop, tmp_path: Path
) -> None:
    """The deletion four hours later is not known yet."""
    late = (2, delete("/locks/a/lock-0000000000"))
    (tmp_path / "log.1").write_bytes(quiet_night(late).bytes())
    zktop("import", "log.1", "-o", "a.zktop")
    report = Replay(tmp_path / "a.zktop").last(T0 + 2 * 3_600_000)

    assert [one.owner for view in report.views for one in view.lock.holders] == [ANN]


def test_a_record_in_a_million_years_is_read_in_few_looks(zktop: Zktop, tmp_path: Path) -> None:
    """A wrong clock or damage must not decide how long an import takes."""
    log = story()
    log.later(1_000_000 * 365 * 86_400_000)
    log.add(ANN, 1, create("/locks/late", 2))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")

    with gzip.open(tmp_path / "a.zktop") as lines:
        assert sum(b'"look"' in line for line in lines) < 300


def test_progress_is_shown_before_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window at the end of large files would show nothing for a long time."""
    (tmp_path / "log.1").write_bytes(story().bytes())
    monkeypatch.setattr(import_module, "BLOCK_LINES", 2)
    shown: list[int] = []
    plan = ImportPlan((tmp_path / "log.1",), Settings(), since=T0 + 65)

    import_files(plan, io.BytesIO, lambda _number, at: shown.append(at - T0))

    assert shown[:3] == [10, 30, 50]


def test_nodes_outside_of_locks_make_the_end_of_a_session_too_large(
    zktop: Zktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has all nodes of a session, also those outside of locks."""
    monkeypatch.setattr(sessions, "MAX_READABLE_BYTES", 100_000)
    log = LogWriter(7).add(ANN, 1, create("/app", 2, ephemeral=False))
    for number in range(1_010):
        log.add(ANN, 1, create(f"/app/{'worker' * 20}{number}", number + 1))
    log.records[:0] = story().records[:6]
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    shot = json.loads(zktop("snapshot", "--from", "a.zktop")[1])

    (found,) = [one["sentence"] for one in shot["findings"] if one["rule"] == "P17"]
    assert found.startswith("ann owns 1,0")


def test_the_end_of_a_silent_session_says_for_how_long(zktop: Zktop, tmp_path: Path) -> None:
    """At least for its timeout; its locks were blocked for at least as long."""
    log = LogWriter(7).opened(ANN + 9).later(60_000)
    log.add(ANN, -11, paths(f"{LOCK}/lock-0000000000"), cxid=0)
    log.records[:0] = story().records[:6]
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    events = [json.loads(line) for line in zktop("events", "--from", "a.zktop")[1].splitlines()]

    assert [one["sentence"] for one in events if one["event"] == "expired"] == [
        "the server expired its session: it was silent for at least 4s"
    ]


def pile_up() -> LogWriter:
    """Forty clients queue in two locks, 10 ms apart; some readers get one together."""
    log = LogWriter()
    for session in range(1, 41):
        log.opened(session)
    log.add(1, 1, create("/locks", 1, ephemeral=False))
    for number, lock in enumerate("ab"):
        log.add(1, 1, create(f"/locks/{lock}", number + 1, ephemeral=False))
    for number in range(20):
        for first, lock, name in (
            (1, "a", "lock-"),
            (21, "b", "read-" if number % 4 else "write-"),
        ):
            node = f"/locks/{lock}/{name}{number:010d}"
            log.add(
                first + number, 1, create(node, number + 1, f"client {first + number}".encode())
            )
        if number == 9:
            log.add(1, 2, delete("/locks/a/lock-0000000000"))
            log.add(21, 2, delete("/locks/b/write-0000000000"))
    return log.later(5_000).add(2, 2, delete("/locks/a/lock-0000000001"))


def test_contenders_that_share_a_look_have_their_own_times(
    zktop: Zktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a look for each transaction, events and charges are the same."""
    (tmp_path / "log.1").write_bytes(pile_up().bytes())
    monkeypatch.setattr(look_pace, "MAX_SAVED_LOOKS", 0)
    found, looks = [], []
    for is_shared in (True, False):
        if not is_shared:
            monkeypatch.setattr(LockFacts, "are_arrivals", lambda *_: False)
        zktop("import", "log.1", "-o", "a.zktop")
        events = map(json.loads, zktop("events", "--from", "a.zktop")[1].splitlines())
        period = json.loads(zktop("report", "--from", "a.zktop", "--format", "json")[1])
        events = [one for one in events if one["event"] not in ("finding", "finding-cleared")]
        found.append((sorted(events, key=str), period["accounting"]))
        looks.append(gzip.decompress((tmp_path / "a.zktop").read_bytes()).count(b'"look"'))

    for shared, alone in zip(*found, strict=True):
        assert shared == alone
    assert looks[0] < looks[1] - 10


def test_a_window_beyond_the_files_ends_with_them(zktop: Zktop, version_2: Path) -> None:
    """The release may be in the next log: nobody has held the lock for years."""
    (version_2 / "log.1").write_bytes(deadlock().bytes())
    zktop("import", str(version_2), "-o", "a.zktop", "--until", "2030-01-01T00:00:00Z")
    zktop("import", str(version_2), "-o", "b.zktop")
    shots = [json.loads(zktop("snapshot", "--from", f"{one}.zktop")[1]) for one in "ab"]
    beyond, without = (shot["taken_at"] for shot in shots)

    assert beyond == without < "2026-02"


@pytest.mark.usefixtures("starts_near")
def test_a_session_lives_until_it_ends(zktop: Zktop, tmp_path: Path) -> None:
    """Its end four hours later is not known yet."""
    late = (-11, paths("/locks/a/lock-0000000000"))
    (tmp_path / "log.1").write_bytes(quiet_night(late).bytes())
    zktop("import", "log.1", "-o", "a.zktop")
    report = Replay(tmp_path / "a.zktop").last(T0 + 2 * 3_600_000)

    assert report.ensemble.alive(ANN)


def test_a_file_of_zookeeper_is_never_written_over(zktop: Zktop, version_2: Path) -> None:
    """It may be the only evidence of an incident; an older recording may be replaced."""
    log = version_2 / "log.1"
    before = log.read_bytes()
    again = [zktop("import", *what, "-o", str(log)) for what in ([str(log)], [str(version_2)])]

    for code, _, err in again:
        assert (code, f"{log} is a ZooKeeper file, or named like one" in err) == (2, True)
    assert log.read_bytes() == before
    assert [zktop("import", str(log), "-o", "a.zktop")[0] for _ in range(2)] == [0, 0]


def test_a_window_that_ends_before_it_begins_is_refused(zktop: Zktop, version_2: Path) -> None:
    """As by `zktop report`."""
    window = ("--since", "2026-01-31T13:00:00Z", "--until", "2026-01-31T12:00:00Z")
    code, _, err = zktop("import", str(version_2), "-o", "a.zktop", *window)

    assert (code, "--until is before --since." in err) == (2, True)


def test_a_tar_that_cannot_be_unpacked_is_named(
    zktop: Zktop, version_2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output is not to blame for a missing temporary folder."""
    with tarfile.open(tmp_path / "zk1.tar", "w") as tar:
        tar.add(version_2, "version-2")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    code, _, err = zktop("import", "zk1.tar", "-o", "a.zktop")

    assert (code, "zk1.tar cannot be unpacked: No such file or directory." in err) == (2, True)


@pytest.mark.parametrize("top", ["zookeeper-locks", "zookeeper_app"])
def test_only_zookeepers_own_folder_is_left_out(zktop: Zktop, tmp_path: Path, top: str) -> None:
    """Not each whose name begins like it."""
    log = LogWriter().opened(ANN).add(ANN, 1, create(f"/{top}", 1, ephemeral=False))
    log.add(ANN, 1, create(f"/{top}/a", 1, ephemeral=False))
    log.add(ANN, 1, create(f"/{top}/a/lock-0000000000", 1))
    (tmp_path / "log.1").write_bytes(log.bytes())
    zktop("import", "log.1", "-o", "a.zktop")

    assert [*Replay(tmp_path / "a.zktop").last().paths] == [f"/{top}/a"]


def test_a_contender_is_written_once(zktop: Zktop, tmp_path: Path) -> None:
    """Not once in its folder and once by itself, where the import begins in mid-story."""
    (tmp_path / "log.1").write_bytes(deadlock().bytes())
    zktop("import", "log.1", "-o", "a.zktop", "--since", "2030-01-01")
    lines = map(json.loads, gzip.decompress((tmp_path / "a.zktop").read_bytes()).splitlines())
    paths = [line["path"] for line in lines if line["fact"] == "node"]

    assert len(paths) == len(set(paths)) > 0


def test_a_report_has_what_later_looks_find_in_the_files(zktop: Zktop, tmp_path: Path) -> None:
    """They are not part of its period."""
    log = deadlock().add(ANN, 1, create("/locks/c", 3, ephemeral=False))
    log.add(ANN, 1, create("/locks/c/lock-0000000000", 1))
    log.add(BOB, 2, delete("/locks/c/lock-0000000000"), 7)
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    period = json.loads(zktop("report", "--from", "a.zktop", "--format", "json")[1])

    until = "2026-01-31T12:00:00.110Z"
    assert period["until"] == until
    assert [one["deadlock"]["confidence"] for one in period["deadlocks"]] == ["C2"]
    assert {one["finding"]["rule"] for one in period["findings"]} >= {"S5"}
    assert {one["last_seen"] for one in period["findings"]} == {until}


def test_a_window_without_transactions_is_a_state(zktop: Zktop, version_2: Path) -> None:
    """It has no first and last transaction, and a snapshot alone has no time."""
    options = ("-o", "a.zktop", "--since", "2030-01-01")
    _, _, later = zktop("import", str(version_2), *options)
    (version_2 / "log.1").unlink()
    (version_2 / "snapshot.0").write_bytes(snapshot({}))
    _, _, alone = zktop("import", str(version_2), "-o", "a.zktop")

    state = "a.zktop: no transaction of this time was found; the state of 1 member at"
    assert later == f"{state} 2026-01-31T12:00:00.070Z\n"
    assert alone == f"{state} an unknown time\n"


def test_the_two_folders_of_a_server_are_one_member(zktop: Zktop, version_2: Path) -> None:
    """With dataLogDir, snapshots and logs are apart."""
    data = version_2.parents[1] / "data" / "version-2"
    data.mkdir(parents=True)
    (data / "snapshot.0").write_bytes(snapshot({"": (0, b"")}))

    _, _, err = zktop("import", str(data), str(version_2), "-o", "a.zktop")

    assert err.startswith("a.zktop: 8 transactions of 1 member from")


def moving(number: int) -> str:
    """Sessions that each send their second change from another address."""
    lines = []
    for turn, ip in enumerate(("10.0.0.1", "10.0.0.2")):
        for session in range(1, number + 1):
            change = f"operation=create\tznode=/{session}-{turn}\tresult=success"
            fields = f"session={session:#x}\tuser={ip}\tip={ip}\t{change}"
            lines.append(f"2026-01-31 12:00:0{turn},000 - INFO - {fields}\n")
    return "".join(lines)


def written_moves(folder: Path, number: int) -> None:
    """The log of the same sessions, 1 ms a transaction."""
    log = LogWriter(1)
    for turn in range(2):
        for session in range(1, number + 1):
            body = create(f"/{session}-{turn}", turn * number + session)
            log.add(session, 1, body)
    (folder / "log.1").write_bytes(log.bytes())
    (folder / "zookeeper_audit.log").write_text(moving(number))


def owners_of(file: Path) -> list[dict[str, str]]:
    """The address of each session, for each time that they are written."""
    lines = map(json.loads, gzip.decompress(file.read_bytes()).splitlines())
    return [
        {session: entry["address"] for session, entry in line["owners"].items()}
        for line in lines
        if line.get("fact") == "owners"
    ]


def test_sessions_that_moved_before_the_window_have_their_new_address(
    zktop: Zktop, tmp_path: Path
) -> None:
    """The transactions before it count too."""
    written_moves(tmp_path, 2)

    zktop("import", ".", "-o", "a.zktop", "--since", "2026-01-31T12:00:00.035Z")

    assert owners_of(tmp_path / "a.zktop")[-1] == {"0x1": "10.0.0.2", "0x2": "10.0.0.2"}


def test_sessions_that_move_at_once_are_written_once(zktop: Zktop, tmp_path: Path) -> None:
    """Not all sessions for each of them."""
    written_moves(tmp_path, 50)

    zktop("import", ".", "-o", "a.zktop")

    owners = owners_of(tmp_path / "a.zktop")
    assert set(owners[-1].values()) == {"10.0.0.2"}
    assert len(owners) < 10


def test_a_report_has_the_addresses_of_an_audit_log(zktop: Zktop, version_2: Path) -> None:
    """Also of clients that are named after their node."""
    change = "operation=create\tznode=/x\tresult=success"
    fields = f"session={ANN:#x}\tuser=alice\tip=10.0.0.7\t{change}"
    audit = version_2 / "zookeeper_audit.log"
    audit.write_text(f"2026-01-31 12:00:00,000 - INFO - {fields}\n", encoding="utf-8")
    zktop("import", str(version_2), "-o", "a.zktop")

    zktop("report", "--from", "a.zktop", "-o", "a.json")

    clients = json.loads(Path("a.json").read_bytes())["accounting"]["clients"]
    assert {one["name"]: one["client"] for one in clients}["ann"] == "10.0.0.7"


def test_a_damaged_audit_log_is_a_note(zktop: Zktop, version_2: Path) -> None:
    """The import prints it."""
    packed = gzip.compress(moving(100).encode())
    (version_2 / "zookeeper_audit.log.1.gz").write_bytes(packed[:-50])

    _, _, err = zktop("import", str(version_2), "-o", "a.zktop")

    assert "zookeeper_audit.log.1.gz is damaged: its last lines are missing." in err


def test_a_chroot_that_does_not_exist_is_noted(zktop: Zktop, version_2: Path) -> None:
    """Else a mistyped one reads like a quiet night."""
    err, fine = (
        zktop("import", str(version_2), "-o", "a.zktop", "--chroot", path)[2]
        for path in ("/lock", "/locks")
    )

    assert "note: There is no znode /lock at the end of this import (--chroot).\n" in err
    assert "note:" not in fine


def test_only_what_is_below_a_chroot(zktop: Zktop, version_2: Path) -> None:
    """Paths are then as the clients see them."""
    zktop("import", str(version_2), "-o", "a.zktop", "--chroot", "/locks")
    shot = json.loads(zktop("snapshot", "--from", "a.zktop")[1])

    assert [lock["path"] for lock in shot["locks"]] == ["/a"]
    assert shot["source"]["chroot"] == "/locks"


def test_the_import_and_its_readers_say_what_is_missing(zktop: Zktop, version_2: Path) -> None:
    """A torn log is read up to its last whole record."""
    log = version_2 / "log.1"
    log.write_bytes(log.read_bytes()[:-110])

    _, _, err = zktop("import", str(version_2), "-o", "a.zktop")
    later = zktop("events", "--from", "a.zktop")[2]

    assert f"note: {log} ends within a record at byte " in err
    assert ": it was read up to here.\n" in later
    assert later in err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("none", "-o", "a.zktop"), "none cannot be read: No such file or directory."),
        (("notes.txt", "-o", "a.zktop"), "notes.txt is not a transaction log or snapshot"),
        (("log.1", "-o", "no/a.zktop"), "no/a.zktop cannot be written: No such file"),
        (("log.1", "-o", "/dev/full"), "/dev/full cannot be written: No space left"),
        (("log.1", "-o", "a", "--since", "+5s"), "--since takes a time like 2026-"),
        (("log.1", "-o", "a", "--chroot", "x"), "--chroot takes a path that begins with /"),
    ],
)
def test_an_impossible_import_is_refused_in_a_sentence(
    zktop: Zktop, tmp_path: Path, args: tuple[str, ...], sentence: str
) -> None:
    """And exit code 2."""
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "log.1").write_bytes(story().bytes())

    code, out, err = zktop("import", *args)

    assert (code, out) == (2, "")
    assert err.startswith(sentence)


@pytest.mark.parametrize("owner", [BOB, ANN])
def test_a_node_created_again_in_its_own_deletion_is_a_new_holder(
    zktop: Zktop, tmp_path: Path, owner: int
) -> None:
    """Also if one session released the lock and took it again: its node is another one."""
    node = f"{LOCK}/lock-0000000000"
    log = LogWriter().opened(ANN).opened(BOB).add(ANN, 1, create("/locks", 1, ephemeral=False))
    log.add(ANN, 1, create(LOCK, 1, ephemeral=False)).add(ANN, 1, create(node, 1, b"ann"))
    log.add(owner, 14, multi((2, delete(node)), (1, create(node, 2, b"new"))))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    (lock,) = json.loads(zktop("snapshot", "--from", "a.zktop")[1])["locks"]

    (holder,) = lock["holders"]
    assert (int(holder["session"], 16), holder["owner"]) == (owner, "new")
    events = events_of(zktop("events", "--from", "a.zktop")[1])
    assert [one for one in events if one[0] not in ("lock-appeared", "finding")] == [
        ("queued", "00.040", "0"),
        ("acquired", "00.040", "0"),
        ("released", "00.050", "0"),
        ("queued", "00.050", "0"),
        ("acquired", "00.050", "0"),
    ]


def test_a_node_created_and_deleted_in_one_transaction_never_was_a_holder(
    zktop: Zktop, tmp_path: Path
) -> None:
    """No client could see it between the two operations."""
    node, other = f"{LOCK}/lock-0000000000", f"{LOCK}/lock-0000000001"
    log = LogWriter().opened(ANN).opened(BOB).add(ANN, 1, create("/locks", 1, ephemeral=False))
    log.add(ANN, 1, create(LOCK, 1, ephemeral=False)).add(ANN, 1, create(node, 1, b"ann"))
    log.add(ANN, 14, multi((1, create(other, 2, b"ann")), (2, delete(other))))
    again = (2, delete(node)), (1, create(node, 3, b"ann")), (2, delete(node))
    log.add(ANN, 14, multi(*again))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    (lock,) = json.loads(zktop("snapshot", "--from", "a.zktop")[1])["locks"]

    assert (lock["holders"], lock["waiters"]) == ([], [])
    assert events_of(zktop("events", "--from", "a.zktop")[1])[1:] == [
        ("queued", "00.040", "0"),
        ("acquired", "00.040", "0"),
        ("released", "00.060", "0"),
    ]


def test_data_set_right_after_a_node_was_created_again_is_newer(
    zktop: Zktop, tmp_path: Path
) -> None:
    """The two facts have one zxid: a node created after its deletion is read at the next one."""
    node = f"{LOCK}/lock-0000000000"
    log = LogWriter().opened(ANN).opened(BOB).add(ANN, 1, create("/locks", 1, ephemeral=False))
    log.add(ANN, 1, create(LOCK, 1, ephemeral=False)).add(ANN, 1, create(node, 1, b"ann"))
    log.add(BOB, 14, multi((2, delete(node)), (1, create(node, 2, b"last"))))
    log.add(BOB, 5, set_data(node, b"first", 1))
    (tmp_path / "log.1").write_bytes(log.bytes())

    zktop("import", "log.1", "-o", "a.zktop")
    (lock,) = json.loads(zktop("snapshot", "--from", "a.zktop")[1])["locks"]

    assert [holder["owner"] for holder in lock["holders"]] == ["first"]
