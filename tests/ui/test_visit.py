"""One cluster as the UI keeps it."""

import pytest
from model.make_facts import NOW, lock
from msgspec.structs import replace
from ui.fake_feed import FakeFeed, frames

from zktop.ui.interfaces import FeedState, OpenCluster, Status
from zktop.ui.visit import Visit


def test_the_past_begins_when_everything_is_read() -> None:
    """A lock that was not read yet did not come later, and nothing is kept of that time."""
    some, more, later = frames(
        (NOW, lock("/locks/a", "ann")), (NOW + 500, lock("/locks/b", "bob")), (NOW + 900, [])
    )
    visit = Visit(1, OpenCluster(FakeFeed()), lambda: None, "locks")
    for frame in (replace(some, is_early=True), more, later):
        visit.keep(frame)

    assert visit.tape.begin == NOW + 500
    assert visit.tape.tracks.busiest(NOW, NOW + 1_000) == []
    assert [one.waiting for one in visit.pulse.until(NOW, 1)] == [0]


def test_the_first_locks_are_on_the_tape_until_all_are_read() -> None:
    """The screens show what is on the tape."""
    (some,) = frames((NOW, lock("/locks/a", "ann")))
    visit = Visit(1, OpenCluster(FakeFeed()), lambda: None, "locks")
    visit.keep(replace(some, is_early=True))

    assert visit.tape.last is not None
    assert visit.tape.last.report is some.report


@pytest.mark.parametrize(
    ("words", "never"),
    [
        (["connecting"], False),
        (["connecting", "failed"], True),
        (["connecting", "failed", "connecting"], True),
        (["connecting", "failed", "connecting", "reading"], False),
    ],
)
def test_it_knows_whether_all_attempts_to_connect_have_failed(
    words: list[FeedState], *, never: bool
) -> None:
    """Also during the next attempt."""
    visit = Visit(1, OpenCluster(FakeFeed()), lambda: None, "locks")
    for word in words:
        visit.keep(Status(word))

    assert visit.was_never_connected is never
