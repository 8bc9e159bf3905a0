"""`zktop report`: what it prints, and which options it refuses."""

import json
import signal
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from cli.live_processes import new_root, worker, zktop_process
from output.metrics.scrapes import INCIDENT
from servers import sandbox_server
from txnlog.log_writer import BOB, T0, LogWriter, paths, story

Zktop = Callable[..., tuple[int, str, str]]
DEMO = ("--from", str(INCIDENT))


def test_the_format_follows_from_the_name_of_the_file(zktop: Zktop, tmp_path: Path) -> None:
    """The JSON fits the schema; without a file, Markdown goes to stdout."""
    code, out, err = zktop("report", *DEMO, "-o", "a.json")
    assert (code, out) == (0, "")
    assert err.startswith("a.json: 1 deadlock, 2 other findings. Clients waited 2m43s in all;")
    schema = json.loads(zktop("schema", "report")[1])
    jsonschema.validate(json.loads((tmp_path / "a.json").read_text()), schema)

    code, out, err = zktop("report", *DEMO)
    assert (code, err) == (0, "")
    assert out.startswith("# Locks of 127.0.0.1:28555\n")


def test_a_report_never_replaces_its_recording(zktop: Zktop, tmp_path: Path) -> None:
    """A slip of the hand costs no evidence."""
    recording = tmp_path / "a.zktop"
    recording.write_bytes(INCIDENT.read_bytes())
    code, _, err = zktop("report", "--from", "a.zktop", "-o", "a.zktop")

    assert (code, "a.zktop is the recording to read" in err) == (2, True)
    assert recording.read_bytes() == INCIDENT.read_bytes()


@pytest.mark.parametrize(
    "command",
    [("report", *DEMO, "-o"), ("import", "a.html", "-o"), ("import", "-o", "a.zktop")],
    ids=["report", "import to", "import from"],
)
def test_a_link_to_itself_is_an_error_in_one_sentence(
    zktop: Zktop, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Python raises RuntimeError where other programs report the error of the system."""
    (tmp_path / "a.html").symlink_to("a.html")
    code, _, err = zktop(*command, "a.html")

    assert (code, err.count("\n")) == (2, 1)
    assert "Too many levels of symbolic links" in err or "write to another file" in err


def test_a_part_of_a_recording(zktop: Zktop) -> None:
    """What was before it is known, but not counted."""
    code, out, _ = zktop("report", *DEMO, "--since", "+20s", "--until", "+30s", "--format", "json")

    period = json.loads(out)
    assert (code, period["duration_s"]) == (0, 10)
    assert period["accounting"]["blocked_s"] < 70
    assert [one["ended"] for one in period["deadlocks"]] == [None]


def test_an_ensemble_is_watched_for_a_while(zktop: Zktop) -> None:
    """For a second, in which one client waits."""
    root = new_root()
    with sandbox_server() as server, worker(server.address, "alice") as alice:
        alice.acquire(f"{root}/orders")
        with worker(server.address, "bob") as bob:
            bob.ask(f"{root}/orders")
            to = ("--hosts", server.address, "--root", f"{root}/*")
            code, out, err = zktop("report", *to, "--duration", "1s", "--format", "json")

    assert (code, err) == (0, "watching; ctrl-c ends it and writes the report\n")
    (lock,) = json.loads(out)["accounting"]["locks"]
    assert lock["blocked_s"] == pytest.approx(1, abs=0.5)
    assert [one["name"] for one in lock["charged"]] == ["alice"]


def test_an_import_gives_exact_times(zktop: Zktop, tmp_path: Path) -> None:
    """Ann held for 20 ms; bob queued behind her for the last 10, and later his session expired."""
    log, nodes = story(), paths("/locks/a/lock-0000000001")
    log.records.pop()  # it ends bob's session while it is active, as an administrator does
    log.records += LogWriter(8, T0 + 60_000).add(BOB, -11, nodes, cxid=0).records
    (tmp_path / "log.1").write_bytes(log.bytes())
    zktop("import", "log.1", "-o", "a.zktop")

    _, out, _ = zktop("report", "--from", "a.zktop", "--format", "json")

    period = json.loads(out)
    ann, bob = period["accounting"]["clients"]
    assert (ann["name"], ann["blocked_others"]["at_least_s"]) == ("ann", 0.01)
    assert ann["figures"]["holds"]["max"] == {"s": 0.02, "is": "exact"}
    assert bob["figures"]["waits"]["max"] == {"s": 0.01, "is": "exact"}
    (ended,) = period["expiries"]
    assert (ended["owner"], [one["lock"] for one in ended["freed"]]) == ("bob", ["/locks/a"])


@pytest.mark.parametrize(
    ("records", "until", "held_s"),
    [(6, None, 0.01), (6, "12:05:00Z", 0.01), (8, "12:00:00.055Z", 0.015)],
)
def test_an_import_says_nothing_about_the_time_after_its_files(
    records: int, until: str | None, held_s: float, zktop: Zktop, tmp_path: Path
) -> None:
    """Ann has held for 10 ms at the last transaction; 5 ms later the next one ends it."""
    log = story()
    del log.records[records:]
    (tmp_path / "log.1").write_bytes(log.bytes())
    options = ("--until", f"2026-01-31T{until}") if until else ()
    zktop("import", "log.1", "-o", "a.zktop", *options)

    _, out, _ = zktop("report", "--from", "a.zktop", "--format", "json")

    ann, _ = json.loads(out)["accounting"]["clients"]
    assert ann["figures"]["holds"]["max"] == {"s": held_s, "is": "at-least"}


def test_ctrl_c_ends_the_watch_and_writes_the_report(tmp_path: Path) -> None:
    """The exit code says that it was interrupted."""
    page = tmp_path / "a.html"
    with sandbox_server() as server:
        to = ("--hosts", server.address, "-o", str(page))
        with zktop_process("report", *to) as watching:
            assert watching.process.stderr
            assert "watching" in watching.process.stderr.readline()
            watching.process.send_signal(signal.SIGINT)
            code, err = watching.ended()

    assert code == 130
    assert err.startswith(f"{page}: 0 deadlocks,")
    assert "No client was seen waiting for a measurable time." in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--since +1s", "--since and --until need --from: only a recording has a past."),
        (f"--from {INCIDENT} --duration 1s", "--duration does not go with --from: use --until."),
        (f"--from {INCIDENT} --since +9s --until +1s", "--until is before --since."),
        ("-o a.pdf", "a.pdf has none of the endings .html, .md, .json: add --format, or end it"),
        (f"--from {INCIDENT} -o none/a.md", "none/a.md cannot be written: No such file or"),
    ],
)
def test_options_that_do_not_fit_are_refused(zktop: Zktop, options: str, sentence: str) -> None:
    """One sentence says which."""
    code, out, err = zktop("report", *options.split())

    assert (code, out) == (2, "")
    assert err.startswith(sentence)


def test_a_period_without_a_report_is_nothing_to_look_at(zktop: Zktop) -> None:
    """It begins after the end."""
    code, _, err = zktop("report", *DEMO, "--since", "+1h")

    assert (code, err) == (4, "Nothing was seen in this period.\n")
