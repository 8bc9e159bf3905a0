"""The ways to free a lock, from a report: what is in the way, what it costs, what is refused."""

from typing import Literal
from unittest.mock import Mock

import pytest
from model.findings.cases import MINUTE, PATH, SECOND, At, curator, facts, k, path_of, plain
from model.layouts.vectors import all_vectors, facts_of, now_of, settings_of
from model.make_facts import (
    NOW,
    ZK1,
    connections,
    expiry,
    figures,
    own,
    row,
    session,
    watches,
    world,
)
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Denied, Node, Stat
from zktop.model.freeing.commands_to_copy import ZkCli, pod_command
from zktop.model.freeing.deeds import Deed, deletion, request_to_release
from zktop.model.freeing.free_plan import MAX_BLOCKERS, FreePlan, LockBlocker, free_plan
from zktop.model.freeing.ways import SessionCost
from zktop.model.layouts.layout import Layout
from zktop.model.lock_view import LockView
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text

ORPHAN = plain("", 7, age_ms=2 * MINUTE)
BOB, CAROL = plain("bob", 8, label="bob"), plain("carol", 9, label="carol")
ANN = curator("ann", 1)


def looked(*facts: AnyFact, settings: Settings | None = None) -> tuple[Report, LockView]:
    """The report on these facts, and the lock at PATH."""
    report = Examiner(settings or Settings()).look(world(own(), *facts), NOW)
    view = report.view(PATH)
    assert view is not None
    return report, view


def planned(*facts: AnyFact, settings: Settings | None = None) -> FreePlan:
    """The ways to free the lock at PATH."""
    report, _ = looked(*facts, settings=settings)
    plan = free_plan(report, PATH, ZkCli("zk1:2181"))
    assert plan is not None
    return plan


def test_an_orphan_is_deleted_at_its_version() -> None:
    """The command, how many go on, and how zktop does it."""
    (blocker,) = planned(*facts(ORPHAN, BOB, CAROL)).blockers

    (way,) = blocker.ways
    assert (blocker.node, blocker.session) == (ORPHAN.name, None)
    assert way.commands == (f"zkCli.sh -server zk1:2181 delete -v 0 {path_of(ORPHAN)}",)
    assert way.effect == "2 clients wait behind it; bob is first."
    assert way.option == ("free", PATH, "--node", ORPHAN.name, "--yes")


def test_a_holder_has_the_ways_that_end_its_session() -> None:
    """Where its process is, which locks go with it, and the bean of its session."""
    table = connections(ZK1, row("ann"), row("bob"))
    (holder,) = planned(*facts(k("ann", 1), k("bob", 2)), table).blockers

    stop, end = holder.ways
    client = row("ann").client
    assert (holder.session, holder.client) == (session_text(session("ann")), client)
    assert holder.server == ZK1
    assert (stop.kind, end.kind) == ("stop-process", "end-session")
    assert stop.commands == (
        f"ssh 10.0.0.1 'ss -tnp sport = :{client.rpartition(':')[2]}'",
        "kubectl get pods -A -o wide --field-selector status.podIP=10.0.0.1",
    )
    assert f" at {client})" in stop.what
    assert f"on the host of {ZK1} (" in end.what
    assert f"releases {PATH}: at once" in stop.effect
    assert "session timeout, 10s. 1 client waits behind it: bob." in stop.effect
    assert f"={session_text(session('ann'))}$" in end.commands[1]
    assert not stop.option
    assert not end.option


def test_a_pod_that_the_list_of_owners_names_is_deleted_by_name() -> None:
    """As the three lines of cron in docs/kubernetes.md write it."""
    pod = {"name": "api-7d4", "namespace": "shop"}
    settings = Settings(owners={"10.0.0.1": pod})
    report, _ = looked(*facts(k("ann", 1)), connections(ZK1, row("ann")), settings=settings)

    plan = free_plan(report, PATH, ZkCli("zk1:2181"))

    assert plan is not None
    assert "kubectl delete pod -n shop api-7d4" in plan.blockers[0].ways[0].commands


