"""The text of a snapshot: whole pages for a few stories, and rules for all of them."""

import re

import msgspec
import pytest
from msgspec.structs import replace
from output.stories import NOW, shot

from zktop.model.facts import Denied
from zktop.model.format import iso
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.output.schema import ExpiredSessionJson, FreedLockJson, LockJson, SnapshotJson
from zktop.output.snapshot_text import age, contender_row, lines

DEADLOCK = """\
zktop  zk1:2181,zk2:2181/app  connected  no server asked
1970-01-01T00:17:42.000Z  3 locks, 1 deadlock, 0 other findings

DEADLOCK #1  cycle, likely (C2), for 1m32s, 2 more behind
  B holds /locks/y and waits for /locks/x, which A holds; A waits for /locks/y.
  1  B holds /locks/y and waits for /locks/x behind A
  2  A holds /locks/x and waits for /locks/y behind B, completing the deadlock
  to resolve: kill A (session 0x100000007fc56270), which holds one lock and has
    waited the least: unblocks 3 others
  to resolve: kill B (session 0x100000009d5ed678), which holds one lock:
    unblocks 3 others

/locks/x  mutex  kazoo-lock  1 waiting
  holds   X A                                        0x100000007fc56270   >=2.0s
  waits   X B  behind 0000000000                     0x100000009d5ed678  >=1m32s

/locks/y  mutex  kazoo-lock  3 waiting
  holds   X B                                        0x100000009d5ed678  >=1m32s
  waits   X A  behind 0000000000                     0x100000007fc56270  >=1m32s
  waits   X C  behind 0000000001 +1                  0x100000000d61f837  >=1m32s
  waits   X D  behind 0000000002 +2                  0x10000000f623e75a  >=1m32s

1 lock held, no waiters
  /locks/z                       X E                 0x100000003a3ea00c   >=2.0s
"""
KINDS = """\
/locks/e  election  post  1 waiting
  holds   C L                                        0x10000000d20caec3   >=2.0s
  waits   C F  behind 0000000000                     0x1000000080061894  >=1m32s

/locks/l  read-write  kazoo-lock  3 waiting
  holds   R A                                        0x100000007fc56270  >=1m32s
  holds   R B                                        0x100000009d5ed678  >=1m32s
  waits   W C  behind 0000000001 +1                  0x100000000d61f837  >=1m32s
  waits   R D  behind 0000000002 +2                  0x10000000f623e75a  >=1m32s
  waits   R E  behind 0000000002 +2                  0x100000003a3ea00c  >=1m32s

/locks/p  semaphore of 2  pool  1 waiting
  holds   S A                                        0x100000007fc56270   >=2.0s
  holds   S C                                        0x100000000d61f837   >=2.0s
  waits   S D  behind 0000000001 +1                  0x10000000f623e75a  >=1m32s
"""
HIDDEN = """\
WARNING hidden-by-acl (R4), confirmed (C4), for 2.0s
  The ACL of /locks/secret does not let zktop list its children.
  Give zktop an identity that may read the locks (--auth).

/locks/secret  other  unknown
  its children cannot be listed: the ACL forbids it
"""


def page(taken: SnapshotJson) -> str:
    """All lines."""
    return "\n".join(lines(taken))


def test_deadlocks_come_first() -> None:
    """In one sentence, then step by step, then the locks it is about; quiet ones are folded."""
    text = page(shot("X x: A B ; Y x: B A C D ; Z x: E"))

    assert text.startswith(DEADLOCK + "\nno data: ")


def test_a_disconnected_client_is_not_to_be_killed() -> None:
    """Its process may be gone; its session expires by itself."""
    taken = shot("X x: A B ; Y x: B A")
    (dead,) = taken.deadlocks
    way = replace(dead.ways_out[0], why="is disconnected and expires by itself")

    words = " ".join(page(replace(taken, deadlocks=[replace(dead, ways_out=[way])])).split())

    assert "to resolve: wait for A (session 0x100000007fc56270), which is disconnected" in words


def test_a_kill_that_resolves_nothing_alone_is_no_way_out_by_itself() -> None:
    """Each of two upgraders also waits for its own read lock."""
    words = " ".join(page(shot("L rw: A.R B.R A.W B.W")).split())

    assert words.count("unblocks no others by itself") == 2


def test_every_kind_of_lock_reads_alike() -> None:
    """A mode, an owner, the contender ahead, the session and the time."""
    text = page(shot("L rw: A.R B.R C.W D.R E.R ; P sem(2): A C D ; E elect: L F"))

    assert KINDS in text


def test_a_lock_that_may_not_be_listed_shows_the_reason() -> None:
    """An empty queue would be wrong."""
    denied = Denied(path=Text("/locks/secret"), what="list", zxid=500, at=NOW)
    roots = Settings(roots=(Root("/locks/secret"), Root("/locks/**")))
    text = page(shot("X x: A", denied, judged_by=roots))

    assert HIDDEN in text


