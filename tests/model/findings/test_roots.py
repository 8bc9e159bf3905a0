"""R: the root of a lock; each rule with a case that fires and a near miss."""

from collections.abc import ItemsView, Iterable

import msgspec
import pytest
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    ZXID,
    At,
    all_rules,
    answers,
    ctx,
    found,
    history,
    k,
    only,
    shared_context,
)
from model.findings.cases import facts as listing
from model.make_facts import NOW, ZK1, connections, expiry, no_connections, session, watches, world
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.facts import (
    DAY_MS,
    AnyFact,
    Children,
    Connection,
    Denied,
    Expiry,
    Gone,
    Node,
    Stat,
    join,
)
from zktop.model.findings.context import EnsembleContext, LockContext
from zktop.model.findings.finding import Finding, LookAgainAt
from zktop.model.history.lock_history import VanishedQueue
from zktop.model.history.root_changes import RootChanges
from zktop.model.locks.leaking_folders import LockFolders
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

A, B = k("alice", 0), k("bob", 1)
RECENTLY, LONG_AGO = NOW - SECOND, NOW - 11 * MINUTE


CHANGES = {
    "R2": lambda at: {"past": history(recreated_at=at)},
    "R3": lambda at: {"past": history(reaped_at=at)},
    "R5": lambda at: {"root": RootChanges(access_at=at)},
}
SENTENCES = {
    "R2": "was deleted and created again (seen at 00:16:39Z).",
    "R3": "vanished while it was empty (seen at 00:16:39Z).",
    "R5": f"The ACL of {PATH} was changed (seen at 00:16:39Z).",
}


def changed(rule: str, at: int) -> LockContext:
    """A healthy lock with this in its past."""
    return ctx(A, **CHANGES[rule](at))


@pytest.mark.parametrize("rule", CHANGES)
def test_r2_r3_r5_fires_for_ten_minutes(rule: str) -> None:
    """A change of the root is worth a line until its effects are over."""
    finding = only(rule, changed(rule, RECENTLY))

    assert finding.sentence.endswith(SENTENCES[rule])
    assert answers(rule, changed(rule, RECENTLY))[0] == LookAgainAt(RECENTLY + 10 * MINUTE + 1)
    assert rule in all_rules(changed(rule, RECENTLY))


def test_r5_is_quiet_for_the_data_of_a_single_node() -> None:
    """It is a client's own, which may renew it every few seconds."""
    path, stat = Text("/app/master"), Stat(90, 90, 0, owner=session("ann"))
    known = world(Node(path=path, stat=stat, data=b"ann", zxid=ZXID, at=NOW))
    made = lock_at(path, known, Settings(roots=(Root(path),)), NOW)
    assert isinstance(made, Lock)
    assert [member.node for member in made.members] == ["."]
    changes = RootChanges(content_at=RECENTLY)
    case = LockContext(lock=made, shared=shared_context(), past=history(), root=changes)

    assert not found("R5", case)


def test_r2_is_a_note_after_half_a_minute() -> None:
    """By then its effects are findings of their own, and it must not rank above them."""
    just, earlier = NOW - 30 * SECOND, NOW - 30 * SECOND - 1

    assert only("R2", changed("R2", just)).severity == "warning"
    assert LookAgainAt(just + 30 * SECOND + 1) in answers("R2", changed("R2", just))
    assert only("R2", changed("R2", earlier)).severity == "info"


def vanished(queue: VanishedQueue, *tables: AnyFact) -> EnsembleContext:
    """A lock that vanished with this queue, and what servers list now."""
    return EnsembleContext(shared=shared_context(*tables), vanished={PATH: queue})


def test_r7_fires_for_ten_minutes_and_is_a_note_after_half_a_minute() -> None:
    """It needs no lock: there is none until one is created again."""
    finding = only("R7", vanished(VanishedQueue(RECENTLY, 3)))

    assert finding.sentence == (
        f"{PATH} vanished together with 3 nodes in its queue (seen at 00:16:39Z)."
    )
    assert (finding.lock, finding.severity) == (PATH, "warning")
    assert only("R7", vanished(VanishedQueue(NOW - 30 * SECOND - 1, 3))).severity == "info"


def test_r7_is_quiet_if_the_waiters_went_with_their_sessions() -> None:
    """A demo ends so: its clients close, and then it deletes the folder."""
    queue = VanishedQueue(RECENTLY, 3, waiters=(session("bob"),))
    bob, other = (Connection(session(name), Text("10.0.0.1:1")) for name in ("bob", "cid"))

    assert found("R7", vanished(queue, connections(ZK1, bob)))
    assert not found("R7", vanished(queue, connections(ZK1, other)))
    assert not found("R7", vanished(queue, connections(ZK1, bob, at=RECENTLY - SECOND)))
    assert found("R7", vanished(queue, no_connections(ZK1)))


