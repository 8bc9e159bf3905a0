"""Earlier sessions of the same name, and what happens when a session dies or wakes up late."""

from collections.abc import Iterable, Iterator

import pytest
from model.findings.cases import PATH, At, connected, curator, facts, k, plain, watching
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    connections,
    expiry,
    kazoo_name,
    lock,
    no_connections,
    own,
    row,
    session,
)
from model.semaphores import GATE, LEASES, created, folder, reports
from msgspec.structs import replace
from ui.example_ensemble import read_whole
from ui.example_queues import STOCK, looked, soft_ring, two_queues
from ui.fake_feed import app_of, frames, settled

from zktop.model.facts import AnyFact, Node, Session, Stat, join
from zktop.model.history.events import Elapsed, Event
from zktop.model.lock_view import LockView
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.tables_of_one_server import Presence
from zktop.ui.interfaces import Frame
from zktop.ui.past.contacts_and_packet_rates import RecentContacts
from zktop.ui.screens.sessions.earlier_sessions import sessions_of_same_name
from zktop.ui.screens.sessions.if_it_dies import (
    blast_radius,
    if_it_dies,
    if_it_wakes_late,
    longest_queue_first,
)
from zktop.ui.screens.sessions.others_on_host import others_on_host
from zktop.ui.screens.sessions.rows import SessionRow, SessionRows
from zktop.ui.screens.sessions.session_detail import details
from zktop.ui.screens.sessions.table import SessionTable
from zktop.ui.styled_text import text_of

BILLING = "/locks/billing"
SAME_NAME = "with this name in these locks"
OLD, NEW = session_text(session("old")), session_text(session("new"))


def named(name: str, facts: Iterable[AnyFact]) -> list[AnyFact]:
    """The same nodes, all with this label."""
    return [
        replace(fact, data=name.encode()) if isinstance(fact, Node) else fact for fact in facts
    ]


def restarted(*tables: AnyFact) -> Report:
    """A process that holds a lock was restarted, and waits for its own earlier session."""
    facts = named("report-3", lock(BILLING, "old", "new"))
    return frames((NOW, [own(), *facts, *tables]))[-1].report


def row_in(report: Report, name: str) -> SessionRow:
    """The row of a session, with or without locks."""
    rows = SessionRows()
    rows.set_grouped(on=False)
    read_whole(rows, report)
    return rows.rows[session(name)]


def namesakes(report: Report, name: str, *past: Event) -> list[str]:
    """The lines about other sessions of its name."""
    return [says for says, _, _ in sessions_of_same_name(row_in(report, name), past)]


def watched(*paths: str) -> list[Frame]:
    """Bob watches locks of ann that are one znode each."""
    stat = Stat(50, 50, NOW, owner=session("ann"))
    singles = [fact for path in paths for fact in facts(path=path, stat=stat)]
    watches = watching({"bob": [*paths], "ann": ["/other"]})
    known = (own(), *facts(k("bob", 1)), *singles, connected("ann", "bob"), watches)
    return frames((NOW, known), settings=Settings(roots=(Root("/**"),)))


def described(report: Report, name: str) -> list[str]:
    """The lines about a session, with single blanks."""
    writer = details(row_in(report, name), RecentContacts((), 0), 100, is_ascii=False)
    return [" ".join(text_of(drawn).split()) for drawn in writer.lines]


def test_a_wait_without_a_znode_is_a_wait() -> None:
    """Only the watch table shows it."""
    report = watched("/locks/single")[-1].report

    assert "waits for X /locks/single without a node, by its watch" in described(report, "bob")
    assert "waits for -" in described(report, "ann")


def test_a_wait_without_a_znode_counts_in_table_and_filters() -> None:
    """Until the watch is gone."""
    (first,) = watched("/locks/single", "/locks/other")
    rows = SessionRows()
    rows.set_grouped(on=False)
    read_whole(rows, first.report)
    bob = rows.rows[session("bob")]

    assert (bob.waits, bob.state) == (2, "holding waiting")
    assert "/locks/single" in bob.paths
    assert "/locks/single" in bob.text

    read_whole(rows, watched("/locks/other")[-1].report)
    assert rows.rows[session("bob")].paths.split() == [PATH, "/locks/other"]


