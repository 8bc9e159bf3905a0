"""The panes around the table of all locks: alerts, root blockers, events, description."""

import msgspec
import pytest
from model.findings.cases import PATH, curator, facts, k, plain
from model.make_facts import NOW, kazoo_name, lock, own, session
from ui.example_ensemble import (
    IMPORT,
    LONG,
    ORDERS,
    QUIET,
    STOCK,
    deadlock,
    orphan,
    rows_of,
    seen,
    servers,
    texts,
    trouble,
)
from ui.example_past import BEGIN, past
from ui.example_queues import looked, queue, soft_ring
from ui.fake_feed import app_of, frames, panel, settled

from zktop.model.facts import DAY_MS, Children, Gone, Node, Stat, join
from zktop.model.format import short
from zktop.model.history.events import DELETED_IT, LEASE_OVER, UNCLEAR, Elapsed, Event, EventKind
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.root_blockers import MAX_LISTED
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.event_lines import About, event_lines
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.screens.locks.alerts import (
    MAX_ALERTS,
    AlertList,
    acknowledged_lines,
    alert_frame,
    alert_lines,
    alerts,
    no_problems,
)
from zktop.ui.screens.locks.blockers import blocker_head, blocker_line, blockers
from zktop.ui.screens.locks.pane_sizes import UsedLines, heights_now
from zktop.ui.screens.locks.panes import lock_summary
from zktop.ui.styled_text import text_of, width_of
from zktop.ui.view_state import Selection


@pytest.fixture
def report() -> Report:
    """The last report of the example ensemble."""
    return trouble()[-1].report


def test_a_small_deadlock_is_drawn_and_says_what_to_do(report: Report) -> None:
    """The drawing shows who holds the lock that another client wants; other alerts have a line."""
    lines, cases = zip(*alert_lines(list(alerts(report)), report.now, 100), strict=True)
    drawn = texts(lines)

    assert drawn[0] == " ann 10.0.0.1:10810 ──holds─▶ /locks/orders ◀──wants── bob"
    assert drawn[1].startswith(" bob 10.0.0.1:")
    assert drawn[2].startswith(" Kill ")
    assert drawn[2].endswith("unblocks 3 others")
    assert drawn[-1].startswith(" 2  ORPHAN  for 6m10s  89e3…__lock__0000000000 in /locks/import")
    assert list(dict.fromkeys(cases)) == [finding.id for finding in report.findings[:2]]


def test_a_kill_that_resolves_nothing_alone_says_so(report: Report) -> None:
    """Two clients that both want to write must both be killed."""
    (dead,) = report.deadlocks
    ways = tuple(msgspec.structs.replace(way, frees=1) for way in dead.ways_out)
    dead = msgspec.structs.replace(dead, ways_out=ways)
    report = msgspec.structs.replace(report, deadlocks=(dead,))
    lines, _ = zip(*alert_lines(list(alerts(report)), report.now, 100), strict=True)

    assert texts(lines)[2].endswith("unblocks no others by itself")


def test_a_deadlock_without_a_ring_and_without_a_way_out_has_its_sentence(report: Report) -> None:
    """There is nothing to draw, as for a ring of many clients that are known by their watches."""
    (dead,) = report.deadlocks
    bare = msgspec.structs.replace(dead, steps=(), ways_out=())
    lines, _ = zip(
        *alert_lines(
            list(alerts(msgspec.structs.replace(report, deadlocks=(bare,)))), report.now, 100
        ),
        strict=True,
    )
    drawn = texts(lines)

    assert drawn[0].startswith(" 1  likely DEADLOCK  for")
    assert drawn[1].split()[0] == dead.sentence.split()[0]


def test_a_narrow_pane_draws_a_deadlock_without_addresses(report: Report) -> None:
    """They stand in the line that says which client to kill."""
    lines, _ = zip(*alert_lines(list(alerts(report)), report.now, 50), strict=True)

    assert texts(lines)[0] == " ann ──holds─▶ /locks/orders ◀──wants── bob"


