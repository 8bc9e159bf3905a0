"""Foreign children in a lock: clients that wait for them, fail at them, or miss each other."""

import msgspec
import pytest
from model.findings.cases import (
    PATH,
    ZXID,
    At,
    all_rules,
    ctx,
    curator,
    facts,
    folded,
    found,
    history,
    k,
    only,
    shared_context,
    watching,
)
from model.make_facts import NOW, ZK1, session, world
from model.semaphores import (
    ANN_AT_CURATOR_GATE,
    ANN_CURATOR_LEASE,
    CURATOR_GATE,
    CURATOR_LEASES,
    POOL,
    created,
    folder,
)

from zktop.model.facts import Denied, Expiry, Stat, join
from zktop.model.findings.apply import examine_lock
from zktop.model.findings.context import LockContext
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

CONFIG, FIRST = At("config", ""), At("00-config", "", czxid=50)
ALICE, BOB = curator("alice", 1), curator("bob", 2)

A, B = k("alice", 0), k("bob", 1)


def gopher(owner: str, number: int, **more: object) -> At:
    """A contender of go-zookeeper."""
    return At(f"_c_{session(owner):032x}-lock-{number:010d}", owner, **more)


def test_b10_fires_for_a_child_that_will_never_be_released() -> None:
    """All versions of Curator sort it into the queue: nothing is left to doubt."""
    finding = only("B10", ctx(FIRST, ALICE, BOB))

    assert finding.sentence == (
        f"{PATH}/00-config is in the way in {PATH}: no client holds the lock, and none will "
        f"until {PATH}/00-config is deleted; 2 clients wait."
    )
    assert (finding.severity, finding.confidence) == ("critical", "C4")
    assert finding.nodes == ("00-config",)
    assert f"`zktop free {PATH}` prints how" in finding.advice


def test_b10_fires_for_one_that_came_after_the_holder() -> None:
    """The holder keeps the lock; the child blocks the waiter from its next listing on."""
    late = At("00-config", "", czxid=300)

    finding = only("B10", ctx(ALICE, BOB, late))

    assert finding.sentence == (
        f"{PATH}/00-config is in the way in {PATH}: 1 client waits for it, now or after the next "
        f"release, until {PATH}/00-config is deleted."
    )
    assert (finding.severity, finding.confidence) == ("warning", "C3")


def test_b10_is_critical_for_each_lock_of_a_folder() -> None:
    """Nobody will ever get the first one, while carol holds the other."""
    name = "_c_00000000-0000-0000-0000-00000000000{}-{}-{:010d}"
    carol = At(name.format(1, "stock", 1), "carol", czxid=40)
    bob, dan = At(name.format(2, "orders", 2), "bob"), At(name.format(3, "stock", 3), "dan")
    finding = only("B10", ctx(carol, At("0000", "", czxid=50), bob, dan))

    assert finding.sentence == (
        f"{PATH}/0000 is in the way in {PATH}: no client holds 1 of its 2 locks, and none will "
        f"until {PATH}/0000 is deleted; 1 client waits."
    )
    assert finding.severity == "critical"


def test_b10_names_two_obstacles() -> None:
    """Both must go."""
    finding = only("B10", ctx(FIRST, At("00-x", "", czxid=51), ALICE))

    assert finding.sentence == (
        f"{PATH}/00-config and {PATH}/00-x are in the way in {PATH}: no client holds the lock, "
        "and none will until these are deleted; 1 client waits."
    )
    assert "count them, and they sort first" in [one.text for one in finding.evidence][2]
    assert "then delete them" in finding.advice


@pytest.mark.parametrize(
    ("owner", "sessions"), [("cron", "the session that"), ("bob", "the sessions that")]
)
def test_b10_names_the_sessions_that_made_two_obstacles(owner: str, sessions: str) -> None:
    """One session may have made both."""
    case = ctx(At("00-x", "cron", czxid=50), At("00-y", owner, czxid=51), ALICE)

    assert only("B10", case).advice.startswith(f"End {sessions} made them, and keep")


def test_b10_names_two_that_came_after_the_holder() -> None:
    """Bob waits for both."""
    late = (At("00-config", "", czxid=300), At("00-x", "", czxid=301))

    assert " are in the way in " in (sentence := only("B10", ctx(ALICE, BOB, *late)).sentence)
    assert "1 client waits for them, now or after the next release, until these are" in sentence


def test_b10_fires_for_an_ephemeral_child() -> None:
    """It goes with its session, which is what to end."""
    finding = only("B10", ctx(At("00-x", "cron", czxid=50), ALICE))

    assert any("it belongs to cron" in one.text for one in finding.evidence)
    assert finding.advice.startswith("End the session")


