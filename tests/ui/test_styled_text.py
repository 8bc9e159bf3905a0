"""Lines of styled text."""

import pytest

from zktop.ui.styled_text import text_of, wrapped


@pytest.mark.parametrize("width", [0, 1, 2, 3])
def test_wide_characters_end_in_a_window_of_no_width(width: int) -> None:
    """One character for each line, if none fits; a pane may be dragged to nothing."""
    lines = wrapped("漢字", width, indent="  ")

    assert [text_of(one).strip() for one in lines] == ["漢", "字"]
