"""Tells of new trouble: in a corner of the screen, by the bell, and to whoever was set to hear."""

from typing import TYPE_CHECKING

from zktop.model.findings.finding import Finding
from zktop.model.findings.words import several
from zktop.model.report import Report
from zktop.ui.alarms import Alarms, News, summary

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

WIDE, TALL = 100, 30  # cells; in a smaller window whole sentences hide what they are about


class Crier:
    """Looks at each report of a live ensemble once."""

    def __init__(self, app: "Zktop") -> None:
        self._app = app
        self._alarms = Alarms()

    def look(self, report: Report) -> None:
        """Tell what is new in it; of a recording nobody has to be told."""
        if self._app.feed.is_live:
            self._cry(self._alarms.look(report))

    def _cry(self, news: News) -> None:
        app, herald = self._app, self._app.look.herald
        if news.was_there:
            app.tell(summary(news.was_there), is_wrong=True)
        is_small = app.size.width < WIDE or app.size.height < TALL
        for finding in news.findings:
            app.tell(brief(finding) if is_small else finding.sentence, is_wrong=True)
            if herald is not None:
                herald.call(finding, app.complain)
        if news.more:
            app.tell(f"{news.more} more critical findings; n goes through them.", is_wrong=True)
        if news.findings and app.look.bell:
            app.bell()


def brief(finding: Finding) -> str:
    """Say what is wrong, and where; the rest is one key away."""
    what = finding.name.replace("-", " ").upper()
    where = finding.lock or several(finding.locks)
    return f"{what}: {where}. n shows it." if where else f"{what}. n shows it."
