"""Findings as the alerts of a webhook: when there is one, and what it says."""

import json

import pytest
from model.make_facts import NOW, lock, own, world
from msgspec.structs import replace

from zktop.model.examiner import Examiner
from zktop.model.findings.confirm import UNCONFIRMED
from zktop.model.findings.finding import Finding, Severity
from zktop.model.report import Report
from zktop.output.finding_alerts import FindingAlerts, WebhookAlert, webhook_body

LATER = NOW + 10_000
AB_BA = [*lock("/orders", "alice", "bob"), *lock("/stock", "bob", "alice")]
CONNECTED = own()
DEADLOCKED = Examiner().look(world(*AB_BA, CONNECTED), LATER)
UNSURE = next(finding for finding in DEADLOCKED.findings if finding.rule == "D1")
DEADLOCK = replace(
    UNSURE,
    severity="critical",
    evidence=tuple(one for one in UNSURE.evidence if one != UNCONFIRMED),
)


def report(
    *findings: Finding, at: int = LATER, state: str = "connected", of: str = "zktop"
) -> Report:
    """A report with these findings, of the session of this name."""
    link = own(of, state)
    seen = replace(DEADLOCKED.world, link=link)
    return replace(DEADLOCKED, world=seen, findings=findings, now=at)


def alerts_of(*reports: Report, severity: Severity = "info") -> list[list[str]]:
    """The status and the rule of the alerts after each report."""
    alerts = FindingAlerts("prod", severity)
    return [[f"{one.status} {one.labels['rule']}" for one in alerts.after(r)] for r in reports]


def test_a_finding_has_an_alert_when_it_comes_and_when_it_is_over() -> None:
    """While it lasts it has none."""
    there, gone = report(DEADLOCK), report(at=LATER + 60_000)

    assert alerts_of(there, there, gone, gone) == [["firing D1"], [], ["resolved D1"], []]


@pytest.mark.parametrize(
    ("change", "is_news"),
    [
        ({"sentence": "alice has waited for 9s."}, False),
        ({"nodes": ()}, False),
        ({"severity": "warning"}, True),
        ({"confidence": "C1"}, True),
    ],
)
def test_it_has_another_one_when_it_is_more_or_less_severe_or_sure(
    change: dict[str, object],
    is_news: bool,  # noqa: FBT001  a parameter of pytest
) -> None:
    """A finding that only gets older is not sent again, although its sentence changes."""
    first, second = alerts_of(report(DEADLOCK), report(replace(DEADLOCK, **change)))

    assert second == (first if is_news else [])


def test_consequences_have_no_alert() -> None:
    """One deadlock is one alert, whichever clients wait behind it."""
    assert alerts_of(report(replace(DEADLOCK, cause="D1-1234"))) == [[]]


def test_a_less_severe_finding_has_no_alert() -> None:
    """If it gets worse, it has one; if it gets better, that one is over."""
    note = replace(DEADLOCK, severity="warning")
    found = alerts_of(report(note), report(DEADLOCK), report(note), severity="critical")

    assert found == [[], ["firing D1"], ["resolved D1"]]


@pytest.mark.parametrize("state", ["suspended", "lost"])
def test_without_a_connection_nothing_is_over(state: str) -> None:
    """Findings count as over only after a reconnection."""
    found = alerts_of(report(DEADLOCK), report(state=state), report(at=LATER + 60_000))

    assert found == [["firing D1"], [], ["resolved D1"]]


@pytest.mark.parametrize("severity", ["critical", "warning", "info"])
def test_nothing_is_over_while_a_new_session_confirms_it(severity: Severity) -> None:
    """A new run shows a finding late, and a critical one as a warning first."""
    new = [
        report(at=LATER + 10_000, of="next"),
        report(UNSURE, at=LATER + 11_000, of="next"),
        report(DEADLOCK, at=LATER + 15_000, of="next"),
        report(DEADLOCK, at=LATER + 200_000, of="next"),
    ]

    assert alerts_of(report(DEADLOCK), *new, severity=severity) == [["firing D1"], [], [], [], []]


def test_what_ended_between_two_sessions_is_over_after_a_while() -> None:
    """Once the new session has lasted longer than the patience of every rule."""
    new = [report(at=LATER + after_ms, of="next") for after_ms in (10_000, 99_000, 101_000)]

    assert alerts_of(report(DEADLOCK), *new) == [["firing D1"], [], [], ["resolved D1"]]