def test_a_hold_and_a_finding_seen_for_no_time_show_no_duration() -> None:
    """At least 0 ms would say nothing, and the finding may be old."""
    taken = shot("X x: A")
    (lock,), (holder,) = taken.locks, taken.locks[0].holders
    held = msgspec.structs.replace(holder, since=taken.taken_at, since_is="at-least")
    denied = Denied(path=Text("/locks/secret"), what="list", zxid=500, at=NOW)
    roots = Settings(roots=(Root("/locks/secret"), Root("/locks/**")))
    (found,) = shot("X x: A", denied, judged_by=roots).findings
    text = page(
        msgspec.structs.replace(
            taken,
            locks=[msgspec.structs.replace(lock, holders=[held])],
            findings=[msgspec.structs.replace(found, since=taken.taken_at)],
        )
    )

    assert f"{held.session}        ?\n" in text
    assert "\nWARNING hidden-by-acl (R4), confirmed (C4)\n" in text


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"since_is": "seen"}, "30s"),
        ({"since_is": "at-least"}, ">=30s"),
        ({"since": None, "since_is": "at-least"}, ">=1m30s"),
        ({"since": None, "created": None, "since_is": "unknown"}, "?"),
    ],
)
def test_an_age_says_how_sure_it_is(change: dict[str, str | None], shown: str) -> None:
    """Since the node was created, if it is unknown since when the client has held or waited."""
    (holder,) = shot("X x: A").locks[0].holders
    known = msgspec.structs.replace(holder, since=iso(NOW - 30_000), created=iso(NOW - 90_000))

    assert age(msgspec.structs.replace(known, **change), NOW) == shown


@pytest.mark.parametrize("change", [{"error": "unreadable"}, {"warnings": ["foreign-members"]}])
def test_a_held_lock_with_a_problem_has_lines_of_its_own(change: dict[str, object]) -> None:
    """One line for a lock has no room for the problem."""
    taken = shot("X x: A")
    locks = [msgspec.structs.replace(taken.locks[0], **change)]

    assert "\n/locks/x  mutex" in page(msgspec.structs.replace(taken, locks=locks))
    assert "\n/locks/x  mutex" not in page(taken)


@pytest.mark.parametrize(
    ("verdict", "shown"),
    [
        ("missing", " NO WATCH  0x"),
        ("elsewhere", " WATCHES ELSEWHERE  0x"),
        ("confirmed", "…  0x"),
    ],
)
def test_a_problem_with_a_watch_is_not_cut(verdict: str, shown: str) -> None:
    """A long name may be."""
    (lock,) = shot("X x: A B C").locks
    last = lock.waiters[-1]
    watch = msgspec.structs.replace(last.watch, verdict=verdict)
    named = msgspec.structs.replace(last, name="import-worker-of-the-shop-17", watch=watch)

    assert shown in contender_row(named, NOW)


def test_two_readers_of_a_lock_have_a_line_each() -> None:
    """Also if no client waits."""
    assert page(shot("L rw: A.R B.R")).count("\n  holds   R ") == 2


def test_a_long_path_of_a_quiet_lock_has_a_line_of_its_own() -> None:
    """The holder is below."""
    taken = shot("X x: A")
    path = "/locks/" + "x" * 40
    text = page(
        msgspec.structs.replace(taken, locks=[msgspec.structs.replace(taken.locks[0], path=path)])
    )

    assert re.search(rf"\n  {path}\n {{30,}}X A  ", text)


def test_a_stranded_waiter_is_named_so() -> None:
    """It waits for nothing."""
    taken = shot("X x: A B")
    (lock,), (waiter,) = taken.locks, taken.locks[0].waiters
    lock = msgspec.structs.replace(lock, waiters=[msgspec.structs.replace(waiter, stranded=True)])

    assert "\n  stranded X B" in page(msgspec.structs.replace(taken, locks=[lock]))


def test_a_client_that_waits_for_the_lock_node_itself_is_behind_nothing() -> None:
    """Its path is in the line above, and `.` names no node."""
    taken = shot("X x: A B")
    (lock,), (waiter,) = taken.locks, taken.locks[0].waiters
    behind = msgspec.structs.replace(waiter, node=None, blocked_by=["."])
    lock = msgspec.structs.replace(lock, waiters=[behind])
    text = page(msgspec.structs.replace(taken, locks=[lock]))

    assert "waits   X B    " in text


