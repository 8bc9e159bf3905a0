"""Real failures of clients: what a snapshot shows before and after."""

import pytest
from clients.client_processes import ClientProcess, Stage
from clients.commands import Check, Ran
from clients.snapshots import (
    LockState,
    held,
    snapshot_when,
    take_snapshot,
    waiting,
    watched_by_server,
)
from demo.lossy_proxy import lossy_proxy
from kazoo.client import KazooClient
from waiting import eventually

pytestmark = pytest.mark.zookeeper

SOON_S = (
    6.0  # the session timeout of clients that are killed or frozen: long enough for a snapshot
)
RECIPES = {"kazoo": ("kazoo-lock", "Lock"), "curator": ("curator-mutex", "InterProcessMutex")}


@pytest.fixture(params=RECIPES)
def library(request: pytest.FixtureRequest) -> str:
    """Both libraries fail alike."""
    return str(request.param)


def start_clients(stage: Stage, library: str, mortal: str, *others: str) -> list[ClientProcess]:
    """Start clients of a library; the first may be killed, in its own process."""
    if library == "curator":
        return [*stage.mortal_curator(mortal, timeout_s=SOON_S), *stage.curator(*others)]
    return [*stage.kazoo(mortal, timeout_s=SOON_S), *stage.kazoo(*others)]


def test_a_holder_is_killed(stage: Stage, library: str) -> None:
    """It holds until its session expires, with a finding; then the next one holds."""
    path, (layout, recipe) = f"{stage.root}/orders", RECIPES[library]
    ann, bob, cem = start_clients(stage, library, "ann", "bob", "cem")
    a, b, c = ann.acquire(recipe, path), bob.ask(recipe, path), cem.ask(recipe, path)

    ann.kill()
    doomed = snapshot_when(lambda seen: seen.found("P1"), stage, path)
    eventually(lambda: bob.now(recipe, path).holds)
    freed = take_snapshot(stage, path)

    gone = held(a, actual=None)
    assert doomed.lock(path) == LockState(
        layout, "mutex", [gone], [waiting(b, a), waiting(c, a, b)]
    )
    assert doomed.found("P1") == [({a.node}, {a.session})]
    assert freed.lock(path) == LockState(
        layout, "mutex", [held(bob.now(recipe, path))], [waiting(c, b)]
    )
    assert a.session not in freed.shot["sessions"]


def test_a_holder_is_frozen(stage: Stage, library: str) -> None:
    """It is reported as silent, loses the lock, and still believes it holds when it wakes."""
    path, (layout, recipe) = f"{stage.root}/orders", RECIPES[library]
    ann, bob = start_clients(stage, library, "ann", "bob")
    a, b = ann.acquire(recipe, path), bob.ask(recipe, path)

    ann.freeze()
    silent = snapshot_when(lambda seen: seen.found("S3"), stage, path)
    eventually(lambda: bob.now(recipe, path).holds)
    ann.thaw()
    after = take_snapshot(stage, path)

    assert silent.lock(path) == LockState(layout, "mutex", [held(a)], [waiting(b, a)])
    assert silent.found("S3") == [({a.node}, {a.session})]
    assert after.lock(path) == LockState(layout, "mutex", [held(bob.now(recipe, path))], [])


def test_a_middle_waiter_is_killed(stage: Stage, library: str) -> None:
    """The waiter behind it now watches the one in front of it."""
    path, (layout, recipe) = f"{stage.root}/orders", RECIPES[library]
    bob, ann, cem = start_clients(stage, library, "bob", "ann", "cem")
    a, b, c = ann.acquire(recipe, path), bob.ask(recipe, path), cem.ask(recipe, path)

    bob.kill()
    eventually(lambda: cem.now(recipe, path).watches not in ([], c.watches))
    seen = take_snapshot(stage, path)

    later = cem.now(recipe, path)
    assert b.watches == later.watches == watched_by_server(stage, later)
    assert seen.lock(path) == LockState(layout, "mutex", [held(a)], [waiting(later, a)])


def test_an_orphan(stage: Stage, check: Check) -> None:
    """A persistent lock node outlives its owner and is never released."""
    path = f"{stage.root}/import"
    (ann,) = stage.kazoo("ann", timeout_s=1.0)
    (bob,) = stage.kazoo("bob")
    a, b = ann.acquire("PersistentLock", path), bob.ask("Lock", path)

    ann.kill()
    seen = snapshot_when(lambda seen: seen.found("B1"), stage, path)

    left = held(a, session=None, actual=None)
    assert seen.lock(path) == LockState("kazoo-lock", "mutex", [left], [waiting(b, a)])
    assert seen.found("B1") == [({a.node}, set())]
    assert "persistent-contender" in seen.warnings(path)
    assert _failed(check()) == ["B1"]


