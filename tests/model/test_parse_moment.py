"""Times that a user types."""

import pytest

from zktop.model.parse_moment import moment_of

BEGIN, END = 2_000_000, 2_060_000


@pytest.mark.parametrize("text", ["", "25:00", "12:60:00", "now", "++3", "-", "+99999h"])
def test_a_wrong_time_is_refused(text: str) -> None:
    """Zktop does not guess."""
    with pytest.raises(ValueError, match="Not a time"):
        moment_of(text, 0, 0)


@pytest.mark.parametrize(
    ("text", "moment"),
    [("00:33:25", BEGIN + 5_000), ("00:33:25.5", BEGIN + 5_500), ("+5", BEGIN + 5_000),
     ("-500ms", END - 500), ("1970-01-01T00:33:25Z", BEGIN + 5_000)],
)  # fmt: skip
def test_reads_times_in_several_forms(text: str, moment: int) -> None:
    """Time of day, offset from the beginning, back from here, or a full date."""
    assert moment_of(text, BEGIN, END) == moment