@pytest.mark.parametrize(("width", "room"), [(100, 2), (38, 3)])
def test_a_small_pane_has_the_client_to_kill_before_the_sentence(
    report: Report, width: int, room: int
) -> None:
    """The ring does not fit."""
    lines, _ = zip(*alert_lines(list(alerts(report)), report.now, width, room=room), strict=True)

    assert texts(lines)[0].startswith(" 1  likely DEADLOCK  for 1m10s")
    assert texts(lines)[1].startswith(" Kill ")
    assert texts(lines)[2].startswith(" 2  ") or "ann holds" in texts(lines)[2]


def test_a_deadlock_is_an_alert_in_its_first_report() -> None:
    """Findings need a second look; a deadlock does not."""
    report, _ = seen([*servers(), *deadlock()])
    (alert,) = alerts(msgspec.structs.replace(report, findings=()))

    assert (alert.title, alert.more, alert.case) == (
        "deadlock",
        "2 more behind",
        report.deadlocks[0].id,
    )


def test_consequences_are_counted_with_their_cause(report: Report) -> None:
    """A consequence is no alert."""
    first, second, *_ = report.findings
    effect = msgspec.structs.replace(second, cause=first.id)
    changed = msgspec.structs.replace(report, findings=(first, effect), deadlocks=())

    assert [one.case for one in alerts(changed)] == [first.id]


@pytest.mark.parametrize(
    ("folded", "said"), [(1, "1 more follows from it"), (2, "2 more follow from it")]
)
def test_says_how_many_follow_from_a_finding(report: Report, folded: int, said: str) -> None:
    """Where there is one, the verb is in the singular."""
    first = msgspec.structs.replace(report.findings[0], folded=folded)
    changed = msgspec.structs.replace(report, findings=(first,), deadlocks=())

    assert [one.more for one in alerts(changed)] == [said]


def test_counts_alerts_by_severity(report: Report) -> None:
    """In words, not in colours alone."""
    assert alert_frame(AlertList(list(alerts(report))), report.now).facts == "2 critical"


@pytest.mark.parametrize(("confidence", "is_alarm"), [("C4", True), ("C2", False)])
def test_the_frame_is_red_if_the_worst_alert_is_confirmed(
    report: Report, confidence: str, *, is_alarm: bool
) -> None:
    """A likely one is not."""
    seen_so = msgspec.structs.replace(report.deadlocks[0], confidence=confidence)
    changed = msgspec.structs.replace(report, deadlocks=(seen_so,), findings=())

    assert alert_frame(AlertList(list(alerts(changed))), report.now).is_alarm is is_alarm


@pytest.mark.parametrize(
    ("confidence", "title", "head"),
    [
        ("C4", "Deadlock · confirmed", " 1  DEADLOCK"),
        ("C2", "Deadlock · likely", " 1  likely DEADLOCK"),
        ("C1", "Deadlock · hint", " 1  hint: DEADLOCK"),
    ],
)
def test_an_alert_has_the_word_for_its_confidence_as_on_screen_3(
    report: Report, confidence: str, title: str, head: str
) -> None:
    """A hint is less than likely."""
    seen_so = msgspec.structs.replace(report.deadlocks[0], confidence=confidence)
    changed = msgspec.structs.replace(report, deadlocks=(seen_so,), findings=())
    found = list(alerts(changed))
    lines, _ = zip(*alert_lines(found, report.now, 120, room=1), strict=True)

    assert alert_frame(AlertList(found), report.now).title.startswith(title)
    assert text_of(lines[0]).startswith(head)


@pytest.mark.parametrize(
    ("when", "blind_spots", "said"),
    [
        ("now", 0, "No problems found"),
        ("now", 3, "No problems found · 3 checks had no data: see screen 3"),
        ("then", 0, "No problems were known at that time."),
    ],
)
def test_no_problems_says_how_many_checks_had_no_data(
    report: Report, when: str, blind_spots: int, said: str
) -> None:
    """Blind is not ok."""
    changed = msgspec.structs.replace(report, blind=report.blind[:blind_spots])

    assert said in text_of(no_problems(changed, is_now=when == "now"))