def test_a_pod_without_its_namespace_is_only_listed() -> None:
    """It may have the name of a pod in another namespace."""
    assert pod_command("10.0.0.1:38110", {"name": "api-7d4"}) == pod_command("10.0.0.1:38110")


def test_a_holder_without_waiters_frees_no_client() -> None:
    """Its ways are listed all the same."""
    (only,) = planned(*facts(BOB)).blockers

    assert only.role == "holder"
    assert only.ways[0].effect.endswith("No client waits for it.")


def test_a_second_request_of_the_same_session_does_not_wait_for_its_end() -> None:
    """It goes with the session; the next client in the queue is first."""
    (alone,) = planned(*facts(k("ann", 1), k("ann", 2))).blockers
    (before,) = planned(*facts(k("ann", 1), k("ann", 2), k("bob", 3))).blockers

    assert alone.ways[0].effect.endswith("No other client waits for it.")
    assert before.ways[0].effect.endswith("1 client waits behind it: bob.")


BILLING = "/locks/billing"
CYCLE = (
    *facts(k("ann", 1, czxid=101), k("bob", 2, czxid=104)),
    *facts(k("bob", 1, czxid=102), k("ann", 2, czxid=103), path=BILLING),
    connections(ZK1, row("ann"), row("bob")),
)


@pytest.mark.parametrize("identity", ["session", "owner"])
def test_a_deadlock_has_its_ways_out(identity: Literal["session", "owner"]) -> None:
    """Also if its actors are named by their owner labels."""
    settings = Settings(identity=identity, identity_pattern="[a-z]+")
    blockers = planned(*CYCLE, settings=settings).blockers

    assert [one.role for one in blockers] == ["deadlocked", "deadlocked"]
    assert {one.name for one in blockers} == {"ann", "bob"}


def test_a_disconnected_client_is_the_first_way_out_and_has_no_bean() -> None:
    """Its session expires by itself; its server ended the bean with the connection."""
    alive = expiry(ZK1, {"ann": 9 * SECOND, "bob": 9 * SECOND})

    plan = planned(*CYCLE[:-1], connections(ZK1, row("bob")), alive)

    gone, _ = plan.blockers
    (way,) = gone.ways
    assert (gone.name, way.kind, way.commands) == ("ann", "stop-process", ())
    assert way.effect.startswith(f"When the session expires, it releases {PATH}")
    assert [one.owner for one in plan.deadlocks[0].ways_out] == ["ann", "bob"]


def test_a_way_out_of_a_deadlock_does_not_count_its_victim_as_freed() -> None:
    """Ann goes on when bob is gone; bob does not."""
    effects = [blocker.ways[0].effect for blocker in planned(*CYCLE).blockers]

    assert all("That unblocks 1 other; " in effect for effect in effects), effects


def test_the_end_of_a_session_leaves_its_queues_too() -> None:
    """What each client loses, and what else it waits for."""
    bob, _ = planned(*CYCLE).blockers

    assert bob.about == f"its node is 1m00s old; its client also waits for {PATH}"
    for way in bob.ways:
        assert f"releases {BILLING} and leaves the queue of {PATH}" in way.effect


def test_an_unknown_address_is_named_as_unknown() -> None:
    """No table has the session."""
    (holder,) = planned(*facts(k("ann", 1))).blockers
    stop, end = holder.ways

    assert "; its address is unknown)" in stop.what
    assert "on the host of its server (" in end.what


def test_deadlocks_and_findings_of_other_locks_are_left_out() -> None:
    """Also what is only information, and the deadlock among the findings."""
    third = "/locks/third"
    stuck = facts(replace(ORPHAN, czxid=90), plain("zed", 8, czxid=91), path=third)
    report, _ = looked(*CYCLE, *stuck)
    plans = [free_plan(report, path, ZkCli("zk1:2181")) for path in (PATH, third)]
    listed = [
        plan and (len(plan.deadlocks), [one.rule for one in plan.findings]) for plan in plans
    ]

    assert listed == [(1, []), (0, ["B10"])]
    assert ("R1", "info") in {(one.rule, one.severity) for one in report.findings}


