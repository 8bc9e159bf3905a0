"""Ready-made lines with a cursor."""

from ui.fake_feed import app_of, settled

from zktop.ui.styled_text import line
from zktop.ui.widgets.text_view import TextView


async def test_the_cursor_stays_in_the_text_when_the_last_lines_go() -> None:
    """It moves to the last line that is left."""
    async with app_of().run_test() as pilot:
        await settled(pilot)
        await pilot.app.mount(view := TextView())
        for names in ("abcde", "abc"):
            view.show([*map(line, names), line("no target")], [*names, None])
            view.go_to(len(names) - 1)
        view.show([*map(line, "ab"), line("no target")], [*"ab", None])

        assert (view.cursor, view.target) == (1, "b")
