"""Tells of new trouble: in a corner of the screen, by the bell, and to whoever was set to hear."""

from typing import TYPE_CHECKING

from zktop.model.report import Report
from zktop.ui.alarms import Alarms, News, summary

if TYPE_CHECKING:
    from zktop.ui.app import Zktop


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
        for finding in news.findings:
            app.tell(finding.sentence, is_wrong=True)
            if herald is not None:
                herald.call(finding, app.complain)
        if news.more:
            app.tell(f"{news.more} more critical findings; n goes through them.", is_wrong=True)
        if news.findings and app.look.bell:
            app.bell()
