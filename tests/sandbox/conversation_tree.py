"""The part of the conversation about the tree: writes, reads, ACLs, refusals."""

from sandbox.raw_client import (
    ANYONE_READS,
    i64,
    multi,
    new,
    path_of,
    proof,
    secured,
    txt,
    versioned,
    written,
)


def creating(_tape, a, b):
    """Every mode of create, and every refusal of one."""
    a("create", new("/c"), "/c")
    a("create", new("/c"), "/c again")
    a("create", new("/no/parent"), "/no/parent")
    a("create", new("relative"), "relative")
    for path in (
        "/c/",
        "/c//d",
        "/c/.",
        "/c/../d",
        "/c/a\0b",
        "/c/\x01",
        "/c/\x1f",
        "/c/é",
        "",
        "/",
    ):
        a("create", new(path), repr(path))
    for path in (
        "/c/\ufff0",
        "/c/\ufff1",
        "/c/\uf8ff",
        "/c/\ue000",
        "/c/\U0001f512",
        "/c/\x7f\x9f",
    ):
        a("create", new(path), repr(path))
    for flags in range(-1, 8):
        a("create", new("/c/f", flags=flags), f"/c/f flags {flags}")
    a("create2", new("/c/e2-", b"", flags=3), "ephemeral sequential")

    a("create", new("/c/", flags=2), "sequential without a name")
    a("create2", new("/c/none", None), "without data")
    a("container", new("/c/box", flags=4), "/c/box")
    a("ttl", new("/c/short", flags=5) + i64(60_000), "/c/short")
    a("ttl", new("/c/short-", flags=6) + i64(60_000), "/c/short- sequential")
    for ttl in (0, -5, 0xFF_FFFF_FFFF, 0x100_0000_0000):
        a("ttl", new(f"/c/t{ttl}", flags=5) + i64(ttl), f"ttl {ttl}")
    a("ttl", new("/c/odd", flags=0) + i64(5), "ttl, but not by its flags")
    a("create", new("/c/acl", acl=[]), "no access list")
    a("create", new("/no/acl", acl=[]), "no access list, no parent")
    b("create2", new("/c/b", flags=1), "B's ephemeral")
    a("create", new("/c/b/below"), "below an ephemeral")
    a("exists", path_of("/c"), "/c")


def reading(_tape, a, _b):
    """Reads of existing and missing znodes."""
    for path in ("/c", "/", "", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "/c/", "c"):
        for what in ("exists", "get", "children", "children2"):
            a(what, path_of(path), repr(path))
        for what in ("get-acl", "count", "sync"):
            a(what, txt(path), repr(path))
    a("exists", path_of("/c/a\0b"), "a null character")
    a("get", path_of("/c/none"), "no data")
    for prefix in (None, "", "/", "/c", "/c/e", "/no", " "):
        a("ephemerals", txt(prefix), repr(prefix))
    a("multi-read", multi((4, path_of("/c")), (8, path_of("/c")), (4, path_of("/no"))))
    a("multi-read", multi())
    a("multi-read", multi((4, path_of("/c")), (1, new("/q"))), "with a write")


def writing(_tape, a, _b):
    """Versions, and refused deletes."""
    a("create2", new("/w"), "/w")
    a("set", written("/w"), "/w")
    a("set", written("/w", b"more", 1), "/w at 1")
    a("set", written("/w", b"late", 1), "/w at 1 again")
    a("set", written("/w", None), "/w to nothing")
    a("set", written("/no"), "/no")
    a("set", written("/w/"), "/w/")
    a("set", written("/zookeeper/config"), "the config")
    a("delete", versioned("/w", 7), "/w at 7")
    a("delete", versioned("/c"), "/c, which has children")
    for path in (
        "/",
        "/zookeeper",
        "/zookeeper/quota",
        "/zookeeper/config",
        "",
        "w",
        "/w/",
        "/no",
    ):
        a("delete", versioned(path), repr(path))
    a("delete", versioned("/w"), "/w")
    a("check", versioned("/c", 7), "/c at 7, alone")
    a("check", versioned("/no"), "/no, alone")
    a("reconfig", txt(None) * 3 + i64(-1))


def counting(_tape, a, _b):
    """Sequence numbers count creates, not children."""
    a("create", new("/s"), "/s")
    for _ in range(2):
        a("create", new("/s/n-", flags=2), "/s/n-")
    a("delete", versioned("/s/n-0000000001"), "the newest")
    a("create", new("/s/plain"), "/s/plain")
    a("create", new("/s/m-", flags=2), "/s/m-")
    a("create", new("/s/n-0000000004"), "the next number, taken")
    a("create", new("/s/n-0000000005"), "the number after it, taken")
    a("create", new("/s/n-", flags=2), "/s/n-")
    a("exists", path_of("/s"), "/s")


