"""What screen 2 says about a lock is true of locks of every kind."""

import pytest
from model.findings.cases import PATH, At, connected, curator, facts, k, path_of, watching
from model.make_facts import NOW, ZK1, ZK2, connections, kazoo_name, own, row, session
from model.semaphores import GATE, LEASES, POOL, created, folder, reports
from ui.example_queues import ORDERS, all_connected, page_on, queue, ring_of, shown
from ui.fake_feed import frames, settled

from zktop.model.facts import HOUR_MS, AnyFact, Children, Denied, Gone, Millis, Node, Stat, join
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.filters import parsed_filter
from zktop.ui.messages import ShowPage
from zktop.ui.screens.lock.compatibility_matrix import compatibility_matrix
from zktop.ui.screens.lock.filter import matching_positions
from zktop.ui.screens.lock.heading import lock_head
from zktop.ui.screens.lock.histograms import histograms
from zktop.ui.screens.lock.if_it_releases import release_sentence
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.lock.no_lock import LastSeen, deleted_lock
from zktop.ui.screens.lock.notes import lock_notes
from zktop.ui.screens.lock.rows import single_rows
from zktop.ui.screens.lock.selected_row import selected_lines
from zktop.ui.screens.lock.table import COLUMNS
from zktop.ui.screens.lock.wake_map import wake_map
from zktop.ui.styled_text import Line, text_of, width_of
from zktop.ui.view_state import Selection
from zktop.ui.widgets.table import cut_cell

CONFIG = At("00-config", "", czxid=50)
ONE_NODE = Settings(roots=(Root(path=PATH, layout="single-node"),))


def text(lines: list[Line]) -> str:
    """All lines as one text."""
    return "\n".join(map(text_of, lines))


def detail_of(
    *moments: tuple[Millis, list[AnyFact]], settings: Settings | None = None
) -> LockDetail:
    """The detail of the lock after these moments."""
    detail = LockDetail.of(frames(*moments, settings=settings)[-1].report, PATH)
    assert detail is not None
    return detail


def single_node(*watchers: str) -> LockDetail:
    """A lock that is one node: ann holds it, and these clients watch it."""
    node = facts(stat=Stat(50, 50, NOW, owner=session("ann")))
    tables = [connected("ann", *watchers), watching({name: [PATH] for name in watchers})]
    return detail_of((NOW, [*node, *tables]), settings=ONE_NODE)


def of_modes(modes: str, released: int | None = None) -> LockDetail:
    """The detail of a queue in these modes, after the member with this number has left."""
    children = queue(modes)
    gone: list[AnyFact] = []
    if released is not None:
        gone = [Gone(path=join(PATH, children[released].name), zxid=2_000_000, at=NOW + 5_000)]
    return detail_of((NOW, facts(*children)), (NOW + 5_000, gone))


def test_the_queue_of_a_lock_that_became_unreadable_is_from_before() -> None:
    """Later nodes are not known, so nothing is said about who enters next."""
    denied: list[AnyFact] = [Denied(path=PATH, what="list", zxid=2_000_000, at=NOW + 5_000)]
    before = NOW, facts(k("ann", 0), k("bob", 1))
    readable, hidden = detail_of(before), detail_of(before, (NOW + 5_000, denied))
    warning = "This is the last queue that zktop could read"

    assert text(release_sentence(readable, None, 80)) == "  If ann releases now: bob enters."
    assert release_sentence(hidden, None, 80) == []
    assert warning not in text(lock_head(readable, 100))
    assert warning in text(lock_head(hidden, 100))


def test_a_foreign_child_in_the_way_is_no_column_of_the_matrix() -> None:
    """It is before the waiters, and in no queue."""
    children = [CONFIG, curator("ann", 1), curator("bob", 2)]
    detail = detail_of((NOW, facts(*children)))
    drawn = compatibility_matrix(detail.queue, detail.queue.members[1])

    assert " ".join(text_of(drawn[1]).split()) == "▶ wants exclusive no no 2 ◀"


