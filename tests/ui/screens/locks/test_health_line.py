"""The line below the table of all locks: which tables were read, and what zktop itself asks."""

from model.make_facts import NOW
from msgspec.structs import replace
from ui.example_ensemble import trouble
from ui.fake_feed import frames

from zktop.model.examiner import Examiner
from zktop.model.facts import Cost
from zktop.ui.screens.locks.health_line import health
from zktop.ui.styled_text import text_of


def test_health_says_which_tables_are_missing_and_the_own_load() -> None:
    """Missing tables have a sign besides the colour."""
    report = replace(trouble()[-1].report, cost=Cost(1, 1_300, 90_211, 4.0))

    assert text_of(health(report, ["polling /a"])) == (
        " HEALTH  watch tables 0/1 !  connection tables 1/1  expiry table no !"
        "  own load 4 req/s, 1 watch  polling /a"
    )


def test_health_without_servers() -> None:
    """The text says that no server was asked; it shows no zeros."""
    assert text_of(health(Examiner().look(frames((NOW, ()))[0].report.world, NOW))) == (
        " HEALTH  no server asked yet  own load not counted"
    )
