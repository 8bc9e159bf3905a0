"""The process that reads watch tables: its answers, its end, and its limits."""

import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest
from zk.bad_servers import answers, dead_port, listener, silent

from zktop.zk.connect.address import Address
from zktop.zk.servers import large_table_process, large_table_reader
from zktop.zk.servers.four_letter import RefusedError
from zktop.zk.servers.large_table_reader import TableReader
from zktop.zk.servers.table_size_limits import TableSizeEstimate, kernel_buffer_bytes

TABLE = b"0x1\n\t/locks/l/m-0000000001\n" * 200_000


@pytest.fixture
def reader() -> Iterator[TableReader]:
    """A reader whose process ends with the test."""
    one = TableReader()
    yield one
    one.close()


def test_a_table_comes_whole(reader: TableReader) -> None:
    """Tables of any size come whole, several times from one process."""
    with listener(answers(TABLE)) as address:
        first = reader.ask(address, "wchc", 5.0)
        process = reader._process
        second = reader.ask(address, "wchc", 5.0)

    assert first == second == TABLE
    assert reader._process is process


def test_words_that_change_something_are_not_sent(reader: TableReader) -> None:
    """The process refuses words that change something."""
    with pytest.raises(ValueError, match="read-only"):
        reader.ask(Address("127.0.0.1", 1), "crst", 1.0)


def test_a_refusal_says_why(reader: TableReader) -> None:
    """A refusal has a reason, and the next request is answered."""
    refusal = b"wchc is not executed because it is not in the whitelist.\n"
    with listener(silent) as address, pytest.raises(RefusedError, match="no answer in time"):
        reader.ask(address, "wchc", 0.2)
    with listener(answers(refusal)) as address, pytest.raises(RefusedError, match="whitelist"):
        reader.ask(address, "wchc", 5.0)
    with listener(answers(b"")) as address, pytest.raises(RefusedError, match="does not know it"):
        reader.ask(address, "wchc", 5.0)
    with pytest.raises(RefusedError, match="refused"):
        reader.ask(Address("127.0.0.1", 1), "wchc", 5.0)
    with listener(answers(b"\n")) as address:
        assert reader.ask(address, "wchc", 5.0) == b"\n"


def test_a_dead_address_of_a_name_leaves_time_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For example an IPv6 address in a network that drops its packets."""
    with dead_port() as dead, listener(answers(TABLE)) as address:
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))
            for port in (dead, address.port)
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_named: found)
        question = {"host": "zk1", "port": 2181, "word": "wchc", "seconds": 2.0, "most": 1 << 30}
        head, chunks = large_table_process.answer(question)

    assert head == {"size": len(TABLE)}
    assert b"".join(chunks) == TABLE


def test_a_table_that_is_too_large_is_drained(
    reader: TableReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read to the end for the server's sake, and not kept in memory."""
    monkeypatch.setattr(large_table_reader, "MAX_ANSWER_BYTES", 1000)
    sent = []

    def send_lines(line: object) -> None:
        answers(TABLE)(line)  # type: ignore[arg-type]  # it is a socket
        sent.append(len(TABLE))

    with listener(send_lines) as address, pytest.raises(RefusedError, match="too large"):
        reader.ask(address, "wchc", 5.0)

    assert sent == [len(TABLE)]


def test_a_process_that_died_is_started_again(reader: TableReader) -> None:
    """The next request starts a new process."""
    with listener(answers(TABLE)) as address:
        reader.ask(address, "wchc", 5.0)
        assert reader._process
        reader._process.kill()
        reader._process.wait()

        assert reader.ask(address, "wchc", 5.0) == TABLE


def test_closing_leaves_no_process(reader: TableReader) -> None:
    """No process and no zombie remains, and none starts later."""
    with listener(answers(TABLE)) as address:
        reader.ask(address, "wchc", 5.0)
        process = reader._process
        reader.close()
        with pytest.raises(RefusedError, match="closing"):
            reader.ask(address, "wchc", 5.0)

    assert process
    assert process.returncode == -signal.SIGKILL
    reader.close()
    assert reader._process is None


def test_an_unread_answer_ends_the_process() -> None:
    """A stopped zktop does not take the answer, and may never go on."""
    process = large_table_reader._start_process()
    with listener(answers(TABLE)) as address:
        question = f'"host": "{address.host}", "port": {address.port}, "word": "wchc"'
        limits = f'"seconds": 0.2, "most": {len(TABLE)}, "kept_s": 0.1'
        assert process.stdin
        process.stdin.write(f"{{{question}, {limits}}}\n".encode())

        assert process.wait(20) == -signal.SIGALRM
    _closed(process)


def test_the_process_ends_with_zktop() -> None:
    """The process ends when the pipe to zktop closes."""
    process = large_table_reader._start_process()
    _closed(process)

    assert process.wait(20) == 0


def test_the_process_is_in_a_session_of_its_own() -> None:
    """Ctrl-z and ctrl-c of the terminal do not reach it."""
    process = large_table_reader._start_process()
    done = subprocess.run(
        ["ps", "-o", "sid=", "-p", str(process.pid)], capture_output=True, text=True, check=True
    )
    _closed(process)
    process.wait(20)

    assert int(done.stdout) == process.pid


def test_the_size_of_a_table_is_estimated() -> None:
    """The estimate uses the paths in `dump`, which takes no lock, and then earlier tables."""
    sizes, path = TableSizeEstimate(), "/locks/" + 93 * "x"
    guess = sizes.expected(10_000)
    dump = f"Sessions with Ephemerals (2):\n0x1:\n\t{path}\n\t{path}\n0x2:\n\t{path}\n"
    sizes.read_dump(dump.encode())
    by_dump = sizes.expected(10_000)
    sizes.read_table(2_000_000, 10_000)
    sizes.read_dump(dump.encode())

    assert guess == 1_250_000
    table = 10_000 * len(f"0x1000008ed7b0002\n\t{path}\n")
    assert table < by_dump < 1.5 * table
    assert sizes.expected(10_000) == 2_500_000


def test_a_table_that_cannot_have_been_counted_gives_no_estimate() -> None:
    """Its watches went after they were counted; those that come next may have any size."""
    sizes = TableSizeEstimate()
    sizes.read_table(2_000_000, 10_000)
    sizes.read_table(1, 5_000)

    assert sizes.expected(10_000) == 2_500_000


def test_a_dump_without_ephemerals_gives_no_estimate() -> None:
    """Nor does an empty table."""
    sizes = TableSizeEstimate()
    sizes.read_dump(b"SessionTracker dump:\nephemeral nodes dump:\n")
    sizes.read_table(1, 0)

    assert sizes.expected(100) == TableSizeEstimate().expected(100)


def test_the_kernel_reports_its_buffer_size() -> None:
    """The size is at least that of a default socket."""
    assert kernel_buffer_bytes() >= 64_000


def _closed(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe
        pipe.close()
