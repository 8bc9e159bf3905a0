"""Numbered nodes that are no lock: how a registry differs from a queue of waiters."""

from collections.abc import Iterable, Sequence

import msgspec
import pytest
from model.locks.lock_worlds import world_of
from model.make_facts import NOW, ZK1, kazoo_name, own, session, watches, world

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Gone, Node, Stat, Watches, join
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.not_locks import DOUBTFUL
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.locks.shapes import layout_named
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

WORKERS = "/app/workers"
ANN, BOB = session("ann"), session("bob")


def found_at(
    path: str,
    names: Sequence[str],
    owners: Sequence[int],
    *tables: AnyFact,
    settings: Settings | None = None,
) -> Lock | NotALock:
    """Recognise a path with these members."""
    known = world_of(names, path=path, owners=owners, next_sequence=9).after(own(), *tables)
    return lock_at(path, known, settings or Settings(), NOW)


def numbered(prefix: str, count: int) -> list[str]:
    """Return names as the server completes them."""
    return [f"{prefix}{number:010d}" for number in range(count)]


def nothing_watched(*, zxid: int = 1_000_000) -> Watches:
    """Return a table in which another session watches another node."""
    return watches(ZK1, {"zoe": ("/elsewhere",)}, zxid=zxid)


def test_several_unwatched_members_of_one_session_are_a_registry() -> None:
    """A client that registers two hosts waits for no one."""
    found = found_at("/app/pool", numbered("host-", 2), [ANN, ANN], nothing_watched())

    assert isinstance(found, NotALock)
    assert found.kind == "not-a-lock:registry"


def test_several_registrants_are_a_registry_when_one_of_them_owns_two() -> None:
    """A process of two hosts beside a process of one: no watch, so no waiter."""
    found = found_at("/app/pool", numbered("host-", 3), [ANN, BOB, ANN], nothing_watched())

    assert isinstance(found, NotALock)


def test_a_folder_of_workers_is_a_registry_without_any_table() -> None:
    """The name of the folder decides."""
    found = found_at(WORKERS, numbered("host-", 3), [ANN, BOB, session("cid")])

    assert isinstance(found, NotALock)


@pytest.mark.parametrize("name", ["workers", "job_queue", "live-nodes", "Members", "items"])
def test_folders_that_list_things_are_known_by_their_names(name: str) -> None:
    """The last word of the folder's name counts."""
    found = found_at(f"/app/{name}", numbered("entry-x-", 2), [ANN, BOB])

    assert isinstance(found, NotALock)


def test_all_members_of_one_session_are_a_registry_without_any_table() -> None:
    """There is no other session to wait for."""
    found = found_at("/app/pool", numbered("host-", 2), [ANN, ANN])

    assert isinstance(found, NotALock)


def test_two_sessions_are_a_lock_while_no_table_tells() -> None:
    """In doubt what looks like a queue is shown as one."""
    found = found_at("/app/pool", numbered("host-", 3), [ANN, BOB, ANN])

    assert isinstance(found, Lock)


def test_threads_of_one_session_that_wait_are_a_lock() -> None:
    """The second thread watches the node of the first."""
    names = numbered("host-", 2)
    table = watches(ZK1, {"ann": (f"/app/pool/{names[0]}",)})

    assert isinstance(found_at("/app/pool", names, [ANN, ANN], table), Lock)


def test_a_lock_among_workers_is_a_lock_when_a_client_waits() -> None:
    """A watch is better evidence than the name of the folder."""
    names = numbered("host-", 2)
    table = watches(ZK1, {"bob": (f"{WORKERS}/{names[0]}",)})

    assert isinstance(found_at(WORKERS, names, [ANN, BOB], table), Lock)


def test_a_session_that_watches_all_of_its_own_nodes_only_guards_them() -> None:
    """Curator's PersistentNode sets a watch on each node that it keeps."""
    names = numbered("host-", 2)
    table = watches(ZK1, {"ann": tuple(f"/app/pool/{name}" for name in names)})

    assert isinstance(found_at("/app/pool", names, [ANN, ANN], table), NotALock)


def test_an_observer_does_not_make_a_registry_a_lock() -> None:
    """A client that looks services up watches them and owns none."""
    names = numbered("host-", 2)
    table = watches(ZK1, {"zoe": (f"{WORKERS}/{names[0]}",)})

    assert isinstance(found_at(WORKERS, names, [ANN, ANN], table), NotALock)


