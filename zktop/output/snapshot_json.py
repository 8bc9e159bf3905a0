"""Convert a report to the JSON of `zktop snapshot`."""

from typing import Final, TypeVar

from msgspec import convert

from zktop.model.facts import Millis, Server, Session
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import Finding
from zktop.model.format import iso
from zktop.model.history.expired_sessions import ExpiredSession, FreedLock
from zktop.model.lock_view import Contender, LockView
from zktop.model.owner_list import OwnerList
from zktop.model.report import Report, SessionView
from zktop.model.session_ids import session_text
from zktop.model.waits.deadlock import Deadlock, DeadlockStep
from zktop.output import schema

Json = TypeVar("Json", bound=schema.JsonObject)
FORMER_NAMES: Final = {rule.id: rule.former_name for rule in RULES}


def snapshot(report: Report, hosts: str | None = None, chroot: str = "") -> schema.SnapshotJson:
    return schema.SnapshotJson(
        schema=schema.SNAPSHOT,
        taken_at=iso(report.now),
        source=_source(report, hosts, chroot),
        locks=[_lock(view) for view in report.views],
        sessions={
            session_text(session): _session(view, report.client_names.owners)
            for session, view in report.sessions.items()
        },
        deadlocks=[deadlock_json(deadlock) for deadlock in report.deadlocks],
        findings=[finding_json(finding) for finding in report.findings],
        blind=convert(report.blind, list[schema.BlindJson], from_attributes=True),
        expiries=[expired_json(expired) for expired in report.expiries],
        cost=convert(report.cost, schema.CostJson | None, from_attributes=True),
    )


def _source(report: Report, hosts: str | None, chroot: str) -> schema.SourceJson:
    link, sees = report.world.link, report.ensemble.visibility
    return schema.SourceJson(
        hosts=hosts,
        chroot=chroot,
        state=link.state if link else "unknown",
        zxid=f"{report.world.zxid:#x}" if report.world.zxid else None,
        session=session_or_null(link.session) if link else None,
        sees=convert(sees, schema.SeesJson, from_attributes=True),
        servers=[_server(server) for server in report.ensemble.servers],
    )


def json_of(source: object, kind: type[Json], **other: object) -> Json:
    """Copy the fields that have the same name in both types, and set the others."""
    same = {name: getattr(source, name) for name in kind.__struct_fields__ if name not in other}
    return convert(same | other, kind, from_attributes=True)


def _server(server: Server) -> schema.ServerJson:
    return json_of(
        server,
        schema.ServerJson,
        address=server.server,
        state=server.state or "unknown",
        since=time_or_null(server.since),
        error=server.why,
    )


def _lock(view: LockView) -> schema.LockJson:
    return json_of(
        view.lock,
        schema.LockJson,
        holders=[_contender(contender) for contender in view.holders],
        waiters=[_contender(contender) for contender in view.waiters],
    )


def _contender(contender: Contender) -> schema.ContenderJson:
    return json_of(
        contender,
        schema.ContenderJson,
        session=session_or_null(contender.session),
        created=time_or_null(contender.created),
        since=time_or_null(contender.since),
        watch=json_of(contender, schema.WatchJson),
    )


def _session(view: SessionView, owners: OwnerList) -> schema.SessionJson:
    presence, left = view.presence, view.expires_in
    quiet = presence.quiet_ms if presence else None
    details = owners.details_of(session_text(view.session), presence.client if presence else "")
    return schema.SessionJson(
        client=presence.client if presence else None,
        server=presence.server if presence else None,
        timeout_ms=view.timeout_ms,
        last_contact_s=None if quiet is None else quiet / 1000,
        expires_in_s=None if left is None else (left.low / 1000, left.high / 1000),
        owner=view.owner,
        name=view.name,
        known={str(key): text for key, text in details.items()},
        holds=list(view.holds),
        waits=list(view.waits),
    )


def expired_json(expired: ExpiredSession) -> schema.ExpiredSessionJson:
    return json_of(
        expired,
        schema.ExpiredSessionJson,
        at=iso(expired.at),
        session=session_text(expired.session),
        freed=[_freed(freed) for freed in expired.freed],
    )


def _freed(freed: FreedLock) -> schema.FreedLockJson:
    return json_of(
        freed,
        schema.FreedLockJson,
        next_session=session_or_null(freed.next_session),
        after_s=None if freed.after_ms is None else freed.after_ms / 1000,
    )


def deadlock_json(deadlock: Deadlock) -> schema.DeadlockJson:
    return json_of(
        deadlock,
        schema.DeadlockJson,
        since=time_or_null(deadlock.since_ms),
        steps=[_step(step) for step in deadlock.steps],
        ways_out=[json_of(way, schema.WayOutJson, name=way.owner) for way in deadlock.ways_out],
    )


def _step(step: DeadlockStep) -> schema.StepJson:
    return schema.StepJson(
        actor=step.actor,
        owner=step.owner,
        name=step.name,
        holds=convert(step.holds, list[schema.HeldJson], from_attributes=True),
        waits=convert(step.waits, schema.HeldJson, from_attributes=True),
        waits_for=step.blocker,
        edge="hard" if step.edge == "hard" else "soft",
        closing=step.closing,
    )


def finding_json(finding: Finding) -> schema.FindingJson:
    return json_of(
        finding,
        schema.FindingJson,
        former_name=FORMER_NAMES.get(finding.rule),
        sessions=[session_text(session) for session in finding.sessions],
        since=time_or_null(finding.since),
    )


def time_or_null(at: Millis | None) -> str | None:
    return None if at is None else iso(at)


def session_or_null(session: Session | None) -> str | None:
    return session_text(session) if session else None