def test_a_lock_that_vanished_may_still_be_among_the_waits_of_rows() -> None:
    """A large report is read in steps, and the details are drawn in between."""
    rows = SessionRows()
    rows.set_grouped(on=False)
    read_whole(rows, watched("/locks/single", "/locks/other")[-1].report)
    rows.report = watched("/locks/other")[-1].report  # what the first step does
    writer = details(rows.rows[session("bob")], RecentContacts((), 0), 100, is_ascii=False)

    assert any("X /locks/single" in text_of(drawn) for drawn in writer.lines)


def test_locks_watched_without_a_znode_are_counted() -> None:
    """Six are listed."""
    report = watched(*(f"/locks/s{number}" for number in range(10)))[-1].report

    assert "... and 4 more locks" in described(report, "bob")


def test_a_session_that_watches_an_election_stands_by() -> None:
    """As its members do."""
    nodes = At("ActiveStandbyElectorLock", "ann"), At("ActiveBreadCrumb", "")
    pair = "/hadoop-ha/mycluster"
    watches = watching({"bob": [f"{pair}/ActiveStandbyElectorLock"]})
    known = (own(), *facts(*nodes, path=pair), connected("ann", "bob"), watches)
    report = frames((NOW, known), settings=Settings(roots=(Root("/**"),)))[-1].report
    said = f"waits for X {pair} stands by without a node, by its watch"

    assert said in described(report, "bob")


async def test_enter_opens_a_lock_that_is_only_watched() -> None:
    """The session waits for it without a node."""
    single = facts(path="/locks/single", stat=Stat(50, 50, NOW, owner=session("ann")))
    known = (own(), *single, connected("ann", "bob"), watching({"bob": ["/locks/single"]}))
    app = app_of(*frames((NOW, known)), page="sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("f")
        await settled(pilot)
        app.screen.query_one(SessionTable).choose(session("bob"))
        await pilot.press("enter")
        await settled(pilot)

        assert (app.subject.path, app.subject.session) == ("/locks/single", session("bob"))


def test_a_restarted_process_waits_for_its_earlier_session() -> None:
    """That session has no connection, and keeps its lock until it expires."""
    tables = connections(ZK1, row("new")), expiry(ZK1, {"old": 9_000, "new": 9_000})
    report = restarted(*tables)

    (says,) = namesakes(report, "new")

    assert says.startswith(f"earlier: {OLD} holds {BILLING}, not connected;")
    assert "its request ends in 9.0s" in says
    assert namesakes(report, "old") == [f"1 other live session {SAME_NAME}"]


@pytest.mark.parametrize(
    ("expires_in_ms", "ends"), [({"old": 0}, "at any moment"), ({}, "at an unknown time")]
)
def test_says_when_an_earlier_session_ends(expires_in_ms: dict[str, int], ends: str) -> None:
    """It may be due by the last table, or in no table."""
    report = restarted(connections(ZK1, row("new")), expiry(ZK1, expires_in_ms, at=NOW - 9_000))

    (says,) = namesakes(report, "new")

    assert says.endswith(f"not connected; its request ends {ends}")


def test_the_connection_of_an_earlier_session_may_be_unknown() -> None:
    """Without server tables it may be another live client of that name."""
    (says,) = namesakes(restarted(), "new")

    assert says == f"earlier: {OLD} holds {BILLING}; connection unknown"


def test_a_later_session_is_called_later() -> None:
    """The earlier session is selected."""
    (says,) = namesakes(restarted(), "old")

    assert says.startswith(f"later: {NEW} waits for {BILLING};")


def test_connected_sessions_of_that_name_are_only_counted() -> None:
    """Ten workers of one name are ten live sessions."""
    names = [f"worker-{number}" for number in range(10)]
    facts = named("worker", lock(BILLING, *names))
    tables = connections(ZK1, *map(row, names))
    report = frames((NOW, [own(), *facts, tables]))[-1].report

    assert namesakes(report, "worker-3") == [f"9 other live sessions {SAME_NAME}"]


def ended(name: str, owner: str, **more: Elapsed) -> Event:
    """The event of a session that expired."""
    return Event(
        at=NOW - 5_000,
        event="expired",
        lock=Text(BILLING),
        session=session(name),
        owner=Text(owner),
        **more,
    )


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"held": Elapsed(48_000, "exact")}, f"it held {BILLING} for 48s"),
        ({"held": Elapsed(48_000, "at-least")}, f"it held {BILLING} for at least 48s"),
        ({"waited": Elapsed(48_000, "exact")}, f"it waited for {BILLING}"),
    ],
)
def test_an_expired_session_of_that_name_is_described(more: dict[str, Elapsed], what: str) -> None:
    """When it expired, and which locks it had."""
    report = frames((NOW, [own(), *named("report-3", lock(BILLING, "new"))]))[-1].report

    says = namesakes(report, "new", ended("old", "report-3", **more), ended("older", "report-3"))

    assert says == [f"earlier: {OLD} expired at 00:16:35; {what}"]


