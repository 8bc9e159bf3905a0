"""The joined tables of all servers: what they show, and what stays unknown."""

from collections.abc import Iterable

import pytest
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    ZK3,
    connections,
    expiry,
    figures,
    no_connections,
    no_watches,
    own,
    row,
    session,
    timeouts,
    watches,
    world,
)
from msgspec.structs import replace

from zktop.model.facts import Connections, Expiry
from zktop.model.world.tables_of_all_servers import (
    NO_ENSEMBLE,
    Ensemble,
    ExpiryWindow,
    Visibility,
)
from zktop.model.world.tables_of_one_server import MARK

ALICE, BOB = session("alice"), session("bob")


def ensemble(*facts: object, now: int = NOW) -> Ensemble:
    """Return the ensemble of a world of these facts."""
    return Ensemble.of(world(*facts), now)


def test_a_session_that_two_servers_list_counts_once() -> None:
    """It has moved, and the table of its first server is older; our own does not count."""
    here = connections(ZK1, row("alice"), row("bob"), row("us"))
    there = connections(ZK2, row("alice"), row("us"), at=NOW + 1)
    first = ensemble(here, there, own("us"))
    later = Ensemble.of(world(here, there, own("us")), NOW + 1_000, first)
    moved = Ensemble.of(world(here, connections(ZK2), own("us")), NOW + 2_000, later)

    assert (first.session_count, later.session_count, moved.session_count) == (2, 2, 2)
    assert ensemble(here, connections(ZK2, row("cid")), own("us")).session_count == 3


def test_connections_stay_known_while_ours_is_lost() -> None:
    """Servers that are down show no table; a later reading with a connection decides."""
    known = ensemble(connections(ZK1, row("alice")), own("us"))
    silent = no_connections(ZK1, "no answer", NOW + 2_000)
    lost = world(silent, own("us", "suspended", NOW + 1_000))
    back = world(silent, own("us", at=NOW + 5_000))
    first = Ensemble.of(lost, NOW + 3_000, known)
    later = Ensemble.of(lost, NOW + 4_000, first)

    assert later.presence(ALICE) == known.presence(ALICE)
    assert later.tables[0] is first.tables[0]
    assert Ensemble.of(back, NOW + 6_000, later).presence(ALICE) is None


def test_a_server_that_answers_while_ours_is_lost_has_its_new_connections() -> None:
    """Only a server that does not answer keeps the earlier ones."""
    known = ensemble(connections(ZK1, row("alice")), own("us"))
    lost = own("us", "suspended", NOW + 1_000)
    new = world(connections(ZK1, row("bob"), at=NOW + 2_000), lost)

    assert Ensemble.of(new, NOW + 3_000, known).presence(ALICE) is None


def test_nothing_is_known_without_tables() -> None:
    """Missing input is unknown, never fine."""
    assert NO_ENSEMBLE.visibility == Visibility("none", "none", "none")
    assert NO_ENSEMBLE.presence(ALICE) is None
    assert NO_ENSEMBLE.watched(ALICE) is None
    assert NO_ENSEMBLE.connected(ALICE) is None
    assert NO_ENSEMBLE.alive(ALICE) is None
    assert NO_ENSEMBLE.is_cut_off(ALICE) is None
    assert NO_ENSEMBLE.expires_in(ALICE) is None
    assert NO_ENSEMBLE.missing("watches") == ("no server was asked for its watch table",)


@pytest.mark.parametrize(
    ("facts", "sees"),
    [
        ((connections(ZK1),), ("all", "none", "none")),
        ((connections(ZK1), no_connections(ZK2)), ("some", "none", "none")),
        ((connections(ZK1), watches(ZK2, {})), ("some", "some", "none")),
        ((watches(ZK1, {}), expiry(ZK1, {"alice": 5})), ("none", "all", "all")),
        ((timeouts(ZK1, {"alice": 5}),), ("none", "none", "none")),
    ],
)
def test_extent(facts: tuple[object, ...], sees: tuple[str, str, str]) -> None:
    """All means every known server; a follower's list has no expiry times."""
    assert ensemble(*facts).visibility == Visibility(*sees)


def test_blind_spots_name_server_table_and_reason() -> None:
    """What a server refused and what it was not asked for are both named."""
    spots = ensemble(connections(ZK1), no_watches(ZK1)).blind_spots

    assert [(spot.server, spot.table, spot.why) for spot in spots] == [
        (ZK1, "watches", "not in the whitelist"),
        (ZK1, "expiry", "it was not asked yet"),
        (ZK1, "figures", "it was not asked yet"),
    ]
    assert str(spots[0]) == "zk1:2181 gives no watch table: not in the whitelist"