def lease(name: str, data: str) -> list[AnyFact]:
    """A lock that is held by a node without a session."""
    return facts(At(name, "", label=data))


@pytest.mark.parametrize(
    ("held", "name"),
    [
        pytest.param(lease("nightly", "2099-01-01T00:00:00Z"), "nightly", id="shedlock"),
        pytest.param(
            lease("lease_holder", '{"version":1,"owner":"host-7","end":"2099-01-01T00:00:00"}'),
            "host-7",
            id="kazoo-lease",
        ),
    ],
)
def test_a_client_that_holds_by_a_node_without_a_session_is_a_holder(
    held: list[AnyFact], name: str
) -> None:
    """Its node is not left over, and its label is its name."""
    plan = planned(*held)

    assert [(one.role, one.name) for one in plan.blockers] == [("holder", name)]
    assert plan.holders == (name,)


ORPHAN_READER = k("orphan", 2, "rlock", by="", age_ms=2 * MINUTE)
WRITER, READER = k("ann", 1), k("bob", 3, "rlock")


@pytest.mark.parametrize(
    ("behind", "effect"),
    [
        pytest.param([READER], "No client waits for it.", id="a reader"),
        pytest.param([READER, k("dan", 4)], "1 client waits behind it: dan.", id="a writer, too"),
        pytest.param(
            [k("dan", 4), k("eve", 5, "rlock")],
            "2 clients wait behind it; dan is first.",
            id="a reader behind a writer",
        ),
    ],
)
def test_an_orphan_that_reads_stops_no_reader(behind: list[At], effect: str) -> None:
    """Only writers wait for it, and the clients behind them."""
    _, orphan = sorted(planned(*facts(WRITER, ORPHAN_READER, *behind)).blockers, key=_role)

    assert orphan.ways[0].effect.startswith(effect)


def test_a_writer_is_not_counted_among_the_other_readers() -> None:
    """Dan waits for Ann, who writes, and for a node that reads."""
    plan = planned(*facts(WRITER, ORPHAN_READER, k("dan", 4)))
    _, orphan = sorted(plan.blockers, key=_role)

    assert "other reader" not in orphan.ways[0].effect


@pytest.mark.parametrize(
    ("readers", "says"),
    [
        (1, "1 client waits behind it: eve."),
        (2, "1 client waits behind it: eve. eve also waits for the other reader."),
        (3, "1 client waits behind it: eve. eve also waits for the other 2 readers."),
    ],
)
def test_a_writer_waits_for_all_readers(readers: int, says: str) -> None:
    """So the end of one of them is not enough."""
    held = [k(f"r{number}", number, "rlock") for number in range(1, readers + 1)]
    plan = planned(*facts(*held, k("eve", 9)))

    assert all(one.ways[0].effect.endswith(says) for one in plan.blockers)


def test_readers_of_one_session_end_together() -> None:
    """So the writer behind them waits for no other reader."""
    plan = planned(*facts(k("ann", 1, "rlock"), k("ann", 2, "rlock"), k("eve", 9)))

    assert plan.blockers
    assert all(one.ways[0].effect.endswith("behind it: eve.") for one in plan.blockers)


def test_readers_of_another_lock_in_the_folder_keep_no_writer_waiting() -> None:
    """The name before the mode distinguishes the locks."""
    named = Layout(
        name="stock-and-price",
        pattern="^(?P<name>[a-z]+)-(?P<mode>r|w)-{SEQ}$",
        modes={"r": "read", "w": "write"},
        grouped=True,
    )
    settings = Settings(roots=(Root(PATH, layout=named.name),), layouts=(named,))
    children = (
        plain("ann", 1, "stock-r-"),
        plain("bob", 2, "price-r-"),
        plain("eve", 3, "stock-w-"),
    )
    ann, bob = planned(*facts(*children), settings=settings).blockers

    assert ann.ways[0].effect.endswith("1 client waits behind it: eve.")
    assert bob.ways[0].effect.endswith("No client waits for it.")