def test_each_lock_of_an_expired_session_has_its_own_duration() -> None:
    """It held one for longer than the other."""
    report = frames((NOW, [own(), *named("report-3", lock(BILLING, "new"))]))[-1].report
    long, short = (ended("old", "report-3", held=Elapsed(ms, "exact")) for ms in (48_000, 2_000))

    (said,) = namesakes(report, "new", long, replace(short, lock=Text("/locks/x")))

    assert said.endswith(f"it held {BILLING} for 48s and /locks/x for 2.0s")


def test_other_expired_sessions_are_not_mentioned() -> None:
    """Sessions with other names are not, nor is the selected session."""
    report = frames((NOW, [own(), *named("report-3", lock(BILLING, "new"))]))[-1].report

    assert namesakes(report, "new", ended("old", "report-4"), ended("new", "report-3")) == []


def late(report: Report, name: str) -> str:
    """What a session believes when it wakes up late."""
    row = row_in(report, name)
    return " ".join(says for _, says in if_it_wakes_late(row, longest_queue_first(row)))


def silent(*facts: AnyFact) -> Report:
    """A holder that was silent for most of its timeout."""
    tables = connections(ZK1, row("ann", 8_000), row("bob", 100))
    return frames((NOW, [own(), *facts, tables]))[-1].report


def test_a_holder_that_wakes_up_late_believes_that_it_holds() -> None:
    """The next holder, which has a higher number, believes so too."""
    says = late(silent(*lock(BILLING, "ann", "bob")), "ann")

    assert says == (
        "it still believes that it holds the lock, but bob may hold it. Only a fencing token "
        "protects the resource: this client has the lower number (czxid 0x65, bob has 0x66)."
    )


def test_further_locks_are_counted() -> None:
    """The first one is explained; its next holder may be unknown."""
    says = late(silent(*lock(BILLING, "ann"), *lock("/locks/cart", "ann", czxid=200)), "ann")

    assert "holds the lock, but another client may hold it." in says
    assert says.endswith("The same applies to 1 more lock.")


def test_a_session_with_contact_is_not_late() -> None:
    """Nor is a session without locks."""
    assert late(silent(*lock(BILLING, "bob", "ann")), "bob") == ""
    assert late(silent(*lock(BILLING, "bob", "ann")), "ann") == ""


async def test_the_screen_describes_the_session_under_the_cursor() -> None:
    """With what it believes, and its earlier session."""
    tables = connections(ZK1, row("new")), expiry(ZK1, {"old": 9_000, "new": 9_000})
    facts = named("report-3", lock(BILLING, "old", "new"))
    app = app_of(*frames((NOW, [own(), *facts, *tables])), page="sessions")
    async with app.run_test(size=(120, 50)) as pilot:
        first = "\n".join(await settled(pilot))
        await pilot.press("down")
        second = "\n".join(await settled(pilot))

        assert "wakes late" in first
        assert f"same name  earlier: {OLD} holds {BILLING}" in second


def holder_of(count: int, *waited: int) -> SessionRow:
    """Ann holds many locks; a client waits for those of these numbers."""
    facts = [
        fact
        for number in range(count)
        for fact in lock(f"/locks/l{number:02d}", "ann", *(["bob"] if number in waited else []))
    ]
    return row_in(frames((NOW, [own(), *facts]))[-1].report, "ann")


def consequences(row: SessionRow) -> Iterator[tuple[Text | None, str]]:
    """What happens to each lock when the session dies."""
    return if_it_dies(row, longest_queue_first(row))


def test_locks_that_others_wait_for_come_first() -> None:
    """Locks without waiters are only counted."""
    says = [*consequences(holder_of(20, 3, 17))]

    assert says == [
        ("/locks/l03", "/locks/l03 goes to bob"),
        ("/locks/l17", "/locks/l17 goes to bob"),
        (None, "and 18 more locks without waiters"),
    ]


