"""The first line of every screen: the ensemble, its state, and the pieces that are never cut."""

import pytest
from model.make_facts import (
    NOW,
    ZK1,
    ZK2,
    ZK3,
    connections,
    figures,
    lock,
    no_connections,
    out,
    own,
    row,
)
from msgspec.structs import replace
from ui.example_ensemble import deadlock, trouble
from ui.example_past import BEGIN, past
from ui.fake_feed import FakeFeed, app_of, frames, settled

from zktop.model.facts import AnyFact, Link, Server, ServerState
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.confidence import Confidence
from zktop.model.world.tables_of_one_server import LOGS
from zktop.ui.app import Zktop
from zktop.ui.interfaces import OnNews, Status
from zktop.ui.styled_text import Line, text_of, width_of
from zktop.ui.widgets.header import ensemble, tabs

TERM = 0x5A << 32
LONG = ",".join(f"zk{n}.production.example.com:2181" for n in (1, 2, 3)) + "/app"


def report_of(*facts: AnyFact) -> Report:
    """The header for these facts."""
    return frames((NOW, facts))[0].report


def three(*zxids: int | None) -> tuple[AnyFact, ...]:
    """Three servers, the last one leads; two sessions are connected besides ours."""
    modes = zip((ZK1, ZK2, ZK3), ("follower", "follower", "leader"), zxids, strict=True)
    tables = (
        connections(ZK1, row("ann"), row("zktop")),
        connections(ZK2, row("bob")),
        connections(ZK3),
    )
    return (own(), *tables, *(replace(figures(at, mode=m), server_zxid=z) for at, m, z in modes))


def suspected(report: Report, confidence: Confidence) -> Report:
    """The same deadlock with this confidence."""
    sure = tuple(replace(one, confidence=confidence) for one in report.deadlocks)
    return replace(report, deadlocks=sure)


def inks(drawn: Line) -> dict[str, str]:
    """The texts of the line by their inks."""
    return {run.text: run.ink for run in drawn}


def test_it_shows_the_ensemble() -> None:
    """The numbers of locks, servers and sessions, the leader, and the largest lag."""
    report = report_of(*lock("/a", "ann"), *three(TERM + 0x10, TERM + 0xD, TERM + 0x10))

    assert text_of(ensemble("prod", report, 120)).rstrip() == (
        "▍zktop  prod  1 lock  3/3 servers  leader zk3  2 sessions  zxid 5a:10  lag 3  BLIND SPOTS"
    )


def test_it_shows_what_is_unknown() -> None:
    """A number that is only a lower bound has a sign."""
    hidden = no_connections(ZK2, at=NOW + 1)
    report = report_of(*three(TERM + 2, None, TERM + 2), hidden)
    drawn = ensemble("prod", report, 120)

    assert "≥1 session" in text_of(drawn)
    assert "lag ≥0" in text_of(drawn)
    assert inks(drawn)["≥0"] == "unknown"


def test_a_lag_across_an_election_is_a_lower_bound() -> None:
    """It is unknown how many transactions of the previous term a server lacks."""
    drawn = ensemble("prod", report_of(*three(TERM + 3000, TERM - 5, TERM + 3000)), 120)

    assert "lag ≥3000" in text_of(drawn)


@pytest.mark.parametrize("state", ["down", "no-answer", "no-quorum"])
def test_a_server_that_is_down_is_counted_in_colour(state: ServerState) -> None:
    """On the narrowest terminal, too."""
    drawn = ensemble(
        "prod", report_of(*three(TERM, TERM, TERM), replace(out(ZK2, state), at=NOW + 1)), 60
    )

    assert inks(drawn)["2/3 servers"] == "warning"


def test_a_warning_is_more_important_than_the_number_of_servers() -> None:
    """On a line that has room for only one of them."""
    report = report_of(*lock("/a", "ann"), *three(TERM, TERM, TERM))
    orphan = next(one for one in trouble()[-1].report.findings if one.rule == "B1")
    warned = replace(report, findings=(replace(orphan, severity="warning"),))
    drawn = text_of(ensemble("prod", warned, 50))

    assert " 1 WARNING " in drawn
    assert "servers" not in drawn
    assert "servers" in text_of(ensemble("prod", report, 50))


