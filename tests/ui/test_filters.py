"""Messages about a filter: unknown words, and the number of matches."""

import pytest
from textual.pilot import Pilot
from ui.example_ensemble import trouble
from ui.fake_contenders import FakeContenders, contender
from ui.fake_feed import FakeFeed, app_of, frames, settled

from zktop.ui.app import Zktop
from zktop.ui.filters import parsed_filter
from zktop.ui.settings import UiSettings
from zktop.ui.widgets.header import PageHeader

PAGES = {"locks": "1", "lock": "2", "findings": "3", "sessions": "4", "timeline": "5", "demo": "6"}
FIELDS = {
    "locks": "owner: state: path: kind: layout: session:",
    "lock": "owner: state: session: client: mode:",
    "findings": "state: severity:",
    "sessions": "owner: state: session: client: server: risk: lock:",
    "timeline": "path:",
    "demo": "owner: state:",
}
ANN = contender("ann", "/zktop-demo/x", "holds", 0xA)
BOB = contender("bob", "/zktop-demo/x", "waits", 0xB)


async def filtered(pilot: Pilot[int], text: str, *before: str) -> list[str]:
    """Type a filter, and read the screen while it is still being typed."""
    await settled(pilot)
    await pilot.press(*before)
    await settled(pilot)
    await pilot.press("slash", *text)
    return await settled(pilot)


def ours() -> Zktop:
    """Locks with problems, and two demo contenders."""
    return Zktop(FakeFeed(*trouble()), FakeContenders(states=[ANN, BOB]), settings=UiSettings())


@pytest.mark.parametrize("page", PAGES)
async def test_an_unknown_word_is_named_with_those_that_are_known(page: str) -> None:
    """On the visible screen, while it is typed."""
    async with ours().run_test(size=(120, 36)) as pilot:
        lines = await filtered(pilot, "holder:x", PAGES[page])

    assert f" unknown word holder: ({FIELDS[page]})" in lines


