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
    """Also after others have gone; not again because a number in it has changed."""
    search = "the search goes on: {} of 5,000"
    chroot, polled = "the chroot /x does not exist", "12 are polled"
    run = _Noting((search.format("1,000"),), (search.format("2,000"),), (), (chroot,), (polled,))

    assert len(list(follow(cast("LiveRun", run), None))) == 5
    assert capsys.readouterr().err.splitlines() == [
        f"note: {note}" for note in (search.format("1,000"), chroot, polled)
    ]