@pytest.mark.parametrize(
    ("recipe", "rule", "layout"),
    [("ForgetfulLock", "B2", "kazoo-lock"), ("CarelessLock", "B3", "plain-lock")],
    ids=["with a guid", "without"],
)
def test_a_ghost(
    stage: Stage, zookeeper: KazooClient, recipe: str, rule: str, layout: str, check: Check
) -> None:
    """After a lost answer, a client waits for its own node without knowing it."""
    path = f"{stage.root}/orders"
    with lossy_proxy(stage.server.address) as proxy:
        (ann,) = stage.kazoo("ann", hosts=proxy.hosts)
        known = ann.ask(recipe, path)
        seen = snapshot_when(lambda seen: seen.found(rule), stage, path)
        failed = _failed(check())
    (ghost,) = set(zookeeper.get_children(path)) - set(known.nodes)

    unknown = known._replace(nodes=[ghost])
    assert proxy.lost.is_set()
    assert known.watches == [f"{path}/{ghost}"]
    assert seen.lock(path) == LockState(
        layout, "mutex", [held(unknown)], [waiting(known, unknown)]
    )
    assert seen.found(rule) == [({ghost, known.node}, {ann.session})]
    assert failed == [rule]


def test_a_client_that_looks_after_a_lost_answer_leaves_no_ghost(
    stage: Stage, zookeeper: KazooClient
) -> None:
    """The lock of kazoo finds the node that it made, and has the lock with it."""
    path = f"{stage.root}/orders"
    with lossy_proxy(stage.server.address) as proxy:
        (ann,) = stage.kazoo("ann", hosts=proxy.hosts)
        known = ann.acquire("Lock", path)
        seen = take_snapshot(stage, path)
    (node,) = zookeeper.get_children(path)

    assert proxy.lost.is_set()
    assert seen.lock(path) == LockState(
        "kazoo-lock", "mutex", [held(known._replace(nodes=[node]))], []
    )
    assert not seen.shot["findings"]


@pytest.mark.parametrize(
    ("recipe", "rule", "verdict"),
    [("PausingLock", "L3", "elsewhere"), ("PausingReader", "L1", "missing")],
    ids=["into the void", "none at all"],
)
def test_a_lost_watch(stage: Stage, recipe: str, rule: str, verdict: str, check: Check) -> None:
    """The predecessor left between the listing and the watch, so nothing wakes the client."""
    path = f"{stage.root}/orders"
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    a, b = ann.acquire("Lock", path), bob.ask("Lock", path)
    cem.does("list", recipe, path)
    bob.cancel("Lock", path)
    c = cem.does("go_on", recipe, path)

    seen = snapshot_when(lambda seen: seen.found(rule), stage, path)

    assert c.watches == ([f"{path}/{b.node}"] if rule == "L3" else [])
    assert c.watches == watched_by_server(stage, c)
    assert seen.lock(path) == LockState(
        "kazoo-lock", "mutex", [held(a)], [waiting(c, a, watch=verdict)]
    )
    assert seen.found(rule) == [({c.node}, {c.session})]
    assert _failed(check()) == [rule]


def test_a_lost_watch_among_clients_of_curator(stage: Stage, check: Check) -> None:
    """Their watches on the ensemble's configuration are not taken for watches on children."""
    path, recipe = f"{stage.root}/orders", "InterProcessMutex"
    (ann, bob), (cem,) = stage.curator("ann", "bob"), stage.kazoo("cem")
    a = ann.acquire(recipe, path)
    bob.ask(recipe, path)
    cem.does("list", "PausingCurator", path)
    bob.cancel(recipe, path)
    c = cem.does("go_on", "PausingCurator", path)

    seen = snapshot_when(lambda seen: seen.found("L1"), stage, path)

    assert seen.lock(path).waiters == [waiting(c, a, watch="missing")]
    assert seen.found("L1") == [({c.node}, {c.session})]
    assert _failed(check()) == ["L1"]


def _failed(ran: Ran) -> list[str]:
    """The rules that made a check fail."""
    assert ran.code == 1, ran
    named = (line.split()[0] for line in ran.lines)
    return [rule for rule in named if not rule.endswith(":") and rule.isupper()]


def test_two_libraries_on_one_path(stage: Stage) -> None:
    """They do not see each other, and two clients believe they hold the lock."""
    path = f"{stage.root}/orders"
    ann, bob = stage.kazoo("ann", "bob")
    cem, dee = stage.curator("cem", "dee")
    a, c = ann.acquire("Lock", path), cem.acquire("InterProcessMutex", path)
    b, d = bob.ask("Lock", path), dee.ask("InterProcessMutex", path)

    seen = take_snapshot(stage, path)

    assert seen.lock(path) == LockState(
        "mixed:curator-mutex+kazoo-lock",
        "mutex",
        [held(a), held(c)],
        [waiting(b, a), waiting(d, c)],
    )
    assert {"mixed-families", "mutual-exclusion-broken"} <= set(seen.warnings(path))
    assert seen.found("S2") == [({a.node, c.node}, {a.session, c.session})]