@pytest.mark.parametrize(
    ("modes", "says"), [("W" + "R" * 450, "sessions"), ("W" * 451, "HERD of 450")]
)
def test_readers_behind_one_writer_are_no_herd_in_a_long_queue(modes: str, says: str) -> None:
    """The clients that wake are only counted there; without readers they are a herd."""
    children = queue(modes)
    table = watching({child.owner: (children[0],) for child in children[1:]})
    detail = detail_of((NOW, [*facts(*children), table, all_connected(children)]))
    drawn = next(one for one in map(text_of, wake_map(detail, None)) if "→" in one)

    assert drawn.endswith(says) or says in drawn
    assert ("HERD" in drawn) == ("HERD" in says)


@pytest.mark.parametrize("servers", [(ZK1,), (ZK1, ZK2)])
def test_a_server_is_named_if_there_are_several(servers: tuple[Text, ...]) -> None:
    """One server would be repeated in every row."""
    tables = [connections(one, *([row("ann")] if one == ZK1 else [])) for one in servers]
    detail = detail_of((NOW, [*facts(k("ann", 1), k("bob", 2)), *tables]))

    assert ("@zk1" in text(lock_head(detail, 200))) == (len(servers) > 1)


def test_any_watcher_of_a_single_node_may_enter() -> None:
    """So nothing is said about the clients that enter when it is released."""
    assert release_sentence(single_node("bob", "cid"), None, 80) == []


@pytest.mark.parametrize(
    ("quiet_ms", "says"),
    [
        (4_000, []),
        (6_000, [("silent 6s of 10s", "info")]),
        (9_200, [("silent 9s of 10s", "critical")]),
    ],
)
def test_the_silence_of_a_holder_is_as_severe_as_its_finding(
    quiet_ms: int, says: list[tuple[str, str]]
) -> None:
    """In words and ink, as on screen 4; the time since the table was read shows no silence."""
    table = connections(ZK1, row("ann", quiet_ms), row("bob"))
    detail = detail_of((NOW, [*facts(k("ann", 1), k("bob", 2)), table]), (NOW + 5_000, []))
    runs = [run for drawn in lock_head(detail, 200) for run in drawn if "silent" in run.text]

    assert [(run.text.split(",")[0], run.ink) for run in runs] == says


def test_a_client_without_a_watch_is_next_but_does_not_enter() -> None:
    """The finding says that nothing will wake it."""
    children = [k("ann", 1), k("bob", 2), k("cid", 3)]
    watched = {"bob": [k("dan", 0)], "cid": [children[1]]}
    first = [*facts(*children), connected("ann", "bob", "cid"), watching(watched)]
    detail = detail_of((NOW, first), (NOW + 5_000, [watching(watched, NOW + 5_000)]))

    assert [finding.rule for finding in detail.findings if finding.severity != "info"] == ["L3"]
    assert text(release_sentence(detail, None, 200)).strip() == (
        "If ann releases now: bob is next, but nothing will wake it; cid keeps waiting."
    )


def test_a_holder_without_a_session_will_not_release() -> None:
    """So no client is said to enter."""
    children = [k("ann", 1, by="", age_ms=HOUR_MS), k("bob", 2)]
    detail = detail_of((NOW, [*facts(*children), connected("bob")]), (NOW + 5_000, []))

    assert [finding.rule for finding in detail.findings if finding.severity != "info"] == ["B1"]
    assert release_sentence(detail, None, 200) == []


def test_a_waiter_that_was_not_read_is_not_mentioned() -> None:
    """In a busy queue there often is one, and the sentence would come and go."""
    ann, bob, cat, dan = (k(name, at) for at, name in enumerate(("ann", "bob", "cat", "dan"), 1))
    known = [fact for fact in facts(ann, bob, cat, dan) if fact.path != path_of(dan)]
    detail = detail_of((NOW, known))

    assert text(release_sentence(detail, None, 200)).strip() == (
        "If ann releases now: bob enters; cat keeps waiting."
    )