def test_no_problems_in_a_folder_of_locks_is_not_fine() -> None:
    """The folder that the user named was not checked."""
    folder = Children(
        path=Text("/app"), names=(Text("a"), Text("b")), stat=Stat(9, 9, 0), zxid=9, at=NOW
    )
    report = looked([folder], settings=Settings(roots=(Root("/app"),)))[-1].report

    (run,) = no_problems(report, is_now=True)
    assert run.text == " No problems found, but /app is not a lock"
    assert run.ink == "unknown"


def test_all_folders_that_are_no_locks_are_named() -> None:
    """The first three, and how many others there are."""
    paths = [Text(f"/app{number}") for number in range(5)]
    names, stat = (Text("a"), Text("b")), Stat(9, 9, 0)
    folders = [Children(path=one, names=names, stat=stat, zxid=9, at=NOW) for one in paths]
    settings = Settings(roots=tuple(Root(one) for one in paths))
    report = looked(folders, settings=settings)[-1].report

    (run,) = no_problems(report, is_now=True)
    assert run.text == " No problems found, but /app0, /app1, /app2 and 2 more are not locks"


def test_root_blockers_are_clients_not_locks(report: Report) -> None:
    """The deadlock, and the node without an owner, each with its reason."""
    ring, orphan_root = blockers(report, 5)

    link = LineLink("findings", Selection(case=report.deadlocks[0].id))
    assert (ring.client, ring.why, ring.link) == ("ann and bob", "likely deadlock", link)
    assert orphan_root.client == "zed"
    assert orphan_root.why.startswith(
        "orphan: 89e3…__lock__0000000000 in /locks/import has no owner"
    )
    assert (orphan_root.link.page, orphan_root.link.subject.path) == ("lock", IMPORT)
    words = text_of(blocker_line(1, ring, 120)).split()
    assert " ".join(words[:6]) == "1 ann and bob 4 4m40s"


def test_clients_that_block_each_other_are_one_root_blocker(report: Report) -> None:
    """All of them are named, also while no deadlock is reported."""
    unproven = msgspec.structs.replace(report, deadlocks=(), findings=())
    ring, *_ = blockers(unproven, 5)

    assert (ring.client, ring.why) == ("ann and bob", "wait for each other")
    assert ring.link == LineLink("sessions", Selection(session=session("ann")))


def test_a_root_blocker_has_its_name() -> None:
    """A session with the lock that it holds; enter opens the session."""
    report, _ = seen(lock("/locks/a", "ann", "bob"))
    (ann,) = blockers(report, 5)

    assert (ann.client, ann.why, ann.link.page) == ("ann", "holds /locks/a", "sessions")
    assert ann.link.subject.session == report.view("/locks/a").lock.holders[0].owner


def test_an_orphan_without_a_label_has_the_name_of_its_node() -> None:
    """A note says that it outlives every session."""
    facts = [
        fact if not isinstance(fact, Node) else msgspec.structs.replace(fact, data=None)
        for fact in orphan(IMPORT, "zed", "yan")
    ]
    report, _ = seen(facts)
    changed = msgspec.structs.replace(report, findings=())
    (orphan_root,) = blockers(changed, 5)

    assert orphan_root.client == "89e3…__lock__0000000000 in /locks/import"
    assert "persistent node" in orphan_root.why


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_columns_of_blockers_line_up(report: Report, width: int) -> None:
    """At every width."""
    (ring, *_) = blockers(report, 5)
    head, drawn = (text_of(one) for one in (blocker_head(width), blocker_line(1, ring, width)))

    assert head.index("WHY") == drawn.index("likely")
    assert head.index("BLOCKED ") + 7 == drawn.index("4 ") + 1