def test_one_leader_is_enough_for_expiry() -> None:
    """Learners have no expiry times, so their silence is no blind spot."""
    seen = ensemble(expiry(ZK1, {"alice": 5}), timeouts(ZK2, {"alice": 5}))

    assert seen.missing("expiry") == ()


def test_the_newest_contact_wins() -> None:
    """Two servers claim a session: the one with the last packet is right, the other is named."""
    stale = connections(ZK1, row("alice", quiet_ms=9_000), at=NOW + 500)
    seen = ensemble(stale, connections(ZK2, row("alice", quiet_ms=100)))

    presence = seen.presence(ALICE)

    assert presence is not None
    assert (presence.server, presence.other_servers) == (ZK2, (ZK1,))


@pytest.mark.parametrize(
    ("tick_ms", "quiet_ms", "believed"),
    [(2_000, 13_000, True), (2_000, 13_001, False), (500, 10_750, True), (500, 10_751, False)],
)
def test_a_silence_that_a_listed_session_would_not_have_survived_is_dropped(
    tick_ms: int, quiet_ms: int, *, believed: bool
) -> None:
    """It ends at the timeout, rounded up to a tick and looked at twice a tick."""
    tables = connections(ZK1, row("alice", quiet_ms=quiet_ms)), expiry(ZK1, {}, tick_ms=tick_ms)
    presence = ensemble(*tables).presence(ALICE)

    assert presence is not None
    assert presence.quiet_ms == (quiet_ms if believed else None)


def test_a_silence_without_a_timeout_is_believed() -> None:
    """Nothing contradicts it."""
    presence = ensemble(connections(ZK1, row("alice", quiet_ms=99_000, timeout_ms=None))).presence

    assert presence(ALICE).quiet_ms == 99_000


def test_a_session_that_has_just_moved_is_where_it_connected_last() -> None:
    """It has had no answer there yet; the server that it left still lists it."""
    left = connections(ZK1, row("alice", quiet_ms=3_000, established=NOW - 60_000))
    moved = connections(ZK2, row("alice", quiet_ms=None, established=NOW - 500), at=NOW - 100)

    assert ensemble(left, moved).presence(ALICE).server == ZK2


def test_silence_grows_after_the_table() -> None:
    """A table of two seconds ago makes every silence two seconds longer."""
    presence = ensemble(connections(ZK1, row("alice", quiet_ms=300))).presence(ALICE)

    assert presence is not None
    assert presence.contact == NOW - 300
    assert presence.silence(NOW + 2_000) == 2_300


def test_watches_come_from_the_server_of_the_connection() -> None:
    """Another server's rows about the session are leftovers."""
    seen = ensemble(
        connections(ZK1, row("alice")),
        connections(ZK2),
        watches(ZK1, {"alice": ("/a",)}),
        watches(ZK2, {"alice": ("/old",)}),
    )

    assert seen.watched(ALICE) == {"/a"}


@pytest.mark.parametrize(
    ("facts", "watched"),
    [
        ((connections(ZK1, row("alice")), watches(ZK1, {})), frozenset()),
        ((connections(ZK1, row("alice")), no_watches(ZK1)), None),
        ((connections(ZK1, row("alice")), watches(ZK2, {})), None),
        ((connections(ZK1), watches(ZK1, {"alice": ("/a",)})), None),
        ((no_connections(ZK1), watches(ZK1, {"alice": ("/a",)})), {"/a"}),
        ((no_connections(ZK1), watches(ZK1, {})), None),
    ],
    ids=[
        "it watches nothing",
        "its server hides the table",
        "only another server gives one",
        "it is not connected any more",
        "only the watch table knows it",
        "no server has it",
    ],
)
def test_watched(facts: tuple[object, ...], watched: frozenset[str] | None) -> None:
    """Watching nothing differs from not being visible."""
    assert ensemble(*facts).watched(ALICE) == watched


def test_watchers_leave_us_out() -> None:
    """Our own watches are no part of any judgement."""
    rows = {"alice": ("/a", "/b"), "bob": ("/a",), "zktop": ("/a",)}

    seen = ensemble(own(), watches(ZK1, rows), watches(ZK2, {"bob": ("/a",)}))

    assert seen.watchers("/a") == {ALICE, BOB}
    assert seen.watchers("/nowhere") == frozenset()


def test_watchers_leave_other_zktops_out() -> None:
    """Each of them watches the mark, on whatever server."""
    rows = {"alice": ("/a",), "recorder": ("/a", MARK)}

    seen = ensemble(own(), watches(ZK1, rows), watches(ZK2, {"ui": (MARK, "/a")}))

    assert seen.watchers("/a") == {ALICE}


