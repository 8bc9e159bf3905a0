"""The drawing of trees."""

import re

from model.findings.cases import PATH, At, connected, curator, facts, k, watching
from model.make_facts import NOW, session
from msgspec.structs import replace
from output.stories import facts as story
from ui.example_ensemble import trouble
from ui.example_queues import looked, queue, ring_of
from ui.fake_feed import frames

from zktop.model.facts import Denied, Node, Stat
from zktop.model.locks.shapes import layout_named
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.filters import NO_FILTER
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.findings.finding_list import entries
from zktop.ui.styled_text import line, text_of
from zktop.ui.trees.tree_lines import Branch, WaitTreeLines, write_branches, write_overview
from zktop.ui.trees.wait_tree import MAX_ITEMS, MAX_TOPS, tree_of
from zktop.ui.view_state import Selection


def text(writer: LineWriter) -> str:
    """All lines as one text."""
    return "\n".join(map(text_of, writer.lines))


def overview_of(report: Report) -> str:
    """The overview of all root blockers."""
    writer = LineWriter(100)
    write_overview(writer, report)
    return text(writer)


def drawn(report: Report, selected: Selection) -> LineWriter:
    """The tree of one item."""
    tree = tree_of(report, selected)
    assert tree is not None
    writer = LineWriter(100)
    WaitTreeLines(report).write(writer, [tree])
    return writer


def test_the_last_branch_hangs_on_a_corner() -> None:
    """No stroke goes on below it."""
    leaf, writer = Branch(line("leaf")), LineWriter(80)
    write_branches(writer, [Branch(line("first"), below=(leaf, leaf)), Branch(line("last"))])

    assert text(writer).splitlines() == [
        " ├─ first",
        " │  ├─ leaf",
        " │  └─ leaf",
        " └─ last",
    ]


def test_columns_stand_below_each_other() -> None:
    """At any depth."""
    leaf, writer = Branch(line("leaf"), columns=line("2")), LineWriter(80)
    write_branches(writer, [Branch(line("top"), None, (leaf,), line("1"))], columns_at=20)

    assert [text_of(one)[20:] for one in writer.lines] == ["1", "2"]


def test_one_more_waiter_is_shown_where_its_number_would_be() -> None:
    """The overview counts the waiters that block no others, unless that takes no less room."""
    (frame,) = frames((NOW, story("X x: A B ; Y x: B A C")))
    more = frames((NOW, story("X x: A B ; Y x: B A C D")))[0].report

    assert re.search(r"└─ C +waits", overview_of(frame.report))
    assert "… and 2 more waiters" in overview_of(more)


def test_a_waiter_that_holds_a_lock_has_its_own_waiters_below() -> None:
    """The root does not wait."""
    report = looked(
        facts(k("ann", 1), k("bob", 2, czxid=120), path="/locks/a"),
        facts(k("bob", 1, czxid=110), k("cid", 2, czxid=130), path="/locks/b"),
    )[-1].report

    assert text(drawn(report, Selection(path="/locks/b"))).splitlines() == [
        " ann  not waiting itself",
        " └─ /locks/a ◀ 1 waiter",
        "    └─ bob  waits ≥1m10s",
        "       └─ /locks/b ◀ 1 waiter  selected",
        "          └─ cid  waits ≥1m10s",
    ]
    assert "ann  not waiting itself   blocks 2" in overview_of(report)


def test_each_line_opens_what_it_is_about() -> None:
    """A client its session, a lock itself."""
    report = looked(facts(k("ann", 1), k("bob", 2), path="/locks/a"))[-1].report
    links = drawn(report, Selection(path="/locks/a")).links

    assert [link.page for link in links if isinstance(link, LineLink)] == [
        "sessions",
        "lock",
        "sessions",
    ]
    assert len(set(links)) == len(links)
    assert [link.subject.session for link in links if isinstance(link, LineLink)] == [
        session("ann"),
        None,
        session("bob"),
    ]


def test_modes_of_a_read_write_lock_are_named() -> None:
    """An exclusive lock has only one."""
    report = looked(facts(*queue("RW"), path="/locks/a"))[-1].report

    assert "w1  waits (write)" in text(drawn(report, Selection(path="/locks/a")))


def test_a_ring_is_cut_where_it_closes() -> None:
    """The drawing must come to an end."""
    shown = overview_of(looked(ring_of("ann", "bob", behind=2))[-1].report)

    assert "DEADLOCK #1" in shown
    assert shown.count("part of the deadlock") == 2


def test_a_node_without_owner_is_a_root() -> None:
    """A node without an owner blocks others like any holder."""
    assert "zed  has no session" in overview_of(trouble()[-1].report)


