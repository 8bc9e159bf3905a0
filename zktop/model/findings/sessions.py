"""P1 to P5, P17, S3: sessions that are gone or silent, change servers often, or own too much."""

from collections.abc import Iterable, Iterator

from zktop.model.facts import Connection, Session
from zktop.model.findings.context import (
    EnsembleContext,
    SessionContext,
    SessionPlace,
    SharedContext,
)
from zktop.model.findings.finding import (
    FindingSubject,
    LookAgainAt,
    MissingInput,
    Rule,
    RuleMatch,
    RuleResult,
    Severity,
)
from zktop.model.format import count, several, short, span, waits
from zktop.model.history.endings import ALMOST_EXPIRED_SHARE, GIVEN_UP_SHARE, SILENT_SHARE
from zktop.model.history.session_activity import MAX_MOVES
from zktop.model.locks.lock import absolute_path
from zktop.model.world.tables_of_all_servers import MANY_NODES, Ensemble
from zktop.model.world.tables_of_one_server import Presence, ServerTables

MIN_TIMEOUT_TICKS = 2  # the servers' default
LATER_TABLES_MS = 30_000
MAX_NAMED = 5  # sessions or locks named in one finding; the others are counted
AT_ANY_MOMENT = "freed at any moment"  # the session is overdue


@Rule(
    "P1",
    "session-gone",
    "warning",
    "session",
    tables=("connections", "expiry"),
    code="SIL",
    blocks="long",
    after=(("session", "B4"),),
)
def session_gone(ctx: SessionContext) -> Iterator[RuleResult]:
    """A session is connected to no server; its nodes stay until it expires."""
    ensemble = ctx.shared.ensemble
    if ctx.presence is not None or not ensemble.tables:
        return
    newest = max((place.member.czxid for place in ctx.places), default=0)
    if ensemble.connected(ctx.session, newest) is not False:
        if any(table.connections is not None for table in ensemble.tables):
            yield LookAgainAt(ctx.now_ms + LATER_TABLES_MS)  # a later table may show it
        return
    listed = ensemble.is_listed(ctx.session, newest)
    if listed is False:
        return
    expires = ensemble.expires_in(ctx.session, ctx.now_ms)
    freed = "freed when it expires"
    if expires:
        freed = f"freed in at most {span(expires.high)}" if expires.high else AT_ANY_MOMENT
    still = _still_holds(ctx, freed) if ctx.held else _still_waits(ctx, freed)
    yield RuleMatch(
        about=ctx.about_each_lock(*(ctx.held or ctx.places)),
        sentence=f"{ctx.name} is connected to no server and still {still}.",
        confidence="C3" if listed else "C2",
        evidence=(
            (True, "no server's connection table has it"),
            (listed, "the list of sessions still has it"),
        ),
        advice="Nothing to do but wait: it reconnects or expires. Look at its host if it happens "
        "again.",
        as_of=max(
            server.facts.connections.at for server in ensemble.tables if server.facts.connections
        ),
        patience_ms=ctx.shared.thresholds.settle,
    )


def _still_holds(ctx: SessionContext, freed: str) -> str:
    held = several(place.mode_and_lock for place in ctx.held)
    return f"holds {held}; {freed}; {waits(ctx.behind)}"


def _still_waits(ctx: SessionContext, freed: str) -> str:
    wanted = several(place.mode_and_lock for place in ctx.places)
    is_single = len(ctx.places) == 1
    places, them = ("place is", "it") if is_single else ("places are", "them")
    return f"waits for {wanted}; its {places} {freed}; {waits(ctx.behind)} behind {them}"


@Rule(
    "P2",
    "flapping-session",
    "warning",
    "session",
    tables=("connections",),
    code="FLP",
    after=(("session", "P1"),),
)
def flapping(ctx: SessionContext) -> Iterator[RuleResult]:
    """A session keeps losing its connection."""
    moves = ctx.shared.sessions.moves(ctx.session)
    if len(moves) < max(1, ctx.shared.thresholds.moves):
        return
    at_least = "at least " if len(moves) >= MAX_MOVES else ""
    yield RuleMatch(
        about=ctx.about(*ctx.places),
        sentence=f"{ctx.name} has changed its connection {at_least}{count(len(moves), 'time')} in "
        "ten minutes.",
        confidence="C4",
        evidence=(
            (True, "its server, or the start of its connection, was different each time"),
            (None, "no rolling restart is going on"),
        ),
        advice="Look at the network and the load of its host: while it is disconnected, nothing "
        "wakes it.",
        since=moves[0],
    )


