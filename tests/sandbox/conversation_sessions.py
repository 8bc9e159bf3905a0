"""The part of the conversation about watches, sessions and protocol errors."""

import time

from sandbox.raw_client import (
    ANY,
    CHILDREN,
    DATA,
    PERSISTENT,
    RECURSIVE,
    i32,
    i64,
    multi,
    new,
    path_of,
    texts,
    txt,
    versioned,
    written,
)


def watching(_tape, a, b):
    """One-shot watches fire once, before the answer to a later read."""
    for what, path in (("exists", "/e"), ("exists", "/e/c"), ("get", "/e"), ("children", "/e")):
        b(what, path_of(path, watch=True), f"{path}, watched")
    a("create", new("/e"), "/e")
    b.read_events()
    b("get", path_of("/e", watch=True), "/e, watched")
    b("children", path_of("/e", watch=True), "/e, watched")
    a("create", new("/e/c"), "/e/c")
    b.read_events()
    a("set", written("/e/c"), "/e/c, no longer watched")
    a("set", written("/e"), "/e")
    a("set", written("/e"), "/e again")
    b.read_events()
    for what in ("exists", "get", "children", "children2"):
        b(what, path_of("/e/c", watch=True), "/e/c, watched")
        b(what, path_of("/e", watch=True), "/e, watched")
    a("delete", versioned("/e/c"), "/e/c")
    b("children", path_of("/e"), "/e, after its event")
    a("delete", versioned("/e"), "/e")
    b.read_events()
    b("get", path_of("/e", watch=True), "/e is gone, no watch")
    a("get", path_of("/c", watch=True), "/c, watched by A itself")
    a(
        "multi",
        multi((5, written("/c")), (5, written("/c", b"2")), (1, new("/e"))),
        "A hears first",
    )
    a("delete", versioned("/e"), "/e")
    b.read_events()


def watching_on(_tape, a, b):
    """Persistent watches in both modes, and what replaces them."""
    a("create", new("/p"), "/p")
    b("add-watch", txt("/p") + i32(PERSISTENT), "/p persistent")
    b("add-watch", txt("/p/r") + i32(RECURSIVE), "/p/r recursive")
    b("add-watch", txt("/p") + i32(7), "a mode that is none")
    for path in ("/p/r", "/p/r/1", "/p/r/1/2", "/p/s"):
        a("create", new(path), path)
    a("set", written("/p/r/1/2"), "/p/r/1/2")
    a("set", written("/p"), "/p")
    b.read_events()
    for path in ("/p/r/1/2", "/p/r/1", "/p/r"):
        a("delete", versioned(path), path)
    a("create", new("/p/r"), "/p/r comes back")
    b.read_events()
    for path, kind in (
        ("/p", ANY),
        ("/p/r", DATA),
        ("/p/r", CHILDREN),
        ("/p/r/1", ANY),
        ("/p", 9),
    ):
        b("check-watches", txt(path) + i32(kind), f"{path} kind {kind}")
    b("get", path_of("/p", watch=True), "/p: a plain watch replaces the persistent one")
    a("set", written("/p"), "/p")
    a("set", written("/p"), "/p again")
    a("create", new("/p/t"), "/p/t")
    b.read_events()


def taking_back(_tape, a, b):
    """Watches are removed by path and kind."""
    for path, kind in (("/p/s", ANY), ("/p", DATA), ("/p", CHILDREN), ("/p", ANY), ("/p/r", ANY)):
        b("remove-watches", txt(path) + i32(kind), f"{path} kind {kind}")
    b("exists", path_of("/p/later", watch=True), "/p/later, watched")
    b("remove-watches", txt("/p/later") + i32(DATA), "/p/later")
    a("create", new("/p/later"), "/p/later")
    a("set", written("/p/r"), "/p/r")
    b.read_events()


def not_hearing(_tape, a, b):
    """A client that may not read a znode receives no event for it."""
    b("add-watch", txt("/") + i32(RECURSIVE), "all")
    a("create", new("/p/u"), "/p/u")
    a("create", new("/p/secret", acl=[(31, "auth", "")]), "/p/secret, not for B")
    a("set", written("/p/secret"), "/p/secret")
    a("delete", versioned("/p/secret"), "/p/secret")
    b.read_events()
    b("remove-watches", txt("/") + i32(ANY), "all")