def test_says_that_no_client_is_waiting() -> None:
    """An empty drawing would say nothing."""
    assert "No client waits in a queue" in overview_of(looked(facts(*queue("X")))[-1].report)


def test_clients_of_a_large_deadlock_are_counted() -> None:
    """The first ones are listed."""
    report = looked(ring_of(*(f"c{at:02}" for at in range(MAX_TOPS + 5))))[-1].report
    (dead,) = report.deadlocks

    assert "└─ … and 5 more clients" in text(drawn(report, Selection(case=dead.id)))


def test_the_holder_of_a_single_node_blocks_those_that_watch_it() -> None:
    """They wait in no queue, and nobody knows since when."""
    one_node = Settings(roots=(Root(path=PATH, layout="single-node"),))
    node = facts(stat=Stat(50, 50, NOW, owner=session("ann")))
    tables = [connected("ann", "bob"), watching({"bob": [PATH]})]
    (frame,) = frames((NOW, [*node, *tables]), settings=one_node)
    listed = [text_of(one.drawn) for one in entries(frame.report, Tape(), NO_FILTER)]

    view = frame.report.view(Text(PATH))
    assert view is not None
    assert view.watch_check.watchers_waiting
    assert "  who is blocking  1 blocker" in listed
    assert "blocks 1  (≥0s in total)" in overview_of(frame.report)
    assert f"└─ {PATH} ◀ 1 waiter" in overview_of(frame.report)


def with_unread_waiter() -> Report:
    """Ann holds a lock, cid waits, and so does bob, whose znode was not read yet."""
    bob = k("bob", 3)
    known = [
        Node(path=fact.path, zxid=fact.zxid, at=fact.at) if fact.path.endswith(bob.name) else fact
        for fact in facts(k("ann", 1), k("cid", 2), bob)
    ]
    return looked(known)[-1].report


def test_the_owner_of_an_unread_waiter_is_unknown() -> None:
    """Perhaps it has one."""
    report = with_unread_waiter()
    shown = text(drawn(report, Selection(path=PATH)))

    assert shown.endswith("  owner unknown")
    assert "no owner" not in shown


def test_counts_root_blockers_that_are_not_drawn() -> None:
    """Also if the tree of an earlier one is too large."""
    many = [
        facts(k("ann", 0, czxid=100 + at), k(f"w{at}", 1, czxid=1_000 + at), path=f"/m{at:03}/l")
        for at in range(MAX_ITEMS + 10)
    ]
    report = looked(*many, facts(k("eve", 0), k("fay", 1), path="/z/l"))[-1].report

    last = overview_of(report).splitlines()[-1]

    assert last.strip() == "… and 1 more root blocker with less waiting in total"


def test_nobody_waits_for_an_election() -> None:
    """The overview shows who keeps others waiting."""
    report = looked(
        facts(curator("ann", 0, "latch"), curator("bob", 1, "latch"), path="/app/election"),
        facts(k("ann", 0, czxid=200), k("cid", 1, czxid=210), path="/app/locks"),
    )[-1].report

    assert "/app/locks ◀ 1 waiter (cid)" in overview_of(report)
    assert "/app/election" not in overview_of(report)
    assert "/app/election" in text(drawn(report, Selection(path="/app/election")))


def test_waiters_of_a_lock_that_cannot_be_read_are_unknown() -> None:
    """Unknown is not none."""
    settings = Settings(roots=(Root(path=PATH, layout="kazoo-lock"),))
    hidden = Denied(path=Text(PATH), what="list", zxid=1, at=NOW)
    report = frames((NOW, [hidden]), settings=settings)[-1].report

    assert "/locks/orders ◀ waiters unknown" in text(drawn(report, Selection(path=PATH)))
    assert overview_of(report).endswith(
        "No client is seen waiting in a queue; 1 lock cannot be read."
    )


def test_bounds_are_ascii_where_the_terminal_is() -> None:
    """The sign of the total, too."""
    writer = LineWriter(100)
    write_overview(writer, with_unread_waiter(), is_ascii=True)

    assert "(>=" in text(writer)
    assert "≥" not in text(writer)


def test_a_waiter_that_is_persistent_on_purpose_is_no_accident() -> None:
    """Its layout has no sessions; it has a label."""
    jobs = [At("w-0000000000", "", label="ann"), At("w-0000000001", "", label="bob")]
    layout = replace(layout_named("named-sequence"), name="jobs", grouped=False, persistent=True)
    settings = Settings(roots=(Root(path=PATH, layout="jobs"),), layouts=(layout,))
    report = looked(facts(*jobs), settings=settings)[-1].report

    assert "bob  waits ≥1m10s  has no session" in text(drawn(report, Selection(path=PATH)))
