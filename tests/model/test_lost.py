"""While the connection is lost, reports are of the time of the loss."""

from model.make_facts import NOW, lock, own
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.facts import Link
from zktop.model.report import Report
from zktop.model.world.world import World

LOST = replace(own(state="suspended", at=NOW + 1_500), lost_at=NOW + 1_500)


def reports_at(*links: tuple[int, Link]) -> list[Report]:
    """Reports at these times, each with a new state of the connection."""
    examiner, known = Examiner(), World().after(*lock("/locks/a", "ann", "bob"))
    reports = []
    for at, link in links:
        known = known.after(link)
        reports.append(examiner.look(known, at))
    return reports


def test_time_stands_still_while_the_connection_is_lost() -> None:
    """Attempts to reconnect do not move the time; afterwards it goes on."""
    tried = replace(LOST, state="lost", at=NOW + 40_000)
    reports = reports_at(
        (NOW + 1_000, own(at=NOW)),
        (NOW + 9_000, LOST),
        (NOW + 41_000, tried),
        (NOW + 60_000, own(at=NOW + 59_000)),
    )

    assert [report.now - NOW for report in reports] == [1_000, 1_500, 1_500, 60_000]
    assert [report.is_lost for report in reports] == [False, True, True, False]


def test_time_never_goes_back() -> None:
    """A loss may be reported after a later reading."""
    reports = reports_at((NOW + 3_000, own(at=NOW)), (NOW + 4_000, LOST))

    assert [report.now - NOW for report in reports] == [3_000, 3_000]


def test_a_recording_from_before_knows_the_newest_state() -> None:
    """An older recording has no time of the loss, only of the newest state."""
    (report,) = reports_at((NOW + 9_000, own(state="suspended", at=NOW + 2_000)))

    assert report.now == NOW + 2_000


def test_before_the_first_connection_time_goes_on() -> None:
    """Before the first connection there is nothing to freeze."""
    (report,) = reports_at((NOW + 9_000, own(state="connecting", at=NOW)))

    assert report.now == NOW + 9_000
