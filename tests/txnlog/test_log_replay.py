"""The story that files tell: where it starts, what is a hole, what was never committed."""

import io
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from txnlog.log_writer import (
    ANN,
    BOB,
    T0,
    LogWriter,
    create,
    delete,
    paths,
    set_data,
    snapshot,
    story,
)

from zktop.errors import DataFileError
from zktop.txnlog.data_files import data_files
from zktop.txnlog.log_records import LogRecords
from zktop.txnlog.log_replay import LogReplay, ReplayStep, Restart
from zktop.txnlog.transactions import Create, SetAcl, SetData, Transaction, decode
from zktop.txnlog.znode_tree import ZnodeTree

E2 = 2 << 32  # an epoch


def played(
    paths: Sequence[Path], since: int | None = None, until: int | None = None
) -> tuple[list[int], list[Restart], LogReplay]:
    """The zxids of all steps, the restarts, and the replay afterwards."""
    with data_files(paths) as files:
        replay = LogReplay(files)
        steps = list(replay.steps(since, until))
    zxids = [step.transaction.zxid for step in steps if isinstance(step, ReplayStep)]
    return zxids, [step for step in steps if isinstance(step, Restart)], replay


def written(folder: Path, **files: bytes) -> Path:
    """A folder with logs and snapshots; in the names `_` stands for the dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name.replace("_", ".", 1)).write_bytes(data)
    return folder


def epoch(number: int, last: int, first: int = 1, session: int = ANN) -> LogWriter:
    """A log of one epoch: a znode is set again and again."""
    log = LogWriter((number << 32) + first, T0 + number * 1_000_000 + first * 10)
    for counter in range(first, last + 1):
        log.add(session, 5, set_data("/a", b"", counter))
    return log


def test_the_whole_story_from_the_first_transaction(tmp_path: Path) -> None:
    """A log that begins at 1 needs no snapshot."""
    zxids, restarts, replay = played([written(tmp_path, log_1=story().bytes())])

    assert zxids == [*range(1, 9)]
    assert len(restarts) == 1
    assert replay.notes == []


def test_a_window_begins_and_ends_in_the_story(tmp_path: Path) -> None:
    """The state at its beginning is complete."""
    folder = written(tmp_path, log_1=story().bytes())
    zxids, (start,), _ = played([folder], since=T0 + 50, until=T0 + 60)

    assert zxids == [6, 7]
    assert start.zxid == 5


def test_a_window_begins_at_its_time(tmp_path: Path) -> None:
    """Not with its first transaction: what was so before, was so when the window began."""
    folder = written(tmp_path, log_1=story().later(60_000).opened(ANN).bytes())

    begin, before_all, after_it = (
        played([folder], since=T0 + since)[1][0].at - T0 for since in (30_000, -10_000, 70_000)
    )

    assert (begin, before_all, after_it) == (30_000, 0, 60_080)


def test_a_quiet_window_ends_before_the_transaction_that_follows_it(tmp_path: Path) -> None:
    """Its state is dated with the last transaction before it, not with the first one after it."""
    early, late = epoch(1, 5), LogWriter((1 << 32) + 6, T0 + 2_000_000)
    late.add(ANN, 5, set_data("/a", b"", 6))
    folder = written(tmp_path, log_100000001=early.bytes(), log_100000006=late.bytes())
    last = T0 + 1_000_000 + 50

    zxids, (start,), replay = played([folder], since=last + 10_000, until=last + 20_000)

    assert zxids == []
    assert (start.zxid & 0xFF, replay.known_until) == (5, last + 20_000)
    assert start.at <= last


def test_a_hole_after_the_end_of_a_window_is_not_looked_into(tmp_path: Path) -> None:
    """Nothing is known of the time between the last transaction and the hole's end."""
    late = LogWriter((1 << 32) + 9, T0 + 5_000_000)
    late.add(ANN, 5, set_data("/a", b"", 9))
    folder = written(tmp_path, log_100000001=epoch(1, 3).bytes(), log_100000009=late.bytes())

    zxids, restarts, replay = played([folder], until=T0 + 2_000_000)

    assert [zxid & 0xFF for zxid in zxids] == [1, 2, 3]
    assert [one.hole for one in restarts] == [None]
    assert replay.known_until < T0 + 2_000_000


def test_the_last_notes_are_never_left_out(tmp_path: Path) -> None:
    """Digests that differ, for example, matter more than the hundredth unknown type."""
    log = story().add(ANN, 5, set_data("/locks", b"", 1), digest=1)
    for _ in range(200):
        log.add(ANN, 99)
    replay = played([written(tmp_path, log_1=log.bytes())])[2]

    assert replay.notes[0] == "200 transactions have type 99, which zktop does not know."
    assert "digests differ" in replay.notes[-1]


