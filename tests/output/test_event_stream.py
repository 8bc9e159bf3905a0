"""Events from reports: each state at its beginning and at its end, and nothing else."""

import msgspec
from model.findings.cases import ZXID, k, path_of
from model.findings.cases import facts as orphaned
from model.make_facts import ZK1, connections, figures, kazoo_name, out, own, row, session
from output.stories import LATER, facts

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Stat
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.world.world import World
from zktop.output.event_stream import EventStream

AB_BA = "X x: A B ; Y x: B A"
DONE = Gone(path=Text(f"/locks/y/{kazoo_name('A1', 1)}"), zxid=200, at=LATER + 5_000)


def events_of(*moments: tuple[int, list[AnyFact]]) -> list[dict[str, object]]:
    """The events of a run with looks at these moments."""
    examiner, world, teller = Examiner(), World(), EventStream()
    lines = []
    for at, more in moments:
        world = world.after(*more) if more else world
        lines += [*teller.events(examiner.look(world, at))]
    return [msgspec.to_builtins(line) for line in lines]


def brief(lines: list[dict[str, object]]) -> list[tuple[object, ...]]:
    """Event, lock and owner."""
    return [(line["event"], line.get("lock"), line.get("owner")) for line in lines]


def test_a_deadlock_is_an_event_at_its_beginning_and_end() -> None:
    """Once each, however often it was looked at in between; as a deadlock, not as a finding.

    What is left of it is a finding: the order in which they took the locks.
    """
    lines = events_of(
        (LATER, facts(AB_BA)), (LATER + 2_000, []), (LATER + 4_000, []), (LATER + 6_000, [DONE])
    )

    assert [line["event"] for line in lines] == [
        "connection",
        "deadlock",
        "abandoned",
        "deadlock-resolved",
        "finding",
    ]
    assert lines[1]["id"] == lines[3]["id"]
    assert [lines[1]["rule"], lines[4]["rule"]] == ["D1", "D9"]
    assert lines[1]["at"] == "1970-01-01T00:17:40.000Z"


def test_a_finding_is_an_event_at_its_beginning_and_end() -> None:
    """A node without an owner, until it is deleted; in between it gets more severe."""
    orphan = k("A", 0, by="")
    gone = Gone(path=Text(path_of(orphan)), zxid=ZXID + 1, at=LATER + 90_000)
    lines = events_of(
        (LATER, orphaned(orphan, k("B", 1))),
        (LATER + 70_000, []),
        (LATER + 80_000, []),
        (LATER + 90_000, [gone]),
    )

    told_of = [
        (line["event"], line["node"], line["severity"])
        for line in lines
        if line.get("rule") == "B1"
    ]
    assert told_of == [
        ("finding", orphan.name, "warning"),
        ("finding", orphan.name, "critical"),
        ("finding-cleared", orphan.name, "critical"),
    ]


def test_a_deadlock_is_an_event_again_when_it_is_more_certain() -> None:
    """With the same id; a script waits for C3. Not if it is less certain, or as certain again."""
    examiner, teller = Examiner(), EventStream()
    report = examiner.look(World().after(*facts(AB_BA)), LATER)
    (found,) = report.deadlocks
    lines = []
    for confidence in ("C2", "C2", "C3", "C2", "C3"):
        deadlocks = (msgspec.structs.replace(found, confidence=confidence),)
        made = msgspec.structs.replace(report, deadlocks=deadlocks, events=(), findings=())
        lines += [*teller.events(made)]

    told_of = [(line.event, line.id, line.confidence) for line in lines if line.id]
    assert told_of == [("deadlock", found.id, "C2"), ("deadlock", found.id, "C3")]
    assert [line.zxid for line in lines if line.id] == [f"{report.world.zxid:#x}"] * 2


def test_a_deadlock_that_was_a_hint_for_a_while_is_an_event_again() -> None:
    """It was reported as resolved: a script that counts open deadlocks must see it again."""
    examiner, teller = Examiner(), EventStream()
    report = examiner.look(World().after(*facts(AB_BA)), LATER)
    (found,) = (one for one in report.findings if one.rule == "D1")
    hint = msgspec.structs.replace(found, confidence="C1", severity="info")
    lines = []
    for is_hint in (False, True, False):
        lines += [
            *teller.events(
                msgspec.structs.replace(
                    report,
                    deadlocks=() if is_hint else report.deadlocks,
                    findings=(hint if is_hint else found,),
                    events=(),
                )
            )
        ]

    assert [line.event for line in lines if line.id] == [
        "deadlock",
        "deadlock-resolved",
        "finding",
        "deadlock",
    ]


def test_a_finding_is_an_event_again_when_it_is_more_severe() -> None:
    """The line has the severity, and the owner if it is about one session."""
    examiner, teller = Examiner(), EventStream()
    world = World().after(*orphaned(k("A", 0, by=""), k("B", 1)))
    examiner.look(world, LATER)
    report = examiner.look(world, LATER + 70_000)
    (found,) = (one for one in report.findings if one.rule == "B1")
    lines = []
    for severity in ("info", "warning", "info", "warning", "critical"):
        about = {"nodes": (k("B", 1).name,), "sessions": (session("B"),)}
        findings = (msgspec.structs.replace(found, severity=severity, **about),)
        lines += [*teller.events(msgspec.structs.replace(report, findings=findings, events=()))]

    told_of = [(line.severity, line.owner) for line in lines if line.event == "finding"]
    assert told_of == [("info", "B"), ("warning", "B"), ("critical", "B")]