def test_a_table_older_than_the_members_proves_nothing() -> None:
    """It was read before the newest of them could set a watch."""
    owners = [ANN, BOB, ANN]
    found = found_at("/app/pool", numbered("host-", 3), owners, nothing_watched(zxid=50))

    assert isinstance(found, Lock)


@pytest.mark.parametrize("path", ["/locks/import", "/app/leader-election"])
@pytest.mark.parametrize("prefix", ["lock-", "n_", "x-lock-"])
def test_names_of_locks_are_locks(path: str, prefix: str) -> None:
    """What is called a lock is one, however many places one session has in it."""
    found = found_at(path, numbered(prefix, 2), [ANN, ANN], nothing_watched())

    assert isinstance(found, Lock)


@pytest.mark.parametrize("path", ["/locks", "/app/mutex", "/app/master"])
def test_folders_of_locks_hold_locks(path: str) -> None:
    """A folder that is called like a lock is one, whatever its members are called."""
    found = found_at(path, numbered("host-", 2), [ANN, ANN], nothing_watched())

    assert isinstance(found, Lock)


def test_among_locks_only_a_table_tells_a_registry() -> None:
    """A lock may well be called `queue`: below `/locks` a name proves nothing."""
    names = numbered("host-", 2)

    assert isinstance(found_at("/locks/queue", names, [ANN, ANN]), Lock)
    assert isinstance(found_at("/locks/queue", names, [ANN, ANN], nothing_watched()), NotALock)


def test_the_users_settings_always_win() -> None:
    """A stated layout is never doubted."""
    settings = Settings(roots=(Root(path=WORKERS, layout="named-sequence"),))
    names = numbered("host-", 2)

    assert isinstance(
        found_at(WORKERS, names, [ANN, ANN], nothing_watched(), settings=settings), Lock
    )


def test_the_layouts_of_the_user_are_not_doubted() -> None:
    """He wrote down that such names are contenders."""
    jobs = Layout(name="jobs", pattern="^host-{SEQ}$")
    found = found_at(WORKERS, numbered("host-", 2), [ANN, ANN], settings=Settings(layouts=(jobs,)))

    assert isinstance(found, Lock)
    assert found.layout == "jobs"


def listed(path: str, names: Sequence[str], owners: Sequence[int]) -> Iterable[AnyFact]:
    """Return the facts of a folder and its members."""
    stat = Stat(50, 50, 0, cversion=len(names), num_children=len(names), pzxid=200)
    yield Children(path=Text(path), names=tuple(map(Text, names)), stat=stat, zxid=200, at=NOW)
    for number, (name, owner) in enumerate(zip(names, owners, strict=True)):
        born = Stat(100 + number, 100 + number, NOW, owner=owner)
        yield Node(path=join(path, name), stat=born, data=b"", zxid=200, at=NOW)


def report_of(*rounds: Iterable[AnyFact], settings: Settings | None = None) -> Report:
    """Look once after each round of facts."""
    examiner, known = Examiner(settings), world(own())
    for number, facts in enumerate(rounds):
        known = known.after(*facts)
        report = examiner.look(known, NOW + 10_000 * number)
    return report


def test_a_registry_is_neither_listed_nor_wrong() -> None:
    """There is no finding about it."""
    facts = listed(WORKERS, numbered("host-", 6), [ANN] * 6)
    report = report_of(
        facts, [nothing_watched()], [msgspec.structs.replace(nothing_watched(), at=NOW + 20_000)]
    )

    assert report.paths == ()
    assert report.findings == ()


def test_a_registry_that_the_user_named_is_listed_as_such() -> None:
    """He would wonder else where it is."""
    settings = Settings(roots=(Root(path=WORKERS),))
    report = report_of(listed(WORKERS, numbered("host-", 3), [ANN] * 3), settings=settings)
    view = report.view(WORKERS)

    assert view is not None
    assert (view.lock.layout, view.lock.kind) == ("not-a-lock:registry", "other")
    assert list(view.holders) == list(view.waiters) == []
    assert report.findings == ()


def test_the_first_watch_between_members_makes_it_a_lock() -> None:
    """A table that comes later is heard, although no node has changed."""
    names = numbered("host-", 2)
    facts = list(listed("/app/pool", names, [ANN, ANN]))
    table = watches(ZK1, {"ann": (f"/app/pool/{names[0]}",)}, at=NOW + 10_000)

    assert report_of(facts).paths == ()
    assert report_of(facts, [table]).paths == ("/app/pool",)