def test_few_locks_are_all_listed() -> None:
    """Each by its path."""
    says = [text for _, text in consequences(holder_of(3, 1))]

    assert says == [
        "/locks/l01 goes to bob",
        "/locks/l00 is released, no waiters",
        "/locks/l02 is released, no waiters",
    ]


def test_many_locks_are_counted() -> None:
    """That is so even if each has a waiter."""
    *_, (_, last) = consequences(holder_of(10, *range(10)))

    assert last == "and 4 more locks"


async def test_at_a_moment_of_the_past_nothing_has_expired_later() -> None:
    """Events are read up to ten seconds after they happened."""
    film = frames((NOW, [own(), *named("report-3", lock(BILLING, "new"))]), (NOW + 8_000, ()))
    expired = replace(ended("old", "report-3"), at=NOW + 8_000)
    app = app_of(film[0], Frame(film[1].report, (expired,)), page="sessions")
    async with app.run_test(size=(120, 50)) as pilot:
        now = "\n".join(await settled(pilot))
        app.seek(NOW)
        then = "\n".join(await settled(pilot))

    assert f"{OLD} expired at" in now
    assert f"{OLD} expired at" not in then


def dies(report: Report, name: str) -> list[str]:
    """What happens when a session dies."""
    return [text for _, text in consequences(row_in(report, name))]


def test_a_lease_goes_to_the_next_client() -> None:
    """The other leases of the pool need not be returned for that."""
    leases = [("ann", "a" * 32, 51), ("bob", "b" * 32, 52)]
    first = kazoo_name("cid", 0)
    (report,) = reports(
        [
            *folder(GATE, first),
            *folder(LEASES, *(name for _, name, _ in leases), data=b"2"),
            *(created(join(LEASES, name), owner, zxid) for owner, name, zxid in leases),
            created(join(GATE, first), "cid", 53),
        ]
    )

    assert dies(report, "ann") == ["/pool goes to cid"]


def test_a_client_that_nothing_wakes_does_not_get_the_lock() -> None:
    """It is next, but will not notice."""
    children = [k("ann", 1), k("bob", 2)]
    watched = {"bob": [k("dan", 0)]}
    first = [*facts(*children), connected("ann", "bob"), watching(watched)]
    film = frames((NOW, first), (NOW + 5_000, [watching(watched, NOW + 5_000)]))

    assert dies(film[-1].report, "ann") == [
        "/locks/orders is released; bob is next, but nothing will wake it"
    ]


def test_sessions_that_watch_a_single_node_wait_behind_its_owner() -> None:
    """Any of them may get the lock."""
    one_node = Settings(roots=(Root(path=PATH, layout="single-node"),))
    node = facts(stat=Stat(50, 50, NOW, owner=session("ann")))
    tables = [connected("ann", "bob", "cid"), watching({"bob": [PATH], "cid": [PATH]})]
    report = frames((NOW, [*node, *tables]), settings=one_node)[-1].report

    assert dies(report, "ann") == ["/locks/orders is released; 2 clients watching it may get it"]
    assert blast_radius(row_in(report, "ann")).startswith("Blast radius: 2 sessions behind")