def test_a_server_without_tables_is_up() -> None:
    """Locked down is not down."""
    locked = Server(
        server=ZK1, channel="4lw", why="mntr is not in the whitelist", state="up", at=NOW, zxid=0
    )
    drawn = ensemble("prod", report_of(own(), locked, no_connections(ZK1)), 120)

    assert "1/1 servers, 0 tables" in text_of(drawn)
    assert inks(drawn)["0 tables"] == "unknown"


def test_an_import_has_no_servers() -> None:
    """Its files may come from any number of servers, and no server was asked."""
    drawn = ensemble("prod", report_of(no_connections(LOGS)), 120)

    assert "transaction logs" in text_of(drawn)
    assert "servers" not in text_of(drawn)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("no-answer", "LIVE  NO ANSWER 12s"),
        ("no-quorum", "LIVE  NO SERVICE 12s"),  # it has none, or is still starting
        ("up", "LIVE  00:"),
    ],
)
async def test_live_is_followed_by_the_outage_of_our_server(state: ServerState, said: str) -> None:
    """The client notices it only after two thirds of its timeout."""
    link = replace(own(), server=ZK1)
    silent = replace(out(ZK1, state), at=NOW + 1)
    app = app_of(*frames((NOW, (link, *lock("/a", "ann"), silent))))
    async with app.run_test(size=(100, 24)) as pilot:
        lines = await settled(pilot)

        assert said in lines[0]


def test_a_standalone_server_has_no_leader_and_no_lag() -> None:
    """A standalone server has no leader and no lag."""
    alone = replace(figures(ZK1, mode="standalone"), server_zxid=5)
    said = text_of(ensemble("prod", report_of(own(), alone), 120))

    assert "zxid 0:5" in said
    assert "leader" not in said
    assert "lag" not in said


@pytest.mark.parametrize(
    ("confidence", "said", "ink"),
    [("C4", " 1 DEADLOCK ", "alarm"), ("C3", " 1 DEADLOCK ", "alarm"),
     ("C2", " 1 DEADLOCK? ", "caution"), ("C1", " 1 DEADLOCK? ", "caution")],
)  # fmt: skip
def test_red_is_for_what_is_proven(confidence: Confidence, said: str, ink: str) -> None:
    """A question mark means "likely", even without colours."""
    report = suspected(trouble()[-1].report, confidence)

    assert inks(ensemble("prod", report, 120))[said] == ink


def test_findings_other_than_a_deadlock_are_counted_by_severity() -> None:
    """Consequences and notes are not counted."""
    report = trouble()[-1].report
    orphan = next(finding for finding in report.findings if finding.rule == "B1")
    more = [
        replace(orphan, id=name, severity=severity, confidence="C2", cause=cause)
        for name, severity, cause in (
            ("a", "warning", None),
            ("b", "warning", None),
            ("c", "warning", orphan.id),
            ("d", "info", None),
        )
    ]
    drawn = inks(ensemble("prod", replace(report, findings=(*report.findings, *more)), 140))
    pills = {text: ink for text, ink in drawn.items() if ink in ("alarm", "caution")}

    assert pills == {
        " 1 DEADLOCK? ": "caution",
        " 1 CRITICAL ": "alarm",
        " 2 WARNINGS ": "caution",
    }


def test_an_acknowledged_alert_has_no_pill() -> None:
    """A deadlock is still counted."""
    report = trouble()[-1].report
    known = {finding.id for finding in report.findings}
    drawn = ensemble("prod", report, 140, acknowledged=known)

    assert {"alarm", "caution"}.isdisjoint(inks(drawn).values())
    assert "1 deadlock acknowledged" in text_of(drawn)


async def test_a_click_on_a_pill_goes_to_the_next_alert() -> None:
    """As n does."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        first = (await settled(pilot))[0]
        await pilot.click("#head", offset=(first.index("DEADLOCK"), 0))
        await settled(pilot)

        assert app.page is not None
        assert app.page.entry.name == "findings"


@pytest.mark.parametrize("name", ["zk1:2181", LONG])
@pytest.mark.parametrize("width", [48, 60, 100, 180, 230])
def test_problems_are_shown_on_any_terminal(name: str, width: int) -> None:
    """Blind spots, too; the name is cut in its middle to make room."""
    report = report_of(*deadlock(), *three(TERM, TERM, TERM))
    drawn = ensemble(name, report, width)
    called = drawn[2].text

    assert width_of(drawn) == width
    assert "1 DEADLOCK" in text_of(drawn)
    assert "BLIND SPOTS" in text_of(drawn)
    assert (called[:4], called[-3:]) == (name[:4], name[-3:])


@pytest.mark.parametrize(
    ("width", "shown"),
    [(32, "▍zktop  zk1:2181   1 DEADLOCK?"), (22, "▍zktop   1 DEADLOCK?"), (13, " 1 DEADLOCK?")],
)
def test_a_deadlock_is_shown_before_any_name(width: int, shown: str) -> None:
    """First the name of the ensemble makes room, then zktop's own."""
    report = replace(report_of(*deadlock()), blind=())

    assert text_of(ensemble("zk1:2181", report, width)).rstrip() == shown