def test_a_registry_that_the_user_named_becomes_a_lock_with_the_first_watch() -> None:
    """Its members existed before, so they neither queue nor acquire it now."""
    names = numbered("host-", 3)
    facts = list(listed("/app/workers", names, [ANN, BOB, ANN]))
    table = watches(ZK1, {"bob": (f"/app/workers/{names[0]}",)}, at=NOW + 10_000)
    settings = Settings(roots=(Root(path="/app/workers"),))

    report = report_of(facts, [table], settings=settings)
    view = report.view("/app/workers")

    assert view is not None
    assert [member.node for member in view.lock.holders] == names[:1]
    assert report.events == ()


@pytest.mark.parametrize(
    ("path", "names", "owner", "says"),
    [
        (WORKERS, numbered("host-", 3), ANN, "its children look like those of a registry"),
        ("/q", numbered("entry-100-", 2), 0, "its children look like those of a queue"),
        ("/locks", ["a", "b"], 0, "if it is a folder of locks, use --root '/locks/**'"),
    ],
)
def test_a_named_path_that_is_no_lock_is_not_shown_as_free(
    path: str, names: list[str], owner: int, says: str
) -> None:
    """Its `error` says what it is, and no finding blames an ACL."""
    settings = Settings(roots=(Root(path=path),))
    report = report_of(listed(path, names, [owner] * len(names)), settings=settings)

    lock = report.records[Text(path)].lock
    assert lock.is_not_a_lock
    assert says in (lock.error or "")
    assert report.findings == ()


def test_a_named_lock_with_a_stray_child_is_free() -> None:
    """With a contender it is a lock, so `check` would fail after each release."""
    settings = Settings(roots=(Root(path="/app/lock"),))
    report = report_of(listed("/app/lock", ["README"], [0]), settings=settings)

    assert not report.records[Text("/app/lock")].lock.is_not_a_lock


@pytest.mark.parametrize("path", ["/locks", "/app/queue"])
def test_a_path_that_the_user_named_goes_on_being_no_lock(path: str) -> None:
    """Folders that come there are no foreign children of a lock."""
    settings = Settings(roots=(Root(path=path),))

    def folders(*names: str) -> Children:
        stat = Stat(50, 50, 0, cversion=len(names), num_children=len(names), pzxid=200)
        zxid = 200 + len(names)
        return Children(path=Text(path), names=tuple(map(Text, names)), stat=stat, zxid=zxid, at=1)

    rounds = [[folders(*"abc"[:number])] for number in range(4)]

    report = report_of(*rounds, settings=settings)
    view = report.view(path)

    assert view is not None
    assert (view.lock.foreign, report.findings, report.events) == ((), (), ())


def test_a_table_without_watches_takes_a_guessed_lock_back() -> None:
    """The first table shows that a doubtful queue is none."""
    facts = list(listed("/app/pool", numbered("host-", 3), [ANN, BOB, ANN]))

    assert report_of(facts).paths == ("/app/pool",)
    assert report_of(facts, [nothing_watched()]).paths == ()


@pytest.mark.parametrize("roots", [(), (Root(path="/app/pool"),)], ids=["found", "named"])
def test_a_lock_that_is_taken_back_has_no_more_events(roots: tuple[Root, ...]) -> None:
    """No client released it or gave up, and no znode was deleted."""
    facts = list(listed("/app/pool", numbered("host-", 3), [ANN, BOB, ANN]))

    report = report_of(facts, [nothing_watched()], settings=Settings(roots=roots))

    assert report.events == ()


def test_a_lock_that_is_recognised_again_was_not_created_again() -> None:
    """Its znode was there all the time."""
    names = numbered("host-", 3)
    facts = list(listed("/app/pool", names, [ANN, BOB, ANN]))
    watched = watches(ZK1, {"bob": (f"/app/pool/{names[0]}",)}, at=NOW + 20_000)

    view = report_of(facts, [nothing_watched()], [watched]).view("/app/pool")

    assert view is not None
    assert view.history.generation == 0


def test_a_member_that_leaves_a_lock_that_is_taken_back_has_left_it() -> None:
    """What remains is an ephemeral znode of another kind."""
    name = kazoo_name("ann", 0)
    facts = list(listed("/app/pool", [name, "other"], [ANN, BOB]))
    gone = Gone(path=Text(f"/app/pool/{name}"), zxid=201, at=NOW + 10_000)

    report = report_of(facts, [gone])

    assert report.paths == ()
    assert [event.event for event in report.events] == ["released"]


def test_the_layouts_in_doubt_are_in_the_catalogue() -> None:
    """A layout that is renamed must be renamed there, too."""
    assert all(map(layout_named, DOUBTFUL))