@pytest.mark.parametrize("width", [37, 39, 60])
def test_narrow_lines_of_blockers_have_the_figure_that_orders_them(
    report: Report, width: int
) -> None:
    """A window of 120 columns has room for both in 39 cells; no line is longer than its pane."""
    head, drawn = blocker_head(width), blocker_line(1, next(blockers(report, 1)), width)

    assert text_of(head).split() == ["CLIENT", *["BLOCKED"] * (width >= 39), "TOTAL", "WAIT"]
    assert text_of(drawn).endswith(" 4m40s")
    assert len(text_of(head)) == len(text_of(drawn)) <= width


@pytest.mark.parametrize(
    ("names", "number", "width", "said"),
    [
        (("checkout-worker-7f9c", "payments-worker-3b2d"), 2, 39, "check…f9c +1"),
        (("checkout-worker-7f9c", "payments-worker-3b2d"), 2, 80,
         "checkout…r-7f9c and payments…r-3b2d"),
        (("checkout-worker-7f9c", "b", "c"), 3, 39, "check…f9c +2"),
        (("checkout-worker-7f9c", "payments-worker-3b2d", "c"), 3, 80,
         "checkout-worker-7f9c and 2 more"),
        (("checkout-worker-7f9c-of-zone-a",), 1, 39, "checko…one-a"),
    ],
)  # fmt: skip
def test_names_of_a_blocker_that_do_not_fit_are_shortened_or_counted(
    report: Report, names: tuple[str, ...], number: int, width: int, said: str
) -> None:
    """Cut in the middle, two names looked like one."""
    one = next(blockers(report, 1))
    root = msgspec.structs.replace(one.root, actors=("",) * number)
    drawn = blocker_line(1, one._replace(root=root, names=names), width)

    assert f" {said} " in text_of(drawn)


@pytest.mark.parametrize("bound", [False, True])
def test_a_month_of_waiting_is_not_cut(report: Report, *, bound: bool) -> None:
    """A number without its end would be wrong."""
    (ring, *_) = blockers(report, 5)
    month = msgspec.structs.replace(ring.root, blocked_ms=12_345_678_000, undated=int(bound))

    drawn = text_of(blocker_line(1, ring._replace(root=month), 120)).split()
    assert drawn[5] == ("≥" if bound else "") + "142d21h"


def test_events_come_newest_first() -> None:
    """Deadlocks are among them."""
    tape = Tape()
    for frame in trouble():
        tape.add(frame)
    events = event_lines(tape, trouble()[-1].report, 10, 120)

    assert texts([event.drawn for event in events]) == [
        f" 00:17:50.000  *  {QUIET:<24}  api-2 acquired after ≥1m10s",
        f" 00:17:50.000  -  {QUIET:<24}  api-1 released after ≥1m10s",
        " 00:16:40.000  !  DEADLOCK: /locks/orders and /locks/stock",
    ]
    assert events[0].link.subject.path == QUIET


def test_events_of_one_lock_or_session() -> None:
    """Those of a lock leave out its path; the deadlocks that it is in are among them."""
    tape = Tape()
    for frame in trouble():
        tape.add(frame)
    wanted = About(QUIET), About(STOCK), About(session=session("api-2"))
    events = [event_lines(tape, trouble()[-1].report, 9, 120, about) for about in wanted]

    assert [texts([one.drawn for one in some]) for some in events] == [
        [
            " 00:17:50.000  *  api-2 acquired after ≥1m10s",
            " 00:17:50.000  -  api-1 released after ≥1m10s",
        ],
        [" 00:16:40.000  !  DEADLOCK: orders and stock"],
        [f" 00:17:50.000  *  {QUIET:<24}  api-2 acquired after ≥1m10s"],
    ]


def test_the_past_has_no_later_events() -> None:
    """An earlier moment shows the events before it."""
    tape = Tape()
    for frame in trouble():
        tape.add(frame)

    assert len(event_lines(tape, trouble()[3].report, 10, 120)) == 1


def tape_with(report: Report, *events: Event) -> Tape:
    """A tape of one report with these events alone."""
    tape = Tape()
    tape.add(Frame(msgspec.structs.replace(report, deadlocks=()), events))
    return tape