def test_r7_is_quiet_after_ten_minutes() -> None:
    """By then its effects are over."""
    assert not found("R7", vanished(VanishedQueue(LONG_AGO, 3)))


def test_r7_is_only_likely_if_its_members_may_have_left_by_themselves() -> None:
    """A live server does not report who deleted a node."""
    queue = VanishedQueue(RECENTLY, 3, is_certain=False)

    assert only("R7", vanished(VanishedQueue(RECENTLY, 3))).confidence == "C3"
    assert only("R7", vanished(queue)).confidence == "C2"


def test_r7_says_that_not_all_members_of_a_long_queue_are_known() -> None:
    """Only the last ones that left are remembered."""
    queue = VanishedQueue(RECENTLY, 32, is_all=False)
    finding = only("R7", vanished(queue))

    assert "vanished together with at least 32 nodes in its queue" in finding.sentence


def test_r2_is_quiet_for_a_root_that_had_vanished_empty() -> None:
    """Containers of Curator do that, and so do clean-up jobs; R3 notes it."""
    past = history(recreated_at=RECENTLY, reaped_at=RECENTLY - SECOND)

    assert not found("R2", ctx(A, past=past))
    assert only("R3", ctx(A, past=past)).severity == "info"


def test_the_advice_of_r3_calls_only_a_removal_by_the_server_normal() -> None:
    """A client that deletes an empty lock breaks the fencing of the next holders."""
    removed, deleted = (
        only("R3", ctx(A, past=history(reaped_at=RECENTLY, removed_by=by))).advice
        for by in (None, session("ann"))
    )

    assert "Normal for Curator" in removed
    assert "Normal" not in deleted
    assert "A client deleted it" in deleted
    assert "Fencing by sequence number is broken" in deleted


def test_r3_says_which_session_deleted_the_root() -> None:
    """A log shows it; without one the server is assumed to have removed it."""
    by = session("ann")
    known = only("R3", ctx(A, past=history(reaped_at=RECENTLY, removed_by=by)))
    texts = [
        [reason.text for reason in one.evidence]
        for one in (known, only("R3", changed("R3", RECENTLY)))
    ]

    assert texts == [
        [
            "it had no children",
            f"the transaction log has the deletion: session {session_text(by)}",
        ],
        ["it had no children", "the server removed it, not a client"],
    ]


@pytest.mark.parametrize("rule", CHANGES)
def test_r2_r3_r5_r7_is_quiet_for_what_was_long_ago(rule: str) -> None:
    """Or never happened."""
    assert not found(rule, changed(rule, LONG_AGO))
    assert not found(rule, ctx(A))


def test_r5_fires_for_new_data_of_the_root() -> None:
    """A semaphore keeps its size there."""
    case = ctx(A, root=RootChanges(content_at=RECENTLY))

    assert "The data of" in only("R5", case).sentence


def test_r4_fires_for_a_member_that_may_not_be_read() -> None:
    """Its place is known, its owner is not; it is never called an orphan."""
    hidden = Denied(path=join(PATH, B.name), what="read", zxid=2_000_000, at=NOW)
    case = ctx(A, B, more_facts=[hidden])

    assert "1 member of /locks/orders cannot be read" in only("R4", case).sentence
    assert not found("B1", case)


def test_r4_names_the_owners_that_a_dump_shows() -> None:
    """The lock itself does not know them: deadlocks through them are not found."""
    hidden = Denied(path=join(PATH, B.name), what="read", zxid=2_000_000, at=NOW)
    owners = {session("bob"): (join(PATH, B.name),)}
    dump = Expiry(server=ZK1, expires_in_ms={}, ephemerals=owners, tick_ms=2000, zxid=1, at=NOW)

    finding = only("R4", ctx(A, B, more_facts=[hidden], tables=[dump]))

    assert finding.sentence.endswith("zktop cannot find deadlocks through it.")
    assert finding.evidence[-1].text.endswith("as a server's dump shows")
    assert f" belongs to {session_text(session('bob'))}" in finding.evidence[-1].text


def test_r4_fires_for_a_lock_that_may_not_be_listed() -> None:
    """The reason is the server's."""
    case = ctx(A, lock={"error": "the ACL forbids it"})

    assert only("R4", case).severity == "warning"


def test_r4_is_quiet_for_a_readable_lock() -> None:
    """Everything could be read."""
    assert not found("R4", ctx(A, B))


def test_texts_from_zookeeper_cannot_leave_a_sentence_as_commands() -> None:
    """Whatever a rule writes passes the same door as all text."""
    finding = only("R1", ctx(A, B, At("config", "")))
    sly = msgspec.structs.replace(finding, sentence=Text("\x1b[2J\nred"))

    assert sly.sentence == "␛[2J␊red"