def many_at_once(_tape, a, b):
    """A multi is applied as a whole or not at all."""
    a("multi", multi(), "nothing")
    a(
        "multi",
        multi(
            (1, new("/m")),
            (15, new("/m/two")),
            (19, new("/m/box", flags=4)),
            (21, new("/m/ttl", flags=5) + i64(9999)),
            (1, new("/m/by-flag", flags=4)),
            (19, new("/m/no-box", flags=0)),
            (1, new("/m/q-", flags=2)),
            (1, new("/m/q-", flags=3)),
            (5, written("/m")),
            (5, written("/m", b"twice", 1)),
            (13, versioned("/m", 2)),
            (2, versioned("/m/two", 0)),
            (1, new("/m/two", b"again")),
        ),
        "all kinds",
    )
    a("children2", path_of("/m"), "/m")
    b("exists", path_of("/m/half", watch=True), "/m/half, watched")
    failures = {
        "exists": (1, new("/m")),
        "no node": (2, versioned("/m/no")),
        "bad version": (13, versioned("/m", 9)),
        "not empty": (2, versioned("/m")),
        "bad flags": (1, new("/m/x", flags=9)),
        "no parent": (1, new("/m/x/y")),
        "bad path": (5, written("/m/")),
    }
    for about, op in failures.items():
        a("multi", multi((1, new("/m/half")), op, (1, new("/m/x")), (2, versioned("/no"))), about)
    a("multi", multi((1, new("/m/p")), (1, new("/m/p/q")), (2, versioned("/m/p"))), "own child")
    a("multi", multi((1, new("/m/p")), (2, versioned("/m/p")), (5, written("/m/p"))), "own grave")
    a("multi", multi((4, path_of("/m"))), "a read")
    a("multi", multi((7, secured("/m", ANYONE_READS))), "an access list")
    a("multi", multi((77, b"")), "an unknown operation")
    b.read_events()
    a("create", new("/m/q-", flags=2), "the number after failed multis")
    a("create", new("/m/half"), "/m/half")
    b.read_events()
    a("children2", path_of("/m"), "/m")


def guarding(_tape, a, b):
    """Authentication, and what other clients are refused."""
    a("who-am-i")
    a("create", new("/g", acl=[(31, "auth", "")]), "auth without having proved anything")
    a("auth", proof("digest", b"ann:secret"), xid=-4)
    a("who-am-i")
    a("create", new("/g", acl=[(31, "auth", "")]), "auth")
    a("get-acl", txt("/g"), "/g")
    b("get-acl", txt("/g"), "/g")
    for what in ("get", "children", "children2", "exists"):
        b(what, path_of("/g"), "/g")
    b("count", txt("/g"), "/g")
    b("set", written("/g"), "/g")
    b("create", new("/g/b"), "/g/b")
    b("set-acl", secured("/g", ANYONE_READS), "/g")
    b("multi-read", multi((4, path_of("/g")), (8, path_of("/g"))))
    b("multi", multi((1, new("/g2")), (13, versioned("/g"))), "check without READ")
    a("create", new("/g/child"), "/g/child")
    b("delete", versioned("/g/child"), "/g/child")


def changing_guards(_tape, a, b):
    """ACLs have versions, and hashes are hidden without ADMIN."""
    a("set-acl", secured("/g", [(1, "world", "anyone"), (31, "auth", "")]), "/g")
    b("get", path_of("/g"), "/g")
    b("get-acl", txt("/g"), "/g, hash masked")
    a("set-acl", secured("/g", ANYONE_READS, 0), "/g at 0")
    a("set-acl", secured("/g", ANYONE_READS, 1), "/g at 1")
    a("set-acl", secured("/g", ANYONE_READS), "/g, no ADMIN left")
    a("set-acl", secured("/no", ANYONE_READS), "/no")
    a("set-acl", secured("/g/", ANYONE_READS), "/g/")
    a("set-acl", secured("/zookeeper/config", ANYONE_READS), "the config")


def naming(tape, a, b):
    """Schemes, their ids, and an unknown scheme."""
    bad = ["world:other", "nix:a", "digest:a", "digest:a:b:c", "ip:1.2.3", "ip:1.2.3.4/33"]
    good = ["digest:a:b", "ip:127.0.0.0/8", "ip:1.2.3.4", "ip:127.0.0.1/32"]
    for number, one in enumerate(bad + good):
        scheme, _, name = one.partition(":")
        a("create", new(f"/g-{number}", acl=[(31, scheme, name)]), one)
    twice = [(31, "ip", "127.0.0.0/8"), (31, "ip", "127.0.0.0/8"), (1, "world", "anyone")]
    a("create", new("/g-ip", acl=twice), "ip, doubled")
    a("get-acl", txt("/g-ip"), "/g-ip")
    b("set", written("/g-ip"), "/g-ip by address")
    a("create", new("/g-far", acl=[(31, "ip", "10.0.0.0/8")]), "another network")
    a("get", path_of("/g-far"), "/g-far")
    c = tape.client("C")
    c("auth", proof("nix", b"a:b"), "unknown scheme", xid=-4)
    c.ends()
    again = tape.client("C", session=c.raw.session, password=c.raw.password)
    again("close")
    again.ends()


SCENES = (
    creating,
    reading,
    writing,
    counting,
    many_at_once,
    guarding,
    changing_guards,
    naming,
)
