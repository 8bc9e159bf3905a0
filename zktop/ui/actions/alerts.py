"""Go from alert to alert, acknowledge alerts, and hide those that are purely informational."""

from collections.abc import Collection

from zktop.model.findings.finding import Finding
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.notify import headline
from zktop.ui.shell import Shell
from zktop.ui.view_state import Selection


class AlertActions(Shell):
    """The keys for alerts."""

    def action_next_alert(self) -> None:
        """Select the next alert on the page of findings. Select notes only if no alert is left."""
        report = self.view_state.report
        if report is None:
            return
        acknowledged = self.visit.acknowledged.covered(report)
        new = [alert_id for alert_id in self._listed(report) if alert_id not in acknowledged]
        notes = {finding.id for finding in report.findings if finding.severity == "info"}
        ids = [alert_id for alert_id in new if alert_id not in notes] or new
        if not ids:
            none_new = f"No new alerts. {len(acknowledged)} acknowledged."
            self.show_message(none_new if acknowledged else "No alerts.")
            return
        case = self.subject.case
        if ids == [case] and self.visit.page == "findings":
            self.show_message("There is no other alert.")
            return
        following = ids.index(case) + 1 if case in ids else 0
        self.turn_to("findings", Selection(case=ids[following % len(ids)]))

    def action_acknowledge(self) -> None:
        """Acknowledge the alerts under the cursor. If all of them are acknowledged, undo that."""
        report, page = self.view_state.report, self.page
        if report is None or page is None:
            return
        listed = {*self._listed(report), *self.visit.acknowledged.covered(report)}
        ids = [alert_id for alert_id in page.selected_alerts if alert_id in listed]
        if ids:
            self._acknowledge(ids, report)
        else:
            self.show_message("No alert is selected.")

    def action_acknowledge_all(self) -> None:
        """Acknowledge all alerts. If all of them are acknowledged, undo that."""
        report = self.view_state.report
        if report is None:
            return
        acknowledged = self.visit.acknowledged.covered(report)
        new = [alert_id for alert_id in self._listed(report) if alert_id not in acknowledged]
        if new or acknowledged:
            self._acknowledge(new or acknowledged, report)
        else:
            self.show_message("No alerts.")

    def _acknowledge(self, ids: Collection[str], report: Report) -> None:
        acknowledged, what = self.visit.acknowledged, _name(ids, report)
        if acknowledged.covered(report).issuperset(ids):
            self.visit.acknowledged = acknowledged.without(ids)
            self.show_message(f"No longer acknowledged: {what}.")
        else:
            self.visit.acknowledged = acknowledged.adding(ids, report)
            if len(ids) > 1:
                self.show_message(f"Acknowledged {what}. They return if they get worse.")
            else:
                self.show_message(f"Acknowledged: {what}. It returns if it gets worse.")
        self.draw()

    def action_show_notes(self) -> None:
        """Hide or show findings that are purely informational."""
        self.hides_notes = not self.hides_notes
        report = self.view_state.report
        if report is None or not any(finding.severity == "info" for finding in report.findings):
            hidden = "hidden" if self.hides_notes else "listed"
            self.show_message(f"There are no notes now. New ones will be {hidden}.")
        self.draw()

    def _listed(self, report: Report) -> list[str]:
        """Return the ids of deadlocks, then of findings that follow from no other, worst first."""
        deadlocks = [deadlock.id for deadlock in report.deadlocks]
        findings = [
            finding.id
            for finding in report.findings
            if not finding.cause and not (self.hides_notes and finding.severity == "info")
        ]
        return list(dict.fromkeys((*deadlocks, *findings)))  # a deadlock may also be a finding


def _name(ids: Collection[str], report: Report) -> str:
    """Name one alert by its kind and its locks, several by their number."""
    if len(ids) > 1:
        return count(len(ids), "alert")
    alerts: tuple[Finding | Deadlock, ...] = (*report.deadlocks, *report.findings)
    return headline(next(alert for alert in alerts if alert.id in ids))
