"""R2 to R5 and R7 to R10: roots that change, vanish, leak, are missing, or cannot be read."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Final

from msgspec.structs import replace

from zktop.model.facts import DAY_MS, SECOND_MS, Millis, Session, prefix_below
from zktop.model.findings.context import EnsembleContext, LockContext
from zktop.model.findings.finding import (
    FindingSubject,
    LookAgainAt,
    Reason,
    Rule,
    RuleMatch,
    RuleResult,
)
from zktop.model.format import clock, count, short
from zktop.model.history.lock_history import VanishedQueue
from zktop.model.locks.leaking_folders import JUTE_MAXBUFFER, LockFolders
from zktop.model.locks.lock import Member
from zktop.model.locks.queue import HERE
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.world.missing_roots import DeniedRoot, denied_roots, missing_roots
from zktop.model.world.tables_of_one_server import ServerTables

MAX_OWNERS = 5  # named in a finding about hidden members
SHOWN_MS = 600_000  # how long a change of the root is shown ...
WARNING_MS = 30_000  # ... and how long at the full severity of its rule

NO_RECORD_OF_WHO: Final[Reason] = (None, "who did it is not recorded")
FENCING = "Fencing by sequence number is broken; fencing by czxid is not."


@Rule("R2", "root-recreated", "warning", code="NEW", only_if=("news",))
def root_recreated(ctx: LockContext) -> Iterator[RuleResult]:
    """The lock's node was deleted and created again: its numbers start over.

    Not reported if it vanished while empty: Curator's containers and clean-up jobs do that.
    """
    if ctx.past.reaped_at is not None:
        return
    yield from _recently(
        ctx.now_ms,
        RuleMatch(
            about=ctx.about(),
            sentence=f"{ctx.name} was deleted and created again",
            confidence="C4",
            evidence=((True, "its node has another czxid than before"),),
            advice=f"{FENCING} Clients that remember that the path exists fail once.",
            since=ctx.past.recreated_at,
        ),
    )


@Rule(
    "R3",
    "container-removed",
    "info",
    former_name="reaped-container",
    code="NEW",
    only_if=("news",),
)
def container_removed(ctx: LockContext) -> Iterator[RuleResult]:
    """The lock's node vanished while it was empty, as containers do."""
    by = ctx.past.removed_by
    removed: Reason = (None, "the server removed it, not a client")
    advice = "Normal for Curator, whose parents are containers."
    if by is not None:
        removed = (True, f"the transaction log has the deletion: session {session_text(by)}")
        advice = "A client deleted it, perhaps a clean-up job. " + FENCING
    yield from _recently(
        ctx.now_ms,
        RuleMatch(
            about=ctx.about(),
            sentence=f"{ctx.name} vanished while it was empty",
            confidence="C2",
            evidence=((True, "it had no children"), removed),
            advice=advice,
            since=ctx.past.reaped_at,
        ),
    )


@Rule("R4", "hidden-by-acl", "warning", code="LCK")
def hidden_by_acl(ctx: LockContext) -> Iterator[RuleResult]:
    """An ACL hides the lock or some of its members from zktop."""
    hidden = [member for member in ctx.members if member.znode.hidden]
    is_denied = ctx.lock.error is not None and not ctx.lock.is_not_a_lock
    if not is_denied and not hidden:
        return
    yield RuleMatch(
        about=ctx.about(*hidden, key=("acl",)),
        sentence=f"The ACL of {ctx.name} does not let zktop list its children."
        if is_denied
        else f"{count(len(hidden), 'member')} of {ctx.name} cannot be read: zktop cannot find "
        f"deadlocks through {'it' if len(hidden) == 1 else 'them'}.",
        confidence="C4",
        evidence=((True, "the server refused: no READ permission"), *_dumped_owners(ctx, hidden)),
        advice="Give zktop an identity that may read the locks (--auth).",
        severity="warning" if is_denied else "info",
    )


def _dumped_owners(ctx: LockContext, hidden: list[Member]) -> Iterator[Reason]:
    """Yield the owners of hidden members that servers' dumps show."""
    for member in hidden[:MAX_OWNERS]:
        owner = ctx.ensemble.owner_of(ctx.path_of(member.node))
        if owner:
            name = short(member.znode.name)
            yield True, f"{name} belongs to {ctx.shared.name_of(owner)}, as a server's dump shows"


