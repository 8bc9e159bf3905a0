"""S: two owners at once; each rule with a case that fires and a near miss."""

import msgspec
import pytest
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    At,
    all_rules,
    connected,
    ctx,
    curator,
    found,
    gone,
    history,
    k,
    only,
    plain,
    sessions,
    watching,
)
from model.make_facts import NOW, ZK1, no_connections, no_watches, session

from zktop.model.client_names import ClientNames
from zktop.model.findings.apply import table_blind_spots
from zktop.model.findings.context import LockContext
from zktop.model.format import short
from zktop.model.owner_list import OwnerList


def random_names(*letters: str) -> list[At]:
    """Contenders whose names begin with these letters, in order of arrival."""
    return [
        At(f"{letter}{k(letter, number).name[1:]}", letter, label=letter)
        for number, letter in enumerate(letters, start=1)
    ]


def by_name(watched: dict[str, list[At]], *children: At) -> LockContext:
    """Contenders with prefixes that sort against their numbers."""
    return ctx(*children, tables=[watching(watched)])


D, C, E, A = random_names("d", "c", "e", "a")


def test_s1_fires_for_a_waiter_that_watches_its_neighbour_by_name() -> None:
    """Those that were first by name when they came: d, then c, then a; d holds (T33)."""
    finding = only("S1", by_name({"e": [D], "c": [D], "a": [E]}, D, C, E, A))

    assert finding.sentence == (
        f"{PATH} may have two owners: d (first by number) and a and c (first by name when "
        "they came, sort wrongly)."
    )
    assert finding.confidence == "C3"
    assert finding.evidence[0].text.startswith("e watches the neighbour by name")


def test_s1_names_a_single_client_in_the_singular() -> None:
    """It sorts wrongly; with others, they do."""
    finding = only("S1", by_name({"e": [D]}, D, C, E))

    assert "c (first by name when it came, sorts wrongly)" in finding.sentence


@pytest.mark.parametrize(
    ("readers", "must_wait", "sorts"),
    [
        ("c", "it must wait", "the client of c sorts"),
        ("ca", "each must wait", "the clients of c and a sort"),
    ],
)
def test_s1_says_of_each_reader_that_it_must_wait(
    readers: str, must_wait: str, sorts: str
) -> None:
    """Their names are before that of the writer, and the second one's is before the first's."""
    queue = [curator("d", 0, "WRIT"), *(curator(owner, 1, "READ") for owner in readers)]
    named = [
        msgspec.structs.replace(child, name=f"_c_{child.owner}{child.name[4:-1]}{number}")
        for number, child in enumerate(queue)
    ]
    finding = only("S1", ctx(*named, tables=[watching(dict.fromkeys(readers, ()))]))

    assert must_wait in finding.sentence
    assert sorts in finding.advice


def test_s1_is_certain_after_three_sessions() -> None:
    """Three clients that all do it are no coincidence."""
    names = random_names("f", "b", "d", "c", "e")
    _, b, d, c, e = names
    tables = {"c": [b], "d": [c], "e": [d], "f": [e]}

    assert only("S1", by_name(tables, *names)).confidence == "C4"


@pytest.mark.parametrize(
    "watched",
    [
        pytest.param({"a": [E], "e": [C], "c": [D]}, id="each its neighbour by number"),
        pytest.param({}, id="no visible watches"),
        pytest.param({"e": [D, C]}, id="it watches the one by number, too"),
    ],
)
def test_s1_is_quiet_when(watched: dict[str, list[At]]) -> None:
    """Names that could be sorted wrongly prove nothing by themselves."""
    assert not found("S1", by_name(watched, D, C, E, A))


GO = At("_c_" + "a" * 32 + "-lock-0000000001", "gopher", label="gopher")


def test_s2_fires_for_two_libraries_in_one_lock() -> None:
    """Each is first by its own rule."""
    other = At("_c_" + "b" * 32 + "-lock-0000000003", "gopher-2")
    finding = only("S2", ctx(k("snake", 2), GO, k("snake-2", 4), other))

    assert finding.severity == "critical"
    assert "may have several owners" in finding.sentence


