"""Equal findings about many locks share a line, which opens; notes mark no row."""

from collections.abc import Iterable

import msgspec
import pytest
from model.make_facts import NOW, lock
from textual.pilot import Pilot
from ui.example_ensemble import texts, trouble
from ui.fake_feed import app_of, frames, settled

from zktop.model.facts import AnyFact
from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.root_blockers import MAX_LISTED
from zktop.ui.app import Zktop
from zktop.ui.filters import NO_FILTER, Filter, FilterCount, parsed_filter
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.line_writer import LineWriter
from zktop.ui.screens.findings.finding_detail import write_group
from zktop.ui.screens.findings.finding_list import entries, filter_count
from zktop.ui.screens.findings.groups import FindingKind, kind_of
from zktop.ui.screens.lock.lock_detail import LockDetail
from zktop.ui.screens.locks.alerts import AlertList, alert_frame, alert_lines, alerts
from zktop.ui.screens.locks.rows import statuses_of
from zktop.ui.styled_text import text_of
from zktop.ui.view_state import Selection

SERVICES = [f"svc-{number}" for number in range(4)]
RADIUS = FindingKind("P5", "info", is_sure=True)


def many(number: int, **more: object) -> Report:
    """The same orphan in this number of locks, and a deadlock."""
    report = trouble()[-1].report
    found = next(finding for finding in report.findings if finding.rule == "B1")
    copies = tuple(
        msgspec.structs.replace(
            found, id=f"B1-{at}", lock=Text(f"/l/{at}"), locks=(Text(f"/l/{at}"),), **more
        )
        for at in range(number)
    )
    return msgspec.structs.replace(report, findings=copies, deadlocks=())


def test_forty_of_a_kind_are_one_line() -> None:
    """With the count, and some of the places."""
    report = many(40)
    lines, cases = zip(*alert_lines(list(alerts(report)), report.now, 120), strict=True)
    drawn = texts(lines)

    assert "ORPHAN \u00d740 ▸" in drawn[0]
    assert "/l/0, /l/1, /l/2 and 37 more" in drawn[0]
    assert [case for case in cases if case] == [kind_of(report.findings[0])]
    assert alert_frame(AlertList(list(alerts(report))), report.now).facts == "40 critical"


def test_a_group_on_screen_3_has_no_rule_id() -> None:
    """Those are for scripts."""
    report = many(40)
    writer = LineWriter(120)
    write_group(writer, kind_of(report.findings[0]), report)

    assert texts(writer.lines)[0].strip() == "CRITICAL orphan \u00d740"


def test_an_open_line_is_followed_by_its_findings() -> None:
    """Each links to its own finding."""
    report = many(4)
    kind = kind_of(report.findings[0])
    lines, cases = zip(
        *alert_lines(list(alerts(report)), report.now, 120, open_groups={kind}), strict=True
    )

    assert "\u00d74 ▾" in text_of(lines[0])
    assert [case for case in cases if case] == [kind, *(finding.id for finding in report.findings)]


def test_two_of_a_kind_stay_two_lines() -> None:
    """A count would say less than two lines."""
    report = many(2)
    _, cases = zip(*alert_lines(list(alerts(report)), report.now, 120), strict=True)

    assert [case for case in cases if case] == ["B1-0", "B1-1"]


def test_a_less_confident_finding_is_of_another_kind() -> None:
    """Likely and proven never share a line."""
    report = many(6)
    unsure = (msgspec.structs.replace(finding, confidence="C2") for finding in report.findings[3:])
    mixed = msgspec.structs.replace(report, findings=(*report.findings[:3], *unsure))
    lines, _ = zip(*alert_lines(list(alerts(mixed)), report.now, 120), strict=True)

    assert [text for text in texts(lines) if "\u00d73" in text][1].count("likely") == 1


def test_the_list_of_screen_3_counts_them_too() -> None:
    """Until the group is opened, or a filter is set."""
    report, tape = many(5), Tape()
    kind = kind_of(report.findings[0])

    def listed(wanted: Filter = NO_FILTER, *opened: FindingKind) -> list[str]:
        made = entries(report, tape, wanted, opened)
        return [text_of(one.drawn) for one in made if one.severity]

    assert [text.strip().split("  ")[-1] for text in listed()] == ["orphan \u00d75 ▸"]
    assert len(listed(NO_FILTER, kind)) == 6
    assert len(listed(parsed_filter("orphan"))) == 5


def test_a_filter_looks_at_all_findings() -> None:
    """Also at those that the list has no room for."""
    report, tape, wanted = many(600), Tape(), parsed_filter("/l/555")
    found = [one.case for one in entries(report, tape, wanted) if one.severity]

    assert found == ["B1-555"]
    assert filter_count(report, tape, wanted) == FilterCount(1, 600)


