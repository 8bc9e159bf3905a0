"""A snapshot has the right values, and fits its schema."""

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.make_facts import figures, kazoo_name, row, session
from output.stories import LATER, NOW, report, shot, tables

from zktop.cli.schema import _schema
from zktop.model.facts import Children, Node, Stat
from zktop.model.history.expired_sessions import ExpiredSession, FreedLock
from zktop.model.report import Cost
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.output.event_stream import EventStream
from zktop.output.schema import ContenderJson, SnapshotJson
from zktop.output.snapshot_json import expired_json, snapshot

STORIES = {
    "deadlock": "X x: A B ; Y x: B A C",
    "read-write": "L rw: A.R B.R C.W D.R",
    "semaphore": "P sem(2): A C D E ; X x: A",
    "election": "E elect: L F H",
    "quiet": "X x: A",
}
SNAPSHOT, EVENT = (
    jsonschema.Draft202012Validator(_schema(name)) for name in ("snapshot", "events")
)


def names(contenders: list[ContenderJson]) -> list[str | None]:
    """Their owners."""
    return [contender.owner for contender in contenders]


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_snapshot_fits_its_schema(story: str) -> None:
    """The one that `zktop schema snapshot` prints."""
    SNAPSHOT.validate(msgspec.json.decode(msgspec.json.encode(shot(story))))


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_an_event_line_fits_its_schema(story: str) -> None:
    """The one that `zktop schema events` prints."""
    lines = list(EventStream().events(report(story)))

    assert lines
    for line in lines:
        EVENT.validate(msgspec.json.decode(msgspec.json.encode(line)))


def test_the_schema_refuses_a_wrong_word() -> None:
    """It accepts known words only."""
    made = msgspec.to_builtins(shot(STORIES["quiet"]))
    made["locks"][0]["kind"] = "mutexx"

    assert not SNAPSHOT.is_valid(made)


@pytest.mark.parametrize("name", ["snapshot", "events", "free", "report"])
def test_a_document_without_the_name_of_its_schema_is_refused(name: str) -> None:
    """Readers choose by it how to read the rest."""
    schema = _schema(name)

    assert "schema" in schema["$defs"][schema["$ref"].rpartition("/")[2]]["required"]


@pytest.mark.parametrize("name", ["snapshot", "free", "report"])
def test_no_field_is_left_out(name: str) -> None:
    """Unknown is null, so all fields are required; only events leave out what they do not have."""
    objects = [one for one in _schema(name)["$defs"].values() if "properties" in one]

    assert len(objects) > 5
    for one in objects:
        assert sorted(one["required"]) == sorted(one["properties"]), one["title"]


TRUTH = {
    # story: kind, leases, holders, waiters, and whom each waiter waits for
    "X x: A B C": ("mutex", None, ["A"], ["B", "C"], [["A"], ["A", "B"]]),
    "L rw: A.R B.R C.W D.R": (
        "read-write",
        None,
        ["A", "B"],
        ["C", "D"],
        [["A", "B"], ["A", "B", "C"]],
    ),
    "P sem(2): A C D": ("semaphore", 2, ["A", "C"], ["D"], [["A", "C"]]),
    "E elect: L F": ("election", None, ["L"], ["F"], [["L"]]),
}


@pytest.mark.parametrize("story", TRUTH)
def test_a_known_lock_is_shown_as_it_is(story: str) -> None:
    """Kind, holders, waiters in order, and which contenders must go first."""
    kind, leases, holders, waiters, blockers = TRUTH[story]
    (lock,) = shot(story).locks
    owner_of = {one.node: one.owner for one in (*lock.holders, *lock.waiters)}

    assert (lock.kind, lock.leases) == (kind, leases)
    assert (names(lock.holders), names(lock.waiters)) == (holders, waiters)
    found = [sorted(str(owner_of[node]) for node in waiter.blocked_by) for waiter in lock.waiters]
    assert found == blockers


def test_a_watch_is_shown_with_its_paths() -> None:
    """Expected and actual watches, as absolute paths."""
    first = f"/locks/x/{kazoo_name('A0', 0)}"
    (lock,) = shot("X x: A B", *tables("AB", {"B": (first,)}, LATER)).locks
    watch = lock.waiters[0].watch

    assert [(one.path, one.how) for one in watch.expected] == [(first, "data")]
    assert (watch.actual, watch.verdict) == ([first], "confirmed")


