"""Requests to one server only read, take the whole answer, and end in time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zk.bad_servers import Behaviour, answers, hangs_up, listener, never_finishes, silent

from zktop.zk.connect.address import Address
from zktop.zk.servers import admin
from zktop.zk.servers import four_letter as words
from zktop.zk.servers.four_letter import RefusedError


@pytest.mark.parametrize("word", ["crst", "srst", "stmk", "kill", "wchp ", ""])
def test_words_that_change_something_are_never_sent(word: str) -> None:
    """Nothing is sent for a word that changes something."""
    sent = []
    with (
        listener(lambda line: sent.append(line.recv(10))) as address,
        pytest.raises(ValueError, match="read-only"),
    ):
        words.ask(address, word)

    assert b"".join(sent) == b""


@pytest.mark.parametrize(
    "name", ["connection_stat_reset", "stat_reset", "set_trace_mask", "restore", "../x"]
)
def test_commands_that_change_something_are_never_sent(name: str) -> None:
    """An admin command that changes something is not sent, although it is a plain GET."""
    with pytest.raises(ValueError, match="read-only"):
        admin.command(("127.0.0.1", 1), name)  # type: ignore[arg-type]  # it must not come that far


def test_a_large_answer_is_read_to_its_end() -> None:
    """An answer is read whole; kazoo's own client stops after 8 kB."""
    with listener(answers(b"x" * 5_000_000)) as address:
        assert len(words.ask(address, "wchc")) == 5_000_000


def test_an_answer_is_split_into_lines() -> None:
    """Only a line break ends a line."""
    with listener(answers("Ä\n/ö\u2028\n".encode() * 200_000)) as address:
        read = list(words.lines(words.ask(address, "dump")))

    assert read == ["Ä", "/ö\u2028"] * 200_000 + [""]


@given(st.text("aä\r\n\u2028", min_size=1))
def test_an_answer_that_is_cut_off_has_no_last_empty_line(answer: str) -> None:
    """The line behind the last line break tells a whole answer from one that is cut off."""
    assert list(words.lines(answer.encode())) == answer.split("\n")


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (answers(b"wchc is not executed because it is not in the whitelist.\n"), "whitelist"),
        (
            answers(b"This ZooKeeper instance is not currently serving requests\n"),
            "still starting",
        ),
        (answers(b""), "does not know it"),
        (hangs_up, "does not know it"),
        (silent, "no answer within 0.2 s"),
        (never_finishes, "no answer within 0.2 s"),
    ],
    ids=["whitelist", "no-quorum", "unknown", "hang-up", "silent", "endless"],
)
def test_a_refusal_says_why(behaviour: Behaviour, said: str) -> None:
    """Each kind of refusal is a blind spot with a reason."""
    with listener(behaviour) as address, pytest.raises(RefusedError, match=said):
        words.ask(address, "wchc", seconds=0.2)


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


def test_large_tables_are_not_decoded() -> None:
    """They are compared with the last ones first, as text."""
    body = b'{"session_id_to_watched_paths": {"1": ["/a"]}, "error": null}'
    with listener(answers(OK + body)) as address:
        answer = admin.command(address, "watches")

    assert answer == {admin.WATCHES: b'{"1": ["/a"]}', "error": None}


def test_an_admin_server_answers_an_object() -> None:
    """An answer of the AdminServer is an object; its bytes are counted."""
    counted: list[int] = []
    with listener(answers(OK + b'{"a": 1, "error": null}')) as address:
        answer = admin.command(address, "watches", count_bytes=counted.append)

    assert answer == {"a": 1, "error": None}
    assert counted == [len(OK) + 23]


def test_a_missing_admin_server_is_reported_with_its_setting() -> None:
    """The message has the setting that enables the AdminServer, off by default from 3.10 on."""
    no_server = Address("127.0.0.1", 1)
    with pytest.raises(RefusedError, match=r"refused \(admin.enableServer=true in zoo.cfg"):
        admin.command(no_server, "watches")


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (answers(OK + b'{"error": "Unknown command: x"}'), "Unknown command"),
        (answers(OK + b"<html>"), "not an AdminServer"),
        (answers(OK + b'{"a": "\xff"}'), "not an AdminServer"),
        (
            answers(OK + b'{ "session_id_to_watched_paths" : {"1" : ["/a", "/b'),
            "its end is missing",
        ),
        (answers(OK + b"[1]"), "not an AdminServer"),
        (answers(b"HTTP/1.1 401 Unauthorized\r\n\r\n{}"), "401 Unauthorized"),
        (answers(b"hello"), "not HTTP"),
        (answers(b""), "not HTTP"),
        (silent, "no answer within 0.2 s"),
    ],
    ids=[
        "unknown",
        "html",
        "bytes",
        "cut off",
        "list",
        "unauthorized",
        "text",
        "nothing",
        "silent",
    ],
)
def test_another_service_on_the_port_is_refused(behaviour: Behaviour, said: str) -> None:
    """Port 8080 may belong to another service."""
    with listener(behaviour) as address, pytest.raises(RefusedError, match=said):
        admin.command(address, "watches", seconds=0.2)
