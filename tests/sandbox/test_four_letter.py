"""The four-letter words look like those of a real server."""

import re
import socket

import pytest
from sandbox.raw_client import RawClient, i32, new, txt
from servers import ask

NUMBERS = (
    (r"3\.8\.0-\S+, built on .*", "VERSION"),
    (r"\w{3} \w{3} \d\d [\d:]{8} \w+ \d{4}", "DATE"),
    (r"0x[0-9a-f]+", "HEX"),
    (r"\d+\.\d+\.\d+\.\d+:\d+", "ADDRESS"),
    (r"-?\d+(\.\d+)?", "N"),
)


@pytest.fixture
def busy(either_fresh):
    """A server with a session that owns a znode and watches two paths."""
    with RawClient(either_fresh.port) as client:
        client.ask(1, new("/busy"))
        client.ask(1, new("/busy/mine", flags=1))
        client.ask(3, txt("/busy/mine") + b"\1")
        client.ask(3, txt("/nowhere") + b"\1")
        client.ask(8, txt("/busy") + b"\1")
        yield either_fresh, client
        client.ask(2, txt("/busy/mine") + i32(-1))
        client.ask(2, txt("/busy") + i32(-1))
        client.close_session()


SHAPES = {
    "ruok": "imok",
    "isro": "rw",
    "srvr": """\
Zookeeper version: VERSION
Latency min/avg/max: N/N/N
Received: N
Sent: N
Connections: N
Outstanding: N
Zxid: HEX
Mode: standalone
Node count: N
""",
    "stat": """\
Zookeeper version: VERSION
Clients:
 /ADDRESS[N](queued=N,recved=N,sent=N)
 /ADDRESS[N](queued=N,recved=N,sent=N)

Latency min/avg/max: N/N/N
Received: N
Sent: N
Connections: N
Outstanding: N
Zxid: HEX
Mode: standalone
Node count: N
""",
    "cons": """\
 /ADDRESS[N](queued=N,recved=N,sent=N)
 /ADDRESS[N](queued=N,recved=N,sent=N,sid=HEX,lop=GETC,est=N,to=N,lcxid=HEX,lzxid=HEX,\
lresp=N,llat=N,minlat=N,avglat=N,maxlat=N)

""",
    "wchs": "N connections watching N paths\nTotal watches:N\n",
    "wchc": "HEX\n\t/busy/mine\n\t/nowhere\n\n",
    "wchp": "/busy/mine\n\tHEX\n/nowhere\n\tHEX\n\n",
}


@pytest.mark.parametrize("word", SHAPES)
def test_shape(busy, word):
    """A word's answer, numbers aside, is the same on both servers."""
    server, _ = busy

    assert shape(ask(server.port, word)) == shape(SHAPES[word])


def shape(answer):
    """The answer without its numbers, connections in one order."""
    for pattern, name in NUMBERS:
        answer = re.sub(pattern, name, answer)
    lines = answer.split("\n")
    return sorted(lines)


def test_wchc(busy):
    """`wchc` names the session as `cons` does; watches on children are in no table."""
    server, client = busy
    session = f"{client.session:#x}"

    assert f"{session}\n\t/busy/mine\n" in ask(server.port, "wchc")
    assert f"sid={session}," in ask(server.port, "cons")
    assert "\t/busy\n" not in ask(server.port, "wchc")
    assert ask(server.port, "wchs") == "1 connections watching 2 paths\nTotal watches:2\n"


def test_dump(busy):
    """The dump has the session's expiry, its znodes and its connection."""
    server, client = busy
    answer = ask(server.port, "dump")
    session = f"{client.session:#x}"

    assert re.search(r"^Session Sets \(\d+\)/\(1\):$", answer, re.MULTILINE)
    assert re.search(rf"^1 expire at .* UTC \d{{4}}:\n\t{session}$", answer, re.MULTILINE)
    assert f"Sessions with Ephemerals (1):\n{session}:\n\t/busy/mine\n" in answer
    assert re.search(rf"^\tip: /127\.0\.0\.1:\d+ sessionId: {session}$", answer, re.MULTILINE)


MNTR = {"zk_ephemerals_count": "1", "zk_znode_count": "7", "zk_global_sessions": "1"}
MNTR |= {"zk_num_alive_connections": "2", "zk_watch_count": "3", "zk_server_state": "standalone"}
MNTR |= {
    "zk_outstanding_requests": "0",
    "zk_local_sessions": "0",
    "zk_approximate_data_size": "61",
}


def test_mntr(busy):
    """`mntr` counts correctly, under the names that monitors know."""
    server, _ = busy
    facts = dict(line.split("\t") for line in ask(server.port, "mntr").splitlines())

    assert {name: facts[name] for name in MNTR} == MNTR
    assert facts["zk_version"].startswith("3.8.0")
    assert int(facts["zk_packets_received"]) > 0


def test_conf(either_fresh):
    """`conf` has the port and the limits of session timeouts."""
    facts = dict(line.split("=", 1) for line in ask(either_fresh.port, "conf").splitlines())

    assert facts["clientPort"] == str(either_fresh.port)
    assert (facts["tickTime"], facts["minSessionTimeout"], facts["maxSessionTimeout"]) == (
        ("500", "1000", "10000")
    )


@pytest.mark.zookeeper
def test_no_lines_of_our_own(fresh_real, sandbox):
    """Each line of mntr, conf and envi has a name that real servers use."""
    for word, mark in (("mntr", "\t"), ("conf", "="), ("envi", "=")):
        ours, theirs = (
            {line.partition(mark)[0] for line in ask(server.port, word).splitlines()}
            for server in (sandbox, fresh_real)
        )

        assert ours <= theirs


def test_it_says_what_it_is(sandbox):
    """The version says that this is not a real server."""
    for word in ("srvr", "stat", "mntr", "envi"):
        assert "3.8.0-zktop-sandbox" in ask(sandbox.port, word)


def test_with_a_newline(either_fresh):
    """Words may be typed: what follows the four letters is ignored."""
    assert ask(either_fresh.port, "srvr\n") == ask(either_fresh.port, "srvr") or "Mode:" in ask(
        either_fresh.port, "srvr\r\n"
    )


def test_unknown_word(either_fresh):
    """An unknown word is read as the length of a frame, which is much too large."""
    assert ask(either_fresh.port, "what") == ""


def test_a_word_later_is_no_word(either_fresh):
    """Within a session four letters are the length of a frame, and end the connection."""
    with RawClient(either_fresh.port) as client:
        client.line.sendall(b"ruok")

        assert client.read_frame() is None


def test_half_a_word(either_fresh):
    """A connection that has sent less than four letters waits for the rest."""
    with socket.create_connection(("127.0.0.1", either_fresh.port), 5) as line:
        line.sendall(b"ru")
        line.sendall(b"ok")

        assert line.recv(10) == b"imok"