def test_orphans_that_read_are_deleted_one_by_one() -> None:
    """They have no session in common: the writer also waits for the other one."""
    orphans = [k(name, n, "rlock", by="", age_ms=2 * MINUTE) for n, name in enumerate("ab", 1)]
    plan = planned(*facts(*orphans, k("eve", 9)))

    assert [one.ways[0].effect.rpartition(". ")[2] for one in plan.blockers] == [
        "eve also waits for the other reader."
    ] * len(orphans)


def test_a_writer_that_is_in_the_way_has_no_other_readers() -> None:
    """The sentence is about readers that share a lock."""
    orphan = k("orphan", 3, by="", age_ms=2 * MINUTE)
    plan = planned(*facts(k("ann", 1, "rlock"), orphan, k("dan", 4)))
    (leftover,) = [one for one in plan.blockers if one.role == "leftover"]

    assert leftover.ways[0].effect.startswith("1 client waits behind it: dan.")
    assert "reader" not in leftover.ways[0].effect


def test_no_session_is_ended_by_jmx_beside_a_server_that_is_not_in_java() -> None:
    """ClickHouse Keeper has no beans."""
    keeper = replace(figures(ZK1), flavour="clickhouse-keeper")
    (holder,) = planned(*facts(k("ann", 1)), connections(ZK1, row("ann")), keeper).blockers

    assert [way.kind for way in holder.ways] == ["stop-process"]


def test_clients_ahead_of_an_orphan_do_not_wait_for_it() -> None:
    """Only those behind it."""
    orphan = k("orphan", 3, by="", age_ms=2 * MINUTE)
    plan = planned(*facts(k("ann", 1), k("bob", 2), orphan, k("dan", 4)))
    (leftover,) = [one for one in plan.blockers if one.role == "leftover"]

    assert leftover.ways[0].effect.startswith("1 client waits behind it: dan.")


def test_a_holder_whose_node_may_not_be_read_is_not_left_over() -> None:
    """It may have a session. Without its owner, there is no way to end it."""
    hidden = Denied(path=Text(path_of(ORPHAN)), what="read", zxid=2_000_000, at=NOW)
    known = [fact for fact in facts(ORPHAN, BOB) if fact.path != path_of(ORPHAN)]
    (holder,) = planned(*known, hidden).blockers

    assert (holder.role, holder.session, holder.ways) == ("holder", None, ())


def test_a_waiter_whose_node_may_not_be_read_is_not_left_over() -> None:
    """Although the node ahead of it is."""
    orphan, bob = k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)
    hidden = Denied(path=Text(path_of(bob)), what="read", zxid=2_000_000, at=NOW)
    known = [fact for fact in facts(orphan, bob, k("eve", 9)) if fact.path != path_of(bob)]
    (leftover,) = planned(*known, hidden).blockers

    assert (leftover.role, leftover.node) == ("leftover", orphan.name)


def test_a_client_without_a_label_is_named_by_its_address() -> None:
    """Not by its node."""
    (holder,) = planned(*facts(plain("ann", 1, label="")), connections(ZK1, row("ann"))).blockers

    assert holder.name == row("ann").client


def _role(one: LockBlocker) -> str:
    return one.role