@pytest.mark.parametrize("page", PAGES)
async def test_the_words_that_are_named_are_known(page: str) -> None:
    """Each of them, without a message."""
    app = ours()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(PAGES[page])
        app.set_filter(FIELDS[page].replace(":", ":x"))
        lines = await settled(pilot)

    assert not [line for line in lines if "unknown word" in line]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("holder:x who:y owner:ann", "unknown words holder: who: (owner: "),
        ("!Holder:x", "unknown word holder: (owner: "),
        ("10.0.1.11:2181", None),
        ("/holder:x/", None),
        ("holder:", None),
        ("owner:ann", None),
    ],
)
async def test_only_what_looks_like_a_field_is_one(text: str, said: str | None) -> None:
    """An address, a pattern and a word that is being typed are text."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.set_filter(text)
        head = (await settled(pilot))[2]

    assert said in head if said else "unknown word" not in head


@pytest.mark.parametrize(
    ("page", "known"),
    [
        ("locks", "waiting held free ok critical warning deadlock …"),
        ("lock", "holding waiting holds waits "),
        ("findings", "critical warning info"),
        ("sessions", "holding waiting quiet"),
        ("demo", "holding waiting frozen ended killed by signal suspended lost …"),
    ],
)
async def test_an_unknown_state_is_named_with_usual_ones(page: str, known: str) -> None:
    """Nothing can match it."""
    async with ours().run_test(size=(120, 36)) as pilot:
        lines = await filtered(pilot, "state:nope", PAGES[page])

    assert any(line.startswith(f" unknown state nope ({known}") for line in lines)


@pytest.mark.parametrize(
    "state",
    ["waiting", "HELD", "orphan", "B1", "dead", "watches", "recreated", "foreign-children"],
)
async def test_a_state_that_a_row_has_or_may_have_is_known(state: str) -> None:
    """Also a part of a word, the letters of a rule, and the words of the list."""
    app = ours()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.set_filter(f"state:{state}")
        lines = await settled(pilot)

    assert not any("unknown state" in line for line in lines)


@pytest.mark.parametrize("page", PAGES)
async def test_an_invalid_pattern_is_named_with_the_reason(page: str) -> None:
    """It is searched for as text, and nothing matches it."""
    async with ours().run_test(size=(120, 36)) as pilot:
        lines = await filtered(pilot, "/[/", PAGES[page])

    assert " not a pattern: /[/ (unterminated character set)" in lines


def test_flags_of_a_pattern_may_exclude_each_other() -> None:
    """Python reports them as another kind of error."""
    said = parsed_filter("/(?a)(?u)x/").mistakes([])

    assert said == "not a pattern: /(?a)(?u)x/ (ASCII and UNICODE flags are incompatible)"


@pytest.mark.parametrize("size", [(40, 10), (60, 15), (80, 24)])
async def test_it_is_named_in_small_windows_as_well(size: tuple[int, int]) -> None:
    """It takes as many lines as it needs."""
    app = app_of(*trouble())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        app.set_filter("holder:x")
        text = " ".join(" ".join(await settled(pilot)).split())

    assert "unknown word holder: (owner: state: path:" in text


@pytest.mark.parametrize(
    ("page", "text", "counted"),
    [
        ("locks", "stock", "1 of 5"),
        ("locks", "state:waiting", "3 of 5"),
        ("locks", "holder:x", "0 of 5"),
        ("findings", "zzz", "0 of "),
        ("sessions", "owner:ann", "1 of "),
        ("demo", "state:waiting", "1 of 2"),
    ],
)
async def test_it_counts_the_matches(page: str, text: str, counted: str) -> None:
    """The header has both numbers."""
    app = ours()
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(PAGES[page])
        app.set_filter(text)
        head = (await settled(pilot))[1]

    assert f"/{text}  {counted}" in head


async def test_without_a_filter_nothing_is_counted() -> None:
    """The numbers disappear with the filter."""
    async with ours().run_test(size=(120, 36)) as pilot:
        await filtered(pilot, "stock")
        await pilot.press("escape")
        lines = await settled(pilot)

    assert " of 5" not in lines[1]


async def test_the_count_follows_the_locks() -> None:
    """It belongs to the displayed report."""
    app = app_of(*frames())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.set_filter("orders")
        await settled(pilot)
        for one in trouble():
            app.feed.send(one)  # type: ignore[attr-defined]  # a FakeFeed
        head = (await settled(pilot))[1]

    assert "/orders  1 of 5" in head


async def test_the_filter_takes_the_place_of_the_footer() -> None:
    """The page keeps its height, so opening a filter moves nothing."""
    app = ours()
    async with app.run_test(size=(120, 36)) as pilot:
        before = await settled(pilot)
        heights = [app.page.size.height if app.page else 0]
        opened = await filtered(pilot, "")
        heights.append(app.page.size.height if app.page else 0)
        await pilot.press("escape")
        after = await settled(pilot)

        assert "? Help" in before[-1]
        assert "filter: text" in opened[-1]
        assert heights[0] == heights[1]
        assert after[-1] == before[-1]


async def test_each_screen_has_its_own_filter() -> None:
    """A lock found by its path opens with all its clients; the list is filtered as before."""
    async with ours().run_test(size=(120, 36)) as pilot:
        await filtered(pilot, "stock")
        await pilot.press("enter", "enter")
        opened = await settled(pilot)
        await pilot.press("escape")
        back = await settled(pilot)

    assert any("/locks/stock" in line and "3 clients" in line for line in opened)
    assert not any("No client matches" in line for line in opened)
    assert any("1 of 5" in line for line in back)


async def test_a_click_on_a_tab_closes_the_line_and_keeps_the_filter_of_its_screen() -> None:
    """The line showed the filter of the old screen over the new one."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await filtered(pilot, "stock")
        findings = dict(app.screen.query_one(PageHeader).tabs)["3"]
        await pilot.click(offset=findings)
        await settled(pilot)
        is_open, on_findings = app.is_typing, app.visit.filter_text
        await pilot.press("1")
        await settled(pilot)

        assert (is_open, on_findings) == (False, "")
        assert app.visit.filter_text == "stock"