def test_b10_names_the_library_whose_clients_wait() -> None:
    """Kazoo beside Curator does not count the child."""
    finding = only("B10", ctx(FIRST, ALICE, k("bob", 2), k("eve", 3)))

    assert finding.evidence[1].text == (
        "clients that use curator-mutex count it, and it sorts before them"
    )


def test_b10_is_less_sure_if_the_first_waiter_does_not_watch_the_child() -> None:
    """A client for Rust writes Curator's names, ignores the child, and has the lock."""
    seen = watching({"alice": ["/elsewhere"]})
    finding = only("B10", ctx(FIRST, ALICE, BOB, tables=[seen]))
    watched = only("B10", ctx(FIRST, ALICE, BOB, tables=[watching({"alice": [FIRST]})]))

    assert (finding.confidence, watched.confidence) == ("C3", "C4")
    assert any(
        "alice does not watch 00-config" in one.text
        for one in finding.evidence
        if one.supports is False
    )


def test_b10_is_not_refuted_by_a_child_watch_that_no_table_lists() -> None:
    """Clients of this layout watch the children of the lock."""
    alice, bob = At("lock_a_0000000001", "alice"), At("lock_b_0000000002", "bob")
    finding = only("B10", ctx(FIRST, alice, bob, tables=[watching({"alice": ["/elsewhere"]})]))

    assert all(one.supports is not False for one in finding.evidence)


def test_b10_is_not_refuted_if_the_first_waiter_may_poll_or_watch_the_children() -> None:
    """Many recipes use the names of this layout."""
    alice, bob = At("W-0000000001", "alice"), At("W-0000000002", "bob")
    finding = only("B10", ctx(FIRST, alice, bob, tables=[watching({"alice": ["/elsewhere"]})]))

    assert all(one.supports is not False for one in finding.evidence)


def test_b10_is_not_refuted_by_a_table_from_before_the_last_release() -> None:
    """There alice watched the former holder, as she had to."""
    before = watching({"alice": [curator("hal", 0)]})
    released = Stat(50, 50, 0, cversion=4, num_children=2, pzxid=before.zxid + 1)
    finding = only("B10", ctx(FIRST, ALICE, stat=released, tables=[before]))

    assert finding.confidence == "C4"


HIDDEN = Denied(path=join(PATH, FIRST.name), what="read", zxid=2 * ZXID, at=NOW)


def test_b10_does_not_know_the_owner_of_a_child_that_an_acl_hides() -> None:
    """Unknown is not no: it may go with its session."""
    finding = only("B10", ctx(FIRST, ALICE, BOB, more_facts=[HIDDEN]))

    assert (finding.severity, finding.confidence) == ("critical", "C2")
    assert finding.evidence[0].supports is None
    assert "its ACL hides that" in finding.evidence[0].text
    assert finding.advice.startswith(f"Find out who owns {PATH}/00-config")


def test_b10_knows_the_owner_of_a_hidden_child_from_a_dump() -> None:
    """Any server's dump lists it."""
    owners = {session("cron"): (join(PATH, FIRST.name),)}
    dump = Expiry(server=ZK1, expires_in_ms={}, ephemerals=owners, tick_ms=2000, zxid=1, at=NOW)
    finding = only("B10", ctx(FIRST, ALICE, more_facts=[HIDDEN], tables=[dump]))

    assert finding.confidence == "C4"
    assert "and goes with its session" in finding.evidence[0].text
    assert finding.advice.startswith("End the session")


def test_b11_does_not_advise_to_delete_a_child_that_an_acl_hides() -> None:
    """It may belong to a session."""
    stray = At("config", "", czxid=50)
    hidden = msgspec.structs.replace(HIDDEN, path=join(PATH, stray.name))

    finding = only("B11", ctx(stray, gopher("a", 1), more_facts=[hidden]))

    assert finding.advice.startswith(f"Find out who owns {PATH}/config")


def test_b10_names_whose_form_the_child_has() -> None:
    """A number behind `lock-`, as many simple clients write it, and no owner."""
    finding = only("B10", ctx(At("lock-0000000000", "", czxid=50), ALICE))

    assert any("named like a request of plain-lock" in one.text for one in finding.evidence)


