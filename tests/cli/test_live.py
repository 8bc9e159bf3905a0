"""The live commands, with contenders and zktop in processes of their own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import jsonschema
import msgspec
import pytest
from cli.live_processes import PATIENCE_S, Line, Worker, new_root, worker, zktop_process
from each_server import EITHER, server_of
from kazoo.client import KazooClient
from kazoo.security import make_digest_acl
from servers import RunningServer, ask, free_port, sandbox_server

from zktop.app.connection_settings import access_of, plan_of
from zktop.app.live_run import LiveRun
from zktop.app.replay import Replay
from zktop.cli.schema import _schema
from zktop.config.keys_and_defaults import Config
from zktop.model.report import Report
from zktop.model.session_ids import session_id, session_text
from zktop.output.event_stream import EventStream
from zktop.output.snapshot_json import snapshot
from zktop.recording import Header, Recorder

Zktop = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module", params=EITHER)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """The sandbox, and a real server."""
    with server_of(request.param) as server:
        yield server


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningServer]:
    """The sandbox, where a real server would make no difference."""
    with sandbox_server() as server:
        yield server


@pytest.fixture
def root() -> str:
    """A path that no other test uses."""
    return new_root()


@pytest.fixture
def workers() -> Iterator[Callable[[str, str], Worker]]:
    """Starts contenders that end with the test."""
    with ExitStack() as stack:
        yield lambda hosts, name: stack.enter_context(worker(hosts, name))


Hire = Callable[[str, str], Worker]


def ab_ba(server: RunningServer, root: str, hire: Hire) -> tuple[Worker, Worker]:
    """A deadlock: alice holds orders and wants stock; bob the other way round."""
    alice, bob = hire(server.address, "alice"), hire(server.address, "bob")
    alice.acquire(f"{root}/orders")
    bob.acquire(f"{root}/stock")
    alice.ask(f"{root}/stock")
    bob.ask(f"{root}/orders")
    return alice, bob


def test_a_snapshot_has_holders_waiters_and_deadlock(
    zktop: Zktop, server: RunningServer, root: str, workers: Hire
) -> None:
    """Also what waiters wait for and watch."""
    alice, bob = ab_ba(server, root, workers)

    code, out, err = zktop("snapshot", "--hosts", server.address, "--root", f"{root}/*")

    taken = json.loads(out)
    orders, stock = taken["locks"]
    ids = [session_text(session_id(one.session)) for one in (alice, bob)]
    assert (code, err) == (0, "")
    jsonschema.validate(taken, _schema("snapshot"))
    assert [lock["path"] for lock in taken["locks"]] == [f"{root}/orders", f"{root}/stock"]
    assert [_who(orders), _who(stock)] == [(["alice"], ["bob"]), (["bob"], ["alice"])]
    assert [lock["layout"] for lock in taken["locks"]] == ["kazoo-lock"] * 2
    for lock in (orders, stock):
        (holder,), (waiter,) = lock["holders"], lock["waiters"]
        assert waiter["blocked_by"] == [holder["node"]]
        assert waiter["watch"]["actual"] == [f"{lock['path']}/{holder['node']}"]
        assert waiter["watch"]["verdict"] == "confirmed"
    assert [one["rule"] for one in taken["deadlocks"]] == ["D1"]
    assert sorted(taken["deadlocks"][0]["actors"]) == sorted(ids)
    assert taken["sessions"][ids[0]]["holds"] == [f"{root}/orders"]
    assert taken["source"]["hosts"] == server.address
    assert taken["cost"]["watches"] == 1


def _who(lock: Line) -> tuple[list[str], list[str]]:
    return (
        [one["owner"] for one in lock["holders"]],
        [one["owner"] for one in lock["waiters"]],
    )


@pytest.mark.parametrize("form", ["text", "dot", "mermaid"])
def test_a_snapshot_comes_in_other_forms(
    zktop: Zktop, sandbox: RunningServer, root: str, workers: Hire, form: str
) -> None:
    """All of them name the lock and its contenders."""
    workers(sandbox.address, "alice").acquire(f"{root}/a")
    workers(sandbox.address, "bob").ask(f"{root}/a")
    where = ("--hosts", sandbox.address, "--root", f"{root}/*")

    code, out, err = zktop("snapshot", *where, "--format", form)

    assert (code, err) == (0, "")
    assert all(text in out for text in (f"{root}/a", "alice", "bob"))


def test_events_list_exactly_what_happened(
    server: RunningServer, root: str, workers: Hire
) -> None:
    """One line for each event, in order, and each fits the schema."""
    alice, bob = workers(server.address, "alice"), workers(server.address, "bob")
    alice.acquire(f"{root}/first")
    args = ("--hosts", server.address, "--root", f"{root}/*")
    with zktop_process("events", *args) as zktop:
        zktop.until(lambda line: line["event"] == "connection")
        bob.ask(f"{root}/first")
        zktop.until(lambda line: line["event"] == "queued")
        alice.release(f"{root}/first")
        zktop.until(lambda line: line["event"] == "acquired")
        alice.acquire(f"{root}/second")
        zktop.until(lambda line: line["event"] == "acquired" and line["lock"].endswith("second"))
        alice.ask(f"{root}/first")
        zktop.until(lambda line: line["event"] == "queued" and line["owner"] == "alice")
        bob.ask(f"{root}/second")
        lines = zktop.until(lambda line: line["event"] == "deadlock")

    for line in lines:
        jsonschema.validate(line, _schema("events"))
    happened = [line for line in lines if line["event"] != "finding"]
    assert [_brief(line, root) for line in happened] == [
        ("connection", None, None),
        ("queued", "first", "bob"),
        ("released", "first", "alice"),
        ("acquired", "first", "bob"),
        ("lock-appeared", "second", None),
        ("queued", "second", "alice"),
        ("acquired", "second", "alice"),
        ("queued", "first", "alice"),
        ("queued", "second", "bob"),
        ("deadlock", "second", None),
    ]


def _brief(line: Line, root: str) -> tuple[str, str | None, str | None]:
    lock = line.get("lock")
    return line["event"], lock and lock.removeprefix(f"{root}/"), line.get("owner")


def test_a_replay_has_the_same_reports_and_events(
    sandbox: RunningServer, root: str, workers: Hire, tmp_path: Path
) -> None:
    """Look by look, byte by byte: snapshots and events of the live run and of its recording."""
    config = Config(hosts=sandbox.address, roots=(f"{root}/**",))
    file = tmp_path / "run.zktop"
    with LiveRun(access_of(config), plan_of(config, 0.3), config.settings()) as watch:
        assert watch.read()
        with file.open("wb") as out:
            watch.recorder = Recorder(out, _header(watch))
            live = [msgspec.structs.replace(next(watch.reports()), cost=None)]
            ab_ba(sandbox, root, workers)
            for report in watch.reports(PATIENCE_S):
                live.append(msgspec.structs.replace(report, cost=None))
                if report.deadlocks and len(live) > 6:
                    break
            watch.recorder.close()

    replayed = list(Replay(file).reports())

    assert live[-1].deadlocks
    assert [_line(report) for report in live] == [_line(report) for report in replayed]
    assert _events(live) == _events(replayed)


def _header(watch: LiveRun) -> Header:
    return Header(tool="zktop", hosts=watch.hosts, roots=[], settings=watch.settings)


def _line(report: Report) -> bytes:
    return msgspec.json.encode(snapshot(report))


def _events(reports: list[Report]) -> list[bytes]:
    teller = EventStream()
    return [msgspec.json.encode(line) for report in reports for line in teller.events(report)]


def test_every_command_with_from_reads_a_recording(
    zktop: Zktop, sandbox: RunningServer, root: str, workers: Hire, tmp_path: Path
) -> None:
    """By every command that takes --from."""
    ab_ba(sandbox, root, workers)
    file = str(tmp_path / "run.zktop")
    where = ("--hosts", sandbox.address, "--root", f"{root}/*")

    code, out, err = zktop("record", *where, "-o", file, "--duration", "4s")
    taken, events, check = (
        zktop(name, "--from", file) for name in ("snapshot", "events", "check")
    )

    assert (code, out) == (0, "")
    assert "2 locks, 1 deadlock at the end" in err
    assert [lock["path"] for lock in json.loads(taken[1])["locks"]] == [
        f"{root}/orders",
        f"{root}/stock",
    ]
    assert '"event":"deadlock"' in events[1]
    assert check[0] == 1
    assert check[1].startswith("D1 ")


def test_check_finds_a_live_deadlock(
    zktop: Zktop, server: RunningServer, root: str, workers: Hire
) -> None:
    """Seen twice, two seconds apart."""
    ab_ba(server, root, workers)

    code, out, err = zktop("check", "--hosts", server.address, "--root", f"{root}/*")

    assert (code, err) == (1, "")
    assert out.startswith("D1 deadlock (C")
    assert "alice" in out


def test_check_is_fine_with_a_queue(
    zktop: Zktop, sandbox: RunningServer, root: str, workers: Hire
) -> None:
    """Waiting is not a problem."""
    workers(sandbox.address, "alice").acquire(f"{root}/a")
    workers(sandbox.address, "bob").ask(f"{root}/a")

    code, out, err = zktop("check", "--hosts", sandbox.address, "--root", f"{root}/*")

    assert (code, err) == (0, "")
    assert out.startswith("OK: 1 lock, 0 deadlocks\n")


def test_a_server_that_is_down_is_reported(
    zktop: Zktop, sandbox: RunningServer, root: str, workers: Hire, tmp_path: Path
) -> None:
    """By check and snapshot, live and from a recording; it does not change the exit code."""
    workers(sandbox.address, "alice").acquire(f"{root}/a")
    dead, file = f"127.0.0.1:{free_port()}", str(tmp_path / "run.zktop")
    live = ("--hosts", f"{sandbox.address},{dead}", "--root", f"{root}/*")
    zktop("record", *live, "-o", file, "--duration", "2s")

    for where in live, ("--from", file):
        code, out, _ = zktop("check", *where)
        _, shot, _ = zktop("snapshot", *where)

        shown = f"warning: P13 member-down (C4): {dead} is down: connection refused (noticed at "
        assert code == 0
        assert any(line.startswith(shown) for line in out.splitlines()), out
        assert "1 of 2 servers answered." in out
        servers = {one["address"]: one for one in json.loads(shot)["source"]["servers"]}
        assert (servers[dead]["state"], servers[dead]["error"]) == ("down", "connection refused")
        assert servers[dead]["since"] is not None
        assert (servers[sandbox.address]["state"], servers[sandbox.address]["since"]) == (
            "up",
            None,
        )


@pytest.mark.parametrize("command", ["snapshot", "check"])
def test_no_lock_ends_with_4(zktop: Zktop, sandbox: RunningServer, command: str) -> None:
    """The error names the root that did not match."""
    code, _, err = zktop(command, "--hosts", sandbox.address, "--root", "/*/nothing-here")

    assert code == 4
    assert err.startswith("No lock was found at /*/nothing-here.")


@pytest.mark.parametrize("command", ["snapshot", "check"])
def test_a_mistyped_root_is_named(
    zktop: Zktop, server: RunningServer, root: str, workers: Hire, command: str
) -> None:
    """Code 4, with a suggestion; the other root is read all the same."""
    workers(server.address, "alice").acquire(f"{root}/a")
    where = ("--hosts", server.address, "--root")

    code, _, err = zktop(command, *where, f"{root}x/**")
    both, out, _ = zktop(command, *where, f"{root}x/**", "--root", f"{root}/**")

    assert code == 4
    assert err.startswith(f"{root}x (root {root}x/**) does not exist (yet). Did you mean {root}")
    assert both == 0
    assert "does not exist (yet)" in out


@pytest.mark.parametrize("command", ["snapshot", "check"])
def test_a_root_that_an_acl_hides_is_named(
    zktop: Zktop, server: RunningServer, root: str, command: str
) -> None:
    """Code 4, with how much is hidden."""
    client = KazooClient(server.address, auth_data=[("digest", "keeper:secret")])
    client.start()
    try:
        acl = [make_digest_acl("keeper", "secret", all=True)]
        client.create(f"{root}/secret", makepath=True, acl=acl)
        for name in ("a", "b"):
            client.create(f"{root}/secret/{name}")

        code, _, err = zktop(command, "--hosts", server.address, "--root", f"{root}/secret/*")
    finally:
        client.stop()
        client.close()

    assert code == 4
    assert err.startswith(
        f"zktop is not allowed to list {root}/secret (root {root}/secret/*): 2 children"
    )


@pytest.fixture
def hidden_lock(server: RunningServer, root: str) -> Iterator[str]:
    """A lock that zktop may not list, with a contender in it."""
    client = KazooClient(server.address, auth_data=[("digest", "keeper:secret")])
    client.start()
    acl = [make_digest_acl("keeper", "secret", all=True)]
    client.ensure_path(root)
    client.create(f"{root}/hidden", acl=acl)
    client.create(f"{root}/hidden/lock-", ephemeral=True, sequence=True)
    yield f"{root}/hidden"
    client.stop()
    client.close()


@pytest.mark.parametrize("pattern", ["*", "**"])
def test_check_names_locks_that_an_acl_hides(
    zktop: Zktop,
    server: RunningServer,
    root: str,
    hidden_lock: str,
    workers: Hire,
    pattern: str,
) -> None:
    """Its verdict covers the other locks only, so it is UNKNOWN, for Nagios, too."""
    workers(server.address, "alice").acquire(f"{root}/a")
    where = ("--hosts", server.address, "--root", f"{root}/{pattern}")

    text, nagios = zktop("check", *where), zktop("check", *where, "--format", "nagios")

    hidden = f"warning: R4 hidden-by-acl (C4): The ACL of {hidden_lock} does not let zktop"
    assert text[0] == 0
    assert text[1].startswith(f"UNKNOWN: 2 locks, 0 deadlocks\n{hidden}")
    assert nagios[0] == 3
    assert nagios[1].startswith("ZKTOP UNKNOWN - 2 locks, 0 deadlocks | ")


def test_check_has_nothing_to_look_at_if_it_can_list_no_lock(
    zktop: Zktop, server: RunningServer, hidden_lock: str
) -> None:
    """As if there were none, but with the reason."""
    code, out, err = zktop("check", "--hosts", server.address, "--root", hidden_lock)

    assert (code, out) == (4, "")
    assert err.startswith(f"The ACL of {hidden_lock} does not let zktop list its children.")


@pytest.mark.parametrize("command", ["snapshot", "check"])
def test_a_missing_chroot_is_reported(zktop: Zktop, server: RunningServer, command: str) -> None:
    """It is often a typing mistake in --hosts."""
    code, _, err = zktop(command, "--hosts", f"{server.address}/no/such")

    assert code == 4
    assert "note: the chroot /no/such does not exist\n" in err


@pytest.mark.parametrize(
    "command", [("check", "--root"), ("snapshot", "--root"), ("free",)], ids=lambda words: words[0]
)
def test_a_path_that_repeats_the_chroot_is_corrected(
    zktop: Zktop, server: RunningServer, root: str, workers: Hire, command: tuple[str, ...]
) -> None:
    """People copy it from zkCli, which shows it from the top."""
    workers(server.address, "alice").acquire(f"{root}/a")

    code, _, err = zktop(*command, f"{root}/a", "--hosts", f"{server.address}{root}")

    assert code == 4
    assert err.splitlines()[-1].endswith(f" Paths begin below the chroot {root}: try /a.")


@pytest.fixture(scope="module")
def stranger() -> Iterator[str]:
    """A port on which another service answers."""
    code = "import http.server as h; s=h.HTTPServer(('127.0.0.1',0),h.SimpleHTTPRequestHandler);"
    code += "print(s.server_port, flush=True); s.serve_forever()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        yield f"127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


@pytest.mark.parametrize("command", ["snapshot", "events", "check", "record"])
@pytest.mark.parametrize(
    ("hosts", "sentence"),
    [
        ("127.0.0.1:1", "127.0.0.1:1 refuses connections: is ZooKeeper running there"),
        ("no-such-host.invalid:2181", "no-such-host.invalid: no such host name"),
        ("", "not like ZooKeeper"),
    ],
    ids=["closed", "unknown", "stranger"],
)
def test_no_connection_is_a_sentence(
    zktop: Zktop, stranger: str, tmp_path: Path, command: str, hosts: str, sentence: str
) -> None:
    """Code 3, on stderr, and nothing on stdout."""
    more = ("-o", str(tmp_path / "a.zktop")) if command == "record" else ()
    where = ("--hosts", hosts or stranger, "--connect-timeout", "3s")

    code, out, err = zktop(command, *where, *more)

    assert (code, out) == (3, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_events_with_130(sandbox: RunningServer, number: int) -> None:
    """Quietly, and its session is closed."""
    with zktop_process("events", "--hosts", sandbox.address) as zktop:
        (line,) = zktop.until(lambda line: line["event"] == "connection")
        zktop.process.send_signal(number)
        ended = zktop.ended()

    assert ended == (130, "")
    assert line["session"] not in ask(sandbox.port, "dump")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_recording_that_is_whole(
    zktop: Zktop, sandbox: RunningServer, tmp_path: Path, number: int
) -> None:
    """Its last line is complete."""
    file = tmp_path / "a.zktop"
    with zktop_process("record", "--hosts", sandbox.address, "-o", str(file)) as running:
        assert running.process.stderr
        assert running.process.stderr.readline() == "recording; ctrl-c ends it\n"
        running.process.send_signal(number)
        code, err = running.ended()

    assert code == 130
    assert err.startswith(f"{file}: ")
    code, out, err = zktop("events", "--from", str(file))
    assert (code, err) == (0, "")
    assert json.loads(out.splitlines()[0])["state"] == "connected"


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("/dev/full", "No space left on device"),
        ("/nowhere/a.zktop", "No such file or directory"),
        (".", "Is a directory"),
    ],
)
def test_a_recording_that_cannot_be_written_names_its_file(
    zktop: Zktop, sandbox: RunningServer, file: str, why: str
) -> None:
    """At the beginning or later."""
    code, out, err = zktop("record", "--hosts", sandbox.address, "-o", file)

    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"{file} cannot be written: {why}."


def test_a_closed_pipe_ends_events(sandbox: RunningServer) -> None:
    """Even if there is no event to write."""
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "zktop", "events", "--hosts", sandbox.address]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, text=True) as process:
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        code = process.wait(PATIENCE_S)
        assert process.stderr
        err = process.stderr.read()

    assert (code, err) == (0, "")


def test_a_lost_ensemble_is_an_event_and_ends_with_3() -> None:
    """Unless the connection is back at the end."""
    with sandbox_server() as server:
        args = ("events", "--hosts", server.address, "--duration", "8s")
        with zktop_process(*args) as zktop:
            zktop.until(lambda line: line["event"] == "connection")
            server.process.kill()
            lines = zktop.until(lambda line: line.get("state") == "suspended")
            code, err = zktop.ended()

    assert [line["state"] for line in lines] == ["connected", "suspended"]
    assert code == 3
    assert f"The connection to {server.address} was lost" in err


def test_the_sandbox_serves_until_it_is_interrupted() -> None:
    """Its address is the first thing it prints."""
    with zktop_process("sandbox", "--port", "0") as zktop:
        assert zktop.process.stdout
        address = json.loads(f'"{zktop._came.get(timeout=PATIENCE_S).strip()}"')
        answer = ask(int(address.rpartition(":")[2]), "ruok")
        zktop.process.send_signal(signal.SIGTERM)
        code, _ = zktop.ended()

    assert answer == "imok"
    assert code == 130


def test_at_needs_a_recording(zktop: Zktop) -> None:
    """An ensemble has no past."""
    code, out, err = zktop("snapshot", "--at", "+3s")

    assert (code, out) == (2, "")
    assert "--at needs --from" in err