@pytest.mark.parametrize(
    ("is_hidden", "says"), [(False, ""), (True, "If a hidden client releases now: bob enters.")]
)
def test_a_holder_that_was_not_read_is_no_owner(*, is_hidden: bool, says: str) -> None:
    """Before it is read, there is no sentence; if an ACL forbids that, its name stays unknown."""
    ann, bob = k("ann", 1), k("bob", 2)
    known = [fact for fact in facts(ann, bob) if fact.path != path_of(ann)]
    hidden = [Denied(path=Text(path_of(ann)), what="read", zxid=2_000_000, at=NOW)]
    detail = detail_of((NOW, [*known, *(hidden if is_hidden else [])]))

    assert text(release_sentence(detail, None, 200)).strip() == says


def test_notes_and_the_selected_row_have_no_codes() -> None:
    """Neither the ids of rules nor the names of flags."""
    children = [k("ann", 1, by="", age_ms=HOUR_MS), k("bob", 2)]
    detail = detail_of((NOW, [*facts(*children), connected("bob")]), (NOW + 5_000, []))
    selected = text(selected_lines(single_rows(detail, [0])[0], 120, with_data=False))

    assert "finding " in selected
    assert "B1" not in selected
    assert "  a node here outlives its session" in text(lock_notes(detail, 120))


@pytest.mark.parametrize("typed", ["watch-on-deleted-node", "deleted state:node"])
def test_a_filter_finds_the_finding_of_a_client(typed: str) -> None:
    """As scripts write its name, and word by word as the screen does."""
    children = [k("ann", 1), k("bob", 2), k("cid", 3)]
    watched = {"bob": [k("dan", 0)], "cid": [children[1]]}
    first = [*facts(*children), connected("ann", "bob", "cid"), watching(watched)]
    detail = detail_of((NOW, first), (NOW + 5_000, [watching(watched, NOW + 5_000)]))

    assert matching_positions(detail, parsed_filter(f"state:{typed}")) == [1]


def test_readers_that_released_are_no_abandoned_requests() -> None:
    """They leave in any order."""
    assert "missing" not in text(lock_notes(of_modes("RRRW", released=1), 100))


def test_waiters_that_left_are_abandoned_requests() -> None:
    """In an exclusive lock, only the holder leaves without giving up."""
    assert "1 number is missing" in text(lock_notes(of_modes("XXX", released=1), 100))


def test_a_lock_acquired_during_a_disconnection_was_not_held_from_the_start() -> None:
    """It was acquired unseen, whenever that was."""
    children = queue("XX")
    freed = Gone(path=join(PATH, children[0].name), zxid=2_000_000, at=NOW + 60_000)
    detail = detail_of(
        (NOW, [own(), *facts(*children)]),
        (NOW + 5_000, [own(state="suspended", at=NOW + 5_000)]),
        (NOW + 60_000, [own(at=NOW + 60_000), freed]),
    )

    assert "ages with ≥ are lower bounds" in text(lock_notes(detail, 100))


def was(detail: LockDetail) -> str:
    """The words about this lock after it has been deleted."""
    record = detail.report.records[Text(PATH)]
    return " ".join(text(deleted_lock(PATH, LastSeen(NOW, record), NOW + 5_000, 200)).split())


def test_a_deleted_single_node_had_an_unknown_number_of_waiters() -> None:
    """Its waiters are watchers, which are not counted there; its node has no name."""
    assert (
        f"It was a single (single-node) with 1 holder ({session_text(session('ann'))}). "
        in was(single_node("bob", "cid"))
    )


def test_a_deleted_lock_that_could_not_be_read_was_not_free() -> None:
    """Nothing is known about it."""
    hidden = Denied(path=Text(PATH), what="list", zxid=1, at=NOW)
    root = Settings(roots=(Root(path=PATH, layout="kazoo-lock"),))
    said = was(detail_of((NOW, [hidden]), settings=root))

    assert "zktop could not read it: " in said
    assert "free" not in said


async def test_keys_act_on_the_deleted_lock_that_is_shown() -> None:
    """Not on the worst lock, which was shown before."""
    async with page_on("lock", frames((NOW, ring_of("ann", "bob")))) as (app, pilot):
        await shown(pilot)
        app.post_message(ShowPage("lock", Selection(path=ORDERS)))
        await settled(pilot)

        assert app.selection.path == ORDERS