def semaphore(*children: str, leases: int | None = None, pending: str = "") -> LockContext:
    """A semaphore of Curator with these nodes among its leases; ann is at the gate.

    The first is persistent; `pending` is the lease that ann has created, too.
    """
    pool = [*folder(POOL, "leases", "locks"), *folder(CURATOR_GATE)]
    pool += folder(CURATOR_LEASES, *children)
    pool += [created(pending, "ann", 110)] if pending else []
    ours = [created(join(CURATOR_LEASES, one), one, 60 + n) for n, one in enumerate(children)]
    ours[0] = msgspec.structs.replace(ours[0], stat=Stat(60, 60, NOW))
    known = world(*pool, *ours, created(ANN_AT_CURATOR_GATE, "ann", 100))
    settings = Settings(roots=(Root(POOL, leases=leases),))
    made = lock_at(Text(POOL), known, settings, NOW)
    assert isinstance(made, Lock)
    return LockContext(lock=made, shared=shared_context(settings=settings), past=history())


def test_b10_fires_for_a_child_that_takes_the_last_lease() -> None:
    """The number of leases is configured, so there is no doubt that ann waits for that child."""
    finding = only("B10", semaphore("notes", leases=1, pending=ANN_CURATOR_LEASE))

    assert (finding.severity, finding.confidence) == ("critical", "C4")
    assert finding.evidence[1].text == (
        "clients that use curator-semaphore-v2 count it: it takes a lease"
    )


def test_b10_is_less_sure_where_the_waiting_client_shows_the_number_of_leases() -> None:
    """That it waits is inferred, so the number is, too."""
    finding = only("B10", semaphore("notes", pending=ANN_CURATOR_LEASE))

    assert finding.confidence == "C2"


@pytest.mark.parametrize("held", [0, 2])
def test_b10_is_quiet_in_a_semaphore_of_unknown_size(held: int) -> None:
    """The client at the gate may be just about to take one of many free leases."""
    leases = [f"_c_00000000-0000-4000-8000-000000000009-lease-{n:010d}" for n in range(held)]

    assert not found("B10", semaphore("notes", *leases))


@pytest.mark.parametrize(
    "children",
    [(ALICE, BOB, CONFIG), (k("alice", 0), k("bob", 1), FIRST), (ALICE, BOB)],
    ids=["behind", "not counted", "no such child"],
)
def test_b10_is_quiet_where_no_waiter_is_behind_it(children: tuple[At, ...]) -> None:
    """A child that sorts behind all others, or is not counted, has no effect."""
    assert not found("B10", ctx(*children))


def test_b11_fires_for_clients_that_failed() -> None:
    """Go reads a number in every name, or fails and leaves its node."""
    finding = only("B11", ctx(At("config", "", czxid=50), gopher("a", 1), gopher("b", 2)))

    assert finding.sentence == (
        f"{PATH}: 2 clients failed at {PATH}/config and left their nodes behind, stranded until "
        "the session ends."
    )
    assert (finding.severity, finding.confidence) == ("critical", "C3")
    assert finding.advice.startswith(f"Delete {PATH}/config")


def test_b11_fires_before_a_client_fails() -> None:
    """It waits, and will list the children when the holder goes."""
    case = ctx(gopher("a", 1), gopher("b", 2), At("config", "", czxid=300))

    finding = only("B11", case)

    assert finding.sentence == f"{PATH}: 1 client will fail at {PATH}/config at the next listing."
    assert finding.severity == "warning"


def test_b11_fires_for_contenders_of_another_library() -> None:
    """What cannot be read may be a contender itself."""
    java = At(f"x-{session('java')}-0000000000", "java")

    finding = only("B11", ctx(java, gopher("a", 1)))

    assert any("zk-writelock-java" in one.text for one in finding.evidence)
    assert finding.advice.startswith("Use one library")


def test_b11_fires_while_a_stranded_node_outlasts_its_cause() -> None:
    """Config is deleted; Curator waits for the node that Go left until Go's session ends."""
    stranded = gopher("go", 1)
    before = ctx(At("config", "", czxid=50), stranded, ALICE).lock
    after = world(*facts(stranded, At(ALICE.name, "alice", czxid=102)))
    lock = lock_at(Text(PATH), after, Settings(), NOW, before)
    assert isinstance(lock, Lock)

    finding = only("B11", LockContext(lock=lock, shared=shared_context(), past=history()))

    assert finding.sentence == (
        f"{PATH}: 1 client failed at a child that is gone: its node stays until its session "
        "ends; 1 client waits for it."
    )
    assert (finding.severity, finding.nodes) == ("critical", (stranded.name,))
    assert finding.advice.startswith("Restart the clients whose nodes are stranded")


def test_b11_is_quiet_where_every_name_can_be_read() -> None:
    """Curator's names end with a number behind `lock-`, too."""
    assert not found("B11", ctx(curator("alice", 1), gopher("a", 2)))
    assert not found("B11", ctx(curator("alice", 1), At("config", "", czxid=50)))


SPLIT = (k("alice", 0), gopher("gopher", 1), k("bob", 2))