def test_a_finding_about_a_node_that_is_gone_has_the_owner_that_the_node_named() -> None:
    """Also when it is over because the lock is gone; it had the address of the session."""
    examiner, teller = Examiner(), EventStream()
    world = World().after(*orphaned(k("A", 0, by=""), k("B", 1)))
    examiner.look(world, LATER)
    report = examiner.look(world, LATER + 70_000)
    (found,) = (one for one in report.findings if one.rule == "B1")
    gone = Gone(path=Text(f"{found.lock}/{k('B', 1).name}"), zxid=ZXID + 50, at=LATER + 71_000)
    report = examiner.look(world.after(gone), LATER + 72_000)
    about = {"nodes": (k("B", 1).name,), "sessions": (session("B"),)}
    findings = (msgspec.structs.replace(found, **about),)

    lines = [*teller.events(msgspec.structs.replace(report, findings=findings, events=()))]
    lines += teller.events(msgspec.structs.replace(report, records={}, findings=(), events=()))
    assert [(line.event, line.owner) for line in lines if line.id == found.id] == [
        ("finding", "B"),
        ("finding-cleared", "B"),
    ]


def test_a_finding_about_several_nodes_of_a_session_has_the_owner_that_they_name() -> None:
    """A silent client with two locks; it had the address of the session."""
    silent = row("A", quiet_ms=21_000, timeout_ms=30_000)
    tables = connections(ZK1, silent, row("B"), at=LATER)
    lines = events_of((LATER, [*facts("X x: A B ; Y x: A"), tables]))

    assert [line["owner"] for line in lines if line.get("rule") == "S3"] == ["A"]


def test_a_finding_after_the_connection_was_lost_has_the_time_of_its_data() -> None:
    """The report shows the state at the loss, but a server that is down was noticed later."""
    down = msgspec.structs.replace(out(ZK1, "down"), at=LATER + 3_000)
    lost = own(state="suspended", at=LATER + 1_000)
    lines = events_of((LATER, facts("X x: A")), (LATER + 5_000, [lost, down]))

    (found,) = (line for line in lines if line.get("rule") == "P13")
    assert found["at"] == "1970-01-01T00:17:43.000Z"


def test_a_finding_ends_during_a_loss_when_the_server_answers_again() -> None:
    """Its client is not connected yet, so the report still shows the state at the loss."""
    down = msgspec.structs.replace(out(ZK1, "down"), at=LATER + 3_000)
    up = msgspec.structs.replace(figures(ZK1), at=LATER + 9_000)
    lost = own(state="suspended", at=LATER + 1_000)
    moments = (LATER, facts("X x: A")), (LATER + 5_000, [lost, down]), (LATER + 9_500, [up])
    lines = events_of(*moments)

    found = [(line["event"], line["at"]) for line in lines if line.get("rule") == "P13"]
    assert found == [
        ("finding", "1970-01-01T00:17:43.000Z"),
        ("finding-cleared", "1970-01-01T00:17:49.000Z"),
    ]


def test_events_of_contenders_have_their_modes() -> None:
    """Also of one that is gone."""
    gone = Gone(path=Text(f"/locks/x/{kazoo_name('A0', 0, 'rlock')}"), zxid=300, at=LATER + 1_000)
    lines = events_of((LATER, facts("X rw: A.R B.W C.R")), (LATER + 1_000, [gone]))

    modes = [(line["event"], line["mode"]) for line in lines if line.get("node")]
    assert modes == [("released", "read"), ("acquired", "write")]


def test_a_lock_that_changes_hands_is_three_events() -> None:
    """Released by one and acquired by the other, with the times."""
    gone = Gone(path=Text(f"/locks/x/{kazoo_name('A0', 0)}"), zxid=300, at=LATER + 1_000)
    lines = events_of((LATER, facts("X x: A B")), (LATER + 1_000, [gone]))

    assert brief(lines) == [
        ("connection", None, None),
        ("released", "/locks/x", "A"),
        ("acquired", "/locks/x", "B"),
    ]
    assert lines[1]["session"] == session_text(session("A"))
    assert (lines[1]["held_is"], lines[2]["waited_is"]) == ("at-least", "at-least")


def test_unseen_contenders_are_counted_as_missed() -> None:
    """The root's counters show that two contenders joined and left between two looks."""
    before = facts("X x: A")
    name = kazoo_name("A0", 0)
    stat = Stat(10, 10, 0, cversion=5, num_children=1, pzxid=400)
    later = Children(path=Text("/locks/x"), names=(name,), stat=stat, zxid=400, at=LATER + 500)
    lines = events_of((LATER, before), (LATER + 1_000, [later]))

    missed = [line for line in lines if line["event"] == "missed"]
    assert [(line["lock"], line["creates"], line["deletes"]) for line in missed] == [
        ("/locks/x", 2, 2)
    ]


def test_every_change_of_the_connection_is_an_event() -> None:
    """Even if it was lost and restored between two looks."""
    lines = events_of(
        (LATER, [own(at=LATER)]),
        (LATER + 1_000, []),
        (LATER + 2_000, [own(state="suspended", at=LATER + 1_500)]),
        (LATER + 3_000, [own(at=LATER + 2_500)]),
        (LATER + 5_000, [own(at=LATER + 4_000)]),
    )

    states = ["connected", "suspended", "connected", "connected"]
    assert [line["state"] for line in lines] == states


def test_unknown_is_left_out_of_a_line() -> None:
    """A missing key means the same as null, and lines stay short."""
    (line,) = events_of((LATER, [own(at=LATER)]))

    assert line == {
        "schema": "zktop.event/1",
        "at": "1970-01-01T00:17:40.000Z",
        "event": "connection",
        "session": session_text(session("zktop")),
        "state": "connected",
    }
