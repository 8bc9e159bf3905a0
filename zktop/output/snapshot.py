"""Convert a report to the JSON of `zktop snapshot`."""

from msgspec import convert

from zktop.model.facts import Millis, Server, session_text
from zktop.model.findings.finding import Finding
from zktop.model.format import iso
from zktop.model.report import Contender, LockView, Report, SessionView
from zktop.model.waits.deadlock import Deadlock, DeadlockStep
from zktop.model.waits.ways_out import WayOut
from zktop.output import schema


def snapshot(report: Report, hosts: str | None = None, chroot: str = "") -> schema.SnapshotJson:
    """Convert a whole report."""
    return schema.SnapshotJson(
        taken_at=iso(report.now),
        source=_source(report, hosts, chroot),
        locks=[_lock(view) for view in report.views],
        sessions={
            session_text(session): _session(view) for session, view in report.sessions.items()
        },
        deadlocks=[_deadlock(deadlock) for deadlock in report.deadlocks],
        findings=[finding_json(finding) for finding in report.findings],
        blind=convert(report.blind, list[schema.BlindJson], from_attributes=True),
        cost=convert(report.cost, schema.CostJson | None, from_attributes=True),
    )


def _source(report: Report, hosts: str | None, chroot: str) -> schema.SourceJson:
    link, sees = report.world.link, report.ensemble.visibility
    return schema.SourceJson(
        hosts=hosts,
        chroot=chroot,
        state=link.state if link else "unknown",
        zxid=f"{report.world.zxid:#x}" if report.world.zxid else None,
        session=session_text(link.session) if link and link.session else None,
        sees=convert(sees, schema.SeesJson, from_attributes=True),
        servers=[_server(server) for server in report.ensemble.servers],
    )


def _server(server: Server) -> schema.ServerJson:
    return schema.ServerJson(
        address=server.server,
        flavour=server.flavour,
        mode=server.mode,
        version=server.version,
        connections=server.connections,
        watches=server.watches,
        latency_ms=server.latency_ms,
        outstanding=server.outstanding,
        znodes=server.znodes,
        channel=server.channel,
        state=server.state or "unknown",
        since=_moment(server.since),
        error=server.why,
    )


def _lock(view: LockView) -> schema.LockJson:
    lock = view.lock
    return schema.LockJson(
        path=lock.path,
        layout=lock.layout,
        kind=lock.kind,
        leases=lock.leases,
        next_sequence=lock.next_sequence,
        error=lock.error,
        holders=[_contender(contender) for contender in view.holders],
        waiters=[_contender(contender) for contender in view.waiters],
        foreign=list(lock.foreign),
        warnings=list(lock.warnings),
    )


def _contender(contender: Contender) -> schema.ContenderJson:
    actual = contender.actual
    return schema.ContenderJson(
        node=contender.node,
        mode=contender.mode,
        sequence=contender.sequence,
        session=session_text(contender.session) if contender.session else None,
        owner=contender.owner,
        name=contender.name,
        created=_moment(contender.created),
        since=_moment(contender.since),
        since_is=contender.since_is,
        state=contender.state,
        blocked_by=list(contender.blocked_by),
        ahead=contender.ahead,
        watch=schema.WatchJson(
            expected=convert(
                contender.expected, list[schema.WatchTargetJson], from_attributes=True
            ),
            actual=None if actual is None else list(actual),
            verdict=contender.verdict,
        ),
        ours=contender.ours,
        stranded=contender.stranded,
    )


def _session(view: SessionView) -> schema.SessionJson:
    presence, left = view.presence, view.expires_in
    quiet = presence.quiet_ms if presence else None
    return schema.SessionJson(
        client=presence.client if presence else None,
        server=presence.server if presence else None,
        timeout_ms=view.timeout_ms,
        last_contact_s=None if quiet is None else quiet / 1000,
        expires_in_s=None if left is None else (left.low / 1000, left.high / 1000),
        owner=view.owner,
        name=view.name,
        holds=list(view.holds),
        waits=list(view.waits),
    )


def _deadlock(deadlock: Deadlock) -> schema.DeadlockJson:
    return schema.DeadlockJson(
        id=deadlock.id,
        number=deadlock.number,
        rule=deadlock.rule,
        kind=deadlock.kind,
        confidence=deadlock.confidence,
        since=_moment(deadlock.since_ms),
        coexistence_proven=deadlock.coexistence_proven,
        actors=list(deadlock.actors),
        steps=[_step(step) for step in deadlock.steps],
        behind=deadlock.behind,
        sentence=deadlock.sentence,
        ways_out=[_way(way) for way in deadlock.ways_out],
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


def _way(way: WayOut) -> schema.WayOutJson:
    return schema.WayOutJson(
        actor=way.actor,
        name=way.owner,
        client=way.client,
        server=way.server,
        why=way.why,
        frees=way.frees,
    )


def finding_json(finding: Finding) -> schema.FindingJson:
    """Convert one finding."""
    return schema.FindingJson(
        id=finding.id,
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        confidence=finding.confidence,
        lock=finding.lock,
        nodes=list(finding.nodes),
        sessions=[session_text(session) for session in finding.sessions],
        since=_moment(finding.since),
        sentence=finding.sentence,
        evidence=convert(finding.evidence, list[schema.EvidenceJson], from_attributes=True),
        advice=finding.advice,
    )


def _moment(at: Millis | None) -> str | None:
    return None if at is None else iso(at)