def test_s7_fires_before_two_get_the_lock() -> None:
    """Go waits for kazoo, kazoo does not count Go: both will follow the same node."""
    finding = only("S7", ctx(*SPLIT))

    assert "will have two owners when" in finding.sentence
    assert "gopher (go-lock) and bob (kazoo-lock)" in finding.sentence
    assert (finding.severity, finding.confidence) == ("warning", "C2")


def test_s7_is_surer_where_watches_can_be_seen() -> None:
    """Both watch what they should."""
    table = watching({"gopher": [SPLIT[0]], "bob": [SPLIT[0]]})

    assert only("S7", ctx(*SPLIT, tables=[table])).confidence == "C3"


@pytest.mark.parametrize(
    "children",
    [
        (curator("alice", 0), gopher("gopher", 1), curator("bob", 2)),
        (k("alice", 0), k("bob", 1), k("cem", 2)),
        (curator("a", 0, "WRIT"), curator("b", 1, "READ"), curator("c", 2, "READ")),
    ],
    ids=["one queue of two", "one library", "readers share"],
)
def test_s7_is_quiet_in_one_queue(children: tuple[At, ...]) -> None:
    """A client that counts the other one waits for it."""
    assert not found("S7", ctx(*children))


@pytest.mark.parametrize(
    "children",
    [(FIRST, ALICE, BOB), (At("config", "", czxid=50), gopher("a", 1), gopher("b", 2))],
    ids=["blocked", "broken"],
)
def test_one_cause_is_one_alarm(children: tuple[At, ...]) -> None:
    """What follows from a foreign child is folded under that finding."""
    findings = folded(examine_lock(ctx(*children)).findings)

    assert {finding.rule for finding in findings if finding.cause is None} <= {"B10", "B11"}


def test_an_ownerless_node_named_like_a_contender_is_no_holder() -> None:
    """Curator makes ephemeral nodes alone: left over, or made by hand."""
    left = curator("", 0, czxid=50)

    case = ctx(left, ALICE, BOB)

    assert not case.holders
    assert all_rules(case) >= {"B10"}
    assert "B1" not in all_rules(case)


def test_r1_fires_for_children_of_another_kind() -> None:
    """With what that does to this lock's library."""
    finding = only("R1", ctx(A, B, At("config", "")))

    assert finding.sentence == f"{PATH} has 1 child of another kind: config."
    assert finding.nodes == ("config",)
    assert finding.severity == "info"


def test_r1_says_that_kazoo_ignores_them() -> None:
    """Old versions of kazoo count a child that sorts last, but they are not assumed."""
    finding = only("R1", ctx(A, B, At("config", "")))

    assert finding.evidence[-1].text == "clients ignore them"


def test_r1_says_of_a_contender_without_a_session_what_is_odd_about_it() -> None:
    """Its name is fine: it is left over, or was restored from a backup."""
    finding = only("R1", ctx(ALICE, At(curator("zoe", 2).name, "")))

    assert finding.evidence[0].text.startswith("no session owns _c_")
    assert finding.evidence[0].text.endswith(", though named like a lock request")


def test_r1_says_so_of_several_contenders() -> None:
    """Both are left over."""
    left_over = (At(curator(owner, 2).name, "") for owner in ("zoe", "yan"))
    finding = only("R1", ctx(ALICE, *left_over))

    assert finding.evidence[0].text.endswith(", though named like lock requests")


def test_r1_doubts_a_configured_layout_that_fits_no_child() -> None:
    """Such as --layout with the name of another library."""
    settings = Settings(roots=(Root(PATH, layout="plain-lock"),))
    doubt = " Check the configured layout, too: plain-lock fits no child of this lock."

    assert only("R1", ctx(A, B, settings=settings)).advice.endswith(doubt)
    assert "layout" not in only("R1", ctx(A, B, At("config", ""))).advice


def test_r1_does_not_doubt_a_configured_layout_that_fits_the_others() -> None:
    """The lock has members, so only the other child is odd."""
    settings = Settings(roots=(Root(PATH, layout="kazoo-lock"),))

    assert "layout" not in only("R1", ctx(A, B, At("config", ""), settings=settings)).advice


def test_r1_leaves_alarms_to_the_rules_about_the_harm() -> None:
    """One child without a number breaks every Lock() of go-zookeeper: that is B11."""
    gopher = At("_c_" + "a" * 32 + "-lock-0000000001", "gopher")

    finding = only("R1", ctx(gopher, At("config", "", czxid=50)))

    assert finding.severity == "info"
    assert finding.evidence[1].text == "some of them are in the way of lock requests"


def test_r1_is_quiet_for_contenders_alone() -> None:
    """A lock with nothing else in it."""
    assert not found("R1", ctx(A, B))