@Rule("P3", "suspicious-timeout", "info", "server", tables=("connections", "expiry"))
def suspicious_timeout(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A session timeout is the shortest that the servers grant.

    It was probably requested in seconds instead of milliseconds. The longest timeout granted does
    not suggest a mistake: many healthy sessions get it, because Curator asks for a minute.
    """
    tables = ctx.shared.ensemble.tables
    ticks = [server.expiry.tick_ms for server in tables if server.expiry.tick_ms]
    if not ticks:
        yield MissingInput("no server shows its tick time", "expiry")
        return
    least = MIN_TIMEOUT_TICKS * min(ticks)
    with_least = (server.by_timeout.get(least, ()) for server in tables)
    sessions = sorted(
        {session for sessions in with_least for session in sessions if session in ctx.owners}
    )
    if sessions:
        yield _suspicious(ctx, sessions, least)


def _suspicious(ctx: EnsembleContext, sessions: list[Session], timeout: int) -> RuleMatch:
    names = several(map(ctx.shared.name_of, sessions[:MAX_NAMED]), len(sessions))
    is_one = len(sessions) == 1
    have, they_pass = ("holds or wants", "it passes") if is_one else ("hold or want", "they pass")
    return RuleMatch(
        about=FindingSubject(sessions=tuple(sessions[:MAX_NAMED]), key=("timeout", "least")),
        sentence=f"{names} {have} locks with a session timeout of {span(timeout)}, the shortest "
        "that the servers grant.",
        confidence="C2",
        evidence=(
            (True, f"a timeout of {span(timeout)} is the shortest for the servers' tick time"),
            (None, "a shorter one was requested, which is not visible"),
        ),
        advice=f"Check whether {they_pass} seconds where milliseconds are meant.",
    )


@Rule(
    "P4",
    "timeout-too-short",
    "info",
    "session",
    tables=("connections",),
    code="SIL",
    after=(("session", "S3"),),
)
def timeout_too_short(ctx: SessionContext) -> Iterator[RuleResult]:
    """A session was silent for half of its timeout: a longer pause will cost it its locks."""
    gap = ctx.shared.sessions.longest_gap(ctx.session)
    timeout = ctx.presence.timeout_ms if ctx.presence else None
    if gap is None or not timeout or not SILENT_SHARE * timeout < gap < timeout or not ctx.held:
        return
    locks = {place.lock.path for place in ctx.held}
    yield RuleMatch(
        about=ctx.about(*ctx.held),
        sentence=f"{ctx.name} was silent for {span(gap)} of its {span(timeout)}: one longer "
        f"pause away from losing {count(len(locks), 'lock')}.",
        confidence="C2",
        evidence=((True, "that is the longest silence its server has seen within two hours"),),
        advice="Give it a longer session timeout, or find out what pauses it.",
    )


@Rule("P5", "blast-radius", "info", "session")
def blast_radius(ctx: SessionContext) -> Iterator[RuleResult]:
    """One session owns many locks: its end frees all of them at once."""
    locks = sorted({place.lock.path for place in ctx.held})
    if len(locks) >= max(1, ctx.shared.thresholds.blast_radius):
        yield RuleMatch(
            about=ctx.about(*ctx.held),
            sentence=f"{ctx.name} owns {count(len(locks), 'lock')} through one session: one "
            "expiry frees all at once.",
            confidence="C4",
            evidence=((True, several(map(short, locks[:MAX_NAMED]), len(locks))),),
            advice="Fine if intended; otherwise use a session for each independent job.",
        )


# A session's end is one record: a header, and each path with its length. Servers reject records
# larger than jute.maxbuffer plus jute.maxbuffer.extrasize, which by default is as large.
MAX_READABLE_BYTES = 2 * 0xFFFFF
RECORD_BYTES = 48
PATH_BYTES = 4
LARGE_RECORD_SHARE = 1 / 2
FIRST_WITH_PATHS = (3, 6)  # the first version whose record of a session's end has the paths


@Rule("P17", "session-too-large", "warning", "session")
def session_too_large(ctx: SessionContext) -> Iterator[RuleResult]:
    """A session owns so many nodes that a server may not start after the session ends.

    Its end is one log record, and servers reject records larger than twice jute.maxbuffer.
    """
    tables = ctx.shared.ensemble.tables
    dumped = ((table.expiry.ephemerals or {}).get(ctx.session, ()) for table in tables)
    paths = max(dumped, key=len, default=())
    number = max(len(ctx.places), len(paths))
    if number < MANY_NODES or _are_old(tables):
        return
    owned = paths if len(paths) == number else list(map(_path_of, ctx.places))
    size = RECORD_BYTES + sum(PATH_BYTES + len(path.encode()) for path in owned)
    if size >= LARGE_RECORD_SHARE * MAX_READABLE_BYTES:
        yield _too_large(ctx, number, size)


def _are_old(tables: Iterable[ServerTables]) -> bool:
    return any((table.version or FIRST_WITH_PATHS) < FIRST_WITH_PATHS for table in tables)


def _path_of(place: SessionPlace) -> str:
    return absolute_path(place.lock.path, place.member.node)


def _too_large(ctx: SessionContext, number: int, size: int) -> RuleMatch:
    limit, is_over = f"{MAX_READABLE_BYTES / 1e6:.1f} MB", size > MAX_READABLE_BYTES
    effect = "a server that reads it does not start again" if is_over else "this is close to it"
    return RuleMatch(
        about=ctx.about(),
        sentence=f"{ctx.name} owns {number:,} nodes: its end is one record of {size / 1e6:.1f} MB "
        f"in the transaction log. Servers read at most {limit} by default: {effect}.",
        confidence="C3",
        evidence=(
            (True, f"the paths of {number:,} nodes have {size:,} bytes in a record"),
            (None, "jute.maxbuffer has its default of 1 MiB"),
            (None, "the servers are of 3.6 or later, which list the paths"),
        ),
        advice="Raise jute.maxbuffer on all servers before the session ends, or let its client "
        "delete the nodes one by one. Find out why one session needs so many.",
        severity="critical" if is_over else None,
    )


def sessions_and_connections(
    ensemble: Ensemble, owners: Iterable[Session]
) -> Iterator[tuple[Session, Connection | None]]:
    """Yield all connections, and node owners without one, or nothing if there are no tables."""
    tables = [server.connections for server in ensemble.tables if server.connections is not None]
    for rows in tables:
        yield from rows.items()
    if tables:
        yield from ((owner, None) for owner in owners if not any(owner in rows for rows in tables))


def is_suspicious(session: Session, row: Connection | None, shared: SharedContext) -> bool:
    """Whether a session is worth examining: a cheap test.

    It was silent for a long time, moved to another connection, or is connected to no server.
    """
    if row is None:
        return True
    gap = max(row.quiet_ms or 0, shared.sessions.longest_gap(session) or 0)
    is_silent = bool(row.timeout_ms) and gap > SILENT_SHARE * (row.timeout_ms or 0)
    return is_silent or bool(shared.sessions.moves(session))


@Rule(
    "S3",
    "silent-holder",
    "critical",
    "session",
    tables=("connections",),
    code="SIL",
    rank=19,
    blocks="long",
    after=(("session", "P1"),),
)
def silent_holder(ctx: SessionContext) -> Iterator[RuleResult]:
    """The holder has not been heard from for most of its timeout: it may be paused or dead."""
    presence = ctx.presence
    if not ctx.held or presence is None or not presence.timeout_ms or presence.quiet_ms is None:
        return
    share = presence.quiet_ms / presence.timeout_ms
    severity = silence_severity(share)
    if severity is not None:
        yield _silent(ctx, presence, share, severity)


def _silent(
    ctx: SessionContext, presence: Presence, share: float, severity: Severity
) -> RuleMatch:
    held = several(place.mode_and_lock for place in ctx.held)
    expires = ctx.shared.ensemble.expires_in(ctx.session, ctx.now_ms)
    freed = "freed when it expires"
    if expires:
        window = f"freed in {expires.low // 1000}..{-(-expires.high // 1000)}s"
        freed = window if expires.high else AT_ANY_MOMENT
    silent = f"silent for {span(presence.quiet_ms or 0)} of {span(presence.timeout_ms or 0)}"
    return RuleMatch(
        about=ctx.about_each_lock(*ctx.held),
        sentence=f"{ctx.name} holds {held}, {silent}; if dead, {freed}; {waits(ctx.behind)}.",
        confidence="C3",
        evidence=(
            (True, f"{presence.server} has received no packet from it for that long"),
            (
                share > GIVEN_UP_SHARE,
                "its client gives up a connection after two thirds of its timeout",
            ),
            (
                None,
                "it is paused, and wakes too late: then two will believe that they own the lock",
            ),
        ),
        advice="Look at its host: many silent sessions from one host suggest a pause, on one "
        "server a network problem. Does the resource check a fencing number? The czxid of the "
        "node is one.",
        severity=severity,
        as_of=presence.at,
    )


def silence_severity(share: float) -> Severity | None:
    """Rate a silence by its share of the session's timeout; None if the client seems healthy."""
    if share > ALMOST_EXPIRED_SHARE:
        return "critical"
    if share > GIVEN_UP_SHARE:
        return "warning"
    return "info" if share > SILENT_SHARE else None