@pytest.mark.parametrize(
    ("ago_ms", "width", "time"),
    [
        (DAY_MS, 120, " 1970-01-01 00:17:50.000  +  "),
        (DAY_MS, 40, " 01-01 00:17 + "),
        (0, 120, " 00:17:50.000  +  "),
        (0, 40, " 00:17:50 + "),
    ],
)
def test_an_event_of_another_day_has_its_date(ago_ms: int, width: int, time: str) -> None:
    """The time alone would be later than the moment that is shown."""
    report = trouble()[-1].report
    created = Event(at=report.now, event="lock-appeared", lock=QUIET)
    tape = tape_with(report, created)
    later = msgspec.structs.replace(report, now=report.now + ago_ms)

    (shown,) = event_lines(tape, later, 1, width)
    (in_a_gap,) = event_lines(tape, report, 1, width, shown_at=later.now)

    assert text_of(in_a_gap.drawn) == text_of(shown.drawn)

    assert text_of(shown.drawn).startswith(time)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event(at=0, event="missed", lock=QUIET, creates=1, deletes=3),
         "missed between two reads: 1 node created, 3 deleted"),
        (Event(at=0, event="expired", lock=QUIET, node=Text("n"), owner=Text("ann")),
         "ann expired"),
        (Event(at=0, event="abandoned", lock=QUIET, node=Text("n"), session=0xA,
               waited=Elapsed(1500, "exact")), "0xa gave up waiting after 1.5s"),
        (Event(at=0, event="abandoned", lock=QUIET, node=Text("n"), owner=Text("ann"),
               why=UNCLEAR), "ann left, may have held it"),
        (Event(at=0, event="released", lock=QUIET, node=Text("n"), owner=Text("ann"),
               held=Elapsed(1500, "exact"), why=Text(f"session 0xb{DELETED_IT}")),
         "ann lost its node after 1.5s: session 0xb deleted it"),
        (Event(at=0, event="released", lock=QUIET, node=Text("n"), owner=Text("ann"),
               held=Elapsed(1500, "exact"), why=LEASE_OVER), "ann let its lease end after 1.5s"),
        (Event(at=0, event="acquired", lock=QUIET, node=Text("n"), owner=Text("ann"),
               waited=Elapsed(0, "exact")), "ann acquired"),
        (Event(at=0, event="queued", lock=QUIET, node=Text("lock-7")), "lock-7 queued"),
        (Event(at=0, event="lock-vanished", lock=LONG), "lock deleted"),
    ],
)  # fmt: skip
def test_says_each_event_in_words(report: Report, event: Event, said: str) -> None:
    """A client without a name is shown by its session, else by its node."""
    (entry,) = event_lines(tape_with(report, event), report, 5, 120)

    assert text_of(entry.drawn).endswith(f"  {said}")


@pytest.mark.parametrize(("place", "lasted"), [(0, "held ≥1m05s"), (1, "waited ≥1m05s")])
def test_a_leave_that_was_not_seen_is_neither_a_release_nor_an_expiry(
    place: int, lasted: str
) -> None:
    """Without a connection, any of the two may have happened, at any time."""
    children = queue("XX")
    gone = Gone(path=join(PATH, children[place].name), zxid=2_000_000, at=NOW + 60_000)
    moments = frames(
        (NOW, [own(), *facts(*children)]),
        (NOW + 5_000, [own(state="suspended", at=NOW + 5_000)]),
        (NOW + 60_000, [own(at=NOW + 60_000), gone]),
    )
    tape = Tape()
    for frame in moments:
        tape.add(frame)
    said = texts([one.drawn for one in event_lines(tape, moments[-1].report, 9, 120)])

    assert [line for line in said if line.endswith(f" left unseen, {lasted}")]
    assert not any("released" in line or "gave up" in line for line in said)


