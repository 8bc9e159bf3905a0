"""Which alerts webhooks receive, and the request body that carries them.

`FindingAlerts` is a fold over reports: it returns an alert for each finding that is new or over,
or whose severity or confidence changed. A finding that follows from another one has no alert.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import sha256
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis, Session
from zktop.model.findings.confirm import UNCONFIRMED
from zktop.model.findings.finding import SEVERITIES, Finding, Severity
from zktop.model.format import iso
from zktop.model.report import Report
from zktop.model.session_ids import session_text

NOT_OVER: Final = "0001-01-01T00:00:00Z"  # as Alertmanager writes it
FINGERPRINT_DIGITS: Final = 16
NEW_SESSION_MS: Final = 90_000  # longer than the default patience of every rule


class WebhookAlert(msgspec.Struct, frozen=True, rename="camel"):
    """One finding, as the JSON of Alertmanager has it."""

    status: Literal["firing", "resolved"]
    labels: dict[str, str]
    annotations: dict[str, str]
    starts_at: str
    ends_at: str
    fingerprint: str  # stable while it lasts, and the same in every zktop with this cluster name
    generator_url: str = msgspec.field(name="generatorURL", default="")


class WebhookBody(msgspec.Struct, frozen=True, rename="camel"):
    """The request body, as receivers of Alertmanager webhooks expect it."""

    status: Literal["firing", "resolved"]
    alerts: Sequence[WebhookAlert]
    group_labels: dict[str, str]
    common_labels: dict[str, str]
    group_key: str
    common_annotations: dict[str, str] = {}
    version: str = "4"
    receiver: str = "zktop"
    truncated_alerts: int = 0
    external_url: str = msgspec.field(name="externalURL", default="")


class FindingAlerts:
    """Turns the reports on one cluster into alerts."""

    def __init__(
        self, cluster: str, severity: Severity, earlier: Mapping[str, WebhookAlert] | None = None
    ) -> None:
        """Alert on findings of this severity or worse.

        `earlier` are the alerts that an earlier run did not post as resolved. Those that were
        firing are posted again, or resolved if their finding is over. The others are in `ended`.
        """
        self._cluster = cluster
        self._severities = SEVERITIES[: SEVERITIES.index(severity) + 1]
        earlier = {
            id_: alert
            for id_, alert in (earlier or {}).items()
            if alert.labels.get("cluster") == cluster
            and alert.labels.get("severity") in self._severities
        }
        self.ended = [alert for alert in earlier.values() if alert.status == "resolved"]
        # Not resolved, by the id of the finding.
        self.firing = {id_: alert for id_, alert in earlier.items() if alert.status == "firing"}
        self._inherited = set(self.firing)  # alerts of an earlier run that this one has not posted
        self._session: Session | None = None
        self._new_until: Millis = 0  # until then, findings of the previous session may come back
        self._missing_since: dict[str, Millis] = {}  # firing, but not in the newest reports

    def after(self, report: Report) -> list[WebhookAlert]:
        """Return new and resolved alerts. A lost or new connection resolves none."""
        link = report.world.link
        if link is None or not link.is_up:
            return []
        if link.session != self._session:
            is_first = self._session is None and not self._inherited
            self._session = link.session
            self._new_until = 0 if is_first else report.now + NEW_SESSION_MS
        # While a finding is unconfirmed, its alert neither changes nor ends.
        unconfirmed = {
            finding.id for finding in report.findings if UNCONFIRMED in finding.evidence
        }
        findings = {
            finding.id: finding
            for finding in report.findings
            if finding.severity in self._severities
            and finding.cause is None
            and not (finding.id in self.firing and finding.id in unconfirmed)
        }
        over = self._over(findings.keys() | unconfirmed, report.now)
        ended = [replace(alert, status="resolved", ends_at=iso(report.now)) for alert in over]
        changed = {
            id_: self._alert(finding, report.now)
            for id_, finding in findings.items()
            if id_ in self._inherited
            or id_ not in self.firing
            or self.firing[id_].labels != self._labels(finding)
        }
        self.firing |= changed
        self._inherited -= changed.keys()
        return [*ended, *changed.values()]

    def _over(self, present: AbstractSet[str], now: Millis) -> list[WebhookAlert]:
        """Remove and return the alerts whose findings are over.

        A finding that has been missing for long enough is over, even if sessions keep changing.
        """
        missing = self.firing.keys() - present
        self._missing_since = {id_: self._missing_since.get(id_, now) for id_ in missing}
        return [
            self.firing.pop(id_)
            for id_ in [*self.firing]
            if id_ in missing
            and now >= min(self._new_until, self._missing_since[id_] + NEW_SESSION_MS)
        ]

    def _labels(self, finding: Finding) -> dict[str, str]:
        labels = {
            "alertname": finding.name,
            "cluster": self._cluster,
            "rule": finding.rule,
            "severity": finding.severity,
            "confidence": finding.confidence,
            "lock": finding.lock or "",
        }
        return _without_empty(labels)

    def _alert(self, finding: Finding, now: Millis) -> WebhookAlert:
        earlier = self.firing.get(finding.id)
        begin = now if finding.since is None else min(finding.since, now)
        annotations = {
            "summary": finding.sentence,
            "description": finding.advice,
            "evidence": "\n".join(reason.text for reason in finding.evidence),
            "sessions": " ".join(map(session_text, finding.sessions)),
        }
        return WebhookAlert(
            status="firing",
            labels=self._labels(finding),
            annotations=_without_empty(annotations),
            starts_at=earlier.starts_at if earlier else iso(begin),
            ends_at=NOT_OVER,
            fingerprint=_fingerprint(self._cluster, finding.id),
        )


def webhook_body(alerts: Sequence[WebhookAlert], cluster: str) -> bytes:
    is_firing = any(alert.status == "firing" for alert in alerts)
    common = set.intersection(*(set(alert.labels.items()) for alert in alerts))
    body = WebhookBody(
        status="firing" if is_firing else "resolved",
        alerts=alerts,
        group_labels={"cluster": cluster},
        common_labels=dict(sorted(common)),
        group_key=f"{{}}:{{cluster={msgspec.json.encode(cluster).decode()}}}",
    )
    return msgspec.json.encode(body)


def _fingerprint(cluster: str, finding: str) -> str:
    return sha256(f"{cluster}\n{finding}".encode()).hexdigest()[:FINGERPRINT_DIGITS]


def _without_empty(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}