def test_each_held_lock_is_looked_up_once_or_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session may hold thousands of single nodes: once for its lines, once for all behind it."""
    asked: list[str] = []
    watchers, view = Ensemble.watchers, Report.view

    def counted_watchers(ensemble: Ensemble, path: str) -> frozenset[Session]:
        asked.append(path)
        return watchers(ensemble, path)

    def counted_view(report: Report, path: str) -> LockView | None:
        asked.append(path)
        return view(report, path)

    many = 100
    paths = [Text(f"{PATH}/{number}") for number in range(many)]
    settings = Settings(roots=tuple(Root(path=path, layout="single-node") for path in paths))
    stat = Stat(50, 50, NOW, owner=session("ann"))
    held = [fact for path in paths for fact in facts(stat=stat, path=path)]
    report = frames((NOW, [*held, connected("ann"), watching({})]), settings=settings)[-1].report
    found = row_in(report, "ann")
    monkeypatch.setattr(Ensemble, "watchers", counted_watchers)
    monkeypatch.setattr(Report, "view", counted_view)

    details(found, RecentContacts((), 0), 100, is_ascii=False)

    assert found.holds == many
    assert len(asked) < 5 * many


def test_others_may_wait_for_a_session_that_holds_no_lock() -> None:
    """Bob reads, and waits for the writer that is queued before him."""
    report = looked(soft_ring())[-1].report

    assert blast_radius(row_in(report, "wil")) == "It holds no lock."


def test_standbys_do_not_wait_behind_a_leader() -> None:
    """They stand by."""
    children = curator("ann", 0, "latch"), curator("bob", 1, "latch")
    report = looked(facts(*children, path="/app/election"))[-1].report

    assert blast_radius(row_in(report, "ann")) == "It holds 1 lock; no client waits behind it."


def test_an_old_connection_of_a_session_is_not_its_silence() -> None:
    """Bob has moved to another server; the one that he left still lists him, silent."""
    tables = [connections(ZK1, row("ann"), row("bob")), connections(ZK2, row("bob", 9_000))]
    ensemble = frames((NOW, [own(), *lock(BILLING, "ann", "bob"), *tables]))[-1].report.ensemble

    for name in ("ann", "bob"):
        assert others_on_host(ensemble, session(name)) == "10.0.0.1 has 1 other session"


def test_only_sessions_of_two_tables_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of sessions may come from one address; where each is, one table tells."""
    asked: list[Session] = []
    presence = Ensemble.presence

    def counted(ensemble: Ensemble, one: Session) -> Presence | None:
        asked.append(one)
        return presence(ensemble, one)

    names = [f"c{number}" for number in range(50)]
    tables = [connections(ZK1, *map(row, names)), connections(ZK2, row("c7", 9_000))]
    ensemble = frames((NOW, [own(), *lock(BILLING, "c0", "c1"), *tables]))[-1].report.ensemble
    monkeypatch.setattr(Ensemble, "presence", counted)

    assert others_on_host(ensemble, session("c0")) == "10.0.0.1 has 49 other sessions"
    assert set(asked) == {session("c0"), session("c7")}


def test_an_unknown_contact_is_no_alarm() -> None:
    """A server that lists no connections may know when its sessions expire."""
    tables = [no_connections(ZK1), expiry(ZK1, {"ann": 9_000})]
    report = frames((NOW, [own(), *lock(BILLING, "ann"), *tables]))[-1].report
    writer = details(row_in(report, "ann"), RecentContacts((), 0), 100, is_ascii=False)
    (contact,) = [drawn for drawn in writer.lines if "contact" in text_of(drawn)]

    assert [run.ink for run in contact if "unknown" in run.text] == ["unknown"]
    assert any(text_of(drawn).startswith("  expires ") for drawn in writer.lines)


def test_nobody_waits_for_the_holder_of_another_queue() -> None:
    """Two locks of their own may share a folder."""
    report = two_queues()

    assert dies(report, "ann") == ["/locks/stock goes to bob"]
    assert blast_radius(row_in(report, "ann")) == "Blast radius: 1 session behind its 1 lock: bob."
    assert "1 client behind" in text_of(
        details(row_in(report, "ann"), RecentContacts((), 0), 100, is_ascii=False).lines[1]
    )


def test_candidates_behind_a_leader_stand_by() -> None:
    """They wait for nothing, as the line below says."""
    children = curator("ann", 0, "latch"), curator("bob", 1, "latch")
    report = looked(facts(*children, path="/app/election"))[-1].report

    assert described(report, "ann")[1].endswith(" 1 client stands by")


def test_the_other_requests_of_a_session_die_with_it() -> None:
    """The next one after them gets the lock."""
    children = k("ann", 0), k("ann2", 1, by="ann"), k("bob", 2)
    report = looked(facts(*children))[-1].report

    assert dies(report, "ann")[0] == "/locks/orders goes to bob"


def test_waiters_of_a_single_node_are_unknown_without_watch_tables() -> None:
    """Unknown is not none."""
    one_node = Settings(roots=(Root(path=PATH, layout="single-node"),))
    node = facts(stat=Stat(50, 50, NOW, owner=session("ann")))
    report = frames((NOW, [*node, connected("ann", "bob")]), settings=one_node)[-1].report
    writer = details(row_in(report, "ann"), RecentContacts((), 0), 100, is_ascii=False)

    assert dies(report, "ann") == ["/locks/orders is released; its waiters are not visible"]
    assert blast_radius(row_in(report, "ann")).endswith("who waits behind it is unknown.")
    assert "waiters unknown" in text_of(writer.lines[1])