@Rule("R5", "root-changed", "info", only_if=("news",))
def root_changed(ctx: LockContext) -> Iterator[RuleResult]:
    """The ACL or the data of the lock's node changed."""
    yield from _recently(
        ctx.now_ms,
        RuleMatch(
            about=ctx.about(),
            sentence=f"The ACL of {ctx.name} was changed",
            confidence="C4",
            evidence=((True, "its ACL version changed"), NO_RECORD_OF_WHO),
            advice="Check that all its users may still create and read there.",
            since=ctx.root.access_at,
        ),
    )
    if ctx.lock.member(HERE) is not None:
        return  # a client's node: the client may keep renewing its data
    yield from _recently(
        ctx.now_ms,
        RuleMatch(
            about=ctx.about(),
            sentence=f"The data of {ctx.name} was changed",
            confidence="C4",
            evidence=((True, "its data version changed"), NO_RECORD_OF_WHO),
            advice="A kazoo semaphore keeps its number of leases there: all users must agree on "
            "it.",
            since=ctx.root.content_at,
        ),
    )


@Rule(
    "R7",
    "deleted-with-waiters",
    "warning",
    "whole",
    former_name="fell-with-waiters",
    code="NEW",
)
def deleted_with_waiters(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A lock vanished together with its queue.

    If the sessions of all waiters ended, their nodes went with them, and this is no finding.
    """
    went_first: Reason = (None, "a node with children cannot be deleted: they went first")
    by_themselves: Reason = (False, "all of them left just before: perhaps they gave up")
    shows_ends = ctx.shared.shows_connections
    for path, queue in ctx.vanished.items():
        if shows_ends and queue.waiters and not _any_lives_on(ctx, queue):
            continue
        at_least = "" if queue.is_all else "at least "
        nodes = count(queue.members, "node")
        yield from _recently(
            ctx.now_ms,
            RuleMatch(
                about=FindingSubject(path),
                sentence=f"{short(path)} vanished together with {at_least}{nodes} in its queue",
                confidence="C3" if queue.is_certain else "C2",
                evidence=(went_first,) if queue.is_certain else (went_first, by_themselves),
                advice="A wave of session expiries, or a recursive delete: look at the servers' "
                "logs.",
                since=queue.at,
            ),
        )


def _any_lives_on(ctx: EnsembleContext, queue: VanishedQueue) -> bool:
    """Whether a table that is newer than the deletion has the session of a waiter."""
    presences = map(ctx.shared.ensemble.presence, queue.waiters)
    return any(presence is not None and presence.at > queue.at for presence in presences)


def _recently(now_ms: Millis, change: RuleMatch) -> Iterator[RuleResult]:
    """Report a change for SHOWN_MS after zktop saw it, but only as info after WARNING_MS."""
    seen_at = change.since
    if seen_at is None or now_ms - seen_at > SHOWN_MS:
        return
    yield LookAgainAt(seen_at + SHOWN_MS + 1)
    is_news = now_ms - seen_at <= WARNING_MS
    if is_news:
        yield LookAgainAt(seen_at + WARNING_MS + 1)
    about = change.about
    yield replace(
        change,
        about=replace(about, key=(about.lock, change.sentence, seen_at)),
        sentence=f"{change.sentence} (seen at {clock(seen_at)}).",
        severity=None if is_news else "info",
    )


@Rule("R8", "root-missing", "warning", "whole")
def root_missing(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """A requested root does not exist, so zktop sees no locks there."""
    for root in missing_roots(ctx.shared.world, ctx.shared.settings):
        if root.root in ctx.single_nodes:  # free: its node exists only while it is held
            continue
        path = short(root.base)
        root_too = "" if root.root == root.base else f" (root {short(root.root)})"
        meant = f" Did you mean {short(root.meant)}?" if root.meant else ""
        yield RuleMatch(
            about=FindingSubject(key=("root", root.root)),
            sentence=f"{path}{root_too} does not exist (yet).{meant}",
            confidence="C4",
            evidence=((True, f"no znode has the path {path}"),),
            advice="Check --root, or the roots of the config. zktop keeps watching: locks there "
            "show up as soon as the path exists.",
        )


@Rule("R9", "root-denied", "warning", "whole")
def root_denied(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """An ACL does not let zktop list a root, so the locks below it are hidden."""
    roots, ensemble = (*denied_roots(ctx.shared.world, ctx.shared.settings),), ctx.shared.ensemble
    if not roots:
        return
    below = _shown_below(tuple(root.base for root in roots), ensemble.tables, ensemble.own)
    for root in roots:
        yield RuleMatch(
            about=FindingSubject(key=("root", root.root)),
            sentence=f"zktop is not allowed to list {short(root.base)} (root {short(root.root)}): "
            f"{_hidden(root)} hidden. {below[root.base]}",
            confidence="C4",
            evidence=((True, "the server refused: no READ permission"),),
            advice="Give zktop an identity that may read the locks (--auth).",
        )


def _hidden(root: DeniedRoot) -> str:
    if root.children is None:
        return "all its children are"
    return count(root.children, "child is", "children are")


@lru_cache(maxsize=1)  # large tables stay the same from one look to the next
def _shown_below(
    bases: tuple[Text, ...], tables: tuple[ServerTables, ...], own: Session | None
) -> Mapping[Text, str]:
    """Return what the servers' tables show below each root. ACLs do not restrict these tables."""
    return {base: _shown_elsewhere(base, tables, own) for base in bases}


def _shown_elsewhere(base: Text, tables: Iterable[ServerTables], own: Session | None) -> str:
    """Count what tables show below a root. The watches of zktop itself are not a sign of locks."""
    below = prefix_below(base)
    paths: set[Text] = set()
    sessions: set[Session] = set()
    for table in tables:
        watches = table.watches.rows if table.watches else {}
        for session, its_paths in chain(watches.items(), (table.expiry.ephemerals or {}).items()):
            shown = [path for path in its_paths if path.startswith(below)]
            if shown and session != own:
                paths.update(shown)
                sessions.add(session)
    if not paths:
        return "The servers' tables show nothing below it."
    what = f"{count(len(paths), 'path')} of {count(len(sessions), 'session')}"
    return f"Watch tables and dumps show {what} below it."


LARGE_LISTING_SHARE: Final = 0.5  # of JUTE_MAXBUFFER
SOON_MS: Final = 30 * DAY_MS
MOST_MS: Final = 3_650 * DAY_MS  # no date later than this is shown
CURES: Final = {  # prefix of a layout's name -> cure
    "curator": "Curator makes them as containers, which the server deletes when they are empty, "
    "if client and servers are 3.5.3 or newer. For older ones it has ChildReaper.",
    "kazoo": "kazoo never deletes the folder of a lock: delete it after the release, which fails "
    "harmlessly if a client is in it.",
    "": "Let clients delete the folder after the release, which fails harmlessly if a client is "
    "in it, or create it as a container or with a time to live: servers from 3.5.3 on delete such "
    "folders when they are empty.",
}


@Rule("R10", "leaking-folders", "info", "whole")
def leaking_folders(ctx: EnsembleContext) -> Iterator[RuleResult]:
    """Lock folders are created and not deleted: their parent grows until it cannot be listed.

    Most of at least 1,000 folders are empty. A warning if the listing reaches half of
    jute.maxbuffer's default in Java clients, or will be too large within 30 days.
    """
    for folders in ctx.folders:
        yield _leak(folders, ctx.now_ms)


def _leak(folders: LockFolders, now: Millis) -> RuleMatch:
    full_at, size = folders.full_at(now, JUTE_MAXBUFFER), folders.listing_bytes
    is_soon = full_at is not None and full_at - now <= SOON_MS
    return RuleMatch(
        about=FindingSubject(key=("folders", folders.parent)),
        sentence=f"{short(folders.parent)} has about {folders.number:,} lock folders, about "
        f"{min(folders.empty, folders.number):,} of them empty{_growth(folders)}. Its listing "
        f"takes {size / 1024:,.0f} kB{_end(folders, full_at, now)}.",
        confidence="C3",
        severity="warning" if is_soon or size >= LARGE_LISTING_SHARE * JUTE_MAXBUFFER else None,
        evidence=(
            (True, "most of a sample of them are empty and persistent"),
            (None, "no client keeps one for later on purpose"),
        ),
        advice=f"{_cure(folders)} Until then a job may delete empty ones; a client that queues at "
        "that moment gets NoNode, and must create the folder again.",
    )


def _growth(folders: LockFolders) -> str:
    return f", and about {folders.per_day:,} more each day" if folders.per_day else ""


def _end(folders: LockFolders, full_at: Millis | None, now: Millis) -> str:
    limit = "the 1 MB that Java clients from 3.6 on accept by default (jute.maxbuffer)"
    if folders.listing_bytes >= JUTE_MAXBUFFER:
        return f", more than {limit}"
    if full_at is None or full_at - now > MOST_MS:
        return ""
    day = datetime.fromtimestamp(full_at / SECOND_MS, UTC).date()
    return f"; at this rate it exceeds {limit} around {day}"


def _cure(folders: LockFolders) -> str:
    return next(cure for letters, cure in CURES.items() if folders.layout.startswith(letters))