def test_what_ended_is_over_though_each_minute_brings_a_new_session() -> None:
    """It counts how long the finding is missing."""
    new = [
        report(*found, at=LATER + minute * 60_000, of=str(minute))
        for minute, found in enumerate([(), (DEADLOCK,), (), (), ()])
    ]

    assert alerts_of(report(DEADLOCK), *new) == [["firing D1"], *[[]] * 4, ["resolved D1"]]


def one_alert(finding: Finding = DEADLOCK, cluster: str = "prod") -> WebhookAlert:
    """The alert about a new finding."""
    (alert,) = FindingAlerts(cluster, "info").after(report(finding))
    return alert


def test_the_body_is_that_of_alertmanager() -> None:
    """With the keys that https://prometheus.io/docs/alerting/latest/configuration names."""
    body = json.loads(webhook_body([one_alert()], "prod"))

    assert {name: type(value) for name, value in body.items()} == {
        "version": str,
        "groupKey": str,
        "truncatedAlerts": int,
        "status": str,
        "receiver": str,
        "groupLabels": dict,
        "commonLabels": dict,
        "commonAnnotations": dict,
        "externalURL": str,
        "alerts": list,
    }
    (alert,) = body["alerts"]
    assert (body["version"], body["status"], alert["status"]) == ("4", "firing", "firing")
    assert alert["labels"] == {
        "alertname": "deadlock",
        "cluster": "prod",
        "rule": "D1",
        "severity": "critical",
        "confidence": DEADLOCK.confidence,
        "lock": DEADLOCK.lock,
    }
    assert alert["annotations"]["summary"] == DEADLOCK.sentence
    assert alert["annotations"]["description"] == DEADLOCK.advice
    assert (alert["endsAt"], alert["generatorURL"]) == ("0001-01-01T00:00:00Z", "")


def test_the_end_of_an_alert_says_when_it_began() -> None:
    """With the same fingerprint, so that a receiver can close what it has opened."""
    alerts = FindingAlerts("prod", "info")
    (begin,) = alerts.after(report(replace(DEADLOCK, since=LATER - 5_000)))
    (end,) = alerts.after(report(at=LATER + 60_000))

    assert end.fingerprint == begin.fingerprint
    assert end.starts_at == begin.starts_at < end.ends_at
    assert json.loads(webhook_body([end], "prod"))["status"] == "resolved"


def test_the_fingerprint_is_that_of_the_finding_in_its_cluster() -> None:
    """Two zktops send the same one, and two clusters never do."""
    worse = replace(DEADLOCK, severity="warning", sentence="other words")

    assert one_alert().fingerprint == one_alert(worse).fingerprint
    assert one_alert().fingerprint != one_alert(cluster="test").fingerprint


def test_common_labels_are_those_that_all_alerts_have() -> None:
    """As in Alertmanager's own groups."""
    other = replace(DEADLOCK, id="D1-other", lock=None, confidence="C1")
    body = json.loads(webhook_body([one_alert(), one_alert(other)], "prod"))

    assert sorted(body["commonLabels"]) == ["alertname", "cluster", "rule", "severity"]


def test_the_key_of_the_group_quotes_the_name_of_the_cluster() -> None:
    """As Alertmanager does: a quotation mark in it is escaped."""
    body = json.loads(webhook_body([one_alert()], 'pr"od'))

    assert body["groupKey"] == r'{}:{cluster="pr\"od"}'


def test_what_an_earlier_run_left_firing_is_posted_again_while_it_lasts() -> None:
    """Once, with the time when it began; the receiver may have been away."""
    first = FindingAlerts("prod", "info")
    (fired,) = first.after(report(DEADLOCK))
    second = FindingAlerts("prod", "info", first.firing)
    again = [second.after(report(DEADLOCK, at=LATER + n)) for n in (60_000, 61_000)]

    assert [[(one.status, one.starts_at) for one in alerts] for alerts in again] == [
        [("firing", fired.starts_at)],
        [],
    ]
    assert not FindingAlerts("test", "info", first.firing).firing
    assert not FindingAlerts("prod", "critical", {"x": replace(fired, labels={})}).firing


def test_what_an_earlier_run_could_not_post_as_resolved_has_ended() -> None:
    """It is no longer firing, so a new report does not end it again."""
    over = replace(one_alert(), status="resolved")
    alerts = FindingAlerts("prod", "info", {"x": over})

    assert alerts.ended == [over]
    assert not alerts.firing
    assert not FindingAlerts("prod", "info", {"x": one_alert()}).ended