def test_s2_is_quiet_for_one_library() -> None:
    """A queue of one layout has one owner."""
    assert not found("S2", ctx(k("alice", 0), k("bob", 1)))


def test_s2_is_quiet_about_a_node_without_a_session() -> None:
    """No client of kazoo holds anything here: the node is left over."""
    case = ctx(At(k("old", 0).name, ""), curator("alice", 1), curator("bob", 2))

    assert not found("S2", case)
    assert "mutual-exclusion-broken" not in case.lock.warnings


def test_s2_names_a_watch_of_one_owner_on_the_other() -> None:
    """A cache watches all nodes; a waiter with other name patterns, the one before it."""
    cache = k("cache", 2)
    table = watching({"cache": [GO, cache], "gopher": []})
    finding = only("S2", ctx(GO, cache, k("eve", 3), tables=[table]))

    assert finding.confidence == "C3"
    assert [(one.supports, one.text) for one in finding.evidence][-1] == (
        False,
        f"cache watches {short(GO.name)}: it waits for it, or is a cache",
    )


def test_s2_is_not_confirmed_if_one_owner_watches_only_the_other() -> None:
    """A client with a sorter or name patterns of its own waits like that; a cache does not."""
    snake, waiter = k("snake", 2), curator("waiter", 3)
    table = watching({"waiter": [snake], "snake": []})
    finding = only("S2", ctx(snake, waiter, tables=[table]))

    assert finding.confidence == "C2"
    assert [(one.supports, one.text) for one in finding.evidence][-1] == (
        False,
        f"waiter watches {short(snake.name)}: it probably waits for it",
    )


def test_one_client_that_writes_and_reads_breaks_no_lock_of_two_libraries() -> None:
    """Alice has the lock alone; Go waits for both of her nodes."""
    both = curator("alice", 5, "WRIT"), curator("alice", 5, "READ")
    case = ctx(*both, At("_c_" + "a" * 32 + "-lock-0000000006", "gopher"))

    assert "mixed-families" in case.lock.warnings
    assert "mutual-exclusion-broken" not in case.lock.warnings


def test_s2_fires_for_one_number_given_twice() -> None:
    """Kazoo lets both own: only strictly smaller numbers count."""
    finding = only("S2", ctx(k("alice", 5), k("bob", 5)))

    assert "alice (first for kazoo-lock) and bob" in finding.sentence


W, X, R = curator("alice", 1, "WRIT"), curator("bob", 2, "WRIT"), curator("alice", 3, "READ")


def downgrade(*children: At) -> LockContext:
    """No watch on the first writer exists for alice's read, so it is re-entrant."""
    return ctx(*children, tables=[watching({"bob": [W]})])


def test_s4_fires_for_an_old_curators_downgrade_with_a_writer_in_between() -> None:
    """Reported before it happens."""
    assert only("S4", downgrade(W, X, R)).sentence == (
        f"If alice releases its write lock of {PATH} now, bob becomes writer "
        "while alice still reads."
    )


@pytest.mark.parametrize(
    "children",
    [
        pytest.param((W, curator("alice", 2, "READ")), id="no writer in between"),
        pytest.param((W, curator("alice", 1, "READ"), X), id="one number: a newer Curator"),
    ],
)
def test_s4_is_quiet_when(children: tuple[At, ...]) -> None:
    """No other writer can be granted (T31)."""
    assert not found("S4", downgrade(*children))


def robbed(
    *,
    ended: str = "released",
    cxid: int = 1,
    ago: int = 20 * SECOND,
    place: str = "former_members",
) -> LockContext:
    """Alice's node vanished; her request counter was 1 a minute ago."""
    tables = (
        connected("alice", at=NOW - MINUTE, last_cxid=1),
        connected("alice", last_cxid=cxid),
    )
    past = history(**{place: (gone("alice", 90, ended, ago=ago),)})
    return ctx(k("bob", 1), tables=tables, past=past, sessions=sessions(*tables))