def test_a_connection_that_is_younger_than_the_tables_is_not_missing() -> None:
    """The next tables will list it."""
    table = connections(ZK1, row("ann"), zxid=1_000)
    detail = detail_of((NOW, [own(), *facts(k("ann", 0), k("bob", 1, czxid=2_000)), table]))
    (bob,) = single_rows(detail, [1])

    assert "no server lists its connection" not in text(selected_lines(bob, 100, with_data=False))


def test_waiters_that_only_watches_show_are_unknown_without_watch_tables() -> None:
    """The queue may be long."""
    node = facts(stat=Stat(50, 50, NOW, owner=session("ann")))
    detail = detail_of((NOW, [*node, connected("ann", "bob")]), settings=ONE_NODE)

    assert "QUEUE   unknown: no watch table" in text(lock_head(detail, 100))
    assert "no waiters" not in text(histograms(detail, 100))


def pool(leases: int, *at_gate: str) -> LockDetail:
    """A semaphore of kazoo with these clients at its gate."""
    names = [kazoo_name(owner, number) for number, owner in enumerate(at_gate)]
    report = reports(
        [
            *folder(GATE, *names),
            *folder(LEASES, data=str(leases).encode()),
            *(
                created(join(GATE, name), owner, 53)
                for name, owner in zip(names, at_gate, strict=True)
            ),
        ]
    )[-1]
    detail = LockDetail.of(report, POOL)
    assert detail is not None
    return detail


def test_a_semaphore_without_leases_is_not_free() -> None:
    """Nobody can ever enter."""
    head = text(lock_head(pool(0, "cid", "dan"), 100))

    assert "HOLDER  none: it has no leases" in head


def test_the_counter_of_another_folder_is_not_the_next_number() -> None:
    """The clients queue at the gate, which has its own counter."""
    assert "next number" not in text(lock_head(pool(1, "cid", "dan"), 100))


def test_clients_that_only_watch_are_counted() -> None:
    """The lock is a single node with two of them."""
    assert "3 clients" in text(lock_head(single_node("bob", "cid"), 100))


def test_an_unread_znode_has_an_unknown_session() -> None:
    """Perhaps it has one."""
    unread = [
        fact if isinstance(fact, Children) else Node(path=fact.path, zxid=fact.zxid, at=fact.at)
        for fact in facts(k("ann", 0))
    ]
    (ann,) = single_rows(detail_of((NOW, unread)), [0])

    assert "session      unknown" in text(selected_lines(ann, 100, with_data=False))


def test_a_wide_path_leaves_room_for_the_facts() -> None:
    """It takes two cells for each character."""
    path = "/锁" * 20
    report = frames((NOW, facts(k("ann", 0), path=path)))[-1].report
    detail = LockDetail.of(report, path)
    assert detail is not None

    assert all(width_of(drawn) <= 110 for drawn in lock_head(detail, 110))


def test_numbers_after_the_wrap_differ_in_their_column() -> None:
    """They have a sign, and so one character too many."""
    children = [
        At(kazoo_name(owner, at - 2**31), owner) for at, owner in enumerate(("ann", "bob"))
    ]
    detail = detail_of((NOW, facts(*children)))
    (column,) = [column for column in COLUMNS if column.name == "SEQ"]

    assert {
        text_of(cut_cell(column, one, column.draw(one), column.width))
        for one in single_rows(detail, [0, 1])
    } == {"-2147…3647", "-2147…3648"}


def test_a_deleted_single_node_that_was_free_may_have_had_waiters() -> None:
    """Its record does not include the sessions that watched it."""
    detail = detail_of((NOW, facts(stat=Stat(50, 50, NOW))), settings=ONE_NODE)

    assert "It was a free single (single-node). " in was(detail)


@pytest.mark.parametrize(
    ("watchers", "says"),
    [(["bob"], "1 watches it, unordered"), (["bob", "cid"], "2 watch it, unordered")],
)
def test_the_watchers_of_a_single_node_are_counted(watchers: list[str], says: str) -> None:
    """In the singular and in the plural."""
    assert says in text(lock_head(single_node(*watchers), 120))
