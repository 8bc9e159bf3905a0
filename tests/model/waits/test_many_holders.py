"""A holder never waits for another holder of the same lock."""

from collections.abc import Iterable

from model.make_facts import NOW, ZK1, connections, lock, row, session, watches
from model.semaphores import (
    ANN_AT_CURATOR_GATE,
    CURATOR_GATE,
    CURATOR_LEASES,
    POOL,
    created,
    folder,
)

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Node, Stat
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

LEDGERS = "/ledgers/underreplication/locks"


def seen(facts: Iterable[AnyFact], *roots: Root) -> Report:
    """A report on these facts, a minute after the nodes were made."""
    return Examiner(Settings(roots=roots)).look(World().after(*facts), NOW + 60_000)


def test_jobs_of_shedlock_do_not_wait_for_each_other() -> None:
    """Each child is a job of its own that runs."""
    jobs = ("job1", "job2", "job3")
    until = b"2099-01-01T00:00:00Z"
    stat = Stat(60, 60, NOW, owner=0)
    report = seen(
        [
            *folder("/shedlock", *jobs),
            *(
                Node(path=Text(f"/shedlock/{job}"), stat=stat, data=until, zxid=60, at=NOW)
                for job in jobs
            ),
        ]
    )

    assert len([*report.view(Text("/shedlock")).holders]) == len(jobs)
    assert report.blockers == ()


def test_ledgers_of_one_bookie_are_no_double_request() -> None:
    """BookKeeper locks each ledger by a child of one parent."""
    names = [f"urL000000000{number}" for number in (1, 2, 3)]
    owners = zip(names, ("ann", "bob", "ann"), strict=True)
    nodes = (created(f"{LEDGERS}/{name}", owner, 60) for name, owner in owners)
    report = seen([*folder(LEDGERS, *names), *nodes])

    assert len([*report.view(Text(LEDGERS)).holders]) == len(names)
    assert report.blockers == ()
    assert "D6" not in [finding.rule for finding in report.findings]


def curator_leases(*owners: str | None) -> list[AnyFact]:
    """A semaphore of Curator with a lease for each, or a foreign child (None) before them."""
    uuid = "_c_00000000-0000-4000-8000-00000000000"
    names = [
        f"{uuid}{at}-lease-000000000{at}" if owner else "junk" for at, owner in enumerate(owners)
    ]
    nodes = [
        created(f"{CURATOR_LEASES}/{name}", owner or "nobody", 90 + at)
        for at, (name, owner) in enumerate(zip(names, owners, strict=True))
    ]
    leases = folder(CURATOR_LEASES, *names)
    return [*folder(POOL, "leases", "locks"), *folder(CURATOR_GATE), *leases, *nodes]


def test_more_leases_than_configured_are_still_held() -> None:
    """Ann has her lease, so she does not wait for bob, who waits for her."""
    facts = [*curator_leases("bob", "ann", "cid"), *lock("/locks/x", "ann", "bob")]
    report = seen(facts, Root(POOL, leases=1), Root("/locks/x"))

    assert [holder.owner for holder in report.view(Text(POOL)).holders] == ["bob", "ann", "cid"]
    assert report.deadlocks == ()
    assert [blocker.actors for blocker in report.blockers] == [(f"{session('ann'):#x}",)]


def test_a_foreign_child_takes_no_lease_from_a_holder() -> None:
    """Their number is unknown, so all that are out are held: ann waits for cid, who may go on."""
    gate = created(ANN_AT_CURATOR_GATE, "dot", 95)
    facts = [*curator_leases(None, "ann", "cid"), gate, *lock("/locks/x", "cid", "ann")]
    report = seen(facts, Root(POOL), Root("/locks/x"))

    assert [holder.owner for holder in report.view(Text(POOL)).holders] == ["ann", "cid"]
    assert (f"{session('cid'):#x}",) in [blocker.actors for blocker in report.blockers]


def test_a_holder_that_watches_another_one_does_not_sleep() -> None:
    """Bob holds his ledger; whatever he watches, he waits for no event."""
    names = [f"urL000000000{number}" for number in (1, 2, 3)]
    owners = ("ann", "bob", "cid")
    nodes = (
        created(f"{LEDGERS}/{name}", owner, 60) for name, owner in zip(names, owners, strict=True)
    )
    listed = [*folder(LEDGERS, *names), *nodes]
    rows = {"ann": (), "bob": (f"{LEDGERS}/{names[2]}",), "cid": ()}
    examiner, now, rules = Examiner(), World().after(*listed), []
    for at in (NOW, NOW + 60_000, NOW + 120_000):
        tables = connections(ZK1, *map(row, owners), at=at), watches(ZK1, rows, at=at)
        now = now.after(*tables)
        rules += [finding.rule for finding in examiner.look(now, at).findings]

    assert "D7" not in rules
