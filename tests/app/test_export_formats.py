"""Reports as text for the UI: some locks of a report, with the findings that concern them."""

import pytest
from ui.example_ensemble import IMPORT, ORDERS, QUIET, trouble

from zktop.app.export_formats import ReportExports
from zktop.model.report import Report

EXPORTS = ReportExports("zk9:2181")


@pytest.fixture
def report() -> Report:
    """Several locks, one of them with an orphan, two in a deadlock."""
    return trouble()[-1].report


def test_an_excerpt_has_one_lock_and_its_findings(report: Report) -> None:
    """Formatted like `zktop snapshot --format text`, without the other locks."""
    text = EXPORTS.excerpt(report, [IMPORT], "zk1:2181")

    assert text.startswith("zktop  zk1:2181  connected  1 server\n")
    assert "CRITICAL orphan (B1)" in text
    assert "/locks/import  mutex  kazoo-lock  1 waiting" in text
    assert "DEADLOCK" not in text


def test_an_excerpt_has_several_locks(report: Report) -> None:
    """And the deadlock that one of them is in."""
    text = EXPORTS.excerpt(report, [QUIET, ORDERS], "zk1:2181")

    assert "2 locks, 1 deadlock" in text
    assert QUIET in text