def test_a_short_name_stays_where_it_fits() -> None:
    """A name of two cells needs no more."""
    report = replace(report_of(*deadlock()), blind=())

    assert text_of(ensemble("zk", report, 26)).rstrip() == "▍zktop  zk   1 DEADLOCK?"


def test_nothing_is_lost_where_there_is_room() -> None:
    """The whole name and all pieces."""
    said = text_of(ensemble(LONG, report_of(*deadlock(), *three(TERM, TERM, TERM)), 230))

    assert [one for one in (LONG, "2 locks", "leader zk3", "lag 0") if one not in said] == []


@pytest.mark.parametrize("size", [(30, 10), (80, 24), (250, 80)])
async def test_the_time_is_shown_on_any_terminal(size: tuple[int, int]) -> None:
    """However long the other pieces are."""
    app = app_of(*trouble())
    app.feed.name = LONG
    async with app.run_test(size=size) as pilot:
        lines = await settled(pilot)

        assert lines[0].endswith("LIVE  00:17:50Z")
        assert len(lines[0]) <= size[0]


class Silent(FakeFeed):
    """A feed without any news so far."""

    def start(self, on_news: OnNews) -> None:
        """Keep it."""
        self.on_news = on_news


@pytest.mark.parametrize(
    ("is_live", "said"), [(True, "Connecting to zk7"), (False, "Opening zk7")]
)
async def test_the_first_frame_shows_the_address(*, is_live: bool, said: str) -> None:
    """Before any server has answered."""
    app = Zktop(Silent(name="zk7", is_live=is_live))
    async with app.run_test(size=(80, 24)) as pilot:
        lines = await settled(pilot)

        assert any(said in line for line in lines)


@pytest.mark.parametrize("is_live", [True, False])
async def test_the_clock_is_that_of_the_cursor(*, is_live: bool) -> None:
    """Between two changes, too, where the newest frame is older."""
    app = app_of(*past(), page="timeline", is_live=is_live)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.seek(BEGIN + 13_000)
        screen = await settled(pilot)

        assert screen[0].endswith("00:33:33Z")
        assert ("8.0s behind" in screen[0]) == is_live


async def test_a_gap_of_a_recording_is_said() -> None:
    """With its reason, as for a connection that is lost now."""
    why = Text("492 transactions are missing between 0x7 and 0x1f4.")
    lost = Link(state="suspended", zxid=9, at=NOW + 1_000, why=why)
    gap = frames((NOW, three(1, 2, 3)), (NOW + 1_000, [lost]))
    app = app_of(*gap, is_live=False)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.seek(NOW)
        before = await settled(pilot)
        app.seek(NOW + 1_000)
        screen = await settled(pilot)

        assert "LOST" not in before[0]
        assert "LOST" in screen[0]
        assert f"Nothing is known of this time: {why}" in "\n".join(screen[:3])


async def test_an_outage_that_goes_on_is_said_once() -> None:
    """At an earlier moment of the same outage."""
    first, later = (Link(state="suspended", zxid=9, at=NOW + at) for at in (1_000, 2_000))
    outage = frames((NOW, three(1, 2, 3)), (NOW + 1_000, [first]), (NOW + 2_000, [later]))
    app = app_of(*outage, Status("lost", "Nothing answers."))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.seek(NOW + 1_000)
        screen = await settled(pilot)

        assert screen[0].count("LOST") == 1


def test_tabs_move_together_before_their_titles_are_cut() -> None:
    """Sixty columns have room for six whole titles."""
    wide, close, short = (text_of(tabs("locks", width, has_demo=True)) for width in (80, 60, 50))

    assert wide.split() == close.split()
    assert len(close.rstrip()) < 60 < len(wide.rstrip())
    assert "3 Dead" in short
    assert "3 Deadlocks" not in short