def test_the_middle_of_a_long_queue_is_counted() -> None:
    """The first contenders and the last are shown, and the order of modes."""
    first, second = (" ".join(f"{c}{n}.R" for n in range(5_000)) for c in "RS")
    text = page(shot(f"L rw: A.W {first} W.W {second}"))
    rows = [line for line in text.splitlines() if line.startswith(("  waits", "  ..."))]

    assert len(rows) == 10
    assert rows[8] == "  ...     9992 more wait, in all R5000 W R5000"


def test_a_waiter_with_a_problem_is_never_folded_away() -> None:
    """Problems must be visible."""
    taken = shot("X x: " + " ".join(f"W{number}" for number in range(50)))
    (lock,) = taken.locks
    broken = with_verdict(lock, 30, "missing")
    text = page(msgspec.structs.replace(taken, locks=[broken]))

    assert "W31  behind 0000000030 +30 NO WATCH" in text


def with_verdict(lock: LockJson, place: int, verdict: str) -> LockJson:
    """The lock with another verdict on the watch of one waiter."""
    waiters = list(lock.waiters)
    watch = msgspec.structs.replace(waiters[place].watch, verdict=verdict)
    waiters[place] = msgspec.structs.replace(waiters[place], watch=watch)
    return msgspec.structs.replace(lock, waiters=waiters)


def test_the_middle_of_a_long_ring_is_counted() -> None:
    """Its first steps, and how it closed."""
    ring = " ; ".join(f"L{n} x: A{n} A{(n - 1) % 50}" for n in range(50))
    steps = [
        line for line in page(shot(ring)).splitlines() if re.match(r" {1,2}\d+  A|     \.", line)
    ]

    assert [line.split()[0] for line in steps] == ["1", "2", "3", "...", "49", "50"]
    assert steps[3] == "     ... 45 more ..."
    assert steps[-1].endswith("completing the")  # deadlock


STORIES = [
    "X x: A B ; Y x: B A C D",
    "L rw: A.R B.R C.W D.R ; P sem(2): A C D ; E elect: L F",
    " ; ".join(f"Lock{n} x: A{n}" for n in range(300)),
    f"{'Long' * 30} x: A B ; {'Wide' * 30} x: B",
    f"X x: {'o' * 90} {'p' * 90}",
]


@pytest.mark.parametrize("story", STORIES, ids=["deadlock", "kinds", "300", "paths", "owners"])
def test_everything_fits_into_80_columns(story: str) -> None:
    """Except for a long path or name, which is never cut, so that it can be copied."""
    wide = [line for line in page(shot(story)).splitlines() if len(line) > 80]

    assert all(len(max(line.split(), key=len)) > 70 for line in wide)


def test_ten_quiet_locks_are_ten_lines() -> None:
    """One line each."""
    text = page(shot(" ; ".join(f"Lock{n} x: A{n}" for n in range(10))))

    assert len([line for line in text.splitlines() if line.startswith("  /locks/lock")]) == 10


@pytest.mark.parametrize("layout", ["single-node", "hadoop-elector"])
@pytest.mark.parametrize(("watches", "seen"), [("none", " seen"), ("some", " seen"), ("all", "")])
def test_without_all_watch_tables_clients_that_only_watch_are_unknown(
    watches: str, seen: str, layout: str
) -> None:
    """Each is in the table of its own server, so the list may leave some out."""
    taken = shot("Lock x: A")
    sees = msgspec.structs.replace(taken.source.sees, watches=watches)
    source = msgspec.structs.replace(taken.source, sees=sees)
    watched = msgspec.structs.replace(taken.locks[0], layout=layout)
    text = page(msgspec.structs.replace(taken, source=source, locks=[watched]))

    assert f"1 lock held, no waiters{seen}\n" in text


def test_expired_sessions_are_listed_newest_first() -> None:
    """What each freed, who got it and when, and the queues that it left."""
    freed = FreedLockJson(lock="/a", next="bob", next_session="0x2", after_s=1.5)
    unknown = FreedLockJson(lock="/c", next=None, next_session=None, after_s=2.0)
    first = ExpiredSessionJson(
        at="1970-01-01T00:17:20.000Z",
        session="0x1",
        owner="alice",
        client=None,
        freed=[freed],
        left=["/b"],
    )
    second = msgspec.structs.replace(
        first,
        at="1970-01-01T00:17:30.000Z",
        owner=None,
        freed=[FreedLockJson(lock="/a", next=None, next_session=None, after_s=None), unknown],
        left=[],
    )
    text = "\n".join(
        lines(
            msgspec.structs.replace(
                shot("X x: A B ; Y x: B A C D ; Z x: E"), expiries=[first, second]
            )
        )
    )

    assert (
        """
2 sessions expired
  00:17:30Z  0x1: freed /a, freed /c, which an unknown client got 2.0s later
  00:17:20Z  alice: freed /a, which bob got 1.5s later, left the queue of /b"""
        in text
    )