def test_an_owner_that_was_read_later_is_named(report: Report) -> None:
    """By the queue, or by later events of the node; else the node is shown."""
    node, gone = kazoo_name("eve", 2), Text("lock-0000000007")
    tape = tape_with(
        report,
        Event(at=1, event="queued", lock=STOCK, node=node),
        Event(at=2, event="queued", lock=QUIET, node=gone),
        Event(at=3, event="abandoned", lock=QUIET, node=gone, session=0xA, owner=Text("dan")),
        Event(at=4, event="queued", lock=QUIET, node=Text("lock-0000000008")),
    )
    events = texts([one.drawn for one in event_lines(tape, report, 5, 120)])

    assert [event.split()[-2] for event in events] == ["lock-0000000008", "up", "dan", "eve"]
    assert events[1].endswith("  dan gave up waiting")


@pytest.mark.parametrize("between", ["lock-appeared", "lock-vanished"])
def test_a_lock_that_was_created_again_does_not_name_later_owners(
    report: Report, between: EventKind
) -> None:
    """The names of its nodes begin again with 0, for other clients."""
    node, of_queue = Text("lock-0000000000"), kazoo_name("eve", 2)
    assert report.view(STOCK).lock.member(of_queue) is not None
    tape = tape_with(
        report,
        Event(at=1, event="released", lock=STOCK, node=node),
        Event(at=2, event="released", lock=STOCK, node=of_queue),
        Event(at=3, event=between, lock=STOCK),
        Event(at=4, event="queued", lock=STOCK, node=node, owner=Text("dan")),
        Event(at=5, event="queued", lock=STOCK, node=of_queue),
    )
    events = texts([one.drawn for one in event_lines(tape, report, 5, 120)])

    assert [one.split()[-2] for one in (*events[:2], *events[3:])] == [
        "eve", "dan", short(of_queue), "lock-0000000000",
    ]  # fmt: skip


def test_a_wide_path_keeps_its_column(report: Report) -> None:
    """Its characters take two cells each."""
    path = Text("/locks/" + "漢字" * 10)
    tape = tape_with(
        report, *(Event(at=1, event="lock-appeared", lock=one) for one in (path, "/a"))
    )
    wide, plain = (one.drawn for one in event_lines(tape, report, 5, 120))

    assert width_of(wide[:-1]) == width_of(plain[:-1])


def test_a_single_node_does_not_name_later_owners(report: Report) -> None:
    """It has the same name for every owner."""
    tape = tape_with(
        report,
        Event(at=1, event="queued", lock=QUIET, node=Text(".")),
        Event(at=2, event="acquired", lock=QUIET, node=Text("."), owner=Text("dan"), session=0xA),
    )
    events = texts([one.drawn for one in event_lines(tape, report, 5, 120)])

    assert "dan" not in events[1]


def test_describes_the_row_under_the_cursor(report: Report) -> None:
    """The whole path, and the sentence of its status."""
    live = rows_of(report)

    assert text_of(lock_summary(live.rows[LONG])) == f" {LONG}  kazoo-lock"
    assert text_of(lock_summary(live.rows[ORDERS])).startswith(
        f" {ORDERS}  kazoo-lock  ann holds /locks"
    )


def test_a_root_blocker_is_shown_with_a_lock_that_others_wait_for() -> None:
    """Not with the first of the many others that it holds."""
    idle, busy = Text("/locks/a"), Text("/locks/b")
    report, _ = seen((*lock(idle, "ann"), *lock(busy, "ann", "bob")))
    (blocker,) = blockers(report, 5)

    assert blocker.why == "holds /locks/b"


@pytest.mark.parametrize("is_live", [True, False])
async def test_the_pulse_of_a_recording_has_no_load_of_zktop(*, is_live: bool) -> None:
    """Only a live run counts it."""
    app = app_of(*trouble(), is_live=is_live)
    async with app.run_test(size=(120, 36)) as pilot:
        names = [one.split()[0] for one in panel(await settled(pilot), "Pulse")]

        assert names[:4] == ["acquired/s", "waiting", "wait", "sessions"]
        assert ("own" in names) == is_live


