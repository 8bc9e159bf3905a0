"""Audit logs: whose session it was, from which address."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest
from txnlog.log_writer import ANN, BOB, story

from zktop.txnlog.audit_lines import AuditedClient, audit_lines
from zktop.txnlog.audited_sessions import AuditLog
from zktop.txnlog.data_files import DataFile, data_files, is_audit_log
from zktop.txnlog.transactions import Create, Transaction

PREFIX = "2026-01-31 13:00:00,{:03d} [myid:1] - INFO  [SyncThread:0:a.Slf4jAuditLogger@33] - "
ONE, TWO = "10.0.0.1", "10.0.0.2"


def line(
    session: int, ip: str, znode: str, user: str = "", operation: str = "create", at: int = 0
) -> str:
    """One line as servers write it."""
    fields = {
        "session": f"{session:#x}",
        "user": user or ip,
        "ip": ip,
        "operation": operation,
        "znode": znode,
        "result": "success",
    }
    pairs = "\t".join(f"{key}={value}" for key, value in fields.items())
    return f"{PREFIX.format(at)}{pairs}\n"


def written(path: Path, *lines: str) -> DataFile:
    """An audit log."""
    path.write_text("".join(lines))
    return DataFile(path, path.name, str(path.parent), "audit")


def created(session: int, path: str) -> Transaction:
    """The transaction that a line is about."""
    return Transaction(1, 0, session, 1, 1, (Create(path, b"", is_ephemeral=True, cversion=1),))


def test_a_session_has_the_address_and_the_user_of_its_lines(tmp_path: Path) -> None:
    """A user that is the address stands for no login."""
    file = written(tmp_path / "a", line(ANN, ONE, "/a"), line(BOB, TWO, "/b", f"bob,{TWO}"))

    assert AuditLog([file]).clients == {
        ANN: AuditedClient(ONE, ""),  # type: ignore[arg-type]
        BOB: AuditedClient(TWO, "bob"),  # type: ignore[arg-type]
    }


def test_a_new_address_counts_from_its_first_transaction(tmp_path: Path) -> None:
    """The line has no zxid; session, operation and path are enough."""
    log = AuditLog([written(tmp_path / "a", line(ANN, ONE, "/a"), line(ANN, TWO, "/b"))])

    assert not log.apply(created(ANN, "/a"))
    assert not log.apply(created(BOB, "/b"))
    assert log.clients[ANN].address == ONE
    assert log.apply(created(ANN, "/b"))
    assert log.clients[ANN].address == TWO
    assert not log.apply(created(ANN, "/b"))


def test_a_session_that_moved_to_another_member_is_followed(tmp_path: Path) -> None:
    """Only the member that serves a session writes its lines; the files come in any order."""
    later = written(tmp_path / "a", line(ANN, TWO, "/b", at=500))
    earlier = written(tmp_path / "b", line(ANN, ONE, "/a", at=100), line(ANN, ONE, "/c", at=200))

    for files in ([later, earlier], [earlier, later]):
        log = AuditLog(files)

        assert log.clients[ANN].address == ONE
        assert not log.apply(created(ANN, "/c"))
        assert log.apply(created(ANN, "/b"))
        assert log.clients[ANN].address == TWO


def test_an_address_from_which_all_was_refused_hides_no_later_one(tmp_path: Path) -> None:
    """Its lines have no transactions."""
    three = "10.0.0.3"
    lines = line(ANN, ONE, "/a"), line(ANN, TWO, "/refused"), line(ANN, three, "/b")
    log = AuditLog([written(tmp_path / "a", *lines)])

    assert log.apply(created(ANN, "/b"))
    assert log.clients[ANN].address == three


def test_a_damaged_log_is_noted(tmp_path: Path) -> None:
    """And read as far as it goes."""
    lines = [line(ANN, ONE, f"/{number:x}") for number in range(1000)]
    path = tmp_path / "zookeeper_audit.log.1.gz"
    path.write_bytes(gzip.compress("".join(lines).encode())[:-100])
    log = AuditLog([DataFile(path, path.name, "", "audit")])

    assert log.clients.keys() == {ANN}
    assert log.notes == [f"{path.name} is damaged: its last lines are missing."]


def test_lines_that_servers_write_about_ended_sessions_are_left_out(tmp_path: Path) -> None:
    """They have the server's user, and are repeated at each start."""
    ended = "ephemeralZNodeDeletionOnSessionCloseOrExpire"
    file = written(tmp_path / "a", line(ANN, ONE, "/a", "zookeeper", ended))

    assert AuditLog([file]).clients == {}


def test_audit_logs_are_found_beside_the_other_files(tmp_path: Path) -> None:
    """In a folder and in a tar of it, rotated and compressed ones too, oldest first."""
    folder = tmp_path / "zk1"
    folder.mkdir()
    (folder / "log.1").write_bytes(story().bytes())
    for name in ("zookeeper_audit.log", "zookeeper_audit.log.2", "zookeeper_audit.log.10"):
        (folder / name).write_text(line(ANN, ONE, "/a"))
    (folder / "zookeeper_audit.log.1.gz").write_bytes(gzip.compress(line(BOB, TWO, "/b").encode()))
    with tarfile.open(tmp_path / "zk1.tar.gz", "w:gz") as tar:
        tar.add(folder, "zk1")

    for path in (folder, tmp_path / "zk1.tar.gz"):
        with data_files([path]) as files:
            audits = [file for file in files if file.kind == "audit"]
            assert [one.path.name.removeprefix("zookeeper_audit.log") for one in audits] == [
                ".10",
                ".2",
                ".1.gz",
                "",
            ]
            assert AuditLog(audits).clients.keys() == {ANN, BOB}


def test_a_file_of_any_name_is_known_by_its_content(tmp_path: Path) -> None:
    """As a server's own log, which has other lines too."""
    (tmp_path / "out").write_text("starting\n" * 1000 + line(ANN, ONE, "/a"))

    with data_files([tmp_path / "out"]) as (file,):
        assert file.kind == "audit"


@pytest.mark.parametrize(
    "damage",
    [
        b"session=0x\tip=10.0.0.1\toperation=create\n",
        b"session=0xzz\tip=10.0.0.1\toperation=create\n",
        b"session=0x1\toperation=create\n",
        b"session=0x1\tip=10.0.0.1\tresult=success\n",
        bytes(range(256)) * 100,
        b"session=0x1" * 500_000,  # longer than any line of a server
    ],
)
def test_damaged_lines_are_skipped(damage: bytes) -> None:
    """The line after them is read."""
    good = line(ANN, ONE, "/a").encode()

    assert not is_audit_log(io.BytesIO(damage))
    assert [one.session for one in audit_lines(io.BytesIO(damage + b"\n" + good))] == [ANN]