STAT = Stat(1, 1, 0, num_children=12)


def asked(*roots: str, facts: Iterable[AnyFact], own: str = "/zktop-demo/**") -> EnsembleContext:
    """These roots were asked for."""
    settings = Settings(roots=(*map(Root, roots), Root(own)), own_roots=(own,))
    known = World().after(*facts)
    tables = [
        fact
        for table in known.tables.values()
        for fact in (table.server, table.connections, table.watches, table.expiry)
        if fact is not None
    ]
    return EnsembleContext(shared=shared_context(*tables, settings=settings, world=known))


def top(*names: str, path: str = "/") -> Children:
    """The children of a znode."""
    return Children(path=Text(path), names=tuple(map(Text, names)), stat=STAT, zxid=9, at=NOW)


def gone(path: str) -> Gone:
    """No such znode."""
    return Gone(path=Text(path), zxid=8, at=NOW)


@pytest.mark.parametrize(
    ("root", "names", "sentence"),
    [
        ("/nope", ("app",), "/nope does not exist (yet)."),
        ("/nope/**", ("app",), "/nope (root /nope/**) does not exist (yet)."),
        ("/lock", ("app", "locks"), "/lock does not exist (yet). Did you mean /locks?"),
        (
            "/lock/x/*",
            ("app", "locks"),
            "/lock/x (root /lock/x/*) does not exist (yet). Did you mean /locks/x/*?",
        ),
    ],
)
def test_r8_fires_for_a_root_that_is_not_there(
    root: str, names: tuple[str, ...], sentence: str
) -> None:
    """It names the znode that is missing, and the one that looks like it."""
    finding = only("R8", asked(root, facts=[gone(root.partition("/*")[0]), top(*names)]))

    assert (finding.sentence, finding.severity) == (sentence, "warning")


def test_r8_fires_without_a_listing_beside_it() -> None:
    """What is above may not be listed."""
    assert only("R8", asked("/nope", facts=[gone("/nope")])).confidence == "C4"


def test_r8_fires_once_for_each_missing_root() -> None:
    """And not for the one that is there."""
    facts = [top("locks"), gone("/a"), gone("/b")]

    assert len(found("R8", asked("/a", "/locks/**", "/b/*", facts=facts))) == 2


def test_r8_suggests_nothing_of_thousands_of_names() -> None:
    """To compare them all takes longer than a look may."""
    names = ("locks", *(f"name-{number}" for number in range(1_000)))

    assert only("R8", asked("/lock", facts=[top(*names)])).sentence.endswith("(yet).")


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [top("locks")],
        [gone("/locks"), Node(path=Text("/locks"), stat=replace(STAT, czxid=10), zxid=10, at=NOW)],
        [top("locks"), top(path="/locks")],
    ],
    ids=["nothing read", "there", "created since", "empty"],
)
def test_r8_is_quiet_where(facts: list[AnyFact]) -> None:
    """Unknown is not missing; and a missing demo root is normal."""
    assert not found("R8", asked("/locks/**", facts=[*facts, gone("/zktop-demo")]))


def test_r8_is_quiet_for_a_root_that_was_created_with_those_above_it() -> None:
    """Only the root is watched, so an earlier look at what is above it may be outdated."""
    made = Node(path=Text("/a/b"), stat=replace(STAT, czxid=10), zxid=10, at=NOW)

    assert not found("R8", asked("/a/b/**", facts=[top("locks"), gone("/a/b"), made]))


def denied(*more: AnyFact, root: str = "/locks/**") -> EnsembleContext:
    """A root whose children may not be listed."""
    refusal = Denied(path=Text("/locks"), what="list", zxid=9, at=NOW)
    return asked(root, facts=[refusal, *more])


def test_r9_fires_for_a_root_that_may_not_be_listed() -> None:
    """How much is hidden, by its Stat."""
    stat = Node(path=Text("/locks"), stat=STAT, zxid=9, at=NOW)

    assert only("R9", denied(stat)).sentence == (
        "zktop is not allowed to list /locks (root /locks/**): 12 children are hidden. "
        "The servers' tables show nothing below it."
    )


def test_r9_fires_with_what_the_tables_show_all_the_same() -> None:
    """Watch tables and dumps obey no ACL."""
    watched = watches(ZK1, {"bob": ("/locks/a/1", "/other"), "cid": ("/locks/a/1", "/locks/a/2")})
    dumped = replace(expiry(ZK1, {}), ephemerals={7: (Text("/locks/a/1"), Text("/locks/b/1"))})

    assert only("R9", denied(watched, dumped)).sentence == (
        "zktop is not allowed to list /locks (root /locks/**): all its children are hidden. "
        "Watch tables and dumps show 3 paths of 3 sessions below it."
    )