@pytest.mark.parametrize(
    ("facts", "answers"),
    [
        ((connections(ZK1, row("alice")),), (True, True, False)),
        ((connections(ZK1), expiry(ZK1, {"alice": 5})), (False, True, True)),
        ((connections(ZK1), expiry(ZK1, {"bob": 5})), (False, False, False)),
        ((no_connections(ZK1), expiry(ZK1, {"alice": 5})), (None, True, None)),
        ((no_connections(ZK1), expiry(ZK1, {"bob": 5})), (None, False, None)),
        ((connections(ZK1),), (False, None, None)),
        ((connections(ZK1), expiry(ZK1, {})), (False, None, None)),
        ((own(), connections(ZK1), expiry(ZK1, {"bob": 5})), (False, None, None)),
    ],
    ids=[
        "connected",
        "listed without a connection",
        "neither listed nor connected",
        "connections hidden, listed",
        "connections hidden, not listed",
        "no list of sessions",
        "an empty list",
        "a list without ourselves",
    ],
)
def test_life(facts: tuple[object, ...], answers: tuple[bool | None, ...]) -> None:
    """Whether alice is connected, alive, or cut off."""
    seen = ensemble(*facts)

    found = (seen.connected(ALICE), seen.alive(ALICE), seen.is_cut_off(ALICE))
    assert found == answers


def test_an_old_table_proves_no_absence() -> None:
    """Tables that were read before the session's node was created could not know it."""
    old = Connections(server=ZK1, rows=(), at=NOW, zxid=50)
    listed = Expiry(server=ZK1, expires_in_ms={BOB: 5}, at=NOW, zxid=50)

    seen = ensemble(old, listed)

    assert (seen.connected(ALICE, czxid=50), seen.alive(ALICE, czxid=50)) == (False, False)
    assert (seen.connected(ALICE, czxid=51), seen.alive(ALICE, czxid=51)) == (None, None)


@pytest.mark.parametrize(
    ("facts", "span"),
    [
        ((expiry(ZK1, {"alice": 9_000}),), ExpiryWindow(8_000, 9_000)),
        ((connections(ZK1, row("alice", quiet_ms=4_000)),), ExpiryWindow(5_000, 8_000)),
        (
            (expiry(ZK1, {"alice": 9_000}), connections(ZK1, row("alice"), at=NOW + 900)),
            ExpiryWindow(9_900, 12_900),
        ),
        (
            (connections(ZK1), timeouts(ZK2, {"alice": 4_000}), connections(ZK2)),
            ExpiryWindow(0, 6_000),
        ),
        ((connections(ZK1, row("alice", quiet_ms=12_500)),), ExpiryWindow(0, 0)),
        ((connections(ZK1, row("alice", quiet_ms=50_000)),), None),
        ((connections(ZK1, row("alice", quiet_ms=None)),), None),
    ],
    ids=[
        "the leader's date",
        "by contact",
        "a packet after the leader's table",
        "at the latest, without a connection",
        "overdue",
        "a silence that it would not have survived",
        "nothing tells",
    ],
)
def test_expiry(facts: tuple[object, ...], span: ExpiryWindow | None) -> None:
    """One second after the tables were read."""
    assert ensemble(*facts, now=NOW + 1_000).expires_in(ALICE) == span


def test_a_date_further_away_than_any_session_lives_is_dropped() -> None:
    """The server's clock differs from ours; the last contact is known all the same."""
    tables = connections(ZK1, row("alice")), expiry(ZK1, {"alice": 788_500})

    assert ensemble(*tables).expires_in(ALICE) == ExpiryWindow(10_000, 13_000)
    assert ensemble(*tables[1:], timeouts(ZK2, {"alice": 10_000})).expires_in(ALICE) is None


@pytest.mark.parametrize(("date_ms", "is_known"), [(14_000, True), (14_001, False)])
def test_a_date_may_be_rounded_up_by_a_second(date_ms: int, *, is_known: bool) -> None:
    """A session of ten seconds lives thirteen, with ticks of two."""
    tables = timeouts(ZK2, {"alice": 10_000}), expiry(ZK1, {"alice": date_ms})

    assert (ensemble(*tables).expires_in(ALICE) is not None) == is_known


@pytest.mark.parametrize(
    ("version", "count", "hidden"),
    [("3.8.0", 6, 2), ("3.9.5", 6, 3), ("3.4.14", 6, None), ("3.8.0", 1, 0)],
)
def test_hidden_child_watches(version: str, count: int, hidden: int | None) -> None:
    """The count of all watches, less the listed ones, less what 3.6 to 3.8 count twice of ours."""
    seen = ensemble(
        own(),
        connections(ZK1, row("zktop")),
        watches(ZK1, {"alice": ("/a", "/b"), "zktop": ("/locks",)}),
        figures(ZK1, version, watches=count),
    )

    assert seen.tables[0].hidden_watches(seen.own) == hidden


