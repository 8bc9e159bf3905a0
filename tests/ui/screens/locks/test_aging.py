"""Root blockers grow older once a second, and change at once when something is found."""

from model.make_facts import NOW, session
from msgspec.structs import replace
from output.stories import facts
from ui.example_past import past
from ui.fake_feed import app_of, frames, panel, settled

from zktop.ui.interfaces import Frame


async def test_root_blockers_grow_older_each_second() -> None:
    """That is so even with many rows in the table."""
    begin = NOW - NOW % 1_000 + 60_000
    story = [fact for n in range(20) for fact in facts(f"L{n:02} x: A{n} B{n} C{n}", at=NOW)]
    film = frames((begin, story), *((begin + 1_000 * second, []) for second in (1, 2, 3)))
    app = app_of(film[0])
    shown: list[str] = []
    async with app.run_test(size=(119, 50)) as pilot:
        for frame in film:
            app.feed.send(frame)  # type: ignore[attr-defined]  # the feed of a test
            shown.append(_first_blocker(await settled(pilot)).split()[3])

    assert shown == ["3m00s", "3m02s", "3m04s", "3m06s"]


async def test_a_finding_about_a_root_blocker_is_shown_at_once() -> None:
    """It does not wait for the next second."""
    (frame,) = frames((NOW + 60_000, facts("L x: A B C", at=NOW)))
    some = next(finding for each in past() for finding in each.report.findings)
    found = replace(some, severity="warning", sessions=(session("A"),), name="slow-holder")
    app = app_of(frame)
    async with app.run_test(size=(119, 50)) as pilot:
        before = await settled(pilot)
        app.feed.send(Frame(replace(frame.report, findings=(found,)), ()))  # type: ignore[attr-defined]  # the feed of a test
        after = await settled(pilot)

    assert "holds /locks/l" in _first_blocker(before)
    assert "slow holder" in _first_blocker(after)


def _first_blocker(lines: list[str]) -> str:
    return panel(lines, "Who is blocking")[1]