def test_r9_reads_each_table_once() -> None:
    """It is examined at each look, and a table may have 200,000 watches."""
    table = watches(ZK1, {"bob": ("/locks/a/1",)})
    rows = Rows(table.rows)
    case = denied(replace(table, rows=rows))
    first, again = only("R9", case), only("R9", case)

    assert first == again
    assert rows.reads == 1


class Rows(dict[int, tuple[Text, ...]]):
    """The rows of a table, which count how often all of them are read."""

    reads = 0

    def items(self) -> ItemsView[int, tuple[Text, ...]]:
        """All rows."""
        self.reads += 1
        return super().items()


def test_r9_counts_no_watches_of_zktop() -> None:
    """It watches below a root that it may not list."""
    case = denied(watches(ZK1, {"zktop": ("/locks/a",), "bob": ("/other",)}))

    assert "tables show nothing below it" in only("R9", case).sentence


def test_r9_fires_for_the_whole_tree() -> None:
    """What is below `/` begins with one slash."""
    refusal = Denied(path=Text("/"), what="list", zxid=9, at=NOW)
    case = asked("/**", facts=[refusal, watches(ZK1, {"bob": ("/locks/a",)})])

    assert "show 1 path of 1 session below it" in only("R9", case).sentence


def test_r9_is_quiet_for_a_root_that_may_be_listed() -> None:
    """And for an exact one: that is shown as a lock, with its error."""
    assert not found("R9", asked("/locks/**", facts=[top("locks"), top("a", path="/locks")]))
    assert not found("R9", denied(root="/locks"))


TODAY = 20_000 * DAY_MS
DAYS = 40  # since the first folder was made


def parent_of(number: int, *, queued: int = 2, data: bytes = b"", used: int = 1) -> World:
    """A parent with so many children, made evenly over forty days; clients are in some.

    `queued` is how many clients each child has seen, `used` in how many some are now.
    """
    names = [Text(f"order-{n}x") for n in range(number)]
    stat = Stat(1, 1, 0, cversion=number, num_children=number, pzxid=100 + number)
    listed = Children(path="/locks", names=tuple(names), stat=stat, zxid=ZXID, at=TODAY)
    facts: list[AnyFact] = [listed]
    for n, name in enumerate(names):
        made = TODAY - DAYS * DAY_MS + n * DAYS * DAY_MS // number
        born = Stat(100 + n, 100 + n, made, cversion=2 * queued, data_length=len(data))
        facts.append(Node(path=join("/locks", name), stat=born, data=data, zxid=ZXID, at=TODAY))
    for name in names[: used * number // 100]:
        facts += listing(k("alice", 0), path=join("/locks", name))
    return World().after(*facts)


def leaks(known: World, *roots: str) -> list[Finding]:
    """The findings about leaking folders."""
    examiner = Examiner(Settings(roots=tuple(map(Root, roots))))
    examiner.look(known, TODAY)
    report = examiner.look(known, TODAY + MINUTE)
    return [finding for finding in report.findings if finding.rule == "R10"]


def test_r10_fires_for_folders_that_no_client_deletes() -> None:
    """How many, how many more each day, how large the listing is, and when it is too large."""
    (finding,) = leaks(parent_of(4_000))

    assert finding.sentence == (
        "/locks has about 4,000 lock folders, about 3,960 of them empty, and about 97 more each "
        "day. Its listing takes 58 kB; at this rate it exceeds the 1 MB that Java clients from "
        "3.6 on accept by default (jute.maxbuffer) around 2026-08-26."
    )
    assert finding.severity == "info"
    assert finding.advice.startswith("kazoo never deletes the folder of a lock")


def test_r10_fires_for_a_root_that_was_named_exactly() -> None:
    """It is shown as a lock, and has none."""
    assert leaks(parent_of(2_000, used=0), "/locks")


def test_r10_warns_if_the_listing_will_soon_be_too_large() -> None:
    """Half of it is reached, or the day is near."""
    folders = LockFolders(Text("/locks"), 60_000, 59_000, 3_000, 900_000, "curator-lock")
    for one, ending in (
        (folders, "(jute.maxbuffer) around 1970-01-04."),
        (replace(folders, per_day=0, listing_bytes=1_200_000), "by default (jute.maxbuffer)."),
    ):
        finding = only("R10", EnsembleContext(shared=shared_context(), folders=(one,)))
        assert finding.severity == "warning"
        assert finding.sentence.endswith(ending)


@pytest.mark.parametrize(
    "known",
    [
        parent_of(900),
        parent_of(2_000, used=60),
        parent_of(2_000, queued=0, data=b"a record", used=0),
        parent_of(2_000, queued=0, used=0),
    ],
    ids=["few", "most are in use", "records with data", "no client was ever in one"],
)
def test_r10_is_quiet_for(known: World) -> None:
    """A parent that is in order, or has no lock folders at all."""
    assert not leaks(known)