def test_a_fuzzy_snapshot_is_replayed_as_a_server_does(tmp_path: Path) -> None:
    """It has some of what came after its name; the story begins where it is exact."""
    log = LogWriter().opened(ANN)
    log.add(ANN, 1, create("/a", 1, ephemeral=False)).add(ANN, 1, create("/a/x", 1))
    log.add(ANN, 1, create("/a/y", 2)).add(ANN, 1, create("/a/z", 3))
    fuzzy = snapshot({"": (0, b""), "/a": (2, b""), "/a/y": (4, b"")}, [(ANN, 4000)])
    del log.records[0]  # as if an older log had been deleted
    folder = written(tmp_path, log_2=log.bytes(), snapshot_2=fuzzy)

    zxids, (start,), _ = played([folder])

    assert zxids == [5]
    assert start.zxid == 4
    assert start.tree.nodes["/a"].children == {"x", "y", "z"}


def test_the_time_of_a_snapshot_without_logs_is_a_lower_bound(tmp_path: Path) -> None:
    """What was deleted since its newest change has left no time."""
    folder = written(tmp_path, snapshot_9=snapshot({"": (0, b""), "/a": (2, b"")}))

    _, (start,), replay = played([folder])

    assert start.at == T0
    (note,) = replay.notes
    assert note.endswith(" was at 2026-01-31T12:00:00.000Z; the snapshot may be newer.")


def test_a_damaged_snapshot_is_skipped(tmp_path: Path) -> None:
    """An older one serves as well, and a note names the bad one."""
    good = snapshot({"": (0, b"")})
    folder = written(tmp_path, snapshot_0=good[:-3], log_1=story().bytes())

    zxids, _, replay = played([folder])

    assert zxids == [*range(1, 9)]
    assert "snapshot.0 is cut off at byte" in replay.notes[0]
    assert replay.notes[0].endswith("It is not used.")


def test_without_a_snapshot_the_past_is_unknown(tmp_path: Path) -> None:
    """Missing parents are put in, and it is said."""
    log = LogWriter(0x500).opened(ANN).add(ANN, 1, create("/locks/a/lock-0000000004", 5))

    _, (start,), replay = played([written(tmp_path, log_500=log.bytes())])

    assert start.tree.nodes["/locks/a"].children == {"lock-0000000004"}
    assert replay.notes == ["No usable snapshot: what existed before 0x500 is unknown."]


def test_a_hole_is_said_and_another_member_fills_it(tmp_path: Path) -> None:
    """Within an epoch each number is used."""
    one, other = LogWriter(), LogWriter()
    one.records = [r for n, r in enumerate(story().records) if n not in (3, 4)]
    other.records = story().records[1:6]
    first = written(tmp_path / "zk1" / "version-2", log_1=one.bytes())
    second = written(tmp_path / "zk2" / "version-2", log_2=other.bytes())

    alone, restarts, replay = played([first])
    both, whole, quiet = played([first, second])

    assert alone == [1, 2, 3, 6, 7, 8]
    assert replay.notes[0].startswith("2 transactions are missing between 0x3 and 0x6:")
    assert restarts[1].hole is not None
    assert (both, len(whole), quiet.notes) == ([*range(1, 9)], 1, [])


def test_the_state_after_a_hole_is_that_at_its_end(tmp_path: Path) -> None:
    """A snapshot inside the hole may have znodes from after its begin."""
    log = LogWriter()
    log.records = [r for n, r in enumerate(story().records) if n not in (3, 4)]

    _, restarts, _ = played([written(tmp_path, log_1=log.bytes())])

    assert [one.zxid for one in restarts] == [0, 5]


def test_ghosts_of_a_lost_leader_are_left_out(tmp_path: Path) -> None:
    """Another member went on with the next epoch at an earlier transaction."""
    leader = written(tmp_path / "zk1", log_100000001=epoch(1, 5).bytes())
    follower = written(
        tmp_path / "zk2",
        log_100000001=epoch(1, 3).bytes(),
        log_200000001=epoch(2, 2).bytes(),
    )

    zxids, _, replay = played([leader, follower])

    assert zxids == [*((1 << 32) + n for n in (1, 2, 3)), E2 + 1, E2 + 2]
    assert replay.notes[1:] == ["In epoch 1, 2 transactions were never committed: left out."]


def test_repeated_records_are_read_once(tmp_path: Path) -> None:
    """3.8.0 steps back inside one file after a snapshot from the leader."""
    log = story()
    log.records[5:5] = log.records[3:5]

    assert played([written(tmp_path, log_1=log.bytes())])[0] == [*range(1, 9)]


def test_members_of_two_ensembles_are_refused(tmp_path: Path) -> None:
    """The first transaction that differs is named."""
    one = written(tmp_path / "zk1", log_1=story().bytes())
    other = written(tmp_path / "zk2", log_1=LogWriter().opened(BOB).bytes())

    with pytest.raises(DataFileError, match="different ensembles: transaction 0x1 "):
        played([one, other])