def test_a_number_after_the_wrap_keeps_its_sign() -> None:
    """The counter of the parent has overflowed."""
    children = [At(kazoo_name(name, at - 2**31), name) for at, name in enumerate(("ann", "bob"))]
    report = looked(facts(*children))[-1].report
    writer = details(row_in(report, "ann"), RecentContacts((), 0), 100, is_ascii=False)

    assert "behind -2147483647" in "\n".join(map(text_of, writer.lines))


def single_nodes(*tables: AnyFact) -> SessionRow:
    """Ann owns four single nodes, each a lock of its own."""
    paths = [Text(f"/locks/n{number}") for number in range(4)]
    settings = Settings(roots=tuple(Root(path=path, layout="single-node") for path in paths))
    stat = Stat(50, 50, NOW, owner=session("ann"))
    held = [fact for path in paths for fact in facts(stat=stat, path=path)]
    return row_in(frames((NOW, [*held, *tables]), settings=settings)[-1].report, "ann")


def test_a_single_node_that_sessions_watch_comes_first() -> None:
    """Sessions that are known only by their watches wait, too."""
    watched = single_nodes(connected("ann", "bob"), watching({"bob": ["/locks/n3"]}))

    assert [text for _, text in consequences(watched)] == [
        "/locks/n3 is released; 1 client watching it may get it",
        "and 3 more locks without waiters",
    ]


def test_locks_whose_waiters_are_unknown_are_not_called_free() -> None:
    """Without a watch table, the waiters for a single node are unknown."""
    assert [text for _, text in consequences(single_nodes(connected("ann")))] == [
        "and 4 more locks"
    ]


def test_the_waiters_of_another_queue_are_not_counted() -> None:
    """Bob waits behind ann; yve waits for the other lock of that folder."""
    assert longest_queue_first(row_in(two_queues(), "ann")) == {STOCK: 1}


def test_a_queue_without_waiters_is_released_beside_a_busy_one() -> None:
    """Ann holds a lock of her own in a folder where others wait for xen."""
    members = plain("ann", 0, "stock-"), plain("xen", 1, "price-"), plain("yve", 2, "price-")
    roots = Root(path=STOCK, layout="named-sequence"), Root(path="/locks/*")
    film = looked(facts(*members, path=STOCK), settings=Settings(roots=roots))

    assert dies(film[-1].report, "ann") == [f"{STOCK} is released, no waiters"]


def test_a_late_holder_is_not_succeeded_by_its_own_next_request() -> None:
    """That request ends with its session."""
    children = k("ann", 0), k("ann2", 1, by="ann"), k("bob", 2)

    assert "but bob may hold it" in late(silent(*facts(*children)), "ann")


def test_the_session_of_zktop_is_no_session_of_its_host() -> None:
    """It says nothing about the clients there."""
    tables = connections(ZK1, row("ann"), row("bob"), row("zktop"))
    ensemble = frames((NOW, [own(), *lock(BILLING, "ann", "bob"), tables]))[-1].report.ensemble

    assert others_on_host(ensemble, session("ann")) == "10.0.0.1 has 1 other session"


def test_a_session_without_connection_is_said_to_end() -> None:
    """All servers were asked, and the leader knows when it expires."""
    report = restarted(connections(ZK1, row("new")), expiry(ZK1, {"old": 9_000, "new": 9_000}))

    says = "\n".join(described(report, "old"))

    assert "not connected; expires in 9.0s unless it reconnects" in says


def test_a_server_may_list_a_session_without_its_last_contact() -> None:
    """Then the session is in the tables, and only its contact is unknown."""
    tables = connections(ZK1, row("ann", None)), expiry(ZK1, {"ann": 9_000})
    report = frames((NOW, [own(), *lock(BILLING, "ann"), *tables]))[-1].report

    assert "unknown: its server does not say" in "\n".join(described(report, "ann"))


def test_an_old_connection_has_its_date() -> None:
    """A time of day would be that of today."""
    now, day_ms = 2_000_000_000, 86_400_000
    table = connections(ZK1, row("ann", established=now - 3 * day_ms), at=now)
    report = frames((now, [own(at=now), *lock(BILLING, "ann", at=now), table]))[-1].report

    assert "since 1970-01-21 03:33, timeout 10s" in "\n".join(described(report, "ann"))