def test_watches_of_other_zktops_are_not_hidden_child_watches() -> None:
    """They are counted twice, too, but for those of the mark."""
    rows = {"alice": ("/a", "/b"), "zktop": ("/locks", MARK), "ui": ("/locks", "/more", MARK)}
    listed, again, hidden = 7, 3, 2
    seen = ensemble(
        own(),
        connections(ZK1, row("zktop"), row("ui")),
        watches(ZK1, rows),
        figures(ZK1, "3.8.0", watches=listed + again + hidden),
    )

    assert seen.tables[0].hidden_watches(seen.own) == hidden


def measured(*tables: Iterable[object]) -> int | None:
    """How many watches are hidden after these tables, one look after the other."""
    known, seen = world(own()), None
    for facts in tables:
        known = known.after(*facts)
        seen = Ensemble.of(known, NOW, seen)
    assert seen is not None
    return seen.tables[0].hidden_watches(seen.own)


def counted(count: int, *listed: str, at: int = NOW, **more: object) -> list[object]:
    """One look at a server: its figures, and its watch table."""
    found = replace(figures(ZK1, "3.8.0", watches=count), at=at)
    table = watches(ZK1, {"alice": listed}, at=at)
    return [found, replace(table, **more), connections(ZK1, row("alice"), at=at)]


def test_watches_are_counted_beside_the_table_of_the_same_look() -> None:
    """A table that was read later lists what was not counted yet: the last measure stands."""
    late = watches(ZK1, {"alice": ("/a", "/b")}, at=NOW + 1)

    assert measured(counted(2, "/a")) == 1
    assert measured(counted(2, "/a"), [late]) == 1
    assert measured([figures(ZK1, "3.8.0", watches=2), late]) is None


def test_the_larger_of_two_measures_counts() -> None:
    """A data watch may come, or go, between the count and the table."""
    before, after = counted(3, "/a"), counted(3, "/a", "/b", "/c", at=NOW + 1)

    assert measured(before, after) == 2
    assert measured(before, after, counted(3, "/a", "/b", "/c", at=NOW + 2)) == 0


def test_watches_outside_of_our_chroot_are_listed_as_well() -> None:
    """The server lists three; one of them is below our root."""
    assert measured(counted(3, "/a", listed=3)) == 0
    assert measured(counted(3, "/a", listed=2)) == 1


def test_where_our_own_child_watches_are_counted_others_may_be_there() -> None:
    """On a server before 3.6 we set some: the watches beyond its table may be ours."""
    tables = own(), connections(ZK1, row("zktop"), row("alice")), watches(ZK1, {"alice": ("/a",)})
    hides = [
        ensemble(*tables, figures(ZK1, "3.4.14", watches=n)).hides_watches(ALICE) for n in (1, 2)
    ]

    assert hides == [False, True]
    assert ensemble(*tables).hides_watches(ALICE) is None


def test_owner_of_a_hidden_znode() -> None:
    """A dump names the owner even where an ACL hides the node; the newest dump counts."""
    old = Expiry(server=ZK1, ephemerals={ALICE: ("/x",)}, at=NOW, zxid=0)
    new = Expiry(server=ZK2, ephemerals={BOB: ("/x",)}, at=NOW + 1, zxid=0)

    assert ensemble(old, new).owner_of("/x") == BOB
    assert ensemble(old, new).owner_of("/y") is None


def test_an_unchanged_table_keeps_its_index() -> None:
    """The same table again, or one of another server, keeps the index."""
    first = world(watches(ZK1, {"alice": ("/a",)}))
    before = Ensemble.of(first, NOW)
    again = first.after(watches(ZK1, {"alice": ("/a",)}, at=NOW + 1), connections(ZK2))

    after = Ensemble.of(again, NOW + 1, before)

    assert after.tables[0].watches is before.tables[0].watches
    assert Ensemble.of(first, NOW + 2, before).tables[0] is before.tables[0]


def test_the_sessions_that_changed() -> None:
    """Sessions whose watches differ, or that came to or left a server."""
    first = world(
        connections(ZK1, row("alice"), row("carol")),
        connections(ZK2, row("bob")),
        watches(ZK1, {"alice": ("/a",), "carol": ("/c",)}),
    )
    second = first.after(
        connections(ZK2, at=NOW + 1),
        watches(ZK1, {"alice": ("/b",), "carol": ("/c",)}, at=NOW + 1),
    )
    before = Ensemble.of(first, NOW)

    assert Ensemble.of(second, NOW, before).changed_since(before) == {ALICE, BOB}
    assert Ensemble.of(first, NOW, before).changed_since(before) == frozenset()


def test_a_silent_third_server_makes_absence_unknown() -> None:
    """A session may be connected to the one server that was never asked for connections."""
    seen = ensemble(connections(ZK1), connections(ZK2), figures(ZK3))

    assert seen.connected(ALICE) is None