def test_a_long_list_says_how_many_it_leaves_out() -> None:
    """With a filter, too; all of them count."""
    report, tape, wanted = many(600), Tape(), parsed_filter("orphan")
    drawn = [text_of(one.drawn) for one in entries(report, tape, wanted)]

    assert "  … and 100 more findings" in drawn
    assert filter_count(report, tape, wanted) == FilterCount(600, 600)


def test_the_chosen_finding_is_always_listed() -> None:
    """Else another one would be explained."""
    listed = entries(many(600), Tape(), NO_FILTER, None, chosen="B1-599")

    assert "B1-599" in [one.case for one in listed]
    assert "  … and 99 more findings" in [text_of(one.drawn) for one in listed]


async def test_the_screen_keeps_the_chosen_finding_in_its_list() -> None:
    """With a filter that more findings match than the list has room for."""
    app = app_of(Frame(many(600), ()), page="findings")
    async with app.run_test(size=(120, 50)) as pilot:
        app.visit.filter_text = "orphan"
        app.subject = Selection(case="B1-599")
        app.draw()
        await settled(pilot)

        assert "  … and 99 more findings" in shown(app, "cases")


def test_a_hundred_blockers_may_be_more() -> None:
    """The search ends at a hundred."""
    facts = [fact for at in range(MAX_LISTED + 5) for fact in lock(f"/l/{at}", f"a{at}", f"b{at}")]
    listed = entries(frames((NOW, facts))[-1].report, Tape(), NO_FILTER)

    assert any(text_of(one.drawn).endswith("100+ blockers") for one in listed)


def test_a_finding_in_many_locks_names_the_first_ones() -> None:
    """By the last parts of their paths."""
    locks = tuple(Text(f"/locks/l{number}") for number in range(10))
    report = many(1)
    wide = msgspec.structs.replace(report.findings[0], lock=None, locks=locks)
    listed = entries(msgspec.structs.replace(report, findings=(wide,)), Tape(), NO_FILTER)

    assert text_of(listed[1].drawn).endswith("l0, l1, l2 and 7 more")


def radius() -> list[Frame]:
    """Four services with five locks each; the end of each would free them all, which is a note."""
    facts: Iterable[AnyFact] = [
        fact for one in SERVICES for n in range(5) for fact in lock(f"/{one}/l{n}", one)
    ]
    return frames((NOW, list(facts)), (NOW + 5_000, []), (NOW + 10_000, []))


def test_notes_mark_no_row() -> None:
    """Notes stand above the table; a marked row needs attention."""
    report = radius()[-1].report
    scene = LockDetail.of(report, report.paths[0])

    assert {finding.severity for finding in report.findings} == {"info"}
    assert not statuses_of(report.findings)
    assert scene is not None
    assert not scene.marks


def _warned(findings: Iterable[Finding]) -> list[Finding]:
    return [msgspec.structs.replace(finding, severity="warning") for finding in findings]


def test_a_warning_marks_its_rows() -> None:
    """The first lock of each session; a mere note does not."""
    found = _warned(radius()[-1].report.findings)

    assert len(statuses_of(found)) == len(SERVICES)


def shown(app: Zktop, name: str) -> list[str]:
    """The lines of a pane."""
    pane = app.page.query_one(f"#{name}")
    return [text_of(pane.draw(at, 100)) for at in range(pane.count)]


async def opened_with(key: str, app: Zktop, pilot: Pilot[None], name: str) -> list[list[str]]:
    """Put the cursor on the line of the group, press a key, then enter."""
    found = []
    app.page.query_one(f"#{name}").focus()
    for pressed in ("home", key, "enter"):
        await pilot.press(pressed)
        await settled(pilot)
        found.append(shown(app, name))
    return found


@pytest.mark.parametrize("key", ["enter", "right"])
@pytest.mark.parametrize(("page", "name"), [("1", "alerts"), ("3", "cases")])
async def test_a_key_opens_the_line_and_folds_it_again(page: str, name: str, key: str) -> None:
    """On screen 1 and on screen 3."""
    app = app_of(*radius())
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(pilot)
        await pilot.press(page)
        await settled(pilot)
        before, opened, after = await opened_with(key, app, pilot, name)

    assert any("\u00d74 ▸" in text for text in before)
    assert any("\u00d74 ▾" in text for text in opened)
    assert sum("▾" in text or "svc-" in text or "blast radius" in text for text in opened) > 4
    assert after == before


async def test_a_long_line_of_the_list_is_cut_in_its_middle() -> None:
    """The end of a name says as much as its beginning: `orders…stock`."""
    async with app_of(*trouble()).run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("3")
        listed = [line.partition("││")[0].rstrip() for line in await settled(pilot)]
    cut = [line for line in listed if "stuck" in line]

    assert cut
    assert not [line for line in cut if line.endswith("…")]
