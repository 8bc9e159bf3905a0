"""The wait graph grants what the queues of a lock grant."""

from hashlib import md5

from model.findings.cases import ZXID, At, facts, k, plain
from model.make_facts import NOW, session, world
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings

ELECTION, ORDERS = "/locks/election", "/locks/orders"


def zktools(owner: str, number: int, mode: str, czxid: int) -> At:
    """A child as zktools names it: `lock`, `read` or `write`."""
    name = f"{md5(owner.encode()).hexdigest()}-{mode}--{number:010d}"
    return At(name, owner, czxid=czxid)


def test_a_reader_beside_an_exclusive_member_of_zktools_waits_for_nothing() -> None:
    """A ZkReadLock waits for ZkWriteLocks alone, so it is part of no deadlock."""
    shared = facts(zktools("ann", 1, "lock", 110), zktools("bob", 2, "read", 111), path="/a")
    mine = facts(k("bob", 1, czxid=90), k("ann", 2, czxid=112), path="/b")
    roots = (Root("/a", layout="zktools"), Root("/b"))
    report = Examiner(Settings(roots=roots)).look(world(*shared, *mine), NOW + 60_000)

    assert [holder.owner for holder in report.view("/a").holders] == ["ann", "bob"]
    assert [(one.rule, one.sentence) for one in report.deadlocks] == []


def test_a_leader_goes_on_when_a_foreign_child_comes_that_sorts_before_it() -> None:
    """So it does not wait for that child's client, and there is no ring."""
    roots = (Root(ELECTION, kind="election", blocking=True), Root(ORDERS))
    lea, fay = plain("lea", 1, "n_", czxid=110), plain("fay", 2, "n_", czxid=112)
    first = k("lea", 0, czxid=90)
    examiner = Examiner(Settings(roots=roots))
    seen = world(*facts(lea, fay, path=ELECTION), *facts(first, path=ORDERS))
    examiner.look(seen, NOW)
    foreign, wants = At("a_0000000000", "xen", czxid=120), k("xen", 1, czxid=130)
    came = [*facts(lea, fay, foreign, path=ELECTION), *facts(first, wants, path=ORDERS)]
    seen = seen.after(*[replace(fact, zxid=ZXID + 100, at=NOW + 500) for fact in came])
    report = examiner.look(seen, NOW + 60_000)

    assert [holder.owner for holder in report.view(ELECTION).holders] == ["lea"]
    assert [(one.rule, one.sentence) for one in report.deadlocks] == []
    assert [(one.actors, one.blocked) for one in report.blockers] == [
        ((session_text(session("lea")),), 2)
    ]