def coming_back(tape, a, b):
    """A session is resumed, and its watches are set again with what was missed."""
    for path in ("/r", "/r/gone", "/r/same", "/r/new"):
        a("create", new(path), path)
    b("create", new("/r/mine", flags=1), "B's ephemeral")
    b("exists", path_of("/r/later", watch=True), "/r/later, watched")
    a("set", written("/r/same"), "the last that B has seen")
    since = b.raw.ask(11, xid=-2)[-1].zxid
    b.raw.line.close()
    a("delete", versioned("/r/gone"), "/r/gone")
    a("set", written("/r/new"), "/r/new")
    a("create", new("/r/there"), "/r/there")
    b2 = tape.client("B", session=b.raw.session, password=b.raw.password, zxid=since)
    data, exists = ["/r/gone", "/r/new", "/r/same"], ["/r/gone", "/r/there"]
    watched = texts(data) + texts(exists) + texts(["/r/gone", "/r", "/r/same"])
    b2("set-watches", i64(since) + watched, xid=-8)
    a("set", written("/r/same"), "/r/same")
    a("create", new("/r/gone"), "/r/gone")
    b2.read_events()
    persistent = texts(["/r"]) + texts(["/r/same"])
    b2("set-watches2", i64(since) + texts([]) * 3 + persistent, xid=-8)
    a("set", written("/r/same"), "/r/same")
    for path in ("/r/same/below", "/r/more"):
        a("create", new(path), path)
    b2.read_events()
    a("exists", path_of("/r/mine"), "B's ephemeral is still there")
    b2("close")
    b2.ends()


def taking_over(tape, a, _b):
    """A session has one connection; a request for it without the password ends that one too."""
    f = tape.client("F")
    f("create", new("/r/own", flags=1), "F's ephemeral")
    session, password = f.raw.session, f.raw.password
    again = tape.client("F", session=session, password=password)
    f.ends()
    stranger = tape.client("D", session=session, password=b"wrong password..")
    stranger.ends()
    again.ends()
    last = tape.client("F", session=session, password=password)
    a("children", path_of("/r", watch=True), "/r, watched")
    last("close")
    last.ends()
    a("exists", path_of("/r/own"), "F's ephemeral is gone")
    late = tape.client("F", session=session, password=password)
    late.ends()


def expiring(tape, a, _b):
    """An expired session's ephemerals are deleted in one transaction."""
    a("create", new("/x"), "/x")
    dying = tape.client("E", timeout_ms=1)
    dying("create", new("/x/1", flags=1), "/x/1")
    dying("create", new("/x/2", flags=1), "/x/2")
    before = a.raw.ask(11, xid=-2)[-1].zxid
    a("add-watch", txt("/x") + i32(RECURSIVE), "/x recursive")
    events = []
    deadline = time.monotonic() + 10
    while len(events) < 2 and time.monotonic() < deadline:
        events += a.raw.ask(11, xid=-2)[:-1]
        time.sleep(0.02)
    for event in sorted(events, key=lambda event: event.body):
        a.write_down(event, 11)
    after = a.raw.ask(11, xid=-2)[-1].zxid
    tape.lines.append(f"zxids used: {after - before}")
    a("children2", path_of("/x"), "/x")
    dying.ends()


def misbehaving(tape, a, _b):
    """What ends a connection, and only that one."""
    for about, body in (("empty", b""), ("short", b"\0\0\0"), ("no operation", i32(1))):
        d = tape.client("D")
        tape.lines.append(f"D> {about}")
        d.raw.send_frame(body)
        d.ends()
    for length in (-1, 0x100000, 0x7FFF_FFFF):
        d = tape.client("D")
        tape.lines.append(f"D> a frame of {length} bytes")
        d.raw.line.sendall(i32(length))
        d.ends()
    d = tape.client("D")
    d("unknown", b"", "operation 77")
    d.ends()
    for what in ("create", "get", "multi", "set-watches", "add-watch"):
        d = tape.client("D")
        d(what, b"\0\0", "cut short")
        d.raw.line.close()
    a("ping", xid=-2)


SCENES = (
    watching,
    watching_on,
    taking_back,
    not_hearing,
    coming_back,
    taking_over,
    expiring,
    misbehaving,
)
