"""What commands say of a source beside its reports."""

from collections.abc import Iterator
from typing import cast

import pytest

from zktop.app.live_run import LiveRun
from zktop.cli.common.sources import follow


class _Noting:
    """A run with other notes at each report."""

    def __init__(self, *notes: tuple[str, ...]) -> None:
        self._later = notes
        self.notes: tuple[str, ...] = ()

    def reports(self, _seconds: float | None) -> Iterator[None]:
        for notes in self._later:
            self.notes = notes
            yield None


def test_each_note_is_printed_when_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    """Also after others have gone; not again because a number in it has changed.

    Numbers in a path do not change.
    """
    search = "the search goes on: {} of 5,000"
    first, second = "the folder /x1 is hidden", "the folder /x2 is hidden"
    run = _Noting(
        (search.format("1,000"),), (search.format("2,000"),), (), (first,), (second,), (), (first,)
    )

    assert len(list(follow(cast("LiveRun", run), None))) == 7
    assert capsys.readouterr().err.splitlines() == [
        f"note: {note}" for note in (search.format("1,000"), first, second)
    ]
