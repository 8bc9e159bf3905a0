"""What an import says of itself: holes that only snapshots prove, doubts, and what it left out."""

import io
import random
import struct
from pathlib import Path

import pytest
from txnlog.log_writer import (
    ANN,
    BOB,
    HEADER,
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
from txnlog.test_log_replay import epoch, played, written

from zktop.errors import DataFileError
from zktop.txnlog import znode_tree
from zktop.txnlog.data_files import data_files
from zktop.txnlog.log_records import LogRecords
from zktop.txnlog.log_replay import LogReplay, ReplayStep
from zktop.txnlog.transactions import decode
from zktop.txnlog.znode_tree import ZnodeTree

E1, E2 = 1 << 32, 2 << 32


def test_a_snapshot_proves_a_hole_at_the_end_of_an_epoch(tmp_path: Path) -> None:
    """The member was away; its snapshot shows 95 transactions that its logs lack."""
    folder = written(
        tmp_path,
        snapshot_0=snapshot({"": (0, b"")}),
        log_100000001=epoch(1, 5).bytes(),
        snapshot_100000064=snapshot({"": (0, b""), "/b": (E1 + 90, b"")}),
        log_200000001=epoch(2, 2).bytes(),
    )

    zxids, restarts, replay = played([folder])

    assert zxids == [*range(E1 + 1, E1 + 6), E2 + 1, E2 + 2]
    assert "/b" in restarts[1].tree.nodes
    assert replay.notes[0].startswith("Some transactions are missing between 0x100000005 and")


@pytest.mark.parametrize(("newest", "holes"), [(E1 + 90, 1), (E1 + 5, 0)])
def test_a_snapshot_of_a_new_leader_proves_a_hole_by_its_znodes(
    tmp_path: Path, newest: int, holes: int
) -> None:
    """Its name is the first of the epoch, whether the member was away or not."""
    folder = written(
        tmp_path,
        snapshot_0=snapshot({"": (0, b"")}),
        log_100000001=epoch(1, 5).bytes(),
        snapshot_200000000=snapshot({"": (0, b""), "/b": (newest, b"")}),
        log_200000001=epoch(2, 2).bytes(),
    )

    restarts = played([folder])[1]

    assert sum(one.hole is not None for one in restarts) == holes


@pytest.mark.parametrize("since", [None, T0, T0 + 20, T0 + 70])
def test_a_whole_log_needs_no_snapshot_from_its_middle(tmp_path: Path, since: int | None) -> None:
    """A 3.4 server has none from its beginning."""
    later = snapshot({"": (0, b""), "/locks": (3, b"")}, [(ANN, 4_000)])
    folder = written(tmp_path, log_1=story().bytes(), snapshot_6=later)

    zxids, _, replay = played([folder], since)

    assert zxids == [*range(1 if since is None else 1 + (since - T0) // 10, 9)]
    assert replay.notes == []


@pytest.mark.parametrize(
    "tail",
    [
        (struct.pack(">QiQ", E1 + 100, 2, 1), struct.pack(">Q", E1 + 100)),
        (struct.pack(">QiQ", 0, 2, 1), struct.pack(">Q", E1 + 100)),
        (struct.pack(">Q", E1 + 100),),
        (struct.pack(">QiQ", E1 + 100, 2, 1),),
        (),
    ],
    ids=["3.9", "3.9 at rest", "3.9 without digests", "3.6", "3.5"],
)
def test_a_snapshot_under_any_name_is_as_new_as_its_content(
    tmp_path: Path, tail: tuple[bytes, ...]
) -> None:
    """An administrator's; the log that follows it continues it."""
    newest = E1 + (90 if tail else 100)
    (tmp_path / "backup.bin").write_bytes(snapshot({"": (0, b""), "/b": (newest, b"")}, tail=tail))
    log = LogWriter(E1 + 101).opened(ANN).opened(BOB)
    (tmp_path / "log.100000065").write_bytes(log.bytes())

    zxids, restarts, _ = played([tmp_path / "backup.bin", tmp_path / "log.100000065"])

    assert zxids == [E1 + 101, E1 + 102]
    assert [one.hole for one in restarts] == [None]


def test_a_window_that_begins_late_is_a_note(tmp_path: Path) -> None:
    """Older snapshots were deleted, and the log does not begin at 1."""
    log = LogWriter(3, T0)
    log.add(ANN, 1, create("/a", 1)).add(ANN, 1, create("/b", 2)).add(ANN, 1, create("/c", 3))
    later = snapshot({"": (0, b""), "/a": (3, b""), "/b": (4, b"")}, [(ANN, 4_000)])
    folder = written(tmp_path, log_3=log.bytes(), snapshot_4=later)

    notes = played([folder], since=T0 - 10_000)[2].notes

    assert notes == [
        "No usable snapshot is as old as the window: it begins at 2026-01-31T12:00:00.000Z."
    ]


def test_transactions_of_unknown_types_hide_no_hole(tmp_path: Path) -> None:
    """They are counted, as are unknown operations in a multi."""
    log = LogWriter().opened(ANN)
    for _ in range(150):
        log.add(ANN, 77, b"xxxx")
    log.add(ANN, 14, multi((99, b"abcd"), (1, create("/x", 1))))
    later = LogWriter(1000, T0 + 60_000).add(ANN, 2, delete("/a"))
    folder = written(tmp_path, log_1=log.bytes(), log_3e8=later.bytes())

    notes = played([folder])[2].notes

    assert notes[0].startswith("847 transactions are missing between")
    assert notes[2:] == [
        "150 transactions have type 77, which zktop does not know.",
        "1 transaction has type 99, which zktop does not know.",
    ]


def test_many_holes_are_counted(tmp_path: Path) -> None:
    """Their notes do not fill the memory."""
    log = LogWriter()
    log.records = epoch(0, 99).records[::2]

    notes = played([written(tmp_path, log_1=log.bytes())])[2].notes

    assert sum("is missing" in note for note in notes) == 20
    assert "There are 29 more holes." in notes


def test_a_log_without_a_whole_record_is_a_note(tmp_path: Path) -> None:
    """The newest log is the one that is torn."""
    noise = HEADER + random.Random(1).randbytes(3_000)
    torn = LogWriter(10, T0).add(ANN, 2, delete("/a")).bytes(0)[:40]
    folder = written(tmp_path, log_1=story().bytes(), log_9=noise, log_a=torn)

    notes = played([folder])[2].notes

    assert [note.partition(": ")[0].rpartition("/")[2] for note in notes] == [
        "log.9 ends within a record at byte 16",
        "log.a ends within a record at byte 16",
    ]


def test_the_error_about_a_damaged_snapshot_names_it(tmp_path: Path) -> None:
    """It is the only file."""
    folder = written(tmp_path, snapshot_0=snapshot({})[:8])

    with pytest.raises(DataFileError, match=r"No usable .*/snapshot\.0 is cut off at byte 8\."):
        played([folder])


def test_the_last_records_of_a_member_alone_are_uncertain(tmp_path: Path) -> None:
    """A leader that lost its followers keeps what was never committed."""
    log = epoch(1, 5)
    log.records += epoch(2, 30, first=20).records
    alone = written(tmp_path / "zk1", log_100000001=log.bytes())
    other = written(tmp_path / "zk2", log_100000001=log.bytes())
    why = "may not have been committed: the files of other members would show it."

    notes = played([alone])[2].notes
    notes_of_two = played([alone, other])[2].notes

    assert f"The last transactions before 0x200000014 {why}" in notes
    assert notes[-1] == f"The last transactions {why}"
    assert not [note for note in notes_of_two if why in note]


def test_the_end_of_a_window_inside_the_files_is_certain(tmp_path: Path) -> None:
    """Later records of the same epoch follow."""
    folder = written(tmp_path, log_100000001=epoch(1, 5).bytes())

    assert played([folder], until=T0 + 1_000_020)[2].notes == []


def test_a_new_leader_is_a_note(tmp_path: Path) -> None:
    """With its first transaction."""
    log = epoch(1, 2)
    log.records += epoch(2, 2).records
    folder = written(tmp_path, log_100000001=log.bytes())

    assert played([folder])[2].notes[0] == (
        "Epoch 2 begins with 0x200000001 at 2026-01-31T12:33:20.010Z: a new leader."
    )


@pytest.mark.parametrize(("name", "is_charset"), [("größe", True), ("size", False)])
def test_a_charset_that_is_not_utf_8_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, is_charset: bool
) -> None:
    """Java computed the digest of another name."""
    base = LogWriter().opened(ANN).add(ANN, 1, create(f"/{name}", 1, ephemeral=False))
    original, tree, log = znode_tree._new_znode, ZnodeTree(), LogWriter()
    with monkeypatch.context() as patched:
        patched.setattr(
            znode_tree, "_new_znode", lambda path, *rest: original(f"{path[:2]}?", *rest)
        )
        for _, body in LogRecords(io.BytesIO(base.bytes()), "log"):
            one = decode(body)
            tree.apply(one)
            log.add(one.session, one.kind, body[32:], one.cxid, tree.digest)

    (note,) = played([written(tmp_path, log_1=log.bytes())])[2].notes

    assert note.startswith("From 0x2 on, the servers' digests differ")
    assert ("file.encoding" in note) is is_charset


def test_a_clock_that_goes_back_catches_up_with_the_times(tmp_path: Path) -> None:
    """The new leader's clock is ten minutes behind: time goes on at half its speed."""
    log = LogWriter(E1 + 1).opened(ANN).opened(BOB)
    later = LogWriter(E2 + 1, T0 - 600_000).add(BOB, 5, set_data("/a", b"", 1)).later(5_000)
    log.records += later.add(ANN, 5, set_data("/a", b"", 2)).records
    folder = written(tmp_path, log_100000001=log.bytes())

    with data_files([folder]) as files:
        replay = LogReplay(files)
        steps = [step for step in replay.steps() if isinstance(step, ReplayStep)]

    assert [step.at - T0 for step in steps] == [0, 10, 10, 2_515]
    assert replay.notes[0] == (
        "At 0x200000001 the leader's clock went back by 10m00s: from 2026-01-31T12:00:00.010Z on, "
        "times continue at half speed until it has caught up, so durations are too short."
    )


def alternating_leaders() -> LogWriter:
    """48 more leaders after the first: every second one is 5 minutes behind, the others 3."""
    log = LogWriter(E1 + 1).opened(ANN)
    for number in range(2, 50):
        behind_ms = 180_000 if number % 2 else 300_000
        log.records += LogWriter((number << 32) + 1, T0 - behind_ms).opened(BOB).records
    return log


def test_times_do_not_run_ahead_if_two_leaders_behind_alternate(tmp_path: Path) -> None:
    """The difference between two clocks is not time that passed."""
    replay = played([written(tmp_path, log_100000001=alternating_leaders().bytes())])[2]

    assert replay.last == ((49 << 32) + 1, T0)


def test_notes_left_out_are_counted_with_the_right_plural(tmp_path: Path) -> None:
    """The last word of a kind is its noun."""
    notes = played([written(tmp_path, log_100000001=alternating_leaders().bytes())])[2].notes

    assert "There are 4 more clock steps." in notes


def test_a_clock_that_goes_back_a_little_is_right_again_soon(tmp_path: Path) -> None:
    """Time stands still until then."""
    log = LogWriter().opened(ANN).later(500).opened(BOB).later(-300)
    log.add(ANN, -11, paths(), cxid=0).later(500).add(BOB, -11, paths(), cxid=0)
    folder = written(tmp_path, log_1=log.bytes())

    replay = played([folder])[2]

    assert (replay.last, replay.notes) == ((4, T0 + 730), [])