def test_of_thousands_of_readers_only_the_listed_are_examined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cost of a session is a walk through all its places."""
    costs = Mock(side_effect=SessionCost.of)
    monkeypatch.setattr(SessionCost, "of", costs)
    plan = planned(
        *facts(*(k(f"r{number}", number, "rlock") for number in range(100)), k("bob", 999))
    )

    assert (len(plan.blockers), plan.more) == (MAX_BLOCKERS, 100 - MAX_BLOCKERS)
    assert costs.call_count <= 2 * MAX_BLOCKERS


@pytest.mark.parametrize(
    ("children", "node", "why"),
    [
        pytest.param([ORPHAN, BOB], BOB, "it belongs to bob, session 0x", id="it has a session"),
        pytest.param([BOB], plain("", 3), "There is no node", id="it is not there"),
        pytest.param(
            [plain("", 7, age_ms=SECOND), BOB], plain("", 7), "it is only 1s old", id="it is new"
        ),
        pytest.param([BOB, At("notes", "")], At("notes", ""), "blocks no client", id="harmless"),
        pytest.param([At("00-config", ""), ANN], plain("", 3), "There is no node", id="foreign"),
    ],
)
def test_a_deletion_is_refused(children: list[At], node: At, why: str) -> None:
    """With the reason."""
    refused = deletion(*looked(*facts(*children)), node.name)

    assert isinstance(refused, str)
    assert why in refused


def test_a_node_whose_client_may_hold_without_a_session_is_not_deleted() -> None:
    """However old it is."""
    held = At("nightly", "", label="2099-01-01T00:00:00Z", age_ms=60 * MINUTE)

    assert "shedlock hold locks without a session" in str(
        deletion(*looked(*facts(held)), held.name)
    )


def test_a_deletion_that_is_refused_is_no_option() -> None:
    """The way has the reason instead."""
    (new,) = planned(*facts(plain("", 7, age_ms=SECOND), BOB)).blockers
    (way,) = new.ways

    assert way.option is None
    assert way.refusal
    assert way.refusal.startswith("it is only 1s old")


@pytest.mark.parametrize(
    ("data", "lost"),
    [(b"ann-1", "Its 5 bytes of data are lost."), (b"1", "Its 1 byte of data is lost.")],
)
def test_a_deletion_counts_the_data_that_are_lost(data: bytes, lost: str) -> None:
    """They may be all that is known about the client."""
    stat = Stat(101, 101, NOW - 2 * MINUTE, data_length=len(data))
    full = Node(path=Text(path_of(ORPHAN)), stat=stat, data=data, zxid=2_000_000, at=NOW)
    (orphan,) = planned(*facts(ORPHAN, BOB), full).blockers

    assert orphan.ways[0].effect.endswith(f"bob. {lost}")


def test_of_two_foreign_children_the_named_one_is_deleted() -> None:
    """At its own version."""
    children = [At(name, "", czxid, 2 * MINUTE) for name, czxid in (("config", 50), ("x", 51))]

    for child in children:
        deed = deletion(*looked(*facts(*children, GO_ONE, curator("ann", 2))), child.name)
        assert isinstance(deed, Deed)
        ((path, stat),) = deed.targets
        assert (path, stat.czxid) == (f"{PATH}/{child.name}", child.czxid)


def test_a_node_with_children_is_not_deleted() -> None:
    """What is below may belong to a client."""
    known = facts(ORPHAN, BOB)
    stat = Stat(101, 101, NOW - MINUTE * 2, num_children=1)
    full = Node(path=Text(path_of(ORPHAN)), stat=stat, data=b"", zxid=2_000_000, at=NOW)

    assert "it has 1 child" in str(deletion(*looked(*known, full), ORPHAN.name))


def listening(data: str = "", table: AnyFact | None = None) -> tuple[Report, LockView]:
    """A lock of Curator; ann holds it, and her session watches her node."""
    ann = At(ANN.name, "ann", label=data)
    known = facts(ann, curator("bob", 2))
    rows = watches(ZK1, {"ann": (path_of(ANN),)})
    return looked(*known, connections(ZK1, row("ann"), row("bob")), table or rows)


def test_a_curator_client_that_listens_can_be_asked() -> None:
    """Curator writes no data into the node of a revocable lock, and watches it."""
    deed = request_to_release(*listening())

    assert isinstance(deed, Deed)
    assert (deed.paths, deed.clients) == ((path_of(ANN),), (row("ann").client,))


def test_only_a_client_that_listens_has_the_option_to_be_asked() -> None:
    """Another one has the reason why not."""
    ways = []
    for report, _ in (listening(), listening("10.0.0.1")):
        plan = free_plan(report, PATH, ZkCli("zk1:2181"))
        assert plan is not None
        ways.append(plan.blockers[0].ways[0])

    assert [way.kind for way in ways] == ["ask-to-release"] * 2
    assert [way.option for way in ways] == [("free", PATH, "--revoke", "--yes"), None]
    assert [way.refusal is None for way in ways] == [True, False]


@pytest.mark.parametrize(
    ("case", "why"),
    [
        pytest.param(listening("10.0.0.1"), "it is not revocable", id="it has data"),
        pytest.param(listening("__REVOKE__"), "it has already been asked", id="asked"),
        pytest.param(listening(table=watches(ZK1, {})), "it does not listen", id="no watch"),
        pytest.param(listening(table=connections(ZK1, row("ann"))), "cannot tell", id="no table"),
        pytest.param(
            listening(table=watches(ZK1, {}, zxid=50)), "is newer than its node", id="an old table"
        ),
        pytest.param(looked(*facts(BOB)), "only Curator's", id="another library"),
        pytest.param(looked(*facts(ORPHAN, BOB)), "No client holds it", id="no holder"),
    ],
)
def test_a_request_is_refused(case: tuple[Report, LockView], why: str) -> None:
    """With the reason for each holder."""
    refused = request_to_release(*case)

    assert isinstance(refused, str)
    assert why in refused


def test_a_request_with_data_that_may_not_be_read_is_refused() -> None:
    """Unknown data are not empty."""
    stat = Stat(101, 101, NOW - MINUTE, owner=session("ann"), data_length=8)
    unread = Node(path=Text(path_of(ANN)), stat=stat, data=None, zxid=2_000_000, at=NOW)
    known = facts(At(ANN.name, "ann", czxid=101), curator("bob", 2))
    bare = [fact for fact in known if fact.path != path_of(ANN)]
    rows = watches(ZK1, {"ann": (path_of(ANN),)})

    assert "it is not revocable" in str(request_to_release(*looked(*bare, unread, rows)))


def test_a_request_that_all_of_five_holders_refuse_counts_them() -> None:
    """The first three with their reasons."""
    readers = [curator(f"reader-{number}", number, "READ") for number in range(5)]
    refused = str(request_to_release(*looked(*facts(*readers))))

    assert refused.startswith(f"No holder of {PATH} was asked. reader-0: it is not revocable")
    assert refused.endswith(" and 2 more.")


LEASE = At("_c_d8e1f0a2-1111-4c3b-9a55-0f6b1b8f7a01-lease-0000000000", "", age_ms=2 * MINUTE)


def semaphore(*leases: At) -> list[AnyFact]:
    """A semaphore of Curator with these leases."""
    folder = Text(f"{PATH}/leases")
    return [*facts(At("leases", ""), At("locks", "")), *facts(*leases, path=folder)]


def test_a_lease_without_a_session_is_deleted() -> None:
    """Clients of semaphores hold by nodes of their sessions alone."""
    node = f"leases/{LEASE.name}"
    other = curator("bob", 1, mode="lease")

    assert isinstance(deletion(*looked(*semaphore(LEASE, other)), node), Deed)


def test_all_clients_wait_for_a_foreign_child_that_takes_the_last_lease() -> None:
    """Ann has created her lease and waits for a smaller number of children."""
    stray = At("backup", "", czxid=50, age_ms=2 * MINUTE)
    leases = semaphore(stray, curator("ann", 3, mode="lease", czxid=110))
    gate = facts(curator("ann", 1), curator("bob", 2), path=f"{PATH}/locks")
    (foreign,) = planned(*leases, *gate).blockers

    assert foreign.node == "leases/backup"
    assert foreign.ways[0].effect.startswith("2 clients wait behind it; ann is first.")


def test_a_node_in_a_folder_that_an_acl_hides_may_be_there() -> None:
    """No listing shows that there is none."""
    hidden = Denied(path=Text(f"{PATH}/leases"), what="list", zxid=2_000_000, at=NOW)
    refused = deletion(*looked(*facts(At("leases", ""), At("locks", "")), hidden), "leases/x")

    assert refused == (
        f"zktop cannot tell whether {PATH}/leases/x exists: the ACL of its parent forbids listing."
    )


def test_every_known_layout() -> None:
    """Every waiter has something in its way, and no node of a session is ever deleted."""
    for vector in all_vectors():
        examiner = Examiner(settings_of(vector))
        report = examiner.look(world(*facts_of(vector)), now_of(vector) + 2 * MINUTE)
        plan, view = (
            free_plan(report, vector["root"], ZkCli("zk1:2181")),
            report.view(vector["root"]),
        )
        if plan is None or view is None:  # not a lock
            continue
        assert plan.blockers or not plan.waiting, vector["id"]
        for child in vector["children"]:
            deed = deletion(report, view, child["name"])
            assert isinstance(deed, str) or not int(child["owner"], 16), (vector["id"], child)


GO_ONE = At(f"_c_{session('gopher'):032x}-lock-{1:010d}", "gopher")
STRAY = At("config", "", czxid=50, age_ms=2 * MINUTE)


def test_a_stranded_node_is_in_the_way_until_its_session_ends() -> None:
    """Go failed at `config`; Curator waits for the node that Go left."""
    stray, stranded = planned(*facts(STRAY, GO_ONE, curator("ann", 2))).blockers

    assert (stranded.node, stranded.role) == (GO_ONE.name, "leftover")
    assert [way.kind for way in stranded.ways] == ["stop-process", "end-session"]
    assert stranded.ways[0].effect.endswith("1 client waits behind it: ann.")
    assert stray.ways[0].effect.startswith(
        "No client waits for it. The 1 node of clients that failed at it stays until its session"
    )


def test_a_foreign_child_blocks_only_the_clients_that_count_it() -> None:
    """Kazoo does not count it."""
    first = At("00-config", "", czxid=50, age_ms=2 * MINUTE)
    foreign, _ = planned(*facts(first, curator("ann", 1), k("bob", 2), k("eve", 3))).blockers

    assert foreign.ways[0].effect.startswith("1 client waits behind it: ann.")


def test_all_clients_wait_for_a_foreign_child_that_is_first() -> None:
    """Curator counts all children."""
    first = At("00-config", "", czxid=50, age_ms=2 * MINUTE)
    (foreign,) = planned(*facts(first, ANN, curator("bob", 2))).blockers

    assert foreign.ways[0].effect.startswith("2 clients wait behind it; ann is first.")


def test_the_nodes_of_all_clients_that_failed_at_a_child_are_counted() -> None:
    """They stay."""
    second = At(f"_c_{session('rodent'):032x}-lock-{2:010d}", "rodent")
    strays = (STRAY, At("notes", "", czxid=51, age_ms=2 * MINUTE))
    blockers = planned(*facts(*strays, GO_ONE, second, curator("ann", 3))).blockers

    foreign = [one.ways[0].effect for one in blockers if one.role == "foreign"]
    assert len(foreign) == 2
    for effect in foreign:
        assert "The 2 nodes of clients that failed at it stay until their sessions" in effect


def test_the_deletion_of_an_unreadable_child_spares_a_waiter() -> None:
    """Go lists the children again when the holder goes."""
    second = At(f"_c_{session('rodent'):032x}-lock-{2:010d}", "rodent")
    late = At("config", "", czxid=300, age_ms=2 * MINUTE)
    foreign, _ = planned(*facts(GO_ONE, second, late)).blockers

    assert foreign.ways[0].effect.startswith(
        "No client waits for it. 1 client will not fail at it."
    )
