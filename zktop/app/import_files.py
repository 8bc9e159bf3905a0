"""Turns the transaction logs and snapshots of ZooKeeper servers into a recording.

`ImportPace` decides when the recording has a look. There is always one before the same lock
changes again, so that no state of a lock is skipped. Only contenders that queue up one behind
another share a look, because their znodes show when each arrived.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Final

import msgspec

from zktop.app.connection_settings import looks_like_a_lock, matches_any
from zktop.app.garbage_collection import no_collections
from zktop.app.look_pace import ImportPace
from zktop.app.record_file import header_of
from zktop.model.facts import (
    MINUTE_MS,
    AnyFact,
    Complete,
    Gone,
    Link,
    Millis,
    OwnerNames,
    Session,
)
from zktop.model.owner_list import ADDRESS, NAME, OwnerEntry, OwnerList
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.recording import (
    STATE_INTERVAL_MS,
    AnyLine,
    BulkRecorder,
    ImportSummary,
    LookMark,
    StateMark,
    without_payload,
)
from zktop.txnlog.audit_lines import AuditedClient
from zktop.txnlog.audited_sessions import AuditLog
from zktop.txnlog.data_files import data_files
from zktop.txnlog.lock_facts import LockFacts
from zktop.txnlog.log_replay import LogReplay, ReplayStep, Restart
from zktop.txnlog.transactions import Transaction
from zktop.zk.watch.root_pattern import looks_like_a_member, root_patterns

BLOCK_LINES: Final = 2_000
STATE_SHARE: Final = 4  # lines between two states, as a multiple of the lines of a state

OnProgress = Callable[[int, Millis], object]


class ImportPlan(msgspec.Struct, frozen=True):
    """What to import, and how."""

    paths: tuple[Path, ...]
    settings: Settings
    since: Millis | None = None
    until: Millis | None = None
    chroot: str = ""
    redact: bool = True


def import_files(
    plan: ImportPlan, file: Callable[[], IO[bytes]], on_progress: OnProgress
) -> ImportSummary:
    """Read the files and write the recording. Return its summary.

    `file` opens the output. It is called once the input has proved readable.
    """
    damaged: list[str] = []
    with data_files(plan.paths, damaged.append) as files, no_collections():
        replay = LogReplay(files)
        audit = AuditLog([file for file in files if file.kind == "audit"])
        skipped = _Skipped(audit, on_progress)
        steps = replay.steps(plan.since, plan.until, on_skipped=skipped.add)
        first = next(steps)
        with file() as output:
            hosts = _hosts(replay.members, plan.chroot)
            writer = _ImportWriter(plan, BulkRecorder(output), hosts, audit)
            try:
                writer.write(chain([first], steps), on_progress)
                summary = _summary(replay, (*damaged, *audit.notes, *writer.notes()))
                writer.finish(summary)
            finally:
                writer.close()
    return summary


class _Skipped:
    """Takes the transactions before the window, and shows progress because there may be many."""

    def __init__(self, audit: AuditLog, on_progress: OnProgress) -> None:
        self._audit, self._on_progress = audit, on_progress
        self._number = 0

    def add(self, transaction: Transaction) -> None:
        self._audit.apply(transaction)
        self._number += 1
        if self._number % BLOCK_LINES == 0:
            self._on_progress(self._number, transaction.at)


class _ImportWriter:
    """Writes the facts, marks the looks, and repeats the state from time to time."""

    def __init__(
        self, plan: ImportPlan, recorder: BulkRecorder, hosts: str, audit: AuditLog
    ) -> None:
        self._plan, self._recorder, self._audit = plan, recorder, audit
        self._places = LockPlaces(plan.settings)
        self._header = header_of(hosts, plan.settings, redact=plan.redact)
        self._facts: LockFacts | None = None
        self._lines: list[AnyLine] = []
        self._changed_folders: set[str] = set()  # since the last look
        self._has_only_arrivals = True  # since the last look
        self._has_new_owners = False  # since the last look
        self._zxid, self._at = 0, 0  # of the last transaction
        self._complete_to = 0  # the last transaction marked as complete
        self._pace = ImportPace()
        self._state_at: Millis = 0
        self._lines_since_state = self._lines_of_state = 0

    def write(self, steps: Iterable[Restart | ReplayStep], on_progress: OnProgress) -> None:
        for number, step in enumerate(steps):
            if isinstance(step, ReplayStep):
                self._step(step)
            else:
                self._restart(step)
            if number % BLOCK_LINES == 0:
                on_progress(number, step.at)

    def notes(self) -> Iterator[str]:
        """Yield what is doubtful about the plan."""
        if self._facts is not None and not self._facts.has_chroot:
            chroot = self._plan.chroot
            yield f"There is no znode {chroot} at the end of this import (--chroot)."

    def finish(self, summary: ImportSummary) -> None:
        """Write the last looks, so that rules with a patience report, and the summary.

        Looks continue to the end of a window only if the files do: a later log may have a release.
        """
        self._look(self._at, is_thorough=True)
        soon = self._at + MINUTE_MS + 1
        within = soon if self._plan.until is None else min(soon, self._plan.until)
        self._rest_until(max(within, summary.known_until or 0))
        self._lines.append(summary)
        self._flush()

    def close(self) -> None:
        self._recorder.close()

    def _restart(self, step: Restart) -> None:
        """Write the whole state. After a hole in the logs, also write that the link was lost."""
        shorten = without_payload if self._plan.redact else bytes
        facts = LockFacts(step.tree, self._places, self._plan.chroot, shorten)
        zxid, at = step.zxid, step.at
        if self._facts is None:
            self._recorder.begin(at)
            self._lines.append(self._header)
            self._state_at = at
        else:
            self._look(self._at, is_thorough=True)
            why = Text(str(step.hole))
            self._add([Link(zxid=self._zxid, at=self._at, state="suspended", why=why)])
            self._mark_look(self._at, is_thorough=True)
            self._add([Link(zxid=zxid, at=at, state="connected")])
            gone = (path for path in self._facts.reported() if path not in step.tree.nodes)
            self._add([Gone(zxid=zxid, at=at, path=facts.text(path)) for path in gone])
        self._facts = facts
        self._add(facts.begin(zxid, at))
        self._add(self._owners(zxid, at))
        self._zxid, self._at = zxid, at
        self._look(at, is_thorough=True)

    def _step(self, step: ReplayStep) -> None:
        if self._facts is None:
            return
        transaction, at = step.transaction, step.at
        if at > self._pace.due:
            self._rest_until(at)
        facts = self._facts.after(transaction, step.effects, at)
        if facts:
            changed = self._facts.changed_folders
            # Contenders behind others, at the transaction's own time
            are_arrivals = at == transaction.at and self._facts.are_arrivals(step.effects)
            may_wait = self._has_only_arrivals and are_arrivals
            if not may_wait and not self._changed_folders.isdisjoint(changed):
                self._look(self._at)  # before the same folder changes again
            self._has_only_arrivals = self._has_only_arrivals and are_arrivals
            if not self._changed_folders:
                self._pace.changed(at)
            self._changed_folders |= changed
            self._add(facts)
        self._zxid, self._at = transaction.zxid, at
        if self._audit.apply(transaction):
            self._has_new_owners = True
        self._repeat_state_if_due()

    def _owners(self, zxid: int, at: Millis) -> Iterator[OwnerNames]:
        """Yield the addresses and users of all sessions, if an audit log has any."""
        if self._audit.clients:
            owners = audited_owners(self._audit.clients, self._plan.settings.owners)
            yield OwnerNames(zxid=zxid, at=at, owners=owners)

    def _add(self, facts: Iterable[AnyFact]) -> None:
        self._lines += facts
        if len(self._lines) > BLOCK_LINES:
            self._flush()

    def _flush(self) -> None:
        self._lines_since_state += len(self._lines)
        self._recorder.write(self._lines)
        self._lines = []

    # Looks

    def _rest_until(self, at: Millis) -> None:
        """Look after changes, and from time to time while nothing changes."""
        if self._changed_folders:
            self._look(self._at)
            self._pace.spend()
        while not self._changed_folders and self._pace.due < at:
            self._add_sessions(self._pace.due)
            self._mark_look(self._pace.due, is_thorough=True)
            self._pace.rested()

    def _look(self, at: Millis, *, is_thorough: bool = False) -> None:
        """Look at all changes so far."""
        self._add_sessions(at)
        self._mark_look(at, is_thorough=is_thorough)
        self._changed_folders, self._has_only_arrivals = set(), True
        self._pace.looked(at)

    def _add_sessions(self, at: Millis) -> None:
        if self._facts is not None:
            self._add(self._facts.sessions(self._zxid, at))

    def _mark_look(self, at: Millis, *, is_thorough: bool) -> None:
        if self._has_new_owners:
            self._has_new_owners = False
            self._add(self._owners(self._zxid, at))
        if self._complete_to != self._zxid:
            self._complete_to = self._zxid
            self._lines.append(Complete(zxid=self._zxid, at=at))
        self._lines.append(LookMark(zxid=self._zxid, at=at, thorough=is_thorough))

    def _repeat_state_if_due(self) -> None:
        """Start a new gzip member with all facts, as of the last transaction."""
        is_long_ago = self._at - self._state_at >= STATE_INTERVAL_MS
        is_worth_it = self._lines_since_state > STATE_SHARE * self._lines_of_state
        if self._facts is None or not (is_long_ago and is_worth_it):
            return
        at = self._at
        self._flush()
        state = [*self._facts.state(self._zxid, at), *self._owners(self._zxid, at)]
        self._recorder.begin(at)
        self._lines = [StateMark(zxid=self._zxid, at=at, facts=len(state))]
        self._add(state)
        self._flush()
        self._state_at, self._lines_since_state, self._lines_of_state = at, 0, len(state)


def audited_owners(
    clients: Mapping[Session, AuditedClient], configured: Mapping[str, OwnerEntry]
) -> dict[str, OwnerEntry]:
    """Describe each session. Its name is the configured one, else its users, else its address.

    >>> audited_owners({0x1F: AuditedClient(Text("10.0.0.7"), Text("ann"))}, {})
    {'0x1f': {'name': 'ann', 'address': '10.0.0.7', 'user': 'ann'}}
    """
    owner_list = OwnerList(configured)
    owners: dict[str, OwnerEntry] = {}
    for session, client in clients.items():
        key = owner_list.key_of("", f"{client.address}:")
        name = owner_list.name(key) if key else client.users or client.address
        entry = {NAME: str(name), ADDRESS: str(client.address)}
        if client.users:
            entry["user"] = str(client.users)
        owners[session_text(session)] = entry
    return owners


class LockPlaces:
    """Where locks may be: the same rules as for a live ensemble."""

    def __init__(self, settings: Settings) -> None:
        self._patterns = root_patterns([root.path for root in settings.roots])
        self._layouts = tuple(settings.layouts)
        self._looks_like_a_lock = looks_like_a_lock(self._layouts)

    def is_contender(self, name: str) -> bool:
        return looks_like_a_member(name) or matches_any(self._layouts, name)

    def is_folder_name(self, name: str) -> bool:
        return not looks_like_a_member(name)

    def lists(self, path: str, names: Sequence[str]) -> bool:
        for pattern in self._patterns:
            if not pattern.covers(path):
                continue
            if not pattern.is_ensemble_wide:
                return True
            is_lock = not pattern.is_any_depth or self._looks_like_a_lock(path, names)
            if is_lock and pattern.matches(path):
                return True
        return False


def _hosts(members: Sequence[str], chroot: str) -> str:
    """Name the members by their folders or tars, or by the folders above if those are the same.

    >>> _hosts(["/backup/zk1/version-2", "/backup/zk2.tar.gz:version-2"], "/app")
    'zk1,zk2/app'
    >>> _hosts(["/zk1/data/version-2", "/zk2/data/version-2"], ""), _hosts(["/a", "/b:"], "")
    ('zk1,zk2', 'a,b')
    """
    names = [[*_names_of(member)] for member in members]
    levels = [*zip(*names, strict=False)]
    best = next((level for level in levels if len({*level}) == len(level)), levels[0])
    return ",".join(best) + chroot


def _names_of(member: str) -> Iterator[str]:
    """Yield the name of a member's folder or tar, then those of the folders above it."""
    tar, _, folder = member.rpartition(":")
    path = Path(folder)
    path = path.parent if path.name == "version-2" else path
    archive = Path(tar)
    yield path.name or archive.name.partition(".")[0] or "files"
    if tar and path.name:
        yield archive.name.partition(".")[0]
    yield from (above.name for above in (archive if tar else path).absolute().parents)


def _summary(replay: LogReplay, notes: Iterable[str]) -> ImportSummary:
    zxid, at = replay.last or (0, 0)
    first_zxid, first_at = replay.first or (zxid, at)
    return ImportSummary(
        zxid=zxid,
        at=at,
        members=tuple(replay.members),
        first_zxid=first_zxid,
        first_at=first_at,
        transactions=replay.transactions,
        with_digest=replay.with_digest,
        proven=replay.proven,
        notes=(*replay.notes, *notes),
        known_until=max(at, replay.known_until),
    )