async def test_the_pulse_is_that_of_the_cursor() -> None:
    """Before the first client waits, the number of waiters is 0."""
    app = app_of(*past(), is_live=False)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.seek(BEGIN + 1_000)
        before = panel(await settled(pilot), "Pulse")
        app.seek(BEGIN + 5_000)
        after = panel(await settled(pilot), "Pulse")

        assert (before[1].split()[-1], after[1].split()[-1]) == ("0", "2")


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_no_pane_has_a_negative_height(columns: int) -> None:
    """On a page of any height."""
    used = UsedLines(table=5, alerts=3, blockers=3)

    assert min(min(heights_now(page, columns, used)) for page in range(10, 80)) >= 0


def test_a_client_that_only_queues_holds_nothing_in_the_drawing() -> None:
    """A reader waits behind the writer that is queued before it."""
    (report,) = {frame.report for frame in looked(soft_ring())[-1:]}
    drawn = texts(next(zip(*alert_lines(list(alerts(report)), report.now, 100), strict=True)))

    assert " wil ─queued─▶ /locks/x ◀──wants── bob" in drawn
    assert " ann ──holds─▶ /locks/x ◀──wants── wil" in drawn


def test_nobody_waits_for_an_election() -> None:
    """Its standbys do not; the root blocker is shown with the lock that others wait for."""
    report = looked(
        facts(curator("ann", 0, "latch"), curator("bob", 1, "latch"), path="/app/election"),
        facts(k("ann", 0, czxid=200), k("cid", 1, czxid=210), path="/app/locks"),
    )[-1].report
    (blocker,) = blockers(report, 5)

    assert blocker.why == "holds /app/locks"


def test_counts_the_acknowledged_alerts_that_are_not_listed(report: Report) -> None:
    """The list has an end."""
    found = [*alerts(report)][:1] * (MAX_ALERTS + 3)
    lines, cases = zip(
        *acknowledged_lines(AlertList((), found), report.now, is_open=True), strict=True
    )

    assert text_of(lines[-1]) == "   and 3 more"
    assert len(lines) == len(cases)


def test_a_wide_name_of_a_root_blocker_keeps_its_end() -> None:
    """Names differ there."""
    wide = "漢字" * 20 + "-17"
    report, _ = seen(lock(QUIET, wide, "bob"))
    (blocker,) = blockers(report, 5)

    assert "-17 " in text_of(blocker_line(1, blocker, 70))


async def test_a_hundred_root_blockers_are_at_least_so_many() -> None:
    """No more of them are looked for."""
    facts = [fact for at in range(MAX_LISTED + 5) for fact in lock(f"/l/{at}", f"a{at}", f"b{at}")]
    async with app_of(*frames((NOW, facts))).run_test(size=(160, 60)) as pilot:
        drawn = "\n".join(await settled(pilot))

    assert "at least 100 root blockers" in drawn


def test_a_root_blocker_is_shown_with_the_lock_that_others_wait_for() -> None:
    """Ann holds two; in the folder of the first one, yve waits for xen."""
    members = plain("ann", 0, "stock-"), plain("xen", 1, "price-"), plain("yve", 2, "price-")
    roots = Root(path=STOCK, layout="named-sequence"), Root(path="/locks/*")
    known = [*facts(*members, path=STOCK), *lock("/locks/zeta", "ann", "bob")]
    report = looked(known, settings=Settings(roots=roots))[-1].report

    assert {one.client: one.why for one in blockers(report, 5)}["ann"] == "holds /locks/zeta"


async def test_the_name_of_a_lock_has_more_room_than_its_layout() -> None:
    """In the title of the preview."""
    path = "/zktop-demo/mixed-libraries/jobs"
    mixed = facts(plain("ann", 1), k("bob", 2), path=path)
    async with app_of(*frames((NOW, mixed))).run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)

    assert any("╭─ /zktop-dem…ies/jobs ── mixed:" in line for line in lines)


async def test_the_ends_of_long_names_tell_clients_apart_in_the_preview() -> None:
    """Names of one service begin alike."""
    clients = k("kazoo-election-1", 1), k("kazoo-election-2", 2)
    async with app_of(*frames((NOW, facts(*clients)))).run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)

    assert any("│ X kazoo-el…tion-2 waits" in line for line in lines)