@pytest.mark.parametrize("place", ["former_members", "earlier_members"])
def test_s5_fires_for_an_owner_whose_node_went_without_its_doing(place: str) -> None:
    """It has made no request, so it released nothing: a hint; also if the lock is a new one."""
    case = robbed(place=place)
    finding = only("S5", case)

    assert "S5" in all_rules(case)
    assert "alice lost /locks/orders at" in finding.sentence
    assert finding.confidence == "C1"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"cxid": 2}, id="it made a request: its own release"),
        pytest.param({"ended": "abandoned"}, id="it never owned"),
        pytest.param({"ago": 20 * MINUTE}, id="long ago"),
    ],
)
def test_s5_is_quiet_when(case: dict[str, object]) -> None:
    """An ordinary release is no case of it."""
    assert not found("S5", robbed(**case))


def deleted(by: str, *later: At, **case: object) -> LockContext:
    """A transaction log has the session that deleted alice's node; no table shows connections."""
    left = gone("alice", 90, **{"ending": "released", "deleted_by": session(by)} | case)
    return ctx(k("bob", 1), *later, past=history(former_members=(left,)))


def test_s5_fires_for_a_node_that_a_log_shows_deleted_by_another_session() -> None:
    """Proven: the record names the session that asked for it."""
    finding = only("S5", deleted("mallory"))

    assert (
        f"session {session('mallory'):#x} deleted the node of alice, which held"
        in finding.sentence
    )
    assert (finding.confidence, finding.at_once) == ("C4", True)


def test_s5_has_the_address_of_a_session_that_shares_it_with_others() -> None:
    """Several sessions have this address in the audit log, so it is no unique name."""
    names = [f"{session(name):#x}" for name in ("mallory", "trent")]
    owners = OwnerList({key: {"name": "10.0.0.7"} for key in names})
    left = gone("alice", 90, ending="released", deleted_by=session("mallory"))
    past, client_names = history(former_members=(left,)), ClientNames(owners=owners)

    finding = only("S5", ctx(k("bob", 1), past=past, client_names=client_names))

    assert finding.sentence.startswith(f"session {names[0]} (10.0.0.7) deleted the node of alice,")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"deleted_by": None}, id="its own session deleted it"),
        pytest.param({"ending": "abandoned"}, id="it was waiting"),
        pytest.param({"held_briefly": True}, id="its turn came by the deletion of another"),
        pytest.param({"ago": 20 * MINUTE}, id="long ago"),
    ],
)
def test_s5_is_quiet_in_a_log_when(case: dict[str, object]) -> None:
    """A release of its own, a node of a waiter, and a past that is over."""
    assert not found("S5", deleted("mallory", **case))


def test_s5_is_quiet_for_an_earlier_session_of_the_client_that_deleted_the_lock() -> None:
    """It deleted its own two nodes and their folder, which others have created again."""
    first = gone("alice", 90, "released", deleted_by=session("alice again"))
    second = msgspec.structs.replace(gone("alice", 91, "released"), session=session("alice again"))
    past = history(earlier_members=(first, second))

    assert not found("S5", ctx(k("bob", 1), past=past))


def test_s5_is_quiet_when_a_client_removes_the_node_of_its_earlier_session() -> None:
    """Both sessions wrote the same label: Curator removes such a node after a reconnection."""
    again = k("alice", 2, by="alice again")

    assert not found("S5", deleted("alice again", again))


@pytest.mark.parametrize(
    ("rule", "need"), [("S1", "watches"), ("S3", "connections"), ("S5", "connections")]
)
def test_a_missing_table_is_reported_for_each_rule_that_needs_it(rule: str, need: str) -> None:
    """Silence would look like health."""
    case = ctx(plain("a", 1), tables=(no_watches(ZK1), no_connections(ZK1)))

    assert (rule, need) in {(one.rule, one.need) for one in table_blind_spots(case.shared)}
