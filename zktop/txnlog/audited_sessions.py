"""The address and users of each session, from the audit logs of all members.

Their lines have no zxid, and local times without a zone. So a session gets a new address or new
users with its first transaction whose operation and path are in a line that has them.
"""

import heapq
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.txnlog.audit_lines import AuditedChange, AuditedClient, AuditLine, audit_lines
from zktop.txnlog.compressed import is_damaged
from zktop.txnlog.data_files import DataFile, open_unpacked
from zktop.txnlog.transactions import Create, Delete, Operation, SetAcl, SetData, Transaction

_OPERATIONS: Final[dict[type[Operation], str]] = {
    Create: "create",
    Delete: "delete",
    SetData: "setData",
    SetAcl: "setAcl",
}


class _Stay(msgspec.Struct):
    """A session at one address, and what it changed from there."""

    client: AuditedClient
    changes: set[AuditedChange]


class AuditLog:
    """A fold over transactions. `clients` has each session's current address and users."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        """Read the audit logs of all members."""
        self.notes: list[str] = []
        stays: dict[Session, list[_Stay]] = {}
        for line in heapq.merge(*map(self._lines, files), key=attrgetter("time")):
            _add(stays, line)
        self.clients = {session: first.client for session, (first, *_) in stays.items()}
        self._later = {session: rest for session, (_, *rest) in stays.items() if rest}

    def apply(self, transaction: Transaction) -> bool:
        """Apply a transaction. Return whether its session now has a new address or new users."""
        later = self._later.get(transaction.session)
        if not later:
            return False
        changes = {
            (_OPERATIONS.get(type(operation)), _path(operation))
            for operation in transaction.operations
        }
        # A stay may be skipped: the server may have refused all of its changes.
        for number, stay in enumerate(later, 1):
            if not changes.isdisjoint(stay.changes):
                self.clients[transaction.session] = stay.client
                del later[:number]
                return True
        return False

    def _lines(self, file: DataFile) -> Iterator[AuditLine]:
        with open_unpacked(file) as stream:
            yield from audit_lines(stream)
            if is_damaged(stream):
                self.notes.append(f"{file.name} is damaged: its last lines are missing.")


def _add(stays: dict[Session, list[_Stay]], line: AuditLine) -> None:
    stays_of_session = stays.setdefault(line.session, [])
    if not stays_of_session or stays_of_session[-1].client != line.client:
        stays_of_session.append(_Stay(line.client, set()))
    if len(stays_of_session) > 1:  # the first address counts from the beginning
        stays_of_session[-1].changes.add(line.change)


def _path(operation: Operation) -> str:
    return operation.path if isinstance(operation, Create | Delete | SetData | SetAcl) else ""