def test_a_client_that_only_watches_a_single_node_is_a_waiter() -> None:
    """It has no node, and its watch has an absolute path."""
    stat = Stat(5, 5, NOW, owner=session("A"))
    facts = [
        Children(path=Text("/app"), names=(Text("leader"),), stat=Stat(1, 1, 0), zxid=9, at=NOW),
        Node(path=Text("/app/leader"), stat=stat, data=b"A", zxid=9, at=NOW),
        Children(path=Text("/app/leader"), names=(), stat=stat, zxid=9, at=NOW),
        *tables("AB", {"B": ("/app/leader",)}, LATER),
    ]
    taken = shot("X x: C", *facts, judged_by=Settings(roots=(Root("/app/leader"),)))
    (waiter,) = taken.locks[0].waiters

    assert (waiter.node, waiter.session, waiter.blocked_by) == (
        None,
        session_text(session("B")),
        ["."],
    )
    assert [one.path for one in waiter.watch.expected] == ["/app/leader"]
    assert (waiter.watch.actual, waiter.watch.verdict) == (["/app/leader"], "confirmed")


def test_unknown_is_null() -> None:
    """Never 0 and never an empty text, if no table was read."""
    taken = shot("X x: A B")
    found = taken.sessions[session_text(session("A"))]

    assert (found.client, found.server, found.timeout_ms, found.expires_in_s) == (None,) * 4
    assert taken.locks[0].waiters[0].watch.actual is None
    assert taken.source.sees == msgspec.convert(
        {"sessions": "none", "watches": "none", "expiry": "none"}, type(taken.source.sees)
    )
    assert taken.cost is None


def test_a_session_is_shown_with_its_client_and_its_times() -> None:
    """In seconds; it expires within a tick of its server."""
    taken = shot("X x: A B", *tables("AB", {}, LATER))
    found = taken.sessions[session_text(session("A"))]

    assert (found.client, found.server) == (row("A").client, "zk1:2181")
    assert (found.timeout_ms, found.last_contact_s) == (10_000, 0.1)
    assert found.expires_in_s == (7.9, 10.9)
    assert (found.holds, found.waits) == (["/locks/x"], [])


def test_the_source_is_zktops_own_connection() -> None:
    """And the newest transaction that it has read."""
    source = shot("X x: A").source

    assert (source.state, source.zxid) == ("connected", "0x65")
    assert source.session == session_text(session("zktop"))
    assert (source.hosts, source.chroot) == ("zk1:2181,zk2:2181", "/app")


def test_an_expired_session_is_shown_with_the_client_that_followed() -> None:
    """After how many seconds; both are null as long as the lock is free."""
    ann, bob = session("ann"), session("bob")
    freed = (FreedLock(Text("/locks/x"), Text("bob"), bob, 2_500), FreedLock(Text("/locks/y")))
    made = expired_json(ExpiredSession(NOW, ann, Text("ann"), None, freed))

    assert [(one.next_session, one.after_s) for one in made.freed] == [
        (session_text(bob), 2.5),
        (None, None),
    ]


def test_a_server_is_shown_with_its_figures() -> None:
    """Figures that it did not report are null."""
    (server,) = shot("X x: A", figures(Text("zk1:2181"), watches=7)).source.servers

    assert (server.address, server.mode, server.watches, server.znodes) == (
        "zk1:2181",
        "leader",
        7,
        None,
    )


def test_a_deadlock_is_shown_step_by_step() -> None:
    """What each actor holds and waits for, and which request closed it."""
    (deadlock,) = shot("X x: A B ; Y x: B A C").deadlocks
    first, last = deadlock.steps

    assert (deadlock.rule, deadlock.kind, deadlock.behind) == ("D1", "cycle", 1)
    assert set(deadlock.actors) == {session_text(session(name)) for name in "AB"}
    assert (first.closing, last.closing) == (False, True)
    assert (first.waits_for, last.waits_for) == (last.actor, first.actor)
    assert [held.lock for held in last.holds] == ["/locks/x"]
    assert last.waits.lock == "/locks/y"


def test_the_cost_is_what_the_source_says() -> None:
    """Number for number."""
    made = msgspec.structs.replace(report("X x: A"), cost=Cost(3, 40, 500, 1.5))
    cost = snapshot(made).cost

    assert cost is not None
    assert msgspec.to_builtins(cost) == {
        "watches": 3,
        "requests": 40,
        "bytes_in": 500,
        "requests_per_s": 1.5,
    }


@given(st.lists(st.sampled_from(["A.R", "B.R", "C.W", "D.W", "E.R"]), min_size=1, max_size=8))
def test_any_queue_fits_the_schema_and_is_complete(who: list[str]) -> None:
    """Each contender is a holder or a waiter, once."""
    taken = shot("L rw: " + " ".join(who))
    (lock,) = taken.locks

    SNAPSHOT.validate(msgspec.json.decode(msgspec.json.encode(taken)))
    assert sorted(map(str, names(lock.holders) + names(lock.waiters))) == sorted(
        place[0] for place in who
    )


def test_a_snapshot_can_be_read_back() -> None:
    """With the same types."""
    taken = shot("X x: A B ; Y x: B A")

    assert msgspec.json.decode(msgspec.json.encode(taken), type=SnapshotJson) == taken