def test_digests_prove_the_replay_and_a_wrong_one_is_said(tmp_path: Path) -> None:
    """From the first difference on, nothing more is proven."""
    tree, right, wrong = ZnodeTree(), LogWriter(), LogWriter()
    for _, body in LogRecords(io.BytesIO(story().bytes()), "log"):
        one = decode(body)
        tree.apply(one)
        kind = one.kind
        for log, digest in ((right, tree.digest), (wrong, tree.digest + (one.zxid > 5))):
            log.add(one.session, kind, body[32:], one.cxid, digest)

    proven = played([written(tmp_path / "a", log_1=right.bytes())])[2]
    differs = played([written(tmp_path / "b", log_1=wrong.bytes())])[2]

    assert (proven.proven, proven.with_digest, proven.notes) == (8, 8, [])
    (note,) = differs.notes
    assert note.startswith("From 0x6 on, the servers' digests differ from the replay's: 5 of 8")
    assert note.endswith(" What is shown of locks from there on may be wrong.")


def test_changes_of_the_root_are_in_the_digest() -> None:
    """ZooKeeper 3.8 computes these: of a new tree, after setAcl / and after setData /."""
    tree = ZnodeTree()
    digests = [tree.digest]
    for zxid, change in ((1, SetAcl("/", 1)), (5, SetData("/", b"x", 1))):
        tree.apply(Transaction(zxid, 1_000, ANN, 1, 5, (change,)))
        digests.append(tree.digest)

    assert digests == [0x51C6D660, 0x611DEAA3, 0x1_0609_B259]


@pytest.mark.parametrize("cversion", [-(1 << 31), -1])
def test_a_counter_stays_at_its_end(cversion: int) -> None:
    """As in ZooKeeper 3.8, where it does not wrap around."""
    tree = ZnodeTree()
    for zxid, counter, path in ((1, 1, "/a"), (2, (1 << 31) - 1, "/a/x"), (3, cversion, "/a/y")):
        tree.apply(
            Transaction(
                zxid, 1_000, ANN, 1, 1, (Create(path, b"", is_ephemeral=False, cversion=counter),)
            )
        )

    assert tree.nodes["/a"].cversion == (1 << 31) - 1


def test_a_counter_that_wrapped_around_does_not_count() -> None:
    """Only -1 stands for one more; as in ZooKeeper 3.8, a smaller counter changes nothing."""
    tree = ZnodeTree()
    for zxid, counter, path in ((1, 1, "/a"), (2, 7, "/a/x"), (3, -(1 << 31), "/a/y")):
        create = Create(path, b"", is_ephemeral=False, cversion=counter)
        tree.apply(Transaction(zxid, 1_000, ANN, 1, 1, (create,)))

    assert (tree.nodes["/a"].cversion, tree.nodes["/a"].pzxid) == (7, 2)


def test_the_clock_of_a_server_may_be_before_1970() -> None:
    """A machine without a battery begins there, or a little earlier in its time zone."""
    tree = ZnodeTree()
    create = Create("/a", b"", is_ephemeral=False, cversion=1)
    tree.apply(Transaction(1, -1_000, ANN, 1, 1, (create,)))

    assert (tree.nodes["/a"].ctime, tree.nodes["/a"].mtime) == (-1_000, -1_000)


def test_an_old_closed_session_takes_its_own_znodes(tmp_path: Path) -> None:
    """Before 3.6 the record does not list them."""
    log = story()
    log.records[-1] = LogWriter(8).add(BOB, -11, b"", cxid=0).records[0]

    _, (start,), _ = played([written(tmp_path, log_1=log.bytes())])

    assert start.tree.nodes["/locks/a"].children == set()


def test_a_replay_ends_as_a_server_would(tmp_path: Path) -> None:
    """What exists already and what is gone already changes nothing but the parent's counters."""
    log = LogWriter().add(ANN, 1, create("/a", 1, ephemeral=False))
    log.add(ANN, 1, create("/a", 2, b"again")).add(ANN, 2, delete("/b"))
    log.add(ANN, 5, set_data("/c", b"", 1))

    _, (start,), _ = played([written(tmp_path, log_1=log.bytes())])

    assert start.tree.nodes["/a"].data == b""
    assert start.tree.nodes[""].cversion == 2


def test_another_program_s_file_among_the_logs_is_passed_over(tmp_path: Path) -> None:
    """It is named; what the others have is whole."""
    folder = written(tmp_path, log_1=story().bytes(), log_9=b"PK, a zip")

    zxids, _, replay = played([folder])

    assert zxids == [*range(1, 9)]
    assert "log.9 is not a transaction log" in replay.notes[0]


def test_a_log_that_has_just_begun_is_no_error(tmp_path: Path) -> None:
    """A server allocates it before it writes the first record."""
    folder = written(tmp_path, log_1=story().bytes(), log_9=bytes(64), log_a=struct.pack("x"))

    assert played([folder])[0] == [*range(1, 9)]


def test_a_record_that_servers_do_not_read_is_said(tmp_path: Path) -> None:
    """The end of a session with 22,000 znodes; the log is read to its end."""
    names = [f"/locks/a/{number:0100d}" for number in range(22_000)]
    log = story().add(ANN, -11, paths(*names), cxid=9).opened(BOB)

    zxids, _, replay = played([written(tmp_path, log_1=log.bytes())])

    assert zxids[-1] == 10
    (note,) = replay.notes
    assert note == (
        "Transaction 0x9 has 2,486,036 bytes. By default, servers read at most 2,097,150: "
        "a server that has to read it does not start. Set jute.maxbuffer higher first."
    )
